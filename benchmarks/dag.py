"""Speed of list scheduling on task graphs: ``python -m benchmarks.dag --help``."""

from __future__ import annotations

import importlib
import importlib.util
import random
import signal
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.timing import Report, Timing, interleaved, once, run
from dlopt.heuristics.dag import level_methods, methods
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

MACHINES = 16
"""Machines of each instance."""
PREDECESSOR_WINDOW = 200
"""Number of earlier tasks among which the predecessors of a task are drawn."""
MAX_DEGREE = 3
"""Predecessors of a task at most."""
MIN_SPEEDUP = 10
"""Target: times faster than the published package."""
TIMEOUT_S = 900
"""Seconds after which the published package is stopped."""
MAX_GROWTH = 2
"""Target: growth of the time for an edge from 1,000 to 100,000 tasks."""


def instance(
    tasks: int, degree: int = MAX_DEGREE, *, floating: bool = False, seed: int = 0
) -> Instance:
    """Return one graph: works and data of 1 to 100, 16 machines of power 1, 2, 4 or 8.

    Every task but the first has 1 to `degree` predecessors among the 200 before it. All sums are
    exact in floats, too, so that ties are ties in every program.
    """
    rng = random.Random(f"{tasks}/{degree}/{seed}")
    number: Callable[[int], Any] = float if floating else int
    machines = tuple(Machine(f"m{k}", number(2 ** (k % 4))) for k in range(MACHINES))
    made = tuple(Task(f"t{k:06}", work=number(rng.randint(1, 100))) for k in range(tasks))
    edges = []
    for task in range(1, tasks):
        chosen = {rng.randrange(max(0, task - PREDECESSOR_WINDOW), task) for _ in range(degree)}
        edges += [Edge(k, task, number(rng.randint(1, 100))) for k in sorted(chosen)]
    return Instance(machines, (Graph("g", made, tuple(edges)),))


def straightforward(one: Instance) -> float:
    """Return HEFT's makespan as a textbook has it: every machine, predecessor and gap examined."""
    graph, machines = one.graphs[0], range(len(one.machines))
    cost = [[task.work / machine.power for machine in one.machines] for task in graph.tasks]  # type: ignore[operator]
    before: list[list[tuple[int, float]]] = [[] for _ in graph.tasks]
    after: list[list[tuple[int, float]]] = [[] for _ in graph.tasks]
    for edge in graph.edges:
        before[edge.target].append((edge.source, float(edge.data)))
        after[edge.source].append((edge.target, float(edge.data)))
    rank = [0.0] * len(cost)
    for task in reversed(graph.order):
        rest = max((data + rank[to] for to, data in after[task]), default=0.0)
        rank[task] = sum(cost[task]) / len(machines) + rest
    busy: list[list[tuple[float, float]]] = [[] for _ in machines]
    place, end = [0] * len(cost), [0.0] * len(cost)
    for task in sorted(range(len(cost)), key=lambda task: -rank[task]):
        best = (float("inf"), 0.0, 0, 0.0)
        for machine in machines:
            ready = 0.0
            for source, data in before[task]:
                ready = max(ready, end[source] + (data if place[source] != machine else 0.0))
            start = ready
            for begun, done in busy[machine]:
                if start + cost[task][machine] <= begun:
                    break
                start = max(start, done)
            length = cost[task][machine]
            best = min(best, (start + length, length, machine, start))
        end[task], _, place[task], start = best
        busy[place[task]].append((start, end[task]))
        busy[place[task]].sort()
    return max(end)


def by_saga(one: Instance) -> Callable[[], float] | None:
    """Return HEFT of the package anrg-saga, None where it is not installed."""
    if importlib.util.find_spec("saga") is None:
        return None
    scheduler = importlib.import_module("saga.schedulers.heft").HeftScheduler()
    network, tasks = saga_input(one)
    return lambda: float(scheduler.schedule(network, tasks).makespan)


def saga_input(one: Instance) -> tuple[Any, Any]:
    """Return the network and the task graph of an instance in the classes of anrg-saga.

    Its `TaskGraph.create` looks at all edges for every task, so the graph is given to the
    constructor, with one source and one sink, as `create` has it.
    """
    saga = importlib.import_module("saga")
    graph = one.graphs[0]
    names = [machine.id for machine in one.machines]
    speed = float(one.network.bandwidth)
    network = saga.Network.create(
        nodes=[(machine.id, float(machine.power)) for machine in one.machines],
        edges=[(a, b, speed) for a in names for b in names if a < b],
    )
    ids = [task.id for task in graph.tasks]
    works = [(task.id, float(task.work or 0)) for task in graph.tasks]
    sent = [(ids[e.source], ids[e.target], float(e.data)) for e in graph.edges]
    if len(graph.entries) > 1:
        works.append(("source", 0.0))
        sent += [("source", ids[task], 0.0) for task in graph.entries]
    if len(graph.exits) > 1:
        works.append(("sink", 0.0))
        sent += [(ids[task], "sink", 0.0) for task in graph.exits]
    tasks = saga.TaskGraph(
        tasks=frozenset(saga.TaskGraphNode(name=name, cost=work) for name, work in works),
        dependencies=frozenset(
            saga.TaskGraphEdge(source=source, target=target, size=data)
            for source, target, data in sent
        ),
    )
    return network, tasks


def limited(task: Callable[[], Any]) -> Timing | None:
    """Time one call of what takes long; None if it takes longer than `TIMEOUT_S`."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIMEOUT_S)
    try:
        return once(task)
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)


def makespan(one: Instance) -> float:
    """Return HEFT's makespan."""
    value: Any = methods.heft(one).value
    return float(value)


def against_others(report: Report) -> None:
    """Table 1: HEFT here, by the textbook, and by anrg-saga."""
    report.table(
        "1. HEFT on 16 machines, milliseconds",
        *(
            "tasks",
            "edges",
            "integers",
            "floats",
            "textbook",
            "ratio",
            "saga",
            "ratio",
            "makespans",
        ),
    )
    for tasks in (1_000, 10_000):
        if report.quick and tasks > 1_000:
            continue
        exact, inexact = instance(tasks), instance(tasks, floating=True)
        rounds: dict[str, Callable[[], Any]] = {
            "exact": lambda one=exact: makespan(one),
            "floats": lambda one=inexact: makespan(one),
        }
        found = interleaved(rounds, 5)
        plain = once(lambda one=inexact: straightforward(one))
        made = by_saga(inexact)
        theirs = None if made is None else limited(made)
        times = {name: 1e3 * timing.median for name, timing in found.items()}
        ends = [found["exact"].answer, plain.answer]
        slower = 1e3 * plain.median / times["floats"]
        row: list[Any] = [tasks, len(exact.graphs[0].edges), times["exact"], times["floats"]]
        row += [1e3 * plain.median, slower]
        if made is None:
            row += ["not installed", "-"]
        elif theirs is None:
            ratio = 1e3 * TIMEOUT_S / times["floats"]
            row += [f"> {1e3 * TIMEOUT_S:.0f}", f"> {ratio:.0f}"]
            text = (
                f"{tasks} tasks: at least {MIN_SPEEDUP} x faster than anrg-saga, which was stopped"
            )
            report.target(text, f"> {ratio:.0f} x", ratio >= MIN_SPEEDUP)
        else:
            ratio = 1e3 * theirs.median / times["floats"]
            ends.append(theirs.answer)
            row += [1e3 * theirs.median, ratio]
            text = f"{tasks} tasks: at least {MIN_SPEEDUP} x faster than anrg-saga"
            report.target(text, f"{ratio:.0f} x", ratio >= MIN_SPEEDUP)
            text = f"{tasks} tasks: makespan no larger than that of anrg-saga"
            report.target(text, f"{ends[0]:g} and {ends[-1]:g}", ends[0] <= ends[-1])
        report.row(*row, ", ".join(f"{end:.6g}" for end in ends))
        text = f"{tasks} tasks: the makespan of the textbook"
        report.target(
            text, f"{ends[0]:g} and {ends[1]:g}", abs(ends[0] - ends[1]) <= 1e-6 * ends[1]
        )


def growth(report: Report) -> None:
    """Table 2: the time for an edge, as graphs grow longer and denser."""
    report.table(
        "2. Growth, integers: milliseconds, and microseconds for an edge",
        *("tasks", "edges", "heft", "an edge", "peft", "an edge", "dynamic-t-level", "an edge"),
    )
    for degree in (MAX_DEGREE, 4 * MAX_DEGREE):
        first = last = 0.0
        for tasks in (1_000, 10_000, 100_000):
            if report.quick and tasks > 10_000:
                continue
            one = instance(tasks, degree)
            edges = len(one.graphs[0].edges)
            row: list[Any] = [tasks, edges]
            for method in (methods.heft, methods.peft, level_methods.dynamic_t_level):
                timing = interleaved({"it": lambda one=one, m=method: m(one)}, 3, 20.0)["it"]
                row += [1e3 * timing.median, 1e6 * timing.median / edges]
            last = row[3]
            first = first or last
            report.row(*row)
        text = (
            f"degree {degree}: at most {MAX_GROWTH} times as long for an edge of the largest graph"
        )
        report.target(text, f"{last / first:.2f} x", last <= MAX_GROWTH * first)


TABLES = {1: against_others, 2: growth}


if __name__ == "__main__":
    sys.exit(run("dag", TABLES))
