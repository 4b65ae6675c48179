"""How far a plan of one divisible load may be off: tolerances, and floats decided exactly."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.problems import iit, validated_record
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.problems.validated_record import HEADER_FIELDS
from tests.problems.chunk_edits import TIMES, moved
from tests.problems.corruptions import CORRUPTIONS
from tests.problems.test_earliest_schedule import orders

F = Fraction
STANDS_LATE = Instance(
    Cluster(2, tau=1, chi=1), (0, 100), load=10, absolute_deadline=20
)  # one node alone is done after 20, the span
OFF = F(1, 10)
WITHIN = F(1, 200)  # of the span: OFF
LOST = F(1, 20)  # WITHIN of the load


def halves(**second: Fraction | int) -> Solution:
    """Return a valid plan of two chunks on node 0, the second changed."""
    chunk = Chunk(0, 5, 10, 15, 15, 20)
    return Solution((Chunk(0, 5, 0, 5, 5, 10), replace(chunk, **second)))


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        (
            "node-not-ready",
            lambda more: Solution(
                (
                    Chunk(0, 5, -(OFF + more), 5 - OFF - more, 5 - OFF - more, 10 - OFF - more),
                    Chunk(0, 5, 10, 15, 15, 20),
                )
            ),
        ),
        ("transmission-duration", lambda more: halves(transmission_end=15 - OFF - more)),
        ("computation-duration", lambda more: halves(computation_end=20 - OFF - more)),
        (
            "computes-before-received",
            lambda more: halves(
                computation_start=15 - OFF - more, computation_end=20 - OFF - more
            ),
        ),
        (
            "deadline",
            lambda more: halves(computation_start=15 + OFF + more, computation_end=20 + OFF + more),
        ),
        (
            "node-overlap",
            lambda more: halves(
                transmission_start=10 - OFF - more,
                transmission_end=15 - OFF - more,
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_times_may_be_off_by_the_tolerance_of_the_span(
    kind: str, plan: Callable[[Fraction], Solution]
) -> None:
    assert iit.violations(STANDS_LATE, plan(F(0)), WITHIN) == ()
    assert iit.violations(STANDS_LATE, plan(-F(1, 10**9)), WITHIN) == ()
    (found,) = iit.violations(STANDS_LATE, plan(F(1, 10**9)), WITHIN)
    assert found.kind == kind
    assert found.amount == OFF + F(1, 10**9)
    assert kind in {v.kind for v in iit.violations(STANDS_LATE, plan(F(0)))}


def test_sends_may_overlap_by_the_tolerance_of_the_span() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=10)

    def plan(shared: Fraction) -> Solution:
        chunks = (Chunk(0, 5, 0, 5, 5, 10), Chunk(1, 5, 5 - shared, 10 - shared, 95, 100))
        return Solution(chunks)

    assert iit.violations(instance, plan(OFF), WITHIN) == ()
    (found,) = iit.violations(instance, plan(OFF + F(1, 10**9)), WITHIN)
    assert (found.kind, found.amount) == ("channel-overlap", OFF + F(1, 10**9))


@pytest.mark.parametrize("sign", [1, -1])
def test_loads_may_be_off_by_the_tolerance_of_the_load(sign: int) -> None:
    def plan(off: Fraction) -> Solution:
        return halves(load=5 + sign * off)

    assert iit.violations(STANDS_LATE, plan(LOST), WITHIN) == ()
    (found,) = iit.violations(STANDS_LATE, plan(LOST + F(1, 10**9)), WITHIN)
    assert (found.kind, found.amount) == ("load-not-conserved", -sign * (LOST + F(1, 10**9)))


def test_a_load_may_be_negative_by_the_tolerance_of_the_load() -> None:
    def plan(owed: Fraction) -> Solution:
        return Solution(
            (Chunk(0, 10, 0, 10, 10, 20), Chunk(1, -owed, 100, 100 - owed, 100, 100 - owed))
        )

    late = replace(STANDS_LATE, absolute_deadline=None)
    assert iit.violations(late, plan(LOST), WITHIN) == ()
    found = iit.violations(late, plan(LOST + F(1, 10**9)), WITHIN)
    assert [violation.kind for violation in found] == ["negative-load", "load-not-conserved"]
    assert found[0].amount == LOST + F(1, 10**9)


EPOCH = 1.7e9
QUICK = Chunk(0, 1.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("instance", "chunks"),
    [
        (Instance(Cluster(2, 0.25, 0.25), (EPOCH, EPOCH), 1.0), (moved(QUICK, EPOCH),)),
        (Instance(Cluster(2, 1.0, 1.0), (0.0, 1e9), 1.0), (QUICK,)),
        (
            Instance(Cluster(1, 1.0, 1.0), (0.0,), 1.0),
            (QUICK, Chunk(0, 0.0, 1e12, 1e12, 1e12, 1e12)),
        ),
    ],
    ids=["seconds since 1970", "a node that is ready late", "an empty chunk far away"],
)
def test_nothing_stretches_the_tolerance(instance: Instance, chunks: tuple[Chunk, ...]) -> None:
    """Load that is sent and computed in no time at all is seen, whatever the clock says."""
    kinds = {violation.kind for violation in iit.violations(instance, Solution(chunks), 1e-9)}
    assert kinds == {"transmission-duration", "computation-duration"}


def test_the_span_of_different_nodes_is_that_of_the_best_alone() -> None:
    """Node 1 is ready at 4 and done with 2 units at 4 + 2 (1 + 2) = 10; node 0 not before 20."""
    instance = Instance(Cluster(2, tau=(4, 1), chi=(6, 2)), (0, 4), load=2)

    def plan(off: Fraction) -> Solution:
        return Solution((Chunk(1, 2, 4, 6, 6, 10 - off),))

    assert iit.violations(instance, plan(F(1)), F(1, 10)) == ()
    (found,) = iit.violations(instance, plan(F(1) + F(1, 10**9)), F(1, 10))
    assert found.kind == "computation-duration"


def test_floats_may_be_off_by_units_in_the_last_place() -> None:
    """At 1.7e9 a float is 2.4e-7 wide, more than 1e-9 of a second."""
    third = 1 / 3
    instance = Instance(Cluster(1, tau=third, chi=0.4), (EPOCH,), load=1.0)
    chunk = Chunk(0, 1.0, EPOCH, EPOCH + third, EPOCH + third, EPOCH + third + 0.4)
    assert iit.violations(instance, Solution((chunk,)), 1e-9) == ()
    assert iit.violations(instance, Solution((chunk,))) != ()
    late = replace(chunk, computation_end=EPOCH + 0.7001)
    assert iit.violations(instance, Solution((late,)), 1e-9) != ()


def test_a_strange_node_is_all_that_is_wrong_with_it() -> None:
    strange = Chunk(7, 0, 10**6, 10**6, 10**6, 10**6)
    plan = Solution((*halves(computation_end=F(39, 2)).chunks, strange))
    kinds = [violation.kind for violation in iit.violations(STANDS_LATE, plan, WITHIN)]
    assert kinds == ["unknown-node", "computation-duration"]


def test_floats_are_decided_as_the_rationals_that_they_are() -> None:
    instance = Instance(Cluster(1, tau=0.1, chi=0.2), (0.3,), load=3)
    end = 0.3 + 3 * 0.1
    plan = Solution((Chunk(0, 3, 0.3, end, end, end + 3 * 0.2),))
    found = iit.violations(instance, plan)
    assert {violation.kind for violation in found} <= {
        "transmission-duration",
        "computation-duration",
    }
    assert found
    assert all(0 < violation.amount < 1e-15 for violation in found)
    assert iit.violations(instance, plan, 1e-9) == ()


def test_the_tolerance_of_short_plans_is_short_too() -> None:
    tiny = F(1, 10**6)
    instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=tiny)
    chunk = Chunk(0, tiny, 0, tiny, tiny, 2 * tiny)
    late = replace(chunk, computation_end=3 * tiny)
    assert iit.violations(instance, Solution((chunk,)), F(1, 10)) == ()
    kinds = [violation.kind for violation in iit.violations(instance, Solution((late,)), F(1, 10))]
    assert kinds == ["computation-duration"]


@pytest.mark.property
@given(st.data(), st.sampled_from([0.0, 1e-17, 1e-16, 0.1, 0.3]))
def test_floats_break_what_the_rationals_that_they_are_break(
    data: st.DataObject, tolerance: float
) -> None:
    """No difference of floats is rounded away on the way to a violation."""
    instance, nodes, loads = data.draw(orders(least=2))
    chunks = earliest_plan(instance, nodes, loads).chunks
    broken = data.draw(st.sampled_from(CORRUPTIONS)).corrupt(data.draw, instance, chunks)
    third = data.draw(st.sampled_from([F(1), F(1, 3), F(1, 7)]))
    chunks = tuple(
        replace(chunk, **{name: getattr(chunk, name) * third for name in TIMES})
        for chunk in broken.chunks
    )
    last = max((chunk.computation_end for chunk in chunks), default=F(0))
    ready = tuple(time * third for time in instance.ready_times)
    until = max(min(ready) + F(1, 9), last - F(1, 9))
    instance = replace(instance, ready_times=ready, absolute_deadline=until)
    rounded, plan = validated_record.floating(instance), validated_record.floating(Solution(chunks))
    twin, twin_plan = rational(rounded), rational(plan)
    assert validated_record.floating(twin) == rounded
    found = iit.violations(rounded, plan, tolerance)
    assert found == iit.violations(twin, twin_plan, exact(tolerance))
    for v in found:
        if v.kind != "unknown-node":  # its amount is the load as it was given
            assert {type(number) for number in (v.amount, v.start, v.end)} <= {F, type(None)}


def rational(value: Any) -> Any:
    """Return a record with all its floats as the decimals that they print."""
    if isinstance(value, validated_record.Record):
        names = [field.name for field in fields(value) if field.name not in HEADER_FIELDS]
        return replace(value, **{name: rational(getattr(value, name)) for name in names})
    if isinstance(value, tuple):
        return tuple(map(rational, value))
    return exact(value) if isinstance(value, float) else value


@pytest.mark.parametrize(
    ("tolerance", "size"), [(0.1, 30), (0.1, 0.7), (0.3, 0.1), (1e-9, 1e9), (1e-6, 0.3)]
)
def test_tolerances_are_decided_as_the_rationals_that_they_are(
    tolerance: float, size: float
) -> None:
    """Slack is a product of two floats, not that product as a float, and 64 last places."""
    lost, more = exact(tolerance) * exact(size), 1 + F(1, 10**20)
    most = lost + exact(size) / 2**46
    instance = Instance(Cluster(1, tau=1, chi=0), (0,), load=size)

    def kinds(plan: Solution) -> list[str]:
        return [violation.kind for violation in iit.violations(instance, plan, tolerance)]

    def ends(off: Fraction) -> Solution:
        return Solution((Chunk(0, size, off, size, size, size),))

    def loads(off: Fraction) -> Solution:
        load = exact(size) - off
        return Solution((Chunk(0, load, 0, load, load, load), Chunk(0, 0, size, size, size, size)))

    assert kinds(ends(most)) == []
    assert kinds(ends(most * more)) == ["transmission-duration"]
    assert kinds(loads(lost)) == []
    assert kinds(loads(lost * more)) == ["load-not-conserved"]
