"""Files of pictures: whole or absent, and equal for equal plans."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.plotting import DPI, plot, plot_curves, plot_progress
from dlopt.plotting.pages import WIDTH
from dlopt.problems.iit import Instance, Solution
from dlopt.result import Result, Status
from tests.plotting.figures import (
    FOUR,
    boxes,
    bundle,
    plan_of,
)


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
                x, y = axes.transData.transform((left + (right - left) / 8, (high + low) / 2))
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
        (FOUR, nothing, r"no schedule to draw: the result is infeasible \(too late\)"),
        (FOUR, Solution(()), "no schedule to draw: it has no chunk"),
        (FOUR, "a plan", "a str is no solution of iit"),
        (Other(), plan_of(FOUR), "no chart of 'chess', only of iit"),
        ("a load", plan_of(FOUR), "no chart of 'str'"),
    ):
        with pytest.raises(NotApplicableError, match=message):
            plot(instance, plan)  # type: ignore[arg-type]


DRAWN = Figure().add_subplot()
REMOVED = Figure().add_subplot()
REMOVED.remove()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"ax": 3}, "ax must be axes of matplotlib, got 3"),
        ({"ax": DRAWN.figure}, "ax must be axes of matplotlib, got Figure"),
        ({"ax": [DRAWN]}, r"ax must be axes of matplotlib, got \["),
        ({"ax": Figure().add_subplot(projection="polar")}, "plane axes of a figure, got Polar"),
        ({"ax": REMOVED}, "ax must be plane axes of a figure, got Axes"),
        ({"title": 3}, "title must be a text or None, got 3"),
        ({"title": b"x"}, "title must be a text or None, got b'x'"),
        ({"width": "7"}, "width must be 2.5 to 40, got '7'"),
        ({"dpi": None}, "dpi must be 10 to 2400, got None"),
        ({"path": 3}, "a path is a text or a Path, not a int"),
        ({"violations": 3}, "violations are a list of Violation, got 3"),
        ({"violations": ["late"]}, "violations are a list of Violation, got 'late'"),
    ],
)
def test_arguments_of_other_types_are_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(NotApplicableError, match=text):
        plot(FOUR, plan_of(FOUR), **given)


def test_curves_and_results_of_others_are_refused() -> None:
    with pytest.raises(NotApplicableError, match="ax must be axes of matplotlib, got 3"):
        plot_curves([], ax=3)  # type: ignore[arg-type]
    for results in (3, None, ["x"], [None]):
        with pytest.raises(NotApplicableError, match="results are a list of Result, got"):
            plot_progress(results)  # type: ignore[arg-type]
    with pytest.raises(NotApplicableError, match="no chart of 'str'"):
        plot("a load", Result(Status.FEASIBLE, plan_of(FOUR)))  # type: ignore[arg-type]


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
