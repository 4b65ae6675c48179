"""Exact methods for streams of divisible loads, with all arrivals known in advance.

`scaled_instance` is the instance in the units of the models. `fluid_relaxation` and the cuts of
`window_cuts` bound the objective value of every schedule, with rational proofs that
`certificate_check` verifies; `upper_bounds` runs them. `proof_sequences` proves optima of small
streams by the order of chunks. `sequence_search` and `sequencing_milp` find sequences
of chunks, and `fixed_sequence_lp` turns a sequence into loads and a schedule, or shows that it is
infeasible. `feasibility` decides whether all tasks can be accepted by the steps of
`sequence_feasibility`, `conflicts` finds smallest sets that do not fit by those of
`request_conflicts`, `search` combines bounds and schedules by those of `sequence_portfolio`, and
`methods` holds the registered methods. These steps are those of `multistage`, too.

The models are ours; no paper solves these problems exactly.
"""
