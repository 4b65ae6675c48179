"""Independent tasks, exactly.

`case` is an instance as the models see it, in whole units of time. `weights` bounds makespans,
`counts` numbers of tasks, `assignment` flowtimes, all by proofs in whole numbers; `program`
(CP-SAT) and `linear` (an integer program) state all of a problem; `neighbourhood` decides a few
machines again; `search` plays them against each other; `methods` is what a caller names.
"""
