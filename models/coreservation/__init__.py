"""Exact methods for CPU shares on several machines at once.

Data: `scaled_instance` is the instance in integers, made of `requests`; `objective` holds the
objectives in integers, and `solutions` converts assignments of the models into schedules.

Formulations and relaxations: `cpsat` and `milp` state the whole problem. `aggregated_relaxation`
takes all machines as one, with the rows of `surrogate_cut`, for machines that differ, and
`mir_cuts`. `branch_and_price` proves small instances; `bin_packing` and `machine_minimisation`
solve the special case of few machines.

Schedules: `construction` builds one in a single pass, `ruin_and_recreate` and `lns` improve it, and
`primal_heuristics` runs both. `search` combines all of this, level by level. The registered methods
are in `methods`, `rolling_horizon`, `feasibility` and `bound_methods`.
"""
