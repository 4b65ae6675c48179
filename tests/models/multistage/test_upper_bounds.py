"""The bound of the fluid relaxation: certificates, merging, branching, sizes."""

from dataclasses import replace

from dlopt.formats import vipr
from dlopt.models.multistage import (
    fluid_relaxation,
    upper_bounds,
)
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.methods import bound_fluid, exact_plan
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.problems.multistage import (
    Reservation,
    violations,
)
from dlopt.result import Limits
from tests.models.multistage.sample_instances import CROWD, around


def test_certificates_can_be_verified():
    found = bound_fluid(CROWD)
    text = vipr.parse(vipr.to_text(found.certificate))
    assert text.flaw() is None
    assert text.claim == -found.bound
    assert {"z_0", "q_0", "q_2"} <= set(found.certificate.names)


def test_merged_groups_and_intervals_bound_more_loosely(monkeypatch):
    held = tuple((0, 2 * k, 2 * k + 1, 2 * k + 4, (k,)) for k in range(5))
    instance = around(6, 1, 2, (0, 9, 9), (1, 5, 6), held=held, ready_times=(0, 1, 2, 3, 0, 1))
    tight = bound_fluid(instance).bound
    optimum = exact_plan(instance, limits=Limits(time_s=5)).value
    fine = ReservationFluidRelaxation(ScaledInstance.from_instance(instance))
    monkeypatch.setattr(fluid_relaxation, "MAX_CELLS", 10)
    monkeypatch.setattr(fluid_relaxation, "MAX_GROUPS", 2)
    merged = ReservationFluidRelaxation(ScaledInstance.from_instance(instance))
    assert len(merged.tasks.groups) < len(fine.tasks.groups)
    assert len(merged.tasks.instants) < len(fine.tasks.instants)
    assert bound_fluid(instance).bound >= tight >= optimum
    monkeypatch.setattr(fluid_relaxation, "MAX_FREE_TIMES", 2)
    assert bound_fluid(instance).bound >= tight


def test_nodes_of_any_name_are_counted_over_different_kinds():
    instance = around(4, (1, 1, 2, 2), 1, held=((0, 1, 1, 4, 3), (0, 2, 2, 5, 2), (0, 3, 3, 9, 1)))
    assert bound_fluid(instance).bound == exact_plan(instance).value == 2


def test_nodes_of_any_name_are_busy_where_all_are_of_one_kind():
    instance = around(2, 1, 9, (0, 1, 10), held=((0, 1, 1, 9, 2),))
    assert bound_fluid(instance).bound == exact_plan(instance).value == 1


def test_the_solver_is_asked_where_rational_branching_does_not_end(monkeypatch):
    proven = bound_fluid(CROWD)
    monkeypatch.setattr(upper_bounds, "MAX_EXACT_NODES", 1)
    said = bound_fluid(CROWD)
    assert said.bound == proven.bound
    assert bound_fluid(CROWD, relax=True).bound >= proven.bound


def test_many_nodes_and_reservations_are_bounded():
    held = tuple((0, 9 * k, 9 * k + 2, 9 * k + 30, (k, k + 1, k + 2)) for k in range(20))
    wanted = [
        Reservation(f"r{k}", a, s, e, io_end=i, nodes=n) for k, (a, s, i, e, n) in enumerate(held)
    ]
    base = around(64, 1, 100, (0, 90, 200), (5, 120, 180))
    instance = replace(base, reservations=tuple(wanted))
    found = exact_plan(instance, limits=Limits(time_s=8))
    assert violations(instance, found.solution) == ()
    assert found.value <= found.bound <= 22
