"""Every stored flaw found again from nothing, and the time for which sound methods stood.

    python -m benchmarks.falsify [--stem S] [--seconds 60] [--seed 0]
    python -m benchmarks.falsify --claims
    python -m benchmarks.falsify --sound [--seconds 60] [--shard 1/4]

The first prints a line for each pair of a flawed method and a kind of violation that a stored
counterexample shows: seconds until it was found (without shrinking), instances tried, what found
it, and the size of the smallest instance (jobs, machines). The second does the same for the
claims that are no violations. The third lets each method that claims to be sound or optimal be
searched for so many seconds and prints what was tried; it must find nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dlopt import DloptError, Status, io, registry, solve
from dlopt.problems.records import Header
from dlopt.registry import Method
from dlopt.verify import Search, claims, falsify, save

FOLDER = Path(__file__).parents[1] / "instances"


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


def row(what: str, detail: str, search: Search) -> bool:
    """Print a line of the table; return whether something was found."""
    found = search.finding
    size = "-" if found is None else f"{found.size[0]} x {found.size[1]}"
    told = (
        f"{what:42} {detail:26} {search.seconds:7.2f} {search.tried:8d} {search.rate:7.0f} "
        f"{search.phase or '-':11} {size}"
    )
    print(told, flush=True)
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
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="with --sound: a part")
    parser.add_argument("--out", type=Path, help="write what is found here")
    given = parser.parse_args()
    table = _sound if given.sound else _claims if given.claims else _flaws
    header("kind" if table is _flaws else "claim")
    sys.exit(0 if table(given, [given.stem] if given.stem else registry.stems()) else 1)


def _flaws(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for each stored flaw; return whether all were found."""
    good = True
    for entry, kind in pairs(stems):
        search = falsify(entry.stem, entry.name, kind=kind, seconds=given.seconds, seed=given.seed)
        good = row(f"{entry.stem} {entry.name}", kind, search) and good
        _told(search, given.out)
    return good


def _claims(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for instances that break what the papers say of single methods."""
    for claim in claims():
        for name in claim.methods if str(claim.stem) in stems else ():
            search = falsify(
                str(claim.stem), name, claim=claim.name, seconds=given.seconds, seed=given.seed
            )
            row(f"{claim.stem} {name}", claim.name, search)
            _told(search, given.out)
    return True


def _sound(given: argparse.Namespace, stems: Iterable[str]) -> bool:
    """Search for flaws of methods that must have none; return whether none was found."""
    part, parts = map(int, given.shard.split("/"))
    entries = [
        entry
        for stem in stems
        for entry in registry.methods(stem)
        if entry.claim != "literal-unsound" and given.only in (None, entry.kind)
    ]
    good = True
    for entry in entries[part - 1 :: parts]:
        search = falsify(
            entry.stem, entry.name, seconds=given.seconds, seed=given.seed, floats=given.floats
        )
        good = not row(f"{entry.stem} {entry.name}", entry.claim, search) and good
        _told(search, given.out)
    return good


def _told(search: Search, folder: Path | None) -> None:
    if search.finding is not None and folder is not None:
        save(search.finding, folder / search.finding.stem)


if __name__ == "__main__":
    main()
