"""Claims of Liu, Baskiyar and Li 2007 about their figures, and their tests.

Methods are compared run by run, on the same instance (paired differences); an interval is the 95 %
confidence interval of the mean of the differences, or of the ratios. A claim *holds* if the
interval implies it at every point that it is about, *only* at the points that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean
from typing import Any, Protocol

from benchmarks.papers.claims import Verdict
from dlopt.simulation.replications import MeanEstimate, estimate

BASELINES = ("EDF", "Min-min", "Sufferage")
READINGS = {"drop late": "", "run late": ", run late", "at home": ", at home"}
"""How the baselines treat tasks, which the paper does not say; what each adds to their names."""
_WITHOUT = "GDS without Shuffle"
SAME = 0.005
"""Ratios that differ by less are almost identical."""


class Averages(Protocol):
    """Results that a claim is held against."""

    def xs(self, experiment: str) -> list[str]:
        """Return the abscissae of an experiment."""
        ...

    def values(self, experiment: str, x: str, label: str, measure: str) -> dict[int, float]:
        """Return a measure by seed."""
        ...


Test = Callable[[Averages], Verdict]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure and experiment, and a test of the results.

    Parameters
    ----------
    figure, experiment, words : str
    test : callable
        A `Test`; of a claim about baselines, what makes one of what a reading adds to their names.
    read : bool
        Whether the claim is about baselines.
    """

    figure: str
    experiment: str
    words: str
    test: Callable[..., Any]
    read: bool = False

    def verdicts(self, results: Averages) -> dict[str, Verdict]:
        """Return a verdict by reading of the baselines; one, if they do not matter."""
        if not self.read:
            return {"": self.test(results)}
        return {reading: self.test(suffix)(results) for reading, suffix in READINGS.items()}


def robust(verdicts: dict[str, Verdict]) -> str:
    """Return whether a verdict is the same whatever the baselines do, or what it depends on."""
    words = {reading: verdict.word for reading, verdict in verdicts.items()}
    if len(set(words.values())) == 1:
        return "robust"
    late = words["drop late"] != words["run late"]
    home = words["drop late"] != words["at home"]
    both = " and on " if late and home else ""
    return f"depends on {'late tasks' if late else ''}{both}{'leaving the site' if home else ''}"


def gains(
    results: Averages, experiment: str, x: str, measure: str, one: str, others: Sequence[str]
) -> dict[int, float]:
    """Return by seed how much more one method has than the mean of others, as a share of that."""
    mine = results.values(experiment, x, one, measure)
    theirs = [results.values(experiment, x, other, measure) for other in others]
    seeds = [seed for seed in mine if all(seed in values for values in theirs)]
    found = {}
    for seed in seeds:
        middle = mean(values[seed] for values in theirs)
        if middle > 0:
            found[seed] = mine[seed] / middle - 1
    return found


def average(
    results: Averages, experiment: str, measure: str, others: Sequence[str]
) -> MeanEstimate:
    """Return the gain of GDS, averaged over the abscissae of each run."""
    by_x = [gains(results, experiment, x, measure, "GDS", others) for x in results.xs(experiment)]
    seeds = set.intersection(*map(set, by_x))
    return estimate([mean(found[seed] for found in by_x) for seed in sorted(seeds)])


def exceeds(
    experiment: str, measure: str, others: Sequence[str], least: float, one: str = "GDS"
) -> Test:
    """Return a test: one method has so much more than the mean of others, at every point."""

    def test(results: Averages) -> Verdict:
        xs = results.xs(experiment)
        found = [
            estimate(list(gains(results, experiment, x, measure, one, others).values())) for x in xs
        ]
        good = [_low(gain) >= least for gain in found]
        return Verdict(_word(good), _at(xs, found))

    return test


def on_average(experiment: str, measure: str, others: Sequence[str], least: float) -> Test:
    """Return a test: averaged over the points, GDS has so much more than the mean of others."""

    def test(results: Averages) -> Verdict:
        whole = average(results, experiment, measure, others)
        each = ", ".join(
            f"{other.split(',')[0]} {_percent(average(results, experiment, measure, [other]))}"
            for other in others
        )
        points = [
            (x, estimate(list(gains(results, experiment, x, measure, "GDS", others).values())))
            for x in results.xs(experiment)
        ]
        good = [x for x, gain in points if _low(gain) >= least]
        word = "holds" if _low(whole) >= least else "only" if good else "does not"
        when = f"; at {', '.join(good)} tasks" if word == "only" else ""
        text = f"{_percent(whole)} ({each}){when}; {_at(*zip(*points, strict=True))}"
        return Verdict(word, text)

    return test


def rising(others: Sequence[str]) -> Test:
    """Return a test: the gain in critical tasks is larger with more tasks, from point to point."""

    def test(results: Averages) -> Verdict:
        xs = results.xs("grid")
        found = [gains(results, "grid", x, "critical", "GDS", others) for x in xs]
        steps = [
            estimate([after[seed] - before[seed] for seed in before])
            for before, after in pairwise(found)
        ]
        good = [_low(step) > 0 for step in steps]
        return Verdict(_word(good), f"steps {_at([f'to {x}' for x in xs[1:]], steps)}")

    return test


def never_below(experiment: str, measure: str, other: str, one: str = "GDS") -> Test:
    """Return a test: one method is not below another in any run."""

    def test(results: Averages) -> Verdict:
        texts, below, runs = [], 0, 0
        for x in results.xs(experiment):
            mine, theirs = (results.values(experiment, x, it, measure) for it in (one, other))
            gaps = [mine[seed] - theirs[seed] for seed in mine if seed in theirs]
            below += sum(gap < 0 for gap in gaps)
            runs += len(gaps)
            texts.append(f"{sum(gap < 0 for gap in gaps)} of {len(gaps)} at {x}")
        word = "holds" if not below else "does not"
        return Verdict(word, f"below in {below} of {runs} runs: {', '.join(texts)}")

    return test


def same(experiment: str, measure: str, other: str, one: str = "GDS", within: float = SAME) -> Test:
    """Return a test: the means of two methods are almost identical at every point."""

    def test(results: Averages) -> Verdict:
        xs, found = results.xs(experiment), []
        for x in xs:
            mine, theirs = (results.values(experiment, x, it, measure) for it in (one, other))
            found.append(estimate([mine[seed] - theirs[seed] for seed in mine if seed in theirs]))
        good = [abs(gap.mean) + (gap.half_width or 0) <= within for gap in found]
        return Verdict(_word(good), f"difference in points {_at(xs, found)}")

    return test


def reaches(measure: str, label: str, optimum: str) -> Test:
    """Return a test: a method has as much as a proven optimum in every run."""

    def test(results: Averages) -> Verdict:
        texts, short, runs = [], 0, 0
        for x in results.xs("small"):
            mine, best = (results.values("small", x, it, measure) for it in (label, optimum))
            shares = [mine[seed] / best[seed] for seed in best if best[seed]]
            missed = sum(mine[seed] < best[seed] for seed in best)
            short, runs = short + missed, runs + len(best)
            texts.append(f"{_percent(estimate(shares), sign='')} of it at {x}")
        word = "holds" if not short else "does not"
        return Verdict(word, f"short of it in {short} of {runs} proven runs: {', '.join(texts)}")

    return test


def _low(gain: MeanEstimate) -> float:
    return gain.mean - (gain.half_width or 0.0)


def _word(good: Sequence[bool]) -> str:
    return "holds" if all(good) else "only" if any(good) else "does not"


def _percent(gain: MeanEstimate, sign: str = "+") -> str:
    half = "" if gain.half_width is None else f" ± {100 * gain.half_width:.1f}"
    return f"{100 * gain.mean:{sign}.1f}{half} %"


def _at(xs: Sequence[str], found: Sequence[MeanEstimate]) -> str:
    return ", ".join(f"{x}: {_percent(gain)}" for x, gain in zip(xs, found, strict=True))


def _all(suffix: str) -> tuple[str, ...]:
    return tuple(f"{label}{suffix}" for label in BASELINES)


def _more_critical(label: str, suffix: str) -> Test:
    return exceeds("grid", "critical", [f"{label}{suffix}"], 1e-9)


def _no_fewer(label: str, suffix: str) -> Test:
    return never_below("grid", "overall", f"{label}{suffix}")


CLAIMS = (
    Claim(
        "7",
        "grid",
        "GDS meets over 40 % more critical tasks than the others on average",
        lambda suffix: on_average("grid", "critical", _all(suffix), 0.4),
        read=True,
    ),
    Claim(
        "7",
        "grid",
        "the gain grows with the number of tasks",
        lambda suffix: rising(_all(suffix)),
        read=True,
    ),
    *(
        Claim(
            "7",
            "grid",
            f"GDS meets more critical tasks than {other}",
            partial(_more_critical, other),
            read=True,
        )
        for other in BASELINES
    ),
    Claim(
        "7",
        "grid",
        "ranking by CCR brings critical tasks",
        exceeds("grid", "critical", ["GDS without CCR"], 1e-9),
    ),
    Claim(
        "7",
        "small",
        "GDS maximizes the number of critical tasks met",
        reaches("critical", "GDS", "optimum"),
    ),
    Claim(
        "8",
        "grid",
        "GDS meets 4 % more of all tasks than the others on average",
        lambda suffix: on_average("grid", "overall", _all(suffix), 0.04),
        read=True,
    ),
    *(
        Claim(
            "8",
            "grid",
            f"GDS outperforms {other} overall: it is not below in any run",
            partial(_no_fewer, other),
            read=True,
        )
        for other in BASELINES
    ),
    Claim(
        "9",
        "grid",
        "without Shuffle critical tasks fare almost the same (.5 points)",
        same("grid", "critical", _WITHOUT),
    ),
    Claim(
        "10",
        "grid",
        "Shuffle meets 5 % more of all tasks",
        exceeds("grid", "overall", [_WITHOUT], 0.05),
    ),
)
"""What the paper says."""

BESIDE = (
    Claim(
        "7",
        "grid",
        "GDS meets more critical tasks than EDF that asks for the priority first",
        exceeds("grid", "critical", ["priority-EDF"], 1e-9),
    ),
    *(
        Claim(
            "8",
            "small",
            f"{label} meets as many tasks as can be met",
            reaches("overall", label, "most in all"),
        )
        for label in ("GDS", "EDF")
    ),
    Claim(
        "8",
        "settings",
        "GDS meets at least as many of all tasks as EDF",
        exceeds("settings", "overall", ["EDF"], 0.0),
    ),
    *(
        Claim(
            "10",
            experiment,
            f"Shuffle meets more of all tasks ({words})",
            exceeds(experiment, "overall", [_WITHOUT], 1e-9),
        )
        for experiment, words in (("small", "small grids"), ("settings", "settings"))
    ),
    *(
        Claim(
            "10",
            experiment,
            f"Shuffle does not cost a task in any run ({words})",
            never_below(experiment, "overall", _WITHOUT),
        )
        for experiment, words in (("grid", "the grid"), ("settings", "settings"))
    ),
)
"""What else is asked, to see when and why."""
