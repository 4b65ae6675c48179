"""Numbers and titles of axes: few digits, whole counts, decades, units in one piece."""

from __future__ import annotations

import pytest

from dlopt.plotting import Curve, DataPoint, plot, plot_curves
from dlopt.plotting.axis_labels import lines_of_label, tick_labels
from dlopt.plotting.line_charts import Panel
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import Units
from tests.plotting.figures import plan_of


def numbers(axis) -> list[str]:
    axis.figure.draw_without_rendering()
    assert axis.get_offset_text().get_text() == ""
    least, most = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for at, label in ticks if least <= at <= most and label.get_text()]


def panel(label: str, *points: tuple[float, float]) -> Panel:
    return label, (Curve("edf", tuple(DataPoint(*point) for point in points)),)


@pytest.mark.parametrize(
    ("unit", "scale", "title"),
    [
        ("s", 1, "time (s)"),
        ("", 1, "time"),
        ("s", 10**6, "time (10⁶ s)"),
        ("", 10**6, "time (10⁶)"),
        ("s", 1e-6, "time (10⁻⁶ s)"),
        ("time in seconds, " * 9, 1, "time (time in seconds, time in seconds, time …)"),
    ],
)
def test_the_unit_of_time_stands_in_brackets_with_its_power_of_ten(
    unit: str, scale: float, title: str
) -> None:
    cluster = Cluster(2, tau=scale, chi=3 * scale)
    instance = Instance(cluster, (0, scale), load=6, units=Units(unit))
    axes = plot(instance, plan_of(instance)).axes[0]
    assert axes.get_xlabel() == title
    assert numbers(axes.xaxis) == ["0", "2", "4", "6", "8", "10", "12", "14"]


def test_an_hour_long_after_zero_keeps_its_digits() -> None:
    (axes,) = plot_curves([panel("load", (1.7e9, 1), (1.7e9 + 3600, 2))], axis="time (s)").axes
    assert axes.get_xlabel() == "time (s)" and "1700002000" in numbers(axes.xaxis)


def test_large_ordinates_have_a_power_of_ten_too() -> None:
    (axes,) = plot_curves([panel("data (KB)", (1, 0), (2, 4e6))]).axes
    assert axes.get_ylabel() == "data (10⁶ KB)" and "4" in numbers(axes.yaxis)


def test_counts_have_whole_numbers() -> None:
    (axes,) = plot_curves([panel("tasks", (1, 1), (2, 3), (3, 2))], axis="queue length").axes
    assert numbers(axes.xaxis) == ["1", "2", "3"] and numbers(axes.yaxis) == ["0", "1", "2", "3"]
    (axes,) = plot_curves([panel("ratio", (0.5, 0.1), (1, 0.2))]).axes
    assert "0.6" in numbers(axes.xaxis)


def test_an_axis_begins_at_zero_unless_that_would_flatten_the_curve() -> None:
    (flat,) = plot_curves([panel("response", (1, 1000), (2, 1010))]).axes
    assert flat.get_ylim()[0] > 900
    (low,) = plot_curves([panel("ratio", (1, 0.1), (2, 0.9))]).axes
    (constant,) = plot_curves([panel("ratio", (1, 1.0), (2, 1.0))]).axes
    assert low.get_ylim()[0] == constant.get_ylim()[0] == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.002, 20.0), ["0.01", "0.1", "1", "10"]),
        ((0.2, 1.2), ["0.2", "0.5", "1"]),
        ((1.0, 1e7), ["1", "10", "100", "1000", "10000", "10⁵", "10⁶", "10⁷"]),
    ],
)
def test_decades_have_few_plain_numbers(values: tuple[float, float], expected: list[str]) -> None:
    (axes,) = plot_curves([panel("ms", *enumerate(values))], decades=True).axes
    assert numbers(axes.yaxis) == expected


def test_long_titles_are_broken_but_not_their_units() -> None:
    assert lines_of_label("data to other LANs (KB per LAN)", 1.2) == [
        "data to other LANs",
        "(KB per LAN)",
    ]
    figure = plot_curves([panel("data to other LANs (KB per LAN)", (1, 2))] * 6)
    for axes in figure.axes:
        figure.draw_without_rendering()
        assert axes.yaxis.label.get_window_extent().x0 >= 0


def test_labels_of_ticks_that_are_too_close_are_left_out() -> None:
    assert tick_labels((0.5, 1, 2, 5), 1.0) == ["0.5", "1", "2", "5"]
    assert tick_labels((0.5, 1, 2, 5), 0.2) == ["0.5", "", "2", "5"]
