"""Replications: several algorithms on the same random streams, for many loads and seeds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from dlopt.errors import DloptError, NotApplicableError, known_names
from dlopt.generation.paper_workloads import WORKLOADS, Workload
from dlopt.generation.uncertain_times import RandomScenario
from dlopt.heuristics.multistage.algorithm_names import NAMES, parse
from dlopt.problems.multistage import Instance, Scenario
from dlopt.registry import load_methods
from dlopt.result import Limits
from dlopt.simulation.executed_mixed_stream import ExecutedMixedRun
from dlopt.simulation.metrics import StreamOutcome
from dlopt.simulation.mixed_stream import simulate_mixed
from dlopt.simulation.policy_simulation import algorithm_of, run_within
from dlopt.simulation.process_pool import imap_unordered
from dlopt.simulation.reservations import ReservationMix, mamat5
from dlopt.simulation.stream_simulation import simulate

CONFIDENCE = 0.95
"""Confidence level of the intervals of means."""

Family = Callable[..., Workload]

MIXED_ALGORITHMS = frozenset(NAMES)
"""The algorithms that decide on reservations, too."""

FAMILIES: Mapping[str, Family] = {**WORKLOADS, "mamat5": mamat5}
"""The workloads by name: those of `dlopt.generation.paper_workloads`, and that of chapter 5."""


class MeanEstimate(NamedTuple):
    """A mean over seeds, and half the width of its confidence interval (None for one seed)."""

    mean: float
    half_width: float | None


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One algorithm at one system load.

    Parameters
    ----------
    method : str
    system_load : float, optional
        None if the workload has none.
    outcomes : tuple of StreamOutcome
        One per seed.
    """

    method: str
    system_load: float | None
    outcomes: tuple[StreamOutcome, ...]

    def estimate(self, measure: str) -> MeanEstimate | None:
        """Return the mean of a measure of the outcomes; None if all of them lack it.

        Examples
        --------
        >>> (point,) = simulate_many("lin5", ["mcdf"], loads=[0.1], seeds=range(3))
        >>> mean, half_width = point.estimate("tasks")
        >>> round(mean), round(half_width)
        (543, 83)
        """
        values = [getattr(outcome, measure) for outcome in self.outcomes]
        known = [float(value) for value in values if value is not None]
        return estimate(known) if known else None


class _Replication(NamedTuple):
    """One random stream and the algorithms to run on it: the unit of parallel work."""

    family: str | Family
    load: float | None
    seed: int
    methods: tuple[str, ...]
    check: bool
    parameters: Mapping[str, Any]
    reservation_mix: ReservationMix
    scenario: RandomScenario | None
    imports: tuple[str, ...]
    time_limit_s: float | None


def simulate_many(
    family: str | Family,
    methods: Iterable[str],
    *,
    loads: Iterable[float] | None = None,
    seeds: Iterable[int] = range(10),
    processes: int = 1,
    check: bool = False,
    progress: Callable[[int, int], None] | None = None,
    parameters: Mapping[str, Any] | None = None,
    reservation_mix: ReservationMix | None = None,
    scenario: RandomScenario | None = None,
    imports: Iterable[str] = (),
    time_limit_s: float | None = None,
) -> tuple[LoadPoint, ...]:
    """Simulate algorithms on the same streams, one stream for each system load and seed.

    Parameters
    ----------
    family : str or callable
        A name in `FAMILIES`, or a function that takes ``seed``, ``system_load`` (if it has that
        parameter) and `parameters`, and returns a `Workload`. With several processes, it must be
        defined in a module.
    methods : str or iterable of str
    loads : iterable of float, optional
        System loads; by default the default of the family.
    seeds : iterable of int
    processes : int, default 1
        Number of worker processes; the results do not depend on it.
    check : bool, default False
        See `simulate`.
    progress : callable, optional
        Called with the numbers of completed and of all streams.
    parameters : mapping, optional
        Parameters of the family other than seed and system load.
    reservation_mix : ReservationMix, optional
        Convert a share of the tasks of each stream to advance reservations, for algorithms that
        decide on them, too: ``multi-stage``, with prices or without, and its literals.
    scenario : RandomScenario, optional
        Draw true costs, true ends of reservations, and failures for each stream, and execute it as
        they say, for algorithms that keep what they promise.
    imports : iterable of str
        Modules and ``.py`` files that register online policies; worker processes load them, too.
    time_limit_s : float, optional
        Seconds after which an algorithm is given up on a stream; see `simulate`.

    Returns
    -------
    tuple of LoadPoint
        By load, and in the order of `methods` for each.

    Raises
    ------
    NotApplicableError
        If there is no such family, method or parameter, a value is out of its range, or a method
        does not support reservations.
    SolverError
        If a worker process ended unexpectedly, or an algorithm reached the time limit.

    Examples
    --------
    >>> two = simulate_many("mamat4", ["edf-opr-an", "edf-epr-an"], loads=[0.5], seeds=[1, 2],
    ...                     parameters={"horizon": 500_000})
    >>> [round(point.estimate("reject_ratio").mean, 3) for point in two]
    [0.712, 0.609]
    """
    if isinstance(methods, str):
        methods = [methods]
    sources = tuple(imports)
    for source in sources:
        load_methods(source)
    names = tuple(name if name in MIXED_ALGORITHMS else algorithm_of(name).name for name in methods)
    reservation_mix = reservation_mix or ReservationMix(0)
    for name in names:
        if reservation_mix.fraction and name not in MIXED_ALGORITHMS:
            raise NotApplicableError(f"{name} knows no reservations")
        if scenario is not None and name in MIXED_ALGORITHMS and parse(name).flaw is not None:
            raise NotApplicableError(f"{name} does not keep what it promises")
    picked, wanted = tuple(loads) if loads is not None else None, tuple(seeds)
    if not names or not wanted or picked == ():
        raise NotApplicableError("at least one method, one seed and one load are needed")
    settings = dict(parameters or {})
    _check_parameters(family, settings, picked)
    time_limit_s = Limits(time_s=time_limit_s).time_s
    rest = names, check, settings, reservation_mix, scenario, sources, time_limit_s
    units = [
        _Replication(family, load, seed, *rest) for load in picked or (None,) for seed in wanted
    ]
    done = _run_all(units, processes, progress or (lambda done, total: None))
    points = []
    for first in range(0, len(units), len(wanted)):
        rows = done[first : first + len(wanted)]
        for column, name in enumerate(names):
            outcomes = tuple(row[column] for row in rows)
            points.append(LoadPoint(name, outcomes[0].system_load, outcomes))
    return tuple(points)


def estimate(values: Sequence[float]) -> MeanEstimate:
    """Return mean and confidence interval of independent values, by Student's t.

    Examples
    --------
    >>> mean, half_width = estimate([1.0, 2.0, 3.0])
    >>> mean, round(half_width, 3)
    (2.0, 2.484)
    """
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return MeanEstimate(mean, None)
    from scipy.special import stdtrit

    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    quantile = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return MeanEstimate(mean, quantile * (variance / count) ** 0.5)


def workload_of(family: str | Family) -> Family:
    """Return the function of a family by its name.

    Raises
    ------
    NotApplicableError
        If there is none.
    """
    if callable(family):
        return family
    if family not in FAMILIES:
        raise NotApplicableError(f"no workload {family!r} ({known_names(family, FAMILIES)})")
    return FAMILIES[family]


def _check_parameters(
    family: str | Family, parameters: Mapping[str, Any], loads: tuple[float, ...] | None
) -> None:
    """Refuse parameters that a family does not have, before any work."""
    allowed = inspect.signature(workload_of(family)).parameters
    name = family if isinstance(family, str) else getattr(family, "__name__", "")
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in allowed.values()):
        return
    if loads is not None and "system_load" not in allowed:
        raise NotApplicableError(f"workload {name} has no system load")
    known = [word for word in allowed if word not in ("seed", "system_load")]
    for word in parameters:
        if word not in known:
            text = f"workload {name} has no parameter {word!r} ({known_names(word, known)})"
            raise NotApplicableError(text)


def _run_replication(unit: _Replication) -> list[StreamOutcome]:
    for source in unit.imports:
        load_methods(source)
    load = {} if unit.load is None else {"system_load": unit.load}
    try:
        stream = workload_of(unit.family)(seed=unit.seed, **load, **unit.parameters)
    except DloptError as error:
        # Other errors carry more than their text, and would not come through between processes.
        raise NotApplicableError(str(error)) from None
    except (TypeError, ValueError, ArithmeticError) as error:
        given = ", ".join(f"{name}={value}" for name, value in unit.parameters.items())
        raise NotApplicableError(f"{given or 'a parameter'} does not fit: {error}") from None
    drawn, mixed, mixed_scenario = unit.scenario, None, None
    scenario = None if drawn is None else drawn.of(stream, unit.seed)
    if MIXED_ALGORITHMS.intersection(unit.methods):
        mixed = unit.reservation_mix.of(stream, unit.seed)
        if drawn is not None:
            mixed_scenario = drawn.of_mixed(mixed, stream, unit.seed)

    def outcome(name: str) -> StreamOutcome:
        if mixed is None or name not in MIXED_ALGORITHMS:
            limit = unit.time_limit_s
            return simulate(stream, name, scenario=scenario, check=unit.check, time_limit_s=limit)
        run = partial(_mixed_outcome, mixed, name, mixed_scenario, stream, unit.check)
        return run_within(unit.time_limit_s, name, run)

    return list(map(outcome, unit.methods))


def _mixed_outcome(
    mixed: Instance, name: str, scenario: Scenario | None, stream: Workload, check: bool
) -> StreamOutcome:
    """Return the results of an algorithm on tasks and reservations, executed as a scenario says."""
    if scenario is None:
        return simulate_mixed(mixed, name, workload=stream, check=check)
    run = ExecutedMixedRun(mixed, name, scenario, workload=stream)
    return run.checked() if check else run.outcome


def _run_all(
    units: list[_Replication], processes: int, progress: Callable[[int, int], None]
) -> list[list[StreamOutcome]]:
    """Return the results of each replication, in their order."""
    progress(0, len(units))
    # The longest first, so that none is left alone at the end; one after another in one process.
    order = list(enumerate(units))
    if processes > 1:
        order.sort(key=lambda numbered: -(numbered[1].load or 0))
    found: dict[int, list[StreamOutcome]] = {}
    for index, outcomes in imap_unordered(_run_numbered, order, processes):
        found[index] = outcomes
        progress(len(found), len(units))
    return [found[index] for index in range(len(units))]


def _run_numbered(numbered: tuple[int, _Replication]) -> tuple[int, list[StreamOutcome]]:
    """Return the number of a replication with its results: they complete in any order."""
    index, unit = numbered
    return index, _run_replication(unit)
