"""Draw the figures of Mamat 2011, chapter 5, again, and hold its claims against them.

``python -m benchmarks.papers.multistage --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from statistics import mean

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import Verdict, otherwise
from benchmarks.papers.figure_files import picture
from benchmarks.papers.fluid import fluid_bound
from dlopt.generation.multistage import mamat5
from dlopt.heuristics.multistage.methods import decided
from dlopt.plotting.line_charts import Curve, Panel, Spot
from dlopt.problems.multistage import Instance, objective
from dlopt.simulation.parallel import spread
from dlopt.simulation.replications import Estimate, estimate

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


@dataclass(frozen=True, slots=True)
class Stream:
    """Tasks and reservations of one seed, and who decides them."""

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
        plan = decided(self.method, instance).plan()
        return self, tuple(float(objective(instance, plan, name)) for name in _MEASURES)

    def bounded(self) -> tuple[Stream, float]:
        """Return the stream, and a reject ratio that no plan is below."""
        return self, fluid_bound(self.drawn(), "reject-ratio", 0.0)


class Results:
    """What all streams gave that some figures need."""

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
        values = dict(spread(Stream.measured, streams, processes))
        bounds = dict(spread(Stream.bounded, proven, processes)) if proven else {}
        self.found: dict[Point, list[tuple[float, ...]]] = {point: [] for point in points}
        self.bounds: dict[Point, list[float]] = {point: [] for point in bounded}
        for stream in streams:  # seed by seed
            self.found[stream.point].append(values[stream])
        for stream in proven:
            self.bounds[stream.point].append(bounds[stream])

    def mean(self, share: float, advance: float, load: float, measure: int = 0) -> float:
        """Return the mean of a measure over the seeds."""
        return mean(values[measure] for values in self.found[share, advance, load])

    def spread(self, share: float, advance: float, measure: int = 0) -> Estimate:
        """Return the mean over loads and seeds, in percent, with its confidence interval."""
        by_load = [[one[measure] for one in self.found[share, advance, load]] for load in LOADS]
        return over_seeds(by_load)

    def difference(self, share: float, other: float, advance: float, measure: int = 0) -> Estimate:
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
            spots.append(Spot(load, *estimate(values)))
        return Curve(label, tuple(spots))

    def bound(self, label: str, share: float) -> list[Curve]:
        """Return what no plan rejects less than, as a curve; none if it is unknown."""
        found = {load: self.bounds.get((share, 0.0, load)) for load in LOADS}
        spots = tuple(Spot(load, *estimate(ones)) for load, ones in found.items() if ones)
        return [Curve(label, spots)] if spots else []

    def gaps(self, share: float, other: float, advance: float, measure: int = 0) -> list[float]:
        """Return by how many points one share is above another, load by load."""
        return [
            100 * (self.mean(share, advance, x, measure) - self.mean(other, advance, x, measure))
            for x in LOADS
        ]


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


def over_seeds(by_load: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean over loads and seeds, in percent; the seeds are what varies."""
    return estimate([100 * sum(values) / len(by_load) for values in zip(*by_load, strict=True)])


def told(spread: Estimate) -> str:
    """Return a mean with half its confidence interval, if there is one."""
    width = spread.half_width
    return f"{spread.mean:.1f}" + ("" if width is None else f" ± {width:.1f}")


def claims(results: Results, figures: Collection[str]) -> Iterator[tuple[str, str, Verdict]]:
    """Yield figure, claim and verdict of each claim of some figures."""
    by_figure = {
        "5.13": lambda: _at_once(results, "5.13"),
        "5.14": lambda: _at_once(results, "5.14"),
        "5.15": lambda: _one_before(results, "5.15"),
        "5.16": lambda: _one_before(results, "5.16"),
        "5.17": lambda: _earlier(results, "5.17"),
        "5.18": lambda: _earlier(results, "5.18"),
    }
    for figure, rows in by_figure.items():
        if figure in figures:
            yield from rows()


def _at_once(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    measure, sign, words = {
        "5.13": (0, 1, "asked for at once (advance 0): the more is reserved, the more is rejected"),
        "5.14": (1, -1, "advance 0: the more is reserved, the less the cluster is used"),
    }[figure]
    steps = [
        sign * gap
        for fewer, more in pairwise(SHARES)
        for gap in results.gaps(more, fewer, 0.0, measure)
    ]
    good = sum(step >= 0 for step in steps)
    whole = told(results.difference(1.0, 0.0, 0.0, measure))
    text = f"all reserved is {whole} points from nothing reserved"
    yield figure, words, _word(good, len(steps), text)


def _one_before(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    measure = int(figure == "5.16")
    close = [
        abs(gap) for share in (0.1, 0.3, 0.5) for gap in results.gaps(share, 0.0, 1.0, measure)
    ]
    half = told(results.difference(0.5, 0.0, 1.0, measure))
    text = f"largest difference {max(close):.1f} points; 50 % from none {half} in the mean"
    words = "0 to 50 % reserved use the cluster about as much (3 points)"
    if measure == 0:
        words = "asked for one interval before: 0 to 50 % reserved reject about the same (3 points)"
    yield figure, words, _word(sum(x <= 3 for x in close), len(close), text)
    if measure == 0:
        far = [gap for share in (0.8, 1.0) for gap in results.gaps(share, 0.5, 1.0)]
        means = " and ".join(told(results.difference(share, 0.5, 1.0)) for share in (0.8, 1.0))
        text = f"{min(far):.1f} to {max(far):.1f} points more than with 50 %; in the mean {means}"
        words = "80 and 100 % reject much more (5 points)"
        yield figure, words, _word(sum(x >= 5 for x in far), len(far), text)


def _earlier(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    share = BY_ADVANCE[figure]
    by_advance = [
        [100 * results.mean(share, advance, load) for load in LOADS] for advance in ADVANCES
    ]
    falls = [a - b for one, two in pairwise(by_advance[:3]) for a, b in zip(one, two, strict=True)]
    trail = ", ".join(
        f"{advance:g}: {told(results.spread(share, advance))} %" for advance in ADVANCES
    )
    words = f"{share:.0%} reserved: asking earlier, up to two intervals, rejects less"
    text = f"mean by advance {trail}"
    yield figure, words, _word(sum(x >= 0 for x in falls), len(falls), text)
    flat = [abs(a - b) for a, b in zip(*by_advance[2:], strict=True)]
    words = f"{share:.0%} reserved: beyond two intervals it makes no difference (2 points)"
    text = f"largest difference {max(flat):.1f} points"
    yield figure, words, _word(sum(x <= 2 for x in flat), len(flat), text)


def _word(good: int, all_of_them: int, text: str) -> Verdict:
    word = "holds" if good == all_of_them else "only" if good else "does not"
    return Verdict(word, f"{good} of {all_of_them} points; {text}")


def before(advance: float) -> str:
    """Return in words how long before its start a reservation is asked for."""
    return f"{advance:g} interval{'s' * (advance != 1)} before" if advance else "at once"


def draw(results: Results, figures: Collection[str], folder: Path, note: str) -> None:
    """Draw the curves of some figures; two that belong together are one picture."""
    for pair, advance in ((FIGURES[:2], 0.0), (FIGURES[2:4], 1.0)):
        if not set(pair) & set(figures):
            continue
        panels: list[Panel] = [
            (name, tuple(results.curve(f"{s:.0%} reserved", s, advance, m) for s in SHARES))
            for m, name in enumerate(("reject ratio", "utilization"))
        ]
        bounds = [results.bound(f"bound, {share:.0%} reserved", share) for share in EXTREMES]
        panels[0] = (panels[0][0], (*panels[0][1], *(curve for ones in bounds for curve in ones)))
        title = f"Mamat 2011, figures {'-'.join(pair)}: asked for {before(advance)}"
        path = folder / f"fig-{'-'.join(pair)}.svg"
        picture(panels, path, title=title, note=note, axis="system load")
    shares = [share for figure, share in BY_ADVANCE.items() if figure in figures]
    if shares:
        panels = [
            (
                f"reject ratio, {share:.0%} reserved",
                (
                    *(results.curve(before(a), share, a, 0) for a in ADVANCES),
                    *results.bound("bound on all plans", share),
                ),
            )
            for share in shares
        ]
        title = "Mamat 2011, figures 5.17 and 5.18: when reservations are asked for"
        path = folder / "fig-5.17-5.18.svg"
        picture(panels, path, title=title, note=note, axis="system load")


def table(
    found: Mapping[str, Results],
    elsewhere: Mapping[str, Mapping[str, Results]],
    figures: Collection[str],
) -> Iterator[str]:
    """Yield the claims as a Markdown table: results by variant, and by what is chosen otherwise."""
    heads = ("figure", "claim", *found, *(f"{variant}: otherwise" for variant in found))
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    mine = {variant: list(claims(results, figures)) for variant, results in found.items()}
    others = {
        (variant, choice): list(claims(results, figures))
        for variant, by_choice in elsewhere.items()
        for choice, results in by_choice.items()
    }
    for at, (figure, words, _) in enumerate(next(iter(mine.values()))):
        verdicts = {variant: rows[at][2] for variant, rows in mine.items()}
        cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts.values()]
        for variant, verdict in verdicts.items():
            there = {name: others[variant, name][at][2].word for name in elsewhere[variant]}
            cells.append(otherwise(verdict.word, there))
        yield f"| {' | '.join((figure, words, *cells))} |"


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = cli_arguments.parser("multistage", main.__doc__, FIGURES)
    parser.add_argument("--shorter", type=float, help="divide the paper's simulated time by this")
    parser.add_argument(
        "--proofs", type=int, help="seeds with bounds on all plans: 1, --quick none"
    )
    wanted = parser.parse_args()
    proofs = int(cli_arguments.size(wanted, 0, 1, 1)) if wanted.proofs is None else wanted.proofs
    figures = wanted.only or FIGURES
    seeds = wanted.seeds or int(cli_arguments.size(wanted, 3, 5, 10))
    horizon = 10_000_000 / (wanted.shorter or cli_arguments.size(wanted, 10, 5, 1))
    begun = time.perf_counter()
    sizes = (figures, seeds, horizon, wanted.processes)
    results = Results(*sizes, proofs)
    wanted.out.mkdir(parents=True, exist_ok=True)
    note = f"{seeds} seeds, time 0 to {horizon:g}, bars: 95 % confidence"
    if proofs:
        note += f"; bounds on all plans: {proofs} of them"
    draw(results, figures, wanted.out, note)
    found = {"repaired": results, "as printed": Results(*sizes, method=VARIANTS["as printed"])}
    chosen = {} if wanted.quick else OTHERS
    elsewhere = {
        variant: {
            choice: Results(*sizes, method=method, choices=choices)
            for choice, choices in chosen.items()
        }
        for variant, method in VARIANTS.items()
    }
    print("\n".join(table(found, elsewhere, figures)))
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
