"""Simulations: what becomes of streams of tasks under the algorithms that decide on them.

`simulate` runs one algorithm over one stream, and `Run` keeps its schedule; `simulate_mixed` and
`MixedRun` do the same with advance reservations among the tasks. `simulate_many` runs several of
them over streams drawn anew for many loads and seeds, on several processors, and says how sure
the means are.
"""

from dlopt.simulation.metrics import Outcome
from dlopt.simulation.mixed_stream import MixedOutcome, MixedRun, simulate_mixed
from dlopt.simulation.replications import Estimate, Point, simulate_many
from dlopt.simulation.reservations import Reserving
from dlopt.simulation.stream_simulation import Run, simulate

__all__ = [
    "Estimate",
    "MixedOutcome",
    "MixedRun",
    "Outcome",
    "Point",
    "Reserving",
    "Run",
    "simulate",
    "simulate_many",
    "simulate_mixed",
]
