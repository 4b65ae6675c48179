"""Reproduce the figures of Chen 2001, and test its claims.

``python -m benchmarks.papers.grid --help``
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import otherwise
from benchmarks.papers.figure_files import picture, read_panels
from benchmarks.papers.grid_bounds import CaseBounds, bound, common
from benchmarks.papers.grid_claims import CLAIMS, Claim, required_experiments
from benchmarks.papers.grid_experiments import (
    FULL,
    PHASES,
    QUICK,
    REFERENCE,
    SETTINGS,
    USUAL,
    MissingCaseError,
    OpenChoice,
    Results,
    Scale,
    flat_cases,
)
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.simulation.grid import Credibility, variant
from dlopt.simulation.grid.sweep import GridExperiment, read_rows, sweep
from dlopt.simulation.process_pool import imap_unordered

_LABELS = {
    "met_ratio": "deadlines met",
    "response": "response (s)",
    "external": "external (GB)",
    "internal": "internal (GB)",
}

VARIANTS = {"corrected": "repaired", "literal": "as printed"}
"""Variants of a policy, and what they are called beside the other papers."""
REPAIRED = "corrected"
FIGURES = ("7", "8", "9", "10", "11", "12", "13")
_PHASES = dict(zip((("7", "8"), ("9", "10"), ("11", "12")), PHASES, strict=True))
"""What is varied in figures, two by two: deadlines and response, then traffic."""


def cases(
    scale: Scale, names: Iterable[str], figures: Iterable[str] = FIGURES
) -> list[GridExperiment]:
    """Return every case of some figures, by default of all."""
    found: list[GridExperiment] = []
    varied = [parameter for pair, parameter in _PHASES.items() if {*pair} & {*figures}]
    for name in names:
        for size in scale.sizes:
            for parameter in varied:
                found += [
                    scale.case(name, queue_size=size, **{parameter: value})
                    for value in scale.of(PHASES[parameter])
                ]
        if "13" in figures:
            found += flat_cases(scale, name)
    return [
        replace(case, seed=seed) for case in dict.fromkeys(found) for seed in range(scale.seeds)
    ]


def ends(parameter: str) -> dict[str, float]:
    """Return the values of a parameter that bounds are drawn for, by what they are called."""
    values = PHASES[parameter]
    if parameter == "failure_rate":
        return {"bound": values[0]}  # it is the same for all
    return {f"bound, {parameter} {value:g}": value for value in (values[0], values[-1])}


def bounded(scale: Scale, proofs: int, figures: Iterable[str] = FIGURES) -> list[GridExperiment]:
    """Return the cases that bounds are drawn for."""
    found = [
        scale.case(REPAIRED, **{parameter: value})
        for pair, parameter in _PHASES.items()
        if pair[0] in figures
        for value in ends(parameter).values()
    ]
    if "13" in figures:
        found += flat_cases(scale, REPAIRED)
    cases = dict.fromkeys(common(case) for case in found)
    return [replace(case, seed=seed) for case in cases for seed in range(proofs)]


def credibility() -> None:
    """Print what both rules learn of LANs whose estimates are too short."""
    print("\n| actual / estimate | held against Eq. 3 | against the claim |\n|---|---|---|")
    for bias in (0.25, 1, 2, 4, 9):
        cells = []
        for name in ("corrected+eq3-corrected", "corrected"):
            table = Credibility(variant(name), float)
            for _ in range(5000):
                table.learn(0, bias, table.reference_estimate(0, 1.0))
            cells.append(f"{table.of(0):.3f}")
        print(f"| {bias:g} | {' | '.join(cells)} |")


# figures ----------------------------------------------------------------------------------------


def draw(
    results: Results,
    bounds: CaseBounds,
    names: Sequence[str],
    folder: Path,
    figures: Iterable[str] = FIGURES,
) -> None:
    """Draw figures 7 to 13, or some: deadlines and response, then traffic; a panel a variant."""
    scale = results.scale
    note = noted(scale, results.seeds(), bounds.seeds())
    for pair, parameter in _PHASES.items():
        values = PHASES[parameter]
        for figure, measures in zip(
            pair, (("met_ratio", "response"), ("external", "internal")), strict=True
        ):
            if figure not in figures:
                continue
            panels = [
                (
                    f"{_LABELS[measure]}, {VARIANTS.get(name, name)}",
                    (
                        *_drawn(
                            _curve(
                                results,
                                measure,
                                f"{parameter.replace('_', ' ')} {value:g}",
                                _by_size(scale, name, parameter, value),
                            )
                            for value in scale.of(values)
                        ),
                        *(
                            curve
                            for label, value in ends(parameter).items()
                            for curve in bounds.curve(
                                label, measure, _by_size(scale, name, parameter, value)
                            )
                        ),
                    ),
                )
                for name in names
                for measure in measures
            ]
            _picture(panels, folder, figure, note)
    if "13" not in figures:
        return
    panels = []
    for name in names:
        found = flat_cases(scale, name)
        half = len(found) // 2
        halves = {"one LAN": found[:half], f"{scale.lans} LANs": found[half:]}
        panels += [
            (
                f"{_LABELS[measure]}, {VARIANTS.get(name, name)}",
                (
                    *_drawn(
                        _curve(results, measure, label, some) for label, some in halves.items()
                    ),
                    *(
                        curve
                        for label, some in halves.items()
                        for curve in bounds.curve(f"bound, {label}", measure, some)
                    ),
                ),
            )
            for measure in ("met_ratio", "response")
        ]
    _picture(panels, folder, "13", note)


def noted(scale: Scale, seeds: tuple[int, int], proofs: tuple[int, int] | None) -> str:
    """Return the line below the title: the fewest and the most seeds of curves and of bounds."""
    text = f"{_seeds(*seeds)}, {scale.lans} LANs, bars: 95 % confidence"
    return text if proofs is None else f"{text}; bounds: {_seeds(*proofs)}"


def _seeds(few: int, most: int) -> str:
    return f"{most if few == most else f'{few} to {most}'} seed{'s' * (most > 1)}"


def redraw(scale: Scale, proofs: int, folder: Path, figures: Iterable[str] = FIGURES) -> None:
    """Draw figures again from the points beside them, which have as many seeds as it is said."""
    for figure in figures:
        panels = read_panels(folder / f"chen-fig-{figure}.csv")
        bounded = any(curve.name.startswith("bound") for _, curves in panels for curve in curves)
        seeds, of_bounds = (scale.seeds, scale.seeds), (proofs, proofs) if bounded else None
        _picture(panels, folder, figure, noted(scale, seeds, of_bounds))


def _picture(panels: Sequence[Panel], folder: Path, figure: str, note: str) -> None:
    path, title = folder / f"chen-fig-{figure}.svg", f"Chen 2001, figure {figure}"
    picture(panels, path, title=title, note=note, axis="SWQ")


def _by_size(scale: Scale, name: str, parameter: str, value: float) -> list[GridExperiment]:
    return [scale.case(name, queue_size=size, **{parameter: value}) for size in scale.sizes]


def _curve(results: Results, measure: str, name: str, of: Sequence[GridExperiment]) -> Curve:
    unit = 1e6 if "GB" in _LABELS[measure] else 1.0  # of KB
    spots = []
    for case in of:
        if results.has(case):
            mean, half = results.spread(measure, case)
            spots.append(
                DataPoint(case.queue_size, mean / unit, None if half is None else half / unit)
            )
    return Curve(name, tuple(spots))


def _drawn(curves: Iterable[Curve]) -> tuple[Curve, ...]:
    return tuple(curve for curve in curves if curve.points)


def _cell(results: Results, claim: Claim, name: str) -> str:
    try:
        verdict = claim.test(results, name)
    except MissingCaseError:
        return "not simulated"
    return f"**{verdict.word}**: {verdict.numbers}"


def _word(results: Results, claim: Claim, name: str) -> str | None:
    """Return a verdict in a setting; None if it is not another one there, or not simulated."""
    setting = results.scale.setting
    if claim.figure == "13" and setting != REFERENCE and not setting.flat:
        return None
    try:
        return claim.test(results, name).word
    except MissingCaseError:
        return None


def robust(reference: Results, others: Sequence[Results], claim: Claim, name: str) -> str:
    """Return whether a verdict is the same in all settings, or on what it depends."""
    elsewhere = {other.scale.setting.name: _word(other, claim, name) for other in others}
    return otherwise(_word(reference, claim, name), elsewhere)


def parse_settings(text: str) -> list[OpenChoice]:
    """Return the settings of a list with semicolons, or all."""
    known = {setting.name: setting for setting in (REFERENCE, *SETTINGS)}
    if text == "all":
        return list(known.values())
    names = [name.strip() for name in text.split(";")]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"no setting {name!r} (known: {'; '.join(known)})")
    return [known[name] for name in names]


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = cli_arguments.parser("grid", main.__doc__, FIGURES, rows=True, stored=True)
    parser.add_argument("--proofs", type=int, help="seeds with bounds: 1, --quick none")
    parser.add_argument(
        "--redraw", action="store_true", help="run nothing: draw the points in --out again"
    )
    parser.add_argument("--scale", type=int, metavar="LANS", help="20; --full 100, as the thesis")
    parser.add_argument(
        "--settings",
        type=parse_settings,
        metavar="NAME;...",
        help="which are simulated: reference (--quick) and "
        + "; ".join(setting.name for setting in SETTINGS),
    )
    wanted = cli_arguments.given(parser)
    proofs = int(cli_arguments.size(wanted, 0, 1, 1)) if wanted.proofs is None else wanted.proofs
    figures = wanted.only or FIGURES
    scale = QUICK if wanted.quick else FULL if wanted.full else USUAL
    scale = replace(scale, seeds=wanted.seeds or scale.seeds, lans=wanted.scale or scale.lans)
    settings = wanted.settings or ([REFERENCE] if wanted.quick else [REFERENCE, *SETTINGS])
    wanted.out.mkdir(parents=True, exist_ok=True)
    if wanted.redraw:
        redraw(scale, proofs, wanted.out, figures)
        return 0
    begun = time.perf_counter()

    def progress(done: int, total: int) -> None:
        spent = time.perf_counter() - begun
        print(f"\r{done} of {total}, {spent:.0f} s", end="", file=sys.stderr, flush=True)

    others = [_scaled(scale, setting) for setting in settings if setting != REFERENCE]
    wished = cases(scale, VARIANTS, figures) if REFERENCE in settings else []
    for other in others:
        wished += required_experiments(other, VARIANTS, figures)
    if wanted.stored:
        known = {replace(case, seed=0) for case in wished}
        rows = tuple(row for row in read_rows(wanted.rows) if replace(row.case, seed=0) in known)
    else:
        rows = sweep(wished, processes=wanted.processes, path=wanted.rows, progress=progress)
        print(file=sys.stderr)
    results, elsewhere = Results(scale, rows), [Results(other, rows) for other in others]
    print(f"{len(rows)} simulations, {sum(float(row.seconds) for row in rows):.0f} s\n")
    if REFERENCE in settings:
        looked = bounded(scale, proofs, figures)
        bounds = CaseBounds(imap_unordered(bound, looked, wanted.processes) if looked else ())
        draw(results, bounds, tuple(VARIANTS), wanted.out, figures)
    for line in robustness_table(results, elsewhere, figures):
        print(line)
    credibility()
    return 0


def _scaled(scale: Scale, setting: OpenChoice) -> Scale:
    """Return what is simulated of a setting: the cases of claims only."""
    sizes = tuple(size for size in scale.sizes if size in (1, 2, 3, scale.sizes[-1]))
    return replace(scale, sizes=sizes, ends=True, setting=setting)


def robustness_table(
    results: Results, others: Sequence[Results], figures: Iterable[str]
) -> Iterator[str]:
    """Yield the lines of a table: each claim, and whether it holds in other settings."""
    names = VARIANTS.values()
    heads = ("figure", "claim", *names, "left open", *(f"{name}: otherwise" for name in names))
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for claim in CLAIMS:
        if claim.figure in figures:
            cells = [_cell(results, claim, name) for name in VARIANTS]
            ends = [robust(results, others, claim, name) for name in VARIANTS]
            row = (claim.figure, claim.words, *cells, claim.open, *ends)
            yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    sys.exit(main())
