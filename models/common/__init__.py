"""Parts of the exact methods that belong to no problem.

`lexicographic` proves the levels of an objective one after another, and `result_values` makes
values of results out of levels.
"""
