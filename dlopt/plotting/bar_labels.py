"""Labels of bars: where they are written, how they are shortened, when they are left out.

One rule holds for all charts. A label is written into the widest part of its bar that no bar drawn
later covers and no line crosses. If that part is too narrow, a name loses what all names have in
common at their beginning, then is cut in the middle; it is left out if fewer than `LEAST_NAME`
characters would remain, or if another name would read the same. Other texts are not shortened. Of
a bar that is hatched all over, the hatching stops around the label.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from matplotlib.axes import Axes

from dlopt.plotting.style import (
    Bar,
    BarStyle,
    cut_in_middle,
    distinct_names,
    ink_on,
    text_width,
)

LEAST_NAME = 5
"""A name is cut to no fewer characters than this."""
MOST_NAME = 30
"""A name has no more characters than this, whatever the length of its bar."""
SHORT_NAME = 12
"""With a name of more characters than this, all lose what they have in common."""
AIR = 0.05
"""Space that a label needs next to it, in inches."""


class BarName(NamedTuple):
    """A name, and what distinguishes it from others."""

    full: str
    short: str


class _Label(NamedTuple):
    """A text for a bar; bars that were drawn from number `drawn` on may cover it."""

    bar: Bar
    face: str
    hatched: bool
    middle: float
    size: float
    drawn: int


class _Cover(Enum):
    """How a bar affects labels under it."""

    OPAQUE = "opaque"
    HATCHED = "hatched"
    OUTLINE = "outline"


class _Drawn(NamedTuple):
    """A bar that was drawn, as what may cover others."""

    number: int
    start: float
    end: float
    cover: _Cover


class _Place(NamedTuple):
    """Part of a bar for a label, and whether hatching has to stop around it."""

    start: float
    end: float
    paper: bool


class BarLabels:
    """The labels of a chart; they are collected while bars are drawn, and then written.

    Parameters
    ----------
    axes : Axes
    scale : float
        Inches by unit of time.
    """

    def __init__(self, axes: Axes, scale: float) -> None:
        self._axes, self._scale = axes, scale
        self._labels: list[_Label] = []
        self._drawn: dict[int, list[_Drawn]] = defaultdict(list)
        self._lines: dict[int | None, list[float]] = defaultdict(list)
        self._count = 0

    def cover(self, look: BarStyle, bar: Bar) -> None:
        """Note that a bar was drawn, which may cover others."""
        cover = _Cover.OPAQUE
        if look.faces[bar.shade % len(look.faces)] == "none":
            cover = _Cover.HATCHED if look.hatch else _Cover.OUTLINE
        self._drawn[bar.row].append(_Drawn(self._count, bar.start, bar.end, cover))
        self._count += 1

    def line(self, time: float, row: int | None = None) -> None:
        """Note a line across a row, or across all."""
        self._lines[row].append(time)

    def add(self, bar: Bar, face: str, hatched: bool, middle: float, size: float) -> None:
        """Note the label of what was drawn last.

        Parameters
        ----------
        bar : Bar
        face : str
            The colour under the text.
        hatched : bool
            Whether the bar has a hatching of its own.
        middle : float
            Position on the vertical axis.
        size : float
            Of the font, in points.
        """
        self._labels.append(_Label(bar, face, hatched, middle, size, self._count))

    def write(self) -> None:
        """Write the labels that can be read."""
        found = [(label, *self._fit(label)) for label in self._labels]
        read_as: dict[str, set[str]] = defaultdict(set)
        for label, text, _ in found:
            if text:
                read_as[text].add(label.bar.text)
        for label, text, place in found:
            if text and (text == label.bar.text or len(read_as[text]) == 1):
                self._write(label, text, place)

    def _fit(self, label: _Label) -> tuple[str, _Place]:
        """Return what can be written of a label, and where."""
        whole = _Place(label.bar.start, label.bar.end, label.hatched)
        for place in (self._free_part(label, whole), self._free_part(label, whole, paper=True)):
            room = (place.end - place.start) * self._scale - AIR
            text = fitted_label(label.bar.text, label.bar.short, label.size, room)
            if text:
                return text, place
        return "", whole

    def _free_part(self, label: _Label, whole: _Place, paper: bool = False) -> _Place:
        """Return the widest part that nothing covers, or with `paper`, nothing but hatching."""
        start, end = whole.start, whole.end
        row = label.bar.row
        cuts = [at for at in (*self._lines[row], *self._lines[None]) if start < at < end]
        covered: list[tuple[float, float]] = []
        hatched = False
        for drawn in self._drawn[row]:
            if drawn.number < label.drawn or drawn.start >= end or drawn.end <= start:
                continue
            if drawn.cover is _Cover.OPAQUE or (drawn.cover is _Cover.HATCHED and not paper):
                covered.append((drawn.start, drawn.end))
            else:
                hatched |= drawn.cover is _Cover.HATCHED
                cuts += [at for at in (drawn.start, drawn.end) if start < at < end]
        parts = free_parts(start, end, covered, cuts)
        first, last = max(parts, key=lambda part: part[1] - part[0], default=(start, start))
        return _Place(first, last, label.hatched or hatched)

    def _write(self, label: _Label, text: str, place: _Place) -> None:
        paper = {"facecolor": label.face, "edgecolor": "none", "pad": 0.8}
        self._axes.text(
            (place.start + place.end) / 2,
            label.middle,
            text,
            fontsize=label.size,
            color=ink_on(label.face),
            bbox=paper if place.paper else None,
            ha="center",
            va="center_baseline",
            zorder=2,
        )


def free_parts(
    start: float, end: float, covered: Iterable[tuple[float, float]], cuts: Iterable[float] = ()
) -> Iterator[tuple[float, float]]:
    """Yield the parts of an interval that others do not cover, divided at instants.

    Parameters
    ----------
    start, end : float
    covered : iterable of (float, float)
    cuts : iterable of float

    Examples
    --------
    >>> list(free_parts(0, 10, [(6, 8), (-1, 2), (7, 9)], cuts=[3, 8]))
    [(2, 3), (3, 6), (9, 10)]
    """
    points = list(heapq.merge(sorted(covered), sorted((cut, cut) for cut in cuts)))
    at = start
    for left, right in [*points, (end, end)]:
        if left > at:
            yield at, min(left, end)
        at = max(at, right)


def fitted_label(text: str, short: str, size: float, room: float) -> str:
    """Return a label in the longest of its forms that is no wider than `room` inches.

    Parameters
    ----------
    text : str
        In full.
    short : str
        What distinguishes a name from others; empty for texts that are not shortened.
    size : float
        Of the font, in points.
    room : float

    Returns
    -------
    str
        Empty if none fits.

    Examples
    --------
    >>> [fitted_label("FLOW.ALIGN_17", "ALIGN_17", 7.5, room) for room in (1, 0.6, 0.5, 0.1)]
    ['FLOW.ALIGN_17', 'ALIGN_17', 'ALI…_17', '']
    """
    if not text or room <= 0:
        return ""
    lengths = range(min(len(short), MOST_NAME) - 1, LEAST_NAME - 1, -1)
    if short and not lengths and text_width(short, size) > room:
        return ""
    if lengths and text_width(cut_in_middle(short, LEAST_NAME), size) > room:
        return ""
    forms = (text, short, *(cut_in_middle(short, most) for most in lengths))
    return next((form for form in forms if form and text_width(form, size) <= room), "")


def named_bar(bar: Bar, name: BarName) -> Bar:
    """Return a bar with a name."""
    return bar._replace(text=name.full, short=name.short)


def bar_names(ids: Sequence[str]) -> list[BarName]:
    """Return names for the bars of what has these identifiers.

    Parameters
    ----------
    ids : sequence of str

    Examples
    --------
    >>> bar_names(["flow_1", "flow_2"])[0], bar_names(["FLOW.RNA.ALIGN_1", "FLOW.RNA.SORT_2"])[0]
    (BarName(full='flow_1', short='1'), BarName(full='ALIGN_1', short='ALIGN_1'))
    """
    full = [cut_in_middle(name, MOST_NAME) for name in distinct_names(ids, SHORT_NAME)]
    return [BarName(*names) for names in zip(full, distinct_names(ids), strict=True)]
