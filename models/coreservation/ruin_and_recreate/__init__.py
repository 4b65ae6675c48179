"""Ruin and recreate with simulated annealing, in several threads.

`search` is the annealing loop and `moves` its moves, made of `insertion`, interpreted over lists or
compiled over the arrays of `state`; `parallel` runs searches in threads of their own, which may
share an incumbent where `time_decomposition` finds disjoint time windows.
"""
