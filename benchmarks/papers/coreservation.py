"""Reproduce the figures of Min 2001, chapters 4 and 5, and test the thesis' claims.

They also show what the thesis does not have: the optimum of each batch given the earlier
reservations, the best offline solution found, and a bound on every solution, each for the measure
of the figure. What the thesis leaves open (batches and priorities of chapter 4, arrivals of chapter
5) is documented in `dlopt.generation.coreservation`, the range of the CPU of figure 4.6 in
`coreservation_points`. With --rows, an interrupted run resumes; with --points, results of exact
methods are read from earlier figures.

``python -m benchmarks.papers.coreservation --help``
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import mean

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import Verdict, at_another_size
from benchmarks.papers.coreservation_claims import CLAIMS, Claim
from benchmarks.papers.coreservation_points import (
    BOUND,
    EVERY_CHOICE,
    EXACT,
    PRINTED,
    Experiment,
    experiments,
    left_open,
    quick,
    sparse,
    under,
)
from benchmarks.papers.coreservation_runs import MethodRun, MethodRunRow, RunPlan, rows_of, stored
from benchmarks.papers.figure_files import curves_of, picture
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.simulation.replications import MeanEstimate, estimate

_LABELS = {
    "rejections": "rejections",
    "benefit": "system benefit",
    "reserved": "mean reserved CPU, %",
    "rejected-priority": "sum of rejected priorities",
}


class Results:
    """What all instances gave, of a plan that need not have been run to its end."""

    def __init__(self, plan: RunPlan, rows: Mapping[MethodRun, MethodRunRow]) -> None:
        self.plan, self.rows = plan, rows

    def by_seed(self, figure: str, x: float, label: str, measure: str) -> dict[int, float]:
        """Return a measure by seed; none where the method did not run or found nothing."""
        found, it = {}, self.plan.experiments[figure]
        for seed in range(self.plan.proofs if label in it.exact else self.plan.seeds):
            row = self.rows.get(self.plan.run_of(figure, x, label, measure, seed))
            if row is not None and measure in row.values:
                found[seed] = row.values[measure]
        return found

    def xs(self, figure: str) -> list[float]:
        """Return the abscissae of a figure at which all its heuristics ran."""
        it = self.plan.experiments[figure]
        measure = it.measures[0]
        return [
            x
            for x in it.points
            if all(self.by_seed(figure, x, label, measure) for label in it.methods)
        ]

    def estimates(
        self, figure: str, label: str, measure: str, seeds: int | None = None
    ) -> dict[float, MeanEstimate]:
        """Return means and confidence intervals by abscissa, of all seeds or of the first ones."""
        found = {x: self.by_seed(figure, x, label, measure) for x in self.xs(figure)}
        values = {x: [v for k, v in it.items() if k < (seeds or inf)] for x, it in found.items()}
        return {x: estimate(it) for x, it in values.items() if it}

    def panels(self, figure: str, measure: str) -> Iterator[tuple[str, tuple[Curve, ...]]]:
        """Yield the panels of a measure.

        Exact methods stand beside the others on the same seeds: where these ran on more, they have
        a panel of all seeds before.
        """
        it, seeds = self.plan.experiments[figure], self.plan.proofs
        best = [label for label in it.best(measure) if self.estimates(figure, label, measure)]
        if best and seeds < self.plan.seeds:
            yield _LABELS[measure], self._curves(figure, measure, it.methods)
            title = f"{_LABELS[measure]}, {seeds} seed{'s' * (seeds != 1)}"
            yield title, self._curves(figure, measure, (*it.methods, *best), seeds)
        else:
            yield _LABELS[measure], self._curves(figure, measure, (*it.methods, *best))

    def _curves(
        self, figure: str, measure: str, labels: Sequence[str], seeds: int | None = None
    ) -> tuple[Curve, ...]:
        found = {label: self.estimates(figure, label, measure, seeds) for label in labels}
        return tuple(
            Curve(label, tuple(DataPoint(x, *one) for x, one in spots.items()))
            for label, spots in found.items()
            if spots
        )

    def note(self, figure: str) -> str:
        """Return on how many seeds the methods of a figure ran, for its picture."""
        it = self.plan.experiments[figure]
        count = self._seeds(figure, it.methods)
        seeds = "1 seed" if count == "1" else f"{count} seeds, bars: 95 % confidence"
        exact = [label for label in it.exact if self._seeds(figure, [label])]
        if not exact:
            return seeds
        return f"{seeds}; {', '.join(exact)}: {self._seeds(figure, exact)} of them"

    def _seeds(self, figure: str, labels: Iterable[str]) -> str:
        """Return the numbers of seeds that there are of all points: `2`, or `1 to 3`."""
        it = self.plan.experiments[figure]
        counts = {
            len(self.by_seed(figure, x, label, measure))
            for x in self.xs(figure)
            for label in labels
            for measure in it.measures
        } - {0}
        return (
            " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
            if counts
            else ""
        )


def picture_of(figure: str, variant: str) -> str:
    """Return the name of a figure's picture, without its ending."""
    return f"fig-min-{figure} {variant}".replace(" ", "-")


def draw(results: Results, variant: str, folder: Path) -> None:
    """Draw the curves of every figure."""
    for figure, it in results.plan.experiments.items():
        panels: list[Panel] = []
        for measure in it.measures:
            panels += results.panels(figure, measure)
            if measure == "reserved":
                ideal = tuple(DataPoint(x, x) for x in results.xs(figure))
                title, curves = panels[-1]
                panels[-1] = title, (*curves, Curve("requested, no plan has more", ideal))
        picture(
            panels,
            folder / f"{picture_of(figure, variant)}.svg",
            title=f"Min 2001, figure {figure} ({variant})",
            note=results.note(figure),
            axis=it.axis,
        )


def drawn(plan: RunPlan, variant: str, folder: Path) -> Iterator[MethodRunRow]:
    """Yield what exact methods gave, from the points beside pictures that were drawn before.

    Only what was drawn of a single seed, the first, tells what that seed gave.
    """
    measures = {label: measure for measure, label in _LABELS.items()}
    for figure, it in plan.experiments.items():
        for panel, curves in curves_of(folder / f"{picture_of(figure, variant)}.csv").items():
            measure = measures[panel.removesuffix(", 1 seed")]
            for name, spots in curves:
                for x, y, half in spots:
                    if half is None and x in it.points and name in it.best(measure, x):
                        run = plan.run_of(figure, x, name, measure, 0)
                        yield MethodRunRow(run, 0, {measure: y}, 0.0, "as drawn before")


def optima(results: Results) -> Iterator[str]:
    """Yield Markdown tables: a measure of all methods beside its bound, on the same seeds."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for figure, it in results.plan.experiments.items():
        for measure in it.measures:
            best = [
                label for label in it.best(measure) if results.estimates(figure, label, measure)
            ]
            if best[:1] == [BOUND]:
                groups.setdefault((measure, (BOUND, *it.methods, *best[1:])), []).append(figure)
    for (measure, labels), figures in groups.items():
        yield f"| {_LABELS[measure]}: figure | at | seeds | {' | '.join(labels)} |"
        yield f"|---|---|---|{'---|' * len(labels)}"
        for figure in figures:
            yield from _beside(results, figure, measure, labels)
        yield ""


def _beside(results: Results, figure: str, measure: str, labels: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each abscissa that has a bound, which is the first of the methods."""
    for x in results.xs(figure):
        bounds = results.by_seed(figure, x, labels[0], measure)
        if bounds:
            cells = [_cell(results.by_seed(figure, x, label, measure), bounds) for label in labels]
            cells[0] = f"{mean(bounds.values()):.4g}"
            yield f"| {figure} | {x:g} | {len(bounds)} | {' | '.join(cells)} |"


def _cell(values: Mapping[int, float], bounds: Mapping[int, float]) -> str:
    """Return a mean, and what it is of the bound, over the seeds that have both."""
    seeds = values.keys() & bounds.keys()
    if not seeds:
        return ""
    value, bound = (mean(it[seed] for seed in seeds) for it in (values, bounds))
    return f"{value:.4g}" + (f" ({value / bound:.1%})" if 0 < value <= bound else "")


@dataclass(frozen=True, slots=True)
class OtherChoices:
    """Results of a variant at another size: under our choices, and under each other choice."""

    ours: Results
    others: Mapping[str, Results]

    def agreement(self, claim: Claim, word: str | None) -> str:
        """Return whether a verdict is the same under other choices, all at this size."""
        ours = _judged(claim, self.ours)
        there = {name: _judged(claim, results) for name, results in self.others.items()}
        words = {name: None if other is None else other.word for name, other in there.items()}
        return at_another_size(word, None if ours is None else ours.word, words)


def table(found: Mapping[str, Results], elsewhere: Mapping[str, OtherChoices]) -> Iterator[str]:
    """Yield the claims as a Markdown table: results by variant, and by what is chosen otherwise."""
    others = (f"{variant}: otherwise" for variant in found)
    heads = ("figure", "claim", *found, "left open", *others)
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    known = next(iter(found.values())).plan.experiments
    for claim in CLAIMS:
        verdicts = {variant: _judged(claim, results) for variant, results in found.items()}
        if not any(verdicts.values()):
            continue
        cells = [
            "not simulated" if verdict is None else f"**{verdict.word}**: {verdict.numbers}"
            for verdict in verdicts.values()
        ]
        cells.append(left_open(claim.figure, known[claim.figure]))
        for variant, verdict in verdicts.items():
            other = elsewhere.get(variant)
            word = None if verdict is None else verdict.word
            cells.append("not simulated" if other is None else other.agreement(claim, word))
        yield f"| {' | '.join((claim.figure, claim.words, *cells))} |"


def _judged(claim: Claim, results: Results) -> Verdict | None:
    """Return a verdict; None if the figure was not, or nowhere, simulated."""
    known = claim.figure in results.plan.experiments and results.xs(claim.figure)
    return claim.test(results) if known else None


def main() -> int:
    """Run the experiments; print the claims and the optima as Markdown tables."""
    parser = cli_arguments.parser(
        "coreservation", main.__doc__, experiments(1), rows=True, stored=True
    )
    parser.add_argument(
        "--shorter", type=float, help="divide chapter 4's simulated time by this: 1, --quick 10"
    )
    parser.add_argument(
        "--proofs", type=int, default=1, help="seeds on which bounds and exact methods run"
    )
    parser.add_argument(
        "--seconds", type=float, default=24, help="limit of each of those that is no bound"
    )
    parser.add_argument(
        "--exact",
        metavar="METHOD,...",
        type=lambda names: cli_arguments.chosen(names, EXACT),
        default=EXACT,
        help=", ".join(EXACT),
    )
    parser.add_argument(
        "--points", type=Path, help="folder of pictures, to take what exact methods gave from"
    )
    parser.add_argument(
        "--others",
        type=int,
        metavar="SEEDS",
        help="under other choices of what the thesis leaves open: 5, --quick none",
    )
    parser.add_argument(
        "--others-shorter",
        type=float,
        default=10.0,
        metavar="SHORTER",
        help="what divides chapter 4's simulated time there",
    )
    wanted = cli_arguments.given(parser)
    seeds = wanted.seeds or int(cli_arguments.size(wanted, 2, 10, 10))
    chosen = _chosen(wanted, wanted.shorter or cli_arguments.size(wanted, 10, 1, 1), wanted.exact)
    plan = RunPlan(chosen, seeds, wanted.proofs, wanted.seconds)
    bare = RunPlan(
        {name: replace(it, exact=()) for name, it in chosen.items()}, seeds, suffix=PRINTED
    )
    plans = {"repaired": plan, PRINTED.strip(): bare}
    few = int(cli_arguments.size(wanted, 0, 5, 5)) if wanted.others is None else wanted.others
    small = sparse(quick(_chosen(wanted, wanted.others_shorter, ()))) if few else {}
    ours = {variant: RunPlan(small, few, suffix=of.suffix) for variant, of in plans.items()}
    others = {
        variant: {
            choice: RunPlan(under(choice, small), few, suffix=of.suffix) for choice in EVERY_CHOICE
        }
        for variant, of in plans.items()
    }
    known = list(drawn(plan, "repaired", wanted.points)) if wanted.points else []
    if wanted.stored:
        rows = {row.run: row for row in stored(wanted.rows)}
    else:
        every = [*plans.values(), *ours.values()]
        every += [one for by in others.values() for one in by.values()]
        runs = dict.fromkeys(run for plan in every for run in plan.runs())
        missing = runs.keys() - {row.run for row in known}
        needed = [run for run in runs if run in missing]
        rows = rows_of(needed, wanted.rows, wanted.processes)
    rows = {**{row.run: row for row in known}, **rows}
    found = {variant: Results(of, rows) for variant, of in plans.items()}
    wanted.out.mkdir(parents=True, exist_ok=True)
    for variant, results in found.items():
        draw(results, variant, wanted.out)
    elsewhere = {
        variant: OtherChoices(
            Results(ours[variant], rows), {name: Results(of, rows) for name, of in by.items()}
        )
        for variant, by in others.items()
    }
    print("\n".join([*table(found, elsewhere if few else {}), "", *optima(found["repaired"])]))
    return 0


def _chosen(wanted: Namespace, shorter: float, exact: Collection[str]) -> dict[str, Experiment]:
    """Return the experiments that are asked for, with some of their exact methods."""
    every = quick(experiments(shorter)) if wanted.quick else experiments(shorter)
    return {
        figure: replace(it, exact=tuple(name for name in it.exact if name in exact))
        for figure, it in every.items()
        if not wanted.only or figure in wanted.only
    }


if __name__ == "__main__":
    sys.exit(main())
