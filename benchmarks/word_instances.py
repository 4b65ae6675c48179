"""Instances for the cross-check of solvers: shipped, generated, and of the public data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlopt import DloptError, io, registry
from dlopt.formats import binpack, dot, etc, stg
from dlopt.generation import generate
from dlopt.generation.bag import instance_from_etc
from dlopt.generation.bin_packing import bin_packing_instance
from dlopt.generation.task_graphs import instance_of, machine_set

SHIPPED = Path(__file__).parents[1] / "instances"

ITEMS = 30
"""Of a bin packing problem."""

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
                told = " ".join(f"{key}={value}" for key, value in options.items())
                yield SolverTask(
                    *(stem, "generated", f"{family} {told} seed={seed} {objective or 'default'}"),
                    lambda f=family, o=options, s=seed: generate(stem, f, seed=s, **o),
                    objective,
                    number == 0,
                )


def data(stem: str, folder: Path, most: int) -> Iterator[SolverTask]:
    """Yield some instances of the public data sets, at most so many of each set."""
    for path in _some(folder / "stg" / "50", "*.stg", most) if stem == "dag" else ():
        for machines in (2, 8):
            yield SolverTask(
                *("dag", "data", f"stg/50/{path.stem} on {machines}"),
                lambda path=path, m=machines: instance_of(stg.read(path), machine_set(m)),
            )
    graphs = folder / "dag_comm_optimal" / "graphs"
    for path in _some(graphs, "*.dot", most) if stem == "dag" else ():
        machines = int(path.stem.partition("p_")[0]) if path.stem[0].isdigit() else 3
        yield SolverTask(
            *("dag", "data", path.stem),
            lambda path=path, m=machines: instance_of(dot.read(path), machine_set(m)),
        )
    for path in _some(folder / "etc_braun", "u_*", most) if stem == "bag" else ():
        yield SolverTask(
            "bag", "data", f"{path.name}, 16 of its tasks", lambda path=path: _part(path)
        )
    if stem == "coreservation":
        for file in _some(folder / "binpack" / "orlib", "*.txt", most):
            name = f"{file.name}, first {ITEMS} items"
            yield SolverTask(
                *(stem, "data", name),
                lambda file=file: _packing(file),
                "rejections-then-machines",
            )


def _some(folder: Path, pattern: str, most: int) -> list[Path]:
    paths = sorted(folder.glob(pattern))
    return paths[:: max(1, -(-len(paths) // max(1, most)))]


def _part(path: Path) -> Any:
    """Return some tasks of a matrix on a few machines: the whole proves nothing in seconds."""
    matrix = etc.read(path)
    return instance_from_etc(replace(matrix, times=tuple(row[:4] for row in matrix.times[:16])))


def _packing(path: Path) -> Any:
    """Return some items of the first problem of a file."""
    problem = binpack.read(path, "orlib")[0]
    return bin_packing_instance(replace(problem, items=problem.items[:ITEMS]))


def valid(case: SolverTask) -> Any | None:
    """Return the instance; None if it is none, or the objective does not apply to it."""
    try:
        return case.make()
    except DloptError:
        return None
