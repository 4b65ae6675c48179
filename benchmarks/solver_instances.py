"""Instances for the cross-check of solvers: shipped, generated, drawn, and of public data sets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from dlopt import DloptError, io, registry
from dlopt.errors import InvalidInstanceError
from dlopt.formats import binpack, detection, etc
from dlopt.formats.task_graph import TaskGraph
from dlopt.generation import generate
from dlopt.generation.bag import instance_from_etc
from dlopt.generation.bin_packing_requests import bin_packing_instance
from dlopt.generation.task_graph_conversion import instance_of, machine_set
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task

T = TypeVar("T")

SHIPPED = Path(__file__).parents[1] / "instances"

ITEMS = 30
"""Of a bin packing problem."""
MOST_TASKS = 100
"""Of a task graph of a file: larger ones are not proven within seconds."""
MOST_BYTES = 400_000
"""Of a file with a task graph; larger ones have more tasks than that."""

GRAPHS: Sequence[tuple[str, str, Sequence[int]]] = (
    ("stg/50", "*.stg", (2, 8)),
    ("stg/100", "*.stg", (4,)),
    ("stg/app", "*.stg", (4,)),
    ("dag_comm_optimal/graphs", "*.dot", ()),
    ("wfcommons", "*.json", (3,)),
    ("wfcommons/old_schema", "*.json", (3,)),
    ("dax", "*.xml", (3,)),
    ("dax", "*.dax", (3,)),
    ("dax/pegasus_dag", "*.dag", (3,)),
    ("heft/santiago_synthetic", "*.txt", ()),
    ("hetero_dag/santiago", "*.dag", ()),
    ("hetero_dag/hybrid_cpu_gpu", "*.txt", ()),
    ("peer_set_rgpos", "*.txt", ()),
)
"""Folders of the data sets, files in them, and on how many machines; nothing: as they tell."""
PACKINGS: Sequence[tuple[str, str, str]] = (
    ("orlib", "*.txt", "orlib"),
    ("temporal/a1", "*/*.txt", "temporal"),
    ("temporal/b1", "*/*", "temporal"),
)
"""The same of bin packing, with the format."""

COSTS = (1, 2, 3, 4, 5, 6, 7, 9, Fraction(1, 2), Fraction(11, 3), Fraction(5, 3), Fraction(2, 7))
"""Costs and data of drawn task graphs."""
DELAYS = (0, 0, 1)
"""Delays of their machines."""

SMALL: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "iit": (
        ("random", {"nodes": 4, "theta_cm": 1, "theta_cp": 2, "spread": 2.0}),
        ("burst", {"nodes": 6, "spread": 3.0}),
        ("ramp", {"nodes": 8}),
    ),
    "admission": (
        ("small", {}),
        ("small", {"nodes": 2, "tasks": 5, "theta_cm": 1, "theta_cp": 1}),
    ),
    "multistage": (("small", {}), ("small", {"nodes": 2, "tasks": 5, "parts": 2})),
    "coreservation": (
        ("small", {"requests": 5}),
        ("small", {"requests": 14, "machines": 3}),
        ("min-5", {"requests": 25, "machines": 4}),
        ("overloaded", {"requests": 20, "machines": 3}),
        ("bins", {"items": 24}),
        ("bins", {"items": 24, "span": 60}),
    ),
    "dag": (
        ("layered", {"tasks": 5, "machines": 2}),
        ("topcuoglu", {"tasks": 12, "machines": 3}),
        ("layered", {"tasks": 20, "machines": 3, "graphs": 2, "interval": 20, "slack": 2.0}),
        ("fork-join", {"stages": 2, "width": 8, "machines": 3, "kind": "identical"}),
        ("series-parallel", {"tasks": 20, "machines": 4, "ccr": 0.0, "kind": "identical"}),
        ("anywhere", {"tasks": 30, "machines": 3}),
    ),
    "bag": (
        ("small", {"tasks": 5, "tightness": 1}),
        ("small", {"tasks": 12, "machines": 3, "tightness": 1, "span": 8}),
        ("small", {"tasks": 14, "machines": 4, "tightness": 1, "span": 12, "parts": 2}),
        ("small", {"tasks": 10, "deadlines": "none", "span": 8}),
        ("braun", {"tasks": 14, "machines": 4, "numbers": "integer"}),
    ),
}
"""Families and their parameters; the first of each stem is for brute force, too."""


@dataclass(frozen=True, slots=True)
class SolverTask:
    """An instance, and the objective with which it is solved."""

    stem: str
    source: str
    name: str
    make: Callable[[], Any]
    objective: str | None = None
    tiny: bool = False


def objectives(stem: str) -> tuple[str, ...]:
    """Return what the exact method of a problem can be asked for."""
    return tuple(registry.method(stem, "exact").objectives)


def shipped(stem: str) -> Iterator[SolverTask]:
    """Yield each instance of the project under each objective."""
    for path in sorted((SHIPPED / stem).rglob("*.json")):
        for objective in objectives(stem):
            name = f"{path.relative_to(SHIPPED).as_posix()} {objective}"
            yield SolverTask(stem, "shipped", name, lambda path=path: io.read(path), objective)


def generated(stem: str, seeds: int) -> Iterator[SolverTask]:
    """Yield small instances of each family, under the objectives in turn."""
    for seed in range(seeds):
        turn = itertools.cycle(objectives(stem))
        for number, (family, options) in enumerate(SMALL[stem]):
            for objective in (None, *itertools.islice(turn, 2)):
                settings = " ".join(f"{key}={value}" for key, value in options.items())
                yield SolverTask(
                    *(
                        stem,
                        "generated",
                        f"{family} {settings} seed={seed} {objective or 'default'}",
                    ),
                    lambda f=family, o=options, s=seed: generate(stem, f, seed=s, **o),
                    objective,
                    number == 0,
                )


def drawn(stem: str, seeds: int) -> Iterator[SolverTask]:
    """Yield tiny task graphs in fractions, of which HiGHS has called false optima."""
    for seed in range(seeds if stem == "dag" else 0):
        for objective in ("makespan", "total-response-time"):
            name = f"fractions seed={seed} {objective}"
            yield SolverTask(stem, "drawn", name, lambda s=seed: _fractional_graph(s), objective)


def _fractional_graph(seed: int) -> Instance:
    draw = random.Random(seed)
    machines = tuple(Machine(f"m{k}", delay=draw.choice(DELAYS)) for k in range(3))
    tasks = tuple(
        Task(f"t{number}", costs=tuple(draw.choice(COSTS) for _ in machines))
        for number in range(draw.randint(3, 4))
    )
    edges = tuple(
        Edge(*pair, draw.choice(COSTS))
        for pair in itertools.combinations(range(len(tasks)), 2)
        if draw.random() < 0.5
    )
    network = Network(same_machine=draw.choice(("zero", "counted")))
    return Instance(machines, (Graph("g", tasks, edges),), network)


def data(stem: str, folder: Path, most: int) -> Iterator[SolverTask]:
    """Yield some instances of the public data sets, at most so many of each folder of files."""
    if stem == "dag":
        for part, pattern, machines in GRAPHS:
            for path, graph in _graphs(folder / part, pattern, most):
                for count in machines or (None,):
                    yield SolverTask(
                        *("dag", "data", f"{part}/{path.stem}" + (f" on {count}" if count else "")),
                        lambda g=graph, p=path, c=count: _on_machines(g, p, c),
                    )
    if stem == "bag":
        for path in _some(folder / "etc_braun", "u_*", most):
            for first in range(0, 16 * max(1, most // 2), 16):
                yield SolverTask(
                    *(stem, "data", f"{path.name}, 16 tasks from {first}"),
                    lambda path=path, first=first: _part(path, first),
                )
    if stem == "coreservation":
        for part, pattern, form in PACKINGS:
            for path in _some(folder / "binpack" / part, pattern, most):
                yield SolverTask(
                    *(stem, "data", f"{path.relative_to(folder / 'binpack')}, first {ITEMS} items"),
                    lambda path=path, form=form: _packing(path, form),
                    "rejections-then-machines",
                )


def _graphs(folder: Path, pattern: str, most: int) -> Iterator[tuple[Path, TaskGraph]]:
    """Yield task graphs of a folder that are small enough, evenly spread over all of them."""
    form = "costs" if folder.name == "santiago" else None  # its suffix is that of another format
    small = [path for path in sorted(folder.glob(pattern)) if path.stat().st_size < MOST_BYTES]
    graphs = []
    for path in _spread(small, 4 * most):
        with suppress(InvalidInstanceError):  # such as a schema
            graph = detection.read(path, format=form)
            if len(graph.tasks) <= MOST_TASKS:
                graphs.append((path, graph))
    yield from _spread(graphs, most)


def _on_machines(graph: TaskGraph, path: Path, count: int | None) -> Any:
    """Return a graph on so many machines, by default on those that it or its name tells."""
    if count is None and path.stem[0].isdigit() and path.suffix == ".dot":
        count = int(path.stem.partition("p_")[0])
    if count is None and graph.machines:
        return instance_of(graph)
    bytes_per_second = 10**8 if path.suffix in (".json", ".xml", ".dax", ".dag") else 1
    return instance_of(graph, machine_set(count or 3, bandwidth=bytes_per_second))


def _some(folder: Path, pattern: str, most: int) -> list[Path]:
    return _spread(sorted(folder.glob(pattern)), most)


def _spread(items: Sequence[T], most: int) -> list[T]:
    return list(items[:: max(1, -(-len(items) // max(1, most)))])


def _part(path: Path, first: int) -> Any:
    """Return some tasks of a matrix on a few machines: the whole proves nothing in seconds."""
    matrix = etc.read(path)
    rows = matrix.times[first : first + 16]
    return instance_from_etc(replace(matrix, times=tuple(row[:4] for row in rows)))


def _packing(path: Path, form: str) -> Any:
    """Return some items of the first problem of a file."""
    problem = binpack.read(path, form)[0]
    return bin_packing_instance(replace(problem, items=problem.items[:ITEMS]))


def valid(case: SolverTask) -> Any | None:
    """Return the instance; None if it is none, or the objective does not apply to it."""
    try:
        return case.make()
    except DloptError:
        return None
