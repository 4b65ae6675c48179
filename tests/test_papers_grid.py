"""Figures of the grid: no simulation is better than the bounds beside it."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.papers import grid
from benchmarks.papers.grid_bounds import Bounds, _longest_path, _shortest_first, bound, common
from benchmarks.papers.grid_claims import Results, Scale
from dlopt.problems.dag import Edge, Graph, Task
from dlopt.simulation.grid.sweep import Case, sweep

SMALL = Case(lans=3, nodes=3, tasks=40, interval=1000, kappa=2)


@pytest.mark.parametrize("variant", grid.VARIANTS)
@pytest.mark.parametrize("topology", ["mesh", "flat"])
@pytest.mark.parametrize("seed", [0, 1])
def test_simulations_are_no_better(variant: str, topology: str, seed: int):
    case = replace(SMALL, variant=variant, topology=topology, seed=seed)
    (row,), least = sweep([case]), bound(case)
    assert row.returned == case.tasks
    assert row.met_ratio <= least.met_ratio < 1
    assert row.response >= least.response > 0


def test_what_is_left_of_a_task_decides():
    # The second interrupts the first, which has more left; the third waits for nothing.
    assert _shortest_first([0, 1, 9], [3, 1, 2]) == (4 + 1 + 2) / 3
    assert _shortest_first([0, 1], [3, 2.5]) == (3 + 4.5) / 2
    works = tuple(Task(f"t{i}", work) for i, work in enumerate((1, 5, 2, 3)))
    edges = (Edge(0, 1), Edge(0, 2), Edge(2, 3), Edge(1, 3))
    assert _longest_path(Graph("g", works, edges)) == 9
    assert _longest_path(Graph("g", works)) == 5


def test_a_light_load_is_bounded_by_paths():
    light = bound(replace(SMALL, interval=10**6))
    assert light.met_ratio == 1
    assert light.response == bound(replace(SMALL, interval=10**7)).response


def test_a_task_alone_takes_its_path_or_its_share():
    case = replace(SMALL, topology="flat", lans=1, nodes=3, interval=10**6)
    powers = [float(machine.power) for machine in case.built.machines]
    graphs = case.workload.graphs(1, case.seed)
    alone = [
        max(_longest_path(g) / max(powers), float(sum(task.work for task in g.tasks)) / sum(powers))
        for g in graphs
    ]
    assert bound(case).response == pytest.approx(sum(alone) / len(alone))


def test_what_does_not_matter_to_bounds():
    other = replace(SMALL, variant="literal", queue_size=7, bidders=0, failure_rate=0.1, seed=3)
    assert common(other) == common(SMALL) != common(replace(SMALL, interval=999))


def test_bounds_are_drawn(tmp_path: Path):
    scale = Scale(2, (1, 2), 1, ends=True)
    figures = ("9", "11", "13")
    asked = grid.bounded(scale, 1, figures)
    assert len(asked) == len(set(asked)) == 5  # two intervals, the usual one, and two of 13
    assert {common(case) for case in asked} == set(asked)
    rows = sweep(grid.cases(scale, ("corrected",), ("11", "13")))
    bounds = Bounds(map(bound, asked))
    grid.draw(Results(scale, rows), bounds, ("corrected",), tmp_path, ("11", "13"))
    text = (tmp_path / "chen-fig-11.csv").read_text()
    assert text.count(",bound,") == 2 * 2
    text = (tmp_path / "chen-fig-13.csv").read_text()
    assert text.count('"bound, one LAN"') == text.count('"bound, 2 LANs"') == 2 * 2
    grid.draw(Results(scale, rows), Bounds(), ("corrected",), tmp_path, ("11", "13"))
    assert "bound" not in (tmp_path / "chen-fig-11.csv").read_text()
