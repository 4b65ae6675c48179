"""Heuristics for one divisible load.

`partitioning_rules` has OPR and EPR, for nodes that are all ready at once; `edf_iit_1` and
`edf_iit_2` are for different ready times, the latter with the optimal closed form; `equal_finish`
is for nodes that differ. `methods` registers them, and `literal` has what the papers print wrongly.
"""
