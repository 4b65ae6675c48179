"""Draw the papers' figures on streams again, and hold their claims against them.

``python -m benchmarks.papers.admission --help``
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.papers import arguments
from benchmarks.papers.claims import CLAIMS
from benchmarks.papers.experiments import EXPERIMENTS, VARIANTS, WITHOUT, Results
from dlopt.plotting.curves import Curve, Panel, Spot, plot_curves

_LABELS = {
    "reject_ratio": "reject ratio",
    "miss_ratio": "share of late tasks",
    "utilization": "utilization",
}
_FULL_HORIZON = {"mamat4": 10_000_000, "lin5": 1_000_000}


def draw(name: str, results: Results, path: Path, note: str) -> None:
    """Draw the curves of an experiment: one panel a measure."""
    experiment = results.experiment
    panels: list[Panel] = []
    for measure in experiment.measures:
        curves = []
        for setting in experiment.settings:
            for method in experiment.methods:
                spots = []
                for load in experiment.loads:
                    found = results.points[setting, method, load].estimate(measure)
                    if found is not None:
                        spots.append(Spot(load, found.mean, found.half_width))
                label = method if setting is None else f"{method}, {setting}"
                curves.append(Curve(label, tuple(spots)))
        panels.append((_LABELS[measure], tuple(curves)))
    what = f"{experiment.paper}, figure {experiment.figures}"
    if experiment.parameter is not None:
        what += f": {experiment.parameter}"
    plot_curves(panels, path, title=f"{what} ({results.variant})", note=note, axis="system load")


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = arguments.parser("admission", main.__doc__, EXPERIMENTS)
    parser.add_argument("--shorter", type=float, help="divide the papers' simulated time by this")
    wanted = parser.parse_args()
    seeds = wanted.seeds or int(arguments.size(wanted, 3, 5, 10))
    shorter = wanted.shorter or arguments.size(wanted, 10, 5, 1)
    names = wanted.only or list(EXPERIMENTS)
    wanted.out.mkdir(parents=True, exist_ok=True)
    print("| figure | claim | sound | as printed |\n|---|---|---|---|")
    for name in names:
        experiment = EXPERIMENTS[name]
        horizon = _FULL_HORIZON[experiment.family] / shorter
        begun = time.perf_counter()
        found = {
            variant: experiment.run(variant, seeds, horizon, wanted.processes)
            for variant in VARIANTS
        }
        note = f"{seeds} seeds, time 0 to {horizon:g}, bars: 95 % confidence"
        for variant, results in found.items():
            path = wanted.out / f"fig-{name} {variant}.svg".replace(" ", "-")
            draw(name, results, path, note)
        for claim in CLAIMS:
            if claim.experiment == name.removesuffix(WITHOUT):
                verdicts = [claim.test(results) for results in found.values()]
                cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts]
                figure = f"{experiment.paper}, {experiment.figures}"
                print(f"| {figure} | {claim.words} | {' | '.join(cells)} |", flush=True)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
