"""Bid prices for CPU shares against the algorithms of Min 2001, and against clairvoyant plans.

The requests are those of figure 5.9 of Min 2001 (ten machines, a request every 9.52 units). A
clairvoyant plan knows all requests: it is what `lns` finds within a time limit. ``python -m
benchmarks.coreservation_priced --help``
"""

from __future__ import annotations

import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlopt import solve
from dlopt.generation.coreservation import min5
from dlopt.problems.coreservation import objective
from dlopt.result import Limits
from dlopt.simulation.replications import estimate

SIZES = (300, 700, 1300, 1900)
PAPERS = ("co-rspb", "co-rsbfr")
OURS = "priced"
MEASURES = ("benefit", "rejections", "rejected-priority")
SHARE = 0.5
"""Part of the distance from the better algorithm of the paper to the clairvoyant plan."""
TARGET_SIZES = (700, 1300, 1900)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measures of each method on an instance, and processor times."""

    values: dict[str, tuple[float, ...]]
    seconds: dict[str, float]

    @property
    def paper(self) -> float:
        """The larger benefit of the paper's algorithms."""
        return max(self.values[name][0] for name in PAPERS)

    @property
    def difference(self) -> float:
        """How much more benefit than that there is with prices."""
        return self.values[OURS][0] - self.paper

    @property
    def share(self) -> float | None:
        """The part of the distance to the clairvoyant plan that is closed."""
        if "clairvoyant" not in self.values:
            return None
        return self.difference / (self.values["clairvoyant"][0] - self.paper)


def outcome(requests: int, seed: int, limit: float | None) -> Outcome:
    """Return what the methods attain; every plan is verified."""
    instance = min5(requests=requests, seed=seed)
    values, seconds = {}, {}
    for name in (*PAPERS, OURS, *(["clairvoyant"] if limit else [])):
        method = "lns" if name == "clairvoyant" else name
        limits = Limits(time_s=limit) if name == "clairvoyant" else Limits()
        begun = time.process_time()
        found = solve(instance, method, limits=limits)
        seconds[name] = time.process_time() - begun
        assert found.solution is not None and not found.violations
        measured = (objective(instance, found.solution, measure) for measure in MEASURES)
        values[name] = tuple(float(value) for value in measured)  # none of them has levels
    return Outcome(values, seconds)


def row(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the cells of a row: means of benefit, rejections and rejected priority."""
    for name in (*PAPERS, OURS, "clairvoyant"):
        known = [one.values[name] for one in outcomes if name in one.values]
        if not known:
            yield "-"
            continue
        benefit, rejections, priority = map(statistics.fmean, zip(*known, strict=True))
        yield f"{benefit:.3f} / {rejections:.0f} / {priority:,.0f}"
    mean, half = estimate([one.difference for one in outcomes])
    yield f"{mean:+.3f}" + ("" if half is None else f" ± {half:.3f}")
    shares = [one.share for one in outcomes if one.share is not None]
    yield f"{statistics.fmean(shares):.2f}" if shares else "-"
    for name in (*PAPERS, OURS):
        yield f"{statistics.fmean(one.seconds[name] for one in outcomes):.2f}"


HEADS = ("requests", *PAPERS, OURS, "clairvoyant", "to the better", "share closed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the targets; the exit code is 1 if one is missed."""
    parser = ArgumentParser(prog="python -m benchmarks.coreservation_priced")
    parser.add_argument("--requests", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seeds", type=int, nargs="*", default=range(4, 14))
    parser.add_argument("--plans", type=int, default=1, help="seeds with a clairvoyant plan")
    parser.add_argument("--seconds", type=float, default=24.0, help="limit of such a plan")
    given = parser.parse_args(arguments)
    print(f"| {' | '.join((*HEADS, *(f'{name}, s' for name in (*PAPERS, OURS))))} |")
    print("|---" * (len(HEADS) + len(PAPERS) + 1) + "|")
    found: dict[int, list[Outcome]] = {}
    for size in given.requests:
        found[size] = [
            outcome(size, seed, given.seconds if place < given.plans else None)
            for place, seed in enumerate(given.seeds)
        ]
        print(f"| {size:,} | {' | '.join(row(found[size]))} |", flush=True)
    print()
    missed = 0
    for size, outcomes in found.items():
        mean, half = estimate([one.difference for one in outcomes])
        targets = [("no less benefit than the better of the paper's", mean >= -(half or 0))]
        shares = [one.share for one in outcomes if one.share is not None]
        if shares and size in TARGET_SIZES:
            share = statistics.fmean(shares)
            targets.append((f"at least {SHARE} of the distance: {share:.2f}", share >= SHARE))
        for text, met in targets:
            missed += not met
            print(f"{'PASS' if met else 'FAIL'}  {size:,} requests: {text}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
