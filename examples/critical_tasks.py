"""Tasks with priorities and deadlines.

First as many critical tasks on time as possible, then as many of all. GDS schedules as late as
possible, so that earlier intervals stay free.
"""

import dlopt
from dlopt.problems.bag import success_ratios

instance = dlopt.load("bag/small-grid")
for method in ("edf", "priority-edf", "gds", "exact"):
    result = dlopt.solve(instance, method)
    critical, every = success_ratios(instance, result.solution)
    print(f"{method}: {result.value}; on time: {critical} of the critical ones, {every} of all")
dlopt.plot(instance, result, "critical_tasks.svg")
