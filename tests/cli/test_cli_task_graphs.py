"""convert graph, convert etc and generate dag: files, machines, options that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlopt.io import read
from dlopt.problems.dag import Instance
from tests.cli.conftest import Command
from tests.formats.test_dax import DAX
from tests.formats.test_task_graph_tables import LISTED, TIMES

STG = "2\n0 0 0\n1 5 1 0\n2 7 1 1\n3 0 1 2\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "a.stg").write_text(STG)
    (tmp_path / "a.dax").write_text(DAX)
    (tmp_path / "times.csv").write_text("\n".join(TIMES))
    (tmp_path / "links.csv").write_text("\n".join(LISTED))
    (tmp_path / "loop.dot").write_text("digraph {\n node [work=1];\n a -> b;\n b -> a\n}")
    (tmp_path / "m.json").write_text('{"machines": [{"id": "x"}, {"id": "y", "power": 2}]}')


def test_machines_by_number(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("convert", "graph", "a.stg", "--to", "dag", "--machines", "3", "--deadline", "20")
    assert len(done.json["machines"]) == 3 and done.json["name"] == "a"
    assert done.json["graphs"][0]["absolute_deadline"] == 20
    assert done.json["origin"] == "a.stg, Standard Task Graph Set (STG)"
    assert "units" not in done.json  # the format has none
    assert (
        dlopt("convert", "graph", "a.stg", "--to", "dag", "--machines", "3", "--out", "i.json").out
        == ""
    )
    assert isinstance(read(tmp_path / "i.json"), Instance)


def test_powers_and_network(dlopt: Command) -> None:
    flags = ("--powers", "1,3/2", "--bandwidth", "4", "--latency", "0.5", "--exact-numbers")
    made = dlopt("convert", "graph", "a.dax", "--to", "dag", *flags).json
    assert [machine.get("power", 1) for machine in made["machines"]] == [1, "3/2"]
    assert made["network"] == {"bandwidth": 4, "latency": "1/2"}
    assert made["graphs"][0]["tasks"][0] == {"id": "a", "work": "3/2"}
    assert made["graphs"][0]["edges"] == [{"source": 0, "target": 1, "data": 8}]


def test_the_units_of_a_workflow_are_those_of_its_format(dlopt: Command) -> None:
    """Run times of a workflow are seconds and files bytes, so that charts can say it."""
    words = ("convert", "graph", "a.dax", "--machines", "2", "--bandwidth", "1e6")
    assert dlopt(*words).json["units"] == {"time": "s", "data": "B"}


def test_machines_of_a_file_and_of_the_graph(dlopt: Command) -> None:
    made = dlopt("convert", "graph", "a.stg", "--to", "dag", "--machines-file", "m.json").json
    assert [machine["id"] for machine in made["machines"]] == ["x", "y"]
    made = dlopt("convert", "graph", "times.csv", "--edges", "links.csv", "--to", "dag").json
    assert [machine["id"] for machine in made["machines"]] == ["P1", "P2"]
    assert made["graphs"][0]["tasks"][1]["costs"] == [13, None]


def test_the_format_by_the_beginning_or_by_word(dlopt: Command, tmp_path: Path) -> None:
    flags = ("--to", "dag", "--machines", "2")
    (tmp_path / "b").write_text(STG)
    assert dlopt("convert", "graph", "b", *flags).json["graphs"] == [
        {**dlopt("convert", "graph", "a.stg", *flags).json["graphs"][0], "id": "b"}
    ]
    (tmp_path / "c.txt").write_text("digraph { x [work=3] }")
    assert dlopt("convert", "graph", "c.txt", "--format", "dot", *flags).json["name"] == "c"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a.stg"], "names no machines: give --machines, --powers or --machines-file"),
        (["a.stg", "--machines", "0"], "--machines must be positive, got 0"),
        (["a.stg", "--powers", "1,x"], "--powers: not a number: 'x'"),
        (["a.stg", "--powers", "1,2", "--machines", "3"], "there are 3 machines, but 2 powers"),
        (["a.stg", "--powers", "1,0"], "power: must be positive"),
        (["a.stg", "--machines", "2", "--bandwidth", "x"], "--bandwidth: not a number: 'x'"),
        (["a.stg", "--machines", "2", "--bandwidth", "0"], "bandwidth: must be positive"),
        (["a.stg", "--machines", "2", "--latency=-1"], "latency: must not be negative"),
        (["a.stg", "--machines", "2", "--deadline=-1"], "absolute_deadline: must not be negative"),
        (["a.stg", "--machines", "2", "--edges", "links.csv"], "belongs to the format costs"),
        (["a.stg", "--machines", "2", "--tau", "3"], "No such option: --tau"),
        (["a.stg", "--machines", "2", "--online"], "No such option: --online"),
        (["a.stg", "--machines-file", "m.json", "--latency", "1"], "exclude each other"),
        (["a.stg", "--machines-file", "none.json"], "none.json: cannot be read"),
        (["a.dax", "--machines", "2"], "edges send amounts, such as bytes: give --bandwidth"),
        (["times.csv", "--machines", "3"], "a cost on each of 2 machines, not 3"),
        (["times.csv", "--edges", "none.csv"], "none.csv: cannot be read"),
        (["loop.dot", "--machines", "2"], "loop.dot: line 3: must have no cycle, got 'a -> b"),
        (["none.dot", "--machines", "2"], "none.dot: cannot be read: No such file"),
        (["none", "--machines", "2"], "none: cannot be read: No such file"),
        (["a.dax", "--format", "stg", "--machines", "2"], "a.dax: line 1: the first line holds"),
        (["a.stg", "--format", "odd"], "unknown format 'odd'; known: swf, orlib, bpplib, temporal"),
    ],
)
def test_bad_conversions(words: list[str], text: str, dlopt: Command) -> None:
    done = dlopt("convert", "graph", *words, "--to", "dag", code=2)
    assert text in done.err and done.out == ""


def test_a_target_that_does_not_fit(dlopt: Command) -> None:
    for kind, words in (
        ("graph", "graph converts to dag, not to 'iit'"),
        ("etc", "etc converts to bag, not to 'iit'"),
        ("bins", "bins converts to coreservation, not to 'iit'"),
    ):
        flags = ("--format", "orlib") if kind == "bins" else ()
        assert words in dlopt("convert", kind, "a.stg", "--to", "iit", *flags, code=2).err
    message = dlopt("convert", "swf", "a.stg", "--to", "dag", code=2).err
    assert "swf converts to iit, admission, multistage, coreservation, not to 'dag'" in message
    message = dlopt("convert", "graph", "a.stg", "--format", "orlib", code=2).err
    assert "orlib is no format of task graphs (known: stg, " in message
    message = dlopt("convert", "bins", "a.stg", "--format", "stg", code=2).err
    assert "unknown format 'stg' of bin packing (known: orlib, bpplib, temporal)" in message


def test_a_matrix_of_times(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "u_c_hihi.0").write_text("2 2\n1\n2.5\n3\n4\n")
    made = dlopt("convert", "etc", "u_c_hihi.0", "--exact-numbers").json
    assert made["etc"] == [[1, "5/2"], [3, 4]] and made["name"] == "u_c_hihi.0"


def test_generate(dlopt: Command) -> None:
    assert "dag --family topcuoglu: " in dlopt("generate", "dag").out
    flags = ("--family", "fork-join", "--set", "width=3", "--set", "stages=1", "--set", "slack=2")
    made = dlopt("generate", "dag", *flags, "--set", "kind=related").json
    assert len(made["graphs"][0]["tasks"]) == 5 and made["problem"] == "dag"
    done = dlopt("generate", "dag", "--family", "fft", "--set", "points=6", code=2)
    assert "points must be a power of two" in done.err
