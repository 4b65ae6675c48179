"""Exact methods for divisible loads around advance reservations.

For streams: `scaled_instance` is the instance in the units of the models, with its `reservations`.
`fluid_relaxation` and `upper_bounds` bound the objective value of every schedule, with rational
proofs that `certificate_check` verifies; `chunk_span_relaxation` with `full_window_cuts` bounds
that of schedules with few chunks, and `reservation_columns` is the part of reservations in both
relaxations. `sequence_search` looks for sequences of chunks around reservations, `sequencing_milp`
chooses one among the candidate chunks of `chunk_windows`, with the redundant rows of
`capacity_cuts`, and `fixed_sequence_lp` turns a sequence into loads and a schedule, or shows that
it is infeasible. `node_assignments` lists which nodes reservations can get. `feasibility` decides
whether everything can be accepted, with the program of `min_max_lateness`, and `conflicts` finds
smallest sets that do not fit. `search` combines them, and `methods` holds the registered methods.

For the most load of a single task by its deadline: `stages` derives the windows of nodes,
`single_stage_milp` is the program of one stage, `chunk_sequence_lp` that of a fixed sequence in
it, and `single_task_fluid` the relaxation. `single_task_capacity` combines them, and
`single_task_method` registers the result as a method.

Modules refer by number to three models of how much of a single task can be done around accepted
reservations (the setting of Mamat 2011, chapter 5, whose algorithms are heuristics):

(i)   the stage optimum: one chunk per node and stage, which ends in its stage
      (`single_stage_milp`);
(ii)  the fluid upper bound: a linear program over intervals (`single_task_fluid`);
(iii) `K` chunks per node and stage, with which (i) approaches (ii) (`single_stage_milp`).

They judge the claim of the chapter that its estimate is at most its schedule and that at most the
capacity; the numbers F1 to F9 and M1 to M3 in names and tests are the flaws of its pseudocode
(docs/errata.md, mamat-5).
"""
