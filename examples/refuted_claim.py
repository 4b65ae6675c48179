"""A claim of a paper, refuted.

The published schedulability test allows two transmissions at once over one channel. The search
finds two tasks of which it accepts both, though no schedule does both, and reduces them to the
simplest numbers.
"""

import dlopt

search = dlopt.falsify("admission", "edf-opr-mn:literal", examples=200, seed=0)
found = search.finding
print(found.kind, "with", found.size, "tasks and nodes; no plan accepts both:", found.impossible)
for task in found.instance.tasks:
    print(task)
dlopt.plot(found.instance, found.result, "refuted_claim.svg")
