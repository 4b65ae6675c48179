"""Cuts of a certificate are held against the window, the nodes and the tasks that they name."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.formats import vipr
from dlopt.models.admission.certificate_check import proven_worth
from dlopt.models.admission.fluid_relaxation import FluidModel
from dlopt.models.admission.methods import bound_window
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.admission.sequencing_milp import OrderModel
from dlopt.models.admission.window_capacity import Latency
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
        self.case = Case.of(instance)
        self.model = FluidModel(self.case)
        self.model.maximise_weight()
        self.latency = Latency(self.case, installments)

    def flaw(self, jobs, side, *, slope=0, received=True):
        """Return what is wrong with a cut of what jobs receive, or compute, in all their time."""
        columns = self.model.received if received else self.model.computed
        terms = {column: F(1) for flow, column in columns.items() if flow.job in jobs}
        if slope:
            terms |= {self.model.accepted[i]: -slope for i in jobs}
        cut = ("cut99_L", vipr.Constraint(terms, -1, side))
        constraints = (*self.certificate.constraints, cut)
        return proven_worth(
            self.instance, self.result, replace(self.certificate, constraints=constraints)
        )[1]


DUES = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 7))))
LATER = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 4),), ready_times=(0, 1)))
CROWD = Forger(Instance(Cluster(4, 1, 1), tuple(Task(name, 0, 2, 9) for name in "abc")))


def test_the_window_of_what_is_received_ends_with_the_last_deadline():
    """A cut that holds until the first deadline cuts off what is received after it."""
    first, last = (job.due for job in DUES.case.jobs)
    early, late = (DUES.latency.most(F(0), end, 2) for end in (first, last))
    assert early < late
    assert "can do more" in DUES.flaw((0, 1), early)
    assert "can do more" in DUES.flaw((0, 1), late - LESS)
    assert DUES.flaw((0, 1), late) is None


def test_the_window_of_what_is_computed_begins_with_the_first_release():
    forger = Forger(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 7), Task("b", 4, 1, 3))))
    first, last = (job.release for job in forger.case.jobs)
    end = forger.case.jobs[0].due
    late, early = (forger.latency.most(start, end, 2) for start in (last, first))
    assert late < early
    assert "can do more" in forger.flaw((0, 1), late, received=False)
    assert forger.flaw((0, 1), early, received=False) is None


def test_nodes_that_get_free_within_the_window_count():
    """One node is free at its start, the other one an instant later."""
    end = LATER.case.jobs[0].due
    both = LATER.latency.most(F(0), end, 1)
    alone = Latency(replace(LATER.case, free=(F(0), end)), 1).most(F(0), end, 1)
    assert alone < both
    assert "1 tasks can do more" in LATER.flaw((0,), alone)
    assert "1 tasks can do more" in LATER.flaw((0,), both - LESS)
    assert LATER.flaw((0,), both) is None


def test_a_cut_must_hold_for_all_of_its_tasks_together():
    """What two of three tasks can do is no bound of what all of them can."""
    end = CROWD.case.jobs[0].due
    two, three = (CROWD.latency.most(F(0), end, tasks) for tasks in (2, 3))
    assert two < three
    assert "3 tasks can do more" in CROWD.flaw((0, 1, 2), two)
    assert CROWD.flaw((0, 1, 2), three) is None
    slope = CROWD.latency.most(F(0), end, 1)
    assert CROWD.flaw((0, 1, 2), F(0), slope=slope) is None
    assert "1 tasks can do more" in CROWD.flaw((0, 1, 2), F(0), slope=slope - LESS)


@pytest.mark.parametrize("installments", [1, 2, 3])
def test_cuts_count_as_many_chunks_as_the_certificate_says(installments):
    forger = Forger(CROWD.instance, installments)
    end = forger.case.jobs[0].due
    most = forger.latency.most(F(0), end, 3)
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
def test_orders_of_chunks_have_a_little_spare_time(instance):
    """What a solver in floats proves impossible is impossible: it may be late by a little."""
    orders = OrderModel(Case.of(instance), 1)
    parts, outcome = orders.state().solve(Limits(), "HiGHS", 0)
    assert outcome.bound is not None
    assert -outcome.bound >= 1 - 1e-9
    assert {part.job for part in parts} == {0}


def test_nodes_that_get_free_after_the_window_do_not_count():
    forger = Forger(replace(LATER.instance, ready_times=(0, 9)))
    end = forger.case.jobs[0].due
    alone = forger.latency.most(F(0), end, 1)
    assert alone < LATER.latency.most(F(0), LATER.case.jobs[0].due, 1)
    assert forger.flaw((0,), alone) is None
    assert "1 tasks can do more" in forger.flaw((0,), alone - LESS)
