"""Many methods are dots with bars, a row a method."""

from __future__ import annotations

import numpy as np
import pytest

from dlopt.plotting import Curve, DataPoint, plot_curves
from dlopt.plotting.line_charts import MOST_CURVES
from tests.plotting.legibility import assert_legible

NAMES = [f"method-{index}" for index in range(23)]
XS = (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)


def panels(xs: tuple[float, ...] = XS, names: list[str] | None = None):
    """Return curves: the later in the list, the lower at the last abscissa."""
    curves = tuple(
        Curve(name, tuple(DataPoint(x, x * (100 - index), 2.0) for x in xs))
        for index, name in enumerate(NAMES if names is None else names)
    )
    return [("reject ratio", curves), ("utilization (%)", curves)]


def rows(figure, panel: int = 0) -> dict[str, list[tuple[float, float]]]:
    """Return the dots of each method: row and value."""
    found: dict[str, list[tuple[float, float]]] = {}
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    for container in figure.axes[panel].containers:
        for value, row in np.column_stack(container.lines[0].get_data()).tolist():
            found.setdefault(names[round(row)], []).append((row, value))
    return found


def test_more_methods_than_colours_are_rows_from_the_lowest_value() -> None:
    figure = plot_curves(panels(), axis="system load", title="many")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == NAMES[::-1]
    assert rows(figure)["method-22"] == [(0, x * 78) for x in (0.1, 0.3, 0.4, 1.0)]
    assert rows(figure, 1) == rows(figure)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [f"system load {x:g}" for x in (0.1, 0.3, 0.4, 1.0)]
    assert [axes.get_xlabel() for axes in figure.axes] == ["reject ratio", "utilization (%)"]
    few = plot_curves(panels(names=NAMES[:MOST_CURVES]))
    assert few.axes[0].get_ylabel() == "reject ratio"


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_every_name_can_be_read(width: float) -> None:
    figure = plot_curves(panels(), axis="system load", title="many", width=width)
    assert figure.get_size_inches()[0] == width
    assert_legible(figure)


def test_bars_are_intervals() -> None:
    figure = plot_curves(panels((1.0,)))
    (bar,) = figure.axes[0].containers[0].lines[2]
    assert np.asarray(bar.get_segments()[0]).tolist() == [[98, 22], [102, 22]]  # method-0
    bare = [(label, tuple(Curve(c.name, (DataPoint(1, 3),)) for c in of)) for label, of in panels()]
    assert not any(container.has_xerr for container in plot_curves(bare).axes[0].containers)


def test_of_counts_over_time_the_last_are_drawn() -> None:
    figure = plot_curves(panels(), steps=True, axis="time (s)")
    assert rows(figure)["method-0"] == [(22, 100)]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["at the end"]


def test_methods_that_are_abscissae_have_a_dot_each_and_need_no_legend() -> None:
    curves = tuple(Curve(name, (DataPoint(at, at / 40),)) for at, name in enumerate(NAMES))
    figure = plot_curves([("reject ratio", curves)], words=NAMES, axis="method")
    assert rows(figure)["method-4"] == [(4, 0.1)] and not figure.legends[0].get_texts()
    figure = plot_curves([("ms", curves[1:])], words=NAMES, decades=True)
    assert figure.axes[0].get_xscale() == "log"
