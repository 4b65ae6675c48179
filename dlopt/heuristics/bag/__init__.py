"""Heuristics for independent tasks on heterogeneous machines: mapping rules and GDS."""
