"""Reproduce the papers' figures on streams, and test their claims.

``python -m benchmarks.papers.admission --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import CLAIMS, Claim, Verdict, otherwise
from benchmarks.papers.clairvoyant import Bracket, Stream
from benchmarks.papers.experiments import EXPERIMENTS, VARIANTS, WITHOUT, Experiment, Results
from benchmarks.papers.figure_files import curves_of, picture
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.simulation.replications import estimate

_LABELS = {
    "reject_ratio": "reject ratio",
    "miss_ratio": "share of late tasks",
    "utilization": "utilization",
}
_FULL_HORIZON = {"mamat4": 10_000_000, "lin5": 1_000_000}


BEST = {"found": "clairvoyant plan", "bound": "bound on all plans"}
"""What is drawn of a `Bracket` beside reject ratios, and what it is called."""

Brackets = Mapping[tuple[Any, float], Sequence[Bracket]]


def draw(
    name: str,
    results: Results,
    best: Brackets,
    path: Path,
    note: str,
    before_that: Path | None = None,
) -> None:
    """Draw the curves of an experiment: a panel for each measure and each setting.

    Parameters
    ----------
    name : str
    results : Results
    best : mapping
        What is the least that plans reject.
    path : Path
    note : str
    before_that : Path, optional
        A folder of pictures; what is the least is drawn as it was there.
    """
    experiment = results.experiment
    old = curves_of(before_that / path.with_suffix(".csv").name) if before_that else {}
    panels: list[Panel] = []
    for measure in experiment.measures:
        for setting in experiment.settings:
            curves = [
                _curve(method, results, measure, setting, method) for method in experiment.methods
            ]
            if measure == "reject_ratio":
                curves += [_best(best, experiment.loads, setting, which) for which in BEST]
            label = _LABELS[measure]
            if setting is not None:
                label += f", {experiment.parameter} {setting}"
            curves += [curve for curve in old.get(label, ()) if curve.name in BEST.values()]
            panels.append((label, tuple(curve for curve in curves if curve.points)))
    what = f"{experiment.paper}, figure {experiment.figures} ({results.variant})"
    picture(panels, path, title=what, note=note, axis="system load")


def _curve(label: str, results: Results, measure: str, setting: Any, method: str) -> Curve:
    loads = results.experiment.loads
    found = {load: results.points[setting, method, load].estimate(measure) for load in loads}
    return Curve(
        label, tuple(DataPoint(load, *one) for load, one in found.items() if one is not None)
    )


def _best(best: Brackets, loads: Sequence[float], setting: Any, which: str) -> Curve:
    """Return the curve of one side of the brackets; it is empty if there are none."""
    found = {
        load: [getattr(one, which) for one in best[setting, load]]
        for load in loads
        if best.get((setting, load))
    }
    return Curve(BEST[which], tuple(DataPoint(load, *estimate(it)) for load, it in found.items()))


def reject_ratio_table(experiment: Experiment, results: Results, best: Brackets) -> Iterator[str]:
    """Yield a Markdown table: reject ratios in percent, online and of all plans, where known."""
    if not any(best.values()) or "reject_ratio" not in experiment.measures:
        return
    loads = [load for load in experiment.loads if all(best[s, load] for s in experiment.settings)]
    yield f"| {experiment.figures}: reject ratio, % | {' | '.join(f'{it:g}' for it in loads)} |"
    yield f"|---|{'---|' * len(loads)}"
    for setting in experiment.settings:
        of = "" if setting is None else f", {experiment.parameter} {setting}"
        for method in experiment.methods:
            ratios = [
                mean(results.by_seed(method, load, setting=setting)[: len(best[setting, load])])
                for load in loads
            ]
            yield f"| {method}{of} | {' | '.join(f'{100 * it:.1f}' for it in ratios)} |"
        for which, label in BEST.items():
            ratios = [mean(getattr(one, which) for one in best[setting, load]) for load in loads]
            yield f"| {label}{of} | {' | '.join(f'{100 * it:.1f}' for it in ratios)} |"
    yield ""


Verdicts = Mapping[Claim, Mapping[str, Verdict]]
"""Of the claims of an experiment, by variant."""


def judged(name: str, found: Mapping[str, Results]) -> Verdicts:
    """Return what becomes of the claims about an experiment."""
    return {
        claim: {variant: claim.test(results) for variant, results in found.items()}
        for claim in CLAIMS
        if claim.experiment == name.removesuffix(WITHOUT)
    }


def table(
    verdicts: Mapping[str, Verdicts], elsewhere: Mapping[str, Mapping[str, Verdicts]]
) -> Iterator[str]:
    """Yield the claims as a Markdown table.

    Parameters
    ----------
    verdicts : mapping of str to Verdicts
        By experiment.
    elsewhere : mapping of str to (mapping of str to Verdicts)
        By experiment, and by what was chosen otherwise.
    """
    heads = ("figure", "claim", *VARIANTS, *(f"{variant}: otherwise" for variant in VARIANTS))
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for name, claims in verdicts.items():
        others = dict(elsewhere.get(name, {}))
        if name + WITHOUT in verdicts:
            others[WITHOUT.strip()] = verdicts[name + WITHOUT]
        experiment = EXPERIMENTS[name]
        for claim, by_variant in claims.items():
            cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in by_variant.values()]
            for variant, verdict in by_variant.items():
                words = {choice: other[claim][variant].word for choice, other in others.items()}
                cells.append("" if name.endswith(WITHOUT) else otherwise(verdict.word, words))
            figure = f"{experiment.paper}, {experiment.figures}"
            yield f"| {figure} | {claim.words} | {' | '.join(cells)} |"


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = cli_arguments.parser("admission", main.__doc__, EXPERIMENTS)
    parser.add_argument("--shorter", type=float, help="divide the papers' simulated time by this")
    parser.add_argument(
        "--proofs", type=int, help="seeds with a bound and a clairvoyant plan: 1, --quick none"
    )
    parser.add_argument(
        "--otherwise",
        action="store_true",
        help="judge also under other choices of what the papers leave open; so does --full",
    )
    parser.add_argument(
        "--points",
        type=Path,
        help="folder of pictures, to take bounds and clairvoyant plans from; none are computed",
    )
    wanted = parser.parse_args()
    proofs = int(cli_arguments.size(wanted, 0, 1, 1)) if wanted.proofs is None else wanted.proofs
    proofs = 0 if wanted.points else proofs
    seeds = wanted.seeds or int(cli_arguments.size(wanted, 3, 5, 10))
    shorter = wanted.shorter or cli_arguments.size(wanted, 10, 5, 1)
    names = wanted.only or list(EXPERIMENTS)
    wanted.out.mkdir(parents=True, exist_ok=True)
    tables: list[str] = []
    known: dict[Stream, Bracket] = {}
    verdicts: dict[str, Verdicts] = {}
    elsewhere: dict[str, dict[str, Verdicts]] = {}
    for name in names:
        experiment = EXPERIMENTS[name]
        horizon = _FULL_HORIZON[experiment.family] / shorter
        begun = time.perf_counter()
        found = _all_variants(experiment, seeds, horizon, wanted.processes)
        bracketed = 0 if "reject_ratio" not in experiment.measures else proofs
        best = experiment.brackets(bracketed, horizon, wanted.processes, known)
        note = f"{seeds} seeds, time 0 to {horizon:g}, bars: 95 % confidence"
        if bracketed:
            note += f"; bound and clairvoyant: {bracketed} of them"
            tables += reject_ratio_table(experiment, found["repaired"], best)
        elif wanted.points:
            note += "; bound and clairvoyant as drawn before: 1 seed where there are no bars"
        for variant, results in found.items():
            path = wanted.out / f"fig-{name} {variant}.svg".replace(" ", "-")
            draw(name, results, best, path, note, wanted.points)
        verdicts[name] = judged(name, found)
        if wanted.otherwise or wanted.full:
            elsewhere[name] = {
                choice: judged(name, _all_variants(other, seeds, horizon, wanted.processes))
                for choice, other in experiment.otherwise().items()
            }
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print("\n".join([*table(verdicts, elsewhere), "", *tables]))
    return 0


def _all_variants(
    experiment: Experiment, seeds: int, horizon: float, processes: int
) -> dict[str, Results]:
    return {variant: experiment.run(variant, seeds, horizon, processes) for variant in VARIANTS}


if __name__ == "__main__":
    sys.exit(main())
