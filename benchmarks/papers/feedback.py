"""Reproduce the figures of Mamat 2011, chapter 7, and test its claims.

``python -m benchmarks.papers.feedback --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import otherwise
from benchmarks.papers.feedback_claims import CLAIMS, GROWING, Results, measured_mean
from benchmarks.papers.figure_files import picture
from dlopt.plotting.line_charts import Curve, DataPoint
from dlopt.simulation.feedback import (
    ExperimentSetting,
    Policy,
    StrategyComparison,
    compare_strategies,
    identify,
    measure_over_time,
)

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

FAILING = ExperimentSetting(load_from=0.8, load_to=0.8, failing=0.4)
"""The experiment of figure 7.5: nodes fail under a constant load."""

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
                cells.append(f"{measured_mean(runs, 'miss_ratio', part).mean:.1%}")
        print(f"| {load:g} | {' | '.join(cells)} |", flush=True)


def response(found: StrategyComparison, seeds: int = 40, periods: int = 40) -> None:
    """Print how fast the simulated loop settles, beside what the model promises."""
    setting = replace(GROWING, load_from=1.2, load_to=1.2, periods=periods)
    runs = [setting.run("feedback", found.design, seed) for seed in range(seeds)]
    path = [
        measured_mean(runs, "miss_ratio", (k / periods, (k + 1) / periods)).mean
        for k in range(periods)
    ]
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
