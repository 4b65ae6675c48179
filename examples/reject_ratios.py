"""Reject ratios with confidence intervals.

Two algorithms on the same streams, five seeds at each load. The half widths are of 95 % confidence
intervals.
"""

from dlopt.simulation import simulate_many

points = simulate_many(
    "mamat4",
    ["edf-opr-mn", "edf-iit-2"],
    loads=[0.2, 0.6, 1.0],
    seeds=range(5),
    parameters={"nodes": 16, "horizon": 2_000_000},
)
for point in points:
    ratio = point.estimate("reject_ratio")
    text = f"{ratio.mean:.3f} +- {ratio.half_width:.3f}"
    print(f"load {point.system_load}: {point.method} rejects {text}")
