"""Panel of small task graphs below a chart: tasks in columns, data on the edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from dlopt.arithmetic import Number
from dlopt.plotting.layered_layout import Layout, layered
from dlopt.plotting.style import (
    BLACK,
    FAINT,
    INK,
    SMALL,
    clean,
    fitted,
    short_names,
    si,
    text_width,
)
from dlopt.problems.dag import Instance

CRITICAL = BLACK
MOST_TASKS = 40
"""Larger graphs are not drawn."""
MOST_COLUMNS = 14
"""Longer graphs are not drawn."""
MOST_ROWS = 14
"""Wider graphs are not drawn."""
MOST_LABELS = 30
"""With more edges than this, their data is not written."""

_TINY = 6.5
"""Font size of edge labels, in points."""
_PITCH = 0.32
"""Distance between rows, in inches."""
_BOX = 0.2
"""Height of a task, in inches."""
_HEADING = 0.2
"""Height of the heading, in inches."""
_BETWEEN = 0.1
"""Distance to the chart above, in inches."""
_NAME = 0.2
"""Height of the name of a graph, in inches."""
_WIDEST = 1.5
"""Largest width of a column, in inches."""
_FROM = 0.2
"""Left margin, in inches."""
_TO = 0.2
"""Right margin, in inches."""
_EDGE = "#8A8A8A"

Point = tuple[float, float]


class Box(NamedTuple):
    """An occupied rectangle on the page, in inches."""

    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two of them share more than a side."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class GraphPanel:
    """The panel of the graphs of an instance, if they are small.

    Parameters
    ----------
    instance : Instance
    edges : set of (int, int, int)
        Graph, source and target of the edges on the critical path.
    tasks : set of (int, int)
        Graph and index of the tasks on it.
    faces : sequence of str
        Colours of the graphs.
    width : float
        Of the page, in inches.
    """

    def __init__(
        self,
        instance: Instance,
        edges: set[tuple[int, int, int]],
        tasks: set[tuple[int, int]],
        faces: Sequence[str],
        width: float,
    ) -> None:
        self.width, self.unit = width, clean(instance.units.data, 12)
        self.graphs, self.edges, self.tasks = instance.graphs, edges, tasks
        self.names = [short_names([task.id for task in one.tasks], 12) for one in self.graphs]
        self.faces = faces
        self.fits = False
        count = sum(len(graph.tasks) for graph in self.graphs)
        if count > MOST_TASKS or not any(graph.edges for graph in self.graphs):
            return
        self.layouts = [
            layered(len(graph.tasks), [(edge.source, edge.target) for edge in graph.edges])
            for graph in self.graphs
        ]
        self.labelled = sum(len(graph.edges) for graph in self.graphs) <= MOST_LABELS
        self.column = min(_WIDEST, self._room() / max(self._columns(), 1))
        self.corners, self.rows = self._shelves()
        self.fits = (
            max(layout.columns for layout in self.layouts) <= MOST_COLUMNS
            and self.rows <= MOST_ROWS * _PITCH
        )

    def below(self, figure: Figure, left: float, foot: float) -> None:
        """Draw the graphs between a finished chart and its legend.

        Parameters
        ----------
        figure : Figure
            With a legend.
        left, foot : float
            Inches to the left of the chart, and up to the upper end of the legend.
        """
        height = figure.get_size_inches()[1]
        more = self.rows + _HEADING + _BETWEEN
        whole = height + more
        for axes in figure.axes:
            place = axes.get_position()
            axes.set_position(
                (
                    place.x0,
                    (place.y0 * height + more) / whole,
                    place.width,
                    place.height * height / whole,
                )
            )
        for text in figure.texts:
            text.set_y((text.get_position()[1] * height + more) / whole)
        figure.set_size_inches(self.width, whole)
        figure.legends[0].set_bbox_to_anchor((left / self.width, 0.03 / whole), figure.transFigure)
        axes = figure.add_axes((0, foot / whole, 1, self.rows / whole))
        axes.set(xlim=(0, self.width), ylim=(self.rows, 0))
        axes.set_axis_off()
        placed = self._draw(axes)
        figure.text(
            left / self.width,
            (foot + self.rows + 0.06) / whole,
            self._heading(placed),
            fontsize=SMALL,
            color=INK,
        )

    def _heading(self, placed: int) -> str:
        """Return what is drawn, and on how many edges their data is written."""
        what = "the graph" if len(self.graphs) == 1 else "the graphs"
        sending = sum(bool(edge.data) for graph in self.graphs for edge in graph.edges)
        if not placed:
            return what
        unit = f" ({self.unit})" if self.unit else ""
        part = f" on {placed} of {sending} edges" if placed < sending else " of its edges"
        if len(self.graphs) > 1 and placed == sending:
            part = " of their edges"
        return f"{what} with the data{unit}{part}"

    def _room(self) -> float:
        return self.width - _FROM - _TO

    def _columns(self) -> int:
        """Return the number of columns next to each other: of all graphs, or of the longest."""
        counts = [layout.columns for layout in self.layouts]
        return sum(counts) if sum(counts) <= MOST_COLUMNS / 2 else max(counts)

    def _shelves(self) -> tuple[list[Point], float]:
        """Return the upper left corner of each graph, and how much height all take."""
        corners, x, y, tallest = [], 0.0, 0.0, 0.0
        head = _NAME if len(self.graphs) > 1 else 0.0
        for layout in self.layouts:
            width = layout.columns * self.column
            if x > 0 and x + width > self._room() + 1e-6:
                x, y, tallest = 0.0, y + tallest, 0.0
            corners.append((_FROM + x, y + head))
            x += width
            tallest = max(tallest, layout.rows * _PITCH + head)
        return corners, y + tallest

    def _draw(self, axes: Axes) -> int:
        """Draw the graphs, and return how many edges have their data written."""
        width = self._width()
        taken: list[Box] = []
        routes: list[tuple[list[Point], Number, bool]] = []
        for at, (graph, layout) in enumerate(zip(self.graphs, self.layouts, strict=True)):
            places = [self._place(at, place) for place in layout.places]
            boxes = [
                Box(x - width / 2, x + width / 2, y - _BOX / 2, y + _BOX / 2) for x, y in places
            ]
            taken += boxes
            for edge, route in zip(graph.edges, layout.routes, strict=True):
                points = [self._place(at, place) for place in route]
                points[0] = points[0][0] + width / 2, points[0][1]
                points[-1] = points[-1][0] - width / 2, points[-1][1]
                bold = (at, edge.source, edge.target) in self.edges
                routes.append((points, edge.data, bold))
            self._boxes(axes, at, boxes)
            if len(self.graphs) > 1:
                taken.append(self._name(axes, at, layout))
        for bold in (False, True):
            self._lines(axes, [points for points, _, kind in routes if kind is bold], bold)
        return self._labels(axes, routes, taken) if self.labelled else 0

    def _width(self) -> float:
        """Return the width of a task: its name, or as much as leaves room for edges."""
        widest = max(text_width(name, SMALL) for names in self.names for name in names)
        return max(_BOX, min(widest + 0.12, 0.62 * self.column))

    def _place(self, at: int, place: tuple[int, float]) -> Point:
        left, top = self.corners[at]
        return left + (place[0] + 0.5) * self.column, top + (place[1] + 0.5) * _PITCH

    def _boxes(self, axes: Axes, at: int, boxes: Sequence[Box]) -> None:
        critical = [(at, task) in self.tasks for task in range(len(boxes))]
        axes.add_collection(
            PolyCollection(
                [
                    [
                        (box.left, box.top),
                        (box.right, box.top),
                        (box.right, box.bottom),
                        (box.left, box.bottom),
                    ]
                    for box in boxes
                ],
                facecolors=self.faces[at % len(self.faces)],
                edgecolors=[CRITICAL if bold else "#FFFFFF" for bold in critical],
                linewidths=[1.4 if bold else 0.5 for bold in critical],
                zorder=2,
                gid="graph-task",
            ),
            autolim=False,
        )
        for name, box in zip(self.names[at], boxes, strict=True):
            axes.text(
                (box.left + box.right) / 2,
                (box.top + box.bottom) / 2,
                fitted(name, SMALL, box.right - box.left - 0.04),
                fontsize=SMALL,
                color=INK,
                ha="center",
                va="center_baseline",
                zorder=3,
            )

    def _name(self, axes: Axes, at: int, layout: Layout) -> Box:
        left, top = self.corners[at]
        x = left + 0.5 * self.column - self._width() / 2
        name = fitted(clean(f"graph {self.graphs[at].id}", 24), SMALL, layout.columns * self.column)
        axes.text(
            x,
            top - 0.04,
            name,
            fontsize=SMALL,
            color=FAINT,
            va="center",
            zorder=3,
        )
        return Box(x, x + text_width(name, SMALL), top - 0.11, top + 0.03)

    def _lines(self, axes: Axes, routes: Sequence[list[Point]], bold: bool) -> None:
        if not routes:
            return
        colour, width = (CRITICAL, 1.3) if bold else (_EDGE, 0.7)
        axes.add_collection(
            LineCollection(
                [route[:-1] for route in routes if len(route) > 2],
                colors=colour,
                linewidths=width,
                zorder=1.5 if bold else 1.0,
            ),
            autolim=False,
        )
        for route in routes:
            axes.add_patch(
                FancyArrowPatch(
                    *route[-2:],
                    arrowstyle="-|>",
                    mutation_scale=7 if bold else 6,
                    shrinkA=0,
                    shrinkB=0,
                    color=colour,
                    linewidth=width,
                    zorder=1.5 if bold else 1.0,
                    gid="critical-edge" if bold else "edge",
                )
            )

    def _labels(
        self, axes: Axes, routes: Sequence[tuple[list[Point], Number, bool]], taken: list[Box]
    ) -> int:
        """Write the data of edges where it covers no task and no other text, and few edges."""
        placed = 0
        lines = [points for points, _, _ in routes]
        for index, (points, data, bold) in enumerate(routes):
            if not data:
                continue
            text = si(data)
            half = text_width(text, _TINY) / 2 + 0.02
            best: tuple[int, int, Point, Box] | None = None
            for turn, (x, y) in enumerate(_along(points)):
                box = Box(x - half, x + half, y - 0.055, y + 0.055)
                if any(box.overlaps(other) for other in taken):
                    continue
                others = (line for place, line in enumerate(lines) if place != index)
                crossed = sum(_crosses(line, box) for line in others)
                if best is None or (crossed, turn) < best[:2]:
                    best = crossed, turn, (x, y), box
            if best is None:
                continue
            _, _, (x, y), box = best
            taken.append(box)
            placed += 1
            axes.text(
                x,
                y,
                text,
                fontsize=_TINY,
                color=CRITICAL if bold else INK,
                ha="center",
                va="center_baseline",
                zorder=2.5,
                bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.6},
            )
        return placed


def _along(points: Sequence[Point]) -> Iterator[Point]:
    """Yield positions on a line, from its middle outwards.

    Examples
    --------
    >>> [round(x, 2) for x, _ in _along([(0, 0), (10, 0)])][:5]
    [5.0, 4.4, 5.6, 3.8, 6.2]
    """
    lengths = [math.dist(one, other) for one, other in pairwise(points)]
    total = sum(lengths)
    for step in range(7):
        for part in (0.5 - 0.06 * step, 0.5 + 0.06 * step)[: 1 + (step > 0)]:
            left = part * total
            for (one, other), length in zip(pairwise(points), lengths, strict=True):
                if left <= length:
                    share = left / length if length else 0.0
                    yield (
                        one[0] + share * (other[0] - one[0]),
                        one[1] + share * (other[1] - one[1]),
                    )
                    break
                left -= length


def _crosses(points: Sequence[Point], box: Box) -> bool:
    """Return whether a line passes through a box, by sampling."""
    for (x, y), (end, low) in pairwise(points):
        for step in range(41):
            share = step / 40
            at, height = x + share * (end - x), y + share * (low - y)
            if box.left < at < box.right and box.top < height < box.bottom:
                return True
    return False
