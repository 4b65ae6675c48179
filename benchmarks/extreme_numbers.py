"""Robustness to extreme numbers: every method answers, or refuses with a named error.

    python -m benchmarks.extreme_numbers [--stems iit,bag] [--seconds 600] [--seed 0]
        [--limit 3] [--keep FOLDER]

Some numbers of a shipped instance are multiplied by powers of ten from 1e-25 to 1e25, as integers,
fractions or floats. Every sound heuristic, every exact method and every bound is run. A finding is
an answer that fails verification, a bound that a solution of any method violates, any error but a
refusal (`NotApplicableError`), and an answer that takes ten times its limit. Findings are counted,
the first of each kind is kept with ``--keep``, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlopt import DloptError, Limits, NotApplicableError, Result, io, registry, solve
from dlopt.backends.output_redirection import solver_output_to_stderr
from dlopt.result_checker import disproof

SHIPPED = Path(__file__).parents[1] / "instances"
_LARGEST = 25
"""Of the powers of ten."""
_NO_NUMBERS = {"version", "nodes", "best_known", "machine", "id", "name", "problem", "site", "task"}
"""Fields whose values are counts, names or places."""


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of the numbers of an instance, as JSON states it."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in _NO_NUMBERS:
                yield from places(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from places(value, (*path, index))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path


def extreme(data: Any, draw: random.Random) -> None:
    """Multiply some numbers of an instance, in place: one, a few, or all."""
    paths = list(places(data))
    for path in draw.sample(paths, min(len(paths), draw.choice([1, 1, 2, 3, len(paths)]))):
        here = data
        for step in path[:-1]:
            here = here[step]
        number, power = here[path[-1]], draw.randint(-_LARGEST, _LARGEST)
        if draw.random() < 0.5 or not isinstance(number, int):
            here[path[-1]] = float(number) * 10.0**power
        else:
            here[path[-1]] = number * 10**power if power >= 0 else f"{number}/{10**-power}"


def instances(stems: list[str], seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield instances without end, each with its JSON."""
    draw = random.Random(seed)
    files = [file for stem in stems for file in sorted((SHIPPED / stem).rglob("*.json"))]
    while True:
        data = json.loads(draw.choice(files).read_text(encoding="utf-8"))
        data.pop("best_known", None)
        extreme(data, draw)
        try:
            yield io.instance_from_data(data), data
        except DloptError:  # a deadline before the arrival, say
            continue


def faults(instance: Any, limit: float) -> Iterator[tuple[str, str]]:
    """Ask every method, and yield its name and what is wrong with its answer."""
    answers: list[Result[Any]] = []
    for entry in registry.methods(instance.problem):
        if entry.kind == "heuristic" and entry.claim not in ("sound", "optimal"):
            continue
        begun = time.monotonic()
        try:
            with solver_output_to_stderr():
                answers.append(solve(instance, entry.name, limits=Limits(time_s=limit)))
        except NotApplicableError:
            continue
        except DloptError as error:
            yield entry.name, f"{type(error).__name__}: {str(error)[:160]}"
        if time.monotonic() - begun > 10 * limit:
            yield entry.name, f"took more than {10 * limit:g} s"
    known = registry.problem_of(instance).module.OBJECTIVES
    for answer in answers:
        alike = [other for other in answers if other.objective == answer.objective]
        wrong = disproof(known[answer.objective], answer, alike)
        if wrong is not None:
            yield answer.method, wrong


def main() -> int:
    """Search until time is up; return 1 if there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stems", default=",".join(registry.stems()))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=3, help="seconds for each answer")
    parser.add_argument("--keep", type=Path, help="folder for the first instance of each finding")
    asked = parser.parse_args()
    stop, count, found = time.monotonic() + asked.seconds, 0, Counter[tuple[str, str, str]]()
    for instance, data in instances(asked.stems.split(","), asked.seed):
        if time.monotonic() > stop:
            break
        count += 1
        for method, fault in faults(instance, asked.limit):
            key = instance.problem, method, fault
            found[key] += 1
            if found[key] == 1:
                print(*key, sep=" | ", flush=True)
                if asked.keep is not None:
                    asked.keep.mkdir(parents=True, exist_ok=True)
                    name = f"{instance.problem}-{method}-{asked.seed}-{count}.json"
                    (asked.keep / name).write_text(json.dumps(data), encoding="utf-8")
    print(f"{count:,} instances of seed {asked.seed}: {found.total()} findings, {len(found)} kinds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
