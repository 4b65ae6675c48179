"""Small instances of one shape in many kinds of numbers: ``python -m benchmarks.number_kinds -h``.

What `exact` proves may depend on the instance, not on how large its numbers are or whether they are
floats. The seconds are those of the processor, so that a busy machine does not matter.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.timing import Report, solver_output_to_stderr
from dlopt import solve
from dlopt.arithmetic import exact
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Result, Status, levels_of

NOW = 1_700_000_000
"""A date of today, in seconds since 1970."""
CLOSED = 1e-5
"""Relative gap that counts as closed: floats are coarse at dates, see docs/numbers.md."""
MANY_TIMES = 20
"""By which factor one kind of numbers may take longer than the fastest one."""
SOON = 1.0
"""Seconds that are never too long."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of numbers: a function of a number from about 1 to 20, and the origin of instants."""

    number: Callable[[float], Any]
    origin: Any = 0

    def instant(self, drawn: float) -> Any:
        """Return an instant; as a float it has six digits."""
        instant = self.origin + self.number(drawn)
        return round(instant, 6) if isinstance(self.origin, float) else instant


KINDS: Mapping[str, Kind] = {
    "1..20": Kind(lambda q: max(1, round(q))),
    "10^5..10^6": Kind(lambda q: round(q * 50_000)),
    "10^9": Kind(lambda q: round(q * 5e7)),
    "floats": Kind(lambda q: q),
    "3 digits": Kind(lambda q: round(q, 3)),
    "6 digits": Kind(lambda q: round(q, 6)),
    "fractions": Kind(lambda q: Fraction(round(q * (7 + round(q) % 5)), 7 + round(q) % 5)),
    "dates": Kind(lambda q: round(q, 3), float(NOW)),
    "ns dates": Kind(lambda q: round(q * 1e9), NOW * 10**9),
}
"""The kinds of numbers."""


def late_tasks(kind: Kind, draw: random.Random, tasks: int, machines: int) -> bag.Instance:
    """Return tasks that arrive one after another, on machines that are busy at first."""
    made = tuple(
        bag.Task(
            f"t{k}",
            kind.number(draw.uniform(1, 20)),
            release=kind.instant(draw.uniform(1, 10 * tasks / machines)),
        )
        for k in range(tasks)
    )
    busy = (kind.instant(draw.uniform(1, 20)) for _ in range(machines))
    return bag.Instance(made, tuple(bag.Machine(f"m{k}", ready=at) for k, at in enumerate(busy)))


def matrix(kind: Kind, draw: random.Random, tasks: int, machines: int) -> bag.Instance:
    """Return a matrix of times."""
    return bag.Instance(
        etc=[[kind.number(draw.uniform(1, 20)) for _ in range(machines)] for _ in range(tasks)]
    )


def shares(kind: Kind, draw: random.Random, requests: int, machines: int) -> coreservation.Instance:
    """Return requests of two parts, whose benefit grows with the share of one of them."""
    made = []
    for k in range(requests):
        start, wanted = draw.uniform(1, 15), draw.uniform(1, 20)
        cpu, least = kind.number(wanted), kind.number(wanted * draw.uniform(0.2, 0.8))
        shape = coreservation.affine(Fraction(1, 2))
        parts = (
            coreservation.Part(cpu, min(least, cpu), benefit=shape),
            coreservation.Part(kind.number(draw.uniform(1, 20)), machine=draw.randrange(machines)),
        )
        begin, end = kind.instant(start), kind.instant(start + draw.uniform(5, 20))
        priority = draw.randint(1, 9)
        made.append(coreservation.Request(f"r{k}", kind.origin, begin, end, priority, parts))
    free = tuple(coreservation.Machine(f"m{k}", kind.number(20)) for k in range(machines))
    return coreservation.Instance(free, tuple(made))


def stream(kind: Kind, draw: random.Random, tasks: int, nodes: int) -> tuple[Any, ...]:
    """Return divisible loads that arrive one after another, with deadlines."""
    made, arrival = [], 0.0
    for k in range(tasks):
        load = draw.uniform(1, 20)
        arrival += draw.uniform(1, 20) * 20 / 3 / nodes
        span = load * 10 / nodes * draw.uniform(1.2, 3) + 5
        dated = kind.instant(arrival), kind.number(load), kind.number(span)
        made.append(admission.Task(f"t{k}", *dated))
    return tuple(made)


def loads(kind: Kind, draw: random.Random, tasks: int, nodes: int) -> admission.Instance:
    """Return a stream of divisible loads."""
    made = stream(kind, draw, tasks, nodes)
    return admission.Instance(Cluster(nodes, tau=1, chi=10), made, now=kind.origin)


def reserved(kind: Kind, draw: random.Random, tasks: int, nodes: int) -> multistage.Instance:
    """Return a stream of divisible loads around two reservations."""
    made, wanted = stream(kind, draw, tasks, nodes), []
    for k in range(2):
        arrival = draw.uniform(1, 30)
        start = arrival + draw.uniform(1, 40)
        instants = (arrival, start, start + draw.uniform(5, 60))
        wanted.append(multistage.Reservation(f"r{k}", *map(kind.instant, instants)))
    wanted.sort(key=lambda one: one.arrival)
    cluster = Cluster(nodes, tau=1, chi=10)
    return multistage.Instance(cluster, made, tuple(wanted), now=kind.origin)


def one_load(kind: Kind, draw: random.Random, nodes: int, most: int) -> iit.Instance:
    """Return one load on nodes that differ."""
    tau, chi = (
        tuple(draw.randint(low, high) for _ in range(nodes)) for low, high in ((1, 3), (3, most))
    )
    ready = tuple(kind.instant(draw.uniform(1, 20)) for _ in range(nodes))
    cluster = Cluster(nodes, tau, chi, kind.number(2), kind.number(3))
    deadline = kind.instant(draw.uniform(150, 250))
    return iit.Instance(cluster, ready, kind.number(10), absolute_deadline=deadline)


def independent_tasks(kind: Kind, draw: random.Random, tasks: int, machines: int) -> dag.Instance:
    """Return tasks without edges on identical machines."""
    works = [kind.number(draw.uniform(1, 20)) for _ in range(tasks)]
    graph = dag.Graph(
        "g", tuple(dag.Task(f"t{k}", work) for k, work in enumerate(works)), arrival=kind.origin
    )
    return dag.Instance(tuple(dag.Machine(f"m{k}") for k in range(machines)), (graph,))


SHAPES: Mapping[str, tuple[Callable[..., Any], int, int, str]] = {
    "bag: 6 late tasks, 3 machines": (late_tasks, 6, 3, "flowtime"),
    "bag: 12 late tasks, 3 machines": (late_tasks, 12, 3, "flowtime"),
    "bag: 10 late tasks, 3 machines": (late_tasks, 10, 3, "makespan"),
    "bag: matrix of 10 x 3": (matrix, 10, 3, "makespan"),
    "dag: 12 tasks, 4 machines": (independent_tasks, 12, 4, "makespan"),
    "dag: 20 tasks, 8 machines": (independent_tasks, 20, 8, "makespan"),
    "dag: 24 tasks, 4 machines": (independent_tasks, 24, 4, "makespan"),
    "dag: 40 tasks, 8 machines": (independent_tasks, 40, 8, "makespan"),
    "coreservation: 6 requests, 2 machines": (shares, 6, 2, "benefit"),
    "coreservation: 10 requests, 3 machines": (shares, 10, 3, "benefit"),
    "admission: 4 loads, 2 nodes": (loads, 4, 2, "accepted-load"),
    "multistage: 3 loads, 2 nodes": (reserved, 3, 2, "accepted"),
    "multistage: 4 loads, 3 nodes": (reserved, 4, 3, "accepted"),
    "iit: 12 nodes that differ": (one_load, 12, 20, "nodes"),
    "iit: 5 nodes that differ": (one_load, 5, 20, "completion"),
}
"""Shapes: what makes the instance, its two sizes, and the objective."""


def answered(instance: Any, objective: str, seconds: float) -> tuple[Result[Any], float]:
    """Return the answer of `exact` on one thread, stopped after seconds of the processor."""
    stop, over, begun = threading.Event(), threading.Event(), time.process_time()

    def watch() -> None:
        while not over.wait(0.05):
            if time.process_time() - begun > seconds:
                stop.set()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        limits = Limits(time_s=5 * seconds, threads=1)
        with solver_output_to_stderr():
            found = solve(instance, objective=objective, limits=limits, stop=stop)
    finally:
        over.set()
        watcher.join()
    return found, time.process_time() - begun


def gap_of(found: Result[Any], origin: Any) -> float | None:
    """Return the largest relative gap of a level, counted from the origin; None without a bound."""
    if found.value is None or found.bound is None:
        return None
    dated = found.objective in ("makespan", "completion")
    since = exact(origin) if dated else Fraction(0)
    pairs = zip(map(exact, levels_of(found.value)), map(exact, levels_of(found.bound)), strict=True)
    return max(float(abs(a - b) / (abs(a - since) or 1)) for a, b in pairs)


def measured(name: str, kind: Kind, seed: int, seconds: float) -> tuple[float | None, float]:
    """Return the gap, 0 if it is proven, and the seconds."""
    make, first, second, objective = SHAPES[name]
    instance = make(kind, random.Random(f"{name} {seed}"), first, second)
    found, spent = answered(instance, objective, seconds)
    if found.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return 0.0, spent
    gap = gap_of(found, kind.origin)
    return (0.0 if gap is not None and gap <= CLOSED else gap), spent


def main() -> int:
    """Run what the command line asks for; return 1 if a kind of numbers makes a difference."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.number_kinds")
    parser.add_argument("--seeds", default="0,1", help="default: 0,1")
    parser.add_argument("--seconds", type=float, default=5.0, help="of the processor, for each")
    parser.add_argument("--shapes", default="", help="only those whose name contains this")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    asked = parser.parse_args()
    report, open_kinds, slow = Report(False), 0, 0
    title = f"`exact`, {asked.seconds:g} s of the processor, one thread: seconds, or the gap"
    report.table(title, "shape", "seed", *KINDS)
    for name in (name for name in SHAPES if asked.shapes in name):
        for seed in map(int, asked.seeds.split(",")):
            found = [measured(name, kind, seed, asked.seconds) for kind in KINDS.values()]
            cells = [f"{s:.2f}" if gap == 0 else f"gap {gap or 1:.1%}" for gap, s in found]
            report.row(name, seed, *cells)
            proven = [spent for gap, spent in found if gap == 0]
            open_kinds += len(found) - len(proven) if proven else 0
            slow += sum(s > max(SOON, MANY_TIMES * min(proven)) for s in proven)
    report.target("no kind alone remains open", f"{open_kinds} do", not open_kinds)
    report.target(f"no kind alone takes {MANY_TIMES} times as long", f"{slow} do", not slow)
    if asked.markdown:
        report.write_markdown(asked.markdown, " ".join([parser.prog, *sys.argv[1:]]))
    return 0 if all(target["passed"] for target in report.targets) else 1


if __name__ == "__main__":
    sys.exit(main())
