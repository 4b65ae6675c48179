"""An engine that is saved, and goes on elsewhere.

A snapshot is plain data. The book that is restored from it makes the same decisions, in fractions
exactly and in floats bit by bit.
"""

import json
from pathlib import Path

from dlopt import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

head = Admission(Cluster(8, tau=1, chi=20), "fast-edf-iit")
for k in range(20):
    head.submit(Task(f"t{k}", arrival=7 * k, load=4, deadline=60))
Path("head.json").write_text(json.dumps(head.snapshot()))

again = Admission.restore(json.loads(Path("head.json").read_text()))
later = [Task(f"u{k}", arrival=150 + 3 * k, load=5, deadline=50) for k in range(20)]
same = [head.submit(task) == again.submit(task) for task in later]
print(f"{same.count(True)} of {len(same)} later decisions are equal")
