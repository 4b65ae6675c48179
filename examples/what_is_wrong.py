"""What is wrong with a schedule?

`dlopt.check` names every rule that a schedule violates, by how much, and where. Here one number of
an optimal schedule was changed.
"""

from dataclasses import replace

import dlopt
from dlopt.problems.iit import Solution

instance = dlopt.load("iit/three-nodes")
first, *rest = dlopt.solve(instance).solution.chunks
wrong = replace(first, load=first.load / 2)
for violation in dlopt.check(instance, Solution((wrong, *rest))):
    print(violation)
