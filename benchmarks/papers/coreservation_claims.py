"""What Min 2001 says of its figures, and whether simulations say so too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from benchmarks.papers.claims import EPSILON, Verdict


@dataclass(frozen=True, slots=True)
class Measured:
    """What one method made of one instance."""

    figure: str
    x: float
    label: str
    seed: int
    requests: int
    values: Mapping[str, float]


class Series(Protocol):
    """Results that a claim is held against."""

    def series(self, figure: str, label: str, measure: str) -> list[float]:
        """Return the means over the abscissae of a figure."""
        ...

    def xs(self, figure: str) -> list[float]:
        """Return the abscissae of a figure."""
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, and a test of the results."""

    figure: str
    words: str
    test: Callable[[Series], Verdict]


def _word(good: list[bool]) -> str:
    return "holds" if all(good) else "only" if any(good) else "does not"


def _points(good: list[bool]) -> str:
    return f"{sum(good)} of {len(good)} points"


def ratio(
    figure: str, one: str, other: str, measure: str, most: float, least: float = 0.0
) -> Callable[[Series], Verdict]:
    """Return a test: one method's measure, by the other's, lies between two bounds everywhere."""

    def test(results: Series) -> Verdict:
        pairs = zip(
            results.series(figure, one, measure),
            results.series(figure, other, measure),
            strict=True,
        )
        ratios = [
            (x, a / b) for x, (a, b) in zip(results.xs(figure), pairs, strict=True) if b > EPSILON
        ]
        good = [least <= value <= most for _, value in ratios]
        told = ", ".join(f"{value:.2f} at {x:g}" for x, value in ratios)
        return Verdict(_word(good), f"{_points(good)}; {one} by {other} {told}")

    return test


def more(
    figure: str, one: str, other: str, measure: str, by: float = 0.0
) -> Callable[[Series], Verdict]:
    """Return a test: one method's measure exceeds the other's by so much everywhere."""

    def test(results: Series) -> Verdict:
        mine, theirs = (results.series(figure, label, measure) for label in (one, other))
        gaps = [a - b for a, b in zip(mine, theirs, strict=True)]
        good = [gap > by for gap in gaps]
        told = ", ".join(
            f"{a:.3g} and {b:.3g} at {x:g}"
            for x, a, b in zip(results.xs(figure), mine, theirs, strict=True)
        )
        return Verdict(_word(good), f"{_points(good)}; {told}")

    return test


def trend(
    figure: str, labels: tuple[str, ...], measure: str, sign: int
) -> Callable[[Series], Verdict]:
    """Return a test: a measure of each method rises (1) or falls (-1) along the abscissa."""

    def test(results: Series) -> Verdict:
        good, told = [], []
        for label in labels:
            values = results.series(figure, label, measure)
            good += [sign * (b - a) >= 0 for a, b in pairwise(values)]
            told.append(f"{label} {values[0]:.3g} to {values[-1]:.3g}")
        return Verdict(_word(good), f"{sum(good)} of {len(good)} steps; {', '.join(told)}")

    return test


def flat(
    figure: str, labels: tuple[str, ...], measure: str, within: float
) -> Callable[[Series], Verdict]:
    """Return a test: a measure of each method moves by no more than a part of its mean."""

    def test(results: Series) -> Verdict:
        good, told = [], []
        for label in labels:
            values = results.series(figure, label, measure)
            spread = (max(values) - min(values)) / (sum(values) / len(values))
            good.append(spread <= within)
            told.append(f"{label} by {spread:.1%}")
        return Verdict(_word(good), "; ".join(told))

    return test


def _equal_below(results: Series) -> Verdict:
    xs = [x for x in results.xs("4.6") if x < 25]
    good, told = [], []
    for label in ("RB", "RSPB"):
        for x, value in zip(xs, results.series("4.6", label, "reserved"), strict=False):
            good.append(abs(value - x) <= 0.5)
            told.append(f"{label} {value:.2f} of {x:g}")
    return Verdict(_word(good), "; ".join(told))


def _gaps(results: Series) -> list[tuple[float, float]]:
    pairs = zip(
        results.series("4.6", "RSPB", "reserved"),
        results.series("4.6", "RB", "reserved"),
        strict=True,
    )
    return [(x, a - b) for x, (a, b) in zip(results.xs("4.6"), pairs, strict=True)]


def _widest(results: Series) -> Verdict:
    gaps = _gaps(results)
    widest, _ = max(gaps, key=lambda pair: pair[1])
    told = ", ".join(f"{gap:.2f} at {x:g}" for x, gap in gaps)
    return Verdict("holds" if widest == 50 else "does not", f"widest at {widest:g}: {told}")


def _none_above(results: Series) -> Verdict:
    x, gap = _gaps(results)[-1]
    return Verdict("holds" if abs(gap) <= 0.5 else "does not", f"{gap:.2f} points at {x:g}")


def _ordering(results: Series) -> Verdict:
    """Judge whether the order by priority is why fewer priorities are rejected."""
    plain, ordered, soft = (
        sum(results.series("4.7", label, "rejected-priority"))
        for label in ("RB", "RB by priority", "RSPB")
    )
    share = (plain - ordered) / (plain - soft)
    told = f"RB {plain:.0f}, RB by priority {ordered:.0f}, RSPB {soft:.0f}"
    return Verdict(
        "holds" if share >= 0.5 else "does not",
        f"the order alone brings {share:.0%} of the difference; {told}",
    )


def _scarce(results: Series) -> Verdict:
    """Judge whether refining makes no difference where there are fewest machines."""
    x = results.xs("5.10")[0]
    refined, plain = (
        results.series("5.10", label, "benefit")[0] for label in ("Co-RSBFR", "Co-RSBF")
    )
    word = "holds" if refined <= 1.05 * plain else "does not"
    return Verdict(word, f"{refined:.3f} and {plain:.3f} with {x:g} machines")


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
            more(figure, "Co-RSPB", "Co-RSBF", "rejections", by=-EPSILON),
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
        "5.9, at once",
        "Co-RSPB has more benefit than Co-RSBFR (not of the thesis: larger batches)",
        more("5.9, at once", "Co-RSPB", "Co-RSBFR", "benefit"),
    ),
)
