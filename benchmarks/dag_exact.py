"""Proven optima of task graphs: ``python -m benchmarks.dag_exact --help``.

Every case is a row of a file; a run that was interrupted goes on with what is missing, and
``--again`` gives what is open another limit, so that most of a table takes no longer than it must.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.rows import kept, records
from benchmarks.timing import solver_output_to_stderr
from dlopt import Limits, solve
from dlopt.formats import detection, dot, stg
from dlopt.generation import generate
from dlopt.generation.task_graph_conversion import instance_of, machine_set
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task

HETEROGENEOUS = ("topcuoglu", "layered", "anywhere")
"""Families of graphs with communication, on machines that differ for every task."""
DURATIONS: dict[str, Callable[[float], float]] = {
    "integers to 100": round,
    "integers to 10^6": lambda work: round(10_000 * work),
    "floats": float,
}
"""Kinds of durations, and the duration of a kind that is nearest to a number up to 100."""
TRUSTED = ("exact_search_here", "equals_lower_bound")
"""Evidence for a published optimum beyond the claim of its source."""


@dataclass(frozen=True, slots=True)
class BenchmarkCase:
    """An instance with what is known of it.

    Parameters
    ----------
    table, name, group : str
        A row belongs to a group that is counted on its own.
    least, most : float or None
        A published bound, and a makespan that is attained.
    proven : bool
        Whether `most` is known to be the optimum.
    make : callable
        Returns the instance.
    """

    table: str
    name: str
    group: str
    least: float | None
    most: float | None
    proven: bool
    make: Callable[[], Instance]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured of a case; a row of the file.

    `seconds` are those of the clock, `cpu` those of all threads together.
    """

    table: str
    name: str
    group: str
    least: str
    most: str
    proven: str
    status: str
    value: float
    bound: float
    seconds: float
    cpu: float
    reason: str
    other: str = ""

    @property
    def optimal(self) -> bool:
        """Whether the optimum is proven."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """Relative to the value."""
        return (self.value - self.bound) / self.value if self.value else 0.0


def data() -> Path:
    """Return the folder of the public data sets."""
    named = os.environ.get("DLOPT_DATA")
    return Path(named) if named else Path(__file__).parents[2] / "shared" / "data"


def standard(sizes: Sequence[int]) -> Iterator[BenchmarkCase]:
    """Yield STG graphs on 2, 4, 8 and 16 identical machines, without communication."""
    for size in sizes:
        for path in sorted((data() / "stg" / str(size)).glob("*.stg")):
            graph = stg.read(path)
            for machines, (least, most) in stg.bounds(graph).items():
                yield BenchmarkCase(
                    "stg",
                    f"{size}/{path.stem}/{machines}",
                    str(size),
                    least,
                    most,
                    least == most,
                    lambda graph=graph, m=machines: instance_of(graph, machine_set(m)),
                )


def communicating() -> Iterator[BenchmarkCase]:
    """Yield graphs with communication on identical machines, whose optima are stated."""
    folder = data() / "dag_comm_optimal"
    with (folder / "optima.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            path = folder / "graphs" / f"{row['instance']}.dot"
            if path.is_file():
                machines = machine_set(int(row["processors"]))
                yield BenchmarkCase(
                    "comm",
                    row["instance"],
                    row["evidence"],
                    None,
                    int(row["makespan"]),
                    row["evidence"] in TRUSTED,
                    lambda path=path, machines=machines: instance_of(dot.read(path), machines),
                )


def heterogeneous(sizes: Sequence[int], seeds: int) -> Iterator[BenchmarkCase]:
    """Yield generated graphs with communication on 3 and 4 machines that differ."""
    for size in sizes:
        for family in HETEROGENEOUS:
            for machines in (3, 4):
                for seed in range(seeds):
                    yield BenchmarkCase(
                        "hetero",
                        f"{size}/{family}/{machines}/{seed}",
                        str(size),
                        None,
                        None,
                        False,
                        lambda f=family, n=size, m=machines, s=seed: generate(
                            "dag", f, tasks=n, machines=m, seed=s
                        ),
                    )


def long_durations() -> Iterator[BenchmarkCase]:
    """Yield graphs on identical machines whose durations are few units of time, many, or floats."""
    sizes = ((4, 2, 0), (10, 2, 0), (10, 3, 0), (15, 3, 0), (20, 3, 0), (20, 8, 0), (50, 4, 0))
    with_arcs = ((12, 2, 0.1), (20, 2, 0.1), (20, 3, 0.1), (30, 4, 0.05), (50, 8, 0.03))
    for kind in DURATIONS:
        for tasks, machines, density in sizes + with_arcs:
            yield BenchmarkCase(
                "long",
                f"{kind}/{tasks}/{machines}/{density}",
                kind,
                None,
                None,
                False,
                lambda k=kind, n=tasks, m=machines, d=density: _random_graph(k, n, m, d),
            )
        for path in sorted((data() / "stg" / "50").glob("*.stg"))[::45]:
            for machines in (2, 4, 8):
                yield BenchmarkCase(
                    "long",
                    f"{kind}/{path.stem}/{machines}",
                    f"STG {kind}",
                    None,
                    None,
                    False,
                    lambda k=kind, p=path, m=machines: _with_noise(k, p, m),
                )


def _random_graph(kind: str, tasks: int, machines: int, density: float) -> Instance:
    """Return random tasks with random arcs, the same ones for each kind of durations."""
    random = Random(f"{tasks} {machines} {density}")
    works = [random.uniform(10, 100) for _ in range(tasks)]
    pairs = [(a, b) for a in range(tasks) for b in range(a + 1, tasks)]
    return Instance(
        tuple(Machine(f"m{k}") for k in range(machines)),
        (
            Graph(
                "g",
                tuple(Task(f"t{k}", work=DURATIONS[kind](work)) for k, work in enumerate(works)),
                tuple(Edge(a, b) for a, b in pairs if random.random() < density),
            ),
        ),
    )


def _with_noise(kind: str, path: Path, machines: int) -> Instance:
    """Return a graph whose durations are longer or shorter by up to 5 %; integers stay as is."""
    instance, random = instance_of(stg.read(path), machine_set(machines)), Random(path.stem)
    if kind == "integers to 100":
        return instance
    (graph,) = instance.graphs
    tasks = (
        replace(task, work=DURATIONS[kind](task.work * random.uniform(0.95, 1.05)))
        for task in graph.tasks
        if task.work is not None
    )
    return replace(instance, graphs=(replace(graph, tasks=tuple(tasks)),))


def rgpos() -> Iterator[BenchmarkCase]:
    """Yield graphs of 100 tasks that leave no machine idle until 1000."""
    for path in sorted((data() / "peer_set_rgpos").glob("rgpos100_p*.txt")):
        yield BenchmarkCase(
            "rgpos",
            path.stem,
            "100",
            1000,
            1000,
            True,
            lambda path=path: instance_of(detection.read(path)),
        )


def by_pyjobshop(instance: Instance, seconds: float, threads: int) -> tuple[str, float] | None:
    """Return status and seconds of PyJobShop's own CP-SAT model; None where it is missing.

    It has no communication: each task has a mode for every machine.
    """
    if importlib.util.find_spec("pyjobshop") is None:
        return None
    model = importlib.import_module("pyjobshop").Model()
    machines = [model.add_machine() for _ in instance.machines]
    graph = instance.graphs[0]
    tasks = [model.add_task() for _ in graph.tasks]
    for number, task in enumerate(tasks):
        for place, machine in enumerate(machines):
            cost = instance.cost(0, number, place)
            if cost is not None:
                model.add_mode(task, machine, duration=int(cost))
    for edge in graph.edges:
        model.add_end_before_start(tasks[edge.source], tasks[edge.target])
    begun = time.perf_counter()
    found = model.solve(solver="ortools", time_limit=seconds, display=False, num_workers=threads)
    return f"{found.status.value} {found.objective:g}", time.perf_counter() - begun


def measured(case: BenchmarkCase, limits: Limits, against: bool) -> Measurement:
    """Solve a case."""
    instance = case.make()
    begun, used = time.perf_counter(), time.process_time()
    found: Any = solve(instance, limits=limits)
    spent = round(time.perf_counter() - begun, 2), round(time.process_time() - used, 2)
    other = ""
    if against and limits.time_s is not None:
        theirs = by_pyjobshop(instance, limits.time_s, limits.threads)
        other = "missing" if theirs is None else f"{theirs[0]} {theirs[1]:.2f}"
    known = ["" if number is None else f"{number:g}" for number in (case.least, case.most)]
    described = (case.table, case.name, case.group, *known, str(case.proven))
    numbers = (float(found.value), float(found.bound), *spent)
    return Measurement(*described, str(found.status), *numbers, found.reason or "", other)


FORM = records("graph", Measurement, lambda row: (row.table, row.name))


def summary(rows: Sequence[Measurement]) -> int:
    """Print a line for each table and group; return how many contradict what is known."""
    head = "cases proven  share  gap: median  largest  s: median largest CPU s: largest"
    print(f"\n{'table':8} {'group':24} {head}")
    groups = sorted({(row.table, row.group) for row in rows})
    for table, group in groups:
        own = [row for row in rows if (row.table, row.group) == (table, group)]
        proven = [row for row in own if row.optimal]
        gaps = [100 * row.gap for row in own if not row.optimal] or [0.0]
        print(
            f"{table:8} {group:24} {len(own):5} {len(proven):6} {len(proven) / len(own):6.1%}"
            f" {median(gaps):11.2f}% {max(gaps):7.2f}% {median(r.seconds for r in own):9.2f}"
            f" {max(r.seconds for r in own):7.1f} {max(r.cpu for r in own):14.1f}"
        )
    wrong = [text for row in rows for text in _contradictions(row)]
    trusted = [row for row in rows if row.proven == "True" and row.optimal]
    agreeing = sum(row.value == float(row.most) for row in trusted)
    known = [row for row in rows if row.most]
    print(f"\nstated optima with evidence, proven here: {len(trusted)}, equal: {agreeing}")
    better = [row for row in known if row.value < float(row.most)]
    print(f"better than a stated value: {len(better)}", *(row.name for row in better))
    above = sum(row.bound > float(row.least) for row in rows if row.least)
    print(f"bounds above a published bound: {above}")
    print("\n".join(wrong) or "no contradiction")
    compared = [row for row in rows if row.other not in ("", "missing")]
    if compared:
        ratios = [float(row.other.split()[-1]) / max(row.seconds, 0.01) for row in compared]
        done = sum(row.other.startswith("Optimal") for row in compared)
        ours = sum(row.optimal for row in compared)
        print(f"PyJobShop: {done} of {len(compared)} proven, here {ours}; ", end="")
        print(f"its time by ours: median {median(ratios):.2f}")
    return len(wrong)


def _contradictions(row: Measurement) -> Iterator[str]:
    if row.least and row.value < float(row.least):
        yield f"{row.name}: {row.value:g} is below the published bound {row.least}"
    if row.most and row.bound > float(row.most):
        yield f"{row.name}: the bound {row.bound:g} is above {row.most}, which is attained"
    if row.proven == "True" and row.value < float(row.most):
        yield f"{row.name}: {row.value:g} is better than the optimum {row.most}"


def main() -> int:
    """Run what the command line asks for; return 1 if anything contradicts what is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dag_exact", description=__doc__)
    parser.add_argument("rows", type=Path, help="the file of rows; what it has is not run again")
    parser.add_argument("--tables", default="stg,comm,hetero,rgpos", help="which, with commas")
    parser.add_argument("--sizes", default="50,100", help="of the STG graphs")
    parser.add_argument("--hetero-sizes", default="20,30,50", help="of the generated graphs")
    parser.add_argument("--seeds", type=int, default=3, help="of each generated family")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case only")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="from the K-th on")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each case")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run what is open again, too")
    parser.add_argument("--pyjobshop", action="store_true", help="compare, without communication")
    wanted = parser.parse_args()
    sizes, others = (
        [int(size) for size in text.split(",")] for text in (wanted.sizes, wanted.hetero_sizes)
    )
    tables: dict[str, Callable[[], Iterator[BenchmarkCase]]] = {
        "stg": lambda: standard(sizes),
        "comm": communicating,
        "hetero": lambda: heterogeneous(others, wanted.seeds),
        "rgpos": rgpos,
        "long": long_durations,
    }
    limits = Limits(time_s=wanted.seconds, threads=wanted.threads)
    chosen = wanted.tables.split(",")
    with kept(wanted.rows, FORM) as known:
        for table in chosen:
            for case in list(tables[table]())[wanted.first :: wanted.every]:
                row = known.by_key.get((case.table, case.name))
                if row is None or (wanted.again and not row.optimal):
                    silent = wanted.pyjobshop and table in ("stg", "rgpos")
                    with solver_output_to_stderr():
                        row = measured(case, limits, silent)
                    known.add(row)
                    values = f"{row.value:g} {row.bound:g}"
                    print(f"{table} {case.name}: {row.status} {values}", flush=True)
        rows = [row for row in known if row.table in chosen]
    return 1 if summary(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
