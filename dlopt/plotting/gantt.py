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
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dlopt.plotting.style import (
    FAINT,
    GRID,
    INK,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    fitted,
    instant,
    text_width,
)

WIDTH = 7.2
"""Width of a chart in inches: two columns of a paper."""
TALLEST = 6.0
"""Largest total height of the rows that may shrink, in inches."""
ROW = 0.32
"""Height of a row in inches, if there is room."""
LEGIBLE = 0.15
"""Least height of a row with text and hatching, in inches."""
DENSE = 0.01
"""Least height of a row that is drawn as vectors, in inches; thinner ones become pixels."""
HEIGHT_GRAIN = 0.005
"""Row heights are multiples of this, in inches, so that thin ones do not blur unevenly at
200 dots per inch."""

_TITLE = 10.0
"""Font size of the title, in points."""
_TEXT = 8.5
"""Font size of axes and row labels, in points."""
_SMALL = 7.5
"""Font size of everything else, in points."""
_LINE = 0.165
"""Height of a line of small text, in inches."""
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
    """

    def __init__(self, rows: Sequence[ChartRow], span: tuple[float, float], axis: str = "") -> None:
        self.rows, self.span = rows, span
        shrinking = sum(not row.firm for row in rows)
        self.pitch = min(ROW, TALLEST / max(shrinking, 1))
        self.dense = self.pitch < DENSE
        if not self.dense:
            self.pitch = math.floor(self.pitch / HEIGHT_GRAIN + 1e-6) * HEIGHT_GRAIN
        self.thin = self.pitch < LEGIBLE - 1e-9
        self.firm = np.array([row.firm for row in rows])
        self.heights = np.where(self.firm, ROW, self.pitch)
        self.bottoms = np.cumsum(self.heights)
        self.tops = self.bottoms - self.heights
        # Air between rows: the thinner they are, the more of them it would take.
        gap = (
            0.0
            if self.pitch < 6 * HEIGHT_GRAIN
            else 2 * HEIGHT_GRAIN
            if self.thin
            else 0.24 * self.pitch
        )
        self.gaps = np.where(self.firm, 0.24 * ROW, gap)
        # To measure a text takes long; the widest label is among the longest.
        longest = heapq.nlargest(16, (row.label for row in rows), key=len)
        labels = max(text_width(label, _TEXT) for label in longest)
        self.left = labels + (0.42 if axis else 0.2)
        self.inches = WIDTH - self.left - 0.24
        self.scale = self.inches / (span[1] - span[0])
        self.marks: list[TimeMark] = []
        self.styles: dict[str, BarStyle] = {}
        self.figure = Figure(figsize=(WIDTH, 1))
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_ylabel(axis, fontsize=_TEXT, color=INK)
        self.axes.set_rasterization_zorder(1.5 if self.dense else None)
        self.panel: Axes | None = None
        self.heading = ""
        self.lines: list[Line2D] = []

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
        # Most bars of a large chart are out of the question before their text is measured.
        roomy = (self.heights[rows] > LEGIBLE - 1e-9) & ((end - start) * self.scale > 0.08)
        self._texts(look, [drawn[i] for i in np.flatnonzero(roomy)])

    def mark(self, mark: TimeMark) -> None:
        """Draw a vertical line; an instant beyond the axis is only named, at its end."""
        self.marks.append(mark)
        if self.span[0] <= mark.time <= self.span[1]:
            style: Any = (0, (4, 2.5)) if mark.dashed else "-"
            height = 0.9 if mark.under else 2.2
            line = self.axes.axvline(mark.time, color=mark.colour, lw=1.1, ls=style, zorder=height)
            line.set_label(mark.text)

    def curves(self, heading: str, lines: Iterable[Line2D]) -> None:
        """Draw curves over the same time axis in a panel below; their labels are in the legend."""
        self.heading, self.lines = heading, list(lines)
        self.panel = self.figure.add_axes((0, 0, 1, 0.5))
        for line in self.lines:
            self.panel.add_line(line)
        self.panel.autoscale_view()
        self.panel.set_ylim(bottom=0)
        self.panel.tick_params(axis="y", labelsize=_SMALL, color=FAINT, labelcolor=INK, length=3)
        self.panel.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        self.panel.grid(axis="y", color=GRID, lw=0.6)

    def instant(self, time: float) -> str:
        """Return a time with the precision of the axis."""
        return instant(time, self.span[1] - self.span[0])

    def rule(self, row: int) -> None:
        """Draw a hairline under a row."""
        self.axes.axhline(self.bottoms[row], color="#BBBBBB", lw=0.6, zorder=1.8)

    def finish(self, title: str, subtitle: str, time_axis: str) -> Figure:
        """Add axes, labels and legend to the bars, and return the figure."""
        columns = self._legend_columns()
        inside = float(self.bottoms[-1])
        above = 0.52 + _LINE * self._mark_labels()
        below = 0.5 + 0.19 * math.ceil(len(self._labels()) / columns)
        under = 0.0 if self.panel is None else _HEADING + _PANEL
        height = above + inside + under + below
        self.figure.set_size_inches(WIDTH, height)
        left, width = self.left / WIDTH, self.inches / WIDTH
        self.axes.set_position((left, (below + under) / height, width, inside / height))
        self._time_axis(self.axes)
        self._row_axis()
        if self.panel is not None:
            self.panel.set_position((left, below / height, width, _PANEL / height))
            self._panel(below / height, height)
        lowest = self.panel or self.axes
        lowest.set_xlabel(time_axis, fontsize=_TEXT, color=INK, parse_math=False)
        # Bold letters are up to an eighth wider than those that are measured.
        room = WIDTH - self.left - 0.1
        title, subtitle = fitted(title, _TITLE, room / 1.15), fitted(subtitle, _SMALL, room)
        corner: dict[str, Any] = {"x": self.left / WIDTH, "parse_math": False}
        self.figure.text(
            y=1 - 0.2 / height, s=title, fontsize=_TITLE, fontweight="bold", color=INK, **corner
        )
        self.figure.text(y=1 - 0.38 / height, s=subtitle, fontsize=_SMALL, color=FAINT, **corner)
        self._legend(columns, (self.left / WIDTH, 0.03 / height))
        return self.figure

    def _texts(self, look: BarStyle, bars: Iterable[Bar]) -> None:
        for bar in bars:
            size = min(_SMALL, self.heights[bar.row] * 72 * 0.6)
            room = (bar.end - bar.start) * self.scale
            if bar.text and text_width(bar.text, size) <= room - 0.05:
                self.axes.text(
                    (bar.start + bar.end) / 2,
                    self.tops[bar.row] + self.heights[bar.row] / 2,
                    bar.text,
                    fontsize=size,
                    color=look.ink,
                    ha="center",
                    va="center_baseline",
                    parse_math=False,
                    zorder=2,
                )

    def _mark_labels(self) -> int:
        """Write the names of the marks above the rows; return the number of lines used."""
        taken: list[list[tuple[float, float]]] = []
        for mark in sorted(mark for mark in self.marks if mark.text):
            width = text_width(mark.text, _SMALL)
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
                fontsize=_SMALL,
                color=mark.colour,
                va="bottom",
                parse_math=False,
            )
        return len(taken)

    def _panel(self, bottom: float, height: float) -> None:
        """Finish the panel below, and leave the labels of the instants to it."""
        assert self.panel is not None
        self._time_axis(self.panel)
        self.axes.tick_params(axis="x", labelbottom=False)
        for mark in self.marks:
            style: Any = (0, (4, 2.5)) if mark.dashed else "-"
            self.panel.axvline(mark.time, color=mark.colour, lw=1.1, ls=style, zorder=1.5)
        self.figure.text(
            self.left / WIDTH,
            bottom + (_PANEL + 0.08) / height,
            fitted(self.heading, _SMALL, self.inches),
            fontsize=_SMALL,
            color=INK,
            parse_math=False,
        )

    def _time_axis(self, axes: Axes) -> None:
        left, right = self.span
        axes.set_xlim(left, right)
        # Times may count seconds since 1970: fewer ticks, but whole numbers rather than offsets.
        widest = text_width(self.instant(right), _TEXT) + 0.35
        ticks = max(2, min(9, int(self.inches / widest)))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, steps=[1, 2, 5, 10]))
        plain = right - left >= 1e-4 and right < 1e15
        axes.ticklabel_format(axis="x", style="plain" if plain else "sci", useOffset=False)
        axes.xaxis.get_offset_text().set(fontsize=_SMALL, color=INK)
        axes.tick_params(axis="x", labelsize=_TEXT, color=FAINT, labelcolor=INK, length=3)
        axes.grid(axis="x", color=GRID, lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(FAINT)

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
            label.set(fontsize=_TEXT, color=FAINT if self.rows[i].faint else INK)
            label.set_parse_math(False)

    def _legend_columns(self) -> int:
        """Return the most columns in which the legend is no wider than the axes."""
        widths = [text_width(label, _SMALL) + 0.38 for label in self._labels()]
        for lines in range(1, len(widths)):
            # Matplotlib fills columns one by one, the first ones with one entry more.
            columns = math.ceil(len(widths) / lines)
            if sum(max(part) for part in np.array_split(widths, columns)) <= self.inches:
                return columns
        return 1

    def _labels(self) -> list[str]:
        return [*self.styles, *(str(line.get_label()) for line in self.lines)]

    def _legend(self, columns: int, corner: tuple[float, float]) -> None:
        # A tuple of patches is drawn side by side, which the stubs of `legend` do not know.
        swatches: Any = [tuple(self._swatches(look)) for look in self.styles.values()]
        self.figure.legend(
            [*swatches, *self.lines],
            self._labels(),
            handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
            loc="lower left",
            bbox_to_anchor=corner,
            ncols=columns,
            frameon=False,
            fontsize=_SMALL,
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
