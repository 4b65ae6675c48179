"""The relaxation over spans of chunks: no plan violates its rows and cuts, and it refutes much."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends.time_budget import Budget
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.conflicts import TaskConflicts
from dlopt.models.admission.methods import exact_plan
from dlopt.models.admission.request_conflicts import max_spans
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.models.common.stream_bounds import relaxation_bound
from dlopt.problems.admission import Chunk, Decision, Instance, Solution, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Status
from tests.models.admission.sample_instances import among, equal_parts, point_of_spans, stream

# One task more passes the fluid relaxation with window cuts, but not this one.
REFUTED = (
    ((1, 3, 7), (7, 8, 31), (9, 4, 16), (11, 2, 10), (12, 1, 5), (12, 4, 16), (13, 5, 17)),
    (
        (3, 5, 11),
        (3, 7, 18),
        (3, 8, 23),
        (7, 3, 8),
        (8, 2, 10),
        (10, 2, 5),
        (14, 2, 6),
        (16, 8, 29),
    ),
)
# Local search finds a plan of all tasks that the relaxation accepts here.
FOUND = (
    *((5, 6, 19), (6, 3, 5), (10, 1, 2), (12, 2, 5)),
    *((13, 7, 10), (14, 5, 7), (15, 5, 17), (16, 8, 13)),
)


def bound_by_spans(scaled, parts=1):
    """Return the bound with the horizon divided into equal parts, too."""
    relaxation = ChunkSpanRelaxation(scaled, 1, equal_parts(scaled, parts))
    return relaxation.upper_bound(Limits(), None, 0)


def random_plan(draw, installments):
    """Return an instance and a plan that accepts all of its tasks, in integers."""
    nodes, tasks = draw.randint(1, 4), draw.randint(1, 5)
    kinds = [(draw.choice((0, 1, 1, 2)), draw.randint(1, 4)) for _ in range(draw.randint(1, 2))]
    costs = [draw.choice(kinds) for _ in range(nodes)]
    theta_cm, theta_cp = draw.choice(((0, 0), (0, 0), (1, 2), (0, 3)))
    ready = [draw.choice((0, 0, 5)) for _ in range(nodes)]
    free, port, chunks = list(ready), 0, []
    places = [(i, j) for i in range(tasks) for j in range(nodes)] * installments
    for i, j in draw.sample(places, draw.randint(1, len(places))):
        (tau, chi), load = costs[j], draw.randint(1, 5)
        start = max(free[j], port if tau or theta_cm else 0) + draw.choice((0, 0, 0, 1, 3))
        sent = start + theta_cm + tau * load
        free[j] = sent + theta_cp + chi * load
        port = sent if tau or theta_cm else port
        chunks.append(Chunk(str(i), j, load, start, sent, sent, free[j]))
    stream = []
    for name in sorted({chunk.task for chunk in chunks}):
        own = [chunk for chunk in chunks if chunk.task == name]
        arrival = max(0, min(chunk.transmission_start for chunk in own) - draw.choice((0, 0, 2)))
        end = max(chunk.computation_end for chunk in own) + draw.choice((0, 0, 2))
        stream.append(Task(name, arrival, sum(chunk.load for chunk in own), end - arrival))
    stream.sort(key=lambda task: task.arrival)
    tau, chi = zip(*costs, strict=True)
    cluster = Cluster(nodes, tau, chi, theta_cm, theta_cp)
    instance = Instance(cluster, tuple(stream), ready_times=tuple(ready))
    decisions = tuple(Decision(task.id, True, task.arrival) for task in stream)
    return instance, Solution(decisions, tuple(chunks))


def assert_holds(row, low, high, point):
    """Assert that a point satisfies a row."""
    value = sum((a * point[j] for j, a in row), Fraction(0))
    assert low is None or value >= low
    assert high is None or value <= high


@pytest.mark.parametrize("installments", [1, 2])
def test_plans_satisfy_all_rows_and_cuts(installments):
    cuts = 0
    for seed in range(60):
        draw = random.Random(f"{seed} {installments}")
        instance, plan = random_plan(draw, installments)
        assert not violations(instance, plan)
        scaled = ScaledInstance.from_instance(instance)
        dividing = equal_parts(scaled, draw.choice((1, 6)))
        relaxation = ChunkSpanRelaxation(scaled, installments, dividing)
        model = relaxation.program()
        point = point_of_spans(relaxation, plan)
        for row, (low, high) in zip(model.program.rows, model.program.row_bounds, strict=True):
            assert_holds(row, low, high, point)
        for value, (low, high) in zip(point, model.program.column_bounds, strict=True):
            assert low <= value <= high

        def separate(floats, relaxation=relaxation, point=point):
            nonlocal cuts
            rows = list(relaxation.separate(floats))
            for row in rows:
                assert_holds(*row, point)
            cuts += len(rows)
            return rows

        if relaxation.share is not None:
            # More of each load than fits, so that cuts are violated.
            program = replace(
                model.program,
                costs=tuple(
                    -Fraction(draw.randint(0, 9)) if j in loads else Fraction(0)
                    for loads in [{span.load for span in relaxation.spans}]
                    for j in range(len(point))
                ),
            )
            state = model._replace(program=program, separate=separate)
            relaxation_bound(scaled, lambda state=state: state, Limits(), relaxation_only=True)
    assert cuts > 30


@pytest.mark.parametrize("tasks", REFUTED)
def test_it_refutes_what_fits_as_fluids_with_window_cuts(tasks):
    scaled = ScaledInstance.from_instance(stream(4, 1, 4, *tasks))
    fluid = upper_bound(scaled, Limits(), installments=1).value
    bound = bound_by_spans(scaled)
    assert (bound.value, bound.proof_kind) == (fluid - 1, "exact")


def test_set_up_times_of_computations_take_no_time_of_the_port():
    tasks = *((0, 1, 5 + 2 * k) for k in range(3)), *[(0, 1, 5)] * 4
    scaled = ScaledInstance.from_instance(stream(3, 2, 1, *tasks, theta_cp=2))
    assert bound_by_spans(scaled).value == 3  # at 0, 2 and 4 one is sent to each node


def test_shorter_intervals_refute_more():
    tasks = ((0, 3, 7), (2, 1, 4), (5, 3, 5), (8, 2, 6), (8, 7, 14), (9, 3, 6), (13, 1, 4))
    scaled = ScaledInstance.from_instance(stream(4, 1, 2, *tasks))
    values = [bound_by_spans(scaled, parts).value for parts in (1, 12)]
    assert values == [7, 6]


def test_the_optimum_is_proven_by_spans():
    found = exact_plan(stream(4, 1, 4, *REFUTED[0]), limits=Limits(work=40))
    assert (found.status, found.value, found.proof) == (Status.OPTIMAL, 6, "exact")


def test_a_schedule_of_what_the_relaxation_accepts_is_searched():
    scaled = ScaledInstance.from_instance(stream(4, 1, 2, *FOUND))
    search = AdmissionSearch(scaled, 1, Limits(), 0, "HiGHS")
    search.initialise(None)
    search.search_sequence_of((0, 1, 2, 3, 6, 7))
    assert search.value == 6


def test_requests_that_do_not_fit_are_excluded():
    scaled = ScaledInstance.from_instance(stream(4, 1, 2, *FOUND))
    conflicts = TaskConflicts(scaled, 1, Budget(Limits()), 0)
    first = conflicts.bound(scaled).bound
    assert len(first.accepted) == 6 and first.certificate is not None
    assert among(conflicts, first.accepted, most=1) == ()  # they have a schedule
    other = conflicts.bound(scaled, conflicts=[first.accepted]).bound
    assert len(other.accepted) == 6 and other.accepted != first.accepted
    assert other.certificate is None and "1 combinatorial Benders cut," in other.derivation


def test_no_more_spans_are_listed_than_asked_for():
    scaled = ScaledInstance.from_instance(stream(2, 1, 1, *((0, 4, 60 + i) for i in range(9))))
    assert len(ChunkSpanRelaxation(scaled, 1, equal_parts(scaled, 9), 100).spans) == 100
    assert max_spans(Limits()) > max_spans(Limits(time_s=0.01)) > 0


def test_merged_groups_of_nodes_take_time():
    """Of seven kinds of nodes two are merged that have no tau, and no chi."""
    cluster = Cluster(7, tau=(0, 0, 0, 1, 2, 3, 4), chi=(1, 2, 3, 0, 0, 0, 0))
    instance = Instance(cluster, (Task("a", 0, 1, 2), Task("b", 0, 2, 3)))
    assert bound_by_spans(ScaledInstance.from_instance(instance)).value == 2
