"""Instance files that are wrong: each is told with its name, its path and every fault."""

import json
from pathlib import Path

import pytest

from dlopt import io
from dlopt.errors import InvalidInstanceError
from dlopt.plain_data import error_to_data
from dlopt.problems.iit import Cluster, Instance
from tests.instance_files import TEXT, VALID, edited, written

DEEP = "[" * 100_000 + "]" * 100_000
NUMBER = 'must be a finite number or a text "p/q"'
BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "is not valid JSON: Expecting value in line 1, column 1"),
    ("blank", " \n", "is not valid JSON: Expecting value in line 2, column 1"),
    ("no-json", "problem: iit", "is not valid JSON: Expecting value in line 1, column 1"),
    ("truncated", '{"problem":\n "iit"', "is not valid JSON: Expecting ',' delimiter in line 2"),
    ("two-values", "{} {}", "is not valid JSON: Extra data in line 1, column 4"),
    ("control", '{"a": "\x01"}', "is not valid JSON: Invalid control character in line 1"),
    ("open-text", '{"a": "b}', "is not valid JSON: Unterminated string in line 1, column 7"),
    ("binary", b"\x89PNG\r\n\x1a\n\x00", "is not valid JSON: not UTF-8 at byte 0"),
    ("utf-16", TEXT.encode("utf-16"), "is not valid JSON: not UTF-8 at byte 0"),
    ("cut-in-a-letter", b'{"name": "\xc3', "is not valid JSON: not UTF-8 at byte 10"),
    ("deep", DEEP, "is not valid JSON: "),
    ("deep-objects", '{"a":' * 100_000, "is not valid JSON: "),
    ("digits", edited('"load": 3', f'"load": {"3" * 5000}'), "has a number that is too long"),
    ("list", "[]", "must be a JSON object, got []"),
    ("number", "3", "must be a JSON object, got 3"),
    ("null", "null", "must be a JSON object, got null"),
    ("nan", edited('"load": 3', '"load": NaN'), "load: must be a finite number"),
    ("infinity", edited("[0, 1, 4]", "[0, 1, -Infinity]"), "ready_times[2]: must be a finite"),
    ("overflow", edited('"load": 3', '"load": 1e999'), "load: must be a finite number"),
    ("huge", edited('"load": 3', f'"load": 3{"0" * 400}'), "load: must be a finite number"),
    ("no-problem", edited('"problem": "iit", ', ""), "problem: is missing"),
    (
        "wrong-problem",
        edited('"iit"', '"iti"'),
        "problem: must be a known problem (did you mean iit? known: iit, ",
    ),
    ("problem-number", edited('"iit"', "7"), "problem: must be a known problem (known: iit, "),
    ("problem-list", edited('"iit"', "[]"), "problem: must be a known problem (known: iit, "),
    ("no-version", edited('"version": 1, ', ""), "version: is missing"),
    ("wrong-version", edited('"version": 1', '"version": 2'), "version: must be 1, got 2"),
    ("version-text", edited('"version": 1', '"version": "1"'), "version: must be 1, got '1'"),
    ("version-float", edited('"version": 1', '"version": 1.0'), "version: must be 1, got 1.0"),
    ("version-true", edited('"version": 1', '"version": true'), "version: must be 1, got true"),
    ("load-null", edited('"load": 3', '"load": null'), f"load: {NUMBER}, got null"),
    ("load-nan", edited('"load": 3', '"load": NaN'), f"load: {NUMBER}, got NaN"),
    (
        "object",
        edited("[0, 1, 4]", '{"0": [null, true, "1/3"]}'),
        'ready_times: must be a list, got {"0": [null, true, "1/3"]}',
    ),
    ("unknown", edited('"load": 3', '"load": 3, "color": 1'), "color: is not a field (known: "),
    ("missing", edited('"load": 3, ', ""), "load: is missing"),
    ("nested", edited('"nodes": 3', '"nodes": 0'), "cluster.nodes: must be at least 1, got 0"),
    ("length", edited("[0, 1, 4]", "[0, 1]"), "ready_times: must have one entry for each of the 3"),
    ("twice", edited('"load": 3', '"load": 3, "load": 4'), "load: is given twice"),
    (
        "twice-nested",
        edited('"nodes": 3', '"nodes": 3, "nodes": 3'),
        "cluster.nodes: is given twice",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"), [bad[1:] for bad in BAD_FILES], ids=[bad[0] for bad in BAD_FILES]
)
def test_a_bad_file_is_told_with_its_name(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, content)
    for exact_numbers in (False, True):
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path, exact_numbers=exact_numbers)
        expected = message.replace("got 1.0", "got 1") if exact_numbers else message
        assert str(caught.value).startswith(f"{path}: {expected}")
        assert len(str(caught.value)) < 1000
        assert caught.value.source == str(path)
        assert len(caught.value.faults) == 1


def test_only_of_files_are_values_spelled_as_in_json() -> None:
    with pytest.raises(InvalidInstanceError, match=r"\Aversion: must be 1, got true\n") as caught:
        io.instance_from_data({**VALID, "version": True, "load": None})
    assert str(caught.value.within("a.json")).endswith(", got null")
    with pytest.raises(InvalidInstanceError, match=r"load: .*, got None\Z") as caught:
        Instance(Cluster(1, tau=1, chi=1), ready_times=(0,), load=None)  # type: ignore[arg-type]
    assert str(error_to_data(caught.value)["detail"]).endswith(", got null")


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    wrong = {**VALID, "version": 3, "load": 0, "cluster": {"nodes": 0}, "color": 1}
    path = written(tmp_path, json.dumps(wrong))
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(path)
    paths = ["version", "cluster.nodes", "cluster.tau", "cluster.chi", "load", "color"]
    assert [fault.path for fault in caught.value.faults] == paths
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(f"{path}: ").split(":")[0] for line in lines] == paths


def test_of_an_unknown_problem_only_the_envelope_is_told() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        io.instance_from_data({"version": 2, "color": 1}, "b.json")
    assert str(caught.value) == "b.json: problem: is missing\nb.json: version: must be 1, got 2"


def test_all_repeated_fields_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, '{"c": 1, "b": {"x": 1, "x": 2}, "a": 2, "c": 1, "c": 2, "a": 3}')
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(path)
    assert [fault.path for fault in caught.value.faults] == ["b.x", "a", "c"]


@pytest.mark.parametrize("exact_numbers", [False, True])
@pytest.mark.parametrize(
    ("number", "path"),
    [("1e9999", "load"), ("-1e-9999", "load"), ("-1e999", "load"), ("1e99999", "")],
)
def test_decimals_beyond_all_floats_are_told(
    tmp_path: Path, number: str, path: str, exact_numbers: bool
) -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(
            written(tmp_path, edited('"load": 3', f'"load": {number}')), exact_numbers=exact_numbers
        )
    (fault,) = caught.value.faults
    assert fault.path == (path if exact_numbers else "load")


def test_nesting_that_can_just_be_parsed_is_told(tmp_path: Path) -> None:
    """The parser gives up at some depth; just above it, there must be room for the message."""

    def parsed(depth: int) -> bool:
        path = written(tmp_path, edited('"load": 3', f'"load": {"[" * depth}{"]" * depth}'))
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path)
        return "is not valid JSON" not in str(caught.value)

    least, most = 1, 100_000
    assert parsed(least) and not parsed(most)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if parsed(middle) else (least, middle)
    for depth in range(least - 30, least + 3):
        assert parsed(depth) is (depth <= least)
