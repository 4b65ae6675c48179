"""The problems: data and their validation, objectives, solution checkers; free of solvers."""
