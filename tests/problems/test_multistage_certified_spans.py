"""The rows over spans of chunks around reservations that certificates may have.

Both checkers are asked, dlopt's and that of `tests/reference`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import dlopt
from benchmarks.multistage import with_three_reservations
from benchmarks.second_checker import first_verdict, second_verdict
from dlopt.formats import vipr
from dlopt.models.multistage.chunk_span_relaxation import ReservationSpanRelaxation
from dlopt.models.multistage.methods import exact_plan
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from dlopt.result import Limits, Result, Status
from tests.stated_rows import StatedRow, Statement

HALF = Fraction(1, 2)
# Of the reservations the first and the last one exclude each other; the last one begins within an
# interval, which is in two stages therefore.
INSTANCE = Instance(
    Cluster(2, tau=1, chi=1),
    (Task("a", 0, 1, 2),),
    (
        Reservation("r", 0, 1, 4, io_end=1 + HALF, nodes=(1,)),
        Reservation("s", 0, 1, 2),
        Reservation("u", 0, 1 + HALF, 3, io_end=2, nodes=(0, 1)),
    ),
)
REMARKS = {
    "time": "0 is 0, 1 is 1",
    "load": "1 is 1",
    "chunks": "1",
    "instants": "0 1 2 4",
    "groups": "0 1",
}
SPANS = [f"0_{g}_{place}" for g in "01" for place in ("0_0_0", "0_0_1", "0_1_1", "1_1_1")]
REQUESTS = ("z_0", "q_0", "q_1", "q_2", "h_1_0", "h_1_1")
NAMES = (*REQUESTS, *(f"{x}_{span}" for span in SPANS for x in "nxy"))


def flaws(name, terms, side, *, instance=INSTANCE, remarks=REMARKS, names=NAMES, **about):
    """Return why both checkers refuse a row, None if not; terms by the names of columns."""
    column = {one: number for number, one in enumerate(names)}
    known = {column[n]: Fraction(a) for n, a in terms.items()}
    row = StatedRow(name, known, Fraction(side))
    costs = {number: Fraction(-1) for number, one in enumerate(names) if one[0] in "zq"}
    args = (instance, "accepted", dict(remarks), names, frozenset({0, 1}), costs, Fraction(0))
    about = {"plan_class": "per-stage"} | about
    chunks = about.pop("installments", 1)
    return Statement(*args, (row,), {}, installments=chunks, **about).flaws([row])


def on(span, **terms):
    return {f"{x}_{span}": a for x, a in terms.items()}


ROWS = [
    ("q_0_L", {"q_0": 1}, 1),
    ("h_1_0", {"h_1_0": 1}, 1),
    ("reserved_1", {"h_1_0": 1, "h_1_1": 1, "q_1": -1}, 0),
    ("reserved_1", {"h_1_0": -1, "h_1_1": -1, "q_1": 1}, 0),
    ("conflict_0", {"q_0": 1, "q_2": 1}, 1),
    ("chunks_0_0_0_0", {f"n_{span}": 1 for span in SPANS[:3]} | {"z_0": -1}, 0),
    ("chunks_0_0_1_1", on(SPANS[3], n=1) | {"z_0": -2}, 0),
    ("chunks_0_0", {f"n_{span}": 1 for span in SPANS[:4]} | {"z_0": -3}, 0),
    ("n_0_0_1_1_1", on(SPANS[3], n=1), 2),
    (
        "channel_1",
        on(SPANS[2], x=1, y=-1)
        | on(SPANS[3], x=1)
        | on(SPANS[6], x=1, y=-1)
        | on(SPANS[7], x=1)
        | {"q_0": HALF, "q_2": HALF},
        1,
    ),
    ("sending_1", on(SPANS[2], n=1) | on(SPANS[6], n=1) | {"q_0": 1}, 1),
    (
        "nodes_1_1",
        on(SPANS[5], x=2, y=-1)
        | on(SPANS[6], x=2, y=-1)
        | on(SPANS[7], x=2)
        | {"q_0": 1, "h_1_1": 1, "q_2": HALF},
        1,
    ),
    ("busy_1_1", on(SPANS[5], n=1) | on(SPANS[6], n=1) | {"q_0": 1, "h_1_1": 1}, 1),
    ("nodes_1_2", {"q_0": 2, "q_2": 1}, 2),
]


@pytest.mark.parametrize(("name", "terms", "side"), ROWS)
def test_rows_that_hold_and_those_that_say_a_little_more(name, terms, side):
    assert flaws(name, terms, side) == (None, None)
    assert None not in flaws(name, terms, side - Fraction(1, 10**6))
    for n in terms:
        assert None not in flaws(name, {**terms, n: terms[n] + Fraction(1, 10**6)}, side), n


def test_reservations_that_exclude_nothing_and_rows_of_others():
    both, spans = {"q_0": 1, "q_1": 1}, on(SPANS[3], n=1)
    for name, terms, side in (
        ("conflict_0", both, 1),  # one of them names no node
        ("conflict_0", {**both, "q_2": 1}, 1),
        ("sending_1", both, 1),  # one of them has no I/O
        ("busy_1_1", both, 1),
        ("full_0", {"z_0": 1, "q_0": 1}, 1),
    ):
        assert None not in flaws(name, terms, side), name
    for name in ("chunks_0_0_1_9", "chunks_0_0_9_1", "chunks_0_9_1_1", "chunks_1_0_1_1", "q_9"):
        assert flaws(name, {**spans, "z_0": -2}, 0)[0] is not None, name


def test_nodes_of_a_reservation_without_columns_are_the_fewest_that_it_has():
    """Two of three nodes are at least one of two, and of a single one none."""
    two = Instance(Cluster(3, 1, 1), (Task("a", 0, 1, 4),), (Reservation("r", 0, 1, 4, nodes=2),))
    names, remarks = (
        ("z_0", "q_0", "n_0_0_0_0_0"),
        REMARKS | {"groups": "0 0 1", "instants": "0 1 4"},
    )
    about = {"instance": two, "remarks": remarks, "names": names}
    assert flaws("busy_0_1", {"q_0": 1}, 2, **about) == (None, None)
    assert None not in flaws("busy_0_1", {"q_0": 2}, 2 - HALF, **about)
    assert None not in flaws("busy_1_1", {"q_0": 2}, 1, **about)


FULL = Instance(
    Cluster(3, tau=1, chi=1),
    (Task("a", 0, 1, 3), Task("b", 0, 1, 2)),
    (Reservation("r", 0, 1, 5, io_end=2),),
)
FULL_NAMES = ("z_0", "z_1", "q_0", "n_0_0_0_1_1")


def full(instance, side=2, **terms):
    known = {"z_0": 1, "z_1": 1, "q_0": 1} | terms
    remarks = REMARKS | {"instants": "0 1 3 9", "groups": "0 0 0"}
    return flaws("full_7", known, side, instance=instance, remarks=remarks, names=FULL_NAMES)


def test_tasks_and_reservations_that_fill_a_window():
    assert full(FULL) == (None, None)
    assert None not in full(FULL, side=2 - HALF)
    assert None not in full(FULL, q_0=0)  # without the reservation there is time left
    assert None not in full(FULL, z_0=2)
    (a, b), (r,) = FULL.tasks, FULL.reservations
    shorter = replace(FULL, reservations=(replace(r, io_end=2 - HALF / 9),))
    later = replace(FULL, tasks=(replace(a, deadline=3 + HALF), b))
    last = replace(FULL, reservations=(replace(r, start=2, io_end=3),))
    beyond = replace(FULL, reservations=(replace(r, start=2, io_end=4),))
    for instance in (shorter, later, last, beyond):
        assert None not in full(instance), instance
    more = replace(beyond, tasks=(replace(a, load=1 + HALF), b))
    assert full(more) == (None, None)


def test_what_is_computed_at_once_may_be_sent_until_the_due_date():
    at_once = replace(FULL, cluster=Cluster(3, tau=1, chi=(1, 0, 1)))
    assert None not in full(at_once)
    assert full(replace(at_once, cluster=Cluster(3, 1, (1, 0, 1), theta_cp=1))) == (None, None)
    setups = replace(FULL, tasks=(Task("a", 0, HALF, 3), Task("b", 0, HALF, 2)))
    assert None not in full(setups)
    assert full(replace(setups, cluster=Cluster(3, 1, 1, theta_cm=HALF))) == (None, None)


def test_reservations_that_must_be_accepted_or_cannot_be():
    assert None not in flaws("q_0", {"q_0": -1}, -1)
    first, *others = INSTANCE.reservations
    must = replace(INSTANCE, reservations=(replace(first, mandatory=True), *others))
    assert flaws("q_0", {"q_0": -1}, -1, instance=must) == (None, None)
    begun = Instance(
        Cluster(2, 1, 1),
        (Task("a", 3, 1, 2),),
        (Reservation("r", 0, 1, 6, io_end=4, nodes=(1,)), Reservation("s", 3, 4, 6, io_end=5)),
        now=3,
    )
    names = ("z_0", "q_0", "q_1", "n_0_0_1_1_1", "h_1_0", "h_1_1")
    remarks = REMARKS | {"instants": "3 4 6"}
    about = {"instance": begun, "names": names, "remarks": remarks}
    assert flaws("q_0", {"q_0": -1}, -1, **about) == (None, None)
    assert None not in flaws("q_1", {"q_1": -1}, -1, **about)
    assert flaws("sending_0", {"q_0": 1}, 1, **about) == (None, None)
    assert flaws("busy_1_0", {"q_0": 1}, 1, **about) == (None, None)  # it is free from now on
    assert None not in flaws("busy_1_0", {"q_0": 1}, 0, **about)
    assert None not in flaws("q_1", {"q_1": 1}, 0, **about)
    busy = about | {"instance": replace(begun, channel_ready=4 + HALF)}
    assert flaws("q_1", {"q_1": 1}, 0, **busy) == (None, None)
    unready = about | {"instance": replace(begun, ready_times=(5, 5))}
    assert flaws("q_1", {"q_1": 1}, 0, **unready) == (None, None)
    one_ready = about | {"instance": replace(begun, ready_times=(4, 5))}
    assert None not in flaws("q_1", {"q_1": 1}, 0, **one_ready)
    assert flaws("h_1_1", {"h_1_1": 1}, 0, **one_ready) == (None, None)
    assert flaws("reserved_1", {"h_1_0": 1, "q_1": -1}, 0, **one_ready) == (None, None)
    assert None not in flaws("h_1_0", {"h_1_0": 1}, 0, **one_ready)


def test_plans_with_more_chunks_and_decimals():
    terms = on(SPANS[3], n=1)
    two = {"remarks": REMARKS | {"chunks": "2"}, "plan_class": "k", "installments": 2}
    assert flaws("chunks_0_0_1_1", {**terms, "z_0": -4}, 0, **two) == (None, None)
    assert None not in flaws("chunks_0_0_1_1", {**terms, "z_0": -2}, 0, **two)
    assert None not in flaws("q_0", {"q_0": 1}, 1, plan_class="k", installments=2)
    assert flaws("q_0", {"q_0": 1}, 1, plan_class="any")[0] is not None
    decimals = replace(INSTANCE, cluster=Cluster(2, tau=1.0, chi=1))
    assert None not in flaws("q_0", {"q_0": 1}, 1, instance=decimals)
    scaled = ScaledInstance.from_instance(decimals)
    assert ReservationSpanRelaxation(scaled, 1).upper_bound(Limits(), None, 0).certificate is None
    for name in ("h_3_0", "h_0_2", "q_3", "n_0_0_2_2_2", "p_0"):
        assert None not in flaws("q_0", {"q_0": 1}, 1, names=(*NAMES, name)), name


def test_an_optimum_that_spans_decide_is_certified():
    instance = with_three_reservations(4, 8, 11)
    found = exact_plan(instance, limits=Limits(work=40))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 7, 7)
    assert "over spans of chunks" in found.reason
    assert first_verdict(instance, found, vipr.to_text(found.certificate)).bound == (7,)


def test_an_optimum_that_the_milp_over_sequences_decides_is_certified():
    instance = dlopt.load("multistage/around-a-reservation")
    found = exact_plan(instance, objective="accepted-load")
    assert (found.status, found.bound, found.plan_class) == (Status.OPTIMAL, 5, "per-stage")
    text = vipr.to_text(found.certificate)
    assert [of(instance, found, text).bound for of in (first_verdict, second_verdict)] == [(5,)] * 2


def certified(nodes, tasks, number):
    """Return a stream around three reservations, its bound over spans, and the certificate."""
    instance = with_three_reservations(nodes, tasks, number)
    relaxation = ReservationSpanRelaxation(ScaledInstance.from_instance(instance), 1)
    bound = relaxation.upper_bound(Limits(), None, 0)
    found = Result(Status.BOUND, bound=bound.value, objective="accepted", plan_class="per-stage")
    return instance, found, vipr.to_text(bound.certificate)


@pytest.mark.parametrize(
    ("stream", "kinds"),
    [((4, 4, 14), {"busy", "chunks", "conflict", "sending"}), ((4, 5, 3), {"full"})],
)
def test_certificates_with_rows_of_all_kinds(stream, kinds):
    instance, found, text = certified(*stream)
    stated = {name.partition("_")[0] for name, _ in vipr.parse(text).constraints}
    assert kinds <= stated
    for verdict in (first_verdict, second_verdict):
        assert verdict(instance, found, text).bound == (found.bound,)


def test_a_certificate_of_another_stream_is_refused():
    instance, found, text = certified(4, 4, 14)
    cluster, tasks, wanted = instance.cluster, instance.tasks, instance.reservations
    others = [
        replace(instance, cluster=replace(cluster, tau=cluster.tau * Fraction(99, 100))),
        replace(instance, tasks=tasks[:-1]),
        replace(instance, reservations=wanted[:-1]),
        replace(instance, task_weight=2),
    ]
    changes = (0, {"nodes": 1}), (1, {"start": 4 + HALF}), (2, {"end": Fraction(37, 4)})
    for at, change in changes:
        one = replace(wanted[at], **change)
        others.append(replace(instance, reservations=(*wanted[:at], one, *wanted[at + 1 :])))
    for other in others:
        assert first_verdict(other, found, text).bound is None, other
    for goal in ("accepted-tasks", "accepted-weight", "accepted-load"):
        assert first_verdict(instance, replace(found, objective=goal), text).bound is None
    ratio = replace(found, objective="reject-ratio")
    assert first_verdict(instance, ratio, text).bound == (Fraction(2, 7),)
