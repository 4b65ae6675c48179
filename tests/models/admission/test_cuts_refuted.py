"""Cuts of a certificate are held against the window, the nodes and the tasks that they name."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.formats import vipr
from dlopt.models.admission.certificate_check import proven_value
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.methods import bound_window
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequencing_milp import SequencingMilp
from dlopt.models.admission.window_capacity import WindowCapacity
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits
from tests.models.admission.sample_instances import stream

F = Fraction
LESS = F(1, 10**9)


class Forger:
    """A certificate of a bound, to which cuts are added."""

    def __init__(self, instance, installments=1):
        self.instance = instance
        self.result = bound_window(instance, installments=installments)
        self.certificate = vipr.parse(vipr.to_text(self.result.certificate))
        self.scaled = ScaledInstance.from_instance(instance)
        self.model = FluidRelaxation(self.scaled)
        self.model.maximise_weight()
        self.capacity = WindowCapacity(self.scaled, installments)

    def flaw(self, jobs, side, *, slope=0, received=True):
        """Return what is wrong with a cut of what jobs receive, or compute, in all their time."""
        columns = self.model.received if received else self.model.computed
        terms = {column: F(1) for flow, column in columns.items() if flow.task in jobs}
        if slope:
            terms |= {self.model.accepted[i]: -slope for i in jobs}
        cut = ("cut99_L", vipr.Constraint(terms, -1, side))
        constraints = (*self.certificate.constraints, cut)
        return proven_value(
            self.instance, self.result, replace(self.certificate, constraints=constraints)
        )[1]


DUES = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 7))))
LATER = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 4),), ready_times=(0, 1)))
CROWD = Forger(Instance(Cluster(4, 1, 1), tuple(Task(name, 0, 2, 9) for name in "abc")))


def test_the_window_of_what_is_received_ends_with_the_last_deadline():
    """A cut that holds until the first deadline cuts off what is received after it."""
    first, last = (task.due for task in DUES.scaled.tasks)
    early, late = (DUES.capacity.max_load(F(0), end, 2) for end in (first, last))
    assert early < late
    assert "can do more" in DUES.flaw((0, 1), early)
    assert "can do more" in DUES.flaw((0, 1), late - LESS)
    assert DUES.flaw((0, 1), late) is None


def test_the_window_of_what_is_computed_begins_with_the_first_release():
    forger = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 7), Task("b", 4, 1, 3))))
    first, last = (task.release for task in forger.scaled.tasks)
    end = forger.scaled.tasks[0].due
    late, early = (forger.capacity.max_load(start, end, 2) for start in (last, first))
    assert late < early
    assert "can do more" in forger.flaw((0, 1), late, received=False)
    assert forger.flaw((0, 1), early, received=False) is None


def test_nodes_that_get_free_within_the_window_count():
    """One node is free at its start, the other one an instant later."""
    end = LATER.scaled.tasks[0].due
    both = LATER.capacity.max_load(F(0), end, 1)
    alone = WindowCapacity(replace(LATER.scaled, free=(F(0), end)), 1).max_load(F(0), end, 1)
    assert alone < both
    assert "1 tasks can do more" in LATER.flaw((0,), alone)
    assert "1 tasks can do more" in LATER.flaw((0,), both - LESS)
    assert LATER.flaw((0,), both) is None


def test_a_cut_must_hold_for_all_of_its_tasks_together():
    """What two of three tasks can do is no bound of what all of them can."""
    end = CROWD.scaled.tasks[0].due
    two, three = (CROWD.capacity.max_load(F(0), end, tasks) for tasks in (2, 3))
    assert two < three
    assert "3 tasks can do more" in CROWD.flaw((0, 1, 2), two)
    assert CROWD.flaw((0, 1, 2), three) is None
    slope = CROWD.capacity.max_load(F(0), end, 1)
    assert CROWD.flaw((0, 1, 2), F(0), slope=slope) is None
    assert "1 tasks can do more" in CROWD.flaw((0, 1, 2), F(0), slope=slope - LESS)


@pytest.mark.parametrize("installments", [1, 2, 3])
def test_cuts_count_as_many_chunks_as_the_certificate_says(installments):
    forger = Forger(CROWD.instance, installments)
    end = forger.scaled.tasks[0].due
    most = forger.capacity.max_load(F(0), end, 3)
    assert forger.flaw((0, 1, 2), most) is None
    assert "3 tasks can do more" in forger.flaw((0, 1, 2), most - LESS)


@pytest.mark.parametrize(
    "instance",
    [
        stream(1, 1, 1, (0, 1, 2)),
        stream(2, 1, 1, (0, 1, F(4, 3))),
        stream(1, 2, 1, (0, 1, 5), theta_cm=1, theta_cp=1),
    ],
)
def test_due_dates_are_extended_by_a_margin(instance):
    """What a solver in floats proves impossible is impossible: it may be late by a little."""
    orders = SequencingMilp(ScaledInstance.from_instance(instance), 1)
    sequence, outcome = orders.build().solve(Limits(), "HiGHS", 0)
    assert outcome.bound is not None
    assert -outcome.bound >= 1 - 1e-9
    assert {chunk.task for chunk in sequence} == {0}


def test_nodes_that_get_free_after_the_window_do_not_count():
    forger = Forger(replace(LATER.instance, ready_times=(0, 9)))
    end = forger.scaled.tasks[0].due
    alone = forger.capacity.max_load(F(0), end, 1)
    assert alone < LATER.capacity.max_load(F(0), LATER.scaled.tasks[0].due, 1)
    assert forger.flaw((0,), alone) is None
    assert "1 tasks can do more" in forger.flaw((0,), alone - LESS)
