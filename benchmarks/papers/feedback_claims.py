"""Claims of Mamat 2011, chapter 7, about its figures 7.2 to 7.5, and their tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.papers.claims import Verdict
from dlopt.simulation.feedback import ExperimentSetting, FeedbackRun, StrategyComparison
from dlopt.simulation.replications import MeanEstimate, estimate

GROWING = ExperimentSetting()
"""The experiment of figures 7.2 to 7.4: a growing load."""
WITHIN = 0.015
"""So far from the set point a miss ratio may be to be held."""
PIECES = 12
"""Intervals of the curves over time."""
LIGHT = (0, 1 / 3)
"""Part of the time with a light load."""
HEAVY = (2 / 3, 1)
"""Part of the time with a heavy load."""
END = (0.9, 1)
"""The last tenth of the time."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a reading gave: under a growing load, and with nodes that fail."""

    growing: StrategyComparison
    failing: StrategyComparison

    def mean(self, strategy: str, measure: str, part: tuple[float, float]) -> float:
        """Return the mean of a measure over the seeds, in a part of the time, as the load grows."""
        return self.spread(strategy, measure, part).mean

    def spread(self, strategy: str, measure: str, part: tuple[float, float]) -> MeanEstimate:
        """Return that mean with its confidence interval."""
        return measured_mean(self.growing.runs[strategy], measure, part)

    def formatted(self, strategy: str, measure: str, part: tuple[float, float]) -> str:
        """Return that mean as text."""
        return formatted_estimate(self.spread(strategy, measure, part))

    def after(self, strategy: str, part: tuple[float, float]) -> MeanEstimate:
        """Return the mean miss ratio in a part of the time, where nodes fail at 0.5."""
        return measured_mean(self.failing.runs[strategy], "miss_ratio", part)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, and a test of the results."""

    figure: str
    words: str
    test: Callable[[Results], Verdict]


def measured_mean(
    runs: Sequence[FeedbackRun], measure: str, part: tuple[float, float]
) -> MeanEstimate:
    """Return the mean of a measure over the seeds, in a part of the time."""
    values = [getattr(run.between(*part), measure) for run in runs]
    return estimate([value for value in values if value is not None])


def formatted_estimate(spread: MeanEstimate) -> str:
    """Return a share in percent, with half its confidence interval if there is one."""
    if spread.half_width is None:
        return f"{spread.mean:.1%}"
    return f"{100 * spread.mean:.1f} ± {100 * spread.half_width:.1f} %"


def _load(piece: tuple[float, float]) -> float:
    middle = (piece[0] + piece[1]) / 2
    return GROWING.load_from + (GROWING.load_to - GROWING.load_from) * middle


def rises(results: Results) -> Verdict:
    """Tell whether misses grow with the load from tenth to tenth."""
    path = [results.mean("no-feedback", "miss_ratio", (k / 10, (k + 1) / 10)) for k in range(10)]
    steps = sum(later > earlier for earlier, later in pairwise(path))
    word = "holds" if steps >= 8 and path[-1] > path[0] else "does not"
    first, last = (results.formatted("no-feedback", "miss_ratio", part) for part in ((0, 0.1), END))
    return Verdict(word, f"{first} to {last}, {steps} of 9 steps upward")


def about(
    strategy: str, measure: str, wanted: float, within: float
) -> Callable[[Results], Verdict]:
    """Return a test: in the last tenth, a measure is about what the paper says."""

    def test(results: Results) -> Verdict:
        found = results.spread(strategy, measure, END)
        word = "holds" if abs(found.mean - wanted) <= within else "does not"
        return Verdict(word, formatted_estimate(found))

    return test


def held(results: Results) -> Verdict:
    """Tell whether the miss ratio stays at its set point."""
    tenths = [(k / 10, (k + 1) / 10) for k in range(2, 10)]
    path = [results.spread("feedback", "miss_ratio", tenth) for tenth in tenths]
    worst = max(abs(ratio.mean - 0.05) for ratio in path)
    word = "holds" if worst <= WITHIN else "does not"
    return Verdict(
        word, f"tenths 3 to 10: {formatted_estimate(min(path))} to {formatted_estimate(max(path))}"
    )


def no_miss(results: Results) -> Verdict:
    """Tell whether no deadline is missed where the true costs are known."""
    missed = sum(run.total.missed for run in results.growing.runs["ideal"])
    settled = sum(run.total.settled for run in results.growing.runs["ideal"])
    return Verdict("does not" if missed else "holds", f"{missed} of {settled} miss")


def compared(
    one: str, other: str, measure: str, part: tuple[float, float], *, by: float = 0.0
) -> Callable[[Results], Verdict]:
    """Return a test: one strategy's measure is below the other's, by so much at least."""

    def test(results: Results) -> Verdict:
        mine, theirs = results.mean(one, measure, part), results.mean(other, measure, part)
        numbers = ", ".join(f"{it} {results.formatted(it, measure, part)}" for it in (one, other))
        if theirs - mine > by:
            return Verdict("holds", numbers)
        good = []
        for place in range(round(part[0] * PIECES), round(part[1] * PIECES)):
            piece = (place / PIECES, (place + 1) / PIECES)
            gap = results.mean(other, measure, piece) - results.mean(one, measure, piece)
            good += [_load(piece)] if gap > by else []
        if not good:
            return Verdict("does not", numbers)
        return Verdict("only", f"{numbers}; at loads " + ", ".join(f"{at:.2f}" for at in good))

    return test


def similar(results: Results) -> Verdict:
    """Tell whether feedback rejects about as much as the ideal case under a light load."""
    mine = results.mean("feedback", "reject_ratio", LIGHT)
    ideal = results.mean("ideal", "reject_ratio", LIGHT)
    word = "holds" if abs(mine - ideal) <= 0.02 else "does not"
    numbers = (
        f"{it} {results.formatted(it, 'reject_ratio', LIGHT)}" for it in ("feedback", "ideal")
    )
    return Verdict(word, ", ".join(numbers))


def stays_high(results: Results) -> Verdict:
    """Tell what becomes of the misses without feedback, before and after nodes fail."""
    before = results.after("no-feedback", (0.1, 0.5))
    after = results.after("no-feedback", (0.6, 1))
    word = "holds" if abs(after.mean - 0.6) <= 0.1 else "does not"
    return Verdict(word, f"{formatted_estimate(before)} before, {formatted_estimate(after)} after")


def brought_back(results: Results) -> Verdict:
    """Tell whether feedback brings the misses back to the set point after nodes fail."""
    at_once, after = results.after("feedback", (0.5, 0.55)), results.after("feedback", (0.6, 1))
    word = "holds" if abs(after.mean - 0.05) <= WITHIN else "does not"
    return Verdict(
        word,
        f"{formatted_estimate(at_once)} in the 9 periods after, then {formatted_estimate(after)}",
    )


CLAIMS = (
    Claim("7.2", "without feedback the miss ratio grows with the load", rises),
    Claim(
        "7.2",
        "without feedback 25 % miss under a heavy load",
        about("no-feedback", "miss_ratio", 0.25, 0.05),
    ),
    Claim("7.2", "with feedback the miss ratio stays at 5 %", held),
    Claim("7.3", "the ideal case misses nothing", no_miss),
    Claim(
        "7.3",
        "the ideal case rejects least under a heavy load",
        compared("ideal", "feedback", "reject_ratio", HEAVY),
    ),
    Claim("7.3", "light load: feedback rejects about as much as the ideal case", similar),
    Claim(
        "7.3",
        "light load: feedback rejects even less than the ideal case",
        compared("feedback", "ideal", "reject_ratio", LIGHT),
    ),
    Claim(
        "7.3",
        "light load: feedback rejects much less than the worst case (5 points)",
        compared("feedback", "worst-case", "reject_ratio", LIGHT, by=0.05),
    ),
    Claim(
        "7.3",
        "heavy load: feedback rejects much less than the worst case (5 points)",
        compared("feedback", "worst-case", "reject_ratio", HEAVY, by=0.05),
    ),
    Claim(
        "7.4",
        "heavy load: feedback uses the cluster less than the ideal case",
        compared("feedback", "ideal", "utilization", HEAVY),
    ),
    Claim(
        "7.4",
        "heavy load: feedback uses about 75 % of the cluster",
        about("feedback", "utilization", 0.75, 0.05),
    ),
    Claim(
        "7.4",
        "heavy load: feedback uses the cluster much more than the worst case (5 points)",
        compared("worst-case", "feedback", "utilization", HEAVY, by=0.05),
    ),
    Claim("7.5", "without feedback 60 % miss once 40 % of the nodes have failed", stays_high),
    Claim("7.5", "feedback brings the miss ratio back to 5 %", brought_back),
)
