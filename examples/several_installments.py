"""One chunk per node, several chunks, and no limit.

A bound holds for a class of schedules. Two chunks per node are better than one, since the second
node begins to compute earlier; no schedule at all takes less than the fluid bound.
"""

import dlopt
from dlopt.problems.iit import Cluster, Instance

instance = Instance(Cluster(2, tau=1, chi=1), ready_times=(0, 0), load=3)
for chunks in (1, 2, 3):
    result = dlopt.solve(instance, installments=chunks, limits=dlopt.Limits(time_s=60))
    print(f"{chunks} per node: {result.value} ({result.status}, class {result.plan_class})")
print("any number: at least", dlopt.solve(instance, "bound-fluid").bound)
