"""Reproduction of the figures and claims of the five papers."""
