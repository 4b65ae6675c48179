"""Compare extensions of Chen 2001 with it: bids by the near-future load, competitive scheduling.

``python -m benchmarks.papers.grid_extensions --help``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.papers.grid_claims import percents, signed
from benchmarks.papers.grid_experiments import USUAL, Results, Scale
from dlopt.simulation.grid.sweep import GridExperiment, sweep

THESIS = "corrected"
EXTENSIONS = {
    "near-future load": "corrected+near-future-load",
    "competitive": "corrected+competitive",
}
"""What is held against the thesis' schedulers (repaired), by the names in the table."""
INTERVALS = (1000, 2000, 4000)
SIZES = (1, 3)


def cases(scale: Scale) -> list[GridExperiment]:
    """Return every case, for every seed."""
    return [
        replace(scale.case(name, interval=interval, queue_size=size), seed=seed)
        for interval in INTERVALS
        for size in SIZES
        for name in (THESIS, *EXTENSIONS.values())
        for seed in range(scale.seeds)
    ]


def table(results: Results) -> Iterator[str]:
    """Yield lines of Markdown: means, and differences to the thesis' schedulers seed by seed."""
    heads = ["interval", "SWQ", "measure", "two levels", *EXTENSIONS]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for interval in INTERVALS:
        for size in SIZES:
            given = {"interval": interval, "queue_size": size}
            for measure, label in (("met_ratio", "deadlines met"), ("response", "response (s)")):
                row = [f"{interval}", f"{size}", label]
                row += [_cell(results, measure, name, given) for name in (THESIS, *EXTENSIONS)]
                yield f"| {' | '.join(row)} |"


def _cell(results: Results, measure: str, name: str, given: dict[str, float]) -> str:
    """Return a mean, and by how much it differs: in points of per cent, or in per cent."""
    case = results.scale.case(EXTENSIONS.get(name, name), **given)
    usual = results.scale.case(THESIS, **given)
    shares = measure == "met_ratio"
    mean = results.spread(measure, case)[0]
    text = percents([mean]) if shares else f"{mean:.0f}"
    if case == usual:
        return text
    return f"{text} ({signed(results.gain(measure, usual, case, relative=not shares))})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.grid_extensions", description=main.__doc__
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scale", type=int, metavar="LANS", default=USUAL.lans)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="keep rows here, and go on from those there")
    wanted = parser.parse_args(arguments)
    scale = replace(USUAL, seeds=wanted.seeds, lans=wanted.scale)
    rows = sweep(cases(scale), processes=wanted.processes, path=wanted.rows)
    print(f"{len(rows)} simulations, {sum(float(row.seconds) for row in rows):.0f} s\n")
    for line in table(Results(scale, rows)):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
