"""Ruin and recreate with simulated annealing, in several threads."""
