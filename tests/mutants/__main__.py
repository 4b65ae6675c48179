"""Apply every listed mutant and see its tests fail: ``python -m tests.mutants --help``."""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import sys

from tests.mutants.runner import KILLED, LIMIT, read, try_all


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each mutant; return 1 if one survives, or cannot be tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="this one")
    parser.add_argument("--area", help="those of one list: a file in tests/mutants")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one of them")
    wanted = parser.parse_args(arguments)
    mutants = [
        mutant
        for mutant in read()
        if wanted.only in (None, mutant.name) and wanted.area in (None, mutant.area)
    ]
    if not mutants:
        print("no such mutant")
        return 1
    counts: dict[str, int] = {}
    try:
        for outcome in try_all(mutants, jobs=wanted.jobs, limit=wanted.limit):
            counts[outcome.said] = counts.get(outcome.said, 0) + 1
            own = outcome.mutant
            print(f"{outcome.said:9} {own.area:14} {own.name:45} {own.file}", flush=True)
            if outcome.said != KILLED:
                print(f"          {own.why} Tests: {' '.join(own.killed_by)}\n{outcome.detail}")
    except RuntimeError as error:
        print(error)
        return 1
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {said}" for said, n in counts.items()))
    return 0 if set(counts) == {KILLED} else 1


if __name__ == "__main__":
    sys.exit(main())
