"""Draw the figures of Min 2001, chapters 4 and 5, again, and hold its claims against them.

Beside the thesis' algorithms stands what it never had: the optimum of each batch given what is
reserved already, the best plan found with all requests known, and a bound on every plan. What the
thesis leaves open (batches and priorities of chapter 4, arrivals of chapter 5) is told in
`dlopt.generation.coreservation`, how widely the CPU of figure 4.6 is spread in `_around`.

``python -m benchmarks.papers.coreservation --help``
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import dlopt
from benchmarks.papers.coreservation_claims import CLAIMS, Measured
from dlopt import registry
from dlopt.generation.coreservation import min4, min5
from dlopt.generation.request_draws import QUARTERS
from dlopt.plotting.curves import Curve, Panel, Spot, plot_curves
from dlopt.problems.coreservation import Instance, Solution, objective
from dlopt.result import Limits

_HERE = Path(__file__).parent

METHODS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "RB": ("rb", {}),
    "RB by priority": ("rb", {"order": "priority"}),
    "RSPB": ("rspb", {}),
    "Co-RSPB": ("co-rspb", {}),
    "Co-RSBF": ("co-rsbf", {}),
    "Co-RSBFR": ("co-rsbfr", {}),
    "exact per batch": ("exact-per-batch", {}),
    "clairvoyant": ("lns", {}),
    "bound": ("bound-pooled", {}),
}
EXACT = ("exact per batch", "clairvoyant", "bound")
_AHEAD = 4320
"""Windows start within so many units of their requests' arrivals."""
_FOUR, _FIVE = ("RB", "RSPB"), ("Co-RSPB", "Co-RSBF", "Co-RSBFR")
_LABELS = {
    "rejections": "rejections",
    "benefit": "system benefit",
    "reserved": "mean reserved CPU, %",
    "rejected-priority": "sum of rejected priorities",
}


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure: what is varied, on which methods, and what is measured.

    Parameters
    ----------
    axis : str
    family : callable
        Makes the instances.
    points : mapping of float to dict
        Parameters by abscissa.
    methods : tuple of str
    measures : tuple of str
    exact : tuple of float
        Where the exact methods run, too.
    """

    axis: str
    family: Callable[..., Instance]
    points: Mapping[float, dict[str, Any]]
    methods: tuple[str, ...] = _FIVE
    measures: tuple[str, ...] = ("benefit", "rejections")
    exact: tuple[float, ...] = ()


def _horizons(shorter: float, *lengths: int, **others: Any) -> dict[float, dict[str, Any]]:
    """Return simulated times, without those too short for windows to lie side by side."""
    return {
        length: {"horizon": length / shorter, **others}
        for length in lengths
        if length / shorter > _AHEAD
    }


def _around(cpu: int) -> dict[str, Any]:
    """Return bounds of CPU around a mean: 7 points to both sides, as far as 70 % is not exceeded.

    With 7, no part fits beside another from a mean of 63 % on, where the thesis says so.
    """
    width = min(7, 70 - cpu)
    return {"least_cpu": cpu - width, "most_cpu": cpu + width}


def _scaled(duration: int, least: int, most: int) -> dict[str, Any]:
    """Return bounds of durations in the proportion of the defaults, around another mean."""
    middle = (least + most) / 2
    return {
        "least_duration": max(1, round(least * duration / middle)),
        "most_duration": round(most * duration / middle),
    }


def experiments(shorter: float) -> dict[str, Experiment]:
    """Return all experiments, those of chapter 4 over so much less simulated time."""
    day = 100_000 / shorter
    four: dict[str, Any] = {"family": min4, "methods": _FOUR, "measures": ("rejections",)}
    return {
        "4.3": Experiment(
            "simulated time of the thesis",
            points=_horizons(shorter, 10_000, 40_000, 80_000, 120_000),
            exact=(10_000,) if shorter < 10_000 / _AHEAD else (),
            **{**four, "measures": ("rejections", "benefit")},
        ),
        "4.4": Experiment(
            "machines",
            points={m: {"horizon": day, "machines": m} for m in (2, 5, 10, 15, 20)},
            **four,
        ),
        "4.5": Experiment(
            "mean duration",
            points={d: {"horizon": day, **_scaled(d, 20, 300)} for d in (30, 100, 160, 250, 350)},
            **four,
        ),
        "4.6": Experiment(
            "mean of requested CPU, %",
            points={
                c: {"horizon": day, **_around(c)} for c in (20, 25, 30, 35, 40, 45, 50, 56, 63)
            },
            **{**four, "measures": ("reserved",)},
        ),
        "4.7": Experiment(
            "simulated time of the thesis",
            points=_horizons(shorter, 10_000, 50_000, 100_000, lead=300),
            family=min4,
            methods=("RB", "RB by priority", "RSPB"),
            measures=("rejected-priority", "rejections"),
        ),
        "5.9": Experiment(
            "requests",
            min5,
            {n: {"requests": n} for n in (100, 300, 700, 1300, 1900)},
            exact=(100, 300),
        ),
        "5.10": Experiment(
            "machines", min5, {m: {"machines": m} for m in (4, 10, 20, 30, 40)}, exact=(4, 20, 40)
        ),
        "5.11": Experiment(
            "mean duration",
            min5,
            {d: _scaled(d, 20, 180) for d in (24, 60, 100, 130, 159)},
            exact=(24, 159),
        ),
        "5.12": Experiment(
            "share of floating requests",
            min5,
            {share: {"floating": share} for share in (0, 0.25, 0.5, 0.75, 1)},
            exact=(0, 1),
        ),
        "5.13": Experiment(
            "highest priority",
            min5,
            {top: {"most_priority": top} for top in (10, 40, 70, 100)},
            exact=(10,),
        ),
        "5.9, at once": Experiment(
            "mean time between requests",
            min5,
            {gap: {"mean_interval": gap} for gap in (0.5, 1, 2, 5, 10, 20)},
        ),
    }


@dataclass(frozen=True, slots=True)
class Job:
    """One instance, to be decided by some methods; its number in the experiment is the seed."""

    figure: str
    x: float
    family: Callable[..., Instance]
    parameters: dict[str, Any]
    methods: tuple[str, ...]
    seed: int
    seconds: float


def run(job: Job) -> list[Measured]:
    """Decide an instance by each method, and return what came of it."""
    instance = job.family(seed=job.seed, **job.parameters)
    return [_measured(job, label, instance) for label in job.methods]


def _measured(job: Job, label: str, instance: Instance) -> Measured:
    name, options = METHODS[label]
    limits = Limits(time_s=job.seconds) if label in EXACT else Limits()
    result = dlopt.solve(instance, method=name, objective="benefit", limits=limits, **options)
    values: dict[str, float] = {}
    if result.solution is None:
        values["benefit"] = _number(result.bound)
    else:
        for measure in ("benefit", "rejections", "rejected-priority"):
            values[measure] = _number(objective(instance, result.solution, measure))
        values["reserved"] = _reserved(instance, result.solution)
    return Measured(job.figure, job.x, label, job.seed, len(instance.requests), values)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _reserved(instance: Instance, plan: Solution) -> float:
    """Return the CPU that a part gets on average, nothing if it is rejected, in percent."""
    parts = sum(len(one.parts) for one in instance.requests)
    return float(sum(share.cpu for share in plan.shares)) / parts / QUARTERS


class Results:
    """What all instances gave."""

    def __init__(self, measured: list[Measured], chosen: Mapping[str, Experiment]) -> None:
        self.experiments = chosen
        self.found: dict[tuple[str, float, str], list[Measured]] = defaultdict(list)
        for one in measured:
            self.found[one.figure, one.x, one.label].append(one)

    def values(self, figure: str, x: float, label: str, measure: str) -> list[float]:
        """Return a measure of each seed; none where the method did not run."""
        return [one.values[measure] for one in self.found.get((figure, x, label), ())]

    def mean(self, figure: str, x: float, label: str, measure: str) -> float:
        """Return the mean of a measure over the seeds."""
        return mean(self.values(figure, x, label, measure))

    def series(self, figure: str, label: str, measure: str) -> list[float]:
        """Return the means over the abscissae of a figure."""
        return [self.mean(figure, x, label, measure) for x in self.xs(figure)]

    def xs(self, figure: str) -> list[float]:
        """Return the abscissae of a figure."""
        return list(self.experiments[figure].points)

    def curve(self, figure: str, label: str, measure: str) -> Curve:
        """Return a curve with standard errors."""
        spots = []
        for x in self.xs(figure):
            found = self.values(figure, x, label, measure)
            values = [value for value in found if not math.isnan(value)]
            if values:
                error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
                spots.append(Spot(x, mean(values), error))
        return Curve(label, tuple(spots))


def jobs(
    chosen: Mapping[str, Experiment], seeds: int, seconds: float, methods: tuple[str, ...]
) -> Iterator[Job]:
    """Yield all jobs."""
    for figure, it in chosen.items():
        for x, parameters in it.points.items():
            asked = it.methods + (methods if x in it.exact else ())
            for seed in range(seeds):
                yield Job(figure, x, it.family, parameters, asked, seed, seconds)


def optima(results: Results, methods: tuple[str, ...]) -> Iterator[str]:
    """Yield a Markdown table: benefit and rejections beside the exact optimum and the bound."""
    if not methods:
        return
    yield "| figure | at | method | benefit | of the bound | rejections |"
    yield "|---|---|---|---|---|---|"
    for figure, it in results.experiments.items():
        for x in it.exact:
            bound = results.mean(figure, x, "bound", "benefit") if "bound" in methods else None
            for label in (*it.methods, *methods):
                benefit = results.mean(figure, x, label, "benefit")
                share = "" if bound is None else f"{benefit / bound:.1%}"
                told = ""
                if label != "bound":
                    told = f"{results.mean(figure, x, label, 'rejections'):.1f}"
                yield f"| {figure} | {x:g} | {label} | {benefit:.4f} | {share} | {told} |"


def draw(results: Results, folder: Path, note: str, methods: tuple[str, ...]) -> None:
    """Draw the curves of every figure: one panel a measure."""
    for figure, it in results.experiments.items():
        panels: list[Panel] = []
        for measure in it.measures:
            labels = [*it.methods, *(methods if it.exact and measure == "benefit" else ())]
            curves = [results.curve(figure, label, measure) for label in labels]
            if measure == "reserved":
                ideal = tuple(Spot(x, x) for x in results.xs(figure))
                curves.append(Curve("requested", ideal))
            panels.append((_LABELS[measure], tuple(curve for curve in curves if curve.spots)))
        path = folder / f"fig-min-{figure.replace(', ', '-').replace(' ', '-')}.svg"
        plot_curves(panels, path, title=f"Min 2001, figure {figure}", note=note, axis=it.axis)


def quick(chosen: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """Return the experiments without the largest points; exact methods at the least only."""
    return {
        figure: replace(
            it,
            points={x: p for x, p in it.points.items() if p.get("requests", 0) <= 700},
            exact=tuple(x for x in it.exact[:1] if figure in ("4.3", "5.9")),
        )
        for figure, it in chosen.items()
    }


def main() -> int:
    """Run the experiments; print the claims and the optima as Markdown tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.coreservation", description=main.__doc__
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--shorter", type=float, default=1, help="divide chapter 4's simulated time by this"
    )
    parser.add_argument("--seconds", type=float, default=180, help="limit of each exact method")
    parser.add_argument(
        "--quick", action="store_true", help="2 seeds, fewer and shorter points, 30 seconds"
    )
    parser.add_argument("--only", metavar="FIGURE,...", help="such as 4.3,5.9")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--out", type=Path, default=_HERE / "figures", help="folder of the pictures"
    )
    wanted = parser.parse_args()
    chosen = experiments(max(10.0, wanted.shorter) if wanted.quick else wanted.shorter)
    if wanted.quick:
        chosen = quick(chosen)
        wanted.seeds, wanted.seconds = min(2, wanted.seeds), min(30.0, wanted.seconds)
    if wanted.only:
        chosen = {figure: chosen[figure] for figure in wanted.only.split(",")}
    known = {method.name for method in registry.methods("coreservation")}
    methods = tuple(label for label in EXACT if METHODS[label][0] in known)
    begun = time.perf_counter()
    with ProcessPoolExecutor(wanted.processes) as pool:
        listed = list(jobs(chosen, wanted.seeds, wanted.seconds, methods))
        results = Results([one for found in pool.map(run, listed) for one in found], chosen)
    draw(results, wanted.out, f"{wanted.seeds} seeds, bars: standard errors", methods)
    print("| figure | claim | ours |\n|---|---|---|")
    for claim in CLAIMS:
        if claim.figure in chosen:
            verdict = claim.test(results)
            print(f"| {claim.figure} | {claim.words} | **{verdict.word}**: {verdict.numbers} |")
    print()
    for line in optima(results, methods):
        print(line)
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
