"""Temporal bin packing.

Items occupy a bin for a while; the fewest bins are wanted. Items are requests and bins are
machines, and the objective first rejects nothing, then uses few machines.
"""

import dlopt

instance = dlopt.generate("coreservation", "bins", items=16, seed=1)
for method in ("first-fit", "best-fit", "exact"):
    result = dlopt.solve(instance, method, objective="rejections-then-machines")
    print(f"{method}: {result.value[1]} bins, {result.status}, proven: {result.bound}")
