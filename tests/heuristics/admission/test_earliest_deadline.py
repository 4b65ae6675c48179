"""The earliest deadline that a rejected task could have: accepted at it, and at none before."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.deadlines import earliest
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.planner_factory import make_planner, parse
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.examples import share
from tests.heuristics.admission.strategies import PROMISING, Stream, random_stream, streams
from tests.heuristics.reference.admission_engine import ReferenceAdmission, reference_planner

FAST = [
    FastAlgorithm(test, order=order) for test in ("r2", "r1", "replay") for order in ("edf", "mwf")
]
FAST += [HybridAlgorithm(2), HybridAlgorithm(0)]
TINY = Fraction(1, 10**12)


def with_deadline(engine, task, deadline):
    """Tell whether a copy of an engine accepts a task that has another deadline."""
    return deepcopy(engine).submit(replace(task, deadline=deadline)).accepted


def assert_earliest(engine, task, others, gap=TINY):
    """Hold the answer for the last task of a stream against decisions on copies of the engine."""
    before = engine.plan(), engine.now, engine.waiting
    found = engine.earliest_deadline(task)
    assert (engine.plan(), engine.now, engine.waiting) == before
    if found is not None:
        assert with_deadline(engine, task, found)
    top = 1000 if found is None else found
    earlier = [top * share_ for share_ in others] + [top * (1 - gap)]
    for deadline in earlier:
        assert deadline <= 0 or not with_deadline(engine, task, deadline)


shares = st.lists(st.fractions(Fraction(1, 100), Fraction(99, 100)), max_size=6)


@pytest.mark.property
@pytest.mark.parametrize("name", PROMISING)
@share(1 / 4)
@given(streams(tasks=6), shares)
def test_of_plans(name, stream, others):
    *before, task = stream.tasks
    engine = Stream(stream.cluster, before, stream.ready_times, stream.channel_ready).decided(name)
    assert_earliest(engine, task, others)


@pytest.mark.property
@pytest.mark.parametrize("policy", FAST, ids=str)
@share(1 / 4)
@given(streams(tasks=6, setup=False), shares)
def test_without_plans(policy, stream, others):
    *before, task = stream.tasks
    engine = Stream(stream.cluster, before, stream.ready_times, stream.channel_ready).decided(
        policy
    )
    assert_earliest(engine, task, others)


@pytest.mark.property
@share(1 / 4)
@given(streams(tasks=6, setup=False, state=False), shares)
def test_of_the_smallest_repair_to_a_billionth(stream, others):
    *before, task = stream.tasks
    engine = Stream(stream.cluster, before).decided("fast-edf-iit-minimal")
    assert_earliest(engine, task, others, gap=Fraction(2, 10**9))


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-opr-mn", "mwf-epr-mn", "mcdf", "edf-iit-2", "fast-edf-iit"])
@share(1 / 4)
@given(streams(tasks=6, setup=False))
def test_a_plain_engine_says_the_same(name, stream):
    *before, task = stream.tasks
    rest = stream.ready_times, stream.channel_ready
    engines = [
        Stream(stream.cluster, before, *rest).decided(name, reference=p) for p in (False, True)
    ]
    assert engines[0].earliest_deadline(task) == engines[1].earliest_deadline(task)


@pytest.mark.parametrize("name", [*PROMISING, "fast-edf-iit", "fast-edf-iit-simulated", "hybrid"])
def test_in_floats_up_to_rounding(name):
    stream = random_stream(3, nodes=3, tasks=12, load=1.5)
    engine, refused = stream.engine(name), 0
    for task in stream.tasks:
        found = engine.earliest_deadline(task)
        accepted = engine.submit(task).accepted
        refused += not accepted
        if found is None:
            assert not accepted
            continue
        rounding = 1e-9 if name == "fast-edf-iit-simulated" else 1e-12  # what a check forgives
        gap = rounding * (task.arrival + found)
        if not accepted:
            assert with_deadline(engine, replace(task, id=f"{task.id}-again"), found)
            earlier = replace(task, id=f"{task.id}-again", deadline=found - gap)
            assert not engine.submit(earlier).accepted
        else:
            assert found <= task.deadline
    assert refused


def test_a_later_deadline_need_not_be_accepted():
    """On two nodes, with a (load 1, due at 4) before it, b has load 2.

    Due at 8/3, it goes first and takes both nodes until then; a takes both until 4. Due at 4, it
    goes behind a, which holds one node until 2: b would end at 5 on the other one.
    """
    head = Admission(Cluster(2, tau=1, chi=1), "edf-opr-mn")
    assert head.submit(Task("a", 0, 1, 4)).accepted
    task = Task("b", 0, 2, 4)
    found = head.earliest_deadline(task)
    assert found == Fraction(8, 3)
    assert [with_deadline(head, task, d) for d in (found, 4, 5)] == [True, False, True]


def queue(name, nodes, *tasks, reference=False):
    """Return a queue on idle nodes with tasks (load, deadline) that come at 0."""
    zero, one = Fraction(0), Fraction(1)
    costs = one, one, zero, zero
    make = reference_planner if reference else make_planner
    made = make(parse(name), costs, [zero] * nodes, zero, zero)
    for number, (load, due) in enumerate(tasks):
        assert (
            made.try_admit(QueuedTask((due, number), f"t{number}", zero, Fraction(load), due))
            is None
        )
    return made


@pytest.mark.parametrize(
    ("name", "deadlines"),
    [
        # Before the first (due at 4) on two nodes or one; behind it when it ends, at 2 on one node.
        ("edf-opr-mn", ["8/3", "14/3", "5"]),
        ("edf-iit-2", ["8/3", "4", "5"]),
        ("fast-edf-iit-minimal", ["8/3", "4"]),
        # With two nodes it goes behind, with one before.
        ("mwf-opr-mn", ["8/3", "4"]),
        ("mcdf", ["8/3", "4"]),
    ],
)
def test_the_deadlines_that_are_tried(name, deadlines):
    new = QueuedTask((0, 1), "new", Fraction(0), Fraction(2), Fraction(0))
    made = queue(name, 2, (1, 4))
    assert [str(due) for due in made.deadlines(new)] == deadlines


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("name", ["fast-edf-iit", "fast-edf-iit-linear", "fast-edf-iit-minimal"])
def test_no_deadline_between_two_tasks_that_leave_no_time(name, reference):
    """A task that would end at the deadline of the next one goes behind that."""
    new = QueuedTask((0, 2), "new", Fraction(0), Fraction(2), Fraction(0))
    made = queue(name, 1, (1, 2), (1, 5), reference=reference)
    assert [str(due) for due in made.deadlines(new)] == ["8"]


def test_deadlines_of_a_run_end_where_nothing_changes_any_more():
    """On one node a load of 2 alone is done by 4: its deadline is compared with that alone."""
    new = QueuedTask((0, 0), "new", Fraction(0), Fraction(2), Fraction(0))
    assert [str(due) for due in queue("fast-edf-iit-simulated", 1).deadlines(new)] == ["0", "4"]
    behind = [str(due) for due in queue("fast-edf-iit-simulated", 1, (1, 2)).deadlines(new)]
    assert behind == ["0", "2", "6"]


@pytest.mark.parametrize("name", ["fast-edf-iit", "fast-edf-iit-linear"])
def test_the_sums_of_r1_and_r2_one_by_one(name):
    """Two idle nodes are certain to do 3 d / 4: 2 by 8/3, and 3, with a, by 4."""
    head = ReferenceAdmission(Cluster(2, tau=1, chi=1), name)
    assert head.submit(Task("a", 0, 1, 4)).accepted
    assert head.earliest_deadline(Task("b", 0, 2, 1)) == Fraction(8, 3)


def test_mwf_refuses_all_when_its_order_of_today_breaks_promises():
    """At 3 the two tasks need other numbers of nodes than at 0, and change their order."""
    cluster, ready = Cluster(5, tau=3, chi=5), [11, 2, 9, 4, 12]
    head = Admission(cluster, "mwf-opr-mn", ready_times=ready)
    assert all(head.submit(Task(f"due {due}", 0, 3, due)).accepted for due in (25, 19))
    assert head.earliest_deadline(Task("new", 3, 1, 40)) is None
    assert not head.submit(Task("new", 3, 1, 1000)).accepted


def test_a_float_that_is_rounded_down_is_moved_up():
    """0.2 + (0.9 - 0.2) is less than 0.9."""
    arrival, due = 0.2, 0.9

    class Late:
        def deadlines(self, new):
            yield due

        def would_reject(self, new):
            return None

    found = earliest(Late(), QueuedTask((0, 0), "a", arrival, 1.0, 0.0))
    assert arrival + found >= due


def test_mwf_may_refuse_every_deadline():
    """A large task comes before a small one that cannot wait, however late it is due."""
    head = Admission(Cluster(1, tau=1, chi=1), "mwf-opr-mn")
    assert head.submit(Task("small", 0, 1, 3)).accepted
    assert head.earliest_deadline(Task("large", 0, 9, 1000)) is None
    assert head.earliest_deadline(Task("smaller", 0, Fraction(1, 2), 1000)) == 3


def test_what_is_sent_until_the_deadline_has_no_earliest_one_under_r0():
    """Line 2 of AC-FAST wants a deadline beyond the end of the transmission, at 5."""
    head = Admission(Cluster(1, tau=1, chi=0), "fast-edf-iit-minimal")
    found = head.earliest_deadline(Task("a", 0, 5, 9))
    assert found == 5 + Fraction(5, 10**9)
    assert not head.submit(Task("a", 0, 5, 5)).accepted


def test_refusals():
    cluster, task = Cluster(2, tau=1, chi=1), Task("a", 0, 1, 4)
    for name in ("edf-anna", "edf-opr-mn:literal", "fast-edf-iit:literal-chunk"):
        with pytest.raises(NotApplicableError, match=parse(name).name):
            Admission(cluster, name).earliest_deadline(task)
    head = Admission(cluster, now=3)
    with pytest.raises(InvalidInstanceError, match="before now"):
        head.earliest_deadline(task)
