"""Gantt chart of an executed trace on a grid of LANs, in a window of time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dlopt.errors import NotApplicableError
from dlopt.plotting.pages import DPI, WIDTH, Page, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dlopt.problems.dag import Instance, Machine, Trace

MOST_MACHINES = 400
"""Charts with more machines are refused."""


def plot_trace(
    instance: Instance,
    trace: Trace,
    path: str | os.PathLike[str] | None = None,
    *,
    window: tuple[float, float] | None = None,
    lans: tuple[int, ...] | None = None,
    note: str = "",
    title: str | None = "",
    width: float = WIDTH,
    dpi: int = DPI,
    ax: Axes | None = None,
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
    note : str
        First part of the subtitle.
    title, width, dpi, ax
        As `dlopt.plot` takes them.

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
    >>> from dlopt.problems.dag import Course, Instance, Run, Trace
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
    page = Page(title, width, dpi, ax)

    def draw() -> Figure:
        from dlopt.plotting.grid_trace_chart import draw_trace

        return draw_trace(instance, trace, rows, span, page, note)

    return draw_figure(draw, path, page)


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
