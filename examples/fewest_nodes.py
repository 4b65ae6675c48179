"""The fewest nodes that meet a deadline.

With the objective `nodes` the deadline is a constraint, and the number of nodes is minimised. An
earlier deadline needs more of them, until no number is enough.
"""

from dataclasses import replace

import dlopt

instance = dlopt.load("iit/four-nodes")
for deadline in (28, 20, 14, 12, 11, 10):
    result = dlopt.solve(replace(instance, absolute_deadline=deadline), objective="nodes")
    print(f"until {deadline}: {result.status}, nodes: {result.value}")
