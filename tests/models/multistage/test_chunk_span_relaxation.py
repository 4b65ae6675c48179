"""The relaxation over spans of chunks around reservations: no plan violates its rows and cuts."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.backends.highs import LinearSolver
from dlopt.models.multistage.chunk_span_relaxation import ReservationSpanRelaxation
from dlopt.models.multistage.initial_solution import replay_hint, sequence_of
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.search import MultistageSearch
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage import objective, violations
from dlopt.result import Limits
from tests import oracles_multistage as oracle
from tests.examples import share
from tests.models.admission.sample_instances import equal_parts, point_of_spans
from tests.models.admission.test_chunk_span_relaxation import assert_holds
from tests.models.multistage.sample_instances import around, mixed, plans


def point_of_plan(relaxation, plan):
    """Return the columns of a plan, with its reservations."""
    columns, stream = point_of_spans(relaxation, plan), relaxation.stream
    nodes_of = {grant.reservation: grant.nodes for grant in plan.grants if grant.accepted}
    for r, reservation in enumerate(stream.reservations):
        nodes = nodes_of.get(stream.instance.reservations[reservation.index].id, ())
        columns[relaxation.reservations.accepted[r]] = Fraction(bool(nodes))
        for g, group in enumerate(relaxation.groups):
            column = relaxation.reservations.reserved_nodes.get((r, g))
            if column is not None:
                columns[column] = Fraction(len(set(nodes) & set(group.nodes)))
    return columns


def relaxation_of(scaled, installments, parts):
    """Return the relaxation with the horizon divided into equal parts, too."""
    return ReservationSpanRelaxation(scaled, installments, equal_parts(scaled, parts))


@pytest.mark.property
@share(1)
@given(plans(most=3, tasks=3, state=True, identical=False), st.sampled_from([1, 5]), st.randoms())
def test_plans_satisfy_all_rows_and_cuts(data, parts, draw):
    instance, planned = data
    scaled = ScaledInstance.from_instance(instance)
    most = max(Counter(sequence_of(scaled, planned)).values(), default=1)
    replayed = replay_hint(scaled, planned, most)  # each chunk is computed as soon as it is there
    assume(replayed is not None)
    relaxation = relaxation_of(scaled, most, parts)
    model = relaxation.program()
    point = point_of_plan(relaxation, replayed[0])
    for row, (low, high) in zip(model.program.rows, model.program.row_bounds, strict=True):
        assert_holds(row, low, high, point)
    for value, (low, high) in zip(point, model.program.column_bounds, strict=True):
        assert low <= value <= high
    if relaxation.share is None:
        return
    # More of each load than fits, so that cuts are violated.
    loads = {span.load for span in relaxation.spans}
    costs = (-Fraction(draw.randint(0, 9) * (j in loads)) for j in range(len(point)))
    solver = LinearSolver(replace(model.program, costs=tuple(costs)))
    for _ in range(3):
        for row in relaxation.separate(solver.solve().point):
            assert_holds(*row, point)
            solver.add(row)


@pytest.mark.property
@share(1 / 2)
@given(mixed(most=2, tasks=1, state=True), st.sampled_from([1, 4]))
def test_the_bound_is_no_less_than_the_optimum(instance, parts):
    """Also where reservations have begun before now."""
    most = oracle.most(instance)
    relaxation = relaxation_of(ScaledInstance.from_instance(instance), 1, parts)
    bound = relaxation.upper_bound(Limits(), None, 0).value
    assert most is None or (bound is not None and bound >= most)


def test_a_reservation_that_has_begun_is_accepted():
    instance = around(2, 1, 1, (3, 2, 9), held=((0, 1, 2, 6, (0,)),), now=3)
    scaled = ScaledInstance.from_instance(instance)
    assert relaxation_of(scaled, 1, 1).upper_bound(Limits(), None, 0).value == 2


@pytest.mark.property
@share(1 / 4)
@given(mixed(most=2, tasks=2, wanted=2, setup=False))
def test_search_and_bound_enclose_the_optimum(instance):
    most = oracle.most(instance)
    assume(most is not None and instance.tasks)
    scaled = ScaledInstance.from_instance(instance)
    search = MultistageSearch(scaled, 1, Limits(work=50), 0, "HiGHS")
    search.initialise(None)
    assume(search.plan is not None)
    search.search_and_bound(20, is_last=True)
    assert search.value <= most <= search.bound
    assert violations(instance, search.plan) == ()
    assert objective(instance, search.plan) == search.value


@pytest.mark.parametrize("parts", [1, 4])
def test_a_task_may_follow_a_reservation_at_once(parts):
    scaled = ScaledInstance.from_instance(around(1, 1, 1, (0, 1, 4), held=((0, 0, 1, 2, 1),)))
    assert relaxation_of(scaled, 1, parts).upper_bound(Limits(), None, 0).value == 2


def test_chunks_are_computed_before_a_reservation_or_after_it():
    """A fluid is received before the reservation of both nodes, and computed after it."""
    scaled = ScaledInstance.from_instance(around(2, 1, 1, (0, 2, 6), held=((0, 1, 1, 5, 2),)))
    assert upper_bound(scaled, Limits()).value == 2
    assert relaxation_of(scaled, 1, 1).upper_bound(Limits(), None, 0).value == 1
