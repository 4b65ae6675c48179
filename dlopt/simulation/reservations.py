"""Random streams of tasks, a share of which is converted to advance reservations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.generation.multistage import reserve
from dlopt.generation.paper_workloads import mamat4
from dlopt.generation.workload import Workload
from dlopt.problems.multistage import Instance


@dataclass(frozen=True, slots=True)
class ReservationMix:
    """How a share of a stream's tasks is converted to advance reservations.

    Parameters
    ----------
    fraction : Number, default 0.3
        Share of the tasks.
    advance : Number, default 0
        Time between the request of a reservation and its start.
    intervals : bool, default False
        Whether `advance` counts mean intervals between arrivals instead of units of time.

    See Also
    --------
    dlopt.generation.multistage.reserve

    Examples
    --------
    >>> stream = mamat5(horizon=100_000, seed=1)
    >>> mixed = ReservationMix(0.5, advance=2, intervals=True).of(stream, seed=1)
    >>> len(mixed.tasks), len(mixed.reservations)
    (3, 3)
    """

    fraction: Number = 0.3
    advance: Number = 0
    intervals: bool = False

    def of(self, workload: Workload, seed: int = 0) -> Instance:
        """Return a stream with reservations; the tasks that are converted are drawn at random.

        Raises
        ------
        NotApplicableError
            If there is no task, the cluster is busy at first, or a parameter is out of its range.
        """
        if not len(workload):
            raise NotApplicableError("no task arrives before the horizon")
        advance = self.advance
        if self.intervals:
            span = workload.arrivals[-1] - workload.arrivals[0]
            advance = float(advance) * span / max(len(workload) - 1, 1)
        stream = workload.instance()
        return reserve(stream, fraction=self.fraction, advance=advance, seed=seed)


def mamat5(
    *,
    system_load: Number = 0.5,
    dc_ratio: Number = 2,
    nodes: int = 256,
    tau: Number = 1,
    chi: Number = 1000,
    average_load: Number = 2000,
    horizon: Number = 10_000_000,
    seed: int = 0,
) -> Workload:
    """Return the workload of Mamat 2011, section 5.4, before tasks become reservations.

    Parameters
    ----------
    system_load, dc_ratio, nodes, tau, chi, average_load, horizon, seed
        See `dlopt.generation.paper_workloads.mamat4`; there are no set-up costs.
    """
    workload = mamat4(
        system_load=system_load,
        dc_ratio=dc_ratio,
        nodes=nodes,
        tau=tau,
        chi=chi,
        theta_cm=0,
        theta_cp=0,
        average_load=average_load,
        horizon=horizon,
        seed=seed,
    )
    return replace(workload, name=workload.name.replace("mamat4", "mamat5", 1))
