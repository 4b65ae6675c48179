"""Runs for Mamat's figures 5.13 to 5.18: decisions, bounds, and averages by point."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import product

from benchmarks.papers.fluid import fluid_bound
from dlopt.generation.multistage import mamat5
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.plotting.line_charts import Curve, DataPoint
from dlopt.problems.multistage import Instance, objective
from dlopt.simulation.process_pool import imap_unordered
from dlopt.simulation.replications import MeanEstimate, estimate

LOADS = tuple(number / 10 for number in range(1, 11))
SHARES = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)
ADVANCES = (0.0, 1.0, 2.0, 10.0)
_MEASURES = ("reject-ratio", "utilization")
FIGURES = ("5.13", "5.14", "5.15", "5.16", "5.17", "5.18")

Point = tuple[float, float, float]
"""Share of reservations, advance in mean intervals, system load."""

BY_ADVANCE = {"5.17": 0.3, "5.18": 0.5}
"""Shares of reservations in the figures whose curves differ by when these are asked for."""
EXTREMES = (SHARES[0], SHARES[-1])
"""Shares that bounds are drawn for."""


VARIANTS = {"repaired": "multi-stage", "as printed": "multi-stage:literal"}
"""The methods, by what they are called."""
OTHERS = {
    "a load loses its sign": (("loads", "absolute"),),
    "an early deadline is raised": (("deadlines", "raise"),),
}
"""Other choices than ours where the chapter leaves something open: ours draw such numbers again."""
LEFT_OPEN = "loads below 0, deadlines that nobody meets"


@dataclass(frozen=True, slots=True)
class Stream:
    """Tasks and reservations of one seed, and the algorithm that decides on them."""

    point: Point
    seed: int
    horizon: float
    method: str = VARIANTS["repaired"]
    choices: tuple[tuple[str, str], ...] = ()

    def drawn(self) -> Instance:
        """Return its instance."""
        share, advance, load = self.point
        return mamat5(
            system_load=load,
            fraction=share,
            advance=advance,
            horizon=self.horizon,
            seed=self.seed,
            **dict(self.choices),
        )

    def measured(self) -> tuple[Stream, tuple[float, ...]]:
        """Return the stream, and the measures of its plan."""
        instance = self.drawn()
        plan = decide_all(self.method, instance).plan()
        return self, tuple(float(objective(instance, plan, name)) for name in _MEASURES)

    def bounded(self) -> tuple[Stream, float]:
        """Return the stream, and a reject ratio that no plan is below."""
        return self, fluid_bound(self.drawn(), "reject-ratio", 0.0)


class Results:
    """Results of all streams for some figures."""

    def __init__(
        self,
        figures: Collection[str],
        seeds: int,
        horizon: float,
        processes: int,
        proofs: int = 0,
        method: str = VARIANTS["repaired"],
        choices: tuple[tuple[str, str], ...] = (),
    ) -> None:
        points = sorted({point for figure in figures for point in needed(figure)})
        bounded = sorted({point for figure in figures for point in bounded_points(figure)})
        streams = [
            Stream(point, seed, horizon, method, choices)
            for point in points
            for seed in range(seeds)
        ]
        proven = [Stream(point, seed, horizon) for point in bounded for seed in range(proofs)]
        values = dict(imap_unordered(Stream.measured, streams, processes))
        bounds = dict(imap_unordered(Stream.bounded, proven, processes)) if proven else {}
        self.found: dict[Point, list[tuple[float, ...]]] = {point: [] for point in points}
        self.bounds: dict[Point, list[float]] = {point: [] for point in bounded}
        for stream in streams:  # seed by seed
            self.found[stream.point].append(values[stream])
        for stream in proven:
            self.bounds[stream.point].append(bounds[stream])

    def first(self, seeds: int) -> Results:
        """Return what the first seeds gave."""
        few = copy(self)
        few.found = {point: values[:seeds] for point, values in self.found.items()}
        return few

    def spread(self, share: float, advance: float, measure: int = 0) -> MeanEstimate:
        """Return the mean over loads and seeds, in percent, with its confidence interval."""
        by_load = [[one[measure] for one in self.found[share, advance, load]] for load in LOADS]
        return over_seeds(by_load)

    def difference(
        self, share: float, other: float, advance: float, measure: int = 0
    ) -> MeanEstimate:
        """Return by how many points one share is above another, in the mean over the loads."""
        return over_seeds(
            [
                [a[measure] - b[measure] for a, b in zip(*pair, strict=True)]
                for load in LOADS
                for pair in [(self.found[share, advance, load], self.found[other, advance, load])]
            ]
        )

    def curve(self, label: str, share: float, advance: float, measure: int) -> Curve:
        """Return the curve over the loads, with confidence intervals."""
        spots = []
        for load in LOADS:
            values = [one[measure] for one in self.found[share, advance, load]]
            spots.append(DataPoint(load, *estimate(values)))
        return Curve(label, tuple(spots))

    def bound(self, label: str, share: float) -> list[Curve]:
        """Return what no plan rejects less than, as a curve; none if it is unknown."""
        found = {load: self.bounds.get((share, 0.0, load)) for load in LOADS}
        spots = tuple(DataPoint(load, *estimate(ones)) for load, ones in found.items() if ones)
        return [Curve(label, spots)] if spots else []

    def gaps(
        self, share: float, other: float, advance: float, measure: int = 0
    ) -> list[MeanEstimate]:
        """Return by how many points one share is above another, load by load."""
        return [
            self._gap((share, advance, load), (other, advance, load), measure) for load in LOADS
        ]

    def gained(self, share: float, late: float, early: float) -> list[MeanEstimate]:
        """Return by how many points less is rejected if reservations are asked for earlier."""
        return [self._gap((share, late, load), (share, early, load)) for load in LOADS]

    def _gap(self, one: Point, other: Point, measure: int = 0) -> MeanEstimate:
        pairs = zip(self.found[one], self.found[other], strict=True)
        return estimate([100 * (mine[measure] - theirs[measure]) for mine, theirs in pairs])


def needed(figure: str) -> Iterator[Point]:
    """Yield the points of a figure."""
    if figure in BY_ADVANCE:
        yield from product((BY_ADVANCE[figure],), ADVANCES, LOADS)
    else:
        yield from product(SHARES, (0.0 if figure in ("5.13", "5.14") else 1.0,), LOADS)


def bounded_points(figure: str) -> Iterator[Point]:
    """Yield streams that bounds of a figure are of: when reservations are asked for, none sees."""
    shares = (BY_ADVANCE[figure],) if figure in BY_ADVANCE else EXTREMES
    yield from product(shares, (0.0,), LOADS)


def over_seeds(by_load: Sequence[Sequence[float]]) -> MeanEstimate:
    """Return the mean over loads and seeds, in percent; the seeds are what varies."""
    return estimate([100 * sum(values) / len(by_load) for values in zip(*by_load, strict=True)])
