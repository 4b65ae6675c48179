"""Exact methods for independent tasks.

`scaled_instance` is the instance in integral units of time, from the `exact_times`.
`makespan_bound` bounds makespans, `on_time_bound` numbers of tasks on time and
`flowtime_assignment` flowtimes, all certified in integers or fractions. `cpsat` and `milp` are
programs of the whole problem, `lns` reoptimises a few machines at a time, and `solutions` converts
their solutions. `proof_programs` and `proof_flowtime` write certificates. `search` combines them;
the registered methods are in `methods` and `bound_methods`.
"""
