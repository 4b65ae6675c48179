"""The size of pictures and their titles, for every command that draws."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from PIL import Image

from dlopt import io
from dlopt.result import Result
from tests.cli.conftest import Command
from tests.instance_files import ROOT

THREE = str(ROOT / "instances" / "iit" / "three-nodes.json")
STREAM = str(ROOT / "instances" / "admission" / "two-of-three.json")
GRID = ("simulate", "grid", "--set", "lans=2", "--set", "nodes=3", "--tasks", "3")
DRAWING = {
    "solve": ("solve", THREE, "-m", "opr", "--plot"),
    "progress": ("solve", THREE, "--plot-progress"),
    "plot": ("plot", THREE, "result.json", "--out"),
    "one run": ("simulate", "cluster", "--file", STREAM, "--plot"),
    "executed": ("simulate", "cluster", "--file", STREAM, "--factors", "1,1.5", "--plot"),
    "runs": ("simulate", "cluster", "--file", STREAM, "--methods", "mcdf,edf-iit-2", "--plot"),
    "loads": (
        *("simulate", "cluster", "--seeds", "2", "--set", "horizon=20000", "--processes", "1"),
        "--plot",
    ),
    "grid": (*GRID, "--plot"),
    "grid over time": (*GRID, "--over-time"),
    "grids": (*GRID, "--queue-sizes", "1,2", "--processes", "1", "--plot"),
}


@pytest.mark.parametrize("command", DRAWING.values(), ids=DRAWING)
def test_pictures_have_the_width_and_the_resolution_that_are_asked_for(
    command: tuple[str, ...], dlopt: Command, tmp_path: Path
) -> None:
    if "result.json" in command:
        dlopt("solve", THREE, "-m", "opr", "--out", "result.json")
    heights = []
    for flags in ((), ("--no-title",)):
        dlopt(*command, "a.png", "--width", "3.5", "--dpi", "60", *flags)
        with Image.open(tmp_path / "a.png") as picture:
            assert picture.size[0] == 210
            heights.append(picture.size[1])
    assert heights[1] < heights[0]  # without a title the page is lower


def test_solve_draws_what_it_knew_meanwhile(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[Result[object]]] = []

    def keep(reports: list[Result[object]], *_: object, **page: object) -> None:
        drawn.append(reports)

    monkeypatch.setattr("dlopt.plotting.plot_progress", keep)
    dlopt("solve", THREE, "--plot-progress", "a.svg")
    (reports,) = drawn
    assert len(reports) > 1 and all(one.solution is None for one in reports[:-1])
    times = [one.runtime_s for one in reports]
    assert None not in times and times[-1] == max(filter(None, times))


def test_solve_draws_its_progress(dlopt: Command, tmp_path: Path) -> None:
    dlopt("solve", THREE, "--plot-progress", "a.svg", "--plot", "plan.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {text} -->" in drawn for text in ("incumbent", "bound", "time (s)", "exact"))
    dlopt("solve", THREE, "-m", "bound-fluid", "--plot-progress", "b.svg")
    assert "<!-- incumbent -->" not in (tmp_path / "b.svg").read_text()
    io.write(replace(io.read(THREE), absolute_deadline=1), "late.json")
    done = dlopt("solve", "late.json", "--plot-progress", "c.svg", code=3)
    assert "neither an incumbent nor a bound to draw: c.svg is not written" in done.err
    assert not (tmp_path / "c.svg").exists()


@pytest.mark.parametrize(
    "flags", [("--width", "1"), ("--width", "50"), ("--dpi", "5"), ("--width", "wide")]
)
def test_sizes_that_cannot_be_drawn(flags: tuple[str, str], dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("solve", THREE, "--plot", "a.svg", *flags, code=2)
    assert f"Invalid value for '{flags[0]}'" in done.err
    assert not (tmp_path / "a.svg").exists()


def test_a_plan_is_drawn_with_the_violations_that_a_check_finds(
    dlopt: Command, tmp_path: Path
) -> None:
    result = dlopt("solve", THREE, "-m", "opr", "--json").json
    result["solution"]["chunks"][0]["computation_end"] = "1"
    for name, data in {"result": result, "plan": result["solution"]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
        dlopt("plot", THREE, f"{name}.json", "--out", f"{name}.svg")
        picture = (tmp_path / f"{name}.svg").read_text()
        assert 'id="violation"' in picture and "violation" in picture
    assert dlopt("check", THREE, "result.json", code=1).out
