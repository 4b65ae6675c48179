"""One divisible load, exactly: by LP in ready order, by MILP in free order, and fluid.

`sequence` is the linear program of a fixed order of chunks, `prefix` the MILP that chooses how
many nodes in ready order, `order` the MILP that chooses nodes, order and installments, `fluid`
the bound over all plans, `methods` what a caller names.
"""
