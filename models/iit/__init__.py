"""Exact methods for one divisible load.

`scaled_instance` is the instance in the units of the models, `initial_solution` the first
incumbent. `fixed_sequence_lp` is the linear program of a fixed sequence of chunks, `prefix_milp`
chooses how many identical nodes to use in the order of their ready times, and `sequencing_milp`
chooses nodes, sequence and installments. `fluid_relaxation` bounds schedules of every kind.
`search` combines them, and `methods` holds the registered methods.
"""
