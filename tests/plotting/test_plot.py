"""Pictures of plans: what is drawn is what the plan says, and files are whole or absent."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from PIL import Image

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.heuristics.iit.methods import edf_iit_2, epr, opr
from dlopt.models.iit.methods import exact_plan
from dlopt.plotting import DPI, plot
from dlopt.plotting.gantt import TALLEST, WIDTH, Gantt
from dlopt.plotting.looks import Bar, Look, Mark, Row, brief, clean, fitted, instant, text_width
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution, violations
from dlopt.result import Result, Status

FOUR = Instance(
    Cluster(4, tau=1, chi=3),
    (0, 2, 5, 9),
    load=6,
    absolute_deadline=14,
    name="four nodes",
    units="minutes",
)
SETUPS = Instance(
    Cluster(4, tau=1, chi=3, theta_cm=Fraction(1, 2), theta_cp=1), (9, 0, 5, 2), load=16
)


def random_ready(nodes: int, load: float, chi: float = 100) -> Instance:
    rng = random.Random(nodes)
    ready = tuple(rng.uniform(0, 1000) for _ in range(nodes))
    return Instance(Cluster(nodes, tau=1.0, chi=chi), ready, load=load)


def plan_of(instance: Instance) -> Solution:
    solution = edf_iit_2(instance).solution
    assert solution is not None
    return solution


def bundle(figure: Figure, gid: str) -> PolyCollection:
    (found,) = [c for c in figure.axes[0].collections if c.get_gid() == gid]
    assert isinstance(found, PolyCollection)
    return found


def kinds(figure: Figure) -> list[str | None]:
    return [c.get_gid() for c in figure.axes[0].collections]


def boxes(figure: Figure, gid: str) -> np.ndarray:
    """Return left, right, upper and lower end of each bar of a kind."""
    corners = np.array([np.asarray(path.vertices)[:4] for path in bundle(figure, gid).get_paths()])
    x, y = corners[:, :, 0], corners[:, :, 1]
    return np.column_stack([x.min(1), x.max(1), y.min(1), y.max(1)])


def extents(figure: Figure, gid: str) -> list[tuple[float, float]]:
    return sorted((float(left), float(right)) for left, right, *_ in boxes(figure, gid))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def row_labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def lines(figure: Figure) -> dict[str, float]:
    return {
        str(line.get_label()): float(np.asarray(line.get_xdata())[0])
        for line in figure.axes[0].lines
        if not str(line.get_label()).startswith("_")
    }


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in (*figure.texts, *figure.axes[0].texts)]


@pytest.mark.parametrize("nodes", [1, 4, 128, 2000])
def test_bars_are_the_times_of_the_chunks(nodes: int) -> None:
    instance = random_ready(nodes, load=nodes * 3.0)
    plan = plan_of(instance)
    figure = plot(instance, plan)
    sent = sorted((c.transmission_start, c.transmission_end) for c in plan.chunks)
    computed = sorted((c.computation_start, c.computation_end) for c in plan.chunks)
    assert extents(figure, "transmission") == sent
    assert extents(figure, "receive") == sent
    assert extents(figure, "computation") == computed


def test_fractions_are_drawn_where_they_are() -> None:
    plan = plan_of(FOUR)
    assert any(isinstance(c.computation_end, Fraction) for c in plan.chunks)
    expected = sorted((float(c.computation_start), float(c.computation_end)) for c in plan.chunks)
    assert extents(plot(FOUR, plan), "computation") == expected


def test_rows_stand_in_the_order_of_ready_times_under_the_channel() -> None:
    figure = plot(SETUPS, plan_of(SETUPS))
    assert row_labels(figure) == ["channel", "node 1", "node 3", "node 2", "node 0"]
    bottom, top = figure.axes[0].get_ylim()
    assert bottom > top == 0


def test_bars_of_a_node_lie_in_its_row_and_rows_do_not_overlap() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    received, computed = boxes(figure, "receive"), boxes(figure, "computation")
    assert np.array_equal(received[:, 2:], computed[:, 2:])
    assert (np.diff(received[:, 2]) > 0).all()
    assert (received[1:, 2] > received[:-1, 3]).all()
    assert boxes(figure, "transmission")[:, 3].max() < received[:, 2].min()


def test_before_its_ready_time_a_node_is_busy() -> None:
    assert extents(plot(FOUR, plan_of(FOUR)), "busy") == [(0, 2), (0, 5), (0, 9)]


def test_waiting_for_the_last_node_is_inserted_idle_time() -> None:
    result = opr(SETUPS, assignment="all")
    assert result.solution is not None
    figure = plot(SETUPS, result)
    starts = {c.node: float(c.transmission_start) for c in result.solution.chunks}
    waits = ((float(SETUPS.ready_times[node]), start) for node, start in starts.items())
    assert extents(figure, "idle") == sorted(wait for wait in waits if wait[1] > wait[0])


def test_a_gap_between_receiving_and_computing_is_idle_too() -> None:
    instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=2)
    plan = Solution((Chunk(0, 1, 0, 1, 3, 4), Chunk(0, 1, 5, 6, 6, 7)))
    assert extents(plot(instance, plan), "idle") == [(1, 3), (4, 5)]


def test_after_its_end_a_node_is_done() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=4)
    figure = plot(instance, epr(instance))
    assert extents(figure, "done") == [(4, 6)]
    assert "done" in legend(figure)


def test_setups_lead_transmissions_and_computations() -> None:
    plan = plan_of(SETUPS)
    figure = plot(SETUPS, plan)
    cm = sorted(
        (float(c.transmission_start), float(c.transmission_start) + 0.5) for c in plan.chunks
    )
    cp = sorted((float(c.computation_start), float(c.computation_start) + 1) for c in plan.chunks)
    assert extents(figure, "setup-transmission") == sorted(cm * 2)
    assert extents(figure, "setup-computation") == cp
    assert {"transmission set-up", "computation set-up"} <= set(legend(figure))


def test_without_setups_there_are_none() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    assert legend(figure) == [
        "not yet ready",
        "inserted idle time",
        "transmission",
        "computation, with its load",
    ]
    assert kinds(figure) == ["busy", "idle", "transmission", "receive", "computation"]


def test_installments_are_bars_on_the_same_row() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    result = exact_plan(instance, installments=2)
    assert result.solution is not None
    figure = plot(instance, result)
    assert len(extents(figure, "computation")) == len(result.solution.chunks) > 2
    assert len(np.unique(boxes(figure, "computation")[:, 2])) == 2
    assert any(f"in {len(result.solution.chunks)} chunks" in text for text in texts(figure))


def test_completion_and_deadline_are_lines_with_their_values() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    assert lines(figure) == {"completion 10.133": pytest.approx(152 / 15), "deadline 14": 14}
    assert {"completion 10.133", "deadline 14"} <= set(texts(figure))
    assert figure.axes[0].get_xlim()[1] > 14


def test_without_a_deadline_there_is_no_line() -> None:
    plan = plan_of(SETUPS)
    (text,) = lines(plot(SETUPS, plan))
    completion = float(max(c.computation_end for c in plan.chunks))
    assert text == f"completion {completion:.3f}"


def test_a_distant_deadline_is_named_but_does_not_squeeze_the_plan() -> None:
    far = Instance(FOUR.cluster, FOUR.ready_times, load=6, absolute_deadline=10_000)
    figure = plot(far, plan_of(far))
    assert "deadline 10000 \N{RIGHTWARDS ARROW}" in texts(figure)
    assert len(lines(figure)) == 1
    assert figure.axes[0].get_xlim()[1] < 12


def test_time_since_an_epoch_does_not_start_at_zero() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (10**9, 10**9 + 3), load=8)
    left, right = plot(instance, plan_of(instance)).axes[0].get_xlim()
    assert 10**9 - 1 < left < 10**9 < right < 10**9 + 20


def test_names_of_marks_do_not_collide() -> None:
    tight = Instance(FOUR.cluster, FOUR.ready_times, load=6, absolute_deadline=Fraction(103, 10))
    figure = plot(tight, plan_of(tight))
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if " " in text.get_text()]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])


def test_titles_tell_name_units_and_exact_values() -> None:
    figure = plot(FOUR, edf_iit_2(FOUR))
    title, subtitle = (text.get_text() for text in figure.texts)
    assert title == "four nodes"
    assert subtitle.split(" \N{MIDDLE DOT} ") == [
        "completion 152/15",
        "4 of 4 nodes",
        "load 6",
        "edf-iit-2, optimal",
    ]
    assert figure.axes[0].get_xlabel() == "time (minutes)"
    assert plot(FOUR, plan_of(FOUR), title="another").texts[0].get_text() == "another"


def test_a_result_draws_as_its_solution() -> None:
    result, plan = edf_iit_2(FOUR), plan_of(FOUR)
    drawn, plain = plot(FOUR, result), plot(FOUR, plan)
    for gid in ("busy", "idle", "transmission", "receive", "computation"):
        assert extents(drawn, gid) == extents(plain, gid)


def test_bars_carry_their_load_where_it_fits() -> None:
    found = texts(plot(FOUR, plan_of(FOUR)))
    assert {"2.533", "1.9", "1.283"} <= set(found)
    assert "0.2833" not in found  # its bar is too short
    assert {"0", "1", "2", "3"} <= set(found)  # on the channel: who is served


def test_texts_in_bars_do_not_stick_out() -> None:
    figure = plot(FOUR, plan_of(FOUR))
    figure.canvas.draw()
    axes = figure.axes[0]
    for text in axes.texts:
        if text.get_horizontalalignment() == "center":
            box = text.get_window_extent().transformed(axes.transData.inverted())
            spans = extents(figure, "computation") + extents(figure, "transmission")
            assert any(left <= box.x0 and box.x1 <= right for left, right in spans)


def test_few_nodes_without_load_are_shown_pale() -> None:
    instance = Instance(Cluster(3, tau=1, chi=1), (0, 5, 50), load=4)
    figure = plot(instance, Solution((Chunk(0, 4, 0, 4, 4, 8),)))
    assert row_labels(figure) == ["channel", "node 0", "node 1", "node 2"]
    assert "gets no load" in legend(figure)
    assert extents(figure, "busy-unused") == [(0, 5), (0, 8)]
    assert extents(figure, "unused") == [(5, 8)]
    assert legend(figure).count("not yet ready") == 1
    colours = [label.get_color() for label in figure.axes[0].get_yticklabels()]
    assert colours[1] != colours[2] == colours[3]


def test_many_nodes_without_load_share_one_row() -> None:
    instance = random_ready(128, load=50)
    plan = plan_of(instance)
    used = len({c.node for c in plan.chunks})
    figure = plot(instance, plan)
    assert 0 < used < 128
    assert f"{128 - used} nodes unused" in texts(figure)
    assert (row_labels(figure)[0], row_labels(figure)[-1]) == ("channel", "unused")
    assert len(np.unique(boxes(figure, "computation")[:, 2])) == used
    assert len(boxes(figure, "summary")) == 1


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


def test_hundred_thousand_nodes_are_drawn() -> None:
    nodes = 100_000
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


def test_what_an_unsound_plan_breaks_is_outlined() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=4, absolute_deadline=5)
    plan = Solution((Chunk(0, 2, 0, 2, 2, 4), Chunk(1, 2, 1, 3, 4, 6), Chunk(7, 1, 3, 4, 4, 5)))
    found = violations(instance, plan)
    figure = plot(instance, Result(Status.UNSOUND, plan, violations=found, method="x:literal"))
    assert {v.kind for v in found} == {"unknown-node", "channel-overlap", "deadline"}
    assert extents(figure, "violation") == [(1, 2), (5, 6)]
    assert "breaks a rule" in legend(figure)
    assert "3 broken rules" in figure.texts[1].get_text()
    assert row_labels(figure)[-1] == "node 7"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".PNG"])
def test_equal_input_gives_equal_bytes(suffix: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        plot(FOUR, plan_of(FOUR), tmp_path / f"{name}{suffix}")
    one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert sorted(file.stem for file in tmp_path.iterdir()) == ["one", "two"]


def test_svg_is_the_same_in_another_process_and_under_other_settings(tmp_path: Path) -> None:
    plot(FOUR, plan_of(FOUR), tmp_path / "here.svg")
    code = (
        "import matplotlib, sys\n"
        "matplotlib.rcParams.update({'font.size': 30, 'axes.facecolor': 'red'})\n"
        "from tests.plotting.test_plot import FOUR, plan_of\n"
        "from dlopt.plotting import plot\n"
        "plot(FOUR, plan_of(FOUR), sys.argv[1])\n"
    )
    root = Path(__file__).parents[2]
    there = tmp_path / "there.svg"
    subprocess.run([sys.executable, "-c", code, str(there)], check=True, cwd=root)
    assert there.read_bytes() == (tmp_path / "here.svg").read_bytes()


def test_files_are_what_their_ending_says(tmp_path: Path) -> None:
    for suffix in ("svg", "png", "pdf"):
        figure = plot(FOUR, plan_of(FOUR), tmp_path / f"plan.{suffix}")
    root = ElementTree.parse(tmp_path / "plan.svg").getroot()
    groups = {item.get("id") for item in root.iter("{http://www.w3.org/2000/svg}g")}
    assert {"busy", "idle", "transmission", "receive", "computation"} <= groups
    assert b"<dc:date>" not in (tmp_path / "plan.svg").read_bytes()
    with Image.open(tmp_path / "plan.png") as picture:
        assert picture.size == tuple(round(side * DPI) for side in figure.get_size_inches())
    assert (tmp_path / "plan.pdf").read_bytes().startswith(b"%PDF")


def test_colours_stand_where_the_bars_are(tmp_path: Path) -> None:
    figure = plot(FOUR, plan_of(FOUR), tmp_path / "plan.png")
    axes = figure.axes[0]
    figure.set_dpi(DPI)
    with Image.open(tmp_path / "plan.png") as picture:
        for gid in ("receive", "computation", "idle"):
            colours = np.asarray(bundle(figure, gid).get_facecolor())
            for i, (left, right, high, low) in enumerate(boxes(figure, gid)):
                # Off the middle, where the text of the bar stands.
                x, y = axes.transData.transform((left + (right - left) / 20, (high + low) / 2))
                pixel = np.asarray(picture.convert("RGB"))[-1 - int(y), int(x)].astype(int)
                expected = np.round(colours[i % len(colours), :3] * 255)
                assert np.abs(pixel - expected).max() <= 2, (gid, i)


def test_an_old_file_stays_whole_when_drawing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "plan.svg"
    target.write_text("old")

    def fail(self: Figure, file: object, **options: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise RuntimeError("the pen broke")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError, match="the pen broke"):
        plot(FOUR, plan_of(FOUR), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_old_file_stays_whole_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "plan.svg"
    target.write_text("old")

    def full(source: object, destination: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NotApplicableError, match="No space left on device"):
        plot(FOUR, plan_of(FOUR), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_old_file_is_replaced_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "plan.svg", tmp_path / "link.svg"
    target.write_text("old")
    link.symlink_to(target)
    plot(FOUR, plan_of(FOUR), link)
    assert link.is_symlink()
    assert target.read_text().startswith("<?xml")
    (tmp_path / "by_hand").write_text("")
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(
        (tmp_path / "by_hand").stat().st_mode
    )


@pytest.mark.parametrize("name", ["plan.jpg", "plan", "", "plan.svg.gz", ".svg"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match=r"must end in \.svg, \.png, \.pdf"):
        plot(FOUR, plan_of(FOUR), tmp_path / name if name else "")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotApplicableError, match="its folder does not exist"):
        plot(FOUR, plan_of(FOUR), tmp_path / "nowhere" / "plan.svg")
    (tmp_path / "folder.svg").mkdir()
    for name in ("folder.svg", "a" * 300 + ".svg", "nul\0.svg"):
        with pytest.raises(NotApplicableError, match="cannot write"):
            plot(FOUR, plan_of(FOUR), f"{tmp_path}/{name}")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.svg"]


def test_what_is_no_plan_is_refused() -> None:
    class Other:
        problem = "chess"

    nothing: Result[Solution] = Result(Status.INFEASIBLE, reason="too late")
    for instance, plan, message in (
        (FOUR, nothing, r"no plan to draw: the result is infeasible \(too late\)"),
        (FOUR, Solution(()), "no plan to draw: it has no chunk"),
        (FOUR, "a plan", "a str is no plan of iit"),
        (Other(), plan_of(FOUR), "no drawing of 'chess', only of iit"),
        ("a load", plan_of(FOUR), "no drawing of 'str'"),
    ):
        with pytest.raises(NotApplicableError, match=message):
            plot(instance, plan)  # type: ignore[arg-type]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(FOUR)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtraError, match=r"matplotlib: pip install 'dlopt\[plot\]'"):
        plot(FOUR, plan)


def test_neither_pyplot_nor_settings_are_touched() -> None:
    code = (
        "import sys, dlopt.plotting\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from tests.plotting.test_plot import FOUR, plan_of\n"
        "import matplotlib\n"
        # To look at the setting of the backend alone would import pyplot.
        "before = matplotlib.rcParams.copy()\n"
        "dlopt.plotting.plot(FOUR, plan_of(FOUR))\n"
        "assert matplotlib.rcParams.copy() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
    assert matplotlib.rcParams["svg.hashsalt"] != "dlopt"


def test_strange_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    instance = Instance(
        FOUR.cluster, FOUR.ready_times, load=6, name="$\\frac{ <a> & \x00\x07\n" + "W" * 500
    )
    figure = plot(instance, plan_of(instance), tmp_path / "plan.svg")
    ElementTree.parse(tmp_path / "plan.svg")
    title = figure.texts[0]
    assert title.get_text().startswith("$\\frac{ <a> & WWW")
    assert title.get_text().endswith("W\N{HORIZONTAL ELLIPSIS}")
    assert title.get_window_extent().x1 <= WIDTH * figure.dpi


@pytest.mark.parametrize("scale", [1e-9, 1e90])
def test_any_unit_of_time_can_be_drawn(scale: float, tmp_path: Path) -> None:
    instance = Instance(Cluster(2, tau=scale, chi=3 * scale), (0.0, scale), load=1.0)
    plan = plan_of(instance)
    figure = plot(instance, plan, tmp_path / "plan.png")
    assert figure.axes[0].get_xlim()[1] == pytest.approx(2.5 * scale * 41 / 40)


def test_a_chart_without_bars_has_no_legend() -> None:
    chart = Gantt([Row("machine 1"), Row("machine 2", faint=True)], (0, 10), axis="machines")
    chart.bars(Look("nothing", "nothing", ("#000000",)), [])
    chart.mark(Mark(20, "later"))
    figure = chart.finish("title", "subtitle", "time")
    assert legend(figure) == []
    assert figure.axes[0].get_ylabel() == "machines"
    assert lines(figure) == {}


def test_shades_alternate_as_the_bars_say() -> None:
    chart = Gantt([Row("machine")], (0, 10))
    look = Look("job", "job", ("#FF0000", "#0000FF"))
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
