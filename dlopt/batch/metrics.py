"""Metrics of many records: gaps to the proven optimum or bound, and profiles."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dlopt.arithmetic import SOLVER, Number, exact
from dlopt.batch.records import Record, RunKey
from dlopt.plan_classes import is_in_class_of
from dlopt.proven_reference import tightest
from dlopt.registry import methods, problem
from dlopt.result import Limits, Objective, Status, Value, levels_of, relative_gap

StepCurve: TypeAlias = tuple[tuple[float, float], ...]
"""A curve that only rises: where it steps, and to what share."""
_MAX_GAP = 10**300
"""A larger gap counts as this, which is a float, and so are sums of many."""
_MIN_PROOF_TIME_S = 1e-9
"""Seconds; a proof that took less counts as this, so that ratios of times are finite."""


@dataclass(frozen=True, slots=True)
class EvaluatedRecord:
    """A record with the optimum or bound that is proven of its instance.

    Parameters
    ----------
    record : Record
    reference : Value, optional
        The optimum of the plans that the method ranges over, or of more; or else the best bound.
    proven : {"optimum", "bound"}, optional
        What the reference is.
    gap : float, optional
        ``|value - reference| / |reference - origin|``; of a lexicographic objective, of its first
        level. None without a plan, without a reference, or where the reference is the origin and
        the value not.
    at_reference : bool
        Whether the value is the reference, in all levels, to 1e-6.
    beats_reference : bool
        Whether the value is better than the reference by more than that: one of them is wrong.
    """

    record: Record
    reference: Value | None = None
    proven: Literal["optimum", "bound"] | None = None
    gap: float | None = None
    at_reference: bool = False
    beats_reference: bool = False


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """How one method, with one set of options and limits, has fared.

    Parameters
    ----------
    label : str
    runs, plans, at_reference, optimal, proven, certified : int
        How many in all; with a plan; with the best that is proven possible; called optimal by the
        method itself; of these, with a bound that is proven in rational arithmetic; of these, with
        a certificate, see `Record.certified`.
    failures : int
        Runs without an answer: failed, crashed, invalid, or ended for time or memory.
    unsound : int
        Plans that break the rules, of methods known to be flawed.
    mean, median, largest : float, optional
        Of the gaps.
    time_s : float, optional
        The median of the runtimes.
    """

    label: str
    runs: int
    plans: int
    at_reference: int
    optimal: int
    proven: int
    certified: int
    failures: int
    unsound: int
    mean: float | None
    median: float | None
    largest: float | None
    time_s: float | None


@dataclass(frozen=True, slots=True)
class CertifiedShare:
    """How many of the optima of a method have certificates, over all objectives.

    Parameters
    ----------
    problem, method : str
    optimal, certified, refused : int
        Optima, those with a certificate, and certificates that the checker refused.
    size_bytes : int, optional
        Of all certificates that were written.
    """

    problem: str
    method: str
    optimal: int
    certified: int
    refused: int
    size_bytes: int | None

    @property
    def share(self) -> float | None:
        """The part of the optima that is certified; None if there are no optima."""
        return self.certified / self.optimal if self.optimal else None


def certified_shares(records: Iterable[Record]) -> list[CertifiedShare]:
    """Return how many optima are certified, for each problem and method that has optima.

    Problems and methods stand in the order of their first records.

    Examples
    --------
    >>> from dlopt import load
    >>> from dlopt.batch.runs import solve_run
    >>> from dlopt.batch.experiment import plan_runs
    >>> runs = plan_runs([load("dag/chain"), load("iit/three-nodes")], ["exact"]).runs
    >>> for one in certified_shares(solve_run(run).record for run in runs):
    ...     print(one.problem, one.method, one.optimal, one.certified, one.share)
    dag exact 1 1 1.0
    iit exact 1 1 1.0
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.key.problem, record.key.method), []).append(record)
    found = []
    for (stem, method), own in groups.items():
        optimal = sum(record.status is Status.OPTIMAL for record in own)
        refused = sum(record.certificate_is_refused for record in own)
        sizes = [one.certificate_bytes for one in own if one.certificate_bytes is not None]
        if optimal or refused:
            certified = sum(record.certified for record in own)
            size = sum(sizes) if sizes else None
            found.append(CertifiedShare(stem, method, optimal, certified, refused, size))
    return found


def objective_of(record: Record) -> Objective:
    """Return the objective of a record."""
    goal: Objective = problem(record.key.problem).module.OBJECTIVES[record.key.objective]
    return goal


def evaluate(records: Iterable[Record]) -> list[EvaluatedRecord]:
    """Compare every record with the optimum or bound that all records prove of its instance.

    Examples
    --------
    >>> from dlopt import read
    >>> from dlopt.batch.runs import solve_run
    >>> from dlopt.batch.experiment import plan_runs
    >>> runs = plan_runs([read("instances/iit/three-nodes.json")], ["opr", "exact"]).runs
    >>> [f"{evaluated.gap:.1%}" for evaluated in evaluate(solve_run(run).record for run in runs)]
    ['31.3%', '0.0%']
    """
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.key.problem, record.key.hash, record.key.objective), []).append(
            record
        )
    return [_evaluated(record, group) for group in groups.values() for record in group]


def group_by_label(evaluated: Sequence[EvaluatedRecord]) -> dict[str, list[EvaluatedRecord]]:
    """Return the records of each method, under its name with options, and with limits if they
    differ; and with "certified" if some runs were asked for certificates, and others were not.

    Records that differ in nothing but the seed are together. Methods stand in the order of the
    registry, whatever the order in which their runs were done.
    """
    evaluated = sorted(
        evaluated, key=lambda j: (registry_order(j.record.key), j.record.key.options)
    )
    keys = [j.record.key for j in evaluated]
    limits = {key.limits for key in keys}
    versions = {key.dlopt for key in keys}
    readings = {key.numbers for key in keys}
    demands = {key.certified for key in keys}
    found: dict[str, list[EvaluatedRecord]] = {}
    for j in evaluated:
        key = j.record.key
        label = key.method
        if key.options:
            label += " [" + ", ".join(f"{name}={value}" for name, value in key.options) + "]"
        if len(limits) > 1:
            label += _limits_suffix(key.limits)
        if len(readings) > 1:
            label += f", {key.numbers} numbers"
        if key.certified and len(demands) > 1:
            label += ", certified"
        if len(versions) > 1:
            label += f", dlopt {key.dlopt}"
        found.setdefault(label, []).append(j)
    return found


def registry_order(key: RunKey) -> int:
    """Return the place of a method in the registry; after all others if it is not there."""
    names = [entry.name for entry in methods(key.problem)]
    return names.index(key.method) if key.method in names else len(names)


def summarise_method(label: str, evaluated: Sequence[EvaluatedRecord]) -> MethodSummary:
    """Return how a method has fared over its records."""
    gaps = [j.gap for j in evaluated if j.gap is not None]
    times = [j.record.runtime_s for j in evaluated if j.record.runtime_s is not None]
    return MethodSummary(
        label,
        runs=len(evaluated),
        plans=sum(j.record.checked for j in evaluated),
        at_reference=sum(j.at_reference for j in evaluated),
        optimal=sum(j.record.status is Status.OPTIMAL for j in evaluated),
        proven=sum(
            j.record.status is Status.OPTIMAL and j.record.proof in ("exact", "certificate")
            for j in evaluated
        ),
        certified=sum(j.record.certified for j in evaluated),
        failures=sum(not isinstance(j.record.status, Status) for j in evaluated),
        unsound=sum(j.record.status is Status.UNSOUND for j in evaluated),
        mean=statistics.fmean(gaps) if gaps else None,
        median=statistics.median(gaps) if gaps else None,
        largest=max(gaps, default=None),
        time_s=statistics.median(times) if times else None,
    )


def gap_profile(evaluated: Iterable[EvaluatedRecord]) -> StepCurve:
    """Return for which share of the runs the gap is at most so large.

    Runs without a plan count as never; of those whose reference is unknown nothing can be said,
    and they do not count.

    Examples
    --------
    >>> gap_profile([])
    ()
    """
    known = [j for j in evaluated if j.reference is not None]
    return _step_curve([j.gap for j in known if j.gap is not None], len(known))


def time_profile(evaluated: Sequence[EvaluatedRecord]) -> StepCurve:
    """Return for which share of the runs an optimum was proven within so many seconds."""
    times = [
        j.record.runtime_s
        for j in evaluated
        if j.record.status is Status.OPTIMAL and j.record.runtime_s is not None
    ]
    return _step_curve(times, len(evaluated))


def performance_profiles(
    group_by_label: Mapping[str, Sequence[EvaluatedRecord]],
) -> dict[str, StepCurve]:
    """Return for which share of the instances a proof takes at most so many times the fastest.

    These are the performance profiles of Dolan and More (2002), on the time to a proven optimum.
    """
    times: dict[str, dict[tuple[str, int], float]] = {}
    for label, evaluated in group_by_label.items():
        for j in evaluated:
            if j.record.status is Status.OPTIMAL and j.record.runtime_s:
                time = max(j.record.runtime_s, _MIN_PROOF_TIME_S)
                times.setdefault(label, {})[j.record.key.hash, j.record.key.seed] = time
    solved = {case for known in times.values() for case in known}
    fastest = {case: min(t[case] for t in times.values() if case in t) for case in solved}
    return {
        label: _step_curve([time / fastest[case] for case, time in known.items()], len(solved))
        for label, known in times.items()
    }


def _evaluated(record: Record, group: Sequence[Record]) -> EvaluatedRecord:
    if record.plan_class is None:
        return EvaluatedRecord(record)
    goal = objective_of(record)
    reference, proven = _reference(goal, record, group)
    if reference is None or record.value is None or not record.checked:
        return EvaluatedRecord(record, reference, proven)
    return EvaluatedRecord(
        record,
        reference,
        proven,
        _gap(_first(record.value), _first(reference), goal, record.origin),
        _equals_reference(record.value, reference, record.origin),
        goal.better(_relaxed(record.value, goal, record.origin), reference),
    )


def _reference(
    goal: Objective, narrow: Record, group: Sequence[Record]
) -> tuple[Value | None, Literal["optimum", "bound"] | None]:
    """Return the tightest bound on the plans of a record's class.

    For a run that was asked for certificates, only what other such runs have proven counts.
    """
    wide = [
        record
        for record in group
        if record.plan_class is not None
        and is_in_class_of(narrow, record)
        and (record.key.certified or not narrow.key.certified)
    ]
    optimum = tightest(goal, wide, lambda one: one.value if one.status is Status.OPTIMAL else None)
    if optimum is not None:
        return optimum.value, "optimum"
    bounded = tightest(goal, wide, lambda one: one.bound)
    return (None, None) if bounded is None else (bounded.bound, "bound")


def _gap(value: Number, reference: Number, goal: Objective, origin: Number) -> float | None:
    first, known = exact(value), exact(reference)
    if first == known or (first < known) == (goal.senses_of(value)[0] == "min"):
        return 0.0
    gap = relative_gap(first, known, origin)
    return None if gap is None else float(min(gap, _MAX_GAP))


def _equals_reference(value: Value, reference: Value, origin: Number) -> bool:
    pairs = zip(_levels(value), _levels(reference), strict=True)
    return all(abs(v - r) <= exact(SOLVER) * abs(r - exact(origin)) for v, r in pairs)


def _relaxed(value: Value, goal: Objective, origin: Number) -> Value:
    """Return a value that is worse by a millionth, level by level."""
    worse = tuple(
        level + (1 if sense == "min" else -1) * exact(SOLVER) * abs(level - exact(origin))
        for level, sense in zip(_levels(value), goal.senses_of(value), strict=True)
    )
    return worse if isinstance(value, tuple) else worse[0]


def _first(value: Value) -> Number:
    return value[0] if isinstance(value, tuple) else value


def _levels(value: Value) -> tuple[Fraction, ...]:
    return tuple(map(exact, levels_of(value)))


def _limits_suffix(limits: Limits) -> str:
    words = [f"{limits.time_s:g} s"] if limits.time_s is not None else []
    words += [f"work {limits.work}"] if limits.work is not None else []
    words += [f"{limits.threads} threads"] if limits.threads > 1 else []
    words += [f"gap {limits.gap:g}"] if limits.gap else []
    return f", {' '.join(words) or 'no limit'}"


def _step_curve(values: Sequence[float], total: int) -> StepCurve:
    return tuple(_steps(sorted(values), total))


def _steps(values: Sequence[float], total: int) -> Iterator[tuple[float, float]]:
    for index, value in enumerate(values):
        if index + 1 == len(values) or values[index + 1] != value:
            yield value, (index + 1) / total
