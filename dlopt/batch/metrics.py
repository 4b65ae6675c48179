"""What rows say together: gaps to what is proven, and profiles over many instances."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dlopt.arithmetic import SOLVER, Number, exact
from dlopt.batch.records import Key, Row
from dlopt.registry import methods, problem
from dlopt.result import PLAN_CLASSES, Limits, Objective, Status, Value, relative_gap

Steps: TypeAlias = tuple[tuple[float, float], ...]
"""A curve that only rises: where it steps, and to what share."""
_LARGEST_GAP = 10**300
"""A larger gap counts as this, which is a float, and so are sums of many."""
_SHORTEST_S = 1e-9
"""Seconds; a proof that took less counts as this, so that ratios of times are finite."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row beside what is proven of its instance.

    Parameters
    ----------
    row : Row
    reference : Value, optional
        The optimum of the plans that the method ranges over, or of more; or else the best bound.
    proven : {"optimum", "bound"}, optional
        What the reference is.
    gap : float, optional
        ``|value - reference| / |reference - origin|``; of a lexicographic objective, of its first
        level. None without a plan, without a reference, or where the reference is the origin and
        the value not.
    reached : bool
        Whether the value is the reference, in all levels, to 1e-6.
    contradicts : bool
        Whether the value is better than the reference by more than that: one of them is wrong.
    """

    row: Row
    reference: Value | None = None
    proven: Literal["optimum", "bound"] | None = None
    gap: float | None = None
    reached: bool = False
    contradicts: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How one method, with one set of options and limits, has fared.

    Parameters
    ----------
    label : str
    cells, plans, reached, optimal, proven : int
        How many in all; with a plan; with the best that is proven possible; called optimal by the
        method itself; of these, with a bound that is proven in rational arithmetic.
    troubles : int
        Cells without an answer: failed, refuted, died, or ended for time or memory.
    unsound : int
        Plans that break the rules, of methods known to be flawed.
    mean, median, largest : float, optional
        Of the gaps.
    time_s : float, optional
        The median of the runtimes.
    """

    label: str
    cells: int
    plans: int
    reached: int
    optimal: int
    proven: int
    troubles: int
    unsound: int
    mean: float | None
    median: float | None
    largest: float | None
    time_s: float | None


def goal_of(row: Row) -> Objective:
    """Return the objective of a row."""
    goal: Objective = problem(row.key.problem).module.OBJECTIVES[row.key.objective]
    return goal


def judge(rows: Iterable[Row]) -> list[Judged]:
    """Hold every row against what all rows prove of its instance.

    Examples
    --------
    >>> from dlopt import read
    >>> from dlopt.batch.runs import solve_cell
    >>> from dlopt.batch.experiment import plan_cells
    >>> cells = plan_cells([read("instances/iit/three-nodes.json")], ["opr", "exact"]).cells
    >>> [f"{judged.gap:.1%}" for judged in judge(solve_cell(cell).row for cell in cells)]
    ['31.3%', '0.0%']
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.key.problem, row.key.hash, row.key.objective), []).append(row)
    return [_judged(row, group) for group in groups.values() for row in group]


def by_label(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Return the rows of each method, under its name with options, and with limits if they differ.

    Rows that differ in nothing but the seed are together. Methods stand in the order of the
    registry, whatever the order in which their cells were done.
    """
    judged = sorted(judged, key=lambda j: (rank(j.row.key), j.row.key.options))
    keys = [j.row.key for j in judged]
    limits = {key.limits for key in keys}
    versions = {key.dlopt for key in keys}
    readings = {key.numbers for key in keys}
    found: dict[str, list[Judged]] = {}
    for j in judged:
        key = j.row.key
        label = key.method
        if key.options:
            label += " [" + ", ".join(f"{name}={value}" for name, value in key.options) + "]"
        if len(limits) > 1:
            label += _limited(key.limits)
        if len(readings) > 1:
            label += f", {key.numbers} numbers"
        if len(versions) > 1:
            label += f", dlopt {key.dlopt}"
        found.setdefault(label, []).append(j)
    return found


def rank(key: Key) -> int:
    """Return the place of a method in the registry; behind all if it is not there."""
    names = [entry.name for entry in methods(key.problem)]
    return names.index(key.method) if key.method in names else len(names)


def standing(label: str, judged: Sequence[Judged]) -> Standing:
    """Return how a method has fared over its rows."""
    gaps = [j.gap for j in judged if j.gap is not None]
    times = [j.row.runtime_s for j in judged if j.row.runtime_s is not None]
    return Standing(
        label,
        cells=len(judged),
        plans=sum(j.row.checked for j in judged),
        reached=sum(j.reached for j in judged),
        optimal=sum(j.row.status is Status.OPTIMAL for j in judged),
        proven=sum(
            j.row.status is Status.OPTIMAL and j.row.proof in ("exact", "certificate")
            for j in judged
        ),
        troubles=sum(not isinstance(j.row.status, Status) for j in judged),
        unsound=sum(j.row.status is Status.UNSOUND for j in judged),
        mean=statistics.fmean(gaps) if gaps else None,
        median=statistics.median(gaps) if gaps else None,
        largest=max(gaps, default=None),
        time_s=statistics.median(times) if times else None,
    )


def gap_profile(judged: Iterable[Judged]) -> Steps:
    """Return for which share of the cells the gap is at most so large.

    Cells without a plan count as never; of those whose reference is unknown nothing can be said,
    and they do not count.

    Examples
    --------
    >>> gap_profile([])
    ()
    """
    known = [j for j in judged if j.reference is not None]
    return _rising([j.gap for j in known if j.gap is not None], len(known))


def time_profile(judged: Sequence[Judged]) -> Steps:
    """Return for which share of the cells an optimum was proven within so many seconds."""
    times = [
        j.row.runtime_s
        for j in judged
        if j.row.status is Status.OPTIMAL and j.row.runtime_s is not None
    ]
    return _rising(times, len(judged))


def performance_profiles(by_label: Mapping[str, Sequence[Judged]]) -> dict[str, Steps]:
    """Return for which share of the instances a proof takes at most so many times the fastest.

    These are the performance profiles of Dolan and More (2002), on the time to a proven optimum.
    """
    times: dict[str, dict[tuple[str, int], float]] = {}
    for label, judged in by_label.items():
        for j in judged:
            if j.row.status is Status.OPTIMAL and j.row.runtime_s:
                time = max(j.row.runtime_s, _SHORTEST_S)
                times.setdefault(label, {})[j.row.key.hash, j.row.key.seed] = time
    solved = {case for known in times.values() for case in known}
    fastest = {case: min(t[case] for t in times.values() if case in t) for case in solved}
    return {
        label: _rising([time / fastest[case] for case, time in known.items()], len(solved))
        for label, known in times.items()
    }


def _judged(row: Row, group: Sequence[Row]) -> Judged:
    if row.plan_class is None:
        return Judged(row)
    goal = goal_of(row)
    reference, proven = _reference(goal, row, group)
    if reference is None or row.value is None or not row.checked:
        return Judged(row, reference, proven)
    return Judged(
        row,
        reference,
        proven,
        _gap(_first(row.value), _first(reference), goal, row.origin),
        _near(row.value, reference, row.origin),
        goal.better(_worse(row.value, goal, row.origin), reference),
    )


def _reference(
    goal: Objective, narrow: Row, group: Sequence[Row]
) -> tuple[Value | None, Literal["optimum", "bound"] | None]:
    """Return the least that no plan of a row's class beats: a bound holds for narrower classes."""
    wide = [row for row in group if _holds_for(row, narrow)]
    optima = [row.value for row in wide if row.status is Status.OPTIMAL and row.value is not None]
    if optima:
        return _tightest(goal, optima), "optimum"
    bounds = [row.bound for row in wide if row.bound is not None]
    return (_tightest(goal, bounds), "bound") if bounds else (None, None)


def _holds_for(row: Row, narrow: Row) -> bool:
    """Tell whether all plans that one row ranges over are among those of another."""
    if row.plan_class is None or narrow.plan_class is None:
        return False
    if row.plan_class == narrow.plan_class == "k":
        return row.installments == narrow.installments
    return PLAN_CLASSES.index(row.plan_class) >= PLAN_CLASSES.index(narrow.plan_class)


def _tightest(goal: Objective, bounds: Sequence[Value]) -> Value:
    best = bounds[0]
    for bound in bounds[1:]:
        if goal.better(best, bound):
            best = bound
    return best


def _gap(value: Number, reference: Number, goal: Objective, origin: Number) -> float | None:
    first, known = exact(value), exact(reference)
    sense = goal.senses[0] if goal.senses else goal.sense
    if first == known or (first < known) == (sense == "min"):
        return 0.0
    gap = relative_gap(first, known, origin)
    return None if gap is None else float(min(gap, _LARGEST_GAP))


def _near(value: Value, reference: Value, origin: Number) -> bool:
    pairs = zip(_levels(value), _levels(reference), strict=True)
    return all(abs(v - r) <= exact(SOLVER) * abs(r - exact(origin)) for v, r in pairs)


def _worse(value: Value, goal: Objective, origin: Number) -> Value:
    """Return a value that is worse by a millionth, level by level."""
    levels = _levels(value)
    senses = goal.senses or (goal.sense,) * len(levels)
    worse = tuple(
        level + (1 if sense == "min" else -1) * exact(SOLVER) * abs(level - exact(origin))
        for level, sense in zip(levels, senses, strict=True)
    )
    return worse if isinstance(value, tuple) else worse[0]


def _first(value: Value) -> Number:
    return value[0] if isinstance(value, tuple) else value


def _levels(value: Value) -> tuple[Fraction, ...]:
    return tuple(exact(level) for level in (value if isinstance(value, tuple) else (value,)))


def _limited(limits: Limits) -> str:
    words = [f"{limits.time_s:g} s"] if limits.time_s is not None else []
    words += [f"work {limits.work}"] if limits.work is not None else []
    words += [f"{limits.threads} threads"] if limits.threads > 1 else []
    words += [f"gap {limits.gap:g}"] if limits.gap else []
    return f", {' '.join(words) or 'no limit'}"


def _rising(values: Sequence[float], total: int) -> Steps:
    return tuple(_steps(sorted(values), total))


def _steps(values: Sequence[float], total: int) -> Iterator[tuple[float, float]]:
    for index, value in enumerate(values):
        if index + 1 == len(values) or values[index + 1] != value:
            yield value, (index + 1) / total
