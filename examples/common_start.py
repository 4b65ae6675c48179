"""When are several machines free at once?

The calendar of an engine answers questions about free capacity, and may be changed without changing
the engine.
"""

from dlopt import CoReservation
from dlopt.problems.coreservation import Machine, Part, Request

engine = CoReservation([Machine("a", 70), Machine("b", 50)])
for k in range(4):
    engine.submit([Request(f"r{k}", 0, 10 * k, 10 * k + 8, 1, (Part(40), Part(20)))])
calendar = engine.calendar
print("free on a at least:", calendar.smallest_free(0, 0, 40))
print("40 on both for 5:", calendar.earliest_common_start([40, 40], duration=5))
print("60 on a for 3:", calendar.earliest_start(0, 60, duration=3))
