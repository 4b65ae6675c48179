"""Sets of tasks that do not fit together, and what they exclude."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.models.admission.methods import exact_plan
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.result import Limits, Status
from tests import oracles_admission as oracle
from tests.examples import share
from tests.models.admission.sample_instances import among, stream
from tests.models.admission.test_chunk_span_relaxation import REFUTED
from tests.strategies import admission

LATE = stream(2, 1, 1, (0, 2, 4), (0, 1, 30), (0, 2, 4))


def search_of(instance):
    """Return a search that has not begun."""
    scaled = ScaledInstance.from_instance(instance)
    return AdmissionSearch(scaled, 1, Limits(), 0, "HiGHS")


def conflicts_of(instance):
    """Return what finds conflicts among the tasks of an instance."""
    return search_of(instance).conflict_finder()


def test_a_conflict_is_minimal():
    """Two of the tasks need the port at the same time, and the third does not matter."""
    conflicts = conflicts_of(LATE)
    assert among(conflicts, (0, 1, 2), most=1) == (0, 2)
    assert among(conflicts, (0, 1), most=2) == ()


def test_a_relaxation_does_not_accept_a_conflict():
    scaled = search_of(LATE).scaled
    bound = upper_bound(scaled, Limits(), conflicts=[(0, 1)])
    assert (bound.value, bound.accepted) == (2, (1, 2)) or bound.accepted == (0, 2)
    assert bound.certificate is None
    assert upper_bound(scaled, Limits(), conflicts=[(0, 1), (1, 2), (0, 2)]).value == 1


@pytest.mark.parametrize("tasks", REFUTED)
def test_conflicts_prove_the_optimum(tasks):
    search = search_of(stream(4, 1, 4, *tasks))
    search.initialise(None)
    search.compute_upper_bound()
    search.search_sequences(2000)
    best = search.value
    assert search.bound == best + 1
    search.bound_by_conflicts()
    assert search.is_optimal and search.value == best and search.conflicts
    assert search.proof_kind == "exact" and search.certificate is None
    search.certify_by_spans()
    assert search.certificate is not None


def put_off(monkeypatch):
    """Return a search after its local search, which looks at spans only for what is put off."""
    monkeypatch.setattr("dlopt.models.admission.sequence_portfolio.FIRST_DIVISIONS", 0)
    search = search_of(stream(4, 1, 4, *REFUTED[0]))
    search.initialise(None)
    search.compute_upper_bound()
    search.search_sequences(2000)
    assert search.bound == search.value + 1
    return search


def test_a_set_that_is_put_off_is_refuted_later(monkeypatch):
    search = put_off(monkeypatch)
    assert search.bound_by_conflicts() and search.is_optimal and search.conflicts


def test_a_set_that_is_put_off_lowers_no_bound(monkeypatch):
    search = put_off(monkeypatch)
    monkeypatch.setattr("dlopt.models.admission.request_conflicts.max_spans", lambda limits: 0)
    assert not search.bound_by_conflicts()
    assert search.bound == search.value + 1 and not search.conflicts


def test_the_feasibility_test_names_a_conflict():
    """Two of the tasks of this stream do not matter; all fit as fluids with window cuts."""
    found = solve(stream(4, 1, 4, *REFUTED[0]), "feasibility")
    named = "; task b, task c, task d, task f, task g do not fit together: infeasible even in the"
    assert (found.status, found.proof) == (Status.INFEASIBLE, "certificate")
    assert found.reason is not None and named in found.reason


def test_many_requests_are_left_out_of_a_conflict_at_once(monkeypatch):
    conflicts, asked = conflicts_of(LATE), []

    def refutes(requests, instants):
        asked.append(requests)
        return {3, 90} <= set(requests)

    monkeypatch.setattr(conflicts, "refutes", refutes)
    assert conflicts.smallest(tuple(range(100)), ()) == (3, 90)
    assert len(asked) < 40


def test_intervals_are_halved_where_chunks_start():
    """Two tasks are far apart; the second one has time, and its window is only divided for it."""
    conflicts = conflicts_of(stream(2, 1, 1, (0, 2, 4), (20, 2, 12)))
    first, second, *_ = conflicts.refutations((0, 1))
    scaled = conflicts.scaled
    middle = (scaled.tasks[0].due + scaled.tasks[1].release) / 2
    assert set(second.instants) > {*first.instants, *(t.release for t in scaled.tasks)}
    assert middle not in second.instants and first.bound.point
    alone = conflicts.relaxation(conflicts.restricted_to((0,)), (), 99, False)
    again = conflicts.bound(conflicts.restricted_to((0,)), second.instants)
    assert max(again.finer) == max(alone.instants)


def test_too_many_spans_refute_nothing(monkeypatch):
    monkeypatch.setattr("dlopt.models.admission.request_conflicts.max_spans", lambda limits: 1)
    conflicts = conflicts_of(LATE)
    assert among(conflicts, (0, 1, 2), most=9) == () and conflicts.bound(conflicts.scaled) is None
    assert exact_plan(LATE).status is Status.OPTIMAL


@pytest.mark.property
@share(1 / 2)
@given(admission(most=2, tasks=3, identical=False, state=True), st.data())
def test_a_conflict_has_no_schedule(instance, data):
    conflicts = conflicts_of(instance)
    tasks = conflicts.scaled.tasks
    assume(tasks)
    requests = data.draw(st.sets(st.sampled_from(range(len(tasks))), min_size=1))
    conflict = among(conflicts, tuple(sorted(requests)), most=4)
    chosen = [instance.tasks[tasks[k].index] for k in conflict]
    assert not conflict or not oracle.feasible(instance, chosen)
