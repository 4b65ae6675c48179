"""The layout of line charts: panels, curves, axes and legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dlopt.errors import NotApplicableError
from dlopt.plotting.axis_labels import (
    label_numbers,
    label_ordinates,
    lines_of_label,
    style_axes,
    tick_labels,
)
from dlopt.plotting.line_charts import MOST_CURVES, Curve, Panel
from dlopt.plotting.pages import Page, require_axes
from dlopt.plotting.style import (
    BLACK,
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    SMALL,
    TEXT_SIZE,
    TITLE_SIZE,
    VERMILLION,
    clean,
    text_width,
)
from dlopt.plotting.titles import Titles

_TALLEST_PANEL = 2.4
"""Largest height of a panel, in inches."""
_LEAST_PANEL = 1.15
"""Least height of a panel, in inches."""
_ALL_PANELS = 5.4
"""Height of all panels together, in inches, unless they have their least height."""
_LEFT = 0.8
"""Left margin, in inches, for ordinates with titles of one line."""
_LINE = 0.15
"""Height of a line of these titles, in inches."""
_RIGHT = 0.2
"""Right margin, in inches."""
_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
_MARKERS = "os^Dv<>P"
"""One more than colours, so that many curves in given axes differ in one of the two."""


def axes_of(ax: Axes | Iterable[Axes]) -> tuple[Axes, ...]:
    """Return axes, one or several, as a tuple; what cannot be drawn into is refused."""
    found = tuple(ax) if isinstance(ax, Iterable) else (ax,)
    for axes in found:
        require_axes(axes)
    return found


@dataclass(frozen=True, slots=True)
class LineChart:
    """A line chart; its fields are the arguments of `plot_curves`, axes as a tuple.

    Raises
    ------
    NotApplicableError
        If there are axes, but not as many as panels.
    """

    panels: tuple[Panel, ...]
    page: Page
    note: str = ""
    axis: str = ""
    given: tuple[Axes, ...] = ()
    words: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()
    steps: bool = False
    decades: bool = False
    origin: float | None = None

    def __post_init__(self) -> None:
        if self.given and len(self.given) != len(self.panels):
            text = f"{len(self.panels)} panels need as many axes, not {len(self.given)}"
            raise NotApplicableError(text)

    @property
    def names(self) -> list[str]:
        """The methods, by their first curve."""
        return list(dict.fromkeys(curve.name for _, curves in self.panels for curve in curves))

    def draw(self) -> Figure:
        """Draw the chart with matplotlib's present settings."""
        if not self.given and len(self.names) > MOST_CURVES:
            from dlopt.plotting.dot_charts import draw_dots

            return draw_dots(self)
        return self._draw_into_axes() if self.given else self._draw_page()

    def _draw_into_axes(self) -> Figure:
        figure = self.given[0].get_figure(root=True)
        assert figure is not None  # axes are of one
        heights = [axes.get_window_extent().height / figure.dpi for axes in self.given]
        self._fill(self.given, heights)
        title = self.page.title_or("")
        self.given[0].set_title(title, loc="left", fontsize=TITLE_SIZE, parse_math=False)
        handles = self._handles(self.given)
        if len(handles) > 1:
            self.given[-1].legend(
                list(handles.values()), list(handles), fontsize=SMALL, frameon=False
            )
        return figure

    def _draw_page(self) -> Figure:
        page, count = self.page.width, max(len(self.panels), 1)
        tallest = min(_TALLEST_PANEL, 0.62 * page)
        panel = max(_LEAST_PANEL, min(tallest, _ALL_PANELS / count))
        lines = max((len(lines_of_label(label, panel)) for label, _ in self.panels), default=1)
        margin = _LEFT + _LINE * (lines - 1)
        room = page - margin - _RIGHT
        titles = Titles.of(self.page, "", self.note, margin)
        entries = self.names if len(self.names) > 1 else []
        widest = max((text_width(name, SMALL) + 0.5 for name in entries), default=room)
        columns = min(max(1, int(room / widest)), max(1, len(entries)))
        below = 0.52 + 0.18 * -(-len(entries) // columns)
        height = titles.height + below + panel * count
        figure = Figure(figsize=(page, height))
        rows: list[Axes] = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
        figure.subplots_adjust(
            top=1 - titles.height / height,
            bottom=below / height,
            left=margin / page,
            right=1 - _RIGHT / page,
            hspace=0.14,
        )
        self._fill(rows, [panel] * count)
        figure.align_ylabels(rows)
        titles.write(figure)
        handles = self._handles(rows)
        if entries:
            figure.legend(
                [handles[name] for name in entries],
                entries,
                loc="lower left",
                bbox_to_anchor=(margin / page, 0.03 / height),
                ncols=columns,
                frameon=False,
                fontsize=SMALL,
                labelcolor=INK,
                borderaxespad=0,
            )
        return figure

    def _fill(self, rows: Sequence[Axes], heights: Sequence[float]) -> None:
        """Draw the curves into axes of some heights, in inches."""
        names = self.names
        draw = _draw_steps if self.steps else _draw_points
        for axes, (label, curves), height in zip(rows, self.panels, heights, strict=False):
            for curve in curves:
                draw(axes, curve, names.index(curve.name), len(names))
            self._scale_ordinates(axes, curves, max(3, int(height / 0.45)))
            style_axes(axes)
            label_ordinates(axes, label, height)
        self._label_abscissae(rows[-1])

    def _label_abscissae(self, axes: Axes) -> None:
        points = [point for _, curves in self.panels for curve in curves for point in curve.points]
        if self.words:
            words = [clean(word, 24) for word in self.words]
            axes.set_xticks(range(len(words)), words, parse_math=False)
            axes.set_xlim(-0.5, len(self.words) - 0.5)
        elif self.ticks:
            least, most = axes.get_xlim()
            inches = (self.page.width - _LEFT - _RIGHT) / (most - least)
            axes.set_xticks(self.ticks, tick_labels(self.ticks, inches))
        else:
            whole = not self.steps and all(float(point.x).is_integer() for point in points)
            axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=whole))
            if self.origin is not None:
                axes.set_xlim(left=self.origin)
            label_numbers(axes.xaxis, self.axis)
            return
        axes.set_xlabel(self.axis, fontsize=TEXT_SIZE, color=INK, parse_math=False)

    def _scale_ordinates(self, axes: Axes, curves: Sequence[Curve], ticks: int) -> None:
        if self.decades:
            axes.set_yscale("log")
        else:
            points = [point for curve in curves for point in curve.points]
            values = [point.y for point in points]
            lows = [point.y - (point.half_width or 0.0) for point in points]
            # What varies little far from 0 would be a flat line above much empty paper.
            if not values or min(lows) < 0.6 * max(values) or min(values) == max(values):
                axes.set_ylim(bottom=min(0.0, *values, 0.0))
            whole = all(float(value).is_integer() for value in values)
            locator = MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10], integer=whole)
            axes.yaxis.set_major_locator(locator)

    def _handles(self, rows: Iterable[Axes]) -> dict[str, Any]:
        """Return what stands for each method in the legend: with a bar if it has one anywhere."""
        handles: dict[str, Any] = {}
        for axes in rows:
            for drawn, name in zip(*axes.get_legend_handles_labels(), strict=True):
                if name not in handles or getattr(drawn, "has_yerr", False):
                    handles[name] = drawn
        return handles


def _style(curve: Curve, index: int, count: int) -> dict[str, Any]:
    """Return the style of a curve: the later ones are thinner, so that all of them are seen."""
    later = (count - 1 - index) / max(count - 1, 1)
    return {
        "label": curve.name,
        "gid": curve.name,
        "color": _COLOURS[index % len(_COLOURS)],
        "linewidth": 1.0 + 1.4 * later if count > 1 else 1.3,
    }


def _draw_steps(axes: Axes, curve: Curve, index: int, count: int) -> None:
    xs, ys = [point.x for point in curve.points], [point.y for point in curve.points]
    axes.plot(xs, ys, drawstyle="steps-post", clip_on=False, **_style(curve, index, count))


def _draw_points(axes: Axes, curve: Curve, index: int, count: int) -> None:
    points = curve.points
    has_intervals = any(point.half_width for point in points)
    axes.errorbar(
        [point.x for point in points],
        [point.y for point in points],
        yerr=[point.half_width or math.nan for point in points]
        if has_intervals
        else None,  # the legend then has no bar either
        marker=_MARKERS[index % len(_MARKERS)],
        markersize=3.5 + 2 * (count - 1 - index) / max(count - 1, 1),
        elinewidth=0.9,
        capsize=2,
        **_style(curve, index, count),
    )
