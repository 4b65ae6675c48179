"""Gantt charts whose rows are machines in groups: LANs or sites."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from dlopt.arithmetic import SOLVER
from dlopt.plotting.gantt import LEGEND_LINE, LEGIBLE, ROW, TALLEST, Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    FAINT,
    INK,
    SMALL,
    Bar,
    ChartRow,
    clean,
    short_names,
    text_width,
)

_FEW = 40
"""Up to so many machines, "machine" is written before their names."""


class MachineGroup(NamedTuple):
    """Machines of one LAN or site, by their indices; without a name, they are in none."""

    name: str
    machines: Sequence[int]


class GroupedGantt(Gantt):
    """A chart with rows for jobs, then machines by group, then others.

    Parameters
    ----------
    heads : sequence of ChartRow
        Above the machines.
    machines : sequence of str
        Their names.
    groups : sequence of MachineGroup
        Every machine is in one of them.
    span : (float, float)
        The time axis.
    tails : sequence of ChartRow
        Below the machines.
    page : Page, optional

    Attributes
    ----------
    row : dict of int to int
        The row of each machine.
    """

    def __init__(
        self,
        heads: Sequence[ChartRow],
        machines: Sequence[str],
        groups: Sequence[MachineGroup],
        span: tuple[float, float],
        tails: Sequence[ChartRow] = (),
        page: Page | None = None,
    ) -> None:
        self.groups = [group for group in groups if group.machines]
        self.head = len(heads)
        order = [machine for group in self.groups for machine in group.machines]
        self.row = {machine: row for row, machine in enumerate(order, start=self.head)}
        free = sum(not row.firm for row in heads) + len(machines)
        pitch = min(ROW, TALLEST / free)
        names_fit = all(
            text_width(clean(group.name, 24), SMALL) + 0.06 <= pitch * len(group.machines)
            for group in self.groups
        )
        named = any(group.name for group in self.groups)
        self._named = named and names_fit
        word = "machine " if len(machines) <= _FEW and not named else ""
        rows, known = [], short_names(machines, 20)
        for group in self.groups:
            # A group name that does not fit next to its rows is written into each of them.
            place = f"{clean(group.name, 18)}: " if named and not names_fit else word
            rows += [ChartRow(place + known[machine]) for machine in group.machines]
        # A title of the axis makes room for the names of the groups, which take its place.
        super().__init__([*heads, *rows, *tails], span, " " if self._named else "", page)
        self._draw_groups()

    def _draw_groups(self) -> None:
        """Draw a hairline between groups, and their names next to the rows."""
        first = self.head
        if first:
            self.rule(first - 1)
        for group in self.groups:
            last = first + len(group.machines) - 1
            if last < len(self.rows) - 1:
                self.rule(last)
            if self._named:
                middle = float(self.tops[first] + self.bottoms[last]) / 2
                self.axes.annotate(
                    clean(group.name, 24),
                    (-self.left / self.inches, middle),
                    (7, 0),
                    xycoords=("axes fraction", "data"),
                    textcoords="offset points",
                    annotation_clip=False,
                    rotation=90,
                    ha="left",
                    va="center",
                    fontsize=SMALL,
                    color=FAINT,
                )
            first = last + 1

    def threads(self, name: str, label: str, bars: Iterable[Bar], colour: str) -> None:
        """Draw intervals as thin lines under the bars of their rows."""
        drawn = list(bars)
        if not drawn:
            return
        width = max(0.4, min(1.3, float(self.gaps[drawn[0].row]) * 72 * 0.4))
        segments = []
        for bar in drawn:
            y = float(self.bottoms[bar.row] - self.gaps[bar.row] / 4)
            segments.append([(bar.start, y), (bar.end, y)])
        self.axes.add_collection(
            LineCollection(segments, colors=colour, linewidths=width, zorder=1.3, gid=name),
            autolim=False,
        )
        self.explain(label, colour, width)

    def ticks(self, name: str, label: str, bars: Sequence[Bar], colour: str) -> None:
        """Draw instants, the starts of bars, as lines across their rows."""
        segments = [
            [(bar.start, float(self.tops[bar.row])), (bar.start, float(self.bottoms[bar.row]))]
            for bar in bars
            if self.span[0] <= bar.start <= self.span[1]
        ]
        if not segments:
            return
        for bar in bars:
            self.labels.line(bar.start, bar.row)
        self.axes.add_collection(
            LineCollection(segments, colors=colour, linewidths=1.8, zorder=2.3, gid=name),
            autolim=False,
        )
        self.explain(label, colour, 1.8)

    def caption(self, bar: Bar, instants: Sequence[float] = ()) -> None:
        """Write the text of a bar into it, or next to it, where it crosses no line.

        Parameters
        ----------
        bar : Bar
        instants : sequence of float
            Positions of the lines.
        """
        if self.heights[bar.row] < LEGIBLE:
            return
        air = 0.05 / self.scale
        width = text_width(bar.text, SMALL) / self.scale + 2 * air
        cuts = [bar.start, *sorted(at for at in instants if bar.start < at < bar.end), bar.end]
        parts = sorted(pairwise(cuts), key=lambda part: part[0] - part[1])
        ends = [bar.end, *sorted(at for at in instants if at > bar.end)]
        places = [(left, right, "center", INK) for left, right in parts]
        places += [(end, end + width, "left", FAINT) for end in ends]
        places.append((bar.start - width, bar.start, "right", FAINT))
        for left, right, side, colour in places:
            fits = right - left >= width * (1 - SOLVER) and self.span[0] <= left
            lined = any(left < at < right for at in instants)
            if fits and not lined and right <= self.span[1]:
                at = {"center": (left + right) / 2, "left": left + air, "right": right - air}[side]
                self.axes.text(
                    at,
                    float(self.tops[bar.row] + self.heights[bar.row] / 2),
                    bar.text,
                    fontsize=SMALL,
                    color=colour,
                    ha=side,
                    va="center_baseline",
                    zorder=2,
                )
                return

    def listing(self, row: int, names: Sequence[str]) -> None:
        """Write into a row how many names there are, those that fit, and how many do not."""
        count = len(names)
        for named in range(min(count, 60), -1, -1):
            more = f" and {count - named:,} more" * (named < count)
            text = f"{count:,}: {', '.join(names[:named])}{more}" if named else f"{count:,}"
            if text_width(text, SMALL) <= self.inches - 0.08:
                break
        self.axes.text(
            self.span[0] + 0.04 / self.scale,
            float(self.tops[row] + self.heights[row] / 2),
            text,
            fontsize=SMALL,
            color=FAINT,
            va="center_baseline",
            zorder=2,
        )

    @property
    def foot(self) -> float:
        """Distance from the lower edge of the page to the top of the legend, in inches."""
        return 0.09 + LEGEND_LINE * math.ceil(len(self._labels()) / self._legend_columns())

    def explain(self, label: str, colour: str = INK, width: float = 1.0) -> None:
        """Add a line to the legend."""
        self.lines.append(Line2D([], [], color=colour, lw=width, label=label))


def time_span(instants: Sequence[float], later: Iterable[float] = ()) -> tuple[float, float]:
    """Return the range of the time axis, from 0 unless the chart would be mostly empty.

    Parameters
    ----------
    instants : sequence of float
        Shown in any case.
    later : iterable of float
        Deadlines: shown as long as the schedule takes half of the axis.

    Examples
    --------
    >>> time_span([2.0, 10.0], [12.0, 400.0])
    (0.0, 12.3)
    """
    first, last = min(instants), max(instants)
    length = last - first
    left = min(first, 0.0) if first <= length else first - length / 20
    most = left + 2 * (last - left)
    last = max([last, *(instant for instant in later if instant <= most)])
    return left, last + (last - left or 1.0) / 40
