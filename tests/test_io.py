"""Files: what is written can be read, what is wrong is told, and no write loses the old file."""

import errno
import hashlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import files, io
from dlopt.api import check, solve
from dlopt.arithmetic import parse
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.files import replacing, to_text
from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.problems.records import LARGEST, BestKnown
from dlopt.result import Objective, Result, Status, Violation
from dlopt.schemas import instance_schema
from tests import strategies

F = Fraction
ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "instances" / "iit").glob("*.json"))
VALID = {
    "problem": "iit",
    "version": 1,
    "name": "three",
    "cluster": {"nodes": 3, "tau": [1, 2, 3], "chi": "3/2", "theta_cm": 0.5},
    "ready_times": [0, 1, 4],
    "load": 3,
    "absolute_deadline": 20,
    "best_known": [
        {"objective": "completion", "plan_class": "any", "value": "39/8", "bound": [4, "9/2"]}
    ],
}


@st.composite
def instances(draw: Any) -> Instance:
    """Return an instance with everything that a file can say; exact, or with floats."""
    instance = draw(strategies.iit(identical=draw(st.booleans()), deadline=draw(st.booleans())))
    if draw(st.booleans()):
        instance = replace(
            instance,
            load=draw(st.floats(1e-100, 1e100)),
            ready_times=tuple(float(ready) for ready in instance.ready_times),
        )
    values = st.none() | st.integers() | st.fractions() | st.lists(st.fractions(), max_size=2)
    best = st.builds(
        BestKnown, st.text(), st.sampled_from(["single", "per-stage", "k", "any"]), values, values
    )
    return replace(
        instance,
        name=draw(st.text()),
        origin=draw(st.text()),
        units=draw(st.text(max_size=3)),
        best_known=tuple(draw(st.lists(best, max_size=2))),
    )


def everything(instance: Instance) -> tuple[object, ...]:
    """Return an instance and its header, which equality leaves out."""
    return instance, instance.name, instance.origin, instance.units, instance.best_known


@pytest.fixture
def write_text(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(text: str | bytes) -> Path:
        path = tmp_path / "instance.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


# --- reading and writing instances ---------------------------------------------------------


@pytest.mark.property
@given(instances())
def test_an_instance_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    path = tmp_path_factory.mktemp("round") / "instance.json"
    io.write(instance, path)
    again = io.read(path)
    assert everything(again) == everything(instance)
    assert again.exact is instance.exact
    assert io.instance_hash(again) == io.instance_hash(instance)


@pytest.mark.property
@given(strategies.iit(identical=False, deadline=True))
def test_exact_numbers_are_read_exactly_either_way(instance: Instance) -> None:
    text = json.dumps(io.instance_to_data(instance))
    assert io.instance_from_data(json.loads(text)) == instance
    assert io.instance_from_data(json.loads(text)).exact


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_instances_are_read_and_written_back(path: Path, tmp_path: Path) -> None:
    instance = io.read(path)
    assert instance.name == path.stem
    io.write(instance, tmp_path / "again.json")
    assert everything(io.read(tmp_path / "again.json")) == everything(instance)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def test_a_file_begins_with_what_it_is(tmp_path: Path) -> None:
    io.write(io.instance_from_data(VALID), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert text.startswith('{\n "problem": "iit",\n "version": 1,\n "name": "three",\n')
    assert text.endswith("}\n")
    assert list(json.loads(text))[-1] == "best_known"
    assert json.loads(text) == VALID


def test_a_byte_order_mark_is_accepted(write_text: Callable[[bytes], Path]) -> None:
    path = write_text(b"\xef\xbb\xbf" + json.dumps(VALID).encode())
    assert io.read(path) == io.instance_from_data(VALID)


def test_decimals_can_be_read_as_the_rationals_that_they_spell(
    write_text: Callable[[str], Path],
) -> None:
    text = (
        '{"problem": "iit", "version": 1, "cluster": {"nodes": 1, "tau": 0.1, "chi": 2.50e-1},'
        ' "ready_times": [0.0], "load": 1E2}'
    )
    exact = io.read(write_text(text), exact_numbers=True)
    assert exact.cluster == Cluster(1, F(1, 10), F(1, 4))
    assert (exact.ready_times, exact.load) == ((0,), 100)
    assert exact.exact
    floating = io.read(write_text(text))
    assert floating.cluster.tau == 0.1 != exact.cluster.tau
    assert {type(floating.cluster.tau), type(floating.load)} == {float}


def test_all_numbers_can_be_read_as_floats(write_text: Callable[[str], Path]) -> None:
    path = write_text(TEXT)
    floats = io.read(path, float_numbers=True)
    assert floats == io.read(path)
    assert floats.name == "three"
    cluster = floats.cluster
    numbers = (*cluster.tau, cluster.chi, cluster.theta_cm, *floats.ready_times, floats.load)
    assert {type(number) for number in (*numbers, floats.absolute_deadline)} == {float}
    assert type(cluster.nodes) is int
    with pytest.raises(NotApplicableError, match="either as exact ones or as floats"):
        io.read(path, exact_numbers=True, float_numbers=True)
    path = write_text(edited('"load": 3', '"load": "1e-9999"'))
    assert io.read(path).load == F(1, 10**9999)
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(path, float_numbers=True)
    assert str(caught.value) == f"{path}: load: must be positive, got 0.0"


def test_a_path_may_be_a_text(write_text: Callable[[str], Path]) -> None:
    assert io.read(str(write_text(json.dumps(VALID)))).name == "three"


# --- files that are wrong ------------------------------------------------------------------

DEEP = "[" * 100_000 + "]" * 100_000
TEXT = json.dumps(VALID)


def edited(old: str, new: str) -> str:
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "is no JSON: Expecting value in line 1, column 1"),
    ("blank", " \n", "is no JSON: Expecting value in line 2, column 1"),
    ("no-json", "problem: iit", "is no JSON: Expecting value in line 1, column 1"),
    ("truncated", '{"problem":\n "iit"', "is no JSON: Expecting ',' delimiter in line 2"),
    ("two-values", "{} {}", "is no JSON: Extra data in line 1, column 4"),
    ("binary", b"\x89PNG\r\n\x1a\n\x00", "is no JSON: not UTF-8 at byte 0"),
    ("utf-16", TEXT.encode("utf-16"), "is no JSON: not UTF-8 at byte 0"),
    ("cut-in-a-letter", b'{"name": "\xc3', "is no JSON: not UTF-8 at byte 10"),
    ("deep", DEEP, "is no JSON: "),
    ("deep-objects", '{"a":' * 100_000, "is no JSON: "),
    ("digits", edited('"load": 3', f'"load": {"3" * 5000}'), "is no JSON: Exceeds the limit"),
    ("list", "[]", "must be a JSON object, got []"),
    ("number", "3", "must be a JSON object, got 3"),
    ("null", "null", "must be a JSON object, got None"),
    ("nan", edited('"load": 3', '"load": NaN'), "load: must be a finite number"),
    ("infinity", edited("[0, 1, 4]", "[0, 1, -Infinity]"), "ready_times[2]: must be a finite"),
    ("overflow", edited('"load": 3', '"load": 1e999'), "load: must be a finite number"),
    ("huge", edited('"load": 3', f'"load": 3{"0" * 400}'), "load: must be a finite number"),
    ("no-problem", edited('"problem": "iit", ', ""), "problem: is missing"),
    (
        "wrong-problem",
        edited('"iit"', '"iti"'),
        "problem: must be a known problem: no problem 'iti' (known: iit",
    ),
    ("problem-number", edited('"iit"', "7"), "problem: must be a known problem: no problem 7"),
    ("problem-list", edited('"iit"', "[]"), "problem: must be a known problem: no problem []"),
    ("no-version", edited('"version": 1, ', ""), "version: is missing"),
    ("wrong-version", edited('"version": 1', '"version": 2'), "version: must be 1, got 2"),
    ("version-text", edited('"version": 1', '"version": "1"'), "version: must be 1, got '1'"),
    ("version-float", edited('"version": 1', '"version": 1.0'), "version: must be 1, got 1.0"),
    ("version-true", edited('"version": 1', '"version": true'), "version: must be 1, got True"),
    ("unknown", edited('"load": 3', '"load": 3, "color": 1'), "color: is not a field (known: "),
    ("missing", edited('"load": 3, ', ""), "load: is missing"),
    ("nested", edited('"nodes": 3', '"nodes": 0'), "cluster.nodes: must be at least 1, got 0"),
    ("length", edited("[0, 1, 4]", "[0, 1]"), "ready_times: must have one entry for each of the 3"),
    ("twice", edited('"load": 3', '"load": 3, "load": 4'), "load: is given twice"),
    ("twice-nested", edited('"nodes": 3', '"nodes": 3, "nodes": 3'), "nodes: is given twice"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"), [bad[1:] for bad in BAD_FILES], ids=[bad[0] for bad in BAD_FILES]
)
def test_a_bad_file_is_told_with_its_name(
    write_text: Callable[[str | bytes], Path], content: str | bytes, message: str
) -> None:
    path = write_text(content)
    for exact_numbers in (False, True):
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path, exact_numbers=exact_numbers)
        expected = message.replace("got 1.0", "got 1") if exact_numbers else message
        assert str(caught.value).startswith(f"{path}: {expected}")
        assert len(str(caught.value)) < 1000
        assert caught.value.source == str(path)
        assert len(caught.value.faults) == 1


def test_all_faults_of_a_file_are_told_at_once(write_text: Callable[[str], Path]) -> None:
    wrong = {**VALID, "version": 3, "load": 0, "cluster": {"nodes": 0}, "color": 1}
    path = write_text(json.dumps(wrong))
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


def test_all_repeated_fields_are_told(write_text: Callable[[str], Path]) -> None:
    path = write_text('{"c": 1, "b": {"x": 1, "x": 2}, "a": 2, "c": 1, "c": 2, "a": 3}')
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(path)
    assert [fault.path for fault in caught.value.faults] == ["x", "a", "c"]


@pytest.mark.parametrize("exact_numbers", [False, True])
@pytest.mark.parametrize(
    ("number", "path"),
    [("1e9999", "load"), ("-1e-9999", "load"), ("-1e999", "load"), ("1e99999", "")],
)
def test_decimals_beyond_all_floats_are_told(
    write_text: Callable[[str], Path], number: str, path: str, exact_numbers: bool
) -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        io.read(write_text(edited('"load": 3', f'"load": {number}')), exact_numbers=exact_numbers)
    (fault,) = caught.value.faults
    assert fault.path == (path if exact_numbers else "load")


def test_nesting_that_can_just_be_parsed_is_told(write_text: Callable[[str], Path]) -> None:
    """The parser gives up at some depth; just above it, there must be room for the message."""

    def parsed(depth: int) -> bool:
        path = write_text(edited('"load": 3', f'"load": {"[" * depth}{"]" * depth}'))
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path)
        return "is no JSON" not in str(caught.value)

    least, most = 1, 100_000
    assert parsed(least) and not parsed(most)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if parsed(middle) else (least, middle)
    for depth in range(least - 30, least + 3):
        assert parsed(depth) is (depth <= least)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.json", os.strerror(errno.ENOENT)),
        (tmp_path, os.strerror(errno.EISDIR)),
        (tmp_path / ("x" * 300), os.strerror(errno.ENAMETOOLONG)),
    ):
        with pytest.raises(InvalidInstanceError) as caught:
            io.read(path)
        assert str(caught.value) == f"{path}: cannot be read: {reason}"


def test_a_file_that_is_too_large_is_not_read(
    write_text: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_text(TEXT)
    monkeypatch.setattr(files, "MOST_BYTES", len(TEXT))
    assert io.read(path).name == "three"
    monkeypatch.setattr(files, "MOST_BYTES", len(TEXT) - 1)
    with pytest.raises(InvalidInstanceError, match=r"is too large a file, got '\d+ bytes'"):
        io.read(path)


# --- hashes --------------------------------------------------------------------------------


def hash_of(**changes: object) -> str:
    return io.instance_hash(io.instance_from_data({**VALID, **changes}))


def test_the_hash_is_that_of_a_text_that_never_changes() -> None:
    """Results that were saved name their instance by this hash."""
    text = (
        '{"absolute_deadline":20,"cluster":{"chi":"3/2","nodes":3,"tau":[1,2,3],"theta_cm":"1/2",'
        '"theta_cp":0},"load":3,"problem":"iit","ready_times":[0,1,4]}'
    )
    assert hash_of() == hashlib.sha256(text.encode()).hexdigest()
    none = text.replace(":20,", ":null,")
    assert hash_of(absolute_deadline=None) == hashlib.sha256(none.encode()).hexdigest()


def test_the_hash_leaves_out_what_an_instance_says_of_itself() -> None:
    before = hash_of()
    assert len(before) == 64
    assert hash_of(name="other", origin="elsewhere", units="s", best_known=[]) == before


def test_the_hash_does_not_depend_on_how_numbers_are_written() -> None:
    before = hash_of()
    cluster = {"theta_cm": "2/4", "chi": 1.5, "tau": ["1", 2.0, "9/3"], "nodes": 3, "theta_cp": 0.0}
    spelled = {"cluster": cluster, "ready_times": ["0", 1.0, "8/2"], "load": 3.0}
    assert hash_of(**spelled, absolute_deadline="2e1") == before
    assert hash_of(load="30e-1") == before


@pytest.mark.parametrize(
    "change",
    [
        {"load": 4},
        {"load": 3.0000000000000004},
        {"absolute_deadline": None},
        {"absolute_deadline": 21},
        {"ready_times": [0, 4, 1]},
        {"cluster": {**VALID["cluster"], "tau": [1, 3, 2]}},
        {"cluster": {**VALID["cluster"], "chi": ["3/2", "3/2", "3/2"]}},
        {"cluster": {**VALID["cluster"], "theta_cm": 0}},
        {"cluster": {**VALID["cluster"], "theta_cp": 0.5}},
    ],
)
def test_the_hash_tells_other_instances_apart(change: dict[str, object]) -> None:
    assert hash_of(**change) != hash_of()


def test_a_tenth_is_not_the_float_next_to_it() -> None:
    assert hash_of(load="1/10") != hash_of(load=0.1)
    assert hash_of(load="1/2") == hash_of(load=0.5)


@pytest.mark.property
@given(instances(), instances())
def test_hashes_are_equal_iff_instances_are(left: Instance, right: Instance) -> None:
    assert (io.instance_hash(left) == io.instance_hash(right)) is (left == right)


@pytest.mark.property
@given(instances())
def test_floats_have_the_hash_of_the_rationals_that_they_are(instance: Instance) -> None:
    rational = replace(
        instance, load=F(instance.load), ready_times=tuple(map(F, instance.ready_times))
    )
    assert io.instance_hash(rational) == io.instance_hash(instance)


# --- results -------------------------------------------------------------------------------

INSTANCE = io.instance_from_data(VALID)


def solved() -> Result[Solution]:
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    return solve(instance, "edf-iit-2")


THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, name="three")

values = st.none() | st.integers() | st.fractions() | st.floats(-1e9, 1e9)
chunks = st.builds(Chunk, st.integers(-1, 3), *[st.fractions() | st.integers()] * 5)
results = st.builds(
    Result,
    st.sampled_from(Status),
    solution=st.none() | st.builds(Solution, st.lists(chunks, max_size=3)),
    objective=st.sampled_from(["completion", "nodes", "something"]),
    value=values,
    bound=values,
    reason=st.none() | st.text(),
    tolerance=st.sampled_from([0.0, 1e-9, 1e-6]),
    runtime_s=st.none() | st.floats(0, 10),
    method=st.text(),
    seed=st.integers(0),
    plan_class=st.sampled_from([None, "single", "per-stage", "k", "any"]),
    solver=st.none() | st.text(),
    solver_version=st.none() | st.text(),
)


@pytest.mark.property
@given(results)
def test_a_result_is_read_as_it_was_written(result: Result[Solution]) -> None:
    text = json.dumps(io.result_to_data(THREE, result), allow_nan=False)
    assert io.result_from_data(json.loads(text), THREE) == result


def test_what_a_result_file_says() -> None:
    violation = Violation("not-ready", "node 0", F(0), F(1, 2), F(1, 2))
    result = Result(
        Status.UNSOUND,
        Solution((Chunk(0, 3, 0, 3, 3, 9),)),
        "completion",
        value=F(39, 8),
        bound=4,
        violations=(violation, Violation("load-not-conserved", "load")),
        runtime_s=0.5,
        method="mine",
        plan_class="any",
    )
    data = io.result_to_data(THREE, result)
    version = data.pop("dlopt")
    assert version
    assert data == {
        "problem": "iit",
        "instance": "three",
        "hash": io.instance_hash(THREE),
        "method": "mine",
        "status": "unsound",
        "objective": "completion",
        "value": "39/8",
        "bound": 4,
        "gap": "7/39",
        "plan_class": "any",
        "reason": None,
        "runtime_s": 0.5,
        "seed": 0,
        "tolerance": 0.0,
        "solver": None,
        "solver_version": None,
        "violations": [
            {"kind": "not-ready", "resource": "node 0", "start": 0, "end": "1/2", "amount": "1/2"},
            {
                "kind": "load-not-conserved",
                "resource": "load",
                "start": None,
                "end": None,
                "amount": None,
            },
        ],
        "solution": {
            "chunks": [
                {
                    "node": 0,
                    "load": 3,
                    "transmission_start": 0,
                    "transmission_end": 3,
                    "computation_start": 3,
                    "computation_end": 9,
                }
            ]
        },
    }


@pytest.mark.parametrize("exact_numbers", [False, True])
def test_a_solved_result_is_read_from_its_file_and_valid(
    tmp_path: Path, exact_numbers: bool
) -> None:
    result, path = solved(), tmp_path / "result.json"
    io.write(io.result_to_data(THREE, result), path)
    again = io.read_plan(path, THREE, exact_numbers=exact_numbers)
    assert again == result
    assert check(THREE, again) == ()


@pytest.mark.parametrize("exact_numbers", [False, True])
def test_a_plan_alone_is_read_too(tmp_path: Path, exact_numbers: bool) -> None:
    plan, path = solved().solution, tmp_path / "plan.json"
    io.write(plan, path)
    assert io.read_plan(path, THREE, exact_numbers=exact_numbers) == plan


def test_a_float_result_is_read_exactly_if_that_is_asked_for(tmp_path: Path) -> None:
    result = replace(solved(), value=4.875, bound=0.1, tolerance=1e-9)
    io.write(io.result_to_data(THREE, result), tmp_path / "r.json")
    exact = io.read_plan(tmp_path / "r.json", THREE, exact_numbers=True)
    assert (exact.value, exact.bound, exact.tolerance) == (F(39, 8), F(1, 10), 1e-9)
    assert type(exact.tolerance) is float
    assert io.read_plan(tmp_path / "r.json", THREE).bound == 0.1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "must be an object with named fields, got []"),
        ('{"chunks": 3}', "chunks: must be a list, got 3"),
        ('{"chunks": [{"node": 0.5}]}', "chunks[0].node: must be an integer, got 0.5"),
        ("{}", "chunks: is missing"),
        ('{"plan": []}', "chunks: is missing"),
        ('{"status": "optimal"}', "method: must be a text, as solve writes it, got None"),
        ("{", "is no JSON: "),
    ],
)
def test_a_file_without_a_plan(
    write_text: Callable[[str], Path], content: str, message: str
) -> None:
    path = write_text(content)
    with pytest.raises(InvalidInstanceError) as caught:
        io.read_plan(path, THREE)
    assert str(caught.value).startswith(f"{path}: {message}")


NUMBER = 'must be a finite number or a text "p/q"'
TOLERANCE = "must be a number in [0, 1)"


@pytest.mark.parametrize(
    ("key", "value", "path", "rule"),
    [
        ("hash", "0" * 64, "hash", "must be the hash of the instance given"),
        ("hash", None, "hash", "must be the hash of the instance given"),
        ("problem", "bag", "problem", "must be iit"),
        ("problem", None, "problem", "must be iit"),
        ("method", 3, "method", "must be a text, as solve writes it"),
        ("reason", 3, "reason", "must be a text, as solve writes it"),
        ("objective", [], "objective", "must be a text, as solve writes it"),
        ("solver", 3, "solver", "must be a text, as solve writes it"),
        ("solver_version", [], "solver_version", "must be a text, as solve writes it"),
        ("seed", 1.5, "seed", "must be an integer, as solve writes it"),
        ("seed", True, "seed", "must be an integer, as solve writes it"),
        ("plan_class", "all", "plan_class", "must be one of single, per-stage, k, any"),
        ("plan_class", [], "plan_class", "must be one of single, per-stage, k, any"),
        ("value", "x", "value", NUMBER),
        ("value", True, "value", NUMBER),
        ("value", math.nan, "value", NUMBER),
        ("value", [1, 2], "value", NUMBER),
        ("bound", math.inf, "bound", NUMBER),
        ("bound", {}, "bound", NUMBER),
        ("bound", "1/0", "bound", NUMBER),
        ("tolerance", -1e-9, "tolerance", TOLERANCE),
        ("tolerance", 1, "tolerance", TOLERANCE),
        ("tolerance", math.nan, "tolerance", TOLERANCE),
        ("tolerance", math.inf, "tolerance", TOLERANCE),
        ("tolerance", True, "tolerance", TOLERANCE),
        ("tolerance", "0", "tolerance", TOLERANCE),
        ("tolerance", None, "tolerance", TOLERANCE),
        ("solution", 3, "solution", "must be an object with named fields"),
        ("solution", False, "solution", "must be an object with named fields"),
        ("solution", {"chunks": [{}] * 1}, "solution.chunks[0].node", "is missing"),
    ],
)
def test_a_result_that_is_wrong(key: str, value: object, path: str, rule: str) -> None:
    data = {**io.result_to_data(THREE, solved()), key: value}
    with pytest.raises(InvalidInstanceError) as caught:
        io.result_from_data(data, THREE, "r.json")
    assert (caught.value.faults[0].path, caught.value.faults[0].rule) == (path, rule)
    assert str(caught.value).startswith(f"r.json: {path}: {rule}")
    assert {fault.path.split(".")[0] for fault in caught.value.faults} == {key}


def test_a_status_that_is_none() -> None:
    statuses = "optimal, feasible, infeasible, limit, unknown, bound, unsound"
    data = io.result_to_data(THREE, solved())
    for status in ("best", "OPTIMAL", ""):
        with pytest.raises(InvalidInstanceError, match=f"^status: must be one of {statuses}, got"):
            io.result_from_data({**data, "status": status}, THREE)
    with pytest.raises(InvalidInstanceError, match="status: must be a text"):
        io.result_from_data({**data, "status": []}, THREE)


def test_a_result_of_another_instance_is_refused() -> None:
    data = io.result_to_data(THREE, solved())
    io.result_from_data(data, replace(THREE, name="renamed", load=3.0))
    with pytest.raises(InvalidInstanceError, match="hash: must be the hash of the instance given"):
        io.result_from_data(data, replace(THREE, load=4))


def test_all_faults_of_a_result_are_told_at_once() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        io.result_from_data({"value": "x", "tolerance": 2, "solution": {}, "seed": "a"}, THREE)
    assert [fault.path for fault in caught.value.faults] == [
        "method",
        "status",
        "seed",
        "problem",
        "status",
        "value",
        "tolerance",
        "solution.chunks",
    ]
    with pytest.raises(InvalidInstanceError, match=r"^must be a JSON object, got \[\]"):
        io.result_from_data([], THREE)


def test_what_solve_need_not_say_is_absent() -> None:
    data = {
        "problem": "iit",
        "hash": io.instance_hash(THREE),
        "method": "mine",
        "status": "unknown",
    }
    assert io.result_from_data(data, THREE) == Result(Status.UNKNOWN, method="mine")


@pytest.fixture
def two_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    goal = Objective("both", "min", levels=("completion", "nodes"))
    monkeypatch.setattr(iit, "OBJECTIVES", {**iit.OBJECTIVES, "both": goal})


@pytest.mark.usefixtures("two_levels")
def test_values_of_several_levels() -> None:
    result = Result(Status.FEASIBLE, objective="both", value=(F(1, 2), 3), bound=(0.25, 3))
    data = json.loads(json.dumps(io.result_to_data(THREE, result)))
    assert (data["value"], data["bound"], data["gap"]) == (["1/2", 3], [0.25, 3], [0.5, 0])
    assert io.result_from_data(data, THREE) == result
    for value, path in (
        (3, "value"),
        ([1], "value"),
        ([1, 2, 3], "value"),
        ([1, None], "value[1]"),
    ):
        with pytest.raises(InvalidInstanceError) as caught:
            io.result_from_data({**data, "value": value}, THREE)
        assert [fault.path for fault in caught.value.faults] == [path]


# --- writes that fail ----------------------------------------------------------------------


def folder(path: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in path.iterdir()}


@pytest.mark.parametrize("old", [None, b"old\n"])
@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt(), GeneratorExit()])
def test_an_interrupted_write_leaves_the_old_file_whole(
    tmp_path: Path, old: bytes | None, error: BaseException
) -> None:
    path = tmp_path / "a.json"
    if old is not None:
        path.write_bytes(old)
    before = folder(tmp_path)

    def lines() -> Iterator[bytes]:
        yield b"half " * 100_000
        raise error

    with pytest.raises(type(error)), replacing(path) as file:
        file.writelines(lines())
    assert folder(tmp_path) == before


@pytest.mark.parametrize("call", ["replace", "chmod", "fsync"])
@pytest.mark.parametrize("old", [None, b"old\n"])
def test_a_file_that_cannot_be_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, old: bytes | None
) -> None:
    path = tmp_path / "a.json"
    if old is not None:
        path.write_bytes(old)
    before = folder(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(NotApplicableError) as caught:
        io.write(INSTANCE, path)
    assert str(caught.value) == f"cannot write {path}: {os.strerror(errno.ENOSPC)}"
    assert folder(tmp_path) == before


def test_an_interrupt_while_the_file_is_put_in_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_bytes(b"old\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        io.write(INSTANCE, tmp_path / "a.json")
    assert folder(tmp_path) == {"a.json": b"old\n"}


def test_data_that_json_cannot_say_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"old\n")
    for wrong, error in (({"a": math.nan}, ValueError), ({"a": object()}, TypeError)):
        with pytest.raises(error):
            io.write(wrong, tmp_path / "a.json")
    assert folder(tmp_path) == {"a.json": b"old\n"}


def test_while_a_file_is_written_the_old_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old\n")
    with replacing(path) as file:
        file.write(b"new\n")
        file.flush()
        assert path.read_bytes() == b"old\n"
    assert folder(tmp_path) == {"a.json": b"new\n"}


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o007, 0o000])
def test_the_mode_of_a_file_follows_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        io.write(INSTANCE, tmp_path / "a.json")
        after = os.umask(mask)
    finally:
        os.umask(before)
    assert after == mask
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o666 & ~mask


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old\n")
    for path, reason in (
        (tmp_path / "none" / "a.json", errno.ENOENT),
        (tmp_path / "file" / "a.json", errno.ENOTDIR),
        (tmp_path, errno.EISDIR),
    ):
        with pytest.raises(NotApplicableError) as caught:
            io.write(INSTANCE, path)
        assert str(caught.value) == f"cannot write {path}: {os.strerror(reason)}"
    assert folder(tmp_path) == {"file": b"old\n"}


def test_a_link_stays_and_the_file_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old\n")
    (tmp_path / "link.json").symlink_to("real.json")
    io.write(INSTANCE, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert io.read(tmp_path / "real.json") == INSTANCE


def test_a_device_is_written_to_and_not_replaced() -> None:
    io.write(INSTANCE, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_file_is_written_from_a_text_path_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    io.write({"a": "ü"}, "a.json")
    assert folder(tmp_path) == {"a.json": b'{\n "a": "\\u00fc"\n}\n'}


# --- the schema ----------------------------------------------------------------------------

SCHEMA = instance_schema("iit")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_shipped_schema_is_the_one_that_the_records_make() -> None:
    shipped = (ROOT / "schemas" / "iit.schema.json").read_text()
    assert json.loads(shipped) == json.loads(json.dumps(SCHEMA))  # else: make it anew


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$schema"]
    assert SCHEMA["required"] == ["problem", "version", "cluster", "ready_times", "load"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_instances_fit_the_schema(path: Path) -> None:
    VALIDATOR.validate(json.loads(path.read_text()))


@pytest.mark.property
@given(instances())
def test_what_is_written_fits_the_schema(instance: Instance) -> None:
    VALIDATOR.validate(json.loads(json.dumps(io.instance_to_data(instance))))


def accepted(data: object) -> bool:
    try:
        io.instance_from_data(data)
    except InvalidInstanceError:
        return False
    return True


def put(path: tuple[str | int, ...], value: object) -> Any:
    """Return the valid data with one value set; `...` drops the field."""
    data = json.loads(json.dumps(VALID))
    part = data
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return data


NO_NUMBER = [True, [1, [2]], {}, "", "one", "1/0", "0x1", "1_0", "1/-2", "1e10000", "\u0661"]
WRONG: list[tuple[tuple[str | int, ...], list[object]]] = [
    (("problem",), [..., "bag", 1, None]),
    (("version",), [..., 2, 0, "1", None, [1]]),
    (("name",), [1, None, ["a"]]),
    (("origin",), [1, None]),
    (("units",), [1, {}]),
    (("color",), [1]),
    (("cluster",), [..., None, [], 1, "x", {}]),
    (("cluster", "color"), [1]),
    (("cluster", "nodes"), [..., 0, -1, 1.5, True, "3", None, [3], 10_000_000]),
    (("cluster", "tau"), [..., None, -1, -0.5, [1, -1, 1], [1, 1, "x"], *NO_NUMBER]),
    (("cluster", "chi"), [..., None, -1, -0.5, [1, True, 1], [1, None, 1], *NO_NUMBER]),
    (("cluster", "theta_cm"), [None, -1, [1], *NO_NUMBER]),
    (("cluster", "theta_cp"), [None, -1, [1], *NO_NUMBER]),
    (("ready_times",), [..., None, 0, "0", {}, [], [0, 1, -1], [0, 1, None], [0, 1, [1]]]),
    (("ready_times", 1), NO_NUMBER),
    (("load",), [..., None, 0, 0.0, -1, [1], *NO_NUMBER]),
    (("absolute_deadline",), [-1, [9], *NO_NUMBER]),
    (("best_known",), [None, {}, [1], [{}]]),
    (("best_known", 0, "objective"), [..., 1, None]),
    (("best_known", 0, "plan_class"), [..., "all", None, 1]),
    (("best_known", 0, "value"), [True, "x", {}, [None], [[1]]]),
    (("best_known", 0, "bound"), [True, "1/0", {}, [True]]),
    (("best_known", 0, "method"), [1, None]),
    (("best_known", 0, "color"), [1]),
]
CORRUPTIONS = [(path, value) for path, wrong in WRONG for value in wrong]


@pytest.mark.parametrize(("path", "value"), CORRUPTIONS, ids=str)
def test_reader_and_schema_both_refuse(path: tuple[str | int, ...], value: object) -> None:
    data = put(path, value)
    assert not accepted(data)
    assert not VALIDATOR.is_valid(data)


FINE: list[tuple[tuple[str | int, ...], list[object]]] = [
    (("name",), [..., "", "ü"]),
    (("cluster", "tau"), [0, 1.5, "3/2", " 3 / 2 ", ".5", "5.", "1e3", "-0", [1, 0.5, "1/3"]]),
    (("cluster", "theta_cm"), [..., 0, "1/2", "+1/2", "7/007"]),
    (("ready_times",), [["0", 1.5, "8/3"]]),
    (("load",), [0.1, "1/10", "1e-9999"]),
    (("absolute_deadline",), [..., None, 4.5, "9/2"]),
    (("best_known",), [..., []]),
    (("best_known", 0, "value"), [..., None, -1, "1/2", [1, 0.5, "1/2"], []]),
]


@pytest.mark.parametrize(
    ("path", "value"), [(path, value) for path, fine in FINE for value in fine], ids=str
)
def test_reader_and_schema_both_accept(path: tuple[str | int, ...], value: object) -> None:
    data = put(path, value)
    assert accepted(data)
    assert VALIDATOR.is_valid(data)


@pytest.mark.property
@given(st.text(alphabet="0123456789/.eE+- \t_\u0661x", max_size=10) | st.text(max_size=5))
def test_reader_and_schema_read_the_same_numbers(text: str) -> None:
    """All but how large they are, which no pattern can say."""
    data = put(("best_known", 0, "value"), text)
    assert accepted(data) is (VALIDATOR.is_valid(data) and abs(parse(text)) <= LARGEST)


def test_rules_between_fields_are_for_the_reader_alone() -> None:
    """What no schema can say: lengths, ties between fields, signs of numbers written as text."""
    for path, value in (
        (("ready_times",), [0, 1]),
        (("cluster", "tau"), [1, 2]),
        (("cluster", "theta_cm"), "-1/2"),
        (("absolute_deadline",), "0"),
        (("load",), "0/3"),
        (("cluster", "nodes"), 3.0),
    ):
        data = put(path, value)
        assert VALIDATOR.is_valid(data)
        assert not accepted(data)


def test_a_schema_of_no_problem() -> None:
    with pytest.raises(NotApplicableError, match="no problem 'iti'"):
        instance_schema("iti")


@pytest.mark.property
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(-1e9, 1e9)
        | st.text()
        | st.just("1/3"),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_text_for_people_says_the_same(data: Any) -> None:
    assert json.loads(to_text(data)) == data


def test_lists_of_numbers_stand_in_one_line_and_texts_stay_as_they_are() -> None:
    data = {"name": "[ 1, 2 ]", "numbers": [1, -0.5, "1/3", 1e-30], "mixed": [1, "a"], "none": []}
    text = to_text(data)
    assert ' "numbers": [1, -0.5, "1/3", 1e-30],\n' in text
    assert '"[ 1, 2 ]"' in text
    assert json.loads(text) == data
