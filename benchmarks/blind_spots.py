"""`exact` must be no worse than a plain CP-SAT model: ``python -m benchmarks.blind_spots --help``.

Each instance is solved by `exact` and by `benchmarks.plain_cpsat`, one after the other, both on one
thread and for the same seconds. A value or bound is worse if it is so by more than a relative 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks import plain_cpsat
from benchmarks.coreservation import compile_moves
from benchmarks.rows import Rows, kept, plain
from benchmarks.timing import Report, solver_output_to_stderr
from dlopt import generate, solve
from dlopt.arithmetic import exact
from dlopt.problems.coreservation import Instance
from dlopt.result import Limits, Status

MIN_PROVEN = 0.9
"""Share of the instances with a known optimum that `exact` must prove."""
TOLERANCE = Fraction(1, 10**9)
"""Relative difference that does not count."""
FORM = plain("blind-spot", "family", "seed", "seconds")


@dataclass(frozen=True, slots=True)
class FamilyCase:
    """A setting: a family with parameters, and an objective."""

    family: str
    objective: str
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """How it is called in tables and on the command line."""
        given = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        return " ".join(filter(None, (self.family, given, self.objective)))


def _cases(family: str, objective: str, *parameters: dict[str, Any]) -> Iterator[FamilyCase]:
    yield from (FamilyCase(family, objective, one) for one in parameters)


CASES: tuple[FamilyCase, ...] = (
    *_cases(
        "triplets",
        "rejections",
        {"machines": 6},
        {"machines": 12},
        {"machines": 15},
        {"machines": 12, "slack": 1},
        {"machines": 12, "slack": 3},
        {"machines": 12, "capacity": 10**9},
        {"machines": 12, "unit": Fraction(1, 1000)},
        {"machines": 12, "unit": 0.001},
        {"machines": 12, "parts": 2},
        {"machines": 12, "parts": 3},
        {"machines": 10, "spread": 30},
        {"machines": 6, "spread": 30, "parts": 2},
        {"machines": 8, "layers": 3},
        {"machines": 12, "layers": 8},
        {"machines": 40},
        {"machines": 100},
    ),
    *_cases("triplets", "benefit", {"machines": 12}),
    *_cases(
        "tiles",
        "rejections",
        {"machines": 4, "instants": 8},
        {"machines": 8, "instants": 8},
        {"machines": 8, "extra": 1},
        {"machines": 12, "pieces": 10},
    ),
    *_cases(
        "strips", "rejections", {"machines": 2}, {"machines": 5}, {"machines": 5, "instants": 60}
    ),
    *_cases(
        "near-equal",
        "rejections",
        {"fit": 4},
        {"fit": 8, "capacity": 928},
        {"fit": 2, "capacity": 600, "machines": 20, "extra": 3},
        {"fit": 12, "capacity": 1500, "machines": 5, "extra": 2},
        {"fit": 1, "capacity": 100, "machines": 200, "extra": 10},
    ),
    *_cases("near-equal", "benefit", {"fit": 4, "most_priority": 9}),
    *_cases(
        "knapsacks",
        "benefit",
        {},
        {"requests": 30, "grain": 2, "most_priority": 0},
        {"machines": 5},
        {"shapes": "linear"},
        {"shapes": "linear", "machines": 6},
        {"shapes": "affine", "machines": 6},
        {"shapes": "stairs", "machines": 6},
        {"shapes": "all", "machines": 2, "requests": 80},
    ),
    *_cases(
        "intervals",
        "benefit",
        {"machines": 1, "requests": 300, "most_priority": 100},
        {"machines": 3, "requests": 300, "most_priority": 100},
    ),
    *_cases("intervals", "rejections", {"requests": 279}),
)
"""The settings that are measured."""


def answer_of_exact(instance: Instance, objective: str, seconds: float) -> dict[str, Any]:
    """Solve an instance by `exact`, and return what counts of the answer."""
    begun = time.perf_counter()
    with solver_output_to_stderr():
        found = solve(instance, objective=objective, limits=Limits(time_s=seconds, threads=1))
    spent = time.perf_counter() - begun
    proven = found.status is Status.OPTIMAL
    return _row(found.value, found.bound, proven, spent) | {"reason": found.reason}


def answer_of_reference(instance: Instance, objective: str, seconds: float) -> dict[str, Any]:
    """Solve an instance by the plain model, and return what counts of the answer."""
    begun = time.perf_counter()
    found = plain_cpsat.solve(instance, objective, seconds)
    return _row(found.value, found.bound, found.proven, time.perf_counter() - begun)


def _row(value: Any, bound: Any, proven: bool, spent: float) -> dict[str, Any]:
    shown = [None if one is None else str(exact(one)) for one in (value, bound)]
    return {"value": shown[0], "bound": shown[1], "proven": proven, "spent": spent}


def measured(rows: Rows[dict[str, Any]], case: FamilyCase, seed: int, seconds: float) -> Any:
    """Return the row of a setting and seed; it is measured if it is not there."""
    key = (case.name, seed, seconds)
    if key not in rows.by_key:
        instance = generate("coreservation", case.family, seed=seed, **case.parameters)
        known = [one.value for one in instance.best_known if one.objective == case.objective]
        rows.add(
            {
                "family": case.name,
                "seed": seed,
                "seconds": seconds,
                "requests": len(instance.requests),
                "known": None if not known else str(known[0]),
                "exact": answer_of_exact(instance, case.objective, seconds),
                "plain": answer_of_reference(instance, case.objective, seconds),
            }
        )
    return rows.by_key[key]


def is_worse(own: str | None, other: str | None, *, maximise: bool) -> bool:
    """Tell whether a value is worse than another one, which may be missing."""
    if other is None:
        return False
    if own is None:
        return True
    lost = (Fraction(other) - Fraction(own)) * (1 if maximise else -1)
    return lost > TOLERANCE * abs(Fraction(other))


def verdict(row: dict[str, Any]) -> str:
    """Return what is worse in a row, or that nothing is."""
    maximise = row["family"].endswith("benefit")
    own, other = row["exact"], row["plain"]
    worse = [
        name
        for name, up in (("value", maximise), ("bound", not maximise))
        if is_worse(own[name], other[name], maximise=up)
    ]
    return ", ".join(worse) or "-"


def in_time(row: dict[str, Any]) -> bool:
    """Tell whether `exact` kept its time limit, up to a second or a tenth."""
    return bool(row["exact"]["spent"] <= row["seconds"] + max(1.0, row["seconds"] / 10))


def table(report: Report, rows: list[dict[str, Any]], seconds: float) -> None:
    """Print the rows, and compare them with the targets."""
    title = f"`exact` and a plain CP-SAT model, {seconds:g} s each, one thread"
    report.table(
        title,
        "family",
        "requests",
        "seed",
        "value",
        "bound",
        "s",
        "plain value",
        "bound",
        "s",
        "worse",
    )
    for row in rows:
        cells: list[Any] = []
        for name in ("exact", "plain"):
            for field in ("value", "bound"):
                shown = row[name][field]
                cells.append(None if shown is None else round(float(Fraction(shown)), 5))
            cells.append(row[name]["spent"])
        report.row(row["family"], row["requests"], row["seed"], *cells, verdict(row))
    known = [
        row for row in rows if row["known"] or row["exact"]["proven"] or row["plain"]["proven"]
    ]
    proven = sum(row["exact"]["proven"] for row in known)
    worse = sum(verdict(row) != "-" for row in rows)
    late = sum(not in_time(row) for row in rows)
    report.target("never worse in value or bound", f"{worse} of {len(rows)} are", not worse)
    text = f"proves {MIN_PROVEN:.0%} of what has a known optimum"
    share = f"{proven} of {len(known)}"
    report.target(text, share, proven >= MIN_PROVEN * len(known))
    report.target("time limit kept, up to 1 s or 10 %", f"{late} overruns", not late)


def main() -> int:
    """Run what the command line asks for; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind_spots")
    parser.add_argument("--seeds", default="0,1,2", help="default: 0,1,2")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each method")
    parser.add_argument("--families", default="", help="only those whose name contains this")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="keep rows there, and resume")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    asked = parser.parse_args()
    cases = [case for case in CASES if asked.families in case.name]
    compile_moves()
    report = Report(False)
    with kept(asked.rows, FORM) as rows:
        found = [
            measured(rows, case, int(seed), asked.seconds)
            for seed in asked.seeds.split(",")
            for case in cases
        ]
    table(report, found, asked.seconds)
    if asked.markdown:
        report.write_markdown(asked.markdown, " ".join([parser.prog, *sys.argv[1:]]))
    return 0 if all(target["passed"] for target in report.targets) else 1


if __name__ == "__main__":
    sys.exit(main())
