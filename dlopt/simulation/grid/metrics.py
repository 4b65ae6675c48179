"""Results of a grid simulation: totals, by LAN, and over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dlopt.aliases import renamed_property
from dlopt.simulation.grid.grid import GridSimulation
from dlopt.simulation.grid.monitor import PeriodCounts
from dlopt.simulation.grid.trace_recorder import EndedJob
from dlopt.simulation.metrics import ratio

Series = tuple[tuple[float, float | None], ...]
"""Starts of periods, and the value of a measure in each; None where it is undefined."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """Result of a task.

    Parameters
    ----------
    id : str
    home : int
        Its home LAN.
    lan : int, optional
        The LAN in which it ran.
    arrival : float
    returned : float, optional
        When its results were at home.
    met : bool
        Whether it was completed by its deadline; true also without deadline.
    resent : int
        Number of subtasks that had to be sent again.
    reason : str
        Why it was not completed.
    """

    id: str
    home: int
    lan: int | None
    arrival: float
    returned: float | None
    met: bool
    resent: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GridOutcome:
    """Results of a grid simulation.

    Parameters
    ----------
    tasks, returned, met : int
        Tasks that arrived, that were completed, and that were completed by their deadlines.
    met_ratio : float, optional
        Deadline hit ratio: met by all tasks.
    response : float, optional
        Mean response time, from arrival to return, of the completed tasks.
    last_return : float, optional
    remote : int
        Tasks that ran in another LAN than their home.
    external, internal : float
        Traffic between and within LANs: data times the links that it crossed.
    utilization : float, optional
        Time in which nodes ran useful attempts, by the time of all nodes from the first arrival to
        the last return.
    wasted : float
        Time in which nodes ran attempts whose results were lost or ignored.
    sent, resent, failures, traps, false_alarms : int
        See `dlopt.simulation.grid.monitor.PeriodCounts`.
    job_outcomes : tuple of JobOutcome
        By task, in the order of their indices.
    lans : tuple of PeriodCounts
    periods : tuple of (float, PeriodCounts)
        With the start of each period; periods without events are omitted.
    cells : tuple of (int, int, PeriodCounts)
        LAN, number of the period, and the counts.
    period : float
        Length of a period.
    nodes : tuple of int
        Number of nodes in each LAN.
    most_live : int
        Largest number of tasks in the grid at the same time.
    events : int
    seconds : float
        Run time; not part of equality.
    """

    tasks: int
    returned: int
    met: int
    met_ratio: float | None
    response: float | None
    last_return: float | None
    remote: int
    external: float
    internal: float
    utilization: float | None
    wasted: float
    sent: int
    resent: int
    failures: int
    traps: int
    false_alarms: int
    job_outcomes: tuple[JobOutcome, ...]
    lans: tuple[PeriodCounts, ...]
    periods: tuple[tuple[float, PeriodCounts], ...]
    cells: tuple[tuple[int, int, PeriodCounts], ...]
    period: float
    nodes: tuple[int, ...]
    most_live: int
    events: int
    seconds: float = field(default=0.0, compare=False)

    fates = renamed_property("fates", "job_outcomes")

    def series(self, measure: str, lan: int | None = None) -> Series:
        """Return a measure over time: of a LAN, or of all together (traffic: the mean of the LANs).

        Parameters
        ----------
        measure : str
            A name in `MEASURES`.
        lan : int, optional

        Returns
        -------
        Series

        Examples
        --------
        >>> from dlopt.simulation.grid.sweep import GridExperiment
        >>> outcome = GridExperiment(lans=2, nodes=3, tasks=4, kappa=20).run().outcome
        >>> [(begin, round(share, 2)) for begin, share in outcome.series("utilization")[:2]]
        [(0.0, 0.0), (3600.0, 0.62)]
        """
        of = MEASURES[measure]
        if not self.cells:
            return ()
        found: dict[int, list[PeriodCounts]] = defaultdict(list)
        for at, period, tally in self.cells:
            if lan is None or at == lan:
                found[period].append(tally)
        last = max(period for _, period, _ in self.cells)
        nodes = sum(self.nodes) if lan is None else self.nodes[lan]
        lans = len(self.nodes) if lan is None else 1
        return tuple(
            (at * self.period, of(PeriodCounts.total(found[at]), nodes * self.period, lans))
            for at in range(last + 1)
        )


MEASURES: Mapping[str, Callable[[PeriodCounts, float, int], float | None]] = {
    "met_ratio": lambda tally, time, lans: ratio(tally.met, tally.returned),
    "response": lambda tally, time, lans: ratio(tally.response, tally.returned),
    "utilization": lambda tally, time, lans: ratio(tally.useful, time),
    "external": lambda tally, time, lans: tally.external / lans,
    "internal": lambda tally, time, lans: tally.internal / lans,
    "resent": lambda tally, time, lans: tally.resent / lans,
}
"""Measures over time, computed from the counts, the time of the nodes, and the number of LANs."""


def grid_outcome(engine: GridSimulation, seconds: float) -> GridOutcome:
    """Return the results of a simulation that has ended."""
    fates = tuple(_fate(job) for job in sorted(engine.record.ended, key=lambda job: job.index))
    home = [fate for fate in fates if fate.returned is not None]
    meter = engine.meter
    cells = tuple((*key, meter.cells[key]) for key in sorted(meter.cells))
    places: list[list[PeriodCounts]] = [[] for _ in engine.lans]
    times: dict[int, list[PeriodCounts]] = defaultdict(list)
    for lan, period, tally in cells:
        places[lan].append(tally)
        times[period].append(tally)
    lans = tuple(map(PeriodCounts.total, places))
    total = PeriodCounts.total(lans)
    last = max((fate.returned for fate in home if fate.returned is not None), default=None)
    span = None if last is None else last - min(fate.arrival for fate in fates)
    nodes = tuple(len(lan.nodes) for lan in engine.lans)
    met = sum(fate.met for fate in fates)
    return GridOutcome(
        tasks=len(fates),
        returned=len(home),
        met=met,
        met_ratio=ratio(met, len(fates)),
        response=ratio(total.response, len(home)),
        last_return=last,
        remote=sum(fate.lan not in (None, fate.home) for fate in fates),
        external=total.external,
        internal=total.internal,
        utilization=ratio(total.useful, sum(nodes) * span) if span else None,
        wasted=total.wasted,
        sent=total.sent,
        resent=total.resent,
        failures=total.failures,
        traps=total.traps,
        false_alarms=total.false_alarms,
        job_outcomes=fates,
        lans=lans,
        periods=tuple((at * meter.period, PeriodCounts.total(times[at])) for at in sorted(times)),
        cells=cells,
        period=meter.period,
        nodes=nodes,
        most_live=engine.most_live,
        events=engine.events,
        seconds=seconds,
    )


def _fate(job: EndedJob) -> JobOutcome:
    returned = None if job.returned is None else float(job.returned)
    met = job.returned is not None and (job.due is None or job.returned <= job.due)
    arrival = float(job.arrival)
    return JobOutcome(job.id, job.home, job.lan, arrival, returned, met, job.lost, job.reason)
