"""Claims of Min 2001 about its figures, and their tests.

Methods are compared seed by seed, since all of them get the same requests (paired differences). A
claim is judged by the 95 % confidence interval: it is *open* where the interval does not decide it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import Protocol

from benchmarks.papers.claims import Verdict
from benchmarks.papers.intervals import EPSILON, between, counted, everywhere
from dlopt.simulation.replications import MeanEstimate, estimate


class Series(Protocol):
    """Results that a claim is held against."""

    def by_seed(self, figure: str, x: float, label: str, measure: str) -> Mapping[int, float]:
        """Return what a method gave at an abscissa of a figure, by seed."""
        ...

    def xs(self, figure: str) -> list[float]:
        """Return the abscissae of a figure."""
        ...


Test = Callable[[Series], Verdict]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, and a test of the results."""

    figure: str
    words: str
    test: Test


Pairs = Sequence[tuple[float, float]]


def pairs(
    results: Series,
    figure: str,
    x: float,
    one: str,
    other: str,
    measure: str,
    at: float | None = None,
) -> Pairs:
    """Return a measure of two methods by seed, of the second at `at` if that is given."""
    mine = results.by_seed(figure, x, one, measure)
    theirs = results.by_seed(figure, x if at is None else at, other, measure)
    return [(mine[seed], theirs[seed]) for seed in mine.keys() & theirs.keys()]


def difference(found: Pairs) -> MeanEstimate:
    """Return how far the first of each pair is above the second."""
    return estimate([a - b for a, b in found])


def quotient(found: Pairs) -> MeanEstimate:
    """Return the ratio of the means, its interval by what is left of each pair (linearised)."""
    below = mean(b for _, b in found)
    value = mean(a for a, _ in found) / below
    half = estimate([(a - value * b) / below for a, b in found]).half_width
    return MeanEstimate(value, half)


def formatted_estimate(one: MeanEstimate, digits: str = ".2f", half: str = ".1g") -> str:
    """Return a mean, and half of its interval, with one digit unless more are asked for."""
    if one.half_width is None:
        return f"{one.mean:{digits}}"
    return f"{one.mean:{digits}} ± {one.half_width:{half if one.half_width < 9.5 else '.0f'}}"


def ratio(
    figure: str, one: str, other: str, measure: str, most: float, least: float = 0.0
) -> Callable[[Series], Verdict]:
    """Return a test: one method's measure, by the other's, lies between two bounds everywhere."""

    def test(results: Series) -> Verdict:
        found = {x: pairs(results, figure, x, one, other, measure) for x in results.xs(figure)}
        ratios = {x: quotient(it) for x, it in found.items() if sum(b for _, b in it) > EPSILON}
        words = [between(it, least, most) for it in ratios.values()]
        where = ", ".join(f"{formatted_estimate(it)} at {x:g}" for x, it in ratios.items())
        return Verdict(everywhere(words), f"{counted(words)}; {one} by {other} {where}")

    return test


def more(
    figure: str, one: str, other: str, measure: str, by: float = 0.0
) -> Callable[[Series], Verdict]:
    """Return a test: one method's measure exceeds the other's by at least so much everywhere."""

    def test(results: Series) -> Verdict:
        found = {x: pairs(results, figure, x, one, other, measure) for x in results.xs(figure)}
        words = [between(difference(it), by) for it in found.values()]
        digits = "+.3f" if measure == "benefit" else "+.1f"
        where = ", ".join(
            f"{formatted_estimate(difference(it), digits)} at {x:g} ({mean(b for _, b in it):.3g})"
            for x, it in found.items()
        )
        text = f"{counted(words)}; {one} over {other} (in brackets) {where}"
        return Verdict(everywhere(words), text)

    return test


def trend(
    figure: str, labels: tuple[str, ...], measure: str, sign: int
) -> Callable[[Series], Verdict]:
    """Return a test: a measure of each method rises (1) or falls (-1) along the abscissa."""

    def test(results: Series) -> Verdict:
        xs = results.xs(figure)
        words, where = [], []
        for label in labels:
            for first, then in pairwise(xs):
                step = difference(pairs(results, figure, then, label, label, measure, at=first))
                words.append(between(MeanEstimate(sign * step.mean, step.half_width), 0))
            ends = [_mean(results, figure, x, label, measure) for x in (xs[0], xs[-1])]
            rise = difference(pairs(results, figure, xs[-1], label, label, measure, at=xs[0]))
            where.append(
                f"{label} {ends[0]:.3g} to {ends[1]:.3g} ({formatted_estimate(rise, '+.3g')})"
            )
        return Verdict(everywhere(words), f"{counted(words, 'steps')}; {', '.join(where)}")

    return test


def flat(
    figure: str, labels: tuple[str, ...], measure: str, within: float
) -> Callable[[Series], Verdict]:
    """Return a test: a measure of each method moves by no more than a part of its mean."""

    def test(results: Series) -> Verdict:
        words, where = [], []
        for label in labels:
            values = {x: _mean(results, figure, x, label, measure) for x in results.xs(figure)}
            most, least = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
            spread = difference(pairs(results, figure, most, label, label, measure, at=least))
            whole = mean(values.values())
            share = _times(spread, 1 / whole)
            words.append(between(share, most=within))
            where.append(f"{label} by {formatted_estimate(_times(share, 100), '.1f')} %")
        return Verdict(everywhere(words), "; ".join(where))

    return test


def _times(one: MeanEstimate, factor: float) -> MeanEstimate:
    half = one.half_width
    return MeanEstimate(factor * one.mean, None if half is None else factor * half)


def _mean(results: Series, figure: str, x: float, label: str, measure: str) -> float:
    return mean(results.by_seed(figure, x, label, measure).values())


def _equal_below(results: Series) -> Verdict:
    """Judge whether all get what they ask for where that is less than 25 %."""
    words, where = [], []
    for label in ("RB", "RSPB"):
        for x in (x for x in results.xs("4.6") if x < 25):
            values = results.by_seed("4.6", x, label, "reserved").values()
            words.append(between(estimate([value - x for value in values]), -0.5, 0.5))
            where.append(f"{label} {formatted_estimate(estimate(list(values)))} of {x:g}")
    return Verdict(everywhere(words), "; ".join(where))


def _gaps(results: Series) -> dict[float, dict[int, float]]:
    """Return by abscissa and seed how much more RSPB reserves than RB."""
    found = {}
    for x in results.xs("4.6"):
        soft, hard = (results.by_seed("4.6", x, one, "reserved") for one in ("RSPB", "RB"))
        found[x] = {seed: soft[seed] - hard[seed] for seed in soft.keys() & hard.keys()}
    return found


def _widest(results: Series) -> Verdict:
    """Judge whether the gap at 50 % is wider than every other.

    It is not if any other is surely wider, and that is open unless all others are surely narrower.
    """
    gaps = _gaps(results)
    if 50 not in gaps:
        return Verdict("open", "50 % was not simulated")
    means = {x: estimate(list(gap.values())) for x, gap in gaps.items()}
    above = {
        x: estimate([gap[seed] - gaps[50][seed] for seed in gap.keys() & gaps[50].keys()])
        for x, gap in gaps.items()
        if x != 50
    }
    words = {x: between(it, most=0) for x, it in above.items()}
    word = "does not" if "does not" in words.values() else everywhere(list(words.values()))
    widest = max(above, key=lambda x: above[x].mean)
    gain = formatted_estimate(above[widest], "+.2f", ".2g")
    text = f"widest but for 50 at {widest:g}, {gain} from 50 %"
    for what, name in (("does not", "surely wider"), ("open", "open")):
        there = ", ".join(f"{x:g}" for x, it in words.items() if it == what)
        text += f", {name} at {there}" if there else ""
    where = ", ".join(f"{formatted_estimate(gap)} at {x:g}" for x, gap in means.items())
    return Verdict(word, f"{text}: {where}")


def _none_above(results: Series) -> Verdict:
    """Judge whether there is no gap at the last point, 63 %."""
    x, gaps = list(_gaps(results).items())[-1]
    gap = estimate(list(gaps.values()))
    return Verdict(between(gap, -0.5, 0.5), f"{formatted_estimate(gap)} points at {x:g}")


def _ordering(results: Series) -> Verdict:
    """Judge whether the order by priority is why fewer priorities are rejected."""
    names = ("RB", "RB by priority", "RSPB")
    summed: dict[str, dict[int, float]] = {}
    for label in names:
        by_x = [results.by_seed("4.7", x, label, "rejected-priority") for x in results.xs("4.7")]
        seeds = set[int].intersection(*(set(found) for found in by_x))
        summed[label] = {seed: sum(found[seed] for found in by_x) for seed in seeds}
    plain, ordered, soft = (summed[label] for label in names)
    share = quotient([(plain[k] - ordered[k], plain[k] - soft[k]) for k in plain])
    where = ", ".join(f"{label} {mean(summed[label].values()):.0f}" for label in names)
    shown = formatted_estimate(_times(share, 100), ".1f")
    return Verdict(
        between(share, 0.5), f"the order alone brings {shown} % of the difference; {where}"
    )


def _scarce(results: Series) -> Verdict:
    """Judge whether refining makes no difference where there are fewest machines."""
    x = results.xs("5.10")[0]
    found = quotient(pairs(results, "5.10", x, "Co-RSBFR", "Co-RSBF", "benefit"))
    return Verdict(
        between(found, 0.95, 1.05), f"{formatted_estimate(found)} times as much with {x:g} machines"
    )


_FIVE = ("Co-RSPB", "Co-RSBF", "Co-RSBFR")
_TRIPLE = ("5.9", "5.10", "5.11")

CLAIMS = (
    *(
        Claim(
            figure,
            "RSPB rejects considerably less than RB (by a quarter)",
            ratio(figure, "RSPB", "RB", "rejections", most=0.75),
        )
        for figure in ("4.3", "4.4", "4.5")
    ),
    Claim("4.6", "below 25 % requested, all get what they ask for (.5 points)", _equal_below),
    Claim("4.6", "the gain of RSPB on RB is widest at 50 %", _widest),
    Claim("4.6", "no gain from 63 % on (.5 points)", _none_above),
    Claim(
        "4.7",
        "RSPB rejects a smaller sum of priorities than RB",
        ratio("4.7", "RSPB", "RB", "rejected-priority", most=1),
    ),
    Claim("4.7", "that is due to the order by priority (half of it)", _ordering),
    *(
        Claim(
            figure,
            f"the benefit of Co-RSPB is considerably above that of {other} (.05)",
            more(figure, "Co-RSPB", other, "benefit", by=0.05),
        )
        for figure in _TRIPLE
        for other in ("Co-RSBF", "Co-RSBFR")
    ),
    *(
        Claim(
            figure,
            "Co-RSBF rejects least",
            more(figure, "Co-RSPB", "Co-RSBF", "rejections"),
        )
        for figure in _TRIPLE
    ),
    *(
        Claim(
            figure,
            "Co-RSPB rejects about 10 % more than Co-RSBF (5 to 20)",
            ratio(figure, "Co-RSPB", "Co-RSBF", "rejections", least=1.05, most=1.2),
        )
        for figure in _TRIPLE
    ),
    *(
        Claim(
            figure,
            "Co-RSBFR rejects much more than Co-RSPB (a tenth)",
            ratio(figure, "Co-RSBFR", "Co-RSPB", "rejections", least=1.1, most=1e9),
        )
        for figure in _TRIPLE
    ),
    *(
        Claim(
            figure,
            "Co-RSBFR rejects much more than Co-RSBF (a tenth)",
            ratio(figure, "Co-RSBFR", "Co-RSBF", "rejections", least=1.1, most=1e9),
        )
        for figure in _TRIPLE
    ),
    Claim(
        "5.10",
        "the benefit of Co-RSBFR is considerably above that of Co-RSBF (.05)",
        more("5.10", "Co-RSBFR", "Co-RSBF", "benefit", by=0.05),
    ),
    Claim("5.10", "where machines are fewest it is very close to it (5 %)", _scarce),
    Claim(
        "5.12",
        "the more requests float, the greater the benefit",
        trend("5.12", _FIVE, "benefit", 1),
    ),
    Claim(
        "5.12",
        "the more requests float, the fewer rejections",
        trend("5.12", _FIVE, "rejections", -1),
    ),
    Claim(
        "5.13",
        "the scope of priorities leaves the benefit as it is (5 %)",
        flat("5.13", _FIVE, "benefit", 0.05),
    ),
    Claim(
        "5.13",
        "the scope of priorities leaves the rejections as they are (5 %)",
        flat("5.13", _FIVE, "rejections", 0.05),
    ),
    Claim(
        "5.9 at once",
        "Co-RSPB has more benefit than Co-RSBFR (not of the thesis: larger batches)",
        more("5.9 at once", "Co-RSPB", "Co-RSBFR", "benefit"),
    ),
)
