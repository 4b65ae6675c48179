"""Reproduce figures 7 to 10 of Liu, Baskiyar and Li 2007, and test the paper's claims.

The paper gives 17 sites of 20 to 50 machines, CCR from .05 to 20 and 20 runs. Everything else is
ours: see `dlopt.generation.bag.gds` for the grid, and `SETTINGS` in `bag_runs` for the sensitivity
to it. Deadlines do not depend on the number of tasks: they are uniform up to the time in which all
machines together do the work of `BASE` tasks, so that the load grows with the tasks.

The paper does not say how the baselines place tasks. Ours know all sites, append a task to the
machine on which it ends first (after its input has arrived), and drop it if it would be tardy there
(*drop late*). Two more readings are compared: tardy tasks run all the same (*run late*), as in the
original definition of EDF, or tasks stay at their own sites (*at home*). A verdict that is the same
under all three is *robust*.

``python -m benchmarks.papers.bag --help``
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.papers import cli_arguments
from benchmarks.papers.bag_claims import (
    BASELINES,
    BESIDE,
    CLAIMS,
    READINGS,
    Averages,
    Claim,
    robust,
)
from benchmarks.papers.bag_runs import (
    BLIND,
    BOUND,
    FORM,
    MEASURES,
    OPTIMA,
    SLIPS,
    Experiment,
    SuccessRow,
    experiments,
    rows_of,
)
from benchmarks.papers.claims import otherwise
from benchmarks.papers.figure_files import picture
from benchmarks.rows import kept
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.simulation.replications import estimate


class Results(Averages):
    """Rows by experiment, abscissa and method."""

    def __init__(self, rows: Iterable[SuccessRow], chosen: Mapping[str, Experiment]) -> None:
        self.chosen = chosen
        self._found: dict[tuple[str, str, str], dict[int, SuccessRow]] = defaultdict(dict)
        for row in rows:
            self._found[row.experiment, row.x, row.label][row.seed] = row

    def xs(self, experiment: str) -> list[str]:
        """Return the abscissae of an experiment."""
        return [str(x) for x in self.chosen[experiment].points]

    def values(self, experiment: str, x: str, label: str, measure: str) -> dict[int, float]:
        """Return a measure by seed; where optima are asked for, of proven instances only."""
        open_ones = {
            seed
            for name in OPTIMA
            for seed, row in self._found.get((experiment, x, name), {}).items()
            if not row.proven
        }
        rows = self._found.get((experiment, x, label), {})
        found = {seed: getattr(row, measure) for seed, row in rows.items() if seed not in open_ones}
        return {seed: value for seed, value in found.items() if value is not None}

    def curve(self, experiment: str, label: str, measure: str) -> Curve:
        """Return a curve with confidence intervals."""
        spots = []
        for place, x in enumerate(self.xs(experiment)):
            values = list(self.values(experiment, x, label, measure).values())
            if values:
                spots.append(DataPoint(float(x) if x.isdigit() else place, *estimate(values)))
        return Curve(label, tuple(spots))


class ErratumResults(Averages):
    """Results with a published or otherwise read variant of GDS."""

    def __init__(self, results: Results, slip: str) -> None:
        self._results, self._slip = results, slip

    def xs(self, experiment: str) -> list[str]:
        """Return the abscissae of an experiment."""
        return self._results.xs(experiment)

    def values(self, experiment: str, x: str, label: str, measure: str) -> dict[int, float]:
        """Return a measure by seed."""
        name = self._slip if label == "GDS" else label
        return self._results.values(experiment, x, name, measure)

    def word(self, claim: Claim) -> str | None:
        """Return what becomes of a claim, where late tasks are dropped; None without any plan."""
        if not any(label in SLIPS for label in self._results.chosen[claim.experiment].runs):
            return None
        for measure in MEASURES:
            for x in self.xs(claim.experiment):
                if not self.values(claim.experiment, x, "GDS", measure):
                    return None
        return next(iter(claim.verdicts(self).values())).word


# figures ----------------------------------------------------------------------------------------

_OTHERS = ("GDS", *BASELINES)
_BOTH = ("GDS", "GDS without Shuffle")


def figure_7(results: Results, folder: Path, note: str) -> None:
    """Draw how many critical tasks GDS and the others meet; below, the readings of the others."""
    _compare(results, folder, note, 7, "critical")


def figure_8(results: Results, folder: Path, note: str) -> None:
    """Draw the same of all tasks."""
    _compare(results, folder, note, 8, "overall")


def figure_9(results: Results, folder: Path, note: str) -> None:
    """Draw what Shuffle does for critical tasks, on the grid and beside the optimum."""
    _shuffle(results, folder, note, 9, "critical")


def figure_10(results: Results, folder: Path, note: str) -> None:
    """Draw the same of all tasks."""
    _shuffle(results, folder, note, 10, "overall")


def small_grids(results: Results, folder: Path, note: str) -> None:
    """Draw both measures on small grids, beside proven optima."""
    labels = (*_OTHERS, "priority-EDF", *OPTIMA)
    panels = [_panel(results, "small", f"{m} SSR", m, labels) for m in MEASURES]
    _drawn(panels, folder / "liu-small.svg", "small grids beside the optimum", note)


FIGURES = {
    "7": (figure_7, ("grid",)),
    "8": (figure_8, ("grid",)),
    "9": (figure_9, ("grid",)),
    "10": (figure_10, ("grid",)),
    "small": (small_grids, ("small",)),
}
"""What draws a figure, and the experiments that it draws."""


def needed(names: Iterable[str]) -> set[str]:
    """Return the experiments that are drawn in some figures, or that claims of them are about.

    What is no figure is an experiment itself.
    """
    drawn = {it for name in names for it in FIGURES.get(name, (None, (name,)))[1]}
    return drawn | {claim.experiment for claim in CLAIMS if claim.figure in names}


def _compare(results: Results, folder: Path, note: str, number: int, measure: str) -> None:
    panels = [
        _panel(results, "grid", f"{measure} SSR", measure, (*_OTHERS, "priority-EDF", BOUND)),
        *(
            _panel(
                results,
                "grid",
                f"{measure} SSR, {reading}",
                measure,
                ("GDS", *(f"{label}{suffix}" for label in BASELINES), BOUND),
            )
            for reading, suffix in READINGS.items()
            if suffix
        ),
    ]
    _drawn(panels, folder / f"liu-fig-{number}.svg", f"figure {number}", note)


def _shuffle(results: Results, folder: Path, note: str, number: int, measure: str) -> None:
    panels = [_panel(results, "grid", f"{measure} SSR", measure, (*_BOTH, BLIND, BOUND))]
    _drawn(panels, folder / f"liu-fig-{number}.svg", f"figure {number}", note)


def _panel(
    results: Results, experiment: str, title: str, measure: str, labels: Sequence[str]
) -> Panel:
    curves = (results.curve(experiment, label, measure) for label in labels)
    short = (replaced(curve) for curve in curves if curve.points)
    return title, tuple(short)


def replaced(curve: Curve) -> Curve:
    """Return a curve under the name of its method, so that it looks alike in all panels."""
    return curve._replace(name=curve.name.split(", ")[0])


def _drawn(panels: Sequence[Panel], path: Path, title: str, note: str) -> None:
    full = f"Liu, Baskiyar and Li 2007, {title}"
    picture(panels, path, title=full, note=note, axis="tasks")


# tables -----------------------------------------------------------------------------------------


def judged(results: Results, title: str, claims: Iterable[Claim]) -> Iterator[str]:
    """Yield verdicts as a Markdown table, under each reading of the baselines if they matter.

    The last column tells what becomes of the first verdict if GDS has a slip, or is read otherwise.
    To the letter it does not end, so that there is nothing to judge.
    """
    yield f"| figure | {title} | {' | '.join(READINGS)} | verdict | GDS: otherwise |"
    yield f"|---|---|{'---|' * len(READINGS)}---|---|"
    for claim in claims:
        verdicts = claim.verdicts(results)
        cells = [f"**{one.word}**: {one.numbers}" for one in verdicts.values()]
        last = robust(verdicts) if claim.read else "about GDS alone"
        cells += ["-"] * (len(READINGS) - len(cells))
        slips = {slip: ErratumResults(results, slip).word(claim) for slip in SLIPS}
        cells += [last, otherwise(next(iter(verdicts.values())).word, slips)]
        yield f"| {claim.figure} | {claim.words} | {' | '.join(cells)} |"


def table(results: Results, experiment: str) -> Iterator[str]:
    """Yield means with confidence intervals as a Markdown table: critical / overall, in percent."""
    xs = results.xs(experiment)
    labels = results.chosen[experiment].runs
    yield f"| {experiment} | {' | '.join(xs)} |"
    yield f"|---|{'---|' * len(xs)}"
    for label in labels:
        cells = [
            " / ".join(
                shown(list(results.values(experiment, x, label, measure).values()))
                for measure in MEASURES
            )
            for x in xs
        ]
        yield f"| {label} | {' | '.join(cells)} |"


def shown(values: Sequence[float]) -> str:
    """Return a mean of shares, and half of its interval, in percent."""
    if not values:
        return "-"
    mean, half = estimate(values)
    return f"{100 * mean:.1f}" + ("" if half is None else f" ± {100 * half:.1f}")


def main() -> int:
    """Run the experiments; print the claims, then the means, as Markdown tables."""
    known = tuple(dict.fromkeys((*FIGURES, *experiments(1, quick=True))))
    wanted = cli_arguments.parser("bag", main.__doc__, known, rows=True).parse_args()
    runs = wanted.seeds or int(cli_arguments.size(wanted, 4, 20, 20))
    chosen = experiments(runs, quick=wanted.quick)
    if wanted.only:
        chosen = {name: it for name, it in chosen.items() if name in needed(wanted.only)}
    scale = "quick" if wanted.quick else "full"
    with kept(wanted.rows, FORM) as found:
        rows = rows_of(chosen, scale, found, wanted.processes)
    results = Results(rows, chosen)
    for title, asked in (("claim", CLAIMS), ("beside the claims", BESIDE)):
        chosen_claims = [
            claim
            for claim in asked
            if claim.experiment in chosen
            and (not wanted.only or {claim.figure, claim.experiment} & {*wanted.only})
        ]
        print("\n".join([*judged(results, title, chosen_claims), ""]))
    for name in chosen:
        print("\n".join([*table(results, name), ""]))
    wanted.out.mkdir(parents=True, exist_ok=True)
    for name, (figure, _) in FIGURES.items():
        if not wanted.only or name in wanted.only:
            figure(results, wanted.out, f"{runs} runs, bars: 95 % confidence")
    return 0


if __name__ == "__main__":
    sys.exit(main())
