"""The optimal partition of one load.

Three nodes become ready at different times. The head node sends to one of them after the other, and
the load is partitioned so that the last one ends as early as possible: they all end at the same
instant.
"""

import dlopt
from dlopt.problems.iit import Cluster, Instance

instance = Instance(Cluster(3, tau=1, chi=2), ready_times=(0, 1, 4), load=3, name="three nodes")
result = dlopt.solve(instance)
print(result)
for chunk in result.solution.chunks:
    print(f"node {chunk.node} gets {chunk.load} and ends at {chunk.computation_end}")
dlopt.plot(instance, result, "first_optimum.svg")
