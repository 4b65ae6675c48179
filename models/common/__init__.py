"""Parts of the exact methods that several problems share.

`lexicographic` proves the levels of an objective one after another, and `objective_levels` makes
values of results out of levels. The modules `stream_*` are for streams of tasks, and `solver_units`
scales divisible loads and their times.
"""
