"""Common command-line arguments of the modules of figures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

FIGURES = Path(__file__).parent / "figures"


def parser(
    module: str,
    text: str | None,
    figures: Iterable[str],
    *,
    rows: bool = False,
    stored: bool = False,
) -> argparse.ArgumentParser:
    """Return a parser with --quick, --full, --only, --seeds, --processes and --out.

    Parameters
    ----------
    module : str
        Of `benchmarks.papers`.
    text : str
        What it does.
    figures : iterable of str
        The names that --only takes.
    rows : bool
        Whether to take --rows, to go on with a run that was stopped.
    stored : bool
        Whether to take --stored, to look at what there is of one; that goes with --rows.
    """
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.papers.{module}", description=text)
    size = made.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small, in minutes")
    size.add_argument("--full", action="store_true", help="the paper's size, ten seeds")
    made.add_argument(
        "--only",
        metavar="FIGURE,...",
        type=lambda names: chosen(names, tuple(figures)),
        help=", ".join(figures),
    )
    made.add_argument("--seeds", type=int)
    made.add_argument("--processes", type=int, default=os.cpu_count())
    made.add_argument("--out", type=Path, default=FIGURES, help="folder of the pictures")
    if rows:
        made.add_argument("--rows", type=Path, help="keep rows here, and go on from those there")
    if stored:
        made.add_argument(
            "--stored", action="store_true", help="run nothing: judge and draw what is in --rows"
        )
    return made


def given(made: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the arguments; rows that are stored must be somewhere."""
    found = made.parse_args()
    if found.stored and found.rows is None:
        made.error("--stored needs --rows FILE")
    return found


def chosen(names: str, figures: tuple[str, ...]) -> tuple[str, ...]:
    """Return the figures that are named, in their order."""
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in figures:
            raise argparse.ArgumentTypeError(f"no figure {name!r} (known: {', '.join(figures)})")
    return tuple(figure for figure in figures if figure in wanted)


def size(given: argparse.Namespace, quick: float, usual: float, full: float) -> float:
    """Return the number that goes with --quick, with neither, or with --full."""
    return quick if given.quick else full if given.full else usual
