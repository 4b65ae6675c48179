"""Search for a solution that `check` accepts and that is better than a bound of `solve`.

    python -m benchmarks.invariants [--stems iit,bag] [--instances 10000] [--seconds 600]
        [--seed 0] [--rows FILE] [--table FILE]

Runs the properties of ``tests/invariants`` and ``tests/capacity`` on random instances, in integers,
fractions, decimals, floats and mixtures, near 0, at 1e12 and at POSIX dates, until each problem has
had the given number, or its share of the time is over. Each run is one seed: it can be repeated,
and another seed is another search. A finding ends with its smallest example and exit code 1; Ctrl-C
ends the search of a problem. With ``--rows`` each run is kept as a line of JSON; ``--table`` adds
such lines up.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import inspect
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded

from benchmarks.rows import kept, plain
from dlopt.journal import read_rows
from dlopt.registry import stems
from dlopt.version import __version__

FORM = plain("property", "stem", "seed", "date")
_ROUND = 250
"""Examples of a property at a time: after each round the clock is looked at."""
_PROFILE = settings(
    max_examples=_ROUND,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    derandomize=False,
    suppress_health_check=list(HealthCheck),
)
"""In place of that of the tests; properties that cost more take their share of it."""


def properties(stem: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the properties of a stem by name, as hypothesis wrapped them."""
    for folder in ("invariants", "capacity"):
        module = importlib.import_module(f"tests.{folder}.test_{stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and hasattr(function, "hypothesis"):
                yield f"{folder}: {name.removeprefix('test_').replace('_', ' ')}", function


def run(function: Callable[..., Any], seed: int) -> int:
    """Run a property on a round of random examples; return on how many it was decided."""
    handle = function.hypothesis  # type: ignore[attr-defined]
    inner, seen = handle.inner_test, 0

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal seen
        seen += 1
        return inner(*arguments, **named)

    counted.__signature__ = inspect.signature(inner)  # type: ignore[attr-defined]
    handle.inner_test = counted
    try:
        seeded(seed)(function)()
    finally:
        handle.inner_test = inner
    return seen


def search(stem: str, instances: int, seconds: float, seed: int) -> tuple[dict[str, int], str]:
    """Search one stem; return how many instances each property had, and what was found."""
    counts: dict[str, int] = defaultdict(int)
    stop = time.monotonic() + seconds
    known = list(properties(stem))
    number = 0
    while sum(counts.values()) < instances and time.monotonic() < stop:
        for name, function in known:
            try:
                counts[name] += run(function, seed * 1_000_003 + number)
            except KeyboardInterrupt:
                return counts, ""
            except Exception:
                return counts, f"{name}\n{traceback.format_exc()}"
            if sum(counts.values()) >= instances or time.monotonic() >= stop:
                break
        number += 1
    return counts, ""


def table(files: list[Path]) -> None:
    """Print what lines of rows say in sum."""
    total: dict[str, int] = defaultdict(int)
    seeds: dict[str, list[int]] = defaultdict(list)
    found: dict[str, int] = defaultdict(int)
    for file in files:
        for row in read_rows(file, FORM):
            total[row["stem"]] += sum(row["instances"].values())
            seeds[row["stem"]].append(row["seed"])
            found[row["stem"]] += bool(row["finding"])
    print("| stem | instances | seeds | findings |\n|---|---|---|---|")
    for stem, count in total.items():
        named = ", ".join(map(str, sorted(seeds[stem])))
        print(f"| `{stem}` | {count:,} | {named} | {found[stem]} |")


def main() -> int:
    """Search, or add up what was searched before; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stems", default=",".join(stems()))
    parser.add_argument("--instances", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=600, help="of each stem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--table", type=Path, nargs="+")
    asked = parser.parse_args()
    if asked.table:
        table(asked.table)
        return 0
    settings.register_profile("search", _PROFILE)
    settings.load_profile("search")
    worst = 0
    with kept(asked.rows, FORM) as rows:
        for stem in asked.stems.split(","):
            begun = time.monotonic()
            counts, finding = search(stem, asked.instances, asked.seconds, asked.seed)
            took = time.monotonic() - begun
            row = {
                "stem": stem,
                "seed": asked.seed,
                "date": dt.date.today().isoformat(),
                "dlopt": __version__,
                "seconds": round(took, 1),
                "instances": dict(counts),
                "finding": finding,
            }
            rows.add(row)
            print(f"{stem}: {sum(counts.values()):,} instances in {took:.0f} s, seed {asked.seed}")
            for name, count in counts.items():
                print(f"  {count:7,}  {name}")
            if finding:
                print(finding)
                worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
