"""One divisible load: the partitioning rules, EDF-IIT-1, EDF-IIT-2, and nodes that differ.

`partition` has the rules for nodes that are all ready at once, `closed_form` the optimum for
different ready times, `estimates` the heterogeneous view, `equal_finish` nodes that differ,
`methods` all of them as registered methods, `literal` what the papers print wrongly.
"""
