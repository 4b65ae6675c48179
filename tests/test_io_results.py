"""Results and plans as files: what is written is read again, what is wrong is told."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import io
from dlopt.api import check, solve
from dlopt.errors import InvalidInstanceError
from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import STOPPED_BY, Objective, Result, Status, Violation
from tests.instance_files import written

F = Fraction


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
    installments=st.sampled_from([None, 2, 3]),
    stopped_by=st.sampled_from([None, *STOPPED_BY]),
    solver=st.none() | st.text(),
    solver_version=st.none() | st.text(),
)


@pytest.mark.property
@given(results)
def test_a_result_is_read_as_it_was_written(result: Result[Solution]) -> None:
    text = json.dumps(io.result_to_data(THREE, result), allow_nan=False)
    read = io.result_from_data(json.loads(text), THREE)
    assert read == result and read.stopped_by == result.stopped_by


def test_what_a_result_file_says() -> None:
    violation = Violation("node-not-ready", "node 0", F(0), F(1, 2), F(1, 2))
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
        proof="exact",
        stopped_by="time",
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
        "value_float": 4.875,
        "bound": 4,
        "bound_float": 4.0,
        "gap": "7/39",
        "gap_float": float(F(7, 39)),
        "proof": "exact",
        "origin": 0,
        "plan_class": "any",
        "installments": None,
        "reason": None,
        "runtime_s": 0.5,
        "stopped_by": "time",
        "seed": 0,
        "tolerance": 0.0,
        "solver": None,
        "solver_version": None,
        "violations": [
            {
                "kind": "node-not-ready",
                "resource": "node 0",
                "start": 0,
                "end": "1/2",
                "amount": "1/2",
            },
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
        ('{"status": "optimal"}', "method: must be a text, as solve writes it\n"),
        ("{", "is not valid JSON: "),
        (
            '{"problem": "iit", "version": 1, "cluster": {}, "load": 1}',
            "is an instance, and neither a result nor a plan",
        ),
    ],
)
def test_a_file_without_a_plan(tmp_path: Path, content: str, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InvalidInstanceError) as caught:
        io.read_plan(path, THREE)
    assert str(caught.value).startswith(f"{path}: {message}")


NUMBER = 'must be a finite number or a text "p/q"'
TOLERANCE = "must be a number in [0, 1e-06]"


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
        ("stopped_by", "boredom", "stopped_by", f"must be one of {', '.join(STOPPED_BY)}"),
        ("installments", 0, "installments", "must be a positive integer"),
        ("installments", "2", "installments", "must be a positive integer"),
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


def test_files_of_older_releases_are_read() -> None:
    data = io.result_to_data(THREE, solved())
    older = {key: value for key, value in data.items() if not key.endswith("_float")}
    assert len(older) == len(data) - 3
    assert io.result_from_data(older, THREE) == io.result_from_data(data, THREE) == solved()


def test_numbers_beyond_floats_have_none_beside_them() -> None:
    data = io.values_to_data(value=F(10**400, 3), bound=(F(1, 2), 10**400))
    assert data["value_float"] is None
    assert data["bound_float"] == [0.5, None]
    json.dumps(data, allow_nan=False)


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
    with pytest.raises(InvalidInstanceError, match=r"of another instance \(three, not four\)$"):
        io.result_from_data(data, replace(THREE, load=4, name="four"))


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


def test_of_a_result_of_another_problem_no_plan_is_read() -> None:
    data = {"problem": "bag", "method": "gds", "status": "feasible", "solution": {"a": 3}}
    with pytest.raises(InvalidInstanceError) as caught:
        io.result_from_data(data, THREE)
    assert [fault.path for fault in caught.value.faults] == ["problem"]


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


@pytest.mark.parametrize("number", ["1e9999", "-1e9999", f"1{'0' * 400}"])
def test_a_tolerance_beyond_all_floats_is_told(tmp_path: Path, number: str) -> None:
    instance = io.read("instances/iit/three-nodes.json", exact_numbers=True)
    path = tmp_path / "r.json"
    io.write(io.result_to_data(instance, solve(instance, "edf-iit-2")), path)
    data = json.loads(path.read_text()) | {"tolerance": "NUMBER"}
    path.write_text(json.dumps(data).replace('"NUMBER"', number))
    with pytest.raises(InvalidInstanceError, match=r"tolerance: must be a number in \[0, 1e-06\]"):
        io.read_plan(path, instance, exact_numbers=True)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("unheard-of", 1, "unheard-of: is not a field of a result"),
        ("toleranse", 0.5, "toleranse: is not a field of a result"),
        ("gap", float("nan"), "gap: must be a finite number"),
        ("runtime_s", "--1", "runtime_s: must be a finite number"),
        ("runtime_s", -1, "runtime_s: must not be negative"),
        ("runtime_s", float("inf"), "runtime_s: must be a finite number"),
    ],
)
def test_fields_of_a_result_that_are_none_are_told(field: str, value: object, rule: str) -> None:
    data = io.result_to_data(THREE, solved()) | {field: value}
    with pytest.raises(InvalidInstanceError, match=rule):
        io.result_from_data(data, THREE)
