"""Heuristics for CPU shares on several machines at once: those of Min 2001, repaired, and packing.

`engine` decides online, batch by batch: `placement` places requests, `refinement` extends their
shares, `allocation_ledger` records them in a calendar of `dlopt.calendar`. `algorithm_names` has
the algorithms, `methods` the registered methods, `mixed` instances of mixed types of numbers.
"""
