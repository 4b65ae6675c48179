"""Tasks around reservations on the command line: make, solve, compare, check, plot."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.instance_files import ROOT

FOLDER = ROOT / "instances" / "multistage"
AROUND = FOLDER / "around-a-reservation.json"
LOG = "; MaxProcs: 4\n" + "\n".join(
    f"{number} {10 * number} -1 50 2 -1 -1 2 80 -1 1 1 1 -1 -1 -1 -1 -1" for number in range(8)
)


def test_solve_check_and_plot(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("solve", AROUND, "--method", "multi-stage", "--out", "r.json", "--plot", "p.svg")
    assert "accepted = 2" in done.out and "reservation" in done.out
    assert "<svg" in (tmp_path / "p.svg").read_text()
    assert "valid, verified: exact; accepted = 2" in dlopt("check", AROUND, "r.json").out
    table = dlopt("compare", AROUND, "--methods", "multi-stage,exact,bound-fluid").out
    assert "multi-stage" in table and "optimal" in table


def test_a_bound_is_proven_in_a_file(dlopt: Command, tmp_path: Path) -> None:
    file = FOLDER / "random-8.json"
    proof = ("--certificate", "p.vipr")
    dlopt("solve", file, "--method", "bound-fluid", "--out", "b.json", *proof)
    checked = dlopt("check", file, "b.json", *proof)
    assert "proven: no plan has a better value than" in checked.out
    assert dlopt("check", file, "b.json", *proof, "--json").json["proven"] is True
    other = dlopt("check", AROUND, "b.json", *proof, code=2)
    assert "of another instance (random-8, not around-a-reservation)" in other.err
    text = (tmp_path / "p.vipr").read_text()
    (tmp_path / "p.vipr").write_text(text.replace("z_0", "z_9", 1))
    assert "program" in dlopt("check", file, "b.json", *proof, code=1).out


def test_a_proof_names_the_plans_that_it_speaks_of(dlopt: Command) -> None:
    file = FOLDER.parent / "admission" / "two-of-three.json"
    solved = dlopt("solve", file, "--out", "r.json", "--certificate", "p.vipr")
    assert "bound <= 2 (class single)" in solved.out
    checked = dlopt("check", file, "r.json", "--certificate", "p.vipr")
    plans = "no plan of class single, at most one chunk of a load per node,"
    assert f"proven: {plans} has a better value than 2 (accepted)" in checked.out


def test_a_proof_that_cannot_be_written_is_no_success(dlopt: Command, tmp_path: Path) -> None:
    file = FOLDER.parent / "iit" / "three-nodes.json"
    done = dlopt("solve", file, "--method", "edf-iit-2", "--certificate", "p.vipr", code=4)
    assert "p.vipr is not written: the bound is proven in exact arithmetic, but" in done.err
    assert done.out.startswith("optimal") and not (tmp_path / "p.vipr").exists()
    done = dlopt("solve", file, "--method", "opr", "--certificate", "p.vipr", code=4)
    assert "the method opr proves no bound" in done.err


def test_certified_answers(dlopt: Command, tmp_path: Path) -> None:
    file, text = tmp_path / "decimals.json", (FOLDER / "around-a-reservation.json").read_text()
    file.write_text(text.replace('"tau": 1', '"tau": 1.0'))
    asked = ("solve", file, "--objective", "accepted-load")
    done = dlopt(*asked, "--certified", "--out", "r.json")
    assert done.out.startswith("feasible  accepted-load = 5  bound <= 9")
    assert len(list_of(tmp_path)) == 2
    written = dlopt(*asked, "--certified", "--json", "--certificate", "p.vipr")
    assert (written.json["status"], written.json["proof"]) == ("feasible", "certificate")
    assert "proven: no plan of" in dlopt("check", file, "r.json", "--certificate", "p.vipr").out
    assert dlopt(*asked).out.startswith("optimal (claimed by HiGHS)")
    assert dlopt(*asked, "--exact-numbers").out.startswith("optimal (certified)")
    assert dlopt("solve", file, "--certified").out.startswith("optimal (certified)")
    load = FOLDER.parent / "iit" / "three-nodes.json"
    assert dlopt("solve", load, "--certified").out.startswith("optimal (certified)")
    words = ("--method", "edf-iit-2", "--certified", "--certificate", "q.vipr")
    done = dlopt("solve", load, *words, code=4)
    claimed = "q.vipr is not written: a bound of 39/8 is claimed, not certified"
    assert done.out.startswith("feasible") and claimed in done.err


def list_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def test_a_flaw_is_told_with_what_it_breaks(dlopt: Command) -> None:
    file = FOLDER / "counterexamples" / "multi-stage-literal-f8.json"
    done = dlopt("solve", file, "--method", "multi-stage:literal-F8", code=1)
    assert "unsound" in done.out and "reservation-node-overlap on node 0 in [3, 4] by 1" in done.out
    assert "accepted = 3" in dlopt("solve", file, "--method", "multi-stage").out


def test_generate_and_convert(dlopt: Command, tmp_path: Path) -> None:
    listed = dlopt("generate", "multistage").out
    assert "multistage --family small: " in listed and "multistage --family mamat5: " in listed
    (tmp_path / "toy.swf").write_text(LOG)
    flags = ("--to", "multistage", "--reserve-fraction", "0.5")
    made = dlopt("convert", "swf", "toy.swf", *flags, "--advance", "2/lambda", "--seed", "3").json
    assert made["problem"] == "multistage"
    assert (len(made["tasks"]), len(made["reservations"])) == (4, 4)
    ahead = [one["start"] - one["arrival"] for one in made["reservations"] if one["arrival"]]
    assert set(ahead) <= {20}
    plain = dlopt("convert", "swf", "toy.swf", *flags, "--advance", "7", "--out", "m.json")
    assert plain.out == ""
    assert "feasible" in dlopt("solve", "m.json", "--method", "multi-stage").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--advance", "2/mu"], "--advance takes seconds or X/lambda"),
        (["--advance", "soon"], "--advance: not a number"),
        (["--advance", "-1"], "advance must be a number, not negative"),
        (["--reserve-fraction", "2"], "fraction must be a number from 0 to 1"),
        (["--load", "5"], "--load is for --to iit, not for multistage"),
    ],
)
def test_bad_conversions(
    arguments: list[str], message: str, dlopt: Command, tmp_path: Path
) -> None:
    (tmp_path / "toy.swf").write_text(LOG)
    done = dlopt("convert", "swf", "toy.swf", "--to", "multistage", *arguments, code=2)
    assert message in done.err and done.err.count("error: ") == 1


def test_reservation_options_are_for_reservations(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "toy.swf").write_text(LOG)
    done = dlopt("convert", "swf", "toy.swf", "--to", "admission", "--advance", "1", code=2)
    assert "--advance is for --to multistage, not for admission" in done.err


def test_bad_reservations_are_told_at_once(dlopt: Command, tmp_path: Path) -> None:
    text = AROUND.read_text().replace('"end": 8', '"end": 3').replace('"io_end": 5', '"io_end": 1')
    (tmp_path / "bad.json").write_text(text)
    done = dlopt("solve", "bad.json", code=2)
    assert "reservations[0].end: must lie after the start" in done.err
    assert "reservations[0].io_end: must not lie before the start" in done.err
