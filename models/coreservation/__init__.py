"""CPU shares on several machines at once, exactly.

`case` is an instance as the models see it, made of `jobs`; `worth` its objectives in whole numbers;
`plans` turns what models hold into plans. `packing` is the program for CP-SAT, `linear` that for
PuLP; `pooled` is the relaxation that takes all machines as one and is branched on in fractions,
`placing` makes plans in one pass, `neighbourhood` improves a plan. `patterns` is what single
machines can hold, `pricing` the linear program over it, `apart` branches on that: it keeps machines
apart, and proves small instances. `bins` is bin packing, `machines` how few machines hold
everything. `search` plays them against each other, level by level; `methods`, `batched`,
`sufficing` and `bounds` are what a caller names.
"""
