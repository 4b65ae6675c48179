"""Exact methods for task graphs on heterogeneous machines.

`scaled_instance` is the instance in integers. `heads_and_tails`, `energetic_heads`,
`energetic_bounds` and `time_indexed_bound` prove lower bounds, and `lower_bounds` combines the
first three. `cpsat` is the part that both constraint programs share: `cpsat_cumulative`, for
identical machines without communication, and `cpsat_alternatives`, for all other instances. `milp`
is a disjunctive MILP for tiny instances. `schedules` converts their solutions, and
`forward_backward` improves a schedule by list scheduling. `search` improves schedule and bound
until they meet; the registered methods are in `methods` and `bound_methods`.
"""
