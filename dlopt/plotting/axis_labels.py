"""Titles and numbers of axes: units in brackets, powers of ten, decades."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter

from dlopt.plotting.style import FAINT, GRID, INK, TEXT_SIZE, clean

_CHARACTER = 0.062
"""Mean width of a letter, in inches."""
_DIGIT = 0.075
"""Width of a digit of the tick labels, in inches."""
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def with_unit(name: str, unit: str) -> str:
    """Return a name with its unit in brackets, if there is one; long units are cut.

    Examples
    --------
    >>> with_unit("time", "s"), with_unit("load", "")
    ('time (s)', 'load')
    """
    unit = clean(unit, 40)
    return f"{name} ({unit})" if unit else name


def tick_exponent(least: float, most: float) -> int:
    """Return the power of ten in which an axis is labelled, a multiple of three.

    It is 0 unless its numbers would have more than six digits, or many zeros after the point. A
    short range far from zero, such as an hour in seconds since 1970, keeps all its digits.

    Examples
    --------
    >>> tick_exponent(0, 2e6), tick_exponent(0, 999), tick_exponent(0, 3e-7)
    (6, 0, -9)
    >>> tick_exponent(1.7e9, 1.7e9 + 3600)
    0
    """
    largest = max(abs(least), abs(most))
    if largest == 0 or 1e-3 <= largest < 1e6 or most - least < largest / 1000:
        return 0
    return 3 * math.floor(math.log10(largest) / 3)


def scaled_label(label: str, exponent: int) -> str:
    """Return the title of an axis in units of a power of ten.

    Examples
    --------
    >>> scaled_label("time (s)", 6), scaled_label("time", -3), scaled_label("time", 0)
    ('time (10⁶ s)', 'time (10⁻³)', 'time')
    """
    if exponent == 0:
        return label
    power = _power_of_ten(exponent)
    name, bracket, unit = label.rpartition(" (")
    return f"{name} ({power} {unit}" if bracket and unit.endswith(")") else f"{label} ({power})"


def style_axes(axes: Axes, axis: Literal["x", "both"] = "both", size: float = TEXT_SIZE) -> None:
    """Draw a light grid and faint spines, and set colours and font size of the numbers."""
    axes.grid(axis=axis, color=GRID, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis=axis, labelsize=size, color=FAINT, labelcolor=INK, length=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(FAINT)


def label_numbers(axis: Axis, label: str) -> None:
    """Write the title of a linear axis and its numbers, which have no offset and few digits."""
    least, most = sorted(axis.get_view_interval())
    exponent = tick_exponent(least, most)
    digits = 9 if exponent else 15
    axis.set_major_formatter(lambda tick, _: f"{tick / 10.0**exponent:.{digits}g}")
    axis.set_label_text(scaled_label(label, exponent), fontsize=TEXT_SIZE, color=INK)
    axis.label.set_parse_math(False)


def label_ordinates(axes: Axes, label: str, height: float) -> None:
    """Write title and numbers of the ordinate of a panel of some height, in inches."""
    if axes.get_yscale() == "log":
        _label_decades(axes.yaxis)
        axes.set_ylabel(label, fontsize=TEXT_SIZE, color=INK, parse_math=False)
    else:
        label_numbers(axes.yaxis, label)
    axes.yaxis.label.set_text("\n".join(lines_of_label(axes.get_ylabel(), height)))


def lines_of_label(label: str, height: float) -> list[str]:
    """Return the lines in which a title is not longer than its panel, units in one piece."""
    whole = re.sub(r"\(.*?\)", lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), label)
    lines = textwrap.wrap(whole, max(1, int(height / _CHARACTER)))
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def tick_labels(ticks: Sequence[float], inches: float) -> list[str]:
    """Return labels of ticks, empty where they would overlap the one before.

    Parameters
    ----------
    ticks : sequence of float
    inches : float
        Length of a unit of the axis.
    """
    texts: list[str] = []
    end = float("-inf")
    for tick in ticks:
        text = f"{tick:g}"
        half = _DIGIT * len(text) / 2
        clear = tick * inches - half > end
        texts.append(text if clear else "")
        end = tick * inches + half + _DIGIT if clear else end
    return texts


def _label_decades(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis: of few decades also those between them."""
    least, most = axis.get_view_interval()
    between = (1.0, 2.0, 5.0) if math.log10(most / least) < 2.5 else (1.0,)
    axis.set_major_locator(LogLocator(subs=between, numticks=8))
    axis.set_major_formatter(lambda tick, _: decimal(tick))
    axis.set_minor_formatter(NullFormatter())


def decimal(number: float) -> str:
    """Return a positive number, as a power of ten where that is shorter.

    Examples
    --------
    >>> [decimal(number) for number in (0.01, 200, 1e6, 1e-5)]
    ['0.01', '200', '10⁶', '10⁻⁵']
    """
    if 1e-3 <= number < 1e5:
        return f"{number:g}"
    exponent = math.floor(math.log10(number) + 1e-9)
    factor = f"{number / 10.0**exponent:.3g}"
    power = _power_of_ten(exponent)
    return power if factor == "1" else f"{factor}\N{MULTIPLICATION SIGN}{power}"


def _power_of_ten(exponent: int) -> str:
    return "10" + str(exponent).translate(_SUPERSCRIPTS)
