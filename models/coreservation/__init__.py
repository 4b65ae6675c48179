"""CPU shares on several machines at once, exactly.

`case` is an instance as the models see it, made of `jobs`; `worth` its objectives in whole numbers;
`plans` turns what models hold into plans. `packing` is the program for CP-SAT, `linear` that for
PuLP; `pooled` is the relaxation that takes all machines as one and is branched on in fractions,
`apportioned` the row that it gets where machines differ, `rounding` its rows for whole choices.
`placing` makes plans in one pass, `recreating` improves a plan by `moves`, which `chains` runs
compiled and side by side; `neighbourhood` does so by programs; `improving` is the order of both.
`patterns` is what single machines can hold, `alone` finds the dearest of it, and all that is nearly
as dear; `pricing` is the linear program over patterns, `apart` branches on that, `closing` finds
all patterns that could be part of a better plan, `selecting` the best plan of those by branch and
cut: machines are kept apart, which proves small instances. `bins` is bin packing, `machines` how
few machines hold everything. `search` plays them against each other, level by level; `methods`,
`batched`, `sufficing` and `bounds` are what a caller names.
"""
