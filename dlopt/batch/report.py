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
from dlopt.batch.drawings import drawing
from dlopt.batch.metrics import (
    Judged,
    Standing,
    by_label,
    gap_profile,
    judge,
    performance_profiles,
    rank,
    standing,
    time_profile,
)
from dlopt.batch.records import Row, Trouble
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

MOST_TROUBLES = 200
"""Longer lists of troubles are cut; the file of rows has them all."""

_LEAST_GAP = 1e-4
_LEAST_TIME = 1e-4


def write_report(
    rows: Sequence[Row],
    path: str | os.PathLike[str],
    *,
    title: str = "Baselines",
    home: str | os.PathLike[str] = ".",
    pictures: Pictures = "link",
    picture_folder: str | os.PathLike[str] | None = None,
) -> Report:
    """Write what rows say together as one HTML page.

    Parameters
    ----------
    rows : sequence of Row
        See `read_rows`.
    path : path-like
    title : str
    home : path-like, default "."
        The folder that the rows' pictures are relative to.
    pictures : {"link", "inline", "none"}
        Link to the drawings of the plans, or put them into the page. Only drawings from `home`
        and `picture_folder` get into it.
    picture_folder : path-like, optional
        The folder of the drawings, if they are not below `home`.

    Returns
    -------
    Report
        The rows whose values are better than what another proves possible: bugs; and the drawings
        that were left out, with the reason.

    Raises
    ------
    NotApplicableError
        If there is no row, or the page cannot be written.

    Examples
    --------
    >>> write_report([], "page.html")
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: there is no row to report
    """
    if not rows:
        raise NotApplicableError("there is no row to report")
    judged = sorted(judge(rows), key=lambda j: (j.row.instance, rank(j.row.key)))
    target = Path(path)
    folders = [Path(os.path.abspath(one)) for one in (home, picture_folder) if one is not None]
    gallery = _Gallery(folders, target.resolve().parent, pictures)
    groups: dict[tuple[str, str], list[Judged]] = {}
    stems = registry.stems()
    for j in sorted(judged, key=lambda j: stems.index(j.row.key.problem)):
        groups.setdefault((j.row.key.problem, j.row.key.objective), []).append(j)
    wrong = [j for j in judged if j.contradicts]
    parts = [
        _head(title),
        f"<h1>{escape(title)}</h1>",
        _overview(judged),
        _alarms(judged, wrong),
        _contents(list(groups)),
        *(_section(*name, group, gallery) for name, group in groups.items()),
        _troubles(judged),
        _legend(),
        f"<footer>dlopt {escape(__version__)}</footer></main></body></html>\n",
    ]
    with replacing(target) as file:
        file.write("\n".join(part for part in parts if part).encode())
    return Report(wrong, gallery.left_out)


class Report(NamedTuple):
    """What is to be known of a page that was written.

    Parameters
    ----------
    contradictions : list of Judged
        Rows whose values are better than what another proves possible.
    left_out : list of (str, str)
        Drawings that are not in the page, and why.
    """

    contradictions: list[Judged]
    left_out: list[tuple[str, str]]


class _Gallery:
    """Shows the drawings of plans, as links or as pictures."""

    def __init__(self, folders: Sequence[Path], page: Path, pictures: Pictures) -> None:
        self._folders, self._page, self._pictures = folders, page, pictures
        self.left_out: list[tuple[str, str]] = []

    def of(self, row: Row) -> str:
        """Return a drawing as HTML, or nothing if there is none."""
        if row.picture is None or self._pictures == "none":
            return ""
        label = escape(row.key.method)
        if self._pictures == "link":
            file = self._folders[0].resolve() / row.picture
            where = quote(Path(os.path.relpath(file, self._page)).as_posix())
            return f'<a class="one" href="{where}">{label}</a>'
        try:
            data = base64.b64encode(drawing(row.picture, self._folders)).decode()
        except NotApplicableError as error:
            self.left_out.append((row.picture, str(error)))
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


def _overview(judged: Sequence[Judged]) -> str:
    rows = [j.row for j in judged]
    versions = [*sorted({f"dlopt {row.key.dlopt}" for row in rows}), *_solvers(rows)]
    facts = {
        "cells": len(rows),
        "instances": len({(row.key.problem, row.key.hash) for row in rows}),
        "methods": len({(row.key.problem, row.key.method) for row in rows}),
        "plans checked": sum(row.checked for row in rows),
        "optima proven": sum(row.status is Status.OPTIMAL for row in rows),
        "without an answer": sum(not isinstance(row.status, Status) for row in rows),
    }
    boxes = "".join(f"<div><b>{count:,}</b>{escape(name)}</div>" for name, count in facts.items())
    limits = sorted({_limits_text(row) for row in rows})
    told = f"{'; '.join(versions)}. Limits for each cell: {'; '.join(limits)}."
    return f'<div class="facts">{boxes}</div><p class="quiet">{escape(told)}</p>'


def _solvers(rows: Iterable[Row]) -> list[str]:
    """Return the solvers by name, with their versions; a method that uses two names both."""
    versions: dict[str, set[str]] = {}
    for row in rows:
        names = row.solver.split("+") if row.solver else []
        known = row.solver_version.split("+") if row.solver_version else []
        for name in names:
            versions.setdefault(name, set())
        if len(names) == len(known):
            for name, version in zip(names, known, strict=True):
                versions[name].add(version)
    return [" ".join([name, *sorted(known)]) for name, known in sorted(versions.items())]


def _limits_text(row: Row) -> str:
    limits = row.key.limits
    words = [f"{limits.time_s:g} s" if limits.time_s is not None else "no time limit"]
    words += [f"{limits.work} units of work"] if limits.work is not None else []
    words += [f"{limits.threads} thread{'s' * (limits.threads > 1)}"]
    words += [f"gap {limits.gap:g}"] if limits.gap else []
    return ", ".join(words)


def _alarms(judged: Sequence[Judged], wrong: Sequence[Judged]) -> str:
    told = [
        f"{_at(j)}: {amount(j.row.value)} is better than the proven {j.proven} "
        f"{amount(j.reference)}; one of them is wrong."
        for j in wrong
    ]
    told += [f"{_at(j)}: {j.row.reason}" for j in judged if j.row.status is Trouble.REFUTED]
    if not told:
        return ""
    return f'<ul class="alarm">{"".join(f"<li>{escape(text)}</li>" for text in told)}</ul>'


def _at(judged: Judged) -> str:
    row = judged.row
    return f"{row.key.method} on {row.instance} ({row.key.problem}, {row.key.objective})"


def _contents(groups: Sequence[tuple[str, str]]) -> str:
    if len(groups) < 2:
        return ""
    links = (f'<a href="#{_anchor(*name)}">{escape(" / ".join(name))}</a>' for name in groups)
    return f"<nav>{' '.join(links)}</nav>"


def _anchor(problem: str, objective: str) -> str:
    return quote(f"{problem}-{objective}")


def _section(problem: str, objective: str, group: Sequence[Judged], gallery: _Gallery) -> str:
    labelled = by_label(group)
    count = len({j.row.key.hash for j in group})
    proven = len({j.row.key.hash for j in group if j.row.status is Status.OPTIMAL})
    return "\n".join(
        [
            f'<section id="{_anchor(problem, objective)}">',
            f"<h2>{escape(problem)} <small>{escape(objective)}</small></h2>",
            f"<p>{count} instance{'s' * (count != 1)}, {proven} with a proven optimum.</p>",
            _methods_table([standing(label, own) for label, own in labelled.items()]),
            _families_table(labelled),
            f'<div class="figures">{"".join(_figures(labelled))}</div>',
            _instances_table(group, gallery),
            "</section>",
        ]
    )


def _methods_table(found: Sequence[Standing]) -> str:
    heads = (
        *("method", "cells", "plans", "best", "optimal", "proven exactly", "no answer"),
        *("median gap", "mean gap"),
    )
    body = [
        [
            escape(s.label) + (f' <em class="bad">{s.unsound} unsound</em>' if s.unsound else ""),
            str(s.cells),
            str(s.plans),
            str(s.reached),
            str(s.optimal),
            str(s.proven),
            f'<em class="bad">{s.troubles}</em>' if s.troubles else "0",
            percent(s.median),
            percent(s.mean),
            percent(s.largest),
            seconds(s.time_s),
        ]
        for s in found
    ]
    return table((*heads, "largest gap", "median time"), body)


def _families_table(labelled: Mapping[str, Sequence[Judged]]) -> str:
    families = sorted({j.row.family for own in labelled.values() for j in own})
    if len(families) < 2:
        return ""
    body = []
    for label, own in labelled.items():
        cells = [escape(label)]
        for family in families:
            gaps = [j.gap for j in own if j.row.family == family and j.gap is not None]
            cells.append(percent(statistics.fmean(gaps)) if gaps else "-")
        if any(cell != "-" for cell in cells[1:]):
            body.append(cells)
    if not body:
        return ""
    heads = ("method", *(escape(family) for family in families))
    return "<h3>Mean gap by family</h3>" + table(heads, body)


def _figures(labelled: Mapping[str, Sequence[Judged]]) -> list[str]:
    found = []
    pens = sorted(labelled, key=lambda label: labelled[label][0].row.kind != "exact")
    gaps = _drawn(labelled, gap_profile)
    if gaps:
        title, axis = "Share of cells within a gap", "gap to the optimum, or to the bound"
        found.append(profile_svg(title, axis, gaps, least=_LEAST_GAP, tick=tick_percent, pens=pens))
    times = _drawn(labelled, time_profile)
    if times:
        title, axis = "Share of cells proven optimal within a time", "seconds"
        found.append(
            profile_svg(title, axis, times, least=_LEAST_TIME, tick=tick_plainly, pens=pens)
        )
    ratios = performance_profiles(labelled)
    if len(ratios) > 1:
        title, axis = "Performance profile: time to a proven optimum", "times the fastest"
        found.append(profile_svg(title, axis, ratios, least=1.0, tick=tick_plainly, pens=pens))
    return found


def _drawn(
    labelled: Mapping[str, Sequence[Judged]], profile: Callable[[Sequence[Judged]], object]
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the curves that there are, the highest first."""
    curves = {label: profile(own) for label, own in labelled.items()}
    known = {label: steps for label, steps in curves.items() if isinstance(steps, tuple) and steps}
    return dict(sorted(known.items(), key=lambda item: (-item[1][-1][1], item[1][0][0])))


def _instances_table(group: Sequence[Judged], gallery: _Gallery) -> str:
    by_hash: dict[str, list[Judged]] = {}
    for j in group:
        by_hash.setdefault(j.row.key.hash, []).append(j)
    body = []
    with_pictures = False
    for own in by_hash.values():
        first = own[0].row
        widest = _proven(own)
        best = [j for j in own if j.reached]
        drawings = [drawing for drawing in (gallery.of(j.row) for j in own) if drawing]
        with_pictures = with_pictures or bool(drawings)
        body.append(
            [
                f'<span title="{escape(first.key.hash)}">{escape(first.instance)}</span>',
                escape(first.family),
                amount(widest.reference) if widest else "-",
                (widest.proven or "") if widest else "nothing proven",
                escape(", ".join(dict.fromkeys(j.row.key.method for j in best))) or "-",
                " ".join(drawings),
            ]
        )
    heads = ["instance", "family", "value", "what it is", "reached by", "plans"]
    if not with_pictures:
        heads, body = heads[:-1], [line[:-1] for line in body]
    shown_table = table(heads, body, numbers=(2,))
    return f"<details><summary>{len(body)} instances</summary>{shown_table}</details>"


def _proven(own: Sequence[Judged]) -> Judged | None:
    """Return the row whose reference is to be shown: an optimum if there is one."""
    known = [j for j in own if j.reference is not None]
    optima = [j for j in known if j.row.status is Status.OPTIMAL]
    return next(iter([*optima, *known]), None)


def _troubles(judged: Iterable[Judged]) -> str:
    found = [
        j.row
        for j in judged
        if not isinstance(j.row.status, Status)
        or j.row.status in (Status.LIMIT, Status.UNKNOWN, Status.UNSOUND)
    ]
    if not found:
        return ""
    counts = Counter(str(row.status) for row in found)
    told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    body = [
        [
            escape(row.key.problem),
            escape(row.instance),
            escape(row.key.method),
            escape(str(row.status)),
            escape(row.reason or f"{row.violations} violations"),
        ]
        for row in found[:MOST_TROUBLES]
    ]
    cut = len(found) - len(body)
    more = f"<p>{cut} more are in the file of rows.</p>" if cut else ""
    heads = ("problem", "instance", "method", "status", "reason")
    reasons = table(heads, body, numbers=())
    return (
        f"<section><h2>Without a sound plan</h2><p>{escape(told)}.</p>"
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
        "<dt>best</dt><dd>cells whose value is the optimum, or the bound, in every level (to "
        "1e-6).</dd><dt>optimal</dt><dd>cells in which the method, or its solver, says so.</dd>"
        "<dt>proven exactly</dt><dd>those of them whose bound is proven in rational arithmetic; "
        "the others stand on the claim of a solver, or on floating-point numbers.</dd>"
        "<dt>plans</dt><dd>plans that code without part in their making has checked.</dd>"
        "<dt>no answer</dt><dd>cells that failed, were refuted, or ended for time or memory.</dd>"
        "</dl></section>"
    )
