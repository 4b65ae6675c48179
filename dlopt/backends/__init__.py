"""Interfaces to the solvers: limits, seeds, status tables, and rational proofs of their answers."""
