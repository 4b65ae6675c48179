"""Styles of charts: colours, kinds of bars, rows, marks, and number formats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import EngFormatter

from dlopt.arithmetic import Number
from dlopt.result import Violation

# Okabe and Ito's colours, which people with any common colour blindness can tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
INK = "#222222"
FAINT = "#666666"
"""Of texts that matter less."""
ALARM = "#B54A00"
"""Vermillion, dark enough for texts."""
GRID = "#DDDDDD"
MANY_COLOURS = (
    "#7DB8DC",
    "#F2B84B",
    "#66BFA2",
    "#E3A6C4",
    "#F3E97A",
    "#B9A3DB",
    "#E8916A",
    "#A9D9F2",
    "#C6D67E",
    "#C2A98A",
)
"""Lighter colours, for one per job."""
TITLE_SIZE = 10.0
"""Font size of titles, in points."""
TEXT_SIZE = 8.5
"""Font size of axes, in points."""
SMALL = 7.5
"""Font size of subtitles, legends, and texts in charts, in points."""


DOT = " \N{MIDDLE DOT} "
"""What separates the parts of a subtitle."""
MANY_NODES = 40
"""With more nodes than this, their labels are numbers alone, and unused ones may share a row."""
MAX_KINDS = 3
"""Kinds of violations that a subtitle names."""


class Bar(NamedTuple):
    """An interval on a row, with a text that is written if it fits.

    `shade` is the index of its colour among the faces of its style, modulo their number. `short`
    is what distinguishes a name, and is shortened further where it must; other texts have none.
    """

    row: int
    start: float
    end: float
    text: str = ""
    shade: int = 0
    short: str = ""


@dataclass(frozen=True, slots=True)
class BarStyle:
    """The style of the bars of one kind.

    Parameters
    ----------
    name : str
        Identifier of the group in an SVG.
    label : str
        In the legend; empty for none.
    faces : tuple of str
        Colours to alternate between.
    edge : str, optional
        Colour of outline and hatching; by default the face.
    hatch : str, optional
        Omitted where rows are too thin for it.
    outline : float
        Width of the outline in points.
    """

    name: str
    label: str
    faces: tuple[str, ...]
    edge: str | None = None
    hatch: str | None = None
    outline: float = 0.3


BUSY = BarStyle("busy", "not yet ready", ("#E9E9E9",), "#B4B4B4", "/////", outline=0)
"""Style of the time until a resource is ready."""
REJECTED = BarStyle("rejected", "rejected", ("#FFFFFF",), "#C9A8A0", "/////", outline=0.5)
"""Style of the windows of rejected tasks and requests."""
VIOLATION = BarStyle("violation", "violation", ("none",), VERMILLION, "xxx", outline=1.4)
"""Style of violations, over what is drawn there."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A resource; a `firm` row keeps its height, whatever the number of other rows."""

    label: str
    firm: bool = False
    faint: bool = False


class TimeMark(NamedTuple):
    """A named instant: a line over all rows, or `under` their bars; `legend` may explain it."""

    time: float
    text: str
    colour: str = INK
    dashed: bool = False
    under: bool = False
    legend: str = ""


def brief(number: Number, digits: int = 4) -> str:
    """Return a decimal for a chart; integers of up to nine digits are not abbreviated.

    Examples
    --------
    >>> brief(13 / 8), brief(123456.7), brief(2e-7 / 3)
    ('1.625', '123457', '6.667e-08')
    """
    value = float(number)
    if 10 ** (digits - 1) <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def instant(time: float, span: float) -> str:
    """Return a time with as many decimals as distinguish instants on an axis of that length.

    Examples
    --------
    >>> instant(1e9 + 24, 25.0), instant(152 / 15, 14.0), instant(805.4987, 1000.0)
    ('1000000024', '10.133', '805.5')
    """
    if not 1e-4 <= span < 1e15 or abs(time) >= 1e15:
        return f"{time:.6g}"
    text = f"{time:.{max(0, 5 - math.ceil(math.log10(span)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21, as WCAG 2 defines it.

    Examples
    --------
    >>> round(contrast("#FFFFFF", "#000000"), 3), round(contrast("#FFFFFF", "#56B4E9"), 1)
    (21.0, 2.3)
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(face: str) -> str:
    """Return the colour of a text on a face: dark or white, whichever can be read better."""
    return max((INK, "#FFFFFF"), key=lambda ink: contrast(ink, face))


def clean(text: str, most: int = 200) -> str:
    r"""Return text on one line, cut to length, without characters that a file cannot hold.

    Examples
    --------
    >>> clean("a\tb\x00 c"), len(clean("a" * 1000))
    ('a b c', 200)
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def short_names(names: Sequence[str], most: int) -> list[str]:
    """Return names for labels that tell the tasks of a workflow apart.

    If one is too long, what all have in common at their beginning is left out, up to the last
    separator; names that are still too long are cut in the middle, for they often end in a number,
    and less of it where two would then read the same.

    Parameters
    ----------
    names : sequence of str
    most : int
        Characters of a label, unless it takes more to tell them apart.

    Examples
    --------
    >>> short_names(["FLOW.RNA.ALIGN_1", "FLOW.RNA.SORT_ALL_THE_READS_2"], 12)
    ['ALIGN_1', 'SORT_…EADS_2']
    >>> short_names(["t1", "t2"], 12), short_names(["task17once", "task18once"], 6)
    (['t1', 't2'], ['task17once', 'task18once'])
    """
    whole = distinct_names(names, most)
    shown = [cut_in_middle(name, most) for name in whole]
    while len(set(shown)) < len(set(whole)):
        most *= 2
        shown = [cut_in_middle(name, most) for name in whole]
    return shown


def distinct_names(names: Sequence[str], most: int = 0) -> list[str]:
    """Return names without what all have in common, if one has more than `most` characters.

    Examples
    --------
    >>> distinct_names(["FLOW.ALIGN_1", "FLOW.SORT_2"]), distinct_names(["t_1", "t_2"], 12)
    (['ALIGN_1', 'SORT_2'], ['t_1', 't_2'])
    """
    shown = [clean(name) for name in names]
    if all(len(name) <= most for name in shown):
        return shown
    start = _common_length(min(shown), max(shown)) if len(shown) > 1 else 0
    if any(len(name) == start for name in shown):  # nothing would be left of it
        start = 0
    return [name[start:] for name in shown]


def node_labels(names: Sequence[str] | None, nodes: Sequence[int]) -> list[str]:
    """Return labels for the rows of nodes: their names, or else their numbers.

    Examples
    --------
    >>> node_labels(["left", "right"], [1, 0, 2]), node_labels(None, range(41))[-1]
    (['right', 'left', 'node 2'], '40')
    """
    named = dict(enumerate(short_names(names or (), 14)))
    word = "" if len(nodes) > MANY_NODES else "node "
    return [named.get(node, f"{word}{node}") for node in nodes]


def _common_length(one: str, other: str) -> int:
    """Return the length of what two names both begin with, up to the last separator."""
    pairs = zip(one, other, strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return max(one.rfind(separator, 0, same) for separator in "._-:/ ") + 1


def cut_in_middle(name: str, most: int) -> str:
    """Return a name of at most so many characters, without its middle.

    Examples
    --------
    >>> cut_in_middle("SORT_ALL_17", 8), cut_in_middle("SORT", 8)
    ('SOR…L_17', 'SORT')
    """
    head = (most - 1) // 2
    tail = most - 1 - head
    return name if len(name) <= most else f"{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[-tail:]}"


def subtitle(parts: Iterable[str], violations: Sequence[Violation], note: str) -> str:
    """Return the subtitle of a chart; the kinds of violations are named.

    A part is left out if the note begins with the same measure: the objective.

    Examples
    --------
    >>> print(subtitle(["makespan 3"], [Violation("deadline", "task a")], "heft, unsound"))
    makespan 3 · 1 violation (deadline) · heft, unsound
    >>> print(subtitle(["load 7", "weight 3"], [], "accepted weight 3 · exact, optimal"))
    load 7 · accepted weight 3 · exact, optimal
    """
    stated = f" {note}".partition(DOT)[0].rpartition(" ")[0]
    measures = ((part, part.rpartition(" ")[0] or part) for part in parts if part)
    shown = [part for part, measure in measures if not stated.endswith(f" {measure}")]
    if violations:
        kinds = list(dict.fromkeys(violation.kind for violation in violations))
        named = ", ".join(kinds[:MAX_KINDS]) + ", ..." * (len(kinds) > MAX_KINDS)
        count = len(violations)
        shown.append(f"{count:,} violation{'s' * (count > 1)} ({named})")
    return DOT.join([*shown, *([clean(note, 80)] if note else [])])


def si(number: Number) -> str:
    """Return a number in short, from 10,000 on with an SI prefix.

    Examples
    --------
    >>> si(98262176), si(999999), si(1500), si(0.5)
    ('98.3M', '1M', '1500', '0.5')
    """
    value = float(number)
    if not 1e4 <= abs(value) < 1e15:
        return brief(value)
    return EngFormatter(sep="")(float(f"{value:.3g}"))


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72


def fitted(text: str, size: float, room: float) -> str:
    """Return as much of a text as fits into `room` inches."""
    whole = text
    while text and text_width(text, size) > room:
        text = text[:-2] + "\N{HORIZONTAL ELLIPSIS}" if len(text) > 2 else ""
    return text if text == whole else text[:-1].rstrip() + text[-1:]


def broken_lines(text: str, size: float, room: float, most: int = 2) -> list[str]:
    """Return a text in lines of at most `room` inches; the last one is cut if need be."""
    words, lines = text.split(), list[str]()
    while words and len(lines) < most - 1:
        counts = range(len(words), 1, -1)
        fits = (n for n in counts if text_width(" ".join(words[:n]), size) <= room)
        count = next(fits, 1)
        lines.append(" ".join(words[:count]))
        words = words[count:]
    return [*lines, fitted(" ".join(words), size, room)] if words else lines
