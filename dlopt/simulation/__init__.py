"""Simulations of streams of tasks under online algorithms.

`simulate` runs one algorithm over one stream, and `StreamRun` keeps its schedule, `PolicyRun` that
of an online policy of a user's own; `simulate_mixed`
and `MixedRun` do the same with advance reservations among the tasks. `ExecutedRun` executes a
stream whose costs are only estimates on nodes that fail, `ExecutedMixedRun` one with
reservations. `simulate_many` runs several
algorithms over random streams for many loads and seeds, on several processors, and gives means
with confidence intervals.
"""

from dlopt.simulation.executed_metrics import ExecutedMixedOutcome, ExecutedOutcome
from dlopt.simulation.executed_mixed_stream import ExecutedMixedRun
from dlopt.simulation.executed_stream import ExecutedRun
from dlopt.simulation.metrics import StreamOutcome
from dlopt.simulation.mixed_stream import MixedOutcome, MixedRun, simulate_mixed
from dlopt.simulation.policy_simulation import PolicyRun, algorithm_of
from dlopt.simulation.replications import LoadPoint, MeanEstimate, simulate_many
from dlopt.simulation.reservations import ReservationMix
from dlopt.simulation.stream_simulation import StreamRun, run_executed, run_stream, simulate

__all__ = [
    "ExecutedMixedOutcome",
    "ExecutedMixedRun",
    "ExecutedOutcome",
    "ExecutedRun",
    "LoadPoint",
    "MeanEstimate",
    "MixedOutcome",
    "MixedRun",
    "PolicyRun",
    "ReservationMix",
    "StreamOutcome",
    "StreamRun",
    "algorithm_of",
    "run_executed",
    "run_stream",
    "simulate",
    "simulate_many",
    "simulate_mixed",
]
