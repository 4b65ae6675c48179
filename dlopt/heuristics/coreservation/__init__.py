"""Heuristics for CPU shares on several machines at once: those of Min 2001, repaired, and packing.

`engine` is the online engine. Its `batch_engine` decides batch by batch: `decisions` says what is
wrong with a batch and records its decisions, `placement` places requests, `refinement` extends
their shares, `allocation_ledger` records them in a calendar of `dlopt.calendar`. Its other verbs
are in modules of their own: `counter_offers`, `irreducible_conflict`, `revisions`,
`resource_changes`, `archiving`, `current_state`, `snapshots`. They all work on one `engine_state`;
`reassignment` decides which promises are kept when not all of them can be, by `machine_search`.
`algorithm_names` has the algorithms, `methods` the registered methods, `mixed` instances of mixed
types of numbers.
"""
