"""The heuristics of the papers, repaired where a paper is wrong; free of solvers."""
