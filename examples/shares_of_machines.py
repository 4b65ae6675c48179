"""Shares of CPU on several machines.

Requests need several parts at once, and have a benefit from less than they ask for. The chart
stacks the shares of each machine over time.
"""

import dlopt

instance = dlopt.load("coreservation/across-machines")
for method in ("rspb", "co-rspb", "exact"):
    result = dlopt.solve(instance, method)
    accepted = sum(decision.accepted for decision in result.solution.decisions)
    print(f"{method}: benefit {float(result.value):.3f}, {accepted} requests accepted")
dlopt.plot(instance, result, "shares_of_machines.svg")
