"""Draw the figures of Mamat 2011, chapter 5, again, and hold its claims against them.

``python -m benchmarks.papers.multistage --help``
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise, product
from pathlib import Path
from statistics import mean, stdev

from dlopt.generation.multistage import mamat5
from dlopt.heuristics.multistage.methods import decided
from dlopt.plotting.curves import Curve, Panel, Spot, plot_curves
from dlopt.problems.multistage import objective

LOADS = tuple(number / 10 for number in range(1, 11))
SHARES = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)
ADVANCES = (0.0, 1.0, 2.0, 10.0)
_MEASURES = ("reject-ratio", "utilization")
_HERE = Path(__file__).parent

Point = tuple[float, float, float]
"""Share of reservations, advance in mean intervals, system load."""


def run(job: tuple[Point, int, float]) -> tuple[Point, tuple[float, ...]]:
    """Simulate one stream, and return what came of it."""
    (share, advance, load), seed, horizon = job
    instance = mamat5(system_load=load, fraction=share, advance=advance, horizon=horizon, seed=seed)
    plan = decided("multi-stage", instance).plan()
    return job[0], tuple(float(objective(instance, plan, name)) for name in _MEASURES)


class Results:
    """What all streams gave."""

    def __init__(self, seeds: int, horizon: float, processes: int | None) -> None:
        points = {*product(SHARES, (0.0, 1.0), LOADS), *product((0.3, 0.5), ADVANCES, LOADS)}
        jobs = [(point, seed, horizon) for point in sorted(points) for seed in range(seeds)]
        self.found: dict[Point, list[tuple[float, ...]]] = {point: [] for point in points}
        with ProcessPoolExecutor(processes) as pool:
            for point, values in pool.map(run, jobs, chunksize=4):
                self.found[point].append(values)

    def mean(self, share: float, advance: float, load: float, measure: int = 0) -> float:
        """Return the mean of a measure over the seeds."""
        return mean(values[measure] for values in self.found[share, advance, load])

    def curve(self, label: str, share: float, advance: float, measure: int) -> Curve:
        """Return the curve over the loads, with standard errors."""
        spots = []
        for load in LOADS:
            values = [one[measure] for one in self.found[share, advance, load]]
            error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
            spots.append(Spot(load, mean(values), error))
        return Curve(label, tuple(spots))

    def gaps(self, share: float, other: float, advance: float, measure: int = 0) -> list[float]:
        """Return by how many points one share is above another, load by load."""
        return [
            100 * (self.mean(share, advance, x, measure) - self.mean(other, advance, x, measure))
            for x in LOADS
        ]


def claims(results: Results) -> list[tuple[str, str, str]]:
    """Return figure, claim and verdict of each claim."""
    told = []
    for figure, measure, sign, words in (
        ("5.13", 0, 1, "asked for at once (advance 0): the more is reserved, the more is rejected"),
        ("5.14", 1, -1, "advance 0: the more is reserved, the less the cluster is used"),
    ):
        steps = [
            sign * gap
            for fewer, more in pairwise(SHARES)
            for gap in results.gaps(more, fewer, 0.0, measure)
        ]
        good = sum(step >= 0 for step in steps)
        told.append((figure, words, _word(good, len(steps), f"{good} of {len(steps)} steps")))
    close = [abs(gap) for share in (0.1, 0.3, 0.5) for gap in results.gaps(share, 0.0, 1.0)]
    text = f"largest difference {max(close):.1f} points, mean {mean(close):.1f}"
    words = "asked for one interval before: 0 to 50 % reserved reject about the same (3 points)"
    told.append(("5.15", words, _word(sum(x <= 3 for x in close), len(close), text)))
    far = [gap for share in (0.8, 1.0) for gap in results.gaps(share, 0.5, 1.0)]
    text = f"{min(far):.1f} to {max(far):.1f} points more than with 50 %"
    words = "80 and 100 % reject much more (5 points)"
    told.append(("5.15", words, _word(sum(x >= 5 for x in far), len(far), text)))
    used = [abs(gap) for share in (0.1, 0.3, 0.5) for gap in results.gaps(share, 0.0, 1.0, 1)]
    text = f"largest difference {max(used):.1f} points, mean {mean(used):.1f}"
    words = "0 to 50 % reserved use the cluster about as much (3 points)"
    told.append(("5.16", words, _word(sum(x <= 3 for x in used), len(used), text)))
    for figure, share in (("5.17", 0.3), ("5.18", 0.5)):
        by_advance = [
            [100 * results.mean(share, advance, load) for load in LOADS] for advance in ADVANCES
        ]
        falls = [
            a - b for one, two in pairwise(by_advance[:3]) for a, b in zip(one, two, strict=True)
        ]
        trail = ", ".join(
            f"{advance:g}: {mean(values):.1f} %"
            for advance, values in zip(ADVANCES, by_advance, strict=True)
        )
        words = f"{share:.0%} reserved: asking earlier, up to two intervals, rejects less"
        told.append(
            (
                figure,
                words,
                _word(sum(x >= 0 for x in falls), len(falls), f"mean by advance {trail}"),
            )
        )
        flat = [abs(a - b) for a, b in zip(*by_advance[2:], strict=True)]
        words = f"{share:.0%} reserved: beyond two intervals it makes no difference (2 points)"
        text = f"largest difference {max(flat):.1f} points"
        told.append((figure, words, _word(sum(x <= 2 for x in flat), len(flat), text)))
    return told


def _word(good: int, all_of_them: int, text: str) -> str:
    word = "holds" if good == all_of_them else "only" if good else "does not"
    return f"**{word}**: {good} of {all_of_them} points; {text}"


def before(advance: float) -> str:
    """Return in words how long before its start a reservation is asked for."""
    return f"{advance:g} interval{'s' * (advance != 1)} before" if advance else "at once"


def draw(results: Results, folder: Path, note: str) -> None:
    """Draw the curves."""
    for figure, advance in (("5.13-5.14", 0.0), ("5.15-5.16", 1.0)):
        panels: list[Panel] = [
            (name, tuple(results.curve(f"{s:.0%} reserved", s, advance, m) for s in SHARES))
            for m, name in enumerate(("reject ratio", "utilization"))
        ]
        title = f"Mamat 2011, figures {figure}: asked for {before(advance)}"
        path = folder / f"fig-{figure}.svg"
        plot_curves(panels, path, title=title, note=note, axis="system load")
    panels = [
        (
            f"reject ratio, {share:.0%} reserved",
            tuple(results.curve(before(a), share, a, 0) for a in ADVANCES),
        )
        for share in (0.3, 0.5)
    ]
    title = "Mamat 2011, figures 5.17 and 5.18: when reservations are asked for"
    path = folder / "fig-5.17-5.18.svg"
    plot_curves(panels, path, title=title, note=note, axis="system load")


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.multistage", description=main.__doc__
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--shorter", type=float, default=5, help="divide the paper's simulated time by this"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--out", type=Path, default=_HERE / "figures", help="folder of the pictures"
    )
    wanted = parser.parse_args()
    horizon = 10_000_000 / wanted.shorter
    begun = time.perf_counter()
    results = Results(wanted.seeds, horizon, wanted.processes)
    draw(results, wanted.out, f"{wanted.seeds} seeds, time 0 to {horizon:g}, bars: standard errors")
    print("| figure | claim | ours |\n|---|---|---|")
    for row in claims(results):
        print(f"| {' | '.join(row)} |")
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
