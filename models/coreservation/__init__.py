"""Exact methods for CPU shares on several machines at once.

Data: `scaled_instance` is the instance in integers, made of `requests`; `objective` has the levels
of the objective in integers, and `solutions` converts assignments of the models to solutions.

Formulations and relaxations: `cpsat` and `milp` state the full model; `program_size` tells whether
it is too large to be stated. `aggregated_relaxation` takes all machines as one, strengthened by
`counting_cuts`, `mir_cuts` and, where machines differ, one `surrogate_cut`.
`knapsack_bound` bounds by fractional knapsacks at single instants, without a solver.
`branch_and_price` solves small instances by the Dantzig-Wolfe reformulation by machines;
`bin_packing` and `machine_minimisation` solve the special case of few machines.

Primal heuristics: `construction` makes an assignment in a single pass, `ruin_and_recreate` and
`lns` improve it, and `primal_heuristics` runs both. `upper_bounds` is the portfolio of these and of
bounding methods, among them `full_model_bound`; `portfolio_state` is its state, and `search` runs
all level by level. The registered methods are in `methods`, `rolling_horizon`, `feasibility` and
`bound_methods`.
"""
