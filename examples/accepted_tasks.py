"""Which tasks can be accepted?

Four tasks with deadlines arrive at three nodes. The algorithm that decides on each arrival rejects
one of them; the exact method, which knows all arrivals, proves that all four can be done.
"""

import dlopt

instance = dlopt.load("admission/between-grid-points")
for method in ("edf-opr-mn", "edf-iit-2", "exact"):
    result = dlopt.solve(instance, method)
    rejected = [decision.task for decision in result.solution.decisions if not decision.accepted]
    print(f"{method}: {result.value} accepted, rejected: {rejected}")
dlopt.plot(instance, result, "accepted_tasks.svg")
