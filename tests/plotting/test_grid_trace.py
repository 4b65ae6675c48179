"""What happened on a grid, drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from dataclasses import replace

from dlopt.errors import NotApplicableError
from dlopt.plotting.grid_trace import plot_trace
from dlopt.problems.dag import Graph, Instance, Lan, Machine, Network, Task
from dlopt.problems.dag.trace import Course, Outage, Run, Trace

NETWORK = Network("scheduler", "counted", lans=(Lan("l"), Lan("r")))
MACHINES = (Machine("right", lan=1), Machine("left", lan=0))
GRAPH = Graph("g", (Task("t", 4), Task("u", 4)), lan=0)
GRID = Instance(MACHINES, (GRAPH,), NETWORK, name="two", units="seconds")
RUNS = (
    Run(0, 0, 1, 0, "lost", 0, 2, None, 3),
    Run(0, 1, 1, 0, "lost", None, None, None, 3),
    Run(0, 0, 1, 5, "done", 5, 9, 9, 9),
    Run(0, 1, 1, 6, "unfinished", 9),
)
TRACE = Trace((Course(0, 0, 0, 0, reason="stopped"),), RUNS, (Outage(1, 2, 5),), (Outage(1, 3, 5),))


def groups(figure) -> dict[str, int]:
    return {
        drawn.get_gid(): len(drawn.get_paths())
        for drawn in figure.axes[0].collections
        if drawn.get_gid()
    }


def test_runs_outages_and_what_was_lost(tmp_path: Path) -> None:
    figure = plot_trace(GRID, TRACE, tmp_path / "grid.svg", note="seed 0")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["left", "right"]
    assert groups(figure) == {"presumed": 1, "down": 1, "done": 1, "lost": 1}
    assert figure.axes[0].get_xlim() == (0, 9)
    texts = [text.get_text() for text in figure.texts]
    assert texts[:2] == ["two", "seed 0, 0 of 1 tasks completed"]
    written = (tmp_path / "grid.svg").read_text()
    assert "g.t" in written and "time (seconds)" in written


def test_a_window_and_some_lans() -> None:
    figure = plot_trace(GRID, TRACE, window=(6, 20), lans=(0,), title="part")
    assert groups(figure) == {"done": 2}
    assert figure.axes[0].get_xlim() == (6, 20)
    for_ever = replace(TRACE, down=(Outage(1, 2), Outage(0, 1)))
    assert groups(plot_trace(GRID, for_ever, window=(6, 20), lans=(0,)))["down"] == 1


def test_many_runs_have_no_names() -> None:
    many = replace(TRACE, runs=RUNS[2:3] * 2001)
    assert not [text for text in plot_trace(GRID, many).axes[0].texts if text.get_text()]


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(NotApplicableError, match="no LAN 2: they are numbered 0 to 1"):
        plot_trace(GRID, TRACE, lans=(2,))
    with pytest.raises(NotApplicableError, match="not 0: choose LANs"):
        plot_trace(GRID, TRACE, lans=())
    with pytest.raises(NotApplicableError, match="must have a length, got 3 to 3"):
        plot_trace(GRID, TRACE, window=(3, 3))
