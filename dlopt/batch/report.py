"""The report: one HTML page that needs no network and no script."""

from __future__ import annotations

import base64
import os
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from dlopt import registry
from dlopt.batch.drawings import read_drawing
from dlopt.batch.metrics import (
    EvaluatedRecord,
    MethodSummary,
    evaluate,
    gap_profile,
    group_by_label,
    performance_profiles,
    registry_order,
    summarise_method,
    time_profile,
)
from dlopt.batch.records import Failure, Record
from dlopt.batch.report_charts import profile_svg
from dlopt.batch.report_style import STYLE
from dlopt.batch.report_tables import (
    amount,
    escape,
    percent,
    seconds,
    table,
    tick_percent,
    tick_plainly,
)
from dlopt.errors import NotApplicableError
from dlopt.json_files import replacing
from dlopt.result import Status
from dlopt.version import __version__

Pictures: TypeAlias = Literal["link", "inline", "none"]

MAX_FAILURES_LISTED = 200
"""Longer lists of troubles are cut; the file of records has them all."""

_LEAST_GAP = 1e-4
_LEAST_TIME = 1e-4


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
        The records whose values are better than what another proves possible: bugs; and the
        drawings that were skipped, with the reason.

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
    wrong = [j for j in evaluated if j.beats_reference]
    parts = [
        _head(title),
        f"<h1>{escape(title)}</h1>",
        _overview(evaluated),
        _contradictions(evaluated, wrong),
        _contents(list(groups)),
        *(_section(*name, group, gallery) for name, group in groups.items()),
        _failures(evaluated),
        _legend(),
        f"<footer>dlopt {escape(__version__)}</footer></main></body></html>\n",
    ]
    with replacing(target) as file:
        file.write("\n".join(part for part in parts if part).encode())
    return Report(wrong, gallery.skipped)


class Report(NamedTuple):
    """What is to be known of a page that was written.

    Parameters
    ----------
    contradictions : list of Judged
        Records whose values are better than what another proves possible.
    left_out : list of (str, str)
        Drawings that are not in the page, and why.
    """

    contradictions: list[EvaluatedRecord]
    skipped: list[tuple[str, str]]


class _Gallery:
    """Shows the drawings of plans, as links or as pictures."""

    def __init__(self, folders: Sequence[Path], page: Path, pictures: Pictures) -> None:
        self._folders, self._page, self._pictures = folders, page, pictures
        self.skipped: list[tuple[str, str]] = []

    def of(self, record: Record) -> str:
        """Return a drawing as HTML, or nothing if there is none."""
        if record.picture is None or self._pictures == "none":
            return ""
        label = escape(record.key.method)
        if self._pictures == "link":
            file = self._folders[0].resolve() / record.picture
            where = quote(Path(os.path.relpath(file, self._page)).as_posix())
            return f'<a class="one" href="{where}">{label}</a>'
        try:
            data = base64.b64encode(read_drawing(record.picture, self._folders)).decode()
        except NotApplicableError as error:
            self.skipped.append((record.picture, str(error)))
            return f"{label}: {escape(str(error))}"
        source = f"data:image/svg+xml;base64,{data}"
        return f'<details><summary>{label}</summary><img alt="{label}" src="{source}"></details>'


def _head(title: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
    )


def _overview(evaluated: Sequence[EvaluatedRecord]) -> str:
    records = [j.record for j in evaluated]
    versions = [*sorted({f"dlopt {record.key.dlopt}" for record in records}), *_solvers(records)]
    facts = {
        "runs": len(records),
        "instances": len({(record.key.problem, record.key.hash) for record in records}),
        "methods": len({(record.key.problem, record.key.method) for record in records}),
        "schedules verified": sum(record.checked for record in records),
        "optima proven": sum(record.status is Status.OPTIMAL for record in records),
        "without an answer": sum(not isinstance(record.status, Status) for record in records),
    }
    boxes = "".join(f"<div><b>{count:,}</b>{escape(name)}</div>" for name, count in facts.items())
    limits = sorted({_limits_text(record) for record in records})
    text = f"{'; '.join(versions)}. Limits of each run: {'; '.join(limits)}."
    return f'<div class="facts">{boxes}</div><p class="quiet">{escape(text)}</p>'


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
    words += [f"{limits.threads} thread{'s' * (limits.threads > 1)}"]
    words += [f"gap {limits.gap:g}"] if limits.gap else []
    return ", ".join(words)


def _contradictions(evaluated: Sequence[EvaluatedRecord], wrong: Sequence[EvaluatedRecord]) -> str:
    alarms = [
        f"{_at(j)}: {amount(j.record.value)} is better than the proven {j.proven} "
        f"{amount(j.reference)}; one of them is wrong."
        for j in wrong
    ]
    alarms += [
        f"{_at(j)}: {j.record.reason}" for j in evaluated if j.record.status is Failure.INVALID
    ]
    if not alarms:
        return ""
    return f'<ul class="alarm">{"".join(f"<li>{escape(text)}</li>" for text in alarms)}</ul>'


def _at(evaluated: EvaluatedRecord) -> str:
    record = evaluated.record
    return (
        f"{record.key.method} on {record.instance} ({record.key.problem}, {record.key.objective})"
    )


def _contents(groups: Sequence[tuple[str, str]]) -> str:
    if len(groups) < 2:
        return ""
    links = (f'<a href="#{_anchor(*name)}">{escape(" / ".join(name))}</a>' for name in groups)
    return f"<nav>{' '.join(links)}</nav>"


def _anchor(problem: str, objective: str) -> str:
    return quote(f"{problem}-{objective}")


def _section(
    problem: str, objective: str, group: Sequence[EvaluatedRecord], gallery: _Gallery
) -> str:
    labelled = group_by_label(group)
    count = len({j.record.key.hash for j in group})
    proven = len({j.record.key.hash for j in group if j.record.status is Status.OPTIMAL})
    return "\n".join(
        [
            f'<section id="{_anchor(problem, objective)}">',
            f"<h2>{escape(problem)} <small>{escape(objective)}</small></h2>",
            f"<p>{count} instance{'s' * (count != 1)}, {proven} with a proven optimum.</p>",
            _methods_table([summarise_method(label, own) for label, own in labelled.items()]),
            _families_table(labelled),
            f'<div class="figures">{"".join(_figures(labelled))}</div>',
            _instances_table(group, gallery),
            "</section>",
        ]
    )


def _methods_table(found: Sequence[MethodSummary]) -> str:
    heads = (
        *("method", "runs", "schedules", "best", "optimal", "proven exactly", "no answer"),
        *("median gap", "mean gap"),
    )
    body = [
        [
            escape(s.label) + (f' <em class="bad">{s.unsound} unsound</em>' if s.unsound else ""),
            str(s.runs),
            str(s.plans),
            str(s.at_reference),
            str(s.optimal),
            str(s.proven),
            f'<em class="bad">{s.failures}</em>' if s.failures else "0",
            percent(s.median),
            percent(s.mean),
            percent(s.largest),
            seconds(s.time_s),
        ]
        for s in found
    ]
    return table((*heads, "largest gap", "median time"), body)


def _families_table(labelled: Mapping[str, Sequence[EvaluatedRecord]]) -> str:
    families = sorted({j.record.family for own in labelled.values() for j in own})
    if len(families) < 2:
        return ""
    body = []
    for label, own in labelled.items():
        cells = [escape(label)]
        for family in families:
            gaps = [j.gap for j in own if j.record.family == family and j.gap is not None]
            cells.append(percent(statistics.fmean(gaps)) if gaps else "-")
        if any(cell != "-" for cell in cells[1:]):
            body.append(cells)
    if not body:
        return ""
    heads = ("method", *(escape(family) for family in families))
    return "<h3>Mean gap by family</h3>" + table(heads, body)


def _figures(labelled: Mapping[str, Sequence[EvaluatedRecord]]) -> list[str]:
    found = []
    pens = sorted(labelled, key=lambda label: labelled[label][0].record.kind != "exact")
    gaps = _with_drawing(labelled, gap_profile)
    if gaps:
        title, axis = "Share of runs within a gap", "gap to the optimum, or to the bound"
        found.append(profile_svg(title, axis, gaps, least=_LEAST_GAP, tick=tick_percent, pens=pens))
    times = _with_drawing(labelled, time_profile)
    if times:
        title, axis = "Share of runs proven optimal within a time", "seconds"
        found.append(
            profile_svg(title, axis, times, least=_LEAST_TIME, tick=tick_plainly, pens=pens)
        )
    ratios = performance_profiles(labelled)
    if len(ratios) > 1:
        title, axis = "Performance profile: time to a proven optimum", "times the fastest"
        found.append(profile_svg(title, axis, ratios, least=1.0, tick=tick_plainly, pens=pens))
    return found


def _with_drawing(
    labelled: Mapping[str, Sequence[EvaluatedRecord]],
    profile: Callable[[Sequence[EvaluatedRecord]], object],
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the curves that there are, the highest first."""
    curves = {label: profile(own) for label, own in labelled.items()}
    known = {label: steps for label, steps in curves.items() if isinstance(steps, tuple) and steps}
    return dict(sorted(known.items(), key=lambda item: (-item[1][-1][1], item[1][0][0])))


def _instances_table(group: Sequence[EvaluatedRecord], gallery: _Gallery) -> str:
    by_hash: dict[str, list[EvaluatedRecord]] = {}
    for j in group:
        by_hash.setdefault(j.record.key.hash, []).append(j)
    body = []
    with_pictures = False
    for own in by_hash.values():
        first = own[0].record
        widest = _proven(own)
        best = [j for j in own if j.at_reference]
        drawings = [drawing for drawing in (gallery.of(j.record) for j in own) if drawing]
        with_pictures = with_pictures or bool(drawings)
        body.append(
            [
                f'<span title="{escape(first.key.hash)}">{escape(first.instance)}</span>',
                escape(first.family),
                amount(widest.reference) if widest else "-",
                (widest.proven or "") if widest else "nothing proven",
                escape(", ".join(dict.fromkeys(j.record.key.method for j in best))) or "-",
                " ".join(drawings),
            ]
        )
    heads = ["instance", "family", "value", "type (optimum / bound)", "reached by", "schedules"]
    if not with_pictures:
        heads, body = heads[:-1], [line[:-1] for line in body]
    shown_table = table(heads, body, numbers=(2,))
    return f"<details><summary>{len(body)} instances</summary>{shown_table}</details>"


def _proven(own: Sequence[EvaluatedRecord]) -> EvaluatedRecord | None:
    """Return the record whose reference is to be shown: an optimum if there is one."""
    known = [j for j in own if j.reference is not None]
    optima = [j for j in known if j.record.status is Status.OPTIMAL]
    return next(iter([*optima, *known]), None)


def _failures(evaluated: Iterable[EvaluatedRecord]) -> str:
    found = [
        j.record
        for j in evaluated
        if not isinstance(j.record.status, Status)
        or j.record.status in (Status.LIMIT, Status.UNKNOWN, Status.UNSOUND)
    ]
    if not found:
        return ""
    counts = Counter(str(record.status) for record in found)
    totals = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    body = [
        [
            escape(record.key.problem),
            escape(record.instance),
            escape(record.key.method),
            escape(str(record.status)),
            escape(record.reason or f"{record.violations} violations"),
        ]
        for record in found[:MAX_FAILURES_LISTED]
    ]
    cut = len(found) - len(body)
    more = f"<p>{cut} more are in the file of records.</p>" if cut else ""
    heads = ("problem", "instance", "method", "status", "reason")
    reasons = table(heads, body, numbers=())
    return (
        f"<section><h2>Runs without a valid schedule</h2><p>{escape(totals)}.</p>"
        f"<details{' open' * (len(body) <= 20)}><summary>reasons</summary>{reasons}{more}</details>"
        "</section>"
    )


def _legend() -> str:
    return (
        "<section><h2>How to read this</h2><dl>"
        "<dt>gap</dt><dd>|value - optimum| / |optimum|; where no optimum is proven, the best "
        "bound takes its place, so that the true gap is no larger. Optimum and bound are those of "
        "the plans that the method ranges over, or of more. Of a lexicographic objective, the gap "
        "is that of the first level.</dd>"
        "<dt>best</dt><dd>runs whose value equals the optimum, or the bound, in every level (to "
        "1e-6).</dd>"
        "<dt>optimal</dt><dd>runs that the method, or its solver, reports as optimal.</dd>"
        "<dt>proven exactly</dt><dd>those of them whose bound is proven in rational arithmetic; "
        "the others rest on a solver's report, or on floating-point arithmetic.</dd>"
        "<dt>schedules</dt><dd>schedules verified by the independent checker.</dd>"
        "<dt>no answer</dt><dd>runs that failed, crashed, gave an invalid result, or exceeded "
        "their time or memory.</dd>"
        "</dl></section>"
    )
