"""One decision per arrival.

An engine accepts or rejects tasks as they arrive. What it has accepted meets its deadline, whatever
arrives later, and its plan is one that `dlopt.check` accepts.
"""

import dlopt
from dlopt import Admission
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster

cluster = Cluster(4, tau=1, chi=10)
tasks = [Task(f"t{k}", arrival=5 * k, load=3 + k % 4, deadline=40) for k in range(8)]
head = Admission(cluster, "edf-iit-2")
for task in tasks:
    decision = head.submit(task)
    print(task.id, "accepted" if decision.accepted else f"rejected: {decision.reason}")
instance = Instance(cluster, tasks, name="eight arrivals")
print("violations:", dlopt.check(instance, head.plan()))
dlopt.plot(instance, head.plan(), "online_decisions.svg")
