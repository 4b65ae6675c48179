"""Heuristics against the proven optimum.

`dlopt.compare` runs methods on an instance, checks every schedule, and shows how far each is from
the optimum.
"""

import dlopt

methods = ["opr", "epr", "edf-iit-1", "edf-iit-2", "exact"]
comparison = dlopt.compare(dlopt.load("iit/three-nodes"), methods)
print(comparison)
for row in comparison.rows:
    print(
        f"{row.method.name} uses {len({chunk.node for chunk in row.result.solution.chunks})} nodes"
    )
