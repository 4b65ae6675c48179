"""Divisible loads around advance reservations, exactly.

`case` is an instance as the models see it, with the reservations of `bookings`. For what can be
accepted of tasks and reservations: `fluid` and `bounds` bound every plan by rational proofs, and
`certified` holds such a proof against the instance; `order`, over the chunks of `slots` and with
the redundant rows of `budgets`, is the MILP over orders; `sequence` turns an order into loads and a
plan, or shows that it cannot; `feasibility` and `lateness`, of all that must be accepted, and
`search` play them against each other; `methods` is what a caller names.

For how much a single task can have done by a deadline: `timetable` says what is free when, `stage`
is the MILP of a stage and `stage_order` the linear program of an order in it, `flow` that of loads
that flow, and `capacity` is what a caller names. `structured` makes a method of it.
"""
