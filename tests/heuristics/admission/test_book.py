"""Each verb of Admission's book, on the smallest case of each of its rules."""

from fractions import Fraction

import pytest

import dlopt
from dlopt import Admission
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.resubmitted import ACCEPTED_BEFORE
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

F = Fraction
ONE, TWO = Cluster(1, tau=1, chi=1), Cluster(2, tau=1, chi=1)


def head_with(*tasks, cluster=ONE, now=0, **options):
    """Return a head that has accepted some tasks, at an instant."""
    head = Admission(cluster, **options)
    for task in tasks:
        assert head.submit(task).accepted
    head.advance(now)
    return head


def spans(head, identity):
    """Return the node, start and end of each chunk of a task."""
    return [
        (chunk.node, chunk.transmission_start, chunk.computation_end)
        for chunk in head.plan().chunks
        if chunk.task == identity
    ]


def faults_of(call, *arguments, **named):
    with pytest.raises(InvalidInstanceError) as caught:
        call(*arguments, **named)
    return [(fault.path, fault.rule) for fault in caught.value.faults]


# --- submit and ask -------------------------------------------------------------------------


def test_the_same_task_again_gets_the_same_answer():
    accepted, rejected = Task("a", 0, 1, 4), Task("b", 0, 3, 4)
    head = Admission(ONE)
    answers = [head.submit(task) for task in (accepted, rejected)]
    head.advance(9)
    assert [answer.accepted for answer in answers] == [True, False]
    assert [head.submit(task) for task in (accepted, rejected)] == answers
    assert head.decisions == tuple(answers)


def test_other_content_of_what_was_accepted_is_an_error():
    head = head_with(Task("a", 0, 1, 4))
    assert faults_of(head.submit, Task("a", 0, 2, 4)) == [("id", ACCEPTED_BEFORE)]
    assert faults_of(head.ask, Task("a", 0, 2, 4)) == [("id", ACCEPTED_BEFORE)]


def test_to_ask_changes_nothing():
    head = head_with(Task("a", 0, 1, 4))
    before = head.plan(), head.now, head.state()
    yes, no = head.ask(Task("b", 1, 1, 9)), head.ask(Task("b", 1, 1, 2))
    assert (yes.accepted, yes.at) == (True, 1)
    assert not no.accepted and no.reason == "1/2 of the load of task b would miss its deadline"
    assert (head.plan(), head.now, head.state()) == before
    assert head.submit(Task("b", 1, 1, 9)) == yes


# --- cancel ---------------------------------------------------------------------------------


def test_what_is_cancelled_before_it_begins_leaves_no_trace():
    head = head_with(Task("a", 0, 1, 9), Task("b", 0, 1, 20))
    assert head.cancel("a").broken == ()
    assert spans(head, "b") == [(0, 0, 2)]
    assert [decision.task for decision in head.decisions] == ["b"]


def test_what_is_cancelled_after_it_began_is_broken_off():
    head = head_with(Task("a", 0, 2, 4), now=1)
    assert not head.ask(Task("b", 1, 2, 5)).accepted
    head.cancel("a")
    assert head.submit(Task("b", 1, 2, 5)).accepted
    assert spans(head, "b") == [(0, 1, 5)]  # node and channel are free from 1 on


@pytest.mark.parametrize("again", [True, False])
def test_a_cancelled_identity_is_not_used_again_until_it_is_archived(again):
    head = head_with(Task("a", 0, 1, 9))
    head.cancel("a")
    with pytest.raises(NotApplicableError, match="task a is cancelled already"):
        head.cancel("a")
    task = Task("a", 0, 1, 9 if again else 8)
    assert faults_of(head.submit, task) == [("id", "was accepted before, and taken back")]
    head.advance(9)
    head.archive()
    assert head.submit(Task("a", 9, 1, 9)).accepted


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        ("b", "task b was never accepted"),
        ("a", "task a is over"),
        (None, "an identity is a text, not a NoneType"),
        ([], "an identity is a text, not a list"),
    ],
)
def test_only_what_is_promised_can_be_cancelled(identity, reason):
    head = head_with(Task("a", 0, 1, 4), now=2)
    with pytest.raises(NotApplicableError, match=reason):
        head.cancel(identity)


# --- change ---------------------------------------------------------------------------------


def test_a_task_is_extended_as_far_as_all_promises_hold():
    head = head_with(Task("a", 0, 1, 9), Task("b", 0, 1, 6))
    before = head.plan(), head.state()
    no = head.change(Task("a", 0, 4, 9))
    assert not no.accepted and no.reason == "1/2 of the load of task a would miss its deadline"
    assert (head.plan(), head.state()) == before
    assert head.change(Task("a", 0, F(7, 2), 9)).accepted
    assert spans(head, "a") == [(0, 2, 9)]
    assert head.submit(Task("a", 0, F(7, 2), 9)).accepted  # it is the content now


def test_what_has_begun_is_changed_in_what_is_still_to_be_sent():
    head = head_with(Task("a", 0, 2, 9), now=1)
    assert faults_of(head.change, Task("a", 0, 1, 9)) == [
        ("load", "must not be less than what has begun to be sent, 2")
    ]
    assert faults_of(head.change, Task("a", 0, 2, 3)) == [
        ("deadline", "must not lie before the end of what has begun, 4")
    ]
    assert head.change(Task("a", 0, 4, 9)).accepted
    assert spans(head, "a") == [(0, 0, 4), (0, 4, 8)]


def test_what_was_computed_before_counts_as_sent():
    head = head_with(Task("a", 0, 2, 20), Task("b", 0, 1, 6), now=1)
    assert head.change(Task("a", 0, 3, 20)).accepted
    head.advance(5)
    assert faults_of(head.change, Task("a", 0, 1, 20))[0][0] == "load"
    assert head.change(Task("a", 0, 5, 20)).accepted
    assert sum(chunk.load for chunk in head.plan().chunks if chunk.task == "a") == 5
    head.finished("a", 12)
    with pytest.raises(NotApplicableError, match="task a was reported to end"):
        head.change(Task("a", 0, 6, 20))


def test_a_change_keeps_the_arrival():
    head = head_with(Task("a", 0, 1, 9), now=1)
    rule = "must be that of the accepted task, 0"
    assert faults_of(head.change, Task("a", 1, 1, 8)) == [("arrival", rule)]


def test_only_what_is_promised_can_be_changed():
    head = head_with(Task("a", 0, 1, 4), now=2)
    with pytest.raises(NotApplicableError, match="task a is over"):
        head.change(Task("a", 0, 1, 5))
    with pytest.raises(NotApplicableError, match="task b was never accepted"):
        head.change(Task("b", 0, 1, 5))


# --- finished -------------------------------------------------------------------------------


def test_an_early_end_frees_the_node():
    head = head_with(Task("a", 0, 4, 9), Task("b", 0, 1, 20), now=2)
    assert spans(head, "b") == [(0, 8, 10)]
    assert head.finished("a", 3).broken == ()
    assert spans(head, "a") == [(0, 0, 3)]
    assert spans(head, "b") == [(0, 3, 5)]


def test_a_late_end_delays_what_follows_or_breaks_it():
    head = head_with(Task("a", 0, 4, 9), Task("b", 0, 1, 11), now=2)
    assert head.finished("a", 9).broken == ()
    assert spans(head, "a") == [(0, 0, 9)]
    assert spans(head, "b") == [(0, 9, 11)]
    done = head.finished("a", 10)
    assert (done.broken, done.least) == (("a", "b"), True)  # a is due at 9
    assert spans(head, "a") == [(0, 0, 10)]
    assert spans(head, "b") == []


def test_only_what_has_begun_can_end():
    head = head_with(Task("a", 0, 4, 9), Task("b", 0, 1, 20), now=2)
    with pytest.raises(NotApplicableError, match="task b has not begun"):
        head.finished("b", 3)
    assert faults_of(head.finished, "a", 1) == [("at", "must not lie before 2")]


# --- resources ------------------------------------------------------------------------------


def test_a_failure_loses_what_its_node_computes():
    head = head_with(Task("a", 0, 2, 20), cluster=TWO, algorithm="edf-opr-an", now=F(1, 2))
    assert [node for node, *_ in spans(head, "a")] == [0, 1]
    assert head.resources(fail=[0]).broken == ()
    assert head.nodes == (1,)
    assert {node for node, *_ in spans(head, "a")} == {1}
    assert sum(chunk.load for chunk in head.plan().chunks) == 2


def test_a_node_may_fail_before_a_task_ends_as_was_reported():
    head = head_with(Task("a", 0, 4, 30), cluster=TWO, now=1)
    ((node, *_),) = spans(head, "a")
    head.finished("a", 3)
    head.resources(fail=[node])
    assert sum(chunk.load for chunk in head.plan().chunks) == 4
    assert {chunk.node for chunk in head.plan().chunks} == {1 - node}


def test_a_failure_breaks_as_few_promises_as_possible():
    tasks = [Task("long", 0, 3, 7), Task("s", 0, F(3, 2), 8), Task("t", 0, F(3, 2), 8)]
    head = head_with(*tasks, cluster=TWO, algorithm="edf-opr-mn")
    done = head.resources(fail=[1])
    assert done.broken == ("long",) and done.least
    assert [decision.task for decision in head.decisions] == ["s", "t"]


def test_of_equally_many_promises_the_last_are_broken():
    tasks = [Task(name, 0, 1, 6) for name in "abc"]
    head = head_with(*tasks, cluster=TWO, algorithm="fifo-opr-mn")
    head.resources(fail=[1])
    assert [decision.task for decision in head.decisions] == ["a", "b", "c"]
    tight = [Task(name, 0, 1, due) for name, due in (("a", 5), ("b", 4), ("c", 4))]
    head = head_with(*tight, cluster=TWO, algorithm="edf-opr-mn")
    assert head.resources(fail=[1]).broken == ("c",)


def test_without_nodes_nothing_is_promised_until_one_is_repaired():
    head = head_with(Task("a", 0, 1, 9), Task("b", 0, 1, 20))
    assert head.resources(fail=[0]).broken == ("a", "b")
    assert head.nodes == () and head.state() is None
    assert not head.submit(Task("c", 1, 1, 9)).accepted
    assert head.resources(repair=[0]).broken == ()
    assert head.submit(Task("d", 1, 1, 9)).accepted


def test_a_removed_node_completes_what_it_has_begun():
    head = head_with(Task("a", 0, 2, 9), cluster=TWO, now=1)
    (node, *_), *_ = spans(head, "a")
    assert head.resources(remove=[node]).broken == ()
    assert spans(head, "a") == [(node, 0, 4)]
    assert head.nodes == (1 - node,)
    head.resources(fail=[node])  # what it computes is lost after all
    assert {chunk.node for chunk in head.plan().chunks} == {1 - node}


def test_new_nodes_get_the_next_numbers():
    head = head_with(Task("a", 0, 2, 9), cluster=ONE, now=1)
    head.resources(add=2)
    head.resources(remove=[1])
    head.resources(add=1, repair=[1])
    assert head.nodes == (0, 1, 2, 3)


@pytest.mark.parametrize("change", [{"add": 1}, {"remove": [0]}, {"fail": [1]}])
def test_a_cluster_with_equal_costs_a_node_gets_and_loses_nodes(change):
    head = head_with(Task("a", 0, 2, 20), cluster=Cluster(2, tau=(1, 1), chi=(2, 2)))
    head.resources(**change)
    instance, plan, nodes = head.state()
    assert instance.cluster == Cluster(len(nodes), tau=1, chi=2)
    assert dlopt.check(instance, plan) == ()


def test_nodes_that_do_not_exist_are_named_all_at_once():
    head = head_with(cluster=TWO)
    head.resources(fail=[0])
    wrong = {"add": -1, "remove": [0], "fail": [0, 5], "repair": [1]}
    assert faults_of(head.resources, **wrong) == [
        ("add", "must be an integer from 0 to 999998"),
        ("remove[0]", "must be in service"),
        ("fail[0]", "must be named once"),
        ("fail[1]", "must be one of the nodes 0 to 1"),
        ("repair[0]", "must be out of service"),
    ]
    assert head.nodes == (1,)


@pytest.mark.parametrize("verb", ["remove", "fail", "repair"])
@pytest.mark.parametrize("wrong", [None, 1, "0", float("nan")])
def test_nodes_come_in_a_sequence(verb, wrong):
    rule = "must be a sequence of nodes"
    assert faults_of(head_with(cluster=TWO).resources, **{verb: wrong}) == [(verb, rule)]


def test_a_promise_is_broken_once():
    head = head_with(Task("a", 0, 2, 4), now=1)
    assert head.finished("a", 6).broken == ("a",)
    assert head.finished("a", 7).broken == ()
    assert head.resources(fail=[0]).broken == ("a",)  # it is given up


@pytest.mark.parametrize("wrong", [2, "yes", float("nan")])
def test_whether_numbers_are_exact_is_a_truth_value(wrong):
    with pytest.raises(NotApplicableError, match="exact_numbers must be True, False or None"):
        head_with(exact_numbers=wrong)


# --- archive and state ----------------------------------------------------------------------


def test_what_is_over_is_handed_out_once():
    head = head_with(Task("a", 0, 1, 4), Task("b", 0, 2, 30), now=1)
    assert not head.submit(Task("c", 1, 1, 1)).accepted
    head.advance(3)
    archive = head.archive()
    assert archive.until == 3
    assert [decision.task for decision in archive.decisions] == ["a", "c"]
    assert [chunk.task for chunk in archive.allocations] == ["a"]
    assert [decision.task for decision in head.decisions] == ["b"]
    assert head.archive().decisions == ()


def test_the_state_is_an_instance_with_its_plan():
    head = head_with(Task("a", 0, 2, 9), Task("b", 0, 1, 20), now=1)
    instance, plan, nodes = head.state()
    assert nodes == (0,)
    assert (instance.ready_times, instance.channel_ready, instance.now) == ((4,), 2, 1)
    assert [(task.id, task.load) for task in instance.tasks] == [("b", 1)]
    assert dlopt.check(instance, plan) == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda head: head.cancel("a"),
        lambda head: head.change(Task("a", 0, 1, 9)),
        lambda head: head.finished("a", 1),
        lambda head: head.resources(fail=[0]),
    ],
)
def test_printed_algorithms_that_break_promises_keep_no_book(call):
    head = head_with(Task("a", 0, 1, 9), algorithm="edf-iit-2:literal")
    with pytest.raises(NotApplicableError, match="does not keep what it promises"):
        call(head)


@pytest.mark.parametrize("name", ["fifo-anna", "edf-anna"])
def test_the_state_of_an_algorithm_that_promises_nothing(name):
    head = Admission(Cluster(1, tau=1, chi=1), name)
    for task in (Task("a", 0, 2, 3), Task("b", 0, 2, 3)):
        assert head.submit(task).accepted
    head.advance(1)
    instance, plan, _ = head.state()
    assert dlopt.check(instance, plan) == ()
    assert [task.id for task in instance.tasks] == ["b"] and min(instance.ready_times) == 4
