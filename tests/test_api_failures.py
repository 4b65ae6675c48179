"""Methods that fail: solve names them, compare goes on without them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dlopt import registry
from dlopt.api import InvalidResultError, compare, solve
from dlopt.errors import (
    MISSING,
    DloptError,
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
    SolverError,
)
from dlopt.problems.iit import Chunk
from dlopt.result import Result, Status
from tests.method_table import MethodTable
from tests.results import ALONE, BEST, HALF, THREE, valid


@pytest.fixture
def own(method_table: MethodTable) -> Callable[..., None]:
    """Return a function that registers a method, named ``own``."""

    def register(function: Callable[..., Any], **entry: Any) -> None:
        method_table.pop(("iit", "own"), None)
        registry.register("iit", "own", function, **entry)

    return register


def raising(error: BaseException) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> Any:
        raise error

    return method


NO_ANSWERS = {
    "nothing": (None, "own failed: it returned a NoneType, not a Result"),
    "plan alone": (ALONE, "own failed: it returned a Solution, not a Result"),
    "solver": (valid(solver=3), "own failed: its solver is 3, not a name"),
    "status": (Result("fine"), "own failed: its status is 'fine', not a Status"),
    "plan as data": (
        valid(solution={"chunks": []}),
        "own failed: its solution is a dict, not a Solution of iit",
    ),
    "value": (valid(value="9"), "own failed: its value is no number: '9'"),
    "bound": (valid(bound=(9, None)), r"own failed: its bound is no number: \(9, None\)"),
}


@pytest.mark.parametrize(("answer", "told"), NO_ANSWERS.values(), ids=NO_ANSWERS.keys())
def test_what_is_no_answer_names_the_method(own: Any, answer: Any, told: str) -> None:
    own(lambda instance, **_: answer)
    with pytest.raises(SolverError, match=told):
        solve(THREE, "own")


def test_a_crash_names_the_method_and_keeps_its_cause(own: Any) -> None:
    cause = ZeroDivisionError("by nodes")
    own(raising(cause))
    with pytest.raises(SolverError, match="own failed: ZeroDivisionError: by nodes") as caught:
        solve(THREE, "own")
    assert caught.value.__cause__ is cause
    own(lambda: valid())  # without the instance
    with pytest.raises(SolverError, match=r"own failed: TypeError: .*argument"):
        solve(THREE, "own")
    own(lambda instance, **_: valid(), applies=raising(KeyError("tau")))
    with pytest.raises(SolverError, match="own failed: KeyError: 'tau'"):
        solve(THREE, "own")


@pytest.mark.parametrize(
    "error",
    [
        NotApplicableError("not here"),
        MissingExtraError("networkx", "own"),
        SolverError("the licence has run out"),
        MemoryError(),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_passes_as_it_is(own: Any, error: BaseException) -> None:
    own(raising(error))
    with pytest.raises(type(error)) as caught:
        solve(THREE, "own")
    assert caught.value is error


FAILURES = {
    "crash": (raising(ValueError("boom")), "failed: own failed: ValueError: boom"),
    "no result": (lambda instance, **_: None, "failed: own failed: it returned a NoneType"),
    "no solver": (raising(SolverError("no licence")), "failed: no licence"),
    "bad record": (lambda instance, **_: Chunk(0, "x", 0, 0, 0, 0), "failed: load: must be"),
    "invalid": (lambda instance, **_: valid(solution=HALF), "INVALID: the result of own is"),
}


@pytest.mark.parametrize(("function", "told"), FAILURES.values(), ids=FAILURES.keys())
def test_a_method_that_fails_is_a_row(own: Any, function: Any, told: str) -> None:
    own(function)
    table = compare(THREE, ["own", "opr", "exact"])
    failed, opr, exact = table.rows
    assert failed.result is None and failed.gap_to_best is None
    assert failed.failure is not None and failed.failure.startswith(told)
    assert isinstance(failed.error, DloptError)
    assert failed.invalid == isinstance(failed.error, InvalidResultError) == ("INVALID" in told)
    assert opr.failure is None and opr.gap_to_best and exact.result and exact.result.value == BEST
    assert table.gap_reference == "optimum"


def test_an_exact_method_that_fails_is_no_reference(own: Any) -> None:
    own(raising(ValueError("boom")), kind="exact", claim="optimal")
    table = compare(THREE, ["own", "opr"])
    assert table.reference is None and table.gap_reference is None
    assert [row.gap_to_best for row in table.rows] == [None, None]


def test_a_method_that_says_itself_that_it_does_not_apply_is_left_out(own: Any) -> None:
    own(raising(NotApplicableError("on Sundays only")))
    table = compare(THREE, ["own", "opr"])
    assert table.skipped == (("own", "on Sundays only"),)
    assert [row.method.name for row in table.rows] == ["opr"]


def test_an_applies_that_fails_is_a_row(own: Any) -> None:
    own(lambda instance, **_: valid(), applies=raising(KeyError("tau")))
    (row,) = compare(THREE, ["own"]).rows
    assert row.failure == "failed: own failed: KeyError: 'tau'"


def test_an_interrupt_ends_a_comparison(own: Any) -> None:
    for error in (KeyboardInterrupt(), MemoryError()):
        own(raising(error))
        with pytest.raises(type(error)):
            compare(THREE, ["own", "opr"])


def test_a_refuted_answer_travels_between_processes(own: Any) -> None:
    own(lambda instance, **_: valid(solution=HALF))
    error = compare(THREE, ["own"]).rows[0].error
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.instance == THREE and again.result == error.result


@pytest.mark.parametrize(
    "error",
    [
        InvalidInstanceError([Fault("a", None, "must be a number")], "a.json", as_json=True),
        InvalidInstanceError([Fault("a", MISSING, "is missing")]),
        MissingExtraError("numba", "fast"),
    ],
)
def test_errors_travel_between_processes(error: DloptError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
    assert vars(again) == vars(error)
    if isinstance(again, InvalidInstanceError):
        assert str(again.within("b")) == f"b: {str(error).removeprefix('a.json: ')}"


@pytest.mark.parametrize("error", [ValueError("boom"), NotApplicableError("not here")])
def test_a_hint_that_fails_is_no_hint(method_table: MethodTable, error: Exception) -> None:
    for name in registry.problem("iit").hints:
        del method_table["iit", name]
        registry.register("iit", name, raising(error))
    found = solve(THREE)
    assert found.status is Status.OPTIMAL and found.value == BEST
