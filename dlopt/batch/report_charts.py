"""Curves over a logarithmic axis, in the coordinates of an SVG of the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dlopt.batch.metrics import StepCurve

_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7b5cd6",
    "#a6761d", "#56a0d3", "#b3003c", "#5b7f00", "#6b6b6b",
)  # fmt: skip
_DASHES = ("none", "7 4", "2 3", "9 3 2 3")
_MOST_TICK_LABELS = 8


class Frame(NamedTuple):
    """The size of a chart, and where its axes are."""

    width: int = 560
    height: int = 300
    left: int = 60
    right: int = 532
    top: int = 12
    bottom: int = 250

    def y(self, share: float) -> float:
        """Return the height at which a share is drawn."""
        return round(self.bottom - share * (self.bottom - self.top), 1)


class Curve(NamedTuple):
    """A step curve, and the pen that draws it."""

    label: str
    colour: str
    dash: str
    path: str


class Chart(NamedTuple):
    """Rising step curves: shares of runs, up to a value on a logarithmic axis.

    Parameters
    ----------
    title, axis : str
    shares : list of (int, float)
        Percentages, and the heights of their lines.
    ticks : list of (float, str or None)
        Where the lines of powers of ten are, and the texts of those that have one.
    curves : list of Curve
    """

    title: str
    axis: str
    shares: list[tuple[int, float]]
    ticks: list[tuple[float, str | None]]
    curves: list[Curve]
    frame: Frame = Frame()


def profile_chart(
    title: str,
    axis: str,
    curves: Mapping[str, StepCurve],
    *,
    least: float,
    tick: Callable[[float], str],
    pens: Sequence[str],
) -> Chart:
    """Return rising step curves over a logarithmic axis.

    Parameters
    ----------
    title, axis : str
    curves : mapping of str to StepCurve
    least : float
        What the axis begins with; smaller values are drawn there.
    tick : callable
        The text of a value on the axis.
    pens : sequence of str
        All labels of several figures, so that each has the same colour in all.

    Examples
    --------
    >>> curves = {"a": ((0.5, 1.0),)}
    >>> chart = profile_chart("gaps", "gap", curves, least=0.1, tick=str, pens=["a"])
    >>> chart.ticks, chart.curves[0].path
    ([(60.0, '0.1'), (532.0, '1.0')], 'M60 250H389.9V12H532')
    """
    frame = Frame()
    most = max((x for steps in curves.values() for x, _ in steps), default=least)
    first = math.floor(math.log10(least))
    last = max(first + 1, math.ceil(math.log10(max(most, least)) - 1e-9))

    def across(x: float) -> float:
        place = (math.log10(max(x, least)) - math.log10(least)) / (last - math.log10(least))
        return round(frame.left + place * (frame.right - frame.left), 1)

    def path(steps: StepCurve) -> str:
        drawn = "".join(f"H{across(x):g}V{frame.y(share):g}" for x, share in steps)
        return f"M{frame.left} {frame.y(0):g}{drawn}H{frame.right}"

    values = [10.0**n for n in range(first, last + 1) if 10.0**n >= least]
    every = math.ceil(len(values) / _MOST_TICK_LABELS)
    colours = {label: _pen(index) for index, label in enumerate(pens)}
    return Chart(
        title,
        axis,
        [(share, frame.y(share / 100)) for share in (0, 25, 50, 75, 100)],
        [
            (across(value), None if number % every else tick(value))
            for number, value in enumerate(values)
        ],
        [Curve(label, *colours[label], path(steps)) for label, steps in curves.items()],
    )


def _pen(index: int) -> tuple[str, str]:
    """Return the colour and the dashes of a curve."""
    colours, dashes = len(_COLOURS), len(_DASHES)
    return _COLOURS[index % colours], _DASHES[index // colours % dashes]
