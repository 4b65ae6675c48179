"""Gantt chart of what became of a stream: planned against actual."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from dlopt.plotting.pages import DPI, WIDTH, Page, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dlopt.problems import multistage
    from dlopt.problems.admission import Instance, Scenario, Solution, Trace


@overload
def plot_executed(
    instance: Instance,
    planned: Solution,
    trace: Trace,
    path: str | os.PathLike[str] | None = ...,
    *,
    scenario: Scenario | None = ...,
    note: str = ...,
    title: str | None = ...,
    width: float = ...,
    dpi: int = ...,
    ax: Axes | None = ...,
) -> Figure: ...
@overload
def plot_executed(
    instance: multistage.Instance,
    planned: multistage.Solution,
    trace: multistage.Trace,
    path: str | os.PathLike[str] | None = ...,
    *,
    scenario: multistage.Scenario | None = ...,
    note: str = ...,
    title: str | None = ...,
    width: float = ...,
    dpi: int = ...,
    ax: Axes | None = ...,
) -> Figure: ...
def plot_executed(
    instance: Instance | multistage.Instance,
    planned: Solution | multistage.Solution,
    trace: Trace,
    path: str | os.PathLike[str] | None = None,
    *,
    scenario: Scenario | None = None,
    note: str = "",
    title: str | None = "",
    width: float = WIDTH,
    dpi: int = DPI,
    ax: Axes | None = None,
) -> Figure:
    """Draw an executed trace, with the plan as outlines over it.

    Parameters
    ----------
    instance : Instance
        Of `admission` or `multistage`, as all that follows.
    planned : Solution
        What would have happened at the estimated costs and without failures, such as
        ``dlopt.solve(instance, "edf-iit-2").solution``.
    trace : Trace
        What happened, such as the `trace` of a `dlopt.simulation.ExecutedRun` or
        `dlopt.simulation.ExecutedMixedRun`.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf.
    scenario : Scenario, optional
        Its failures of nodes are drawn.
    note : str
        End of the subtitle.
    title, width, dpi, ax
        As `dlopt.plot` takes them.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If the page is too small or too large, or the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.problems.admission import Chunk, Decision, Executed, Instance, Solution
    >>> from dlopt.problems.admission import Task, Trace
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 3, 9),))
    >>> accepted = (Decision("a", True, 0),)
    >>> planned = Solution(accepted, (Chunk("a", 0, 3, 0, 3, 3, 6),))
    >>> trace = Trace(accepted, (Executed("a", 0, 3, 0, 3, 3, 8),))
    >>> figure = plot_executed(instance, planned, trace)
    >>> [text.get_text() for text in figure.legends[0].get_texts()][-1]
    'planned'
    """
    page = Page(title, width, dpi, ax)

    def draw() -> Figure:
        from dlopt.plotting.admission import ExecutedChart
        from dlopt.plotting.multistage import ExecutedMixedChart
        from dlopt.problems import admission, multistage

        failures = () if scenario is None else scenario.failures
        if isinstance(trace, multistage.Trace):
            assert isinstance(instance, multistage.Instance)  # as the overloads say
            assert isinstance(planned, multistage.Solution)
            mixed = ExecutedMixedChart(instance, trace, page, planned, failures)
            return mixed.draw(note)
        executed = admission.occupancy(trace)
        chart = ExecutedChart(instance, executed, page, planned, trace, failures)
        return chart.draw(note)

    return draw_figure(draw, path, page)
