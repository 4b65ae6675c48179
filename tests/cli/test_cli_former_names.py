"""What commands, options and words of them were called before works, and one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.test_cli_bad_input import LOG

BINS = "1\n9\n5\n"
STG = "1\n0 0 0\n1 5 1 0\n2 0 1 1\n"


def test_methods_and_options(dlopt: Command) -> None:
    bag = Path(__file__).parents[2] / "instances" / "bag" / "small-etc.json"
    done = dlopt("solve", bag, "--method", "sa", "--json")
    assert done.err == "note: method 'sa' is called 'switching' now\n"
    assert done.json["method"] == "switching"
    done = dlopt("solve", bag, "--method", "mct", "--set", "late=run")
    assert done.err == "note: option late=run is called tardy=run now\n"
    done = dlopt("compare", bag, "--methods", "sa,greedy")
    assert [line.split()[2] for line in done.err.splitlines()] == ["'sa'", "'greedy'"]
    done = dlopt("compare", bag, bag, "--methods", "sa")
    assert done.err == "note: method 'sa' is called 'switching' now\n"
    done = dlopt("batch", bag, bag, "--methods", "sa", "--kill-after", "9", "-o", "r.jsonl")
    assert done.err.count("note: ") == 2
    assert "note: option --kill-after is called --hard-timeout now\n" in done.err


def test_objectives_and_kinds_of_violations(dlopt: Command) -> None:
    graphs = Path(__file__).parents[2] / "instances" / "dag" / "deadlines.json"
    note = "note: objective 'response' is called 'total-response-time' now\n"
    for command in ("solve", "compare"):
        words = ("--methods" if command == "compare" else "--method", "heft")
        done = dlopt(command, graphs, *words, "--objective", "response")
        assert done.err == note and "total-response-time" in done.out
    batch = ("batch", graphs, graphs, "--methods", "heft", "-o", "r.jsonl", "--json")
    first = dlopt(*batch, "--objective", "total-response-time").json
    again = dlopt(*batch, "--objective", "response")
    assert first["runs"] == again.json["runs"] == 1 and note in again.err
    assert (first["solved"], again.json["solved"]) == (1, 0)  # it is the same run
    method = ("bag", "gds:literal-duplicate")
    found = dlopt("falsify", *method, "--kind", "placed-twice", "--examples", 2000, code=1)
    assert "duplicate-task" in found.out
    assert found.err.startswith("note: violation 'placed-twice' is called 'duplicate-task' now\n")


def test_what_a_simulated_grid_says_of_its_tasks(dlopt: Command) -> None:
    small = ("simulate", "grid", "--tasks", "2", "--set", "lans=2", "--set", "nodes=2", "--json")
    found = dlopt(*small, "--variants", "corrected+eq6-behind")
    assert found.json["fates"] == found.json["job_outcomes"] != []
    assert found.err == "note: variant 'eq6-behind' is called 'eq6-not-advanced' now\n"


def test_keys_of_json(dlopt: Command) -> None:
    file = Path(__file__).parents[2] / "instances" / "iit" / "three-nodes.json"
    done = dlopt("batch", file, "--methods", "opr", "-o", "r.jsonl", "--json").json
    assert done["cells"] == done["runs"] == 1 and done["left_out"] == done["skipped"] == []
    (found,) = dlopt("compare", file, "--methods", "opr,exact", "--json").json["comparisons"]
    for row in found["rows"]:
        assert row["behind_optimum"] == row["gap_to_optimum"] is not None
        assert row["behind_bound"] == row["gap_to_bound"]


@pytest.mark.parametrize(
    ("former", "current"),
    [
        (
            ("a.swf", "--to", "iit", "--at", "5", "--load=9"),
            ("swf", "a.swf", "--to", "iit", "--at", "5", "--load=9"),
        ),
        (
            ("--from=swf", "--to=iit", "--at", "5", "--load", "9", "a.txt"),
            ("swf", "a.txt", "--to", "iit", "--at", "5", "--load", "9"),
        ),
        (
            ("b.txt", "--online", "--from", "bpplib", "--to", "coreservation"),
            ("bins", "b.txt", "--online", "--format", "bpplib"),
        ),
        (("g.stg", "--to", "dag", "--machines", "2"), ("graph", "g.stg", "--machines", "2")),
        (("g", "--to", "dag", "--machines", "2"), ("graph", "g", "--machines", "2")),
        (
            ("--to", "dag", "--from", "stg", "g.dot", "--machines", "2"),
            ("graph", "g.dot", "--format", "stg", "--machines", "2"),
        ),
        (("m.etc", "--from", "etc", "--to", "bag"), ("etc", "m.etc")),
    ],
)
def test_convert_without_a_subcommand(
    dlopt: Command, tmp_path: Path, former: tuple[str, ...], current: tuple[str, ...]
) -> None:
    texts = {"a.swf": LOG, "a.txt": LOG, "b.txt": BINS, "m.etc": "1 1\n3\n"}
    texts |= dict.fromkeys(("g.stg", "g", "g.dot"), STG)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    done, now = dlopt("convert", *former), dlopt("convert", *current)
    # a job without a wait time is noted, whichever way the log is converted
    notes = "1 job without wait time" if current[0] == "swf" else ""
    assert done.json == now.json and now.err.partition(":")[0] == notes
    note = f"'dlopt convert FILE --from FORMAT' is called 'dlopt convert {current[0]} FILE' now"
    assert done.err == f"note: {note}\n{now.err}"


def test_formats_that_are_unknown(dlopt: Command) -> None:
    message = dlopt("convert", "a.txt", "--to", "iit", code=2).err
    assert "unknown format '.txt'; known: swf, orlib, bpplib, temporal, etc, stg" in message
    message = dlopt("convert", "a.txt", "--from", "csv", "--to", "iit", code=2).err
    assert "unknown format 'csv'" in message
    assert "Missing argument" in dlopt("convert", "--to", "iit", code=2).err


def test_subcommands_that_are_misspelled(dlopt: Command) -> None:
    message = dlopt("convert", "grahp", "a.txt", "--machines", "2", code=2).err
    assert "No such command 'grahp'. Did you mean 'graph'?" in message
