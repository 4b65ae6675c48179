"""Gantt charts: rows of bars on resources, drawn alike for every problem.

The vertical axis is in inches from the top, so that rows keep a legible height while there is
room and share a page when there is not. All bars of a kind are one collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from dlopt.arithmetic import Number

# Okabe and Ito's colours, which people with any common colour blindness can tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, FAINT, GRID = "#222222", "#767676", "#DDDDDD"

WIDTH = 7.2
"""Inches: two columns of a paper."""
TALLEST = 7.5
"""Inches that the rows which may shrink share at the most."""
ROW, LEGIBLE, DENSE = 0.34, 0.15, 0.0125
"""Inches of a row: at its best; the least for text and hatching; the least for vectors."""

_TITLE, _TEXT, _SMALL = 10.0, 8.5, 7.5
_LINE = 0.165


class Bar(NamedTuple):
    """A stretch of time on a row, with a text that is written if it fits.

    `shade` chooses among the faces of its look, modulo their number.
    """

    row: int
    start: float
    end: float
    text: str = ""
    shade: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """How the bars of one kind look.

    Parameters
    ----------
    name : str
        Identifier of the group in an SVG.
    label : str
        In the legend; empty for none.
    faces : tuple of str
        Colours to alternate between.
    edge : str, optional
        Colour of outline and hatching; the face itself if absent.
    hatch : str, optional
        Left out where rows are too thin for it.
    ink : str
        Colour of the texts.
    outline : float
        Width of the outline in points.
    """

    name: str
    label: str
    faces: tuple[str, ...]
    edge: str | None = None
    hatch: str | None = None
    ink: str = INK
    outline: float = 0.3


@dataclass(frozen=True, slots=True)
class Row:
    """A resource; a `firm` row keeps its height however many others there are."""

    label: str
    firm: bool = False
    faint: bool = False


class Mark(NamedTuple):
    """An instant that matters, drawn over all rows and named above them."""

    time: float
    text: str
    colour: str = INK
    dashed: bool = False


def brief(number: Number, digits: int = 4) -> str:
    """Return a decimal for a picture; integers of up to nine digits are not broken up.

    Examples
    --------
    >>> brief(13 / 8), brief(123456.7), brief(2e-7 / 3)
    ('1.625', '123457', '6.667e-08')
    """
    value = float(number)
    if 10 ** (digits - 1) <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def clean(text: str, most: int = 80) -> str:
    """Return text on one line, cut to length, without characters that a file cannot hold."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72


class Gantt:
    """A chart that is filled kind by kind and then finished.

    Parameters
    ----------
    rows : sequence of Row
        From top to bottom.
    span : (float, float)
        The time axis; bars beyond it are cut off.
    axis : str
        Title of the vertical axis; for a chart whose labels do not say what the rows are.
    """

    def __init__(self, rows: Sequence[Row], span: tuple[float, float], axis: str = "") -> None:
        self.rows, self.span = rows, span
        shrinking = sum(not row.firm for row in rows)
        self.pitch = min(ROW, TALLEST / max(shrinking, 1))
        self.heights = np.array([ROW if row.firm else self.pitch for row in rows])
        self.tops = np.concatenate(([0.0], np.cumsum(self.heights)))
        self.centres = (self.tops[:-1] + self.tops[1:]) / 2
        self.thin, self.dense = self.pitch < LEGIBLE, self.pitch < DENSE
        # Air between rows: it would only blur them where a row is hardly wider than a line.
        filled = 1.0 if self.dense else 0.92 if self.thin else 0.76
        self.halves = self.heights / 2 * np.where([row.firm for row in rows], 0.76, filled)
        labels = max(text_width(row.label, _TEXT) for row in rows)
        self.left = labels + (0.42 if axis else 0.2)
        self.inches = WIDTH - self.left - 0.22
        self.marks: list[Mark] = []
        self.looks: dict[str, Look] = {}
        self.figure = Figure(figsize=(WIDTH, 1))
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_ylabel(axis, fontsize=_TEXT, color=INK)
        self.axes.set_rasterization_zorder(1.5 if self.dense else None)

    def bars(self, look: Look, bars: Iterable[Bar]) -> None:
        """Draw all bars of one kind, over those drawn before."""
        drawn = list(bars)
        if not drawn:
            return
        rows = np.array([bar.row for bar in drawn])
        low, high = self.centres[rows] - self.halves[rows], self.centres[rows] + self.halves[rows]
        start = np.array([bar.start for bar in drawn])
        end = np.array([bar.end for bar in drawn])
        corners = [(start, low), (start, high), (end, high), (end, low)]
        faces = [look.faces[bar.shade % len(look.faces)] for bar in drawn]
        bundle = PolyCollection(
            np.stack([np.stack(corner, axis=1) for corner in corners], axis=1),
            facecolors=look.faces if len(look.faces) == 1 else faces,
            edgecolors=look.edge or "face",
            linewidths=0.0 if self.dense else look.outline,
            hatch=None if self.thin else look.hatch,
            # Thousands of rows share a pixel; blending them one by one would wash them out.
            antialiaseds=not self.dense,
            zorder=1,
            gid=look.name,
            label=look.label,
        )
        self.axes.add_collection(bundle, autolim=False)
        if look.label:
            self.looks.setdefault(look.label, look)
        self._texts(look, [drawn[i] for i in self._roomy(rows, start, end)])

    def mark(self, mark: Mark) -> None:
        """Draw a vertical line; an instant beyond the axis is only named, at its end."""
        self.marks.append(mark)
        if self.span[0] <= mark.time <= self.span[1]:
            style = (0, (4, 2.5)) if mark.dashed else "-"
            line = self.axes.axvline(mark.time, color=mark.colour, lw=1.1, ls=style, zorder=2.2)
            line.set_label(mark.text)

    def rule(self, row: int) -> None:
        """Draw a hairline under a row."""
        self.axes.axhline(self.tops[row + 1], color="#BBBBBB", lw=0.6, zorder=1.2)

    def finish(self, title: str, subtitle: str, time_axis: str) -> Figure:
        """Put axes, labels and legend around the bars and return the figure."""
        legend = self._legend_columns()
        lines = -(-len(self.looks) // legend) if self.looks else 0
        above = 0.52 + _LINE * (self._mark_labels() or 0)
        below = 0.5 + 0.19 * lines
        height = above + float(self.tops[-1]) + below
        self.figure.set_size_inches(WIDTH, height)
        box = (self.left / WIDTH, below / height, self.inches / WIDTH, self.tops[-1] / height)
        self.axes.set_position(box)
        self._ticks(time_axis)
        for text, size, weight, colour, down in (
            (title, _TITLE, "bold", INK, 0.2),
            (subtitle, _SMALL, "normal", FAINT, 0.38),
        ):
            self.figure.text(
                self.left / WIDTH, 1 - down / height, text, fontsize=size, fontweight=weight,
                color=colour, parse_math=False,
            )  # fmt: skip
        if self.looks:
            self.figure.legend(
                handles=[_swatch(look) for look in self.looks.values()],
                loc="lower left", bbox_to_anchor=(self.left / WIDTH, 0.02 / height), ncols=legend,
                frameon=False, fontsize=_SMALL, borderpad=0.1, borderaxespad=0, handlelength=1.6,
                handleheight=0.9, columnspacing=1.4, handletextpad=0.5, labelcolor=INK,
            )  # fmt: skip
        return self.figure

    def _roomy(self, rows: np.ndarray, start: np.ndarray, end: np.ndarray) -> Iterable[int]:
        """Return the bars that have room for at least one digit."""
        scale = self.inches / (self.span[1] - self.span[0])
        tall = self.heights[rows] >= LEGIBLE
        return [int(i) for i in np.flatnonzero(tall & ((end - start) * scale > 0.08))]

    def _texts(self, look: Look, bars: Iterable[Bar]) -> None:
        scale = self.inches / (self.span[1] - self.span[0])
        for bar in bars:
            room = (bar.end - bar.start) * scale - 0.05
            size = min(_SMALL, self.heights[bar.row] * 72 * 0.6)
            if bar.text and text_width(bar.text, size) <= room:
                self.axes.text(
                    (bar.start + bar.end) / 2, self.centres[bar.row], bar.text, fontsize=size,
                    color=look.ink, ha="center", va="center_baseline", parse_math=False, zorder=2,
                )  # fmt: skip

    def _mark_labels(self) -> int:
        """Write the names of the marks above the rows, those that would collide one line up."""
        scale = self.inches / (self.span[1] - self.span[0])
        taken: list[list[tuple[float, float]]] = []
        for mark in self.marks:
            width = text_width(mark.text, _SMALL)
            centre = (mark.time - self.span[0]) * scale
            left = min(max(centre - width / 2, 0.0), self.inches - width)
            for level, others in enumerate([*taken, []]):  # noqa: B007
                if all(left > b + 0.1 or left + width < a - 0.1 for a, b in others):
                    break
            taken += [[]] * (level == len(taken))
            taken[level] = [*taken[level], (left, left + width)]
            self.axes.annotate(
                mark.text, (left / self.inches, 1), (0, 3 + level * _LINE * 72),
                xycoords="axes fraction", textcoords="offset points", fontsize=_SMALL,
                color=mark.colour, ha="left", va="bottom", parse_math=False,
            )  # fmt: skip
        return len(taken)

    def _ticks(self, time_axis: str) -> None:
        axes = self.axes
        axes.set_xlim(*self.span)
        axes.set_ylim(self.tops[-1], 0)
        axes.set_xlabel(time_axis, fontsize=_TEXT, color=INK, parse_math=False)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 2.5, 5, 10]))
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.tick_params(axis="x", labelsize=_TEXT, color=FAINT, labelcolor=INK, length=3)
        axes.tick_params(axis="y", length=0, pad=5)
        axes.grid(axis="x", color=GRID, lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(FAINT)
        shown = self._labelled()
        axes.set_yticks(self.centres[shown], [self.rows[i].label for i in shown])
        for i, label in zip(shown, axes.get_yticklabels(), strict=True):
            label.set(fontsize=_TEXT, color=FAINT if self.rows[i].faint else INK)
            label.set_parse_math(False)

    def _labelled(self) -> list[int]:
        """Return the rows to label: all if there is room, else every 2nd, 5th, 10th, ..."""
        steps = (base * 10**power for power in range(8) for base in (1, 2, 5))
        step = next(step for step in steps if step * self.pitch >= LEGIBLE)
        thin = [i for i, row in enumerate(self.rows) if not row.firm]
        return sorted({i for i, row in enumerate(self.rows) if row.firm} | set(thin[::step]))

    def _legend_columns(self) -> int:
        """Return the most columns in which the legend is no wider than the axes."""
        widths = [text_width(label, _SMALL) + 0.38 for label in self.looks]
        for columns in range(len(widths), 1, -1):
            lines = -(-len(widths) // columns)
            parts = [widths[i : i + lines] for i in range(0, len(widths), lines)]
            if sum(max(part) for part in parts) <= self.inches:
                return columns
        return 1


def _swatch(look: Look) -> Patch:
    return Patch(
        facecolor=look.faces[0],
        edgecolor=look.edge or look.faces[0],
        hatch=look.hatch,
        linewidth=look.outline,
        label=look.label,
    )
