"""Figures of the grid: no simulation is better than the bounds beside it."""

from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.papers import grid, grid_extensions
from benchmarks.papers.grid_bounds import (
    CaseBound,
    CaseBounds,
    bound,
    common,
    longest_path_length,
    shortest_first_response,
)
from benchmarks.papers.grid_claims import CLAIMS, required_experiments
from benchmarks.papers.grid_experiments import LOAD, QUICK, REFERENCE, SETTINGS, Results, Scale
from dlopt.problems.dag import Edge, Graph, Task
from dlopt.simulation.grid.sweep import GridExperiment, sweep

SMALL = GridExperiment(lans=3, nodes=3, tasks=40, interval=1000, kappa=2)


@pytest.mark.parametrize("variant", grid.VARIANTS)
@pytest.mark.parametrize("topology", ["mesh", "flat"])
@pytest.mark.parametrize("slowdown", [(1, 1), LOAD])
@pytest.mark.parametrize("seed", [0, 1])
def test_simulations_are_no_better(variant: str, topology: str, slowdown, seed: int):
    case = replace(SMALL, variant=variant, topology=topology, slowdown=slowdown, seed=seed)
    (row,), least = sweep([case]), bound(case)
    assert row.returned == case.tasks
    assert row.met_ratio <= least.met_ratio
    assert least.met_ratio < 1 or slowdown == LOAD
    assert row.response >= least.response > 0


def test_what_is_left_of_a_task_decides():
    # The second interrupts the first, which has more left; the third waits for nothing.
    assert shortest_first_response([0, 1, 9], [3, 1, 2]) == (4 + 1 + 2) / 3
    assert shortest_first_response([0, 1], [3, 2.5]) == (3 + 4.5) / 2
    works = tuple(Task(f"t{i}", work) for i, work in enumerate((1, 5, 2, 3)))
    edges = (Edge(0, 1), Edge(0, 2), Edge(2, 3), Edge(1, 3))
    assert longest_path_length(Graph("g", works, edges)) == 9
    assert longest_path_length(Graph("g", works)) == 5


def test_a_light_load_is_bounded_by_paths():
    light = bound(replace(SMALL, interval=10**6))
    assert light.met_ratio == 1
    assert light.response == bound(replace(SMALL, interval=10**7)).response


def test_a_task_alone_takes_its_path_or_its_share():
    case = replace(SMALL, topology="flat", lans=1, nodes=3, interval=10**6)
    powers = [float(machine.power) for machine in case.built.machines]
    graphs = case.workload.graphs(1, case.seed)
    alone = [
        max(
            longest_path_length(g) / max(powers),
            float(sum(task.work for task in g.tasks)) / sum(powers),
        )
        for g in graphs
    ]
    assert bound(case).response == pytest.approx(sum(alone) / len(alone))


def test_what_does_not_matter_to_bounds():
    other = replace(SMALL, variant="literal", queue_size=7, bidders=0, failure_rate=0.1, seed=3)
    assert common(other) == common(SMALL) != common(replace(SMALL, interval=999))


def test_bounds_are_drawn(tmp_path: Path):
    scale = Scale(2, (1, 2), 1, ends=True)
    figures = ("9", "11", "13")
    cases = grid.bounded(scale, 1, figures)
    assert len(cases) == len(set(cases)) == 5  # two intervals, the usual one, and two of 13
    assert {common(case) for case in cases} == set(cases)
    rows = sweep(grid.cases(scale, ("corrected",), ("11", "13")))
    bounds = CaseBounds(map(bound, cases))
    grid.draw(Results(scale, rows), bounds, ("corrected",), tmp_path, ("11", "13"))
    text = (tmp_path / "chen-fig-11.csv").read_text()
    assert text.count(",bound,") == 2 * 2
    text = (tmp_path / "chen-fig-13.csv").read_text()
    assert text.count('"bound, one LAN"') == text.count('"bound, 2 LANs"') == 2 * 2
    written = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert b"<!-- 1 seed, 2 LANs, bars: 95 % confidence; bounds: 1 seed -->" in written[1]
    assert b"<!-- 1.5 -->" not in written[3]  # a queue of one or two
    grid.redraw(scale, 1, tmp_path, ("11", "13"))
    assert written[::2] == [path.read_bytes() for path in sorted(tmp_path.glob("*.csv"))]
    notes = [path.read_text() for path in sorted(tmp_path.glob("*.svg"))]
    assert all("<!-- 1 seed, 2 LANs, bars: 95 % confidence; bounds: 1 seed -->" in n for n in notes)
    grid.draw(Results(scale, rows), CaseBounds(), ("corrected",), tmp_path, ("11", "13"))
    assert b"bounds" not in (tmp_path / "chen-fig-11.svg").read_bytes()
    assert "bound" not in (tmp_path / "chen-fig-11.csv").read_text()


def test_seeds_are_counted():
    assert grid.noted(Scale(2, (1,), 5, ends=True), (2, 5), None).startswith("2 to 5 seeds, 2 LANs")
    bounds = CaseBounds([CaseBound(replace(SMALL, seed=seed), 1, 1) for seed in (0, 1)])
    assert bounds.seeds() == (2, 2) and CaseBounds().seeds() is None


def test_extensions_are_held_against_the_thesis(capsys):
    assert grid_extensions.main(["--seeds", "2", "--scale", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("36 simulations")
    assert lines[2] == "| interval | SWQ | measure | two levels | near-future load | competitive |"
    assert len(lines) == 4 + 12 and {line.count(" | ") for line in lines[4:]} == {5}
    assert lines[4].count("±") == lines[5].count("±") == 2


def test_the_reference_is_the_setting_of_the_thesis():
    case = QUICK.case("literal")
    assert (case.topology, case.slowdown, case.data_per, case.memory) == (
        "tiers",
        LOAD,
        "task",
        0.99,
    )
    few = replace(QUICK, sizes=(1, 2, 3), seeds=1)
    usual = set(required_experiments(few, ("literal",), grid.FIGURES))
    assert usual <= set(grid.cases(few, ("literal",)))
    for setting in SETTINGS:
        there = required_experiments(replace(few, setting=setting), ("literal",), grid.FIGURES)
        assert not usual & set(there)
        assert any(case.topology == "flat" for case in there) == setting.flat
    larger = replace(few, setting=SETTINGS[-1]).case("literal", tasks=1000)
    assert (larger.lans, larger.tasks) == (40, 400)


def test_what_a_verdict_depends_on():
    few = Scale(2, (1, 2, 3), 1, ends=True)
    scales = [replace(few, setting=setting) for setting in (REFERENCE, *SETTINGS[:2])]
    claim = next(claim for claim in CLAIMS if claim.words == "more tasks: more internal traffic")
    rows = sweep(
        [case for scale in scales for case in required_experiments(scale, ("corrected",), ("8",))]
    )
    reference, *others = [Results(scale, rows) for scale in scales]
    assert grid.robust(reference, others, claim, "corrected") == "robust"
    assert grid.robust(reference, others, claim, "literal") == "not simulated"
    odd = replace(claim, test=_turned(claim.test))
    assert grid.robust(reference, others, odd, "corrected") == "does not: no load"
    flat = replace(odd, figure="13")
    assert (
        grid.robust(reference, others[1:], flat, "corrected") == "not simulated"
    )  # a mesh is none
    lines = list(grid.robustness_table(reference, others, ("8",)))
    assert len({line.count(" | ") for line in lines[2:]}) == 1
    assert "not simulated" in lines[2]


def _turned(test):
    def turned(results, name):
        verdict = test(results, name)
        if results.scale.setting.name != "no load":
            return verdict
        return replace(verdict, word="does not")

    return turned


def test_settings_are_named():
    assert grid.parse_settings("all") == [REFERENCE, *SETTINGS]
    assert grid.parse_settings("a full mesh; reference") == [SETTINGS[1], REFERENCE]
    with pytest.raises(ArgumentTypeError, match="no setting 'a ring'"):
        grid.parse_settings("a ring")
