"""Pages and given axes: width, titles, dots per inch, the same for every function that draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image

from dlopt.errors import NotApplicableError
from dlopt.heuristics.multistage.methods import multi_stage
from dlopt.plotting import (
    Curve,
    DataPoint,
    plot,
    plot_curves,
    plot_executed,
    plot_progress,
    plot_trace,
)
from dlopt.plotting.line_charts import MOST_CURVES
from dlopt.plotting.pages import DPI, WIDTH
from dlopt.problems.multistage import Cluster, Reservation, Task
from dlopt.problems.multistage import Instance as MixedInstance
from dlopt.result import Result, Status
from tests.plotting import test_coreservation, test_dag, test_executed, test_grid_trace
from tests.plotting.figures import FOUR, plan_of
from tests.plotting.legibility import assert_legible

TWO_CURVES = [
    (
        "response (s)",
        tuple(Curve(name, (DataPoint(1, 2.0), DataPoint(2, 3.0))) for name in ("edf", "fifo")),
    )
]
FOUND = [Result(Status.FEASIBLE, value=9, bound=4, objective="makespan", runtime_s=0.2)]

Draw = Callable[..., Figure]
DRAWINGS: dict[str, Draw] = {
    "solution": lambda *path, **page: plot(FOUR, plan_of(FOUR), *path, **page),
    "graphs": lambda *path, **page: plot(test_dag.DIAMOND, test_dag.PLAN, *path, **page),
    "shares": lambda *path, **page: plot(
        test_coreservation.INSTANCE, test_coreservation.PLAN, *path, **page
    ),
    "requests": lambda *path, **page: plot(*test_coreservation.many(500), *path, **page),
    "trace": lambda *path, **page: plot_trace(
        test_grid_trace.GRID, test_grid_trace.TRACE, *path, **page
    ),
    "executed": lambda *path, **page: plot_executed(
        test_executed.STREAM, test_executed.PLANNED, test_executed.TRACE, *path, **page
    ),
    "progress": lambda *path, **page: plot_progress(FOUND, *path, **page),
    "curves": lambda *path, **page: plot_curves(
        TWO_CURVES, *path, axis="load", **{"title": "two", **page}
    ),
}


@pytest.fixture(params=DRAWINGS)
def draw(request: pytest.FixtureRequest) -> Draw:
    return DRAWINGS[request.param]


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_a_page_is_as_wide_as_it_is_asked_to_be(draw: Draw, width: float) -> None:
    figure = draw(width=width)
    assert figure.get_size_inches()[0] == width
    if figure.legends:
        assert_legible(figure)


def test_without_a_title_there_is_no_subtitle_either_and_the_page_is_lower(draw: Draw) -> None:
    titled, bare = draw(), draw(title=None)
    assert titled.get_size_inches()[0] == bare.get_size_inches()[0] == WIDTH
    assert bare.get_size_inches()[1] < titled.get_size_inches()[1] - 0.2
    above = [text for text in titled.texts if text.get_fontweight() == "bold"]
    assert len(above) == 1
    assert not [text for text in bare.texts if text.get_fontweight() == "bold"]
    assert len(bare.texts) == len(titled.texts) - 2


def test_axes_of_another_figure_are_filled_and_stay_where_they_are(draw: Draw) -> None:
    figure = Figure(figsize=(6, 4))
    left, right = figure.subplots(1, 2)
    before = right.get_position().bounds
    assert draw(ax=right, title=None) is figure
    assert right.get_position().bounds == before and figure.axes == [left, right]
    assert tuple(figure.get_size_inches()) == (6, 4) and not figure.texts
    assert right.get_title(loc="left") == "" and right.get_xlabel()
    assert not left.has_data() and (right.collections or right.lines)


def test_the_rows_of_given_axes_share_their_height() -> None:
    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    plot(FOUR, plan_of(FOUR), ax=axes, title="a")
    assert axes.get_title(loc="left") == "a"
    bottom, top = axes.get_ylim()
    assert bottom - top == pytest.approx(axes.get_window_extent().height / figure.dpi)
    assert axes.get_legend() is not None


def test_panels_below_are_for_pages_of_their_own() -> None:
    stream = MixedInstance(
        Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 9),), (Reservation("r", 0, 4, 5, io_end=4),)
    )
    result = multi_stage(stream)
    assert len(plot(stream, result).axes) == 2
    figure = Figure()
    plot(stream, result, ax=figure.subplots())
    assert len(figure.axes) == 1


def test_dollar_signs_in_names_begin_no_formula(tmp_path: Path) -> None:
    name = "$\\frac{$"
    stream = MixedInstance(Cluster(1, tau=1, chi=1), (Task(name, 0, 1, 9),))
    plot(stream, multi_stage(stream), tmp_path / "stream.svg")
    for count in (2, MOST_CURVES + 1):
        curves = tuple(Curve(name * at, (DataPoint(0, at),)) for at in range(1, count + 1))
        plot_curves([(name, curves)], tmp_path / f"{count}.svg", axis=name, decades=True)
    figure = Figure()
    plot_curves([(name, curves)], ax=figure.subplots(), axis=name, title=name, words=[name])
    figure.savefig(tmp_path / "given.svg")
    assert len(list(tmp_path.iterdir())) == 4


def test_dots_per_inch_are_those_of_the_file(draw: Draw, tmp_path: Path) -> None:
    figure = draw(tmp_path / "a.png", width=3, dpi=50)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == tuple(int(side * 50) for side in figure.get_size_inches())
    assert DPI != 50


def test_equal_input_gives_equal_bytes(draw: Draw, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ({"width": 1}, "width must be 2.5 to 40, got 1"),
        ({"width": float("nan")}, "width must be 2.5 to 40, got nan"),
        ({"dpi": 9}, "dpi must be 10 to 2400, got 9"),
    ],
)
def test_a_page_has_a_size_that_can_be_drawn(
    draw: Draw, page: dict[str, float], message: str
) -> None:
    with pytest.raises(NotApplicableError, match=message):
        draw(**page)


def test_there_are_as_many_axes_as_panels() -> None:
    axes = Figure().subplots(2, 1)
    with pytest.raises(NotApplicableError, match="1 panels need as many axes, not 2"):
        plot_curves(TWO_CURVES, ax=axes)
    plot_curves([*TWO_CURVES, ("utilization", ())], ax=axes, axis="load")
    assert [one.get_ylabel() for one in axes] == ["response (s)", "utilization"]
    assert axes[1].get_xlabel() == "load"
