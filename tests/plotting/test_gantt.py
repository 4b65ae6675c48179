"""Gantt charts: rows, sizes and texts, whatever is drawn."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dlopt.plotting import plot
from dlopt.plotting.gantt import TALLEST, Gantt
from dlopt.plotting.pages import WIDTH
from dlopt.plotting.style import (
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    brief,
    clean,
    fitted,
    instant,
    text_width,
)
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from tests.plotting.figures import (
    FOUR,
    bundle,
    extents,
    kinds,
    legend,
    lines,
    plan_of,
    random_ready,
    row_labels,
    texts,
)


def test_names_of_marks_do_not_collide() -> None:
    tight = Instance(FOUR.cluster, FOUR.ready_times, load=6, absolute_deadline=Fraction(103, 10))
    figure = plot(tight, plan_of(tight))
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if " " in text.get_text()]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])


def test_texts_in_bars_do_not_stick_out() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    figure.canvas.draw()
    axes = figure.axes[0]
    for text in axes.texts:
        if text.get_horizontalalignment() == "center":
            box = text.get_window_extent().transformed(axes.transData.inverted())
            spans = extents(figure, "computation") + extents(figure, "transmission")
            assert any(left <= box.x0 and box.x1 <= right for left, right in spans)


def test_many_rows_get_sparse_labels_and_no_texts() -> None:
    instance = random_ready(128, load=400.0)
    plan = plan_of(instance)
    figure = plot(instance, plan)
    labels = row_labels(figure)[1:-1]
    order = sorted(range(128), key=instance.ready_times.__getitem__)
    step = order.index(int(labels[1]))
    assert labels == [str(node) for node in order[: len(plan.chunks) : step]]
    assert step > 1
    assert "computation" in legend(figure)
    assert not {brief(c.load) for c in plan.chunks} & set(texts(figure))


@pytest.mark.parametrize(("nodes", "rasterised"), [(128, False), (2000, True)])
def test_size_is_capped_and_dense_bars_are_rasterised(
    nodes: int, rasterised: bool, tmp_path: Path
) -> None:
    instance = random_ready(nodes, load=nodes * 3.0)
    figure = plot(instance, plan_of(instance), tmp_path / "plan.svg")
    width, height = figure.get_size_inches()
    assert width == WIDTH
    assert height < TALLEST + 2.2
    content = (tmp_path / "plan.svg").read_text()
    assert ("<image" in content) == rasterised
    assert len(content) < 400_000


def test_twenty_thousand_nodes_are_drawn() -> None:
    nodes = 20_000
    instance = Instance(Cluster(nodes, tau=1e-5, chi=1.0), (0.0,) * nodes, load=float(nodes))
    chunks = tuple(Chunk(i, 1.0, i * 1e-5, (i + 1) * 1e-5, 1.0, 2.0) for i in range(nodes))
    figure = plot(instance, Solution(chunks))
    assert len(bundle(figure, "computation").get_paths()) == nodes
    assert figure.get_size_inches()[1] < TALLEST + 2.2
    assert len(row_labels(figure)) < 60


def test_bars_of_one_kind_are_one_collection() -> None:
    figure = plot(random_ready(128, load=400.0), plan_of(random_ready(128, load=400.0)))
    assert len(kinds(figure)) == len(set(kinds(figure))) < 10
    assert not figure.axes[0].patches


@pytest.mark.parametrize("scale", [1e-9, 1e90])
def test_any_unit_of_time_can_be_drawn(scale: float, tmp_path: Path) -> None:
    instance = Instance(Cluster(2, tau=scale, chi=3 * scale), (0.0, scale), load=1.0)
    plan = plan_of(instance)
    figure = plot(instance, plan, tmp_path / "plan.png")
    assert figure.axes[0].get_xlim()[1] == pytest.approx(2.5 * scale * 41 / 40)


def test_a_chart_without_bars_has_no_legend() -> None:
    chart = Gantt(
        [ChartRow("machine 1"), ChartRow("machine 2", faint=True)], (0, 10), axis="machines"
    )
    chart.bars(BarStyle("nothing", "nothing", ("#000000",)), [])
    chart.mark(TimeMark(20, "later"))
    figure = chart.finish("title", "subtitle", "time")
    assert legend(figure) == []
    assert figure.axes[0].get_ylabel() == "machines"
    assert lines(figure) == {}


def test_shades_alternate_as_the_bars_say() -> None:
    chart = Gantt([ChartRow("machine")], (0, 10))
    look = BarStyle("job", "job", ("#FF0000", "#0000FF"))
    chart.bars(look, [Bar(0, i, i + 1, shade=shade) for i, shade in enumerate((0, 1, 2))])
    colours = np.asarray(bundle(chart.finish("", "", "time"), "job").get_facecolor())
    assert colours[:, :3].tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_numbers_are_written_to_be_read() -> None:
    assert [brief(x) for x in (Fraction(13, 8), 1234.5, 0.1 + 0.2, 1e12)] == [
        "1.625",
        "1234",
        "0.3",
        "1e+12",
    ]
    assert [instant(t, 1e-9) for t in (2.5e-9,)] == ["2.5e-09"]
    assert instant(100.0, 250.0) == "100"
    assert clean("a\n b\x00") == "a b"
    assert fitted("wide", 10, 0.01) == ""
    assert text_width(fitted("a long text", 10, 0.5), 10) <= 0.5
