"""simulate cluster: reservations among the tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlopt.simulation import ReservationMix, simulate_mixed
from dlopt.simulation.reservations import mamat5
from tests.cli.conftest import Command, file_of
from tests.cli.test_cli_simulate import STREAM
from tests.instance_files import ROOT

FOLDER = ROOT / "instances" / "multistage"
FEW = ("--set", "horizon=400000", "--set", "nodes=64", "--processes", "1")


def test_the_table_and_the_json_tell_the_same(dlopt: Command) -> None:
    flags = ("--reserve-fraction", "0.4", "--advance", "2/lambda", "--loads", "0.3,0.9")
    flags += ("--seeds", "2", *FEW)
    done = dlopt("simulate", "cluster", *flags, "--check")
    assert done.err == "multi-stage: 0 violations, verified: tol 1e-9\n"
    assert "mamat5, 2 seeds" in done.out and "reservation" in done.out
    points = dlopt("simulate", "cluster", *flags, "--json").json["points"]
    lines = [line.split() for line in done.out.splitlines() if " multi-stage" in line]
    reservation_mix = ReservationMix(0.4, 2, intervals=True)
    for words, point, load in zip(lines, points, (0.3, 0.9), strict=True):
        refused, total = point["reservation_reject_ratio"], point["total_reject_ratio"]
        assert words[5] == f"{refused['mean']:.3f}" and words[8] == f"{total['mean']:.3f}"
        for seed, outcome in enumerate(point["outcomes"]):
            stream = mamat5(system_load=load, horizon=400_000, nodes=64, seed=seed)
            found = simulate_mixed(reservation_mix.of(stream, seed), workload=stream)
            assert outcome["granted"] == found.granted and outcome["rejected"] == found.rejected
            assert outcome["reservations"] > 0


def test_three_tenths_are_reserved_by_default(dlopt: Command) -> None:
    flags = ("--seeds", "1", *FEW, "--json")
    (point,) = dlopt("simulate", "cluster", "--method", "multi-stage", *flags).json["points"]
    (same,) = dlopt("simulate", "cluster", "--advance", "0", *flags).json["points"]
    (outcome,) = point["outcomes"]
    tasks = outcome["tasks"] + outcome["reservations"]
    assert outcome["reservations"] == round(0.3 * tasks)
    del outcome["decisions_per_second"], same["outcomes"][0]["decisions_per_second"]
    assert same == point


def test_methods_that_know_no_reservations_stand_beside_where_there_are_none(
    dlopt: Command,
) -> None:
    flags = ("--methods", "edf-iit-2,multi-stage", "--workload", "mamat5", "--seeds", "1", *FEW)
    done = dlopt("simulate", "cluster", *flags, "--reserve-fraction", "0")
    (line,) = [line.split() for line in done.out.splitlines() if "edf-iit-2" in line]
    assert line[3:5] == ["-", "-"]
    refused = dlopt("simulate", "cluster", *flags, code=2)
    assert "edf-iit-2 knows no reservations" in refused.err


def test_an_instance_file(dlopt: Command, tmp_path: Path) -> None:
    file = FOLDER / "random-8.json"
    (point,) = dlopt("simulate", "cluster", "--file", file, "--check", "--json").json["points"]
    assert (point["method"], point["outcomes"][0]["violations"]) == ("multi-stage", 0)
    dlopt("simulate", "cluster", "--file", file, "--plot", "plan.svg")
    assert "capacity-0" in (tmp_path / "plan.svg").read_text()
    both = ("--methods", "multi-stage,multi-stage:literal")
    done = dlopt("simulate", "cluster", "--file", file, *both, "--plot", "p.svg", "--check", code=1)
    assert "multi-stage:literal: 7 violations" in done.err
    assert "tasks waiting" in (tmp_path / "p.svg").read_text()


def test_means_are_drawn_with_a_panel_for_reservations(dlopt: Command, tmp_path: Path) -> None:
    flags = ("--methods", "edf-iit-2,multi-stage", "--workload", "mamat5", "--seeds", "1", *FEW)
    dlopt("simulate", "cluster", *flags, "--reserve-fraction", "0", "--plot", "p.svg")
    assert "reservation reject ratio" in (tmp_path / "p.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--advance", "2/mu"], "--advance takes units of time or X/lambda, got '2/mu'"),
        (["--advance", "soon"], "--advance takes a number that is not negative, not 'soon'"),
        (["--advance", "-1"], "--advance takes a number that is not negative, not '-1'"),
        (["--reserve-fraction", "2"], "--reserve-fraction takes a number from 0 to 1, not '2'"),
        (["--reserve-fraction", "x"], "--reserve-fraction takes a number from 0 to 1, not 'x'"),
        (["--advance", "1", "-m", "mcdf"], "mcdf knows no reservations"),
        (["--workload", "mamat4", "-m", "multi-stage", *FEW], "there are set-up costs"),
        (["--file", "s.json", "--advance", "1"], "--file and --advance do not go together"),
        (["--file", "s.json", "-m", "multi-stage"], "multi-stage is for multistage"),
        (
            ["--file", str(FOLDER / "random-8.json"), "-m", "mcdf"],
            "does not support reservations",
        ),
    ],
)
def test_bad_input(arguments: list[str], message: str, dlopt: Command, tmp_path: Path) -> None:
    file_of(tmp_path / "s.json", STREAM)
    done = dlopt("simulate", "cluster", *arguments, code=2)
    assert message in done.err and done.err.count("\n") == 1


def test_bid_prices_stand_beside_the_algorithm_without(dlopt: Command) -> None:
    flags = ("--methods", "multi-stage,priced-multi-stage", "--seeds", "1", *FEW, "--load", "1")
    done = dlopt("simulate", "cluster", *flags, "--check")
    assert "priced-multi-stage: 0 violations" in done.err
    lines = [line.split() for line in done.out.splitlines() if "multi-stage" in line]
    assert [words[1] for words in lines] == ["multi-stage", "priced-multi-stage"]
