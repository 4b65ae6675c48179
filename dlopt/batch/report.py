"""The report: one HTML page that needs no network and no script."""

from __future__ import annotations

import base64
import os
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from dlopt import registry
from dlopt.batch.drawings import read_drawing
from dlopt.batch.metrics import (
    EvaluatedRecord,
    StepCurve,
    certified_shares,
    evaluate,
    gap_profile,
    group_by_label,
    performance_profiles,
    registry_order,
    summarise_method,
    time_profile,
)
from dlopt.batch.records import Failure, Record
from dlopt.batch.report_charts import Chart, profile_chart
from dlopt.batch.report_page import render
from dlopt.errors import NotApplicableError
from dlopt.json_files import replacing
from dlopt.presentation.wording import counted
from dlopt.result import Status, shown_value
from dlopt.version import __version__

Pictures: TypeAlias = Literal["link", "inline", "none"]

MAX_FAILURES_LISTED = 200
"""Longer lists of failures are cut; the file of records has them all."""

_LEAST_GAP = 1e-4
_LEAST_TIME_S = 1e-4


def write_report(
    records: Sequence[Record],
    path: str | os.PathLike[str],
    *,
    title: str = "Baselines",
    home: str | os.PathLike[str] = ".",
    pictures: Pictures = "link",
    picture_folder: str | os.PathLike[str] | None = None,
) -> Report:
    """Write what records say together as one HTML page.

    Parameters
    ----------
    records : sequence of Record
        See `read_records`.
    path : path-like
    title : str
    home : path-like, default "."
        The folder that the records' pictures are relative to.
    pictures : {"link", "inline", "none"}
        Link to the drawings of the plans, or put them into the page. Only drawings from `home`
        and `picture_folder` get into it.
    picture_folder : path-like, optional
        The folder of the drawings, if they are not below `home`.

    Returns
    -------
    Report
        The records whose values are better than what another proves possible: bugs; the drawings
        that were skipped, with the reason; and the methods without a gap.

    Raises
    ------
    NotApplicableError
        If there is no record, or the page cannot be written.

    Examples
    --------
    >>> write_report([], "page.html")
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: there are no records to report
    """
    if not records:
        raise NotApplicableError("there are no records to report")
    evaluated = sorted(
        evaluate(records), key=lambda j: (j.record.instance, registry_order(j.record.key))
    )
    target = Path(path)
    folders = [Path(os.path.abspath(one)) for one in (home, picture_folder) if one is not None]
    gallery = _Gallery(folders, target.resolve().parent, pictures)
    groups: dict[tuple[str, str], list[EvaluatedRecord]] = {}
    stems = registry.stems()
    for j in sorted(evaluated, key=lambda j: stems.index(j.record.key.problem)):
        groups.setdefault((j.record.key.problem, j.record.key.objective), []).append(j)
    by_problem = (j.record for group in groups.values() for j in group)
    wrong = [j for j in evaluated if j.beats_reference]
    failed = [j.record for j in evaluated if _failed(j.record)]
    unmeasured = {names: list(_unmeasured(group)) for names, group in groups.items()}
    page = render(
        title=title,
        facts=_facts(records),
        versions=[*sorted({f"dlopt {record.key.dlopt}" for record in records}), *_solvers(records)],
        limits=sorted({_limits_text(record) for record in records}),
        alarms=_alarms(evaluated, wrong),
        certified=certified_shares(by_problem),
        demanded=sum(record.key.certified for record in records),
        sections=[
            _section(*names, group, gallery) | {"unmeasured": unmeasured[names]}
            for names, group in groups.items()
        ],
        failed=failed,
        failed_by_status=Counter(str(record.status) for record in failed).most_common(),
        most_listed=MAX_FAILURES_LISTED,
        release=__version__,
    )
    with replacing(target) as file:
        file.write(page.encode())
    return Report(wrong, gallery.skipped, list(chain.from_iterable(unmeasured.values())))


class Report(NamedTuple):
    """What is to be known of a page that was written.

    Parameters
    ----------
    contradictions : list of EvaluatedRecord
        Records whose values are better than what another proves possible.
    skipped : list of (str, str)
        Drawings that are not in the page, and why.
    unmeasured : list of str
        Methods that have schedules and no gap, where others have gaps, and why.
    """

    contradictions: list[EvaluatedRecord]
    skipped: list[tuple[str, str]]
    unmeasured: list[str]


class _Drawing(NamedTuple):
    """The drawing of a plan: a link to its file, its data in base64, or why it is missing."""

    label: str
    link: str | None = None
    data: str | None = None
    fault: str | None = None


class _Gallery:
    """Finds the drawings of plans, to be linked or put into the page."""

    def __init__(self, folders: Sequence[Path], page: Path, pictures: Pictures) -> None:
        self._folders, self._page, self._pictures = folders, page, pictures
        self.skipped: list[tuple[str, str]] = []

    def drawings_of(self, records: Iterable[Record]) -> list[_Drawing]:
        """Return the drawings that there are."""
        if self._pictures == "none":
            return []
        return [self._of(one.key.method, one.picture) for one in records if one.picture is not None]

    def _of(self, label: str, picture: str) -> _Drawing:
        if self._pictures == "link":
            file = self._folders[0].resolve() / picture
            return _Drawing(label, quote(Path(os.path.relpath(file, self._page)).as_posix()))
        try:
            data = base64.b64encode(read_drawing(picture, self._folders)).decode()
        except NotApplicableError as error:
            self.skipped.append((picture, str(error)))
            return _Drawing(label, fault=str(error))
        return _Drawing(label, data=data)


def _facts(records: Sequence[Record]) -> dict[str, int]:
    return {
        "runs": len(records),
        "instances": len({(record.key.problem, record.key.hash) for record in records}),
        "methods": len({(record.key.problem, record.key.method) for record in records}),
        "schedules verified": sum(record.checked for record in records),
        "optima proven": sum(record.status is Status.OPTIMAL for record in records),
        "optima certified": sum(record.certified for record in records),
        "without an answer": sum(not isinstance(record.status, Status) for record in records),
    }


def _solvers(records: Iterable[Record]) -> list[str]:
    """Return the solvers by name, with their versions; a method that uses two names both."""
    versions: dict[str, set[str]] = {}
    for record in records:
        names = record.solver.split("+") if record.solver else []
        known = record.solver_version.split("+") if record.solver_version else []
        for name in names:
            versions.setdefault(name, set())
        if len(names) == len(known):
            for name, version in zip(names, known, strict=True):
                versions[name].add(version)
    return [" ".join([name, *sorted(known)]) for name, known in sorted(versions.items())]


def _limits_text(record: Record) -> str:
    limits = record.key.limits
    words = [f"{limits.time_s:g} s" if limits.time_s is not None else "no time limit"]
    words += [f"work limit {limits.work}"] if limits.work is not None else []
    words.append(counted(limits.threads, "thread"))
    words += [f"gap {limits.gap:g}"] if limits.gap else []
    return ", ".join(words)


def _alarms(evaluated: Sequence[EvaluatedRecord], wrong: Sequence[EvaluatedRecord]) -> list[str]:
    """Return what is wrong with the records, as texts."""
    alarms = [
        f"{_at(j)}: {shown_value(j.record.value)} is better than the proven {j.proven} "
        f"{shown_value(j.reference)}; one of them is wrong."
        for j in wrong
    ]
    invalid = [j for j in evaluated if j.record.status is Failure.INVALID]
    alarms += [f"{_at(j)}: {j.record.reason}" for j in invalid]
    refused = [j for j in evaluated if j.record.certificate_is_refused]
    return alarms + [f"{_at(j)}: certificate {j.record.certificate_check}" for j in refused]


def _at(evaluated: EvaluatedRecord) -> str:
    record = evaluated.record
    return (
        f"{record.key.method} on {record.instance} ({record.key.problem}, {record.key.objective})"
    )


def _section(
    problem: str, objective: str, group: Sequence[EvaluatedRecord], gallery: _Gallery
) -> dict[str, object]:
    """Return what the page shows of a problem and an objective."""
    labelled = group_by_label(group)
    families = sorted({j.record.family for j in group})
    by_hash: dict[str, list[EvaluatedRecord]] = {}
    for j in group:
        by_hash.setdefault(j.record.key.hash, []).append(j)
    return {
        "problem": problem,
        "objective": objective,
        "anchor": quote(f"{problem}-{objective}"),
        "proven": len({j.record.key.hash for j in group if j.record.status is Status.OPTIMAL}),
        "methods": [summarise_method(label, own) for label, own in labelled.items()],
        "measured_on_fewer": _measured_on_fewer(labelled, len(by_hash)),
        "families": families,
        "family_gaps": _family_gaps(labelled, families) if len(families) > 1 else {},
        "charts": _charts(labelled),
        "instances": [_instance(own, gallery) for own in by_hash.values()],
    }


def _measured_on_fewer(
    labelled: Mapping[str, Sequence[EvaluatedRecord]], instances: int
) -> list[str]:
    """Return the methods with gaps on some of the instances, each with their number."""
    hashes = {
        label: {j.record.key.hash for j in own if j.gap is not None}
        for label, own in labelled.items()
    }
    return [
        f"{label} ({len(found)} of {instances})"
        for label, found in hashes.items()
        if 0 < len(found) < instances
    ]


def _unmeasured(group: Sequence[EvaluatedRecord]) -> Iterator[str]:
    """Yield the methods without a gap where others have one, and why."""
    if all(j.reference is None for j in group):
        return
    for label, own in group_by_label(group).items():
        plans = [j for j in own if j.record.checked and j.record.value is not None]
        if plans and all(j.reference is None for j in plans):
            classes = ", ".join(dict.fromkeys(str(j.record.plan_class) for j in plans))
            yield (
                f"{label} has no gap: no optimum or bound is proven for its plan class ({classes})"
            )


def _family_gaps(
    labelled: Mapping[str, Sequence[EvaluatedRecord]], families: Sequence[str]
) -> dict[str, list[float | None]]:
    """Return the mean gaps of each method that has one, by family."""
    means: dict[str, list[float | None]] = {}
    for label, own in labelled.items():
        gaps = [
            [j.gap for j in own if j.record.family == family and j.gap is not None]
            for family in families
        ]
        if any(gaps):
            means[label] = [
                statistics.fmean(of_family) if of_family else None for of_family in gaps
            ]
    return means


def _charts(labelled: Mapping[str, Sequence[EvaluatedRecord]]) -> list[Chart]:
    pens = sorted(labelled, key=lambda label: labelled[label][0].record.kind != "exact")
    ratios = performance_profiles(labelled)
    charts: tuple[tuple[str, str, Mapping[str, StepCurve], float, Callable[[float], str]], ...] = (
        (
            "Share of runs within a gap to optimum",
            "gap to optimum, or to the best bound",
            _curves(labelled, gap_profile),
            _LEAST_GAP,
            _tick_percent,
        ),
        (
            "Share of runs proven optimal within a time",
            "seconds",
            _curves(labelled, time_profile),
            _LEAST_TIME_S,
            "{:g}".format,
        ),
        (
            "Performance profile: time to a proven optimum",
            "times the fastest",
            ratios if len(ratios) > 1 else {},
            1.0,
            "{:g}".format,
        ),
    )
    return [
        profile_chart(title, axis, curves, least=least, tick=tick, pens=pens)
        for title, axis, curves, least, tick in charts
        if curves
    ]


def _tick_percent(value: float) -> str:
    return f"{value * 100:g} %"


def _curves(
    labelled: Mapping[str, Sequence[EvaluatedRecord]],
    profile: Callable[[Sequence[EvaluatedRecord]], object],
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the profiles that have a step, the highest first."""
    curves = {label: profile(own) for label, own in labelled.items()}
    known = {label: steps for label, steps in curves.items() if isinstance(steps, tuple) and steps}
    return dict(sorted(known.items(), key=lambda item: (-item[1][-1][1], item[1][0][0])))


def _instance(own: Sequence[EvaluatedRecord], gallery: _Gallery) -> dict[str, object]:
    """Return what the page shows of an instance, `shown` with its optimum or bound."""
    first = own[0].record
    return {
        "hash": first.key.hash,
        "name": first.instance,
        "family": first.family,
        "shown": _proven(own),
        "reached_by": list(dict.fromkeys(j.record.key.method for j in own if j.at_reference)),
        "drawings": gallery.drawings_of(j.record for j in own),
    }


def _proven(own: Sequence[EvaluatedRecord]) -> EvaluatedRecord | None:
    """Return the record whose reference is to be shown: an optimum if there is one."""
    known = [j for j in own if j.reference is not None]
    optima = [j for j in known if j.record.status is Status.OPTIMAL]
    return next(iter([*optima, *known]), None)


def _failed(record: Record) -> bool:
    """Tell whether a run ended without a valid schedule that it might have found."""
    ended = (Status.LIMIT, Status.UNKNOWN, Status.UNSOUND)
    return record.status in ended or not isinstance(record.status, Status)
