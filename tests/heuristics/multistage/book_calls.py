"""Calls of a book of tasks and reservations, and what a caller sees of it."""

from fractions import Fraction

import pytest

from dlopt import MultiStage, check
from dlopt.books import Consequences
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Task
from tests.heuristics.book_machine import visible

F = Fraction
ONE, TWO, THREE = (Cluster(nodes, tau=1, chi=1) for nodes in (1, 2, 3))
NOTHING = Consequences()
BOTH_NUMBERS = pytest.mark.parametrize("number", [F, float])


def book(cluster, *contents, number=F):
    """Return a book that has accepted some tasks and reservations."""
    head = MultiStage(cluster, exact_numbers=number is F)
    for content in contents:
        call = head.submit if isinstance(content, Task) else head.reserve
        assert call(content).accepted
    return head


def assert_refused(error, text, call, *arguments, **named):
    """Require that a call fails and changes nothing."""
    before = visible(call.__self__)
    with pytest.raises(error, match=text):
        call(*arguments, **named)
    assert visible(call.__self__) == before


def nodes_of(head):
    return {grant.reservation: grant.nodes for grant in head.grants if grant.accepted}


def stated(head):
    """Return what is still to come, and require that its plan is valid."""
    state = head.state()
    assert check(state.instance, state.plan) == ()
    return state
