"""Time limits and memory: whether every method returns in time on large instances.

    python -m benchmarks.limits [--stems STEM,STEM] [--methods M,M] [--time-limit 2]

Each method runs in a process of its own, on every instance of its problem below; imports and
reading are done before. It passes if each answer comes within the limit and one more second (a
tenth more, for limits above ten seconds), and if the process never uses more than 2 GB. A process
that does not answer within one more minute is killed.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from dlopt import api, generate, registry
from dlopt.errors import DloptError, NotApplicableError
from dlopt.result import Limits

LARGE: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "iit": (
        ("random", {"nodes": 300, "spread": 2, "theta_cm": 3, "theta_cp": 2}),
        ("random", {"nodes": 5_000}),
        ("random", {"nodes": 1_000_000}),
    ),
    "admission": (
        ("small", {"tasks": 1_000}),
        ("mamat4", {}),
        ("waiting", {"tasks": 100_000}),
    ),
    "multistage": (
        ("small", {"tasks": 40}),
        ("small", {"tasks": 1_000}),
        ("mamat5", {}),
    ),
    "coreservation": (
        ("small", {"requests": 100}),
        ("overloaded", {"requests": 1_000}),
        ("min-4", {}),
        ("overloaded", {"requests": 20_000}),
    ),
    "dag": (
        ("topcuoglu", {"tasks": 100, "machines": 8}),
        ("topcuoglu", {"tasks": 10_000, "machines": 16}),
        ("chen", {"tasks": 300}),
        ("independent", {"tasks": 100_000, "machines": 16}),
        ("independent", {"tasks": 1_000_000, "machines": 8}),
    ),
    "bag": (
        ("gds", {"tasks": 1_000}),
        ("gds", {"tasks": 100_000}),
        ("small", {"tasks": 1_000}),
        ("braun", {"tasks": 8_192, "machines": 256}),
    ),
}
"""Families and parameters; what is not named is as `dlopt generate` has it."""

MOST_MB = 2048
"""Memory limit of a process."""
_LONGEST_S = 60.0
"""Seconds after the time limit when a process is killed."""


@dataclass(frozen=True, slots=True)
class LimitedRun:
    """The result of one method on one instance."""

    seconds: float
    megabytes: float
    outcome: str


def run(instance: Any, method: str, limit: float) -> LimitedRun:
    """Solve an instance in a process of its own."""
    fork = multiprocessing.get_context("fork")
    near, far = fork.Pipe(duplex=False)
    process = fork.Process(target=_solve, args=(instance, method, limit, far), daemon=True)
    process.start()
    far.close()
    patience = limit + _LONGEST_S
    try:
        found: LimitedRun = (
            near.recv() if near.poll(patience) else LimitedRun(patience, 0.0, "ended")
        )
    except EOFError:
        process.join()
        found = LimitedRun(0.0, 0.0, f"died ({process.exitcode})")
    process.kill()
    process.join()
    return found


def _solve(instance: Any, method: str, limit: float, pipe: Connection) -> None:
    begun = time.monotonic()
    try:
        result = api.solve(instance, method, limits=Limits(time_s=limit))
        outcome = str(result.status)
        if result.reason is not None and result.reason.startswith("given up"):
            outcome += ", given up"
    except NotApplicableError:
        outcome = "does not apply"
    except DloptError as error:
        outcome = f"ERROR {type(error).__name__}: {error}"
    except MemoryError:
        outcome = "ERROR out of memory"
    seconds = time.monotonic() - begun
    pipe.send(
        LimitedRun(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, outcome)
    )
    os._exit(0)


def passes(found: LimitedRun, limit: float) -> bool:
    """Tell whether an answer came in time and in bounded memory."""
    in_time = found.seconds <= limit + max(1.0, limit / 10)
    return (
        in_time and found.megabytes <= MOST_MB and not found.outcome.startswith(("ERROR", "died"))
    )


@dataclass(frozen=True, slots=True)
class MethodRow:
    """One method on all instances of its problem."""

    method: str
    passed: bool
    over: float
    megabytes: float
    answers: str

    def line(self) -> str:
        """Return the row as it is printed."""
        mark = "PASS" if self.passed else "FAIL"
        most = f"{self.over:>+7.2f} s {self.megabytes:>7,.0f} MB"
        return f"  {mark}  {self.method:<34}{most}   {self.answers}"


def rows(stem: str, methods: Sequence[str] | None, limit: float) -> Iterator[MethodRow]:
    """Yield a row for each method of a problem."""
    instances = [(family, generate(stem, family, **given)) for family, given in LARGE[stem]]
    entries = [m for m in registry.methods(stem) if methods is None or m.name in methods]
    for entry in entries:
        entry.load()
    for entry in entries:
        found = [run(instance, entry.name, limit) for _, instance in instances]
        yield MethodRow(
            entry.name,
            all(passes(one, limit) for one in found),
            max(one.seconds for one in found) - limit,
            max(one.megabytes for one in found),
            "; ".join(f"{one.seconds:.2f} {one.outcome}" for one in found),
        )


def summary(stem: str, found: Sequence[MethodRow]) -> str:
    """Return the rows of a problem as one row of a Markdown table."""
    passed = sum(row.passed for row in found)
    over, most = max(row.over for row in found), max(row.megabytes for row in found)
    failed = ", ".join(f"`{row.method}`" for row in found if not row.passed) or "-"
    return (
        f"| {stem} | {len(LARGE[stem])} | {len(found)} | {passed} | {failed} "
        f"| {over:+.2f} s | {most:,.0f} MB |"
    )


HEADER = (
    "| problem | instances | methods | PASS | FAIL | largest overrun | largest memory |",
    "|---|---|---|---|---|---|---|",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the methods and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits")
    parser.add_argument("--stems", default=",".join(LARGE), help="by default all")
    parser.add_argument("--methods", help="by default all, the literal ones too")
    parser.add_argument("--time-limit", type=float, default=2.0)
    given = parser.parse_args(arguments)
    for module in ("highspy", "ortools.sat.python.cp_model", "networkx", "numpy", "scipy.sparse"):
        importlib.import_module(module)
    methods = None if given.methods is None else given.methods.split(",")
    tables: dict[str, list[MethodRow]] = {}
    for stem in given.stems.split(","):
        sizes = ", ".join(
            f"{family} {' '.join(f'{k}={v}' for k, v in values.items())}".strip()
            for family, values in LARGE[stem]
        )
        print(f"{stem}: seconds over {given.time_limit:g} s, most memory, seconds on {sizes}")
        tables[stem] = []
        for row in rows(stem, methods, given.time_limit):
            print(row.line(), flush=True)
            tables[stem].append(row)
    print("\n".join((*HEADER, *(summary(stem, found) for stem, found in tables.items() if found))))
    every = [row for found in tables.values() for row in found]
    failed = sum(not row.passed for row in every)
    print(f"{len(every)} methods, {failed} FAIL")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
