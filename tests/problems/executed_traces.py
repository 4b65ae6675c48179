"""Exact traces that can have happened, made without the simulator."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dlopt.problems.admission import (
    Decision,
    Dropped,
    Executed,
    Factor,
    Failure,
    Instance,
    Scenario,
    Task,
    Trace,
)
from dlopt.problems.cluster import Cluster

F = Fraction
HALVES = st.integers(1, 8).map(lambda number: F(number, 2))


@st.composite
def scenarios(draw: Any, instance: Instance, failing: bool = True) -> Scenario:
    """Draw factors of some tasks, and failures of some nodes, one after the other."""
    names = draw(st.sets(st.sampled_from([task.id for task in instance.tasks])))
    factors = tuple(Factor(name, draw(HALVES), draw(HALVES)) for name in sorted(names))
    failures = []
    for node in range(instance.cluster.nodes) if failing else ():
        instant = F(0)
        for _ in range(draw(st.integers(0, 2))):
            begin = instant + draw(HALVES) * 4
            instant = begin + draw(HALVES) * 2
            failures.append(Failure(node, begin, instant))
    return Scenario(factors, tuple(draw(st.permutations(failures))))


@st.composite
def traces(
    draw: Any, failing: bool = True, least_nodes: int = 1
) -> tuple[Instance, Scenario, Trace]:
    """Draw an instance, a scenario, and a trace in which every chunk starts as it can.

    Failures end, so that all is done some time.
    """
    nodes = draw(st.integers(least_nodes, 3))
    setup = draw(st.sampled_from([(0, 0), (F(1, 2), F(1, 4))]))
    cluster = Cluster(nodes, draw(HALVES), draw(HALVES), *setup)
    count = draw(st.integers(1, 4))
    arrivals = sorted(draw(st.lists(HALVES, min_size=count, max_size=count)))
    tasks = tuple(
        Task(f"t{number}", arrival, draw(HALVES), draw(HALVES) * 8)
        for number, arrival in enumerate(arrivals)
    )
    instance = Instance(cluster, tasks)
    scenario = draw(scenarios(instance, failing))
    yes = [draw(st.booleans()) for _ in tasks[1:]]
    decisions = tuple(
        Decision(task.id, accepted, task.arrival, promised=False)
        for task, accepted in zip(tasks, [True, *yes], strict=True)
    )
    channel, free = F(0), [F(0)] * nodes
    chunks: list[Executed] = []
    dropped: list[Dropped] = []
    for task, decision in zip(tasks, decisions, strict=True):
        pieces = draw(st.integers(1, 3))
        todo = [F(task.load) / pieces] * pieces if decision.accepted else []
        while todo:
            load, node = todo.pop(), draw(st.integers(0, nodes - 1))
            chunk = _executed(instance, scenario, task, node, load, max(channel, free[node]))
            chunks.append(chunk)
            stop = chunk.computation_end if chunk.lost is None else chunk.lost
            channel, free[node] = min(F(chunk.transmission_end), F(stop)), F(stop)
            if chunk.lost is not None:
                if draw(st.booleans()):
                    todo.append(load)
                else:
                    dropped.append(Dropped(task.id, load, chunk.lost))
    return instance, scenario, Trace(decisions, tuple(chunks), tuple(dropped))


def _executed(
    instance: Instance, scenario: Scenario, task: Task, node: int, load: Fraction, ready: Fraction
) -> Executed:
    """Return a chunk that starts as soon as it can, and is lost if its node fails meanwhile."""
    cluster, failures = instance.cluster, [f for f in scenario.failures if f.node == node]
    start = max(ready, F(task.arrival))
    while down := [f for f in failures if f.begin <= start < f.until]:  # type: ignore[operator]
        start = F(down[0].until)  # type: ignore[arg-type]
    tau, chi = scenario.costs_of(task.id)
    received = start + F(cluster.theta_cm) + load * F(cluster.tau_of(node)) * F(tau)
    end = received + F(cluster.theta_cp) + load * F(cluster.chi_of(node)) * F(chi)
    within = [F(f.begin) for f in failures if start < f.begin < end]
    lost = min(within) if within else None
    return Executed(task.id, node, load, start, received, received, end, lost)
