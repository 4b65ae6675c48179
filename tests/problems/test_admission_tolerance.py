"""How far a plan of a stream of loads may be off; floats are decided as what they are."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import api
from dlopt.arithmetic import exact
from dlopt.problems import admission, validated_record
from dlopt.problems.admission import Chunk, Commitment, Decision, Instance, Solution, Task
from dlopt.problems.admission import timeline as admission_timeline
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import HEADER_FIELDS
from tests import strategies
from tests.problems.admission_corruptions import CORRUPTIONS
from tests.problems.chunk_edits import TIMES

F = Fraction
YES = (Decision("a", True, 10), Decision("b", True, 20))
LATE = Instance(
    Cluster(2, tau=1, chi=1),
    (Task("a", 10, 5, 40), Task("b", 20, 10, 60)),
    channel_ready=9,
    ready_times=(9, 9),
)
FIRST = Chunk("a", 0, 5, 10, 15, 15, 20)
SECOND = Chunk("b", 0, 10, 20, 30, 30, 40)
WITHIN = F(1, 200)
OFF_A, OFF_B, SHARED = F(1, 5), F(3, 10), F(1, 5)  # WITHIN of 40, of 60, and of the shorter
ULPS = F(1, 2**46)
MORE = F(1, 10**9)


def plan(*chunks: Chunk, decisions: tuple[Decision, ...] = YES) -> Solution:
    return Solution(decisions, chunks or (FIRST, SECOND))


def second(**changes: Any) -> Solution:
    return plan(FIRST, replace(SECOND, **changes))


def ready(off: Fraction) -> Instance:
    return replace(LATE, ready_times=(10 + off, 9))


def channel(off: Fraction) -> Instance:
    return replace(LATE, channel_ready=10 + off)


def until(off: Fraction) -> Instance:
    """Return the instance with task b due `off` before it is done, and 1/200 of that in OFF_B."""
    return replace(LATE, tasks=(LATE.tasks[0], Task("b", 20, 10, 20 - off)))


Case = Callable[[Fraction], tuple[Instance, Solution]]
BY_TIME: dict[str, tuple[str, Fraction, Case]] = {
    "late decision": (
        "wrong-decision-time",
        (OFF_A + 10 * ULPS) / (1 - ULPS),
        lambda off: (LATE, plan(decisions=(Decision("a", True, 10 + off), YES[1]))),
    ),
    "early decision": (
        "wrong-decision-time",
        (OFF_B + 20 * ULPS) / (1 + ULPS),
        lambda off: (LATE, plan(decisions=(YES[0], Decision("b", True, 20 - off)))),
    ),
    "transmission": (
        "transmission-duration",
        OFF_B + 40 * ULPS,
        lambda off: (LATE, second(transmission_end=30 - off)),
    ),
    "computation": (
        "computation-duration",
        (OFF_B + 40 * ULPS) / (1 + ULPS),
        lambda off: (LATE, second(computation_end=40 - off)),
    ),
    "long computation": (
        "computation-duration",
        (OFF_B + 40 * ULPS) / (1 - ULPS),
        lambda off: (LATE, second(computation_end=40 + off)),
    ),
    "reception": (
        "computes-before-received",
        (OFF_B + 40 * ULPS) / (1 + ULPS),
        lambda off: (LATE, second(computation_start=30 - off, computation_end=40 - off)),
    ),
    "node overlap": (
        "node-overlap",
        SHARED + 20 * ULPS,
        lambda off: (
            replace(LATE, tasks=(LATE.tasks[0], Task("b", 10, 10, 60))),
            replace(
                second(transmission_start=20 - off, transmission_end=30 - off),
                decisions=(YES[0], Decision("b", True, 10)),
            ),
        ),
    ),
    "channel overlap": (
        "channel-overlap",
        SHARED + 15 * ULPS,
        lambda off: (
            replace(LATE, tasks=(LATE.tasks[0], Task("b", 10, 10, 60))),
            Solution(
                (YES[0], Decision("b", True, 10)),
                (FIRST, Chunk("b", 1, 10, 15 - off, 25 - off, 30, 40)),
            ),
        ),
    ),
    "ready": ("node-not-ready", SHARED + 10 * ULPS, lambda off: (ready(off), plan())),
    "channel": ("channel-not-ready", SHARED + 10 * ULPS, lambda off: (channel(off), plan())),
    "arrival": (
        "starts-before-arrival",
        OFF_A + 20 * ULPS,
        lambda off: (
            replace(LATE, tasks=(Task("a", 10 + off, 5, 40), LATE.tasks[1])),
            plan(decisions=(Decision("a", True, 10 + off), YES[1])),
        ),
    ),
    "deadline": (
        "deadline",
        (20 * WITHIN + 40 * ULPS) / (1 + WITHIN),
        lambda off: (until(off), plan()),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "most", "case"), BY_TIME.values(), ids=BY_TIME.keys())
def test_times_may_be_off_by_the_tolerance_of_the_deadline(
    kind: str, most: Fraction, case: Case
) -> None:
    """To the last digit: at the most nothing is found, above it only this."""
    assert admission.violations(*case(F(0))) == ()
    assert admission.violations(*case(most), WITHIN) == ()
    (found,) = admission.violations(*case(most * (1 + F(1, 10**30))), WITHIN)
    assert found.kind == kind
    assert abs(found.amount) == most * (1 + F(1, 10**30))
    exactly = admission.violations(*case(F(1, 10**30)))
    assert {violation.kind for violation in exactly} == {kind}


@pytest.mark.parametrize("sign", [1, -1])
def test_loads_may_be_off_by_the_tolerance_of_the_load(sign: int) -> None:
    most = 10 * WITHIN
    assert admission.violations(LATE, second(load=10 + sign * most), WITHIN) == ()
    (found,) = admission.violations(LATE, second(load=10 + sign * (most + MORE)), WITHIN)
    assert (found.kind, found.amount) == ("load-not-conserved", -sign * (most + MORE))


def test_a_load_may_be_negative_by_the_tolerance_of_the_load() -> None:
    def owed(load: Fraction) -> Solution:
        return plan(FIRST, SECOND, Chunk("b", 1, -load, 50, 50 - load, 50, 50 - load))

    assert admission.violations(LATE, owed(10 * WITHIN), WITHIN) == ()
    found = admission.violations(LATE, owed(10 * WITHIN + MORE), WITHIN)
    assert [violation.kind for violation in found] == ["negative-load", "load-not-conserved"]


def test_a_part_of_a_load_may_be_off_as_the_whole() -> None:
    """What remains after a commitment is small; the tolerance is that of the task's load."""
    old = replace(LATE, now=20, committed=(Commitment("a", 1, 10, F(9, 2), 20),))
    chunk = Chunk("a", 0, F(1, 2), 20, F(41, 2), F(41, 2), 21)
    decisions = (YES[0], Decision("b", False, 20))
    assert admission.violations(old, Solution(decisions, (chunk,))) == ()
    most = 5 * WITHIN
    less = replace(chunk, load=F(1, 2) - most)
    assert admission.violations(old, Solution(decisions, (less,)), WITHIN) == ()
    least = replace(less, load=less.load - MORE)
    (found,) = admission.violations(old, Solution(decisions, (least,)), WITHIN)
    assert (found.kind, found.amount) == ("load-not-conserved", most + MORE)


def test_kinds_that_no_tolerance_covers() -> None:
    for decisions, kind in (
        (YES[:1], "undecided"),
        ((*YES, YES[1]), "duplicate-decision"),
        ((YES[0], replace(YES[1], accepted=False)), "rejected-task-served"),
        ((*YES, Decision("c", True, 0)), "unknown-task"),
    ):
        found = admission.violations(LATE, plan(decisions=decisions), 1)
        assert [violation.kind for violation in found] == [kind]
    old, hope = replace(LATE, now=11), replace(YES[0], promised=False)
    (found,) = admission.violations(old, plan(decisions=(hope, YES[1])), 1)
    assert found.kind == "promised-task-rejected"


EPOCH = 1.7e9


def test_an_epoch_does_not_soften_the_rules() -> None:
    """Load that is sent and computed in no time at all is seen, whatever the clock says."""
    instance = Instance(Cluster(1, 0.25, 0.25), (Task("a", EPOCH, 1.0, 1.0),))
    chunk = Chunk("a", 0, 1.0, EPOCH, EPOCH, EPOCH, EPOCH)
    found = admission.violations(instance, Solution((Decision("a", True, EPOCH),), (chunk,)), 1e-9)
    kinds = [violation.kind for violation in found]
    assert kinds == ["transmission-duration", "computation-duration"]


def test_floats_may_be_off_by_units_in_the_last_place() -> None:
    """At 1.7e9 a float is 2.4e-7 wide, more than 1e-9 of a second."""
    instance = Instance(Cluster(1, tau=0.3, chi=0.4), (Task("a", EPOCH, 1.0, 0.7),))
    chunk = Chunk("a", 0, 1.0, EPOCH, EPOCH + 0.3, EPOCH + 0.3, EPOCH + 0.700002)
    decisions = (Decision("a", True, EPOCH),)
    assert chunk.computation_end != EPOCH + 0.7
    assert admission.violations(instance, Solution(decisions, (chunk,)), 1e-9) == ()
    assert admission.violations(instance, Solution(decisions, (chunk,))) != ()
    late = replace(chunk, computation_end=EPOCH + 0.7001)
    found = admission.violations(instance, Solution(decisions, (late,)), 1e-9)
    assert [violation.kind for violation in found] == ["computation-duration", "deadline"]


def test_the_state_of_the_cluster_is_decided_exactly_too() -> None:
    """In floats 0.1 + 0.2 is more than the decimals that they stand for."""
    cluster = Cluster(1, tau=1.0, chi=1.0)
    sent = Commitment("gone", 0, 0.1, 0.2, 0.2)
    instance = Instance(cluster, (Task("a", 0.25, 1.0, 9.0),), now=0.25, committed=(sent,))
    free = F(3, 10)
    assert exact(instance.channel_free) == exact(0.1 + 0.2) > free

    def starts(at: Fraction) -> tuple[str, ...]:
        chunk = Chunk("a", 0, 1, at, at + 1, at + 1, at + 2)
        found = admission.violations(instance, Solution((Decision("a", True, 0.25),), (chunk,)))
        return tuple(violation.kind for violation in found)

    assert starts(free) == ()
    assert starts(free - F(1, 10**30)) == ("channel-not-ready",)


def test_what_remains_is_decided_exactly_too() -> None:
    """A difference of floats is rounded."""
    cluster, tasks = Cluster(1, tau=1, chi=1), (Task("a", 0, 0.3, 9),)
    old = Commitment("a", 0, 0, 0.1, 1)
    instance = Instance(cluster, tasks, now=1, committed=(old,))
    left = F(1, 5)
    assert exact(instance.remaining["a"]) == exact(0.3 - 0.1) != left
    chunk = Chunk("a", 0, left, 1, 1 + left, 1 + left, 1 + 2 * left)
    assert admission.violations(instance, Solution((Decision("a", True, 0),), (chunk,))) == ()


@pytest.mark.property
@given(st.data(), st.sampled_from([0.0, 1e-17, 1e-16, 0.1, 0.3]))
def test_floats_break_what_the_decimals_that_they_print_break(
    data: st.DataObject, tolerance: float
) -> None:
    """No difference of floats is rounded away on the way to a violation."""
    instance, plan = data.draw(strategies.admission_plans(identical=False, state=True))
    broken = data.draw(st.sampled_from(CORRUPTIONS)).corrupt(data.draw, instance, plan)
    third = data.draw(st.sampled_from([F(1), F(1, 3), F(1, 7)]))
    chunks = tuple(
        replace(chunk, **{name: getattr(chunk, name) * third for name in TIMES})
        for chunk in broken.plan.chunks
    )
    rounded = validated_record.floating(broken.instance)
    rounded_plan = validated_record.floating(replace(broken.plan, chunks=chunks))
    twin, twin_plan = rational(rounded), rational(rounded_plan)
    found = admission.violations(rounded, rounded_plan, tolerance)
    assert found == admission.violations(twin, twin_plan, exact(tolerance))
    for v in found:
        assert {type(number) for number in (v.amount, v.start, v.end)} <= {F, int, type(None)}


def rational(value: Any) -> Any:
    """Return a record with all its floats as the decimals that they print."""
    if isinstance(value, validated_record.Record):
        names = [field.name for field in fields(value) if field.name not in HEADER_FIELDS]
        return replace(value, **{name: rational(getattr(value, name)) for name in names})
    if isinstance(value, tuple):
        return tuple(map(rational, value))
    return exact(value) if isinstance(value, float) else value


def test_a_rejected_task_takes_no_tolerance_away() -> None:
    """One that is due at once leaves the others what they may be off by."""
    cluster = Cluster(2, 1.0, 1.0)
    tasks = (Task("a", 0.0, 1.0, 9.0), Task("b", 0.0, 1.0, 9.0), Task("c", 0.0, 1.0, 0.0))
    chunks = (Chunk("a", 0, 1.0, 0.0, 1.0, 1.0, 2.0), Chunk("b", 1, 1.0, 1 - 1e-9, 2, 2, 3))
    decisions = tuple(Decision(task.id, task.id != "c", 0.0) for task in tasks)
    plan = Solution(decisions, chunks)
    assert admission.violations(Instance(cluster, tasks), plan, 1e-9) == ()
    accepted = replace(plan, decisions=tuple(replace(d, accepted=True) for d in decisions))
    kinds = {
        violation.kind
        for violation in admission.violations(Instance(cluster, tasks), accepted, 1e-9)
    }
    assert kinds == {"channel-overlap", "load-not-conserved"}


def crowd(count: int, load: float, deadline: float, step: float, epoch: float) -> Any:
    """Return tasks that arrive at once on one node, stated to begin `step` after one another."""
    tasks = tuple(Task(f"t{i}", epoch, load, deadline) for i in range(count))
    starts = [epoch + i * step for i in range(count)]
    chunks = (
        Chunk(task.id, 0, load, at, at, at, at + load)
        for task, at in zip(tasks, starts, strict=True)
    )
    decisions = tuple(Decision(task.id, True, epoch) for task in tasks)
    return Instance(Cluster(1, 0.0, 1.0), tasks), Solution(decisions, tuple(chunks))


@pytest.mark.parametrize(
    ("load", "deadline", "step", "fit", "tried"),
    [
        (1e-3, 0.045, 0.044 / 45, 45, 46),  # each overlaps the next by 1/45 of a millisecond
        (1e-5, 1.1e-5, 0.0, 3, 20),  # all at the same instant: finer than the clock, see below
        (1e-3, 60.0, 0.044 / 45, 45, 46),  # in time, but ends that cannot be
    ],
)
def test_what_is_allowed_does_not_add_up(
    load: float, deadline: float, step: float, fit: int, tried: int
) -> None:
    """64 units in the last place at this epoch are 24 microseconds: once, not for each task."""
    assert admission.violations(*crowd(fit, load, deadline, load, EPOCH), 1e-9) == ()
    for count in (fit + 1, tried):
        found = admission.violations(*crowd(count, load, deadline, step, EPOCH), 1e-9)
        assert {violation.kind for violation in found} == {"earlier-than-possible"}


def test_an_end_that_cannot_be_is_named() -> None:
    instance, plan = crowd(46, 1e-3, 0.045, 0.044 / 45, EPOCH)
    *_, found = admission.violations(instance, plan, 1e-9)
    assert (found.resource, found.start) == ("task t45", exact(EPOCH + 0.044 / 45 * 45 + 1e-3))
    assert found.end == exact(EPOCH) + F(46, 1000)
    assert found.amount == found.end - found.start


def test_what_promises_nothing_counts_as_in_time_only_if_it_can_be() -> None:
    """At the end of the allowance it is worth a task; stated late it is worth none."""
    instance, plan = crowd(1, 1.0, 1 - 2e-5, 0.0, EPOCH)
    hope = replace(plan, decisions=(replace(plan.decisions[0], promised=False),))
    in_time = replace(hope.chunks[0], computation_end=EPOCH + 1 - 2.1e-5)
    assert admission.objective(instance, hope) == 0
    assert admission.objective(instance, replace(hope, chunks=(in_time,))) == 1
    assert admission.violations(instance, replace(hope, chunks=(in_time,)), 1e-9) == ()
    sooner = replace(instance, tasks=(replace(instance.tasks[0], deadline=1 - 2.6e-5),))
    assert admission.violations(sooner, hope, 1e-9) == ()
    in_time = replace(in_time, computation_end=EPOCH + 1 - 2.3e-5)
    assert admission.violations(sooner, replace(hope, chunks=(in_time,)), 1e-9) == ()


def test_loads_that_are_off_are_made_up_for_by_the_largest_chunks() -> None:
    """What is missing goes to the largest; what is too much is taken from it, then the next."""
    cluster, task = Cluster(2, 0, 1), Task("a", 0, 10, 9.9)
    instance = Instance(cluster, (task,))
    yes = (Decision("a", True, 0),)

    def plan(*loads: Any) -> Solution:
        chunks = (Chunk("a", node, load, 0, 0, 0, load) for node, load in enumerate(loads))
        return Solution(yes, tuple(chunks))

    ends = admission_timeline.exact_ends
    of = {"a": F(10)}
    assert ends(instance, plan(6, 3).chunks, of)["a"] == (7, 2)
    assert ends(instance, plan(6, 5).chunks, of)["a"] == (5, 2)
    assert ends(instance, plan(15, -3).chunks, of)["a"] == (10, 1)
    assert ends(instance, plan(2, 1).chunks, {"a": F(0)}) == {}
    assert admission.violations(instance, plan(9, 1), WITHIN) == ()
    (found,) = admission.violations(instance, plan(F(99, 10), 0), F(1, 100))
    assert (found.kind, found.end) == ("earlier-than-possible", 10)


def test_what_is_too_little_to_matter_may_be_left_out() -> None:
    """With less than the tolerance of its load left, a task needs no chunk, and no set-up time."""
    old = Commitment("a", 0, 0, 1 - 1e-12, 1)
    instance = Instance(Cluster(1, 1, 1, 5), (Task("a", 0, 1.0, 9),), now=1, committed=(old,))
    nothing = Solution((Decision("a", True, 0),), ())
    assert admission.violations(instance, nothing, 1e-9) == ()
    assert api.solve(instance, "bound-fluid").bound == 1
    found = admission.violations(instance, nothing, 1e-13)
    assert [violation.kind for violation in found] == ["load-not-conserved"]


def test_a_transmission_of_no_length_waits_for_no_channel() -> None:
    cluster = Cluster(2, (1, 0), (1, 1))
    instance = Instance(cluster, (Task("a", 0, 2, 9.5), Task("b", 0, 1, 1)))
    yes = (Decision("a", True, 0), Decision("b", True, 0))
    chunks = (Chunk("a", 0, 2, 0, 2, 2, 4), Chunk("b", 1, 1, 0, 0, 0, 1))
    assert admission.violations(instance, Solution(yes, chunks), 1e-9) == ()
