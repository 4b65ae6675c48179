"""Stack plot of CPU shares: the usage of each machine over time, under its capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dlopt.arithmetic import Number, shown
from dlopt.plotting.admission import assign_lanes
from dlopt.plotting.axis_labels import with_unit
from dlopt.plotting.bar_labels import BarName, bar_names, named_bar
from dlopt.plotting.cpu_blocks import BlockSegment, CpuBlock, colours_of_windows, stack_blocks
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.pages import Page
from dlopt.plotting.style import (
    FAINT,
    INK,
    MANY_COLOURS,
    REJECTED,
    SMALL,
    VIOLATION,
    Bar,
    BarStyle,
    ChartRow,
    clean,
    fitted,
    short_names,
    subtitle,
    text_width,
)
from dlopt.plotting.utilization import Usage, draw_utilization
from dlopt.problems.coreservation import Instance, Solution, objective
from dlopt.result import Violation

TALLEST_BAND = 1.1
"""Largest height of a machine, in inches."""
ALL_BANDS = 8.0
"""Largest height of all machines together, in inches."""
LEAST_BAND = 0.06
"""Least height of a machine, in inches."""
TALLEST_LANE = 0.2
"""Largest height of a row of rejected requests, in inches."""
ALL_LANES = 2.2
"""Largest height of all rejected requests together, in inches."""
_TINY = 6.5
"""Font size of capacities, in points."""
MAX_NAMED = 12
"""Up to so many rejected requests have a row of their own, with the reason."""

SHARE = BarStyle("share", "accepted, one colour a request", MANY_COLOURS, "#FFFFFF", outline=0.4)
REPEATING = replace(SHARE, label="accepted (colours repeat)")
RESERVED = BarStyle("holding", "reserved before", ("#E9E9E9",), "#9A9A9A", "/////", outline=0.4)


class StackedGantt(Gantt):
    """A chart whose first rows are as high as the capacities of machines.

    Parameters
    ----------
    machines, rejected : sequence of ChartRow
    span : (float, float)
        The time axis.
    most : float
        CPU at the top of each machine's row; positive.
    axis : str
        Title of the vertical axis.
    page : Page, optional
    """

    def __init__(
        self,
        machines: Sequence[ChartRow],
        rejected: Sequence[ChartRow],
        span: tuple[float, float],
        most: float,
        axis: str = "",
        page: Page | None = None,
    ) -> None:
        super().__init__([*machines, *rejected], span, axis, page)
        band = max(LEAST_BAND, min(TALLEST_BAND, ALL_BANDS / len(machines)))
        lane = min(TALLEST_LANE, ALL_LANES / max(1, len(rejected)))
        heights = np.array([band] * len(machines) + [lane] * len(rejected))
        self.place(heights, heights * ([0.16] * len(machines) + [0.2] * len(rejected)))
        self.thin, self.dense = lane < 0.08, False
        self.most = most

    def height(self, row: int, cpu: float) -> float:
        """Return the position on the page of an amount of CPU in a row."""
        ground = float(self.bottoms[row] - self.gaps[row] / 2)
        return ground - cpu / self.most * float(self.heights[row] - self.gaps[row])

    def stack(
        self,
        look: BarStyle,
        pieces: Sequence[BlockSegment],
        names: Sequence[BarName],
        shades: Mapping[int, int],
    ) -> None:
        """Draw the segments of blocks of one kind, each request's name on its longest segment."""
        if not pieces:
            return
        polygons = []
        best: dict[tuple[int, int], tuple[float, BlockSegment]] = {}
        for piece in pieces:
            low, high = self.height(piece.row, piece.low), self.height(piece.row, piece.high)
            left, right = piece.start, piece.end
            polygons.append([(left, low), (left, high), (right, high), (right, low)])
            key = piece.row, piece.request
            if low - high > 0.09 and right - left > best.get(key, (0.0, piece))[0]:
                best[key] = right - left, piece
        self.axes.add_collection(
            PolyCollection(
                polygons,
                facecolors=[look.faces[shades.get(piece.request, 0)] for piece in pieces],
                edgecolors=look.edge or "face",
                linewidths=look.outline if len(pieces) < 3000 else 0.0,
                hatch=look.hatch,
                zorder=1,
                gid=look.name,
                label=look.label,
            ),
            autolim=False,
        )
        self.styles.setdefault(look.label, look)
        for _, piece in best.values() if names else ():
            face = look.faces[shades.get(piece.request, 0)]
            self._name(piece, names[piece.request], face)

    def capacity(self, row: int, steps: Sequence[tuple[Number, Number]]) -> None:
        """Draw the capacity of a machine as a step function over its usage."""
        first, last = self.span
        instants = [max(first, min(last, float(instant))) for instant, _ in steps] + [last]
        points: list[tuple[float, float]] = []
        for index, (_, cpu) in enumerate(steps):
            y = self.height(row, float(cpu))
            points += [(instants[index], y), (instants[index + 1], y)]
        line = LineCollection(
            [points],
            colors=INK,
            linewidths=min(1.0, 3 * float(self.heights[row])),
            zorder=1.6,
            gid="capacity",
        )
        self.axes.add_collection(line, autolim=False)
        # what the legend shows
        self.lines = [Line2D([], [], color=INK, lw=1.0, label="capacity")]
        ground = self.height(row, 0.0)
        self.axes.axhline(ground, color="#BBBBBB", lw=0.6, zorder=1.5)
        label = shown(steps[-1][1], 4)
        if text_width(label, _TINY) < 0.22 and self.heights[row] > 0.15:
            self.axes.annotate(
                label,
                (1, points[-1][1]),
                (2, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize=_TINY,
                color=FAINT,
                va="center",
            )

    def reason(self, bar: Bar) -> None:
        """Write the text of a bar into it, or next to it where there is more room."""
        first, last = self.span
        width = text_width(bar.text, SMALL) + 0.1
        if width <= (bar.end - bar.start) * self.scale:
            at, side, room = (bar.start + bar.end) / 2, "center", width
        elif last - bar.end >= bar.start - first:
            at, side, room = bar.end + 0.05 / self.scale, "left", (last - bar.end) * self.scale
        else:
            at, side, room = (
                bar.start - 0.05 / self.scale,
                "right",
                (bar.start - first) * self.scale,
            )
        paper = {"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.8}
        self.axes.text(
            at,
            float(self.tops[bar.row] + self.heights[bar.row] / 2),
            fitted(bar.text, SMALL, room - 0.05),
            fontsize=SMALL,
            color=FAINT,
            bbox=paper,
            ha=side,
            va="center_baseline",
            zorder=2,
        )

    def _name(self, piece: BlockSegment, name: BarName, face: str) -> None:
        high, low = self.height(piece.row, piece.high), self.height(piece.row, piece.low)
        size = min(SMALL, (low - high) * 72 * 0.8)
        bar = named_bar(Bar(piece.row, piece.start, piece.end), name)
        self.labels.add(bar, face, False, (high + low) / 2, size)


class ReservationChart:
    """The chart of one solution."""

    def __init__(
        self, instance: Instance, solution: Solution, page: Page, violations: Sequence[Violation]
    ) -> None:
        self.instance, self.solution, self.page = instance, solution, page
        self.violations = violations
        self.number = {request.id: index for index, request in enumerate(instance.requests)}
        self.accepted = {one.request for one in solution.decisions if one.accepted}
        self.reason_of = {one.request: one.reason for one in solution.decisions}
        self.rejected = [one for one in instance.requests if one.id not in self.accepted]
        self.named = len(self.rejected) <= MAX_NAMED
        windows = [(float(one.start), float(one.end)) for one in instance.requests]
        windows += [(float(one.start), float(one.end)) for one in instance.holdings]
        first, last = min(start for start, _ in windows), max(end for _, end in windows)
        self.span = first, last
        self.pieces = [piece for row in range(len(instance.machines)) for piece in self._of(row)]
        tops = [float(cpu) for machine in instance.machines for _, cpu in machine.steps]
        most = max(*tops, *(piece.high for piece in self.pieces), 0.0) or 1.0
        self.lane = self._lanes()
        rows = [ChartRow("")] * (max(self.lane, default=-1) + 1)
        if self.named:
            names = short_names([one.id for one in self.rejected], 12)
            rows = [ChartRow(f"request {name}", faint=True) for name in names]
        else:
            rows[0] = ChartRow("rejected", firm=True, faint=True)
        few = ALL_BANDS / len(instance.machines) > 0.13
        word = "machine " if few else ""
        places = short_names([one.id for one in instance.machines], 12)
        labels = [ChartRow(f"{word}{name}", firm=few) for name in places]
        axis = with_unit("CPU", instance.units.cpu) if instance.units.cpu else ""
        self.chart = StackedGantt(labels, rows, self.span, most, axis, page)

    def draw(self, note: str) -> Figure:
        """Draw the segments and bars, kind by kind, and finish the chart."""
        chart, machines, unit = self.chart, self.instance.machines, self.instance.units.time
        title = clean(self.instance.name) or "Shares of CPUs"
        text = self._subtitle(note)
        if chart.is_crowded(max(len(self.solution.shares), len(self.rejected))):
            return draw_utilization(self.page, self.usage(), self.span, title, text, unit)
        names = bar_names([request.id for request in self.instance.requests])
        chart.stack(RESERVED, [piece for piece in self.pieces if piece.request < 0], (), {})
        shares = [piece for piece in self.pieces if piece.request >= 0]
        shades = self._shades()
        repeat = len(shades) > len(SHARE.faces)
        chart.stack(REPEATING if repeat else SHARE, shares, names, shades)
        for row, machine in enumerate(machines):
            chart.capacity(row, machine.steps)
        if self.rejected:
            chart.rule(len(machines) - 1)
        rejected = list(self._rejected())
        chart.bars(
            REJECTED, [bar._replace(text="") for bar in rejected] if self.named else rejected
        )
        for bar in rejected if self.named else ():
            chart.reason(bar)
        chart.bars(VIOLATION, self._violation_bars())
        return chart.finish(title, text, unit)

    def usage(self) -> Usage:
        """Return how much of all CPUs is in use over time, and how many requests are rejected."""
        first, last = self.span
        capacity: list[tuple[float, float, float]] = []
        for machine in self.instance.machines:
            instants = [max(first, float(instant)) for instant, _ in machine.steps] + [last]
            for (_, cpu), (start, end) in zip(machine.steps, pairwise(instants), strict=True):
                capacity.append((start, end, float(cpu)))
        blocks = [(piece.start, piece.end, piece.high - piece.low) for piece in self.pieces]
        starts = [float(one.start) for one in self.rejected]
        return Usage({"CPU in use": (blocks, capacity)}, {"requests rejected, by start": starts})

    def _of(self, row: int) -> Iterator[BlockSegment]:
        """Yield the segments on a machine; earlier reservations are at the base line."""
        blocks = [
            CpuBlock(float(one.start), float(one.end), float(one.cpu), -1)
            for one in self.instance.holdings
            if one.machine == row
        ]
        requests = self.instance.requests
        for share in self.solution.shares:
            index = self.number.get(share.request)
            if share.machine == row and index is not None:
                start, end = float(requests[index].start), float(requests[index].end)
                blocks.append(CpuBlock(start, end, float(share.cpu), index))
        blocks.sort(key=lambda block: (block.request >= 0, block.start, block.request))
        yield from (piece._replace(row=row) for piece in stack_blocks(blocks))

    def _lanes(self) -> list[int]:
        """Return a line for each rejected request."""
        if self.named:
            return list(range(len(self.rejected)))
        windows = [(float(one.start), float(one.end)) for one in self.rejected]
        order = sorted(range(len(windows)), key=windows.__getitem__)
        found = assign_lanes([windows[index] for index in order], 0.0, len(windows))
        return [lane for _, lane in sorted(zip(order, found, strict=True))]

    def _rejected(self) -> Iterator[Bar]:
        first = len(self.instance.machines)
        for request, lane in zip(self.rejected, self.lane, strict=True):
            words = self.reason_of.get(request.id) if self.named else request.id
            yield Bar(
                first + lane, float(request.start), float(request.end), clean(words or "", 80)
            )

    def _violation_bars(self) -> Iterator[Bar]:
        """Yield the violations that have a place: a machine, a share of one, or a window."""
        machines = {f"machine {one.id}": row for row, one in enumerate(self.instance.machines)}
        first = len(machines)
        rejected = {
            f"request {one.id}": first + lane
            for one, lane in zip(self.rejected, self.lane, strict=True)
        }
        requests = {f"request {one.id}": one for one in self.instance.requests}
        seen = set()
        for broken in self.violations:
            _, _, after = broken.resource.rpartition("request ")
            request = requests.get(f"request {after}")
            rows = [machines[broken.resource]] if broken.resource in machines else []
            start: Any = broken.start
            end: Any = broken.end
            if request is not None:
                start, end = request.start, request.end
                place = rejected.get(f"request {request.id}")
                rows = [place] if place is not None else self._rows_of(request.id)
            for row in rows:
                bar = Bar(row, float(start), float(end))
                if bar not in seen:
                    seen.add(bar)
                    yield bar

    def _shades(self) -> dict[int, int]:
        """Return a colour for each request; at one instant they differ, while there are enough."""
        windows = {
            index: (
                float(self.instance.requests[index].start),
                float(self.instance.requests[index].end),
            )
            for index in {piece.request for piece in self.pieces if piece.request >= 0}
        }
        return colours_of_windows(windows, len(SHARE.faces))

    def _rows_of(self, request: str) -> list[int]:
        """Return the machines on which a request has an allocation."""
        found = {share.machine for share in self.solution.shares if share.request == request}
        return sorted(found & set(range(len(self.instance.machines))))

    def _subtitle(self, note: str) -> str:
        instance, solution = self.instance, self.solution
        parts = [
            f"{len(self.accepted):,} of {len(instance.requests):,} requests accepted",
            f"benefit {shown(float(objective(instance, solution)), 4)}",  # type: ignore[arg-type]
        ]
        return subtitle(parts, self.violations, note)
