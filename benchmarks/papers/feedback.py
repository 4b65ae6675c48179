"""Draw the figures of Mamat 2011, chapter 7, again, and hold its claims against them.

``python -m benchmarks.papers.feedback --help``
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from benchmarks.papers.claims import Verdict
from dlopt.plotting.curves import Curve, Spot, plot_curves
from dlopt.simulation.feedback import (
    FeedbackRun,
    Policy,
    Setting,
    Study,
    course,
    identify,
    study,
)
from dlopt.simulation.many import estimate

_HERE = Path(__file__).parent

READINGS = {
    "repaired": Policy(),
    "chunks of the last task": Policy(start="last"),
    "last task on all nodes": Policy(start="all-nodes"),
    "as printed": Policy(start="last", overdue="printed"),
    "dropped when late": Policy(late="drop"),
}
"""What may be meant. The first is the default of `dlopt simulate feedback`."""

GROWING = Setting()
FAILING = Setting(load_from=0.8, load_to=0.8, failing=0.4)
WITHIN = 0.015
"""So far from the set point a miss ratio may be to be held."""
PIECES = 12
LIGHT, HEAVY, END = (0, 1 / 3), (2 / 3, 1), (0.9, 1)


@dataclass(frozen=True, slots=True)
class Results:
    """What a reading gave: under a growing load, and with nodes that fail."""

    growing: Study
    failing: Study

    def mean(self, strategy: str, measure: str, part: tuple[float, float]) -> float:
        """Return the mean of a measure over the seeds, in a part of the time, as the load grows."""
        return _mean(self.growing.runs[strategy], measure, part)

    def after(self, strategy: str, part: tuple[float, float]) -> float:
        """Return the mean miss ratio in a part of the time, where nodes fail at 0.5."""
        return _mean(self.failing.runs[strategy], "miss_ratio", part)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, and a test of the results."""

    figure: str
    words: str
    test: Callable[[Results], Verdict]


def _mean(runs: Sequence[FeedbackRun], measure: str, part: tuple[float, float]) -> float:
    values = [getattr(run.between(*part), measure) for run in runs]
    return estimate([value for value in values if value is not None]).mean


def _load(piece: tuple[float, float]) -> float:
    middle = (piece[0] + piece[1]) / 2
    return GROWING.load_from + (GROWING.load_to - GROWING.load_from) * middle


def rises(results: Results) -> Verdict:
    """Tell whether misses grow with the load from tenth to tenth."""
    path = [results.mean("no-feedback", "miss_ratio", (k / 10, (k + 1) / 10)) for k in range(10)]
    steps = sum(later > earlier for earlier, later in pairwise(path))
    word = "holds" if steps >= 8 and path[-1] > path[0] else "does not"
    return Verdict(word, f"{path[0]:.1%} to {path[-1]:.1%}, {steps} of 9 steps upward")


def about(
    strategy: str, measure: str, wanted: float, within: float
) -> Callable[[Results], Verdict]:
    """Return a test: in the last tenth, a measure is about what the paper says."""

    def test(results: Results) -> Verdict:
        found = results.mean(strategy, measure, END)
        return Verdict("holds" if abs(found - wanted) <= within else "does not", f"{found:.1%}")

    return test


def held(results: Results) -> Verdict:
    """Tell whether the miss ratio stays at its set point."""
    path = [results.mean("feedback", "miss_ratio", (k / 10, (k + 1) / 10)) for k in range(2, 10)]
    worst = max(abs(ratio - 0.05) for ratio in path)
    word = "holds" if worst <= WITHIN else "does not"
    return Verdict(word, f"tenths 3 to 10: {min(path):.1%} to {max(path):.1%}")


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
        numbers = f"{one} {mine:.1%}, {other} {theirs:.1%}"
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
    return Verdict(word, f"feedback {mine:.1%}, ideal {ideal:.1%}")


def stays_high(results: Results) -> Verdict:
    """Tell what becomes of the misses without feedback, before and after nodes fail."""
    before = results.after("no-feedback", (0.1, 0.5))
    after = results.after("no-feedback", (0.6, 1))
    word = "holds" if abs(after - 0.6) <= 0.1 else "does not"
    return Verdict(word, f"{before:.1%} before, {after:.1%} after")


def brought_back(results: Results) -> Verdict:
    """Tell whether feedback brings the misses back to the set point after nodes fail."""
    at_once, after = results.after("feedback", (0.5, 0.55)), results.after("feedback", (0.6, 1))
    word = "holds" if abs(after - 0.05) <= WITHIN else "does not"
    return Verdict(word, f"{at_once:.1%} in the 9 periods after, then {after:.1%}")


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


def draw(results: Results, folder: Path, note: str) -> None:
    """Draw the four figures."""
    for figure, (which, measure, strategies) in FIGURES.items():
        found: Study = getattr(results, which)
        curves = tuple(
            Curve(
                name, tuple(Spot(at, *spread) for at, spread in course(found.runs[name], measure))
            )
            for name in strategies
        )
        what = "40 % of the nodes fail" if which == "failing" else "the load grows"
        plot_curves(
            [(measure.replace("_", " "), curves)],
            folder / f"fig-{figure}.svg",
            title=f"Mamat 2011, figure {figure}: {what}",
            note=note,
            axis="sampling period",
        )


def run(policy: Policy, seeds: int) -> Results:
    """Run both experiments under a reading; the second with the controller of the first."""
    strategies = ("feedback", "no-feedback", "ideal", "worst-case")
    growing = study(replace(GROWING, policy=policy), strategies, seeds=range(seeds))
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
        setting = Setting(identified_at=load, policy=Policy(margin=margin), order=order)
        fitted, other = setting.excited(1000), setting.excited(1001)
        model = identify(fitted.inputs, fitted.outputs, order)
        a, b = (" ".join(f"{x:.3f}" for x in numbers) for numbers in (model.a, model.b))
        cells = [f"{load:g}", f"{margin:g}", f"{order}", a, b, f"{model.r2:.2f}"]
        cells += [f"{model.explains(other.inputs, other.outputs):.2f}"]
        cells += [f"{model.gain:.3f} ± {model.gain_error:.3f}"]
        print(f"| {' | '.join([*cells, 'yes' if model.significant else '**no**'])} |", flush=True)


def equal(seeds: int) -> None:
    """Print what the ideal case misses where all tasks cost what is estimated."""
    setting = replace(GROWING, parameters={"least_factor": 1, "most_factor": 1})
    totals = [setting.run("ideal", None, seed).total for seed in range(seeds)]
    missed, settled = (sum(getattr(t, name) for t in totals) for name in ("missed", "settled"))
    print(f"\nideal case, equal costs: {missed} of {settled} miss", flush=True)


def loads(found: Study, seeds: int) -> None:
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


def response(found: Study, seeds: int = 40, periods: int = 40) -> None:
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


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.feedback", description=main.__doc__
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", metavar="READING,...", help=", ".join(READINGS))
    parser.add_argument(
        "--out", type=Path, default=_HERE / "figures", help="folder of the pictures"
    )
    wanted = parser.parse_args()
    names = wanted.only.split(",") if wanted.only else list(READINGS)
    found = {}
    for name in names:
        begun = time.perf_counter()
        found[name] = run(READINGS[name], wanted.seeds)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    first = found[names[0]]
    draw(first, wanted.out, f"{wanted.seeds} seeds, bars: 95 % confidence; reading: {names[0]}")
    print(f"| figure | claim | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for claim in CLAIMS:
        verdicts = [claim.test(results) for results in found.values()]
        cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts]
        print(f"| {claim.figure} | {claim.words} | {' | '.join(cells)} |")
    equal(wanted.seeds)
    models()
    loads(first.growing, wanted.seeds)
    response(first.growing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
