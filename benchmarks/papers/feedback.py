"""Reproduce the figures of Mamat 2011, chapter 7, and test its claims.

``python -m benchmarks.papers.feedback --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import Verdict, otherwise
from benchmarks.papers.figure_files import picture
from dlopt.plotting.line_charts import Curve, DataPoint
from dlopt.simulation.feedback import (
    ExperimentSetting,
    FeedbackRun,
    Policy,
    StrategyComparison,
    compare_strategies,
    identify,
    measure_over_time,
)
from dlopt.simulation.replications import MeanEstimate, estimate

READINGS = {
    "repaired": Policy(),
    "chunks of the last task": Policy(start="last"),
    "last task on all nodes": Policy(start="all-nodes"),
    "as printed": Policy(start="last", overdue="printed"),
    "dropped when late": Policy(late="drop"),
}
"""What may be meant. The first is the default of `dlopt simulate feedback`."""

OTHERS = {
    "margin 1.5": Policy(margin=1.5),
    "margin 4": Policy(margin=4),
    "what a failed node holds is gone": Policy(lost="gone"),
    "the test knows failures": Policy(aware=True),
}
"""Other choices than ours where the chapter says nothing at all."""

GROWING = ExperimentSetting()
FAILING = ExperimentSetting(load_from=0.8, load_to=0.8, failing=0.4)
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
        return _spread(self.growing.runs[strategy], measure, part)

    def told(self, strategy: str, measure: str, part: tuple[float, float]) -> str:
        """Return it in words."""
        return _told(self.spread(strategy, measure, part))

    def after(self, strategy: str, part: tuple[float, float]) -> MeanEstimate:
        """Return the mean miss ratio in a part of the time, where nodes fail at 0.5."""
        return _spread(self.failing.runs[strategy], "miss_ratio", part)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, and a test of the results."""

    figure: str
    words: str
    test: Callable[[Results], Verdict]


def _spread(runs: Sequence[FeedbackRun], measure: str, part: tuple[float, float]) -> MeanEstimate:
    values = [getattr(run.between(*part), measure) for run in runs]
    return estimate([value for value in values if value is not None])


def _mean(runs: Sequence[FeedbackRun], measure: str, part: tuple[float, float]) -> float:
    return _spread(runs, measure, part).mean


def _told(spread: MeanEstimate) -> str:
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
    first, last = (results.told("no-feedback", "miss_ratio", part) for part in ((0, 0.1), END))
    return Verdict(word, f"{first} to {last}, {steps} of 9 steps upward")


def about(
    strategy: str, measure: str, wanted: float, within: float
) -> Callable[[Results], Verdict]:
    """Return a test: in the last tenth, a measure is about what the paper says."""

    def test(results: Results) -> Verdict:
        found = results.spread(strategy, measure, END)
        word = "holds" if abs(found.mean - wanted) <= within else "does not"
        return Verdict(word, _told(found))

    return test


def held(results: Results) -> Verdict:
    """Tell whether the miss ratio stays at its set point."""
    tenths = [(k / 10, (k + 1) / 10) for k in range(2, 10)]
    path = [results.spread("feedback", "miss_ratio", tenth) for tenth in tenths]
    worst = max(abs(ratio.mean - 0.05) for ratio in path)
    word = "holds" if worst <= WITHIN else "does not"
    return Verdict(word, f"tenths 3 to 10: {_told(min(path))} to {_told(max(path))}")


def no_miss(results: Results) -> Verdict:
    """Tell whether whoever knows the true costs misses nothing."""
    missed = sum(run.total.missed for run in results.growing.runs["ideal"])
    settled = sum(run.total.settled for run in results.growing.runs["ideal"])
    return Verdict("does not" if missed else "holds", f"{missed} of {settled} miss")


def compared(
    one: str, other: str, measure: str, part: tuple[float, float], *, by: float = 0.0
) -> Callable[[Results], Verdict]:
    """Return a test: one strategy's measure is below the other's, by so much at least."""

    def test(results: Results) -> Verdict:
        mine, theirs = results.mean(one, measure, part), results.mean(other, measure, part)
        numbers = ", ".join(f"{it} {results.told(it, measure, part)}" for it in (one, other))
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
    numbers = (f"{it} {results.told(it, 'reject_ratio', LIGHT)}" for it in ("feedback", "ideal"))
    return Verdict(word, ", ".join(numbers))


def stays_high(results: Results) -> Verdict:
    """Tell what becomes of the misses without feedback, before and after nodes fail."""
    before = results.after("no-feedback", (0.1, 0.5))
    after = results.after("no-feedback", (0.6, 1))
    word = "holds" if abs(after.mean - 0.6) <= 0.1 else "does not"
    return Verdict(word, f"{_told(before)} before, {_told(after)} after")


def brought_back(results: Results) -> Verdict:
    """Tell whether feedback brings the misses back to the set point after nodes fail."""
    at_once, after = results.after("feedback", (0.5, 0.55)), results.after("feedback", (0.6, 1))
    word = "holds" if abs(after.mean - 0.05) <= WITHIN else "does not"
    return Verdict(word, f"{_told(at_once)} in the 9 periods after, then {_told(after)}")


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

FIGURES = {
    "7.2": ("growing", "miss_ratio", ("feedback", "no-feedback")),
    "7.3": ("growing", "reject_ratio", ("feedback", "ideal", "worst-case")),
    "7.4": ("growing", "utilization", ("feedback", "ideal", "worst-case")),
    "7.5": ("failing", "miss_ratio", ("feedback", "no-feedback")),
}


def draw(results: Results, figures: Collection[str], folder: Path, note: str) -> None:
    """Draw some of the four figures."""
    for figure in figures:
        which, measure, strategies = FIGURES[figure]
        found: StrategyComparison = getattr(results, which)
        curves = tuple(
            Curve(
                name,
                tuple(
                    DataPoint(at, *spread)
                    for at, spread in measure_over_time(found.runs[name], measure)
                ),
            )
            for name in strategies
        )
        what = "40 % of the nodes fail" if which == "failing" else "the load grows"
        picture(
            [(measure.replace("_", " "), curves)],
            folder / f"fig-{figure}.svg",
            title=f"Mamat 2011, figure {figure}: {what}",
            note=note,
            axis="sampling period",
        )


def run(policy: Policy, seeds: int) -> Results:
    """Run both experiments under a reading; the second with the controller of the first."""
    strategies = ("feedback", "no-feedback", "ideal", "worst-case")
    growing = compare_strategies(replace(GROWING, policy=policy), strategies, seeds=range(seeds))
    setting = replace(FAILING, policy=policy)
    runs = {
        name: tuple(setting.run(name, growing.design, seed) for seed in range(seeds))
        for name in ("feedback", "no-feedback")
    }
    return Results(growing, replace(growing, setting=setting, runs=runs))


def models() -> None:
    """Print what identification finds at several loads, and under several margins."""
    print("\n| load | margin | order | a | b | R^2 | R^2, other run | gain | told from 0 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load, margin, order in (
        (0.3, 2, 1),
        (0.5, 2, 1),
        (0.8, 2, 1),
        (1.2, 2, 1),
        (1.2, 2, 2),
        (1.2, 2, 3),
        (1.5, 2, 1),
        (1.2, 1, 1),
        (1.2, 4, 1),
    ):
        setting = ExperimentSetting(identified_at=load, policy=Policy(margin=margin), order=order)
        fitted, other = setting.identification_run(1000), setting.identification_run(1001)
        model = identify(fitted.inputs, fitted.outputs, order)
        a, b = (" ".join(f"{x:.3f}" for x in numbers) for numbers in (model.a, model.b))
        cells = [f"{load:g}", f"{margin:g}", f"{order}", a, b, f"{model.r2:.2f}"]
        cells += [f"{model.explained_variance(other.inputs, other.outputs):.2f}"]
        cells += [f"{model.gain:.3f} ± {model.gain_error:.3f}"]
        print(f"| {' | '.join([*cells, 'yes' if model.significant else '**no**'])} |", flush=True)


def equal(seeds: int) -> None:
    """Print what the ideal case misses where all tasks cost what is estimated."""
    setting = replace(GROWING, parameters={"least_factor": 1, "most_factor": 1})
    totals = [setting.run("ideal", None, seed).total for seed in range(seeds)]
    missed, settled = (sum(getattr(t, name) for t in totals) for name in ("missed", "settled"))
    print(f"\nideal case, equal costs: {missed} of {settled} miss", flush=True)


def loads(found: StrategyComparison, seeds: int) -> None:
    """Print what constant loads do, and nodes that fail under them, with and without feedback."""
    print("\n| load | no feedback | feedback | no feedback, 40 % failed | feedback, 40 % failed |")
    print("|---|---|---|---|---|")
    for load in (0.3, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0):
        setting = replace(FAILING, load_from=load, load_to=load, periods=100)
        cells = []
        for part in ((0.1, 0.5), (0.6, 1)):
            for name in ("no-feedback", "feedback"):
                runs = [setting.run(name, found.design, seed) for seed in range(seeds)]
                cells.append(f"{_mean(runs, 'miss_ratio', part):.1%}")
        print(f"| {load:g} | {' | '.join(cells)} |", flush=True)


def response(found: StrategyComparison, seeds: int = 40, periods: int = 40) -> None:
    """Print how fast the simulated loop settles, beside what the model promises."""
    setting = replace(GROWING, load_from=1.2, load_to=1.2, periods=periods)
    runs = [setting.run("feedback", found.design, seed) for seed in range(seeds)]
    path = [_mean(runs, "miss_ratio", (k / periods, (k + 1) / periods)) for k in range(periods)]
    level = sum(path[periods // 2 :]) / (periods - periods // 2)
    pole = abs(found.design.poles[0])
    promised = [level + (path[0] - level) * pole**k for k in range(periods)]
    print(f"\nload 1.2 from bound 1, miss ratio by period, means over {seeds} seeds:")
    for what, ratios in (("simulated", path), (f"pole {pole:.3f}", promised)):
        print(f"{what}: " + ", ".join(f"{100 * ratio:.1f}" for ratio in ratios[:14]) + ", ... %")
    rest = path[periods // 2 :]
    spread = (sum((ratio - level) ** 2 for ratio in rest) / (len(rest) - 1)) ** 0.5
    print(f"level of the last {len(rest)} periods: {level:.1%}, deviating by {spread:.1%}")


def table(
    found: Mapping[str, Results], elsewhere: Mapping[str, Results], figures: Sequence[str]
) -> Iterator[str]:
    """Yield the claims as a Markdown table: by reading, and the first under other choices."""
    first = next(iter(found))
    heads = ("figure", "claim", *found, f"{first}: otherwise")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for claim in CLAIMS:
        if claim.figure in figures:
            verdicts = {name: claim.test(results) for name, results in found.items()}
            cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts.values()]
            there = {name: claim.test(results).word for name, results in elsewhere.items()}
            cells.append(otherwise(verdicts[first].word, there))
            yield f"| {' | '.join((claim.figure, claim.words, *cells))} |"


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = cli_arguments.parser("feedback", main.__doc__, FIGURES)
    parser.add_argument("--readings", metavar="READING,...", help=", ".join(READINGS))
    wanted = parser.parse_args()
    figures = wanted.only or tuple(FIGURES)
    seeds = wanted.seeds or int(cli_arguments.size(wanted, 3, 5, 10))
    names = wanted.readings.split(",") if wanted.readings else list(READINGS)
    if wanted.quick and not wanted.readings:
        names = ["repaired", "as printed"]
    found = {}
    for name in names:
        begun = time.perf_counter()
        found[name] = run(READINGS[name], seeds)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    first = found[names[0]]
    wanted.out.mkdir(parents=True, exist_ok=True)
    draw(first, figures, wanted.out, f"{seeds} seeds, bars: 95 % confidence; reading: {names[0]}")
    elsewhere = {} if wanted.quick else {name: run(it, seeds) for name, it in OTHERS.items()}
    print("\n".join(table(found, elsewhere, figures)))
    if not wanted.quick and not wanted.only:
        equal(seeds)
        models()
        loads(first.growing, seeds)
        response(first.growing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
