"""Whatever is wrong with the input: one message on standard error, exit code 2, no output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import THREE, Command, file_of

LOG = "; MaxProcs: 4\n1 0 -1 10 3 -1 -1 3 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in THREE.items() if key != name}


TEXTS = {
    "empty": ("", "is not valid JSON"),
    "no JSON": ("{", "line 1, column 2"),
    "a list": ("[1]", "must be a JSON object"),
    "a number": ("1", "must be a JSON object"),
    "nested": ("[" * 100_000, "is not valid JSON"),
    "long": (
        '{"load": ' + "9" * 5000 + "}",
        "has a number that is too long: more than 4300 digits",
    ),
    "twice": ('{"problem": "iit", "problem": "iit"}', "problem: is given twice"),
    "twice in a list": ('{"best_known": [1, {"a": 1, "a": 2}]}', "best_known[1].a: is given twice"),
    "wrong entry and length": (
        json.dumps(THREE | {"ready_times": [0, -1]}),
        "ready_times: must have one entry for each of the 3 nodes, got 2",
    ),
    "wrong cost and length": (
        json.dumps(THREE | {"cluster": {"nodes": 3, "tau": [1, -1], "chi": 2}}),
        "cluster.tau: must have one entry for each of the 3 nodes, got 2",
    ),
    "NaN": (json.dumps(THREE | {"load": float("nan")}), "load: must be a finite number"),
    "infinity": (json.dumps(THREE | {"load": float("inf")}), "load: must be a finite number"),
    "huge": (json.dumps(THREE | {"load": "1e5000"}), "load: must be a finite number"),
    "no problem": (json.dumps(without("problem")), "problem: is missing"),
    "strange problem": (json.dumps(THREE | {"problem": "xyz"}), "problem: must be a known"),
    "problem of no name": (json.dumps(THREE | {"problem": [1]}), "problem: must be a known"),
    "no version": (json.dumps(without("version")), "version: is missing"),
    "next version": (json.dumps(THREE | {"version": 2}), "version: must be 1, got 2"),
    "version of another type": (json.dumps(THREE | {"version": True}), "version: must be 1"),
    "no load": (json.dumps(without("load")), "load: is missing"),
    "strange field": (json.dumps(THREE | {"lod": 3}), "lod: is not a field"),
    "markup": (json.dumps(THREE | {"\\[/red]": 3}), "\\[/red]: is not a field"),
    "negative": (json.dumps(THREE | {"ready_times": [0, -1, 4]}), "ready_times[1]: must not be"),
    "short": (json.dumps(THREE | {"ready_times": [0, 1]}), "ready_times: must have one entry"),
    "text": (json.dumps(THREE | {"load": "three"}), "load: must be a finite number"),
    "zero": (json.dumps(THREE | {"load": "1/0"}), "load: must be a finite number"),
    "deadline": (json.dumps(THREE | {"absolute_deadline": 0}), "absolute_deadline: must lie after"),
}


@pytest.mark.parametrize(("text", "message"), TEXTS.values(), ids=TEXTS.keys())
def test_bad_files(dlopt: Command, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    done = dlopt("solve", file, "--json", code=2)
    assert done.out == "" and done.errors.startswith("error: ")
    assert str(file) in done.errors and message in done.errors


def test_every_fault_is_told_at_once(dlopt: Command, tmp_path: Path) -> None:
    data = {"problem": "iit", "version": 3, "cluster": {"nodes": 0, "tau": -1}, "load": 0, "x": 1}
    message = dlopt("solve", file_of(tmp_path / "bad.json", data), code=2).err
    for path in ("version", "cluster.nodes", "cluster.tau", "cluster.chi", "load", "x"):
        assert f"bad.json: {path}: " in message


def test_files_that_cannot_be_read(dlopt: Command, tmp_path: Path) -> None:
    assert "No such file" in dlopt("solve", "nothing.json", code=2).err
    assert "directory" in dlopt("solve", tmp_path, code=2).err
    assert "nothing [/b].json: " in dlopt("solve", "nothing [/b].json", code=2).err
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    assert "not UTF-8 at byte 10" in dlopt("solve", "latin.json", code=2).err
    (tmp_path / "zeros.json").write_bytes(bytes(100))
    assert "is not valid JSON" in dlopt("solve", "zeros.json", code=2).err


def test_compare_tells_of_every_bad_file(dlopt: Command, three: Path, tmp_path: Path) -> None:
    bad = file_of(tmp_path / "bad.json", without("load"))
    done = dlopt("compare", three, "nothing.json", bad, "--json", code=2)
    assert done.out == "" and "nothing.json" in done.err and "load: is missing" in done.err


SOLVES = {
    "method": (["--method", "edf-itt-2"], "(did you mean edf-iit-2 or edf-iit-1?"),
    "objective": (["--objective", "speed"], "no objective 'speed'"),
    "objective without its field": (["--objective", "nodes"], "needs absolute_deadline"),
    "objective of another method": (
        ["-m", "bound-fluid", "--objective", "nodes"],
        "does not support objective 'nodes'",
    ),
    "option": (["--set", "reading=3"], "no option 'reading'"),
    "option of another type": (["--set", "installments=two"], "takes a value of type int"),
    "option too small": (["--set", "installments=0"], "at least 1"),
    "option not among the choices": (["--set", "formulation=x"], "takes auto or sequence"),
    "setting without a value": (["--set", "installments"], "--set takes K=V"),
    "setting without a name": (["--set", "=3"], "--set takes K=V"),
    "setting of an argument": (["--set", "objective=nodes"], "objective is no option"),
    "setting of the hint": (["--set", "hint=x"], "hint is no option"),
    "formulation that does not fit": (
        ["--set", "formulation=prefix", "--set", "installments=2"],
        "supports one installment per node",
    ),
    "method that does not apply": (["-m", "opr:literal-timeline"], "does not apply"),
    "time limit zero": (["--time-limit", "0"], "(--time-limit) must be a positive, finite number"),
    "time limit without end": (
        ["--time-limit", "inf"],
        "must be a positive, finite number, got inf",
    ),
    "time limit no number": (["--time-limit", "nan"], "(--time-limit) must be a positive"),
    "time limit text": (["--time-limit", "soon"], "--time-limit"),
    "threads": (["--threads", "0"], "(--threads) must be a positive integer"),
    "work": (["--work", "-1"], "(--work) must be a positive integer"),
    "gap": (["--gap", "inf"], "(--gap) must be a finite number"),
    "seed": (["--seed", "x"], "--seed"),
    "flag": (["--fast"], "--fast"),
    "folder of out": (["--out", "nowhere/r.json"], "cannot write nowhere/r.json"),
    "out is a folder": (["--out", "."], "cannot write ."),
    "form of the picture": (["--plot", "a.txt"], "must end in .svg, .png, .pdf"),
    "folder of the picture": (["--plot", "nowhere/a.svg"], "cannot write nowhere/a.svg"),
}


@pytest.mark.parametrize(("flags", "message"), SOLVES.values(), ids=SOLVES.keys())
def test_bad_requests(dlopt: Command, three: Path, flags: list[str], message: str) -> None:
    done = dlopt("solve", three, "--json", *flags, code=2)
    assert done.out == "" and message in done.err


def test_an_unknown_solver_is_bad_input(dlopt: Command, three: Path) -> None:
    assert "knows no solver 'none'" in dlopt("solve", three, "--set", "solver=none", code=2).err


OTHERS = {
    "no such command": (["slove"], "No such command"),
    "no file": (["solve"], "Missing argument"),
    "methods of no problem": (["methods", "xyz"], "no problem 'xyz'"),
    "schema of no problem": (["schema", "xyz"], "there is no schema 'xyz'"),
    "compare with no such method": (["compare", "three.json", "--methods", "x"], "no method 'x'"),
    "plot without a file": (["plot", "three.json", "three.json"], "--out"),
    "family": (["generate", "iit", "--family", "x"], "known: ramp, burst"),
    "problem to generate": (["generate", "x", "--family", "x"], "no problem 'x'"),
    "parameter": (["generate", "iit", "--family", "ramp", "--set", "a=1"], "no parameter 'a'"),
    "parameter out of range": (
        ["generate", "iit", "--family", "ramp", "--set", "nodes=0"],
        "from 1 to 1000000",
    ),
    "parameter of another type": (
        ["generate", "iit", "--family", "ramp", "--set", "nodes=many"],
        "nodes must be an integer",
    ),
    "parameter no integer": (
        ["generate", "iit", "--family", "random", "--set", "span=1/2"],
        "cannot be interpreted as an integer",
    ),
    "parameter no number": (
        ["generate", "iit", "--family", "snapshot", "--set", "utilization=high"],
        "utilization=high does not fit",
    ),
    "slack no number": (
        ["generate", "iit", "--family", "random", "--set", "slack=x"],
        "slack=x does not fit",
    ),
    "two that are no numbers": (
        ["generate", "iit", "--family", "ramp", "--set", "spread=x", "--set", "tau=y"],
        "spread=x, tau=y do not fit",
    ),
    "settings without a family": (
        ["generate", "iit", "--set", "nodes=3"],
        "--family is missing (known: ramp, burst",
    ),
    "file without a family": (["generate", "iit", "--out", "a.json"], "--family is missing"),
    "families of no problem": (["generate", "x"], "no problem 'x'"),
    "compare by no method": (["compare", "three.json", "--methods", " ,"], "names no method"),
    "too many bursts": (
        ["generate", "iit", "--family", "burst", "--set", "bursts=1e12"],
        "at most 1000000",
    ),
    "instance that breaks the rules": (
        ["generate", "iit", "--family", "ramp", "--set", "tau=-1"],
        "tau: must not be negative",
    ),
    "seed set": (["generate", "iit", "--family", "ramp", "--set", "seed=1"], "--set"),
}


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("words", "message"), OTHERS.values(), ids=OTHERS.keys())
def test_bad_commands(dlopt: Command, words: list[str], message: str) -> None:
    done = dlopt(*words, code=2)
    assert done.out == "" and message in done.err


CONVERSIONS = {
    "target": (["--to", "dag"], "converts to iit"),
    "starts": (["--starts", "late"], "takes recorded or fcfs"),
    "machines": (["--machines", "0"], "must be positive"),
    "machine too small": (["--machines", "2"], "a job takes 3 processors"),
    "instant": (["--at", "noon"], "--at: not a number: 'noon'"),
    "instant beyond numbers": (["--at", "1e5000"], "finite"),
    "load": (["--load", "0"], "load: must be positive"),
    "cost": (["--theta-cm", "a few"], "--theta-cm: not a number"),
    "deadline": (["--deadline", "0"], "absolute_deadline: must lie after"),
}


@pytest.mark.parametrize(("flags", "message"), CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_bad_conversions(dlopt: Command, tmp_path: Path, flags: list[str], message: str) -> None:
    (tmp_path / "toy.swf").write_text(LOG)
    good = ["convert", "swf", "toy.swf", "--to", "iit", "--at", "5", "--load", "9"]
    dlopt(*good)
    done = dlopt(*good, *flags, code=2)
    assert done.out == "" and message in done.err


def test_bad_logs(dlopt: Command, tmp_path: Path) -> None:
    flags = ["--to", "iit", "--at", "5", "--load", "9"]
    (tmp_path / "a.swf").write_text(LOG + "2 soon\n")
    assert "line 3" in dlopt("convert", "swf", "a.swf", *flags, code=2).err
    assert "a.txt" in dlopt("convert", "swf", "a.txt", *flags, code=2).err
    (tmp_path / "b.swf").write_text(LOG.replace("; MaxProcs: 4\n", ""))
    assert "--machines N" in dlopt("convert", "swf", "b.swf", *flags, code=2).err


def test_bad_results(dlopt: Command, three: Path, tmp_path: Path) -> None:
    good = dlopt("solve", three, "--json").json
    other = file_of(tmp_path / "other.json", THREE | {"load": 4})

    def message_of(data: Any, instance: Path = three) -> str:
        done = dlopt("check", instance, file_of(tmp_path / "r.json", data), "--json", code=2)
        assert done.out == ""
        return done.err

    assert "hash: must be the hash of the instance" in message_of(good, other)
    assert "status: must be one of" in message_of(good | {"status": "fine"})
    assert "method: must be a text" in message_of(good | {"method": 3})
    assert "problem: must be iit" in message_of(good | {"problem": "dag"})
    wrong: Any
    for wrong in ([4, 5], True, "four", {}, float("nan"), float("inf")):
        assert "value: must be " in message_of(good | {"value": wrong})
        assert "bound: must be " in message_of(good | {"bound": wrong})
    assert "tolerance: must be a number" in message_of(good | {"tolerance": -1})
    assert "solution.chunks: is missing" in message_of(good | {"solution": {}})
    bare = good["solution"]
    bare["chunks"][1]["node"] = 1.5
    assert "r.json: chunks[1].node: must be an integer" in message_of(bare)
    assert "r.json: " in message_of([1])
    assert "No such file" in dlopt("check", three, "nothing.json", code=2).err


def test_tolerances_that_are_none(dlopt: Command, three: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    dlopt("solve", three, "--out", plan)
    for tolerance in ("1", "nan", "-1"):
        done = dlopt("check", three, plan, "--tolerance", tolerance, code=2)
        assert "must lie in [0, 1)" in done.err


@pytest.mark.parametrize(
    "command",
    [
        ("batch", "{instance}", "--import", "{module}", "--out", "{rows}"),
        ("falsify", "iit", "{module}:method"),
    ],
)
def test_a_module_that_ends_the_program_is_told(
    dlopt: Command, three: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Code 0 would say that all went well, and nothing was done."""
    module = tmp_path / "ends.py"
    module.write_text("import sys\nsys.exit(0)\n")
    names = {"module": module, "rows": tmp_path / "rows.jsonl", "instance": three}
    done = dlopt(*(word.format(**names) for word in command), code=2)
    assert not done.out
    assert "ends.py" in done.err and "Traceback" not in done.err
