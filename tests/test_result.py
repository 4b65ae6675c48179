"""Limits, values, gaps: what every method takes and gives back."""

import math
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.errors import (
    MISSING,
    DloptError,
    Fault,
    InvalidInstanceError,
    MissingExtraError,
    NotApplicableError,
    SolverError,
)
from dlopt.result import (
    NO_LIMITS,
    PLAN_CLASSES,
    Limits,
    Objective,
    PlanClass,
    Result,
    Status,
    Violation,
)

F = Fraction
rationals = st.fractions(max_denominator=50)


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_s": 0},
        {"time_s": -1.0},
        {"time_s": math.nan},
        {"time_s": "1"},
        {"work": 0},
        {"work": -5},
        {"work": "many"},
        {"work": 2.5},
        {"work": True},
        {"threads": 0},
        {"threads": -1},
        {"threads": None},
        {"threads": 1.5},
        {"threads": True},
        {"time_s": True},
        {"time_s": math.inf},
        {"time_s": 10**400},
        {"gap": "0"},
        {"gap": -0.1},
        {"gap": math.nan},
        {"gap": math.inf},
        {"gap": 10**400},
        {"gap": None},
    ],
)
def test_limits_are_positive_numbers(wrong: dict[str, object]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(NotApplicableError) as caught:
        Limits(**wrong)
    told = str(caught.value)
    flag = {"time_s": "--time-limit"}.get(name, f"--{name}")
    assert told.startswith(f"limits: {name} ({flag}) must be ")
    assert told.endswith(f", got {value!r}")


def test_every_wrong_limit_is_named() -> None:
    with pytest.raises(NotApplicableError, match=r"work .*, got 0; threads .*, got -1$"):
        Limits(work=0, threads=-1)


def test_limits_that_are_fine() -> None:
    limits = Limits(time_s=0.5, work=1, threads=2, gap=0.1)
    assert (limits.time_s, limits.work, limits.threads, limits.gap) == (0.5, 1, 2, 0.1)
    assert Limits() == NO_LIMITS == Limits(None, None, 1, 0.0)
    with pytest.raises(FrozenInstanceError):
        limits.work = 2


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [
        (4, 3, F(1, 4)),
        (F(7, 2), 3, F(1, 7)),
        (3, 4, F(1, 3)),
        (-4, -5, F(1, 4)),
        (5, 5, 0),
        (0, 0, 0),
        (0.0, 0, 0),
        (0, 1, None),
        (0.0, -1.0, None),
        (None, 1, None),
        (1, None, None),
        (None, None, None),
        ((4, 2), (3, 2), (F(1, 4), 0)),
        ((4, 0), (3, 0), (F(1, 4), 0)),
        ((4, 0), (3, 1), None),
        ((4,), 3, None),
        (4, (3,), None),
    ],
)
def test_gap(value: object, bound: object, gap: object) -> None:
    found = Result(Status.FEASIBLE, value=value, bound=bound).gap
    assert found == gap
    assert (found is None) is (gap is None)


def test_gap_is_exact_if_both_are() -> None:
    assert type(Result(Status.FEASIBLE, value=3, bound=F(5, 2)).gap) is F
    gap = Result(Status.FEASIBLE, value=3, bound=2.5).gap
    assert type(gap) is float
    assert gap == float(F(1, 6))
    assert type(Result(Status.FEASIBLE, value=3.0, bound=2).gap) is float


def test_gap_of_lists_of_other_lengths_is_an_error() -> None:
    with pytest.raises(ValueError):
        _ = Result(Status.FEASIBLE, value=(1, 2), bound=(1,)).gap


@pytest.mark.property
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_gap_of_floats_is_the_exact_one_rounded_once(value: float, bound: float) -> None:
    gap = Result(Status.FEASIBLE, value=value, bound=bound).gap
    if value and value != bound:
        apart = abs(exact(value) - exact(bound)) / abs(exact(value))
        assert gap == (float(apart) if apart < 1e308 else apart)


@pytest.mark.property
@given(rationals, rationals)
def test_gap_grows_with_the_distance(value: Fraction, off: Fraction) -> None:
    gap = Result(Status.FEASIBLE, value=value, bound=value + off).gap
    if off == 0:
        assert gap == 0
    elif value == 0:
        assert gap is None
    else:
        assert gap * abs(value) == abs(off)


def test_better_is_strict() -> None:
    least, most = Objective("completion", "min"), Objective("accepted", "max")
    assert least.better(1, 2) and not least.better(2, 1) and not least.better(2, 2.0)
    assert most.better(2, 1) and not most.better(1, 2) and not most.better(F(2), 2)


def test_better_compares_exactly() -> None:
    least = Objective("completion", "min")
    assert not least.better(F(1, 10), 0.1) and not least.better(0.1, F(1, 10))
    assert least.better(0.1, 0.1 + 2e-17)  # the next float
    assert least.better(10**17, 10**17 + 1)
    assert least.better(1e17, 10**17 + 1)


def test_better_compares_level_by_level() -> None:
    least = Objective("both", "min", levels=("first", "second"))
    assert least.better((1, 9), (2, 0)) and not least.better((2, 0), (1, 9))
    assert least.better((1, F(1, 2)), (1, 0.75)) and not least.better((1, 2), (1, 2))
    most = Objective("both", "max", levels=("first", "second"))
    assert most.better((2, 0), (1, 9)) and most.better((1, 3), (1, 2))


@pytest.mark.property
@given(rationals, rationals, st.sampled_from(["min", "max"]))
def test_of_two_values_one_is_better_unless_they_are_equal(
    left: Fraction, right: Fraction, sense: str
) -> None:
    goal = Objective("any", sense)
    assert goal.better(left, right) + goal.better(right, left) == (left != right)


@pytest.mark.parametrize(
    ("violation", "text"),
    [
        (Violation("load-not-conserved", "load"), "load-not-conserved on load"),
        (Violation("k", "load", amount=F(1, 3)), "k on load by 1/3"),
        (Violation("k", "node 3", 1, 2), "k on node 3 in [1, 2]"),
        (Violation("k", "node 3", 1, F(5, 2), 0), "k on node 3 in [1, 5/2] by 0"),
        (Violation("k", "node 3", start=0), "k on node 3 at 0"),
        (Violation("k", "node 3", start=1, amount=2.5), "k on node 3 at 1 by 2.5"),
        (Violation("k", "node 3", end=1), "k on node 3"),
        (Violation("k", "node 3", amount=10**400), "k on node 3 by 1e+400"),
    ],
)
def test_text_of_a_violation(violation: Violation, text: str) -> None:
    assert str(violation) == text


def test_runtime_is_no_part_of_equality() -> None:
    one = Result(Status.OPTIMAL, solution="plan", value=3, bound=3, runtime_s=0.1, method="exact")
    assert one == replace(one, runtime_s=7.0)
    assert hash(one) == hash(replace(one, runtime_s=None))
    for change in (
        {"status": Status.FEASIBLE},
        {"solution": None},
        {"objective": "nodes"},
        {"value": 4},
        {"bound": None},
        {"reason": "why"},
        {"violations": (Violation("k", "load"),)},
        {"tolerance": 1e-9},
        {"method": "opr"},
        {"seed": 1},
        {"plan_class": "single"},
        {"solver": "highs"},
        {"solver_version": "1"},
    ):
        assert one != replace(one, **change)


def test_the_text_of_a_result_is_that_of_its_fields() -> None:
    one = Result(Status.OPTIMAL, solution="plan", value=3, bound=3, method="exact")
    assert repr(one).startswith("Result(status=<Status.OPTIMAL: 'optimal'>, solution='plan', ")
    assert repr(one).endswith("proof=None, origin=0, installments=None, stopped_by=None)")
    assert "certificate" not in repr(one)


def test_numbers_with_more_digits_than_python_prints_are_rounded_in_texts() -> None:
    huge = Fraction(10**5000 + 1, 3 * 10**4999)
    plan = Objective("o", "min", senses=(huge, "min"))  # type: ignore[arg-type]
    text = repr(Result(Status.FEASIBLE, solution=plan, value=(huge,), bound=(10**5000, 2)))
    assert "value=(3.33333,)" in text and "bound=(1e+5000, 2)" in text
    assert "solution=Objective(name='o', " in text and "senses=(3.33333, 'min')" in text

    class Stubborn:
        def __repr__(self) -> str:
            raise ValueError

    assert "Stubborn object at" in repr(Result(Status.FEASIBLE, solution=Stubborn()))


def test_what_is_absent_is_none() -> None:
    empty = Result(Status.UNKNOWN)
    assert empty.solution is empty.value is empty.bound is empty.gap is empty.reason is None
    assert empty.violations == ()


@pytest.mark.parametrize(
    "thing",
    [Fault("a", 1, "b"), Limits(), Violation("k", "r"), Objective("o", "min")],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_handed_around_is_frozen_and_slotted(thing: object) -> None:
    assert not hasattr(thing, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(thing, fields(thing)[0].name, 1)


def test_plan_classes_are_ordered_from_the_narrowest() -> None:
    assert PLAN_CLASSES == ("single", "per-stage", "k", "any") == get_args(PlanClass)


def test_statuses_are_texts() -> None:
    assert [str(status) for status in Status] == [
        "optimal",
        "feasible",
        "infeasible",
        "limit",
        "unknown",
        "bound",
        "unsound",
    ]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("load", 0, "must be positive"), "load: must be positive, got 0"),
        (Fault("load", MISSING, "is missing"), "load: is missing"),
        (Fault("load", None, "must be a number"), "load: must be a number, got None"),
        (Fault("", "text", "must be a JSON object"), "must be a JSON object, got 'text'"),
        (Fault("name", "x" * 58, "bad"), f"name: bad, got '{'x' * 58}'"),
        (Fault("name", "x" * 59, "bad"), f"name: bad, got '{'x' * 56}..."),
        (Fault("name", "x" * 99, "bad"), f"name: bad, got '{'x' * 56}..."),
        (Fault("load", 10**5000, "bad"), "load: bad, got a very long int"),
        (Fault("load", F(1, 10**5000), "bad"), "load: bad, got a very long Fraction"),
        (Fault("tau", [10**5000], "bad"), "tau: bad, got a very long list"),
    ],
)
def test_text_of_a_fault(fault: Fault, text: str) -> None:
    assert str(fault) == text


def test_text_of_a_fault_nested_too_deeply() -> None:
    nested: list[object] = []
    for _ in range(200_000):
        nested = [nested]
    assert str(Fault("tau", nested, "bad")) == "tau: bad, got a very long list"
    while nested:  # taken apart by hand: some interpreters free it by recursion
        nested = nested.pop()


def test_an_error_tells_every_fault_up_to_a_limit() -> None:
    faults = [Fault(f"ready_times[{i}]", -1, "must not be negative") for i in range(25)]
    error = InvalidInstanceError(faults, "a.json")
    lines = str(error).splitlines()
    assert error.faults == tuple(faults)
    assert len(lines) == 21
    assert lines[19] == "a.json: ready_times[19]: must not be negative, got -1"
    assert lines[20] == "a.json: ... and 5 more"
    assert len(str(InvalidInstanceError(faults[:20])).splitlines()) == 20
    assert str(InvalidInstanceError(faults[:1])) == "ready_times[0]: must not be negative, got -1"


def test_an_error_can_be_told_of_a_file() -> None:
    error = InvalidInstanceError([Fault("load", 0, "must be positive")])
    told = error.within("b.json")
    assert (error.source, told.source) == (None, "b.json")
    assert told.faults == error.faults
    assert str(told) == "b.json: load: must be positive, got 0"


def test_errors_are_of_one_family() -> None:
    assert issubclass(InvalidInstanceError, DloptError) and issubclass(
        InvalidInstanceError, ValueError
    )
    assert issubclass(NotApplicableError, DloptError) and issubclass(NotApplicableError, ValueError)
    assert issubclass(SolverError, DloptError)
    extra = MissingExtraError("matplotlib", "plot")
    assert isinstance(extra, DloptError) and isinstance(extra, ImportError)
    assert str(extra) == "this needs matplotlib: pip install 'dlopt[plot]'"
    assert repr(MISSING) == "nothing"
