"""Falsification campaign: stored counterexamples are found again, and sound methods searched.

    python -m benchmarks.falsify [--stem S] [--seconds 60] [--seed 0]
    python -m benchmarks.falsify --claims
    python -m benchmarks.falsify --sound [--seconds 60] [--shard 1/4] [--rows ROWS.csv]
    python -m benchmarks.falsify --table ROWS.csv
    python -m benchmarks.falsify --short

The first form prints a line for each pair of a flawed method and a kind of violation that a stored
counterexample shows: seconds until it was found (without shrinking), instances tried, the phase of
the search that found it, and the size of the smallest instance (jobs, machines). The second does
the same for false claims that are no violations. The third searches each method that claims to be
sound or optimal for the given CPU seconds and prints what was tried; it must find nothing. With
`--rows` each search is a line of a file, and an interrupted run resumes, or is extended by more
seconds. `--table` prints the totals of such a file. The last form is for every change: for each
problem a flaw, a false claim and some sound methods, with limits on the instances, in less than a
minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.falsification_log import (
    FORM,
    SearchLog,
    SearchTarget,
    rows_of,
    searches,
    table,
    variants,
)
from benchmarks.rows import kept
from dlopt import DloptError, Status, io, registry, solve
from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.verify import SearchResult, claims, falsify, save

drawn = partial(falsify, shipped=False)
"""A search that draws its instances: it finds flaws again without the counterexamples stored."""

FOLDER = Path(__file__).parents[1] / "instances"

SHORT_FLAWS = (
    ("iit", "epr:literal-roots", "deadline"),
    ("admission", "edf-opr-mn:literal", "channel-overlap"),
    ("multistage", "multi-stage:literal", "node-overlap"),
    ("coreservation", "co-rsbfr:literal", "transient-overload"),
    ("bag", "gds:literal", "duplicate-task"),
)
SHORT_CLAIMS = (
    ("admission", "mcdf", "accepts-what-edf-accepts"),
    ("coreservation", "co-rsbfr", "refining-helps"),
    ("bag", "gds", "meets-what-edf-meets"),
)
SHORT_SOUND = (
    ("iit", ("opr", "exact", "bound-fluid"), 60),
    ("admission", ("edf-iit-2", "fast-edf-iit", "exact"), 24),
    ("multistage", ("multi-stage", "exact", "stage-optimal"), 24),
    ("coreservation", ("co-rsbfr", "exact", "milp"), 24),
    ("dag", ("heft", "exact", "milp"), 24),
    ("bag", ("gds", "exact", "milp"), 24),
)
"""What `--short` searches for, and by how many instances."""


def stored(entry: Method) -> tuple[str, ...]:
    """Return the kinds of violations that the stored counterexamples show of a method."""
    kinds: dict[str, None] = {}
    for file in sorted((FOLDER / entry.stem / "counterexamples").glob("*.json")):
        for options in ({"exact_numbers": True}, {"float_numbers": True}):
            for kind in _kinds(entry, io.read(file, **options)):
                kinds[kind] = None
    return tuple(kinds)


def _kinds(entry: Method, instance: Header) -> Iterator[str]:
    for goal in entry.objectives:
        try:
            found = solve(instance, entry.name, objective=goal)
        except DloptError:
            continue
        if found.status is Status.UNSOUND:
            yield from (violation.kind for violation in found.violations)


def pairs(stems: Iterable[str]) -> Iterator[tuple[Method, str]]:
    """Yield each flawed method with each kind that is stored of it."""
    for stem in stems:
        for entry in registry.methods(stem):
            if entry.claim == "literal-unsound":
                for kind in stored(entry):
                    yield entry, kind


def row(what: str, detail: str, search: SearchResult) -> bool:
    """Print a line of the table; return whether something was found."""
    found = search.finding
    size = "-" if found is None else f"{found.size[0]} x {found.size[1]}"
    line = (
        f"{what:42} {detail:26} {search.seconds:7.2f} {search.tried:8d} {search.rate:7.0f} "
        f"{search.phase or '-':11} {size}"
    )
    print(line, flush=True)
    return found is not None


def header(detail: str) -> None:
    """Print the names of the columns."""
    print(f"{'method':42} {detail:26} {'seconds':>7} {'tried':>8} {'a second':>7} by          size")


def main() -> None:
    """Print a table; exit with 1 if it does not show what it must."""
    parser = argparse.ArgumentParser(description="what falsify finds, and what it does not")
    parser.add_argument("--stem", choices=registry.stems())
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--claims", action="store_true", help="claims that are no violations")
    parser.add_argument("--sound", action="store_true", help="methods that must stand")
    parser.add_argument("--only", choices=("heuristic", "exact", "bound"), help="with --sound")
    parser.add_argument("--floats", action="store_true", help="with --sound: floats throughout")
    parser.add_argument(
        "--variants", action="store_true", help="with --sound: by each objective, with each option"
    )
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="with --sound: a part")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="with --sound: go on with it")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print what such a file says")
    parser.add_argument("--short", action="store_true", help="a few of all, in under a minute")
    parser.add_argument("--out", type=Path, help="write what is found here")
    given = parser.parse_args()
    if given.table:
        print(table(rows_of(given.table)))
        return
    if given.short:
        header("kind, or claim")
        sys.exit(0 if _short(given.seed) else 1)
    search = _sound if given.sound else _claims if given.claims else _flaws
    header("kind" if search is _flaws else "claim")
    sys.exit(0 if search(given, [given.stem] if given.stem else registry.stems()) else 1)


def _flaws(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for each stored flaw; return whether all were found."""
    good = True
    for entry, kind in pairs(stems):
        search = drawn(entry.stem, entry.name, kind=kind, seconds=given.seconds, seed=given.seed)
        good = row(f"{entry.stem} {entry.name}", kind, search) and good
        _save_finding(search, given.out)
    return good


def _claims(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for instances that break what the papers say; return whether all were found."""
    good = True
    for claim in claims():
        for name in claim.methods if str(claim.stem) in stems else ():
            search = drawn(
                str(claim.stem), name, claim=claim.name, seconds=given.seconds, seed=given.seed
            )
            good = row(f"{claim.stem} {name}", claim.name, search) and good
            _save_finding(search, given.out)
    return good


def _sound(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for flaws of methods that must have none; return whether none was found."""
    part, parts = map(int, given.shard.split("/"))
    entries = [
        entry
        for stem in stems
        for entry in registry.methods(stem)
        if entry.claim != "literal-unsound" and given.only in (None, entry.kind)
    ]
    subjects = [
        subject
        for entry in entries
        for subject in (
            variants(entry) if given.variants else [SearchTarget(entry, floats=given.floats)]
        )
    ]
    good = True
    with kept(given.rows, FORM) as rows:
        log = SearchLog(rows)
        for subject in subjects[part - 1 :: parts]:
            entry = subject.entry
            for search in searches(subject, log, given.seconds):
                detail = f"{entry.claim} {subject.asked}".rstrip()
                good = not row(f"{entry.stem} {entry.name}", detail, search) and good
                _save_finding(search, given.out)
        return good and not any(one.found for one in log.rows)


def _short(seed: int) -> bool:
    """Search for a few of all; return whether all was found that must be, and nothing else."""
    good = True
    for stem, name, kind in SHORT_FLAWS:
        search = drawn(stem, name, kind=kind, examples=2_000, seed=seed)
        good = row(f"{stem} {name}", kind, search) and good
    for stem, name, what in SHORT_CLAIMS:
        search = drawn(stem, name, claim=what, examples=2_000, seed=seed)
        good = row(f"{stem} {name}", what, search) and good
    for stem, names, examples in SHORT_SOUND:
        for name in names:
            search = drawn(stem, name, examples=examples, seed=seed)
            good = not row(f"{stem} {name}", registry.method(stem, name).claim, search) and good
    return good


def _save_finding(search: SearchResult, folder: Path | None) -> None:
    if search.finding is not None and folder is not None:
        save(search.finding, folder / search.finding.stem)


if __name__ == "__main__":
    main()
