"""What happens when estimates are wrong.

A scenario has the true costs and the failures. The algorithm learns of them as they happen: a task
that ends early makes room for another, and a failing node breaks a promise.
"""

from dlopt.problems.admission import Factor, Failure, Instance, Scenario, Task
from dlopt.problems.cluster import Cluster
from dlopt.simulation import ExecutedRun

stream = Instance(
    Cluster(2, tau=0, chi=1), (Task("a", 0, 4, 4), Task("b", 1, 4, 6), Task("c", 2, 2, 3))
)
scenario = Scenario((Factor("a", chi=0.5),), (Failure(1, begin=3, until=5),))
run = ExecutedRun(stream, "edf-opr-mn", scenario)
print("accepted:", run.outcome.accepted, "violations:", run.violations)
for broken in run.trace.broken:
    print(f"promise to {broken.task} broken at {broken.at}: {broken.cause}")
