"""Divisible loads around advance reservations: Mamat 2011, chapter 5, and repaired."""
