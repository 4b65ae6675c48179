"""Of every rule, the smallest queue that just fits and the smallest that just does not."""

from fractions import Fraction

import pytest

from dlopt.models.admission import feasibility
from dlopt.models.admission.methods import feasible_queue
from dlopt.problems.admission import Commitment, objective, violations
from dlopt.result import Status
from tests.models.admission.sample_instances import stream
from tests.oracles_admission import lateness

GONE = Commitment("gone", 0, 0, 1, 2)

FITS = {
    "deadline": stream(1, 1, 1, (0, 1, 2)),
    "one port": stream(2, 1, 1, (0, 1, 2), (0, 1, 3)),
    "one node": stream(1, 1, 1, (0, 1, 2), (0, 1, 4)),
    "arrival": stream(1, 1, 1, (0, 2, 10), (1, 1, 2)),
    "set-up of transmission": stream(1, 1, 1, (0, 1, 3), theta_cm=1),
    "set-up of computation": stream(1, 1, 1, (0, 1, 3), theta_cp=1),
    "set-up of two chunks": stream(2, 1, 2, (0, 2, Fraction(26, 5)), theta_cm=1),
    "different nodes": stream(2, (1, 2), (3, 1), (0, 1, 2)),
    "nodes in parallel": stream(2, 1, 1, (0, 3, 4)),
    "sending takes no time": stream(2, 0, 1, (0, 1, 1), (0, 1, 1)),
    "one node takes no time to send to": stream(2, (0, 1), (3, 1), (0, 1, 3), (0, 1, 2)),
    "computing takes no time": stream(2, 1, 0, (0, 1, 1), (0, 1, 2)),
    "ready times": stream(1, 1, 1, (0, 1, 3), ready_times=(1,)),
    "channel ready": stream(1, 1, 1, (0, 1, 3), channel_ready=1),
    "now": stream(1, 1, 1, (0, 1, 3), now=1),
    "committed": stream(1, 1, 1, (0, 1, 4), committed=(GONE,)),
    "committed elsewhere": stream(2, 1, 1, (0, 1, 3), committed=(GONE,)),
    "what remains": stream(1, 1, 1, (0, 2, 5), now=3, committed=(Commitment("a", 0, 0, 1, 2),)),
}
LATE = {
    "deadline": stream(1, 1, 1, (0, 1, Fraction(19, 10))),
    "one port": stream(2, 1, 1, (0, 1, 2), (0, 1, 2)),
    "one node": stream(1, 1, 1, (0, 1, 2), (0, 1, Fraction(39, 10))),
    "arrival": stream(1, 1, 1, (0, 2, Fraction(59, 10)), (1, 1, 2)),
    "set-up of transmission": stream(1, 1, 1, (0, 1, 2), theta_cm=1),
    "set-up of computation": stream(1, 1, 1, (0, 1, 2), theta_cp=1),
    "set-up of two chunks": stream(2, 1, 2, (0, 2, Fraction(51, 10)), theta_cm=1),
    "different nodes": stream(2, (1, 2), (3, 1), (0, 1, Fraction(19, 10))),
    "nodes in parallel": stream(2, 1, 1, (0, 3, Fraction(39, 10))),
    "sending takes no time": stream(2, 0, 1, (0, 1, 1), (0, 2, 1)),
    "one node takes no time to send to": stream(2, (0, 2), (3, 2), (0, 2, 5), (1, 1, 4)),
    "computing takes no time": stream(2, 1, 0, (0, 1, 1), (0, 1, 1)),
    "ready times": stream(1, 1, 1, (0, 1, 2), ready_times=(1,)),
    "channel ready": stream(1, 1, 1, (0, 1, 2), channel_ready=1),
    "now": stream(1, 1, 1, (0, 1, 2), now=1),
    "committed": stream(1, 1, 1, (0, 1, 3), committed=(GONE,)),
    "committed elsewhere": stream(2, 1, 1, (0, 1, 2), committed=(GONE,)),
    "what remains": stream(1, 1, 1, (0, 2, 4), now=3, committed=(Commitment("a", 0, 0, 1, 2),)),
}


@pytest.mark.parametrize("small", [True, False], ids=["orders first", "search first"])
@pytest.mark.parametrize("rule", FITS)
def test_what_just_fits_has_a_plan(rule, small, monkeypatch):
    _sized(monkeypatch, small)
    instance = FITS[rule]
    assert lateness(instance, instance.tasks, enough=True) == 0
    found = feasible_queue(instance)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, *[len(instance.tasks)] * 2)
    assert violations(instance, found.solution) == ()
    assert objective(instance, found.solution) == len(instance.tasks)


@pytest.mark.parametrize("small", [True, False], ids=["orders first", "search first"])
@pytest.mark.parametrize("rule", LATE)
def test_what_just_does_not_is_infeasible(rule, small, monkeypatch):
    _sized(monkeypatch, small)
    instance = LATE[rule]
    assert lateness(instance, instance.tasks) > 0
    found = feasible_queue(instance)
    assert (found.status, found.solution, found.value) == (Status.INFEASIBLE, None, None)
    assert "late" in found.reason


def test_the_minimum_lateness_is_reported():
    instance = LATE["one port"]
    least = lateness(instance, instance.tasks)
    assert least == Fraction(1, 3)
    assert feasible_queue(instance).reason.startswith("minimum maximum lateness Lmax = 1/3;")


def test_two_installments_do_what_one_cannot():
    instance = stream(2, 1, 1, (0, 3, Fraction(24, 7)))
    assert feasible_queue(instance).status is Status.INFEASIBLE
    found = feasible_queue(instance, installments=2)
    assert (found.status, found.plan_class) == (Status.OPTIMAL, "k")
    assert violations(instance, found.solution) == ()
    late = stream(2, 1, 1, (0, 3, Fraction(23, 7)))
    assert feasible_queue(late, installments=2).status is Status.INFEASIBLE


def _sized(monkeypatch, small):
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS", 20 if small else 0)
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS_TWO_NODES", 20 if small else 0)
    monkeypatch.setattr(feasibility, "EFFORT", 500)
