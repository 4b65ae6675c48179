"""Curves: what is drawn is what was given."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from dlopt.errors import NotApplicableError
from dlopt.plotting.line_charts import MOST_CURVES, Curve, DataPoint, plot_curves

XS = (0.1, 0.2, 0.5)
PANELS = [
    (
        "reject ratio",
        (
            Curve("edf", tuple(DataPoint(x, x / 2, x / 10) for x in XS)),
            Curve("fifo", tuple(DataPoint(x, x, None) for x in XS)),
        ),
    ),
    ("utilization", (Curve("fifo", (DataPoint(0.1, 0.4, 0.1),)),)),
]


def bars(figure: Figure, panel: int) -> dict[str, ErrorbarContainer]:
    found = {}
    for container in figure.axes[panel].containers:
        assert isinstance(container, ErrorbarContainer)
        found[str(container.get_label())] = container
    return found


def test_points_and_bars_are_where_they_belong() -> None:
    figure = plot_curves(PANELS, title="two", note="means", axis="load")
    above = bars(figure, 0)
    assert list(above) == ["edf", "fifo"]
    for name, slope in (("edf", 0.5), ("fifo", 1)):
        xs, ys = above[name].lines[0].get_data()
        assert np.asarray(ys) == pytest.approx([slope * x for x in XS])
        assert np.asarray(xs).tolist() == list(XS)
    (heights,) = above["edf"].lines[2]
    ends = [np.asarray(segment)[:, 1] for segment in heights.get_segments()]
    assert np.array(ends) == pytest.approx(np.array([[x * 0.4, x * 0.6] for x in XS]))
    assert figure.axes[-1].get_xlabel() == "load"
    assert [axes.get_ylabel() for axes in figure.axes] == ["reject ratio", "utilization"]


def test_there_are_bars_where_an_interval_is_known_and_in_the_legend_if_anywhere() -> None:
    some = Curve("some", (DataPoint(1, 1), DataPoint(2, 1, 0.5)))
    panels = [
        ("one", (some,)),
        ("other", (Curve("some", (DataPoint(1, 1),)), Curve("none", (DataPoint(1, 2),)))),
    ]
    figure = plot_curves(panels)
    assert bars(figure, 0)["some"].has_yerr
    (heights,) = bars(figure, 0)["some"].lines[2]
    ends = [segment[:, 1].tolist() for segment in heights.get_segments() if len(segment)]
    assert [pair for pair in ends if not np.isnan(pair).any()] == [[0.5, 1.5]]
    assert not bars(figure, 1)["some"].has_yerr and not bars(figure, 1)["none"].has_yerr
    for panels_shown, count in ((panels, 1), (panels[1:], 0)):
        (legend,) = plot_curves([*panels_shown, ("more", PANELS[0][1][1:])]).legends
        assert len(legend.findobj(LineCollection)) == count


def test_a_legend_has_no_bars_where_none_are_drawn() -> None:
    """One seed has no interval, and constant measures have one of no length."""
    flat = [DataPoint(x, 1.0, half) for x in XS for half in (None, 0.0)]
    curves = tuple(Curve(name, tuple(flat)) for name in ("edf", "fifo"))
    (legend,) = plot_curves([("reject ratio", curves)]).legends
    assert not legend.findobj(LineCollection)


def test_a_curve_looks_alike_in_all_panels_and_has_one_entry_in_the_legend() -> None:
    figure = plot_curves(PANELS)
    one, other = (bars(figure, panel)["fifo"].lines[0] for panel in (0, 1))
    assert one.get_color() == other.get_color() and one.get_marker() == other.get_marker()
    assert one.get_color() != bars(figure, 0)["edf"].lines[0].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["edf", "fifo"]


def test_curves_can_be_told_apart() -> None:
    curves = tuple(
        Curve(f"method {i}", (DataPoint(1, i), DataPoint(2, i))) for i in range(MOST_CURVES)
    )
    looks = [
        (bar.lines[0].get_color(), bar.lines[0].get_marker())
        for bar in bars(plot_curves([("misses", curves)]), 0).values()
    ]
    assert len({colour for colour, _ in looks}) == len({mark for _, mark in looks}) == MOST_CURVES


def test_many_curves_in_given_axes_differ_in_colour_or_marker() -> None:
    names = [f"method {i}" for i in range(5 * MOST_CURVES)]
    figure = Figure()
    points = DataPoint(1, 1), DataPoint(2, 2)
    curves = tuple(Curve(name, points) for name in names)
    plot_curves([("misses", curves)], ax=figure.subplots())
    looks = {
        (bar.lines[0].get_color(), bar.lines[0].get_marker()) for bar in bars(figure, 0).values()
    }
    assert len(looks) == len(names)


def test_files_are_whole_and_equal_for_equal_curves(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.png", "a.pdf"):
        plot_curves(PANELS, tmp_path / name, title="$\\frac{ <a>")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    ElementTree.parse(tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(NotApplicableError, match=r"must end in \.svg, \.png, \.pdf"):
        plot_curves(PANELS, tmp_path / "a.txt")


def test_nothing_to_draw_is_an_empty_panel() -> None:
    figure = plot_curves([("reject ratio", ())])
    assert bars(figure, 0) == {} and figure.legends == []


def test_counts_over_time_are_stairs() -> None:
    curves = tuple(
        Curve(name, (DataPoint(0, 0), DataPoint(2, 1), DataPoint(9, 4))) for name in ("edf", "fifo")
    )
    figure = plot_curves([("tasks waiting", curves)], axis="time", steps=True)
    stairs = [line for line in figure.axes[0].lines if line.get_label() in ("edf", "fifo")]
    assert [line.get_drawstyle() for line in stairs] == ["steps-post"] * 2
    for line in stairs:
        assert np.asarray(line.get_xdata()).tolist() == [0, 2, 9]
    # Both are seen where they fall together.
    assert stairs[0].get_linewidth() > 2 * stairs[1].get_linewidth()
    assert all(tick == int(tick) for tick in figure.axes[0].get_yticks())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["edf", "fifo"]


def test_abscissae_may_be_words() -> None:
    curves = (Curve("edf", (DataPoint(0, 0.5),)), Curve("fifo", (DataPoint(1, 0.7),)))
    figure = plot_curves([("reject ratio", curves)], axis="method", words=("edf", "fifo"))
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["edf", "fifo"]
    assert list(axes.get_xticks()) == [0, 1] and axes.get_xlim() == (-0.5, 1.5)


def test_ordinates_may_be_drawn_by_their_logarithms() -> None:
    panels = [("ms", (Curve("slow", (DataPoint(1, 0.01), DataPoint(2, 1000.0))),))]
    (axes,) = plot_curves(panels, decades=True).axes
    assert axes.get_yscale() == "log" and 0 < axes.get_ylim()[0] < 0.01
    (axes,) = plot_curves(panels).axes
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0


def test_abscissae_that_are_given_are_marked() -> None:
    curves = (Curve("edf", tuple(DataPoint(x, 1.0) for x in (0.5, 1, 2, 5, 20))),)
    (axes,) = plot_curves([("reject ratio", curves)], ticks=(0.5, 1, 2, 5, 20)).axes
    assert list(axes.get_xticks()) == [0.5, 1, 2, 5, 20]
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert texts == ["0.5", "", "2", "5", "20"]  # a mark without a number would be run into
    (axes,) = plot_curves([("reject ratio", curves)]).axes
    assert list(axes.get_xticks()) != [0.5, 1, 2, 5, 20]
