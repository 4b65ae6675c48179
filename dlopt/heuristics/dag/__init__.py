"""Heuristics for task graphs on heterogeneous machines: list scheduling."""
