"""Charts of searches: incumbent and bound over time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dlopt.errors import NotApplicableError, short_text
from dlopt.plotting.line_charts import Curve, DataPoint, Panel, plot_curves
from dlopt.plotting.pages import DPI, WIDTH
from dlopt.result import Result, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_progress(
    results: Iterable[Result[object]],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = "",
    width: float = WIDTH,
    dpi: int = DPI,
    ax: Axes | None = None,
) -> Figure:
    """Draw the value of the best schedule and the best bound over the time of a search.

    Parameters
    ----------
    results : iterable of Result
        What `dlopt.solve` passed to `progress`, in that order. Of an objective with levels the
        first level is drawn.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf.
    title, width, dpi, ax
        As `dlopt.plot` takes them; by default the title is the method.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If no result has a value or a bound, or the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlopt.result import Status
    >>> found = [Result(Status.FEASIBLE, value=9, bound=4, objective="makespan", runtime_s=0.2)]
    >>> figure = plot_progress(found)
    >>> figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()
    ('makespan', 'time (s)')
    """
    results = list(results) if isinstance(results, Iterable) else [results]
    strange = next((one for one in results if not isinstance(one, Result)), None)
    if not all(isinstance(one, Result) for one in results):
        raise NotApplicableError(f"results are a list of Result, got {short_text(strange)}")
    known = [result for result in results if result.value is not None or result.bound is not None]
    if not known:
        raise NotApplicableError("no progress to draw: no result has a value or a bound")
    last = known[-1]
    end = max(result.runtime_s or 0.0 for result in known)
    curves = []
    for name, field in (("incumbent", "value"), ("bound", "bound")):
        points = list(_points(known, field))
        if points:
            points.append(DataPoint(end * 1.03, points[-1].y))
            curves.append(Curve(name, tuple(points)))
    panel: Panel = (last.objective or "objective value", tuple(curves))
    return plot_curves(
        [panel],
        path,
        axis="time (s)",
        steps=True,
        origin=0.0,
        note=str(last.status),
        title=title if title is None else title or last.method or "Search",
        width=width,
        dpi=dpi,
        ax=ax,
    )


def _points(results: Iterable[Result[object]], field: str) -> Iterator[DataPoint]:
    for result in results:
        value: Value | None = getattr(result, field)
        if value is not None:
            first = value[0] if isinstance(value, tuple) else value
            yield DataPoint(result.runtime_s or 0.0, float(first))
