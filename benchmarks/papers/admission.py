"""Draw the papers' figures on streams again, and hold their claims against them.

``python -m benchmarks.papers.admission --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.papers import arguments
from benchmarks.papers.claims import CLAIMS
from benchmarks.papers.clairvoyant import Bracket, Stream
from benchmarks.papers.experiments import EXPERIMENTS, VARIANTS, WITHOUT, Experiment, Results
from benchmarks.papers.pictures import picture
from dlopt.plotting.curves import Curve, Panel, Spot
from dlopt.simulation.many import estimate

_LABELS = {
    "reject_ratio": "reject ratio",
    "miss_ratio": "share of late tasks",
    "utilization": "utilization",
}
_FULL_HORIZON = {"mamat4": 10_000_000, "lin5": 1_000_000}


BEST = {"found": "clairvoyant plan", "bound": "bound on all plans"}
"""What is drawn of a `Bracket` beside reject ratios, and what it is called."""

Brackets = Mapping[tuple[Any, float], Sequence[Bracket]]


def draw(name: str, results: Results, best: Brackets, path: Path, note: str) -> None:
    """Draw the curves of an experiment: a panel for each measure and each setting."""
    experiment = results.experiment
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
            panels.append((label, tuple(curve for curve in curves if curve.spots)))
    what = f"{experiment.paper}, figure {experiment.figures} ({results.variant})"
    picture(panels, path, title=what, note=note, axis="system load")


def _curve(label: str, results: Results, measure: str, setting: Any, method: str) -> Curve:
    loads = results.experiment.loads
    found = {load: results.points[setting, method, load].estimate(measure) for load in loads}
    return Curve(label, tuple(Spot(load, *one) for load, one in found.items() if one is not None))


def _best(best: Brackets, loads: Sequence[float], setting: Any, which: str) -> Curve:
    """Return the curve of one side of the brackets; it is empty if there are none."""
    found = {
        load: [getattr(one, which) for one in best[setting, load]]
        for load in loads
        if best.get((setting, load))
    }
    return Curve(BEST[which], tuple(Spot(load, *estimate(it)) for load, it in found.items()))


def told(experiment: Experiment, results: Results, best: Brackets) -> Iterator[str]:
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


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = arguments.parser("admission", main.__doc__, EXPERIMENTS)
    parser.add_argument("--shorter", type=float, help="divide the papers' simulated time by this")
    parser.add_argument(
        "--proofs", type=int, help="seeds with a bound and a clairvoyant plan: 1, --quick none"
    )
    wanted = parser.parse_args()
    proofs = int(arguments.size(wanted, 0, 1, 1)) if wanted.proofs is None else wanted.proofs
    seeds = wanted.seeds or int(arguments.size(wanted, 3, 5, 10))
    shorter = wanted.shorter or arguments.size(wanted, 10, 5, 1)
    names = wanted.only or list(EXPERIMENTS)
    wanted.out.mkdir(parents=True, exist_ok=True)
    tables: list[str] = []
    known: dict[Stream, Bracket] = {}
    print("| figure | claim | sound | as printed |\n|---|---|---|---|")
    for name in names:
        experiment = EXPERIMENTS[name]
        horizon = _FULL_HORIZON[experiment.family] / shorter
        begun = time.perf_counter()
        found = {
            variant: experiment.run(variant, seeds, horizon, wanted.processes)
            for variant in VARIANTS
        }
        bracketed = 0 if "reject_ratio" not in experiment.measures else proofs
        best = experiment.brackets(bracketed, horizon, wanted.processes, known)
        note = f"{seeds} seeds, time 0 to {horizon:g}, bars: 95 % confidence"
        if bracketed:
            note += f"; bound and clairvoyant: {bracketed} of them"
            tables += told(experiment, found["sound"], best)
        for variant, results in found.items():
            path = wanted.out / f"fig-{name} {variant}.svg".replace(" ", "-")
            draw(name, results, best, path, note)
        for claim in CLAIMS:
            if claim.experiment == name.removesuffix(WITHOUT):
                verdicts = [claim.test(results) for results in found.values()]
                cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts]
                figure = f"{experiment.paper}, {experiment.figures}"
                print(f"| {figure} | {claim.words} | {' | '.join(cells)} |", flush=True)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(["", *tables]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
