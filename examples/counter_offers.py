"""Counter-offers instead of a rejection.

What would be accepted instead, and what stands in the way? Each offer is the smallest concession of
its kind, and each part of the conflict is necessary.
"""

# %%
from dlopt import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

head = Admission(Cluster(2, tau=1, chi=1), "edf-iit-2")
print(head.submit(Task("a", arrival=0, load=1, deadline=2)))

# %%
task = Task("b", arrival=0, load=1, deadline=2)
print(head.ask(task).accepted, "-", head.why(task))

# %%
offers = head.offer(task)
for offer in offers:
    print(f"{offer.dimension} {offer.value} (least: {offer.least})")

# %%
print(head.submit(offers[0].submission).accepted)
