"""Random streams with uncertain execution times, and failures of nodes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dlopt.arithmetic import Number, is_less
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import check_count, positive_float
from dlopt.generation.paper_workloads import mamat4
from dlopt.generation.workload import Workload
from dlopt.problems import multistage
from dlopt.problems.admission import Factor, Failure, Scenario
from dlopt.problems.cluster import MAX_NODES

MOST_FAILURES = 1_000_000
"""Largest expected number of failures of a scenario; larger ones are considered a mistake."""


@dataclass(frozen=True, slots=True)
class RandomScenario:
    """How true costs and failures are drawn for a stream.

    Parameters
    ----------
    mean_time_between_failures : Number, optional
        Mean time for which a node is up, from the start or its repair to its next failure; by
        default no node fails. It is exponentially distributed, independently for each node.
    mean_time_to_repair : Number, optional
        Mean time for which a node is down, exponentially distributed too; by default for ever.
    least_factor, most_factor : Number, default 1
        True costs over estimated ones are uniform between these, independently for transmission and
        computation; and so are true lengths of reservations over those that are reserved. With 1 as
        the most, chunks and reservations only end early.
    share : Number, default 1
        How likely it is that the costs of a task, or the length of a reservation, differ from the
        estimates; from 0 to 1.

    Raises
    ------
    NotApplicableError
        If a number is out of its range, or there is a mean time to repair and no failure.

    Examples
    --------
    >>> from dlopt.generation.paper_workloads import mamat4
    >>> stream = mamat4(horizon=1_000_000, nodes=16, seed=1)
    >>> drawn = RandomScenario(500_000, 10_000, 0.5, 1, share=0.5).of(stream, seed=1)
    >>> len(stream), len(drawn.factors), len(drawn.failures)
    (8, 5, 25)
    """

    mean_time_between_failures: Number | None = None
    mean_time_to_repair: Number | None = None
    least_factor: Number = 1
    most_factor: Number = 1
    share: Number = 1

    def __post_init__(self) -> None:
        low = positive_float("least_factor", self.least_factor)
        high = positive_float("most_factor", self.most_factor)
        if low > high:
            raise NotApplicableError(f"least_factor={low:g} exceeds most_factor={high:g}")
        for name in ("mean_time_between_failures", "mean_time_to_repair"):
            value: Number | None = getattr(self, name)
            if value is not None:
                positive_float(name, value)
        if self.mean_time_between_failures is None and self.mean_time_to_repair is not None:
            raise NotApplicableError("mean_time_to_repair needs mean_time_between_failures")
        if not 0 <= self.share <= 1:
            raise NotApplicableError(f"share must lie between 0 and 1, got {self.share}")

    def of(self, workload: Workload, seed: int = 0) -> Scenario:
        """Return true costs of the tasks of a stream, and failures while tasks arrive.

        Raises
        ------
        NotApplicableError
            If too many failures are expected.
        """
        draw = random.Random(f"random scenario, factors {seed}")
        costly = [name for name in workload.names if draw.random() < self.share]
        if self.least_factor == self.most_factor == 1:
            costly = []
        factors = tuple(_factors(draw, costly, float(self.least_factor), float(self.most_factor)))
        return Scenario(factors, tuple(self._failures(workload, seed)), name=f"random-{seed}")

    def of_mixed(
        self, instance: multistage.Instance, workload: Workload, seed: int = 0
    ) -> multistage.Scenario:
        """Return true costs, true ends of reservations, and failures while tasks arrive.

        Parameters
        ----------
        instance : dlopt.problems.multistage.Instance
        workload : Workload
            Its tasks, in the span in which nodes fail.
        seed : int, default 0

        Raises
        ------
        NotApplicableError
            If too many failures are expected.

        Examples
        --------
        >>> from dlopt.simulation.reservations import ReservationMix, mamat5
        >>> stream = mamat5(horizon=300_000, seed=1)
        >>> mixed = ReservationMix(0.5).of(stream, seed=1)
        >>> drawn = RandomScenario(least_factor=0.5).of_mixed(mixed, stream, seed=1)
        >>> len(drawn.factors), len(drawn.ends), len(drawn.failures)
        (10, 10, 0)
        """
        tasks = {task.id for task in instance.tasks}
        of_tasks = self.of(workload, seed)
        draw = random.Random(f"random scenario, reservations {seed}")
        low, high, ends = float(self.least_factor), float(self.most_factor), []
        for one in instance.reservations if (low, high) != (1, 1) else ():
            if draw.random() < self.share:
                start, end = float(one.start), float(one.end)
                true = start + (end - start) * draw.uniform(low, high)
                if true > max(start, float(instance.now)) and is_less(instance.now, one.end):
                    ends.append(multistage.TrueEnd(one.id, true))
        factors = tuple(factor for factor in of_tasks.factors if factor.task in tasks)
        return multistage.Scenario(factors, of_tasks.failures, ends=tuple(ends), name=of_tasks.name)

    def _failures(self, workload: Workload, seed: int) -> Iterator[Failure]:
        if self.mean_time_between_failures is None:
            return
        mean_up = float(self.mean_time_between_failures)
        if not workload.cluster.nodes * workload.span < MOST_FAILURES * mean_up:
            text = f"a mean time between failures of {mean_up:g} gives too many failures"
            raise NotApplicableError(f"{text}, more than {MOST_FAILURES}")
        draw = random.Random(f"random scenario, failures {seed}")
        for node in range(workload.cluster.nodes):
            instant = float(workload.begin)
            while True:
                begin = instant + draw.expovariate(1 / mean_up)
                if begin >= workload.horizon:
                    break
                if self.mean_time_to_repair is None:
                    yield Failure(node, begin)
                    break
                instant = begin + draw.expovariate(1 / float(self.mean_time_to_repair))
                if instant > begin:  # else it is repaired at once, in floats
                    yield Failure(node, begin, instant)


def mamat7(
    *,
    load_from: Number = 0.3,
    load_to: Number = 1.5,
    dc_ratio: Number = 10,
    nodes: int = 16,
    tau: Number = 1,
    chi: Number = 100,
    average_load: Number = 200,
    horizon: Number = 18_000_000,
    least_factor: Number = 0.1,
    most_factor: Number = 2,
    loads: str = "redraw",
    deadlines: str = "redraw-deadline",
    seed: int = 0,
) -> tuple[Workload, Scenario]:
    """Return the workload of Mamat 2011, section 7.3: a growing load, and uncertain costs.

    The tasks are those of `mamat4`; their arrivals are transformed so that the rate grows linearly.

    Parameters
    ----------
    load_from, load_to : Number
        System load at the beginning and at the end; equal for a constant load. The paper gives
        neither.
    dc_ratio : Number
        The paper does not give it. At 2, the default of chapter 4, a fifth of the tasks is late on
        an idle cluster, which its figures exclude.
    nodes, tau, chi, average_load, horizon, loads, deadlines
        See `mamat4`; there are no set-up costs.
    least_factor, most_factor : Number
        True costs over estimated ones are uniform between these, independently for transmission and
        computation.
    seed : int

    Returns
    -------
    workload : Workload
        Its system load is the mean.
    scenario : Scenario
        The factors.

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range.

    Examples
    --------
    >>> workload, scenario = mamat7(horizon=1_000_000)
    >>> middle = sum(arrival < 500_000 for arrival in workload.arrivals)
    >>> len(workload), middle
    (770, 248)
    >>> scenario.factors[0].task, 0.1 <= scenario.factors[0].chi <= 2
    ('0', True)
    """
    first, last = positive_float("load_from", load_from), positive_float("load_to", load_to)
    low, high = (
        positive_float("least_factor", least_factor),
        positive_float("most_factor", most_factor),
    )
    if low > high:
        raise NotApplicableError(f"least_factor={low:g} exceeds most_factor={high:g}")
    even = mamat4(
        system_load=(first + last) / 2,
        dc_ratio=dc_ratio,
        nodes=nodes,
        tau=tau,
        chi=chi,
        theta_cm=0,
        theta_cp=0,
        average_load=average_load,
        horizon=horizon,
        loads=loads,
        deadlines=deadlines,
        seed=seed,
    )
    name = f"mamat7-{first:g}-{last:g}-{seed}"
    shifted = (even.horizon * _when(at / even.horizon, first, last) for at in even.arrivals)
    workload = replace(
        even,
        arrivals=tuple(min(at, even.horizon) for at in shifted),
        name=name,
        origin=f"drawn as in Mamat 2011, 7.3: mamat7, loads {first:g} to {last:g}, seed {seed}",
    )
    draw = random.Random(f"mamat7 factors {seed}")
    return workload, Scenario(tuple(_factors(draw, workload.names, low, high)), name=name)


def outage(
    nodes: int, begin: Number, until: Number | None = None, *, share: Number = 0.4
) -> tuple[Failure, ...]:
    """Return the failure of a share of the nodes, those of the highest indices, at one instant.

    Parameters
    ----------
    nodes : int
        Of the cluster.
    begin : Number
    until : Number, optional
        When they are back; by default never.
    share : Number, default 0.4
        Between 0 and 1; the number of nodes is rounded.

    Examples
    --------
    >>> [failure.node for failure in outage(16, 9_000_000)]
    [10, 11, 12, 13, 14, 15]
    """
    check_count("nodes", nodes, MAX_NODES)
    if not 0 <= share <= 1:
        raise NotApplicableError(f"share must lie between 0 and 1, got {share}")
    failing = round(float(share) * nodes)
    return tuple(Failure(node, begin, until) for node in range(nodes - failing, nodes))


def _factors(
    draw: random.Random, tasks: Iterable[str], low: float, high: float
) -> Iterator[Factor]:
    """Yield factors of the costs of tasks, uniform and independent."""
    for task in tasks:
        yield Factor(task, draw.uniform(low, high), draw.uniform(low, high))


def _when(part: float, first: float, last: float) -> float:
    """Return when that share of the arrivals has occurred, in a unit span with a linear rate."""
    slope = last - first
    wanted = part * (first + last) / 2
    # The root of `first t + slope t^2 / 2 = wanted`, in the form that allows a slope of 0.
    return 2 * wanted / (first + math.sqrt(first * first + 2 * slope * wanted))
