"""Line charts: measures over a parameter or over time, one curve a method, in stacked panels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dlopt.plotting.pages import DPI, WIDTH, Page, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CURVES = 7
"""Largest number of methods that are drawn as curves: one for each colour."""


class DataPoint(NamedTuple):
    """A point of a curve, and half the height of its error bar."""

    x: float
    y: float
    half_width: float | None = None


class Curve(NamedTuple):
    """The points of one method, by ascending abscissa."""

    name: str
    points: tuple[DataPoint, ...]


Panel = tuple[str, tuple[Curve, ...]]
"""A measure and its curves; curves of one name have the same style in all panels."""


def plot_curves(
    panels: Sequence[Panel],
    path: str | os.PathLike[str] | None = None,
    *,
    note: str = "",
    axis: str = "",
    steps: bool = False,
    origin: float | None = None,
    words: Sequence[str] = (),
    decades: bool = False,
    ticks: Sequence[float] = (),
    title: str | None = "",
    width: float = WIDTH,
    dpi: int = DPI,
    ax: Axes | Sequence[Axes] | None = None,
) -> Figure:
    """Draw curves with error bars, and write the picture if a path is given.

    Every point stands at its abscissa. The later curves are drawn thinner, over the earlier ones,
    so that all are seen where they coincide. More than `MOST_CURVES` methods are drawn as dots
    with bars: a row a method, sorted by the first measure at the last abscissa.

    Parameters
    ----------
    panels : sequence of (str, tuple of Curve)
        From top to bottom: the title of the ordinate, such as ``"response (s)"``, and curves.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf.
    note : str
        Below the title.
    axis : str
        Title of the common axis.
    steps : bool, default False
        Draw what holds from each abscissa on, such as counts over time: stairs without markers.
    origin : float, optional
        Where the common axis begins; by default shortly before the first abscissa.
    words : sequence of str
        What the abscissae 0, 1, 2, ... stand for, if they are no numbers.
    decades : bool, default False
        Draw the ordinates, which must be positive, by their logarithms.
    ticks : sequence of float
        Abscissae to mark, ascending, by default even ones; of marks that are too close the later
        has no number.
    title : str, optional
        Above the panels; None for neither title nor note.
    width : float, default 7.0
        Width of the page in inches.
    dpi : int, default 200
        Dots per inch of a PNG file.
    ax : matplotlib.axes.Axes or sequence of them, optional
        Axes of another figure, one for each panel; they have curves, of many methods too.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If the file cannot be written, the page is too small or too large, or there are not as many
        axes as panels.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> figure = plot_curves([("reject ratio", (Curve("fifo", (DataPoint(0.1, 0.2, 0.01),)),))])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['reject ratio']
    """
    page = Page(title, width, dpi)

    def draw() -> Figure:
        from dlopt.plotting.line_chart_layout import LineChart, axes_of

        given = () if ax is None else axes_of(ax)
        lists = tuple(words), tuple(ticks)
        chart = LineChart(tuple(panels), page, note, axis, given, *lists, steps, decades, origin)
        return chart.draw()

    return draw_figure(draw, path, page)
