"""One algorithm on one stream: what the simulator tells is what the engine decides."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.generation.paper_workloads import Workload, lin5, mamat4, waiting
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.problems.admission import Decision, Instance, Solution, Task, objective, violations
from dlopt.problems.cluster import Cluster
from dlopt.registry import methods
from dlopt.simulation import StreamOutcome, simulate

ONLINE = tuple(
    entry.name
    for entry in methods("admission")
    if str(entry.target).startswith("dlopt.heuristics.admission.methods:")
)
SOUND = tuple(name for name in ONLINE if not name.endswith(":literal"))


def random_stream(seed: int, tasks: int = 40, nodes: int = 6, setup: float = 0.0) -> Workload:
    draw = random.Random(seed)
    arrivals = sorted(draw.uniform(0, 12 * tasks) for _ in range(tasks))
    loads = tuple(draw.uniform(0.5, 6) for _ in range(tasks))
    due = tuple(draw.uniform(1, 3) * (load * 6 + 4 * setup) for load in loads)
    cluster = Cluster(nodes, 1.0, 20.0, setup, 2 * setup)
    return Workload(cluster, tuple(arrivals), loads, due, horizon=12.0 * tasks)


def engine(stream: Workload, name: str) -> tuple[tuple[Decision, ...], Solution, Any]:
    admission = dlopt.Admission(stream.cluster, name)
    for task in stream.tasks():
        admission.submit(task)
    return admission.decisions, admission.plan(), admission


@pytest.mark.parametrize("setup", [0.0, 1.5])
@pytest.mark.parametrize("name", ONLINE)
def test_the_simulator_decides_as_the_engine_does(name: str, setup: float) -> None:
    stream = random_stream(len(name), setup=setup)
    decisions, plan, admission = engine(stream, name)
    outcome = simulate(stream, name, check=not name.endswith(":literal"))
    instance = stream.instance()
    yes = [decision.accepted for decision in decisions]
    assert (outcome.tasks, outcome.accepted, outcome.rejected) == (40, sum(yes), 40 - sum(yes))
    assert outcome.accepted > 0 and outcome.method == name
    assert outcome.reject_ratio == pytest.approx(float(objective(instance, plan, "reject-ratio")))
    assert outcome.misses == objective(instance, plan, "misses")
    assert outcome.miss_ratio == outcome.misses / 40
    # utilization, from the chunks of the plan: what nodes receive and compute, in proportion
    work: dict[str, float] = defaultdict(float)
    for chunk in plan.chunks:
        work[chunk.task] += chunk.transmission_end - chunk.transmission_start
        work[chunk.task] += chunk.computation_end - chunk.computation_start
    busy = 0.0
    for task, place in admission.placements():
        within = min(place.end, stream.horizon) - min(place.start, stream.horizon)
        busy += work[task.id] * within / (place.end - place.start)
    if not name.startswith("edf-iit-1"):  # its nodes idle within a task
        assert outcome.utilization == pytest.approx(busy / (6 * stream.span))
    assert 0 < outcome.utilization <= 1
    last = max(place.end for _, place in admission.placements())
    assert outcome.drain == pytest.approx(max(last - stream.horizon, 0), abs=1e-9)
    if not name.endswith(":literal"):
        assert outcome.violations == 0


@pytest.mark.parametrize("name", ["edf-opr-mn", "edf-opr-an", "edf-iit-2", "fifo-anna"])
def test_queue_lengths_count_what_nothing_was_sent_of(name: str) -> None:
    stream = random_stream(3)
    admission = dlopt.Admission(stream.cluster, name)
    seen = []
    for task in stream.tasks():
        admission.advance(task.arrival)
        seen.append(len(admission.waiting))
        admission.submit(task)
    outcome = simulate(stream, name)
    assert outcome.longest_queue == max(seen) > 0
    assert outcome.mean_queue == pytest.approx(sum(seen) / len(seen))


def test_by_hand() -> None:
    cluster = Cluster(2, tau=1, chi=1)  # E(3, 2) = 4, E(3, 1) = 6
    tasks = (Task("a", 0, 3, 4), Task("b", 1, 3, 7), Task("c", 2, 3, 7), Task("d", 8, 3, 9))
    outcome = simulate(Instance(cluster, tasks, name="four"), "edf-opr-an", check=True)
    assert outcome == StreamOutcome(
        method="edf-opr-an",
        workload="four",
        nodes=2,
        tasks=4,
        accepted=3,
        rejected=1,
        reject_ratio=0.25,
        misses=0,
        miss_ratio=0.0,
        utilization=2 * 6 / 16,  # the third starts when the last arrives
        drain=4.0,
        mean_queue=0.25,
        longest_queue=1,
        system_load=None,
        realised_load=4 * 6 / 16,
        violations=0,
    )
    assert outcome.decisions_per_second is not None and outcome.decisions_per_second > 0
    late = simulate(Instance(cluster, tasks), "fifo-anna", check=True)
    assert (late.accepted, late.misses, late.miss_ratio, late.violations) == (4, 1, 0.25, 0)


@pytest.mark.property
@given(st.sampled_from(SOUND), st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([0, 0.7]))
def test_no_sound_algorithm_breaks_a_rule(name: str, seed: int, nodes: int, setup: float) -> None:
    stream = random_stream(seed, tasks=20, nodes=nodes, setup=setup)
    outcome = simulate(stream, name, check=True)
    assert outcome.violations == 0
    assert outcome.misses == 0 or not Algorithm.parse(name).control


@pytest.mark.parametrize("make", [mamat4, lin5])
def test_the_papers_workloads_are_admitted_by_the_rules(make: Any) -> None:
    few = {"horizon": 3e6, "nodes": 16, "seed": 2} if make is mamat4 else {"horizon": 3e4}
    for name in ("edf-opr-mn", "edf-epr-an", "edf-iit-2", "mcdf", "mwf-epr-mn"):
        outcome = simulate(make(system_load=1, **few), name, check=True)
        assert outcome.violations == 0 and outcome.tasks > 10 and outcome.rejected > 0


def test_what_is_printed_without_a_channel_is_found_to_break_the_rules() -> None:
    stream = random_stream(1)
    outcome = simulate(stream, "edf-opr-mn:literal", check=True)
    plan = engine(stream, "edf-opr-mn:literal")[1]
    found = violations(stream.instance(), plan, 1e-9)
    assert outcome.violations == len(found) > 0
    assert simulate(stream, "edf-opr-mn:literal").violations is None


@pytest.mark.parametrize(
    "name",
    [name for name in SOUND if name not in ("mcdf", "edf-iit-1", "edf-epr-an", "fifo-epr-an")],
)
@pytest.mark.parametrize("setup", [0, 20])
def test_all_wait_behind_the_huge_task(name: str, setup: int) -> None:
    stream = waiting(tasks=40, nodes=32, theta_cm=setup, theta_cp=setup)
    outcome = simulate(stream, name)
    if "epr" in name:  # equal shares end later: the huge task alone is refused
        assert outcome.accepted == 40
    else:
        assert outcome.accepted == 41 and outcome.longest_queue == 39
    assert outcome.misses == 0


def test_streams_without_tasks_or_span() -> None:
    none = simulate(Workload(Cluster(1, 1, 1), (), (), (), horizon=5.0), check=True)
    assert (none.tasks, none.reject_ratio, none.miss_ratio, none.mean_queue) == (
        0,
        None,
        None,
        None,
    )
    assert (none.utilization, none.drain, none.violations) == (0.0, 0.0, 0)
    one = Workload(Cluster(1, 1, 1), (5.0,), (1.0,), (3.0,), horizon=5.0, begin=5.0)
    outcome = simulate(one, "fifo-opr-mn", check=True)
    assert (outcome.utilization, outcome.drain, outcome.reject_ratio) == (None, 2.0, 0.0)


def test_numbers_of_any_kind_are_taken_in_floats() -> None:
    whole = Workload(Cluster(2, 1, 3), (0, 1), (2, Fraction(1, 3)), (30, 9), horizon=9)  # type: ignore[arg-type]
    for name in ("edf-opr-an", "edf-iit-2"):
        outcome = simulate(whole, name, check=True)
        assert type(outcome.drain) is float and outcome.violations == 0


def test_equal_runs_are_equal_whatever_time_they_take() -> None:
    assert simulate(random_stream(1), "edf-iit-2") == simulate(random_stream(1), "edf-iit-2")
    assert dlopt.simulate is simulate


@pytest.mark.parametrize(
    ("workload", "name", "told"),
    [
        (random_stream(1), "edf-opr", "unknown algorithm 'edf-opr'"),
        ("mamat4", "edf-iit-2", "a workload or an instance is needed, not a str"),
        (Instance(Cluster(2, 1, (1, 2)), (Task("a", 0, 1, 1),)), "mcdf", "identical nodes"),
    ],
)
def test_bad_input(workload: Any, name: str, told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        simulate(workload, name)
