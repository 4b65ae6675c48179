"""How each problem is solved exactly: the same stems, as linear and constraint programs.

Imported as ``dlopt.models``. No model imports a heuristic; at most it takes a plan as a hint.
"""
