"""The rows over sequences of chunks that certificates may have, and no stronger ones.

Both checkers are asked, dlopt's and that of `tests/reference`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.formats import vipr
from dlopt.io import instance_to_data
from dlopt.models.admission.certificate_check import proven_value
from dlopt.models.admission.methods import exact_plan, feasible_queue
from dlopt.models.admission.proof_sequences import certify_sequences
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.common.searched_program import ProofError
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Result, Status
from tests.reference import sequence_program
from tests.reference.certificates import proven_bound
from tests.reference.vipr import File, RefusedError, Row
from tests.stated_rows import StatedRow, Statement

TASKS = (Task("a", 0, 2, 4), Task("b", 1, 1, 2))
INSTANCE = Instance(Cluster(2, tau=1, chi=1), TASKS)
UNITS = {"time": "0 is 0, 1 is 1", "load": "1 is 1", "chunks": "1"}
NAMES = (*("z_0", "z_1"), *(f"{x}_{a}" for a in range(4) for x in "pxs"))
ORDERS = tuple(f"y_{a}_{b}" for a in range(4) for b in range(4) if a != b)


def flaws(name, terms, side, *, letter="L", instance=INSTANCE, remarks=UNITS, more=(), **about):
    """Return why both checkers refuse a row, None if not; terms by the names of columns."""
    names = (*NAMES, *ORDERS)
    column = {one: number for number, one in enumerate(names)}
    rows = [
        StatedRow(one, {column[n]: Fraction(a) for n, a in of.items()}, Fraction(most), letter)
        for one, of, most in ((name, terms, side), *more)
    ]
    about = {"plan_class": "single", "installments": 1} | about
    costs = {column[f"z_{i}"]: Fraction(-1) for i in range(len(instance.tasks))}
    args = (instance, "accepted", dict(remarks), names, frozenset({0}), costs, Fraction(0))
    return Statement(*args, tuple(rows), {}, **about).flaws(rows)


@pytest.mark.parametrize(
    ("name", "terms", "side"),
    [
        ("load_0", {"z_0": 2, "x_0": -1, "x_1": -1}, 0),
        ("present_0", {"p_0": 1, "z_0": -1}, 0),
        ("chunk_3", {"x_3": 1, "p_3": -1}, 0),
        ("start_2", {"p_2": 1, "s_2": -1}, 0),
        ("due_0", {"s_0": 1, "x_0": 2, "p_0": -4}, 0),
        ("pair_0_2", {"p_0": 1, "p_2": 1, "y_0_2": -1, "y_2_0": -1}, 1),
        ("both_2_1", {"y_2_1": 1, "y_1_2": 1, "p_2": -1}, 0),
        ("order_0_2", {"s_0": 1, "x_0": 2, "p_0": -4, "s_2": -1, "p_2": 1, "y_0_2": 3}, 0),
        ("order_0_3", {"s_0": 1, "x_0": 1, "p_0": -4, "s_3": -1, "p_3": 1, "y_0_3": 3}, 0),
        ("window_0", {"x_0": 2, "x_2": 2}, 4),
        ("window_1", {"x_0": 1, "x_2": 1, "x_3": 1}, 4),
        ("window_2", {"x_2": 1, "x_3": 1}, 2),
        ("equal_0_1", {"p_1": 1, "y_0_1": -1}, 0),
        ("x_3_L", {"x_3": 1}, 1),
        ("s_3_L", {"s_3": 1}, 3),
        ("y_0_3_L", {"y_0_3": 1}, 1),
    ],
)
def test_rows_that_hold_and_those_that_say_a_little_more(name, terms, side):
    assert flaws(name, terms, side) == (None, None)
    assert None not in flaws(name, terms, side - Fraction(1, 10**6))
    smaller = min((n for n in terms), key=lambda n: terms[n] / abs(terms[n]))
    for n in terms if name.split("_")[0] not in ("order", "equal") else (smaller,):
        more = {**terms, n: terms[n] + Fraction(1, 10**6)}
        assert None not in flaws(name, more, side), n


def test_in_an_order_a_larger_number_may_stand_for_the_end():
    later = {"s_0": 1, "x_0": 2, "p_0": -9, "s_2": -1, "p_2": 1, "y_0_2": 8}
    assert flaws("order_0_2", later, 0) == (None, None)
    assert None not in flaws("order_0_2", {**later, "p_0": -8}, 0)
    sooner = {**later, "p_0": -3, "y_0_2": 2}
    assert None not in flaws("order_0_2", sooner, 0)


def test_what_is_sent_in_no_time_is_in_no_order_on_the_channel():
    free = replace(INSTANCE, cluster=Cluster(2, tau=(0, 1), chi=2))
    order = {"s_0": 1, "p_0": -4, "s_3": -1, "p_3": 1, "y_0_3": 3}
    assert None not in flaws("order_0_3", order, 0, instance=free)
    assert flaws("order_1_3", {**order, "s_0": 0}, 0, instance=free)[0] is not None
    assert None not in flaws("window_0", {"x_0": Fraction(1, 9), "x_3": 1}, 0, instance=free)


def test_chunks_that_cannot_be_in_time_need_not_be_there():
    """Node 0 is free after both due dates; on the channel, no time is left to compute."""
    busy = replace(INSTANCE, ready_times=(7, 0))
    slow = replace(INSTANCE, cluster=Cluster(2, 1, 1, theta_cp=9))
    for instance, terms in ((busy, {"x_0": 2}), (slow, {"x_0": 1, "x_1": 1})):
        assert flaws("window_0", terms, 0, instance=instance) == (None, None)
        assert None not in flaws("window_0", terms, -3, instance=instance)


def test_equal_nodes_are_in_order_for_one_task_and_only_if_they_are_equal():
    first, second = {"p_1": 1, "y_0_1": -1}, {"p_3": 1, "y_2_3": -1}
    assert flaws("equal_2_3", second, 0) == (None, None)
    assert None not in flaws("equal_0_1", first, 0, more=[("equal_2_3", second, 0)])
    assert None not in flaws("equal_1_0", {"p_0": 1, "y_1_0": -1}, 0)
    assert None not in flaws("equal_0_3", {"p_3": 1, "y_0_3": -1}, 0)
    for other in (Cluster(2, 1, (1, 2)), Cluster(2, (1, 2), 1)):
        assert None not in flaws("equal_0_1", first, 0, instance=replace(INSTANCE, cluster=other))
    later = replace(INSTANCE, ready_times=(0, 1))
    assert None not in flaws("equal_0_1", first, 0, instance=later)


def test_chunks_of_a_task_on_a_node_are_numbered_in_their_order():
    """With two chunks a node, chunks 0 and 1 are of task a on node 0, 2 and 3 on node 1."""
    two = {**UNITS, "chunks": "2"}
    about = {"remarks": two, "plan_class": "k", "installments": 2}
    assert flaws("next_0", {"p_1": 1, "p_0": -1}, 0, **about) == (None, None)
    assert flaws("y_1_0_L", {"y_1_0": 1}, 0, **about) == (None, None)
    assert flaws("pair_0_1", {"p_0": 1, "p_1": 1, "y_0_1": -1}, 1, **about) == (None, None)
    assert None not in flaws("next_1", {"p_2": 1, "p_1": -1}, 0, **about)
    assert None not in flaws("y_2_0_L", {"y_2_0": 1}, 0, **about)
    assert None not in flaws("pair_0_2", {"p_0": 1, "p_2": 1, "y_0_2": -1}, 1, **about)
    assert None not in flaws("equal_1_2", {"p_2": 1, "y_1_2": -1}, 0, **about)


def test_promised_tasks_are_accepted():
    assert None not in flaws("promised_0", {"z_0": -1}, -1)
    promised = replace(INSTANCE, now=1, tasks=(replace(TASKS[0], deadline=8), TASKS[1]))
    since = {**UNITS, "time": "0 is 1, 1 is 1"}
    assert flaws("promised_0", {"z_0": -1}, -1, instance=promised, remarks=since) == (None, None)
    assert None not in flaws("promised_1", {"z_1": -1}, -1, instance=promised, remarks=since)


@pytest.mark.parametrize(
    ("remarks", "about"),
    [
        ({"time": "0 is 1, 1 is 1"}, {}),  # a task is released before
        ({"time": "0 is 0, 1 is -1"}, {}),
        ({"time": "0 is 0, 1 is 0"}, {}),
        ({"load": "one"}, {}),
        ({"chunks": "0"}, {}),
        ({"chunks": "any"}, {}),
        ({"chunks": "999999"}, {}),
        ({}, {"plan_class": "k", "installments": 2}),
        ({}, {"plan_class": "any", "installments": None}),
    ],
)
def test_remarks_that_do_not_state_units_or_that_are_about_fewer_plans(remarks, about):
    row = ("z_0_L", {"z_0": 1}, 1)
    assert flaws(*row) == (None, None)
    assert None not in flaws(*row, remarks=UNITS | remarks, **about)


def altered(**changes):
    """Return what the checkers say of a program with other columns or costs, without rows."""
    parts = {"names": NAMES, "integers": frozenset({0}), "costs": {0: -1, 1: -1}} | changes
    costs = {column: Fraction(cost) for column, cost in parts["costs"].items()}
    stated = (parts["names"], parts["integers"], costs, (), Fraction(-2), (), UNITS)
    result = Result(Status.BOUND, objective="accepted", plan_class="single")
    first = proven_value(INSTANCE, result, vipr.Certificate(*stated))
    file = File(UNITS, list(parts["names"]), set(parts["integers"]), costs)
    file.claim = Fraction(-2)
    try:
        second = sequence_program.check(instance_to_data(INSTANCE), "accepted", file, 1)
    except RefusedError:
        second = None
    return first[1] is None, second


def test_columns_and_costs():
    assert altered() == (True, (2,))
    for name in ("z_2", "p_4", "y_0_4", "y_0_0", "w_0", "p_0_0"):
        assert altered(names=(*NAMES, name)) == (False, None), name
    assert altered(integers=frozenset({3})) == (False, None)
    assert altered(costs={0: -1}) == (False, None)
    assert altered(costs={0: -1, 1: -1, 2: 1}) == (False, None)
    assert altered(costs={0: 0, 1: -1}) == (False, None)


def test_what_cannot_be_proven():
    scaled = ScaledInstance.from_instance(INSTANCE)
    assert certify_sequences(scaled, 1, Fraction(1)).bound == -1
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_sequences(scaled, 1, Fraction(0))
    with pytest.raises(ProofError, match=r"no proof was found in 1 subproblem$"):
        certify_sequences(scaled, 1, Fraction(1), work=1)
    with pytest.raises(ProofError, match="more than 400 columns"):
        certify_sequences(scaled, 6, Fraction(1))
    late = replace(INSTANCE, tasks=(Task("a", 0, 2, 0),))
    with pytest.raises(ProofError, match="no chunk"):
        certify_sequences(ScaledInstance.from_instance(late), 1, Fraction(0))


@pytest.mark.parametrize("exactly", [True, False])
def test_an_optimum_that_the_order_of_chunks_decides(exactly):
    instance = INSTANCE
    if not exactly:
        tasks = tuple(replace(task, load=float(task.load)) for task in TASKS)
        instance = replace(INSTANCE, tasks=tasks)
    found = exact_plan(instance)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)
    assert "order of chunks, certified in exact arithmetic" in found.reason
    text = vipr.to_text(found.certificate)
    certificate = vipr.parse(text)
    assert certificate.flaw() is None and proven_value(instance, found, certificate) == (1, None)
    assert proven_bound(instance_to_data(instance), "accepted", text, 1) == (1,)
    other = replace(found, plan_class="k", installments=2)
    assert "class k" in proven_value(instance, other, certificate)[1]


def test_that_not_all_fit_is_proven_by_the_order_of_chunks():
    found = replace(feasible_queue(INSTANCE), method="feasibility")
    assert found.status is Status.INFEASIBLE
    text = vipr.to_text(found.certificate)
    assert proven_value(INSTANCE, found, vipr.parse(text)) == (None, None)
    assert proven_bound(instance_to_data(INSTANCE), "accepted", text, 1, accept_all=True) == ()
    claimed = replace(found, method="exact")
    assert "promised" in proven_value(INSTANCE, claimed, vipr.parse(text))[1]
    with pytest.raises(RefusedError):
        proven_bound(instance_to_data(INSTANCE), "accepted", text, 1)


def test_rows_that_are_equations_or_have_other_names():
    certificate = vipr.parse(vipr.to_text(exact_plan(INSTANCE).certificate))
    found = exact_plan(INSTANCE)
    for name, row in certificate.constraints[:5]:
        for other in ((name, replace(row, sign=0)), ("nonesuch", row), (f"{name}_x", row)):
            program = replace(certificate, constraints=(other,))
            assert proven_value(INSTANCE, found, program)[1] is not None, other
    file = File(UNITS, list(NAMES), {0}, {0: Fraction(-1), 1: Fraction(-1)})
    file.claim, file.rows = Fraction(-1), [Row("z_0", "E", Fraction(0), {0: Fraction(1)})]
    with pytest.raises(RefusedError, match="equation"):
        sequence_program.check(instance_to_data(INSTANCE), "accepted", file, 1)
