"""Gantt chart of an executed trace on a grid of LANs, in a window of time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dlopt import plotting
from dlopt.errors import NotApplicableError
from dlopt.problems.dag import Instance, Machine, Outage, Run, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dlopt.plotting.style import Bar

MOST_MACHINES = 400
"""Charts with more machines are refused."""

_CUT = ("lost", "withdrawn", "ignored")


def plot_trace(
    instance: Instance,
    trace: Trace,
    path: str | os.PathLike[str] | None = None,
    *,
    window: tuple[float, float] | None = None,
    lans: tuple[int, ...] | None = None,
    title: str | None = None,
    note: str = "",
) -> Figure:
    """Draw the runs of machines, their outages, and when they were suspected failed.

    Parameters
    ----------
    instance : Instance
    trace : Trace
    path : str or path-like, optional
        Ends in .svg, .png or .pdf.
    window : (float, float), optional
        By default from the first arrival to the last event.
    lans : tuple of int, optional
        Only the machines of these LANs; by default of all.
    title : str, optional
        Instead of the name of the instance.
    note : str
        First part of the subtitle.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If there is nothing to draw, or the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Lan, Machine, Network, Task
    >>> from dlopt.problems.dag import Course
    >>> network = Network("scheduler", "counted", lans=(Lan("l"),))
    >>> graph = Graph("g", (Task("t", 1),), lan=0)
    >>> instance = Instance((Machine("m", lan=0),), (graph,), network)
    >>> run = Run(0, 0, 0, 0, "done", 0, 1, 1, 1)
    >>> figure = plot_trace(instance, Trace((Course(0, 0, 0, 0, 1),), (run,)))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['m']
    """
    rows = selected_machines(instance.machines, len(instance.network.lans), lans)
    span = window or _span(instance, trace)
    if not span[0] < span[1]:
        raise NotApplicableError(f"a window must have a length, got {span[0]:g} to {span[1]:g}")
    return plotting.draw_figure(lambda: _figure(instance, trace, rows, span, title, note), path)


def selected_machines(
    machines: Sequence[Machine], known: int, lans: tuple[int, ...] | None
) -> list[int]:
    """Return the machines to draw, by LAN.

    Parameters
    ----------
    machines : sequence of Machine
    known : int
        Number of LANs.
    lans : tuple of int, optional
        By default all.

    Raises
    ------
    NotApplicableError
        If there is no such LAN, or there are no machines or too many.
    """
    for lan in lans or ():
        if not 0 <= lan < known:
            raise NotApplicableError(f"no LAN {lan}: they are numbered 0 to {known - 1}")
    found = [index for index, machine in enumerate(machines) if lans is None or machine.lan in lans]
    if not found or len(found) > MOST_MACHINES:
        text = f"1 to {MOST_MACHINES} machines are drawn, not {len(found)}"
        raise NotApplicableError(f"{text}: choose LANs")
    return sorted(found, key=lambda index: (machines[index].lan or 0, index))


def _span(instance: Instance, trace: Trace) -> tuple[float, float]:
    ends = [run.end or run.start or run.sent for run in trace.runs]
    ends += [course.returned for course in trace.courses if course.returned is not None]
    begin = min(float(graph.arrival) for graph in instance.graphs)
    return begin, max(map(float, ends), default=begin)


def _figure(
    instance: Instance,
    trace: Trace,
    machines: list[int],
    span: tuple[float, float],
    title: str | None,
    note: str,
) -> Figure:
    from dlopt.plotting.gantt import Gantt
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
    )

    rows = {machine: row for row, machine in enumerate(machines)}
    chart = Gantt(
        [ChartRow(clean(instance.machines[machine].id, 16)) for machine in machines], span
    )
    named = len(trace.runs) <= 2000

    def runs(cut: bool) -> Iterator[Bar]:
        for run in trace.runs:
            if run.machine in rows and run.start is not None and (run.fate in _CUT) is cut:
                start = float(run.start)
                end = span[1] if run.end is None else float(run.end)
                begin, end = max(start, span[0]), min(end, span[1])
                if begin < end:
                    yield Bar(
                        rows[run.machine], begin, end, _run_label(instance, run, named), run.graph
                    )

    def outages(found: tuple[Outage, ...]) -> Iterator[Bar]:
        for one in found:
            if one.machine in rows:
                end = span[1] if one.until is None else float(one.until)
                begin, end = max(float(one.begin), span[0]), min(end, span[1])
                if begin < end:
                    yield Bar(rows[one.machine], begin, end)

    dead = BarStyle("presumed", "suspected failed", ("none",), VERMILLION, outline=1.2)
    down = BarStyle("down", "down", ("#BBBBBB",), FAINT, hatch="xxx")
    done = BarStyle("done", "subtask", (SKY, ORANGE, GREEN, PURPLE, BLUE), "#FFFFFF")
    lost = BarStyle(
        "lost", "lost or ignored", ("#FFFFFF",), VERMILLION, hatch="////", ink=VERMILLION
    )
    chart.bars(down, outages(trace.down))
    chart.bars(done, runs(cut=False))
    chart.bars(lost, runs(cut=True))
    chart.bars(dead, outages(trace.presumed))
    home = sum(course.returned is not None for course in trace.courses)
    words = [note] * bool(note) + [f"{home} of {len(instance.graphs)} tasks completed"]
    name = clean(instance.name or "grid") if title is None else clean(title)
    units = f" ({clean(instance.units, 30)})" if instance.units else ""
    return chart.finish(name, ", ".join(words), f"time{units}")


def _run_label(instance: Instance, run: Run, named: bool) -> str:
    if not named:
        return ""
    graph = instance.graphs[run.graph]
    return f"{graph.id}.{graph.tasks[run.task].id}"
