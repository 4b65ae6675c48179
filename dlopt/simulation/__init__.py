"""Simulations: what becomes of streams of tasks under the algorithms that decide on them.

`simulate` runs one algorithm over one stream, and `Run` keeps its schedule; `simulate_many` runs
several of them over streams drawn anew for many loads and seeds, on several processors, and says
how sure the means are.
"""

from dlopt.simulation.cluster import Run, simulate
from dlopt.simulation.many import Estimate, Point, simulate_many
from dlopt.simulation.outcome import Outcome

__all__ = ["Estimate", "Outcome", "Point", "Run", "simulate", "simulate_many"]
