"""Tasks around advance reservations.

Maintenance is a reservation that must be accepted. Tasks are scheduled around it, and are rejected
where that makes them late.
"""

import dlopt

instance = dlopt.load("multistage/maintenance")
online, best = dlopt.solve(instance, "multi-stage"), dlopt.solve(instance)
print(f"multi-stage accepts {online.value}, the optimum is {best.value}")
for grant in online.solution.grants:
    print("reservation", grant.reservation, "on nodes", grant.nodes)
dlopt.plot(instance, online, "around_reservations.svg")
