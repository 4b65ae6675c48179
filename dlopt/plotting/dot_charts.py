"""Dot charts: measures of many methods, a row a method, from the lowest value to the highest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dlopt.plotting.axis_labels import label_numbers, style_axes
from dlopt.plotting.style import INK, SMALL, clean, text_width
from dlopt.plotting.titles import Titles

if TYPE_CHECKING:
    from dlopt.plotting.line_chart_layout import LineChart
    from dlopt.plotting.line_charts import Curve

_ROW = 0.165
"""Height of a row, in inches."""
_TEXT = 8.0
"""Font size of names and axes, in points."""
_NARROWEST = 1.25
"""Least width of a panel next to others, in inches; narrower ones are stacked."""
_SHADES = ("#A9D9F2", "#56B4E9", "#0072B2", "#00304D")
"""Colours of abscissae, from the first to the last; of more abscissae, so many are drawn."""


def draw_dots(chart: LineChart) -> Figure:
    """Draw the chart of many curves: their values at the last abscissa, and at few others.

    The methods are sorted by the first panel's values at the last abscissa.
    """
    names = _sorted_names(chart)
    labels = max(text_width(clean(name, 28), _TEXT) for name in names) + 0.15
    room = chart.page.width - labels - 0.2
    across = len(chart.panels) if room / len(chart.panels) >= _NARROWEST else 1
    down = -(-len(chart.panels) // across)
    inside = _ROW * (len(names) + 1)
    titles = Titles.of(chart.page, "", chart.note, labels)
    shown = _abscissae(chart)
    entries = [] if chart.words else [_entry(chart, x) for x in shown]
    widest = max((text_width(entry, SMALL) + 0.35 for entry in entries), default=1.0)
    columns = max(1, int(room / widest))
    below = 0.45 + 0.18 * -(-len(entries) // columns)
    between = 0.5
    height = titles.height + inside * down + between * (down - 1) + below
    figure = Figure(figsize=(chart.page.width, height))
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    left = labels / chart.page.width
    figure.subplots_adjust(
        left=left,
        right=1 - 0.15 / chart.page.width,
        top=1 - titles.height / height,
        bottom=below / height,
        wspace=0.12,
        hspace=between / inside,
    )
    for axes, (label, curves) in zip(grid.flat, chart.panels, strict=True):
        _draw_panel(axes, names, curves, shown)
        _style_axes(axes, label, chart.decades)
    grid[0, 0].set_ylim(len(names) - 0.4, -0.6)
    grid[0, 0].set_yticks(range(len(names)), [clean(name, 28) for name in names])
    titles.write(figure)
    _legend(figure, entries, columns, (left, 0.04 / height))
    return figure


def _entry(chart: LineChart, x: float) -> str:
    return "at the end" if chart.steps else f"{chart.axis} {x:g}".lstrip()


def _sorted_names(chart: LineChart) -> list[str]:
    last: dict[str, float] = {}
    for _, curves in chart.panels:
        for curve in curves:
            last.setdefault(curve.name, curve.points[-1].y if curve.points else math.inf)
    return sorted(chart.names, key=lambda name: last[name])


def _abscissae(chart: LineChart) -> list[float]:
    """Return the abscissae whose values are drawn: the last one, and few others."""
    points = [point for _, curves in chart.panels for curve in curves for point in curve.points]
    found = sorted({point.x for point in points})
    if chart.steps or chart.words:
        return found[-1:]
    places = np.linspace(0, len(found) - 1, min(len(found), len(_SHADES)))
    return [found[round(place)] for place in places]


def _draw_panel(
    axes: Axes, names: Sequence[str], curves: Sequence[Curve], shown: Sequence[float]
) -> None:
    colours = _SHADES[len(_SHADES) - len(shown) :]
    for x, colour in zip(shown, colours, strict=True):
        points = {
            names.index(curve.name): point
            for curve in curves
            # The last abscissa alone may differ from curve to curve: the end, or a word.
            for point in (curve.points if len(shown) > 1 else curve.points[-1:])
            if point.x == x or len(shown) == 1
        }
        widths = [point.half_width or math.nan for point in points.values()]
        axes.errorbar(
            [point.y for point in points.values()],
            list(points),
            xerr=None if all(map(math.isnan, widths)) else widths,
            color=colour,
            marker="o",
            markersize=4.5,
            linestyle="",
            elinewidth=1.6,
            gid=f"dots-{x:g}",
        )


def _style_axes(axes: Axes, label: str, decades: bool) -> None:
    if decades:
        axes.set_xscale("log")
        axes.set_xlabel(label)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        label_numbers(axes.xaxis, label)
    axes.xaxis.label.set(fontsize=_TEXT, color=INK)
    style_axes(axes, size=_TEXT)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _legend(
    figure: Figure, entries: Sequence[str], columns: int, corner: tuple[float, float]
) -> None:
    colours = _SHADES[len(_SHADES) - len(entries) :]
    figure.legend(
        [Line2D([], [], color=c, marker="o", linestyle="", markersize=4.5) for c in colours],
        entries,
        loc="lower left",
        bbox_to_anchor=corner,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        borderaxespad=0,
        handletextpad=0.2,
        columnspacing=1.2,
    )
