"""Line charts: measures over a parameter, one curve for each method, in stacked panels.

Every method has a colour, a marker and an offset along the abscissa, so that curves that coincide,
and their confidence intervals, can be distinguished.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dlopt import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 7.2
"""Width of a figure in inches: two columns of a paper."""
_HEIGHT = 2.7
"""Height of a panel in inches."""
_TEXT = 8.5
"""Font size of axes, in points."""
_SMALL = 7.5
"""Font size of note and legend, in points."""
_TITLE = 10.0
"""Font size of the title, in points."""
_DIGIT = 0.075
"""Width of a digit of the tick labels, in inches."""
_MARKERS = "os^Dv<>P"
_STYLES = ("-", "--", ":")
"""Line styles, used when the colours are exhausted."""


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
    title: str = "",
    note: str = "",
    axis: str = "",
    steps: bool = False,
    words: Sequence[str] = (),
    decades: bool = False,
    ticks: Sequence[float] = (),
) -> Figure:
    """Draw curves with error bars, and write the picture if a path is given.

    Parameters
    ----------
    panels : sequence of (str, tuple of Curve)
        From top to bottom.
    path : str or path-like, optional
        Ends in .svg, .png or .pdf.
    title, note : str
        Above the panels.
    axis : str
        Title of the common axis.
    steps : bool, default False
        Draw counts over time, which hold from each spot on: stairs without markers.
    words : sequence of str
        What the abscissae 0, 1, 2, ... stand for, if they are no numbers.
    decades : bool, default False
        Draw the ordinates, which must be positive, by their logarithms.
    ticks : sequence of float
        Abscissae to mark, ascending, by default even ones; of marks that are too close the later
        has no number.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    NotApplicableError
        If the file cannot be written.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> figure = plot_curves([("reject ratio", (Curve("fifo", (DataPoint(0.1, 0.2, 0.01),)),))])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['reject ratio']
    """
    return plotting.draw_figure(
        lambda: _figure(panels, title, note, axis, steps, words, decades, ticks), path
    )


def _figure(
    panels: Sequence[Panel],
    title: str,
    note: str,
    axis: str,
    steps: bool,
    words: Sequence[str],
    decades: bool,
    ticks: Sequence[float],
) -> Figure:
    from matplotlib.figure import Figure

    from dlopt.plotting.style import FAINT, INK, clean

    names = list(dict.fromkeys(curve.name for _, curves in panels for curve in curves))
    columns = min(4, max(1, len(names)))
    lines = -(-len(names) // columns)
    above, below = 0.62, 0.62 + 0.2 * lines
    height = above + below + _HEIGHT * len(panels)
    figure = Figure(figsize=(_WIDTH, height))
    shape: dict[str, Any] = {"left": 0.1, "right": 0.97, "hspace": 0.12}
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    figure.subplots_adjust(top=1 - above / height, bottom=below / height, **shape)
    for axes, (label, curves) in zip(rows, panels, strict=True):
        for curve in curves:
            draw = _draw_steps if steps else _draw
            draw(axes, curve, names.index(curve.name), len(names))
        _style_axes(axes, label, decades)
    rows[-1].set_xlabel(axis, fontsize=_TEXT, color=INK, parse_math=False)
    if words:
        rows[-1].set_xticks(range(len(words)), [clean(word, 24) for word in words])
        rows[-1].set_xlim(-0.5, len(words) - 0.5)
    if ticks:
        least, most = rows[-1].get_xlim()
        inches = _WIDTH * (shape["right"] - shape["left"]) / (most - least)
        rows[-1].set_xticks(ticks, _tick_labels(ticks, inches))
    corner: dict[str, Any] = {"x": 0.1, "parse_math": False}
    figure.text(
        y=1 - 0.26 / height,
        s=clean(title, 90),
        fontsize=_TITLE,
        fontweight="bold",
        color=INK,
        **corner,
    )
    figure.text(y=1 - 0.45 / height, s=clean(note, 120), fontsize=_SMALL, color=FAINT, **corner)
    handles: dict[str, Any] = {}
    for axes in rows:
        for drawn, name in zip(*axes.get_legend_handles_labels(), strict=True):
            if name not in handles or getattr(drawn, "has_yerr", False):  # with bars, if any has
                handles[name] = drawn
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="lower left",
        bbox_to_anchor=(0.1, 0.03 / height),
        ncols=columns,
        frameon=False,
        fontsize=_SMALL,
        labelcolor=INK,
        borderaxespad=0,
    )
    return figure


def _tick_labels(ticks: Sequence[float], inches: float) -> list[str]:
    """Return tick labels, empty where they would overlap the one before."""
    texts: list[str] = []
    end = float("-inf")
    for tick in ticks:
        text = f"{tick:g}"
        half = _DIGIT * len(text) / 2
        clear = tick * inches - half > end
        texts.append(text if clear else "")
        end = tick * inches + half + _DIGIT if clear else end
    return texts


def _style(curve: Curve, index: int) -> dict[str, Any]:
    """Return the style of a curve: its colour, then its line."""
    from dlopt.plotting import style

    colours = [style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE]
    colours += [style.ORANGE, style.SKY, style.BLACK]
    return {
        "label": curve.name,
        "gid": curve.name,
        "color": colours[index % len(colours)],
        "linestyle": _STYLES[index // len(colours) % len(_STYLES)],
    }


def _draw_steps(axes: Axes, curve: Curve, index: int, count: int) -> None:
    from matplotlib.ticker import MaxNLocator

    xs, ys = [point.x for point in curve.points], [point.y for point in curve.points]
    # The later ones are thinner: where curves fall together, all of them are seen.
    width = 1.0 + 2.6 * (count - 1 - index) / max(count - 1, 1)
    look: dict[str, Any] = {"linewidth": width, "clip_on": False, **_style(curve, index)}
    axes.plot(xs, ys, drawstyle="steps-post", **look)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _draw(axes: Axes, curve: Curve, index: int, count: int) -> None:
    points = curve.points
    xs = [point.x for point in points]
    # Side by side within a fifth of the least distance of two abscissae.
    gaps = [right - left for left, right in pairwise(xs)]
    step = min(gaps, default=0.1) / 5 / max(count, 1)
    shift = step * (index - (count - 1) / 2)
    has_intervals = any(point.half_width is not None for point in points)
    axes.errorbar(
        [x + shift for x in xs],
        [point.y for point in points],
        yerr=[math.nan if point.half_width is None else point.half_width for point in points]
        if has_intervals
        else None,  # the legend then has no bar either
        marker=_MARKERS[index % len(_MARKERS)],
        markersize=4,
        linewidth=1.2,
        elinewidth=0.9,
        capsize=2,
        **_style(curve, index),
    )


def _style_axes(axes: Axes, label: str, decades: bool) -> None:
    from dlopt.plotting.style import FAINT, GRID, INK

    axes.set_ylabel(label, fontsize=_TEXT, color=INK)
    if decades:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(color=GRID, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=_TEXT, color=FAINT, labelcolor=INK, length=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(FAINT)
