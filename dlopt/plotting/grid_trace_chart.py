"""Bars of executed traces on a grid of LANs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from matplotlib.figure import Figure

from dlopt.plotting.bar_labels import BarName, named_bar
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    BLUE,
    FAINT,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Bar,
    BarStyle,
    ChartRow,
    clean,
    short_names,
)
from dlopt.plotting.utilization import Usage, draw_utilization, occupied
from dlopt.problems.dag import Instance, Outage, Run, Trace

DOWN = BarStyle("down", "down", ("#BBBBBB",), FAINT, hatch="xxx")
DONE = BarStyle("done", "subtask", (SKY, ORANGE, GREEN, PURPLE, BLUE), "#FFFFFF")
LOST = BarStyle("lost", "lost or ignored", ("#FFFFFF",), VERMILLION, hatch="////")
SUSPECTED = BarStyle("presumed", "suspected failed", ("none",), VERMILLION, outline=1.2)

_CUT = ("lost", "withdrawn", "ignored")


def draw_trace(
    instance: Instance,
    trace: Trace,
    machines: Sequence[int],
    span: tuple[float, float],
    page: Page,
    note: str,
) -> Figure:
    """Draw a trace with matplotlib's present settings; `plot_trace` is the public entry point."""
    rows = {machine: row for row, machine in enumerate(machines)}
    names = short_names([instance.machines[machine].id for machine in machines], 16)
    chart = Gantt([ChartRow(name) for name in names], span, page=page)
    runs = {False: list[Bar](), True: list[Bar]()}
    graphs = short_names([graph.id for graph in instance.graphs], 12)
    tasks = [short_names([task.id for task in graph.tasks], 12) for graph in instance.graphs]
    for run in trace.runs:
        if run.machine in rows and run.start is not None:
            task = tasks[run.graph][run.task]
            label = BarName(f"{graphs[run.graph]}.{task}", task)
            bar = Bar(rows[run.machine], float(run.start), _end(run, span), shade=run.graph)
            bar = named_bar(bar, label)
            runs[run.fate in _CUT].append(bar)
    shown = {
        DOWN: list(_within(span, _outages(trace.down, rows, span))),
        DONE: list(_within(span, runs[False])),
        LOST: list(_within(span, runs[True])),
        SUSPECTED: list(_within(span, _outages(trace.presumed, rows, span))),
    }
    completed = sum(course.returned is not None for course in trace.courses)
    words = [note] * bool(note) + [f"{completed} of {len(instance.graphs)} tasks completed"]
    name, text = clean(instance.name) or "Grid of LANs", ", ".join(words)
    if chart.is_crowded(sum(map(len, shown.values()))):
        shares = {
            f"machines, {look.label}": occupied([bar[1:3] for bar in bars], float(len(rows)))
            for look, bars in shown.items()
        }
        return draw_utilization(page, Usage(shares), span, name, text, instance.units.time)
    for look, bars in shown.items():
        chart.bars(look, bars)
    return chart.finish(name, text, instance.units.time)


def _end(run: Run, span: tuple[float, float]) -> float:
    return span[1] if run.end is None else float(run.end)


def _outages(
    outages: Iterable[Outage], rows: dict[int, int], span: tuple[float, float]
) -> Iterator[Bar]:
    for one in outages:
        if one.machine in rows:
            end = span[1] if one.until is None else float(one.until)
            yield Bar(rows[one.machine], float(one.begin), end)


def _within(span: tuple[float, float], bars: Iterable[Bar]) -> Iterator[Bar]:
    """Yield the parts of bars on the axis."""
    for bar in bars:
        start, end = max(bar.start, span[0]), min(bar.end, span[1])
        if start < end:
            yield bar._replace(start=start, end=end)
