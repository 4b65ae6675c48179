"""The text of every record can be printed, whatever its numbers are."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from fractions import Fraction
from typing import Any

import pytest

import dlopt
from dlopt import registry
from dlopt.api import Comparison, ComparisonRow
from dlopt.arithmetic import PrintableRecord
from dlopt.batch.records import RunKey
from dlopt.errors import Fault
from dlopt.problems import bag
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.problems.validated_record import BestKnown, Record
from dlopt.result import Limits, Objective, Result, Status, Violation
from dlopt.verify.found_counterexamples import Finding

LONG = Fraction(10**5000, 3 * 10**4990 + 1)
"""About 3.3e9, in more digits than Python prints."""
SHORT = "3333333333.333"
SOLUTION = Solution((Chunk(0, LONG, 0, LONG, LONG, 2 * LONG),))
INSTANCE = Instance(Cluster(1, tau=LONG, chi=1), (0,), load=LONG)


def every_record() -> list[type]:
    for module in pkgutil.walk_packages(dlopt.__path__, "dlopt."):
        if module.name.startswith(("dlopt.problems", "dlopt.simulation.grid")):
            importlib.import_module(module.name)
    found, left = [], [Record]
    while left:
        left += (kind := left.pop()).__subclasses__()
        found.append(kind)
    return [kind for kind in found if dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize("kind", every_record(), ids=lambda kind: kind.__qualname__)
def test_no_record_generates_a_text_that_can_fail(kind: type) -> None:
    assert kind.__repr__ is PrintableRecord.__repr__


@pytest.mark.parametrize(
    "thing",
    [
        INSTANCE,
        SOLUTION,
        BestKnown("completion", "single", (1, LONG)),
        Violation("deadline", "node 0", LONG, 2 * LONG, LONG),
        Result(Status.UNSOUND, SOLUTION, value=LONG, bound=(LONG,), violations=(
            Violation("deadline", "node 0", LONG),
        )),
        Limits(work=10**5000),
        ComparisonRow(registry.method("iit", "opr"), None, LONG),
        Comparison(INSTANCE, "completion", Result(Status.OPTIMAL, value=LONG, bound=LONG), (), ()),
        RunKey("iit", "0", "opr", "completion", Limits(), 0, (("k", 10**5000),), "exact", "1"),
        Finding("iit", "opr", "gap", "gap", (), INSTANCE, None, Objective("completion", "min")),
        Fault("load", 10**5000, "must be short"),
    ],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_long_numbers_are_rounded(thing: Any) -> None:
    """Python refuses to print the numbers themselves, and so the text that a data class has."""
    with pytest.raises(ValueError, match="4300 digits"):
        repr(LONG)
    for text in (repr(thing), str(thing), f"{thing}"):
        assert text.strip().startswith(
            (type(thing).__name__, "deadline on node 0", "load: ", "status: ", "found: ", "iit: ")
        )
        if text == repr(thing) or not isinstance(thing, Comparison | Finding):  # others are brief
            assert any(word in text for word in (SHORT, "1e+5000", "a very long int"))


def test_a_tuple_of_one_long_number_is_a_tuple() -> None:
    assert f"value=({SHORT},), bound=({SHORT}, 1)" in repr(
        Result(Status.FEASIBLE, SOLUTION, value=(LONG,), bound=(LONG, 1))
    )


def test_short_numbers_are_printed_as_ever() -> None:
    fields = [field.name for field in dataclasses.fields(Violation)]
    generated = dataclasses.make_dataclass("Violation", fields)
    values = ("deadline", "node 0", 1, Fraction(3, 2), 0.5)
    assert repr(Violation(*values)) == repr(generated(*values)).removeprefix("types.")
    assert repr(Chunk(0, 1, 0, 1, 1, Fraction(5, 2))) == (
        "Chunk(node=0, load=1, transmission_start=0, transmission_end=1, "
        "computation_start=1, computation_end=Fraction(5, 2))"
    )


def test_of_long_tuples_the_first_entries_are_printed() -> None:
    numbers = tuple(range(100_000))
    assert repr(Instance(Cluster(20, tau=1, chi=1), numbers[:20], load=1)).count(", 19)") == 1
    cut = "ready_times=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 99,990 more), load=1"
    assert cut in repr(Instance(Cluster(100_000, tau=1, chi=1), numbers, load=1))


def test_the_text_of_a_large_record_is_short() -> None:
    costs = tuple(tuple(range(100, 120)) for _ in range(2000))
    instance = bag.Instance(etc=costs, name="n" * 5000)
    plan = bag.Solution(tuple(bag.Placement(str(task), 0, task, task + 1) for task in range(2000)))
    for thing in (instance, Result(Status.FEASIBLE, plan, value=1)):
        assert len(repr(thing)) < 10_000 and "990 more" in repr(thing)
    assert "n… (5,002 characters), origin" in repr(instance)
    few = bag.Instance(etc=((1000**30,) * 20,) * 20)  # 20 entries of 20, but of 90 digits
    assert f"({', '.join([str(1000**30)] * 4)}, ... 16 more)" in repr(few)
