"""Gantt charts: rows of bars on resources, in one layout for all problems.

The vertical axis is in inches from the top, so that rows keep a legible height while there is room
and share a page when there is not. All bars of a kind are one collection.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dlopt.plotting.axis_labels import label_numbers, style_axes, tick_exponent, with_unit
from dlopt.plotting.bar_labels import BarLabels
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    FAINT,
    GRID,
    INK,
    SMALL,
    TEXT_SIZE,
    TITLE_SIZE,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    broken_lines,
    instant,
    text_width,
)
from dlopt.plotting.titles import Titles

TALLEST = 6.0
"""Largest total height of the rows that may shrink, in inches."""
ROW = 0.32
"""Height of a row in inches, if there is room."""
LEGIBLE = 0.15
"""Least height of a row with text and hatching, in inches."""
DENSE = 0.01
"""Least height of a row that is drawn as vectors, in inches; thinner ones become pixels."""
LEAST_BAR = 0.06
"""Least mean width of bars in inches, if all rows were full; narrower ones are not drawn."""
MOST_BARS = 5000
"""More bars than these are not drawn: files of them are large, and bars narrow."""
HEIGHT_GRAIN = 0.005
"""Row heights are multiples of this, in inches, so that thin ones do not blur unevenly at
200 dots per inch."""

_LINE = 0.165
"""Height of a line of small text, in inches."""
LEGEND_LINE = 0.167
"""Height of a line of the legend, in inches."""
_PANEL = 1.3
"""Height of the panel below, in inches."""
_HEADING = 0.34
"""Height of its heading, in inches."""


class Gantt:
    """A Gantt chart; bars are added kind by kind, then it is finished.

    Parameters
    ----------
    rows : sequence of ChartRow
        From top to bottom.
    span : (float, float)
        The time axis, of positive length; bars beyond it are cut off.
    axis : str
        Title of the vertical axis, for charts whose row labels have no noun.
    page : Page, optional
        Given axes are filled by the rows.
    """

    def __init__(
        self,
        rows: Sequence[ChartRow],
        span: tuple[float, float],
        axis: str = "",
        page: Page | None = None,
    ) -> None:
        self.rows, self.span = rows, span
        self.page = Page() if page is None else page
        self.figure, self.axes = self.page.figure_and_axes()
        # To measure a text takes long; the widest label is among the longest.
        longest = heapq.nlargest(16, (row.label for row in rows), key=len)
        labels = max(text_width(label, TEXT_SIZE) for label in longest)
        self.left = labels + (0.42 if axis else 0.2)
        size = self.page.axes_size()
        self.inches = self.page.width - self.left - 0.24 if size is None else size[0]
        self.scale = self.inches / (span[1] - span[0])
        self.labels = BarLabels(self.axes, self.scale)
        self.firm = np.array([row.firm for row in rows])
        pitch = min(ROW, TALLEST / max(int((~self.firm).sum()), 1))
        if pitch >= DENSE:
            pitch = math.floor(pitch / HEIGHT_GRAIN + 1e-6) * HEIGHT_GRAIN
        # Air between rows: the thinner they are, the more of them it would take.
        narrow = 2 * HEIGHT_GRAIN if pitch < LEGIBLE - 1e-9 else 0.24 * pitch
        gap = 0.0 if pitch < 6 * HEIGHT_GRAIN else narrow
        self.place(np.where(self.firm, ROW, pitch), np.where(self.firm, 0.24 * ROW, gap))
        self.marks: list[TimeMark] = []
        self.marked: dict[str, Line2D] = {}
        self.styles: dict[str, BarStyle] = {}
        self.axes.set_ylabel(axis, fontsize=TEXT_SIZE, color=INK, parse_math=False)
        self.axes.set_rasterization_zorder(1.5 if self.dense else None)
        self.panel: Axes | None = None
        self.heading = ""
        self.lines: list[Line2D] = []

    def place(self, heights: npt.NDArray[np.float64], gaps: npt.NDArray[np.float64]) -> None:
        """Set the height of each row and the air in it, in inches; given axes are filled."""
        size = self.page.axes_size()
        stretch = 1.0 if size is None else size[1] / float(heights.sum())
        self.heights, self.gaps = heights * stretch, gaps * stretch
        self.bottoms = np.cumsum(self.heights)
        self.tops = self.bottoms - self.heights
        self.pitch = ROW if self.firm.all() else float(self.heights[~self.firm].mean())
        self.dense, self.thin = self.pitch < DENSE, self.pitch < LEGIBLE - 1e-9

    def is_crowded(self, bars: int) -> bool:
        """Return whether so many bars could not be distinguished."""
        return bars > MOST_BARS or bars * LEAST_BAR > len(self.rows) * self.inches

    def bars(self, look: BarStyle, bars: Iterable[Bar]) -> None:
        """Draw all bars of one kind, over those drawn before."""
        drawn = list(bars)
        if not drawn:
            return
        rows = np.array([bar.row for bar in drawn])
        high = self.tops[rows] + self.gaps[rows] / 2
        low = high + self.heights[rows] - self.gaps[rows]
        start = np.array([bar.start for bar in drawn])
        end = np.array([bar.end for bar in drawn])
        corners = [(start, low), (start, high), (end, high), (end, low)]
        polygons: Any = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
        faces = [look.faces[bar.shade % len(look.faces)] for bar in drawn]
        bundle = PolyCollection(
            polygons,
            facecolors=look.faces if len(look.faces) == 1 else faces,
            edgecolors=look.edge or "face",
            linewidths=0.0 if self.dense else look.outline,
            hatch=None if self.thin else look.hatch,
            # Thousands of rows share a pixel; blending them one by one would wash them out.
            antialiaseds=not self.dense or bool(self.firm[rows].all()),
            # Where bars are far narrower than a pixel, snapping would drop most of them.
            snap=False if self.dense else None,
            zorder=1,
            gid=look.name,
            label=look.label,
        )
        self.axes.add_collection(bundle, autolim=False)
        if look.label:
            self.styles.setdefault(look.label, look)
        self._label(look, drawn)

    def mark(self, mark: TimeMark) -> None:
        """Draw a vertical line; an instant beyond the axis is only named, at its end."""
        self.marks.append(mark)
        if self.span[0] <= mark.time <= self.span[1]:
            style: Any = (0, (4, 2.5)) if mark.dashed else "-"
            height = 0.9 if mark.under else 2.2
            line = self.axes.axvline(mark.time, color=mark.colour, lw=1.1, ls=style, zorder=height)
            line.set_label(mark.text or mark.legend)
            if not mark.under:
                self.labels.line(mark.time)
            if mark.legend:
                self.marked.setdefault(mark.legend, line)

    def curves(self, heading: str, lines: Iterable[Line2D], label: str) -> None:
        """Draw curves over the same time axis in a panel below; their labels are in the legend.

        Given axes have no room for it.
        """
        if self.page.ax is not None:
            return
        self.heading, self.lines = heading, list(lines)
        self.panel = self.figure.add_axes((0, 0, 1, 0.5))
        for line in self.lines:
            self.panel.add_line(line)
        self.panel.autoscale_view()
        self.panel.set_ylim(bottom=0)
        self.panel.tick_params(axis="y", labelsize=SMALL, color=FAINT, labelcolor=INK, length=3)
        self.panel.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        label_numbers(self.panel.yaxis, label)
        self.panel.grid(axis="y", color=GRID, lw=0.6)

    def instant(self, time: float) -> str:
        """Return a time with the precision of the axis."""
        return instant(time, self.span[1] - self.span[0])

    def rule(self, row: int) -> None:
        """Draw a hairline under a row."""
        self.axes.axhline(self.bottoms[row], color="#BBBBBB", lw=0.6, zorder=1.8)

    def finish(self, title: str, subtitle: str, unit: str = "") -> Figure:
        """Add axes, labels and legend to the bars, and return the figure.

        Parameters
        ----------
        title : str
            If the page has no other.
        subtitle : str
        unit : str
            Of time.
        """
        self.labels.write()
        above = _LINE * self._mark_labels()
        columns = self._legend_columns()
        if self.page.ax is not None:
            pad, shown = 6 + above * 72, self.page.title_or(title)
            self.axes.set_title(shown, loc="left", pad=pad, fontsize=TITLE_SIZE, parse_math=False)
            corner = (0.0, -0.45 / float(self.bottoms[-1]))
            self._legend(self.axes, columns, loc="upper left", bbox_to_anchor=corner)
        else:
            self._lay_out(title, subtitle, above, columns)
        self._time_axis(self.axes)
        self._row_axis()
        lowest = self.panel or self.axes
        label_numbers(lowest.xaxis, with_unit("time", unit))
        return self.figure

    def _lay_out(self, title: str, subtitle: str, above: float, columns: int) -> None:
        """Give the page its height, and everything on it its place."""
        page = self.page.width
        inside = float(self.bottoms[-1])
        titles = Titles.of(self.page, title, subtitle, self.left)
        above += titles.height
        below = 0.52 + LEGEND_LINE * math.ceil(len(self._labels()) / columns)
        heading = broken_lines(self.heading, SMALL, self.inches)
        under = 0.0 if self.panel is None else _HEADING + _PANEL + 0.13 * (len(heading) - 1)
        height = above + inside + under + below
        self.figure.set_size_inches(page, height)
        left, width = self.left / page, self.inches / page
        self.axes.set_position((left, (below + under) / height, width, inside / height))
        titles.write(self.figure)
        if self.panel is not None:
            self.panel.set_position((left, below / height, width, _PANEL / height))
            self._panel(below / height, height, heading)
        corner = (left, 0.03 / height)
        self._legend(self.figure, columns, loc="lower left", bbox_to_anchor=corner)

    def _label(self, look: BarStyle, bars: Iterable[Bar]) -> None:
        """Note what covers other bars, and the labels of those that are large enough for one."""
        for bar in bars:
            self.labels.cover(look, bar)
            roomy = (bar.end - bar.start) * self.scale > 0.08
            if bar.text and roomy and self.heights[bar.row] > LEGIBLE - 1e-9:
                face = look.faces[bar.shade % len(look.faces)]
                height = float(self.heights[bar.row])
                middle = float(self.tops[bar.row]) + height / 2
                size = min(SMALL, height * 72 * 0.6)
                self.labels.add(bar, face, bool(look.hatch), middle, size)

    def _mark_labels(self) -> int:
        """Write the names of the marks above the rows; return the number of lines used."""
        taken: list[list[tuple[float, float]]] = []
        for mark in sorted(mark for mark in self.marks if mark.text):
            width = text_width(mark.text, SMALL)
            end = self.inches + 0.14
            left = min(max((mark.time - self.span[0]) * self.scale - width / 2, 0.0), end - width)
            level = 0
            while level < len(taken) and any(
                left < other[1] + 0.12 and other[0] < left + width + 0.12 for other in taken[level]
            ):
                level += 1
            if level == len(taken):
                taken.append([])
            taken[level].append((left, left + width))
            self.axes.annotate(
                mark.text,
                (left / self.inches, 1),
                (0, 3 + level * _LINE * 72),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=SMALL,
                color=mark.colour,
                va="bottom",
            )
        return len(taken)

    def _panel(self, bottom: float, height: float, heading: Sequence[str]) -> None:
        """Finish the panel below, and leave the labels of the instants to it."""
        assert self.panel is not None
        self._time_axis(self.panel)
        self.axes.tick_params(axis="x", labelbottom=False)
        for mark in self.marks:
            style: Any = (0, (4, 2.5)) if mark.dashed else "-"
            self.panel.axvline(mark.time, color=mark.colour, lw=1.1, ls=style, zorder=1.5)
        self.figure.text(
            self.left / self.page.width,
            bottom + (_PANEL + 0.08) / height,
            "\n".join(heading),
            fontsize=SMALL,
            color=INK,
        )

    def _time_axis(self, axes: Axes) -> None:
        left, right = self.span
        axes.set_xlim(left, right)
        # Times may count seconds since 1970: fewer ticks, but whole numbers rather than offsets.
        exponent = tick_exponent(left, right)
        label = f"{right:.0f}" if right - left >= 5 else self.instant(right)
        label = "888.8" if exponent else label
        widest = text_width(label, TEXT_SIZE) + 0.22
        ticks = max(2, min(9, int(self.inches / widest)))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, steps=[1, 2, 5, 10]))
        style_axes(axes, "x")
        axes.spines["left"].set_visible(False)

    def _row_axis(self) -> None:
        """Label all rows if there is room, else every 2nd, 5th, 10th, ..., but always firm ones."""
        steps = (base * 10**power for power in range(8) for base in (1, 2, 5))
        step = next(step for step in steps if step * self.pitch > LEGIBLE - 1e-9)
        others = np.flatnonzero(~self.firm)[::step]
        shown = sorted({*np.flatnonzero(self.firm).tolist(), *others.tolist()})
        self.axes.set_ylim(float(self.bottoms[-1]), 0)
        self.axes.tick_params(axis="y", length=0, pad=5)
        middles = self.tops + self.heights / 2
        self.axes.set_yticks(middles[shown], [self.rows[i].label for i in shown])
        for i, label in zip(shown, self.axes.get_yticklabels(), strict=True):
            label.set(fontsize=TEXT_SIZE, color=FAINT if self.rows[i].faint else INK)
            label.set_parse_math(False)

    def _legend_columns(self) -> int:
        """Return the most columns in which the legend is no wider than the axes."""
        widths = [text_width(label, SMALL) + 0.38 for label in self._labels()]
        for lines in range(1, len(widths)):
            # Matplotlib fills columns one by one, the first ones with one entry more.
            columns = math.ceil(len(widths) / lines)
            if sum(max(part) for part in np.array_split(widths, columns)) <= self.inches:
                return columns
        return 1

    def _labels(self) -> list[str]:
        return [*self.styles, *self.marked, *(str(line.get_label()) for line in self.lines)]

    def _legend(self, place: Figure | Axes, columns: int, **corner: Any) -> None:
        # A tuple of patches is drawn side by side, which the stubs of `legend` do not know.
        swatches: Any = [tuple(self._swatches(look)) for look in self.styles.values()]
        place.legend(
            [*swatches, *self.marked.values(), *self.lines],
            self._labels(),
            handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
            **corner,
            ncols=columns,
            frameon=False,
            fontsize=SMALL,
            labelcolor=INK,
            borderpad=0.1,
            borderaxespad=0,
            handlelength=1.6,
            handleheight=0.9,
            handletextpad=0.5,
            columnspacing=1.4,
        )

    def _swatches(self, look: BarStyle) -> Iterable[Patch]:
        for face in look.faces:
            yield Patch(
                facecolor=face,
                edgecolor=look.edge or face,
                hatch=None if self.thin else look.hatch,
                linewidth=look.outline,
            )
