"""Branch and price over the Dantzig-Wolfe reformulation by machines.

A column is a set of parts that one machine holds at the same time, with its best shares. `search`
is the branch-and-price algorithm; `master` has the restricted master program and its pricing
problem, which `pricing_knapsack` solves by dynamic programming. `column_enumeration` lists all
columns within the gap of a node, and `set_packing` is the branch and cut over those, with
`subset_row_cuts`. `columns` has the pool of columns and the branching decisions.
"""
