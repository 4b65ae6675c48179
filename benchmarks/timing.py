"""Timing: interleaved repetitions, medians, stopwatches inside other code, and tables."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import platform
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

SHORTEST = 0.05
"""Seconds that one sample takes at the least: shorter calls are repeated within it, so that other
processes on the machine slow short and long tasks alike."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of one task in every round, and what each round returned.

    Parameters
    ----------
    seconds : tuple of float
        Of one call, round by round.
    answers : tuple
        What the task returned in each round.
    """

    seconds: tuple[float, ...]
    answers: tuple[Any, ...]

    @property
    def median(self) -> float:
        """Median over the rounds."""
        return statistics.median(self.seconds)

    @property
    def answer(self) -> Any:
        """What the last call returned."""
        return self.answers[-1]

    def ratio(self, other: Timing) -> float:
        """Return how much longer this takes than another: the median over the rounds.

        Both stand next to each other in a round, so that a busy machine slows both.
        """
        pairs = zip(self.seconds, other.seconds, strict=True)
        return statistics.median(own / theirs for own, theirs in pairs)


def interleaved(
    tasks: Mapping[str, Callable[[], Any]], rounds: int, budget: float = 60.0
) -> dict[str, Timing]:
    """Time tasks in turn, round by round, so that noise hits all of them alike.

    Parameters
    ----------
    tasks : mapping of str to callable
    rounds : int
        At the most, after one warm-up.
    budget : float
        Seconds. Fewer rounds are done if this many would not fit; if not even one would, the
        warm-up counts as the only round.

    Returns
    -------
    dict of str to Timing
    """
    repeats, first = {}, {}
    for name, task in tasks.items():
        first[name] = _sample(task, 1)
        if first[name][0] < SHORTEST:
            repeats[name] = int(SHORTEST / _sample(task, 1)[0]) + 1
            first[name] = _sample(task, repeats[name])
    duration = sum(spent * repeats.get(name, 1) for name, (spent, _) in first.items())
    if duration > budget:
        return {name: Timing((spent,), (answer,)) for name, (spent, answer) in first.items()}
    samples: dict[str, list[tuple[float, Any]]] = {name: [] for name in tasks}
    for _ in range(max(1, min(rounds, int(budget / duration)))):
        for name, task in tasks.items():
            samples[name].append(_sample(task, repeats.get(name, 1)))
    return {
        name: Timing(tuple(spent for spent, _ in found), tuple(answer for _, answer in found))
        for name, found in samples.items()
    }


def once(task: Callable[[], Any]) -> Timing:
    """Time one call without a warm-up, for what takes long."""
    spent, answer = _sample(task, 1)
    return Timing((spent,), (answer,))


def _sample(task: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    gc.collect()
    gc.disable()
    try:
        begun = time.perf_counter()
        for _ in range(repeats):
            answer = task()
        return (time.perf_counter() - begun) / repeats, answer
    finally:
        gc.enable()


@contextlib.contextmanager
def stopwatches(places: Sequence[tuple[Any, str, str]]) -> Iterator[dict[str, float]]:
    """Add up the seconds that functions take while the context lasts.

    Parameters
    ----------
    places : sequence of (object, str, str)
        A class or module, the name of a function in it, and the label to add its time to.

    Yields
    ------
    dict of str to float
        Seconds by label; ``calls LABEL`` counts.
    """
    spent: dict[str, float] = defaultdict(float)
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for (owner, name, original), (_, _, label) in zip(originals, places, strict=True):
        setattr(owner, name, _watched(original, label, spent))
    try:
        yield spent
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


def _watched(original: Callable[..., Any], label: str, spent: dict[str, float]) -> Any:
    def watched(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            spent[label] += time.perf_counter() - begun
            spent[f"calls {label}"] += 1

    return watched


@contextlib.contextmanager
def solver_output_to_stderr() -> Iterator[None]:
    """Keep out of the tables what HiGHS prints on standard output behind Python's back."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


@dataclass
class Report:
    """Tables and targets, printed as they come and kept for a JSON file.

    Parameters
    ----------
    quick : bool
        Whether the run leaves out what takes long.
    """

    quick: bool
    tables: list[dict[str, Any]] = field(default_factory=list)
    targets: list[dict[str, Any]] = field(default_factory=list)
    _widths: list[int] = field(default_factory=list)

    def table(self, title: str, *columns: str) -> None:
        """Begin a table."""
        self.tables.append({"title": title, "columns": list(columns), "rows": []})
        self._widths = [max(8, len(column)) for column in columns]
        self._widths[0] = max(self._widths[0], 26)
        print(f"\n{title}\n{'-' * len(title)}")
        self._line(columns)

    def row(self, *cells: Any) -> None:
        """Add a row."""
        self.tables[-1]["rows"].append(list(cells))
        self._line([_shown(cell) for cell in cells])

    def target(self, name: str, text: str, passed: bool) -> None:
        """Say whether a target is met."""
        self.targets.append({"target": name, "measured": text, "passed": passed})
        print(f"{'PASS' if passed else 'FAIL'}  {name}: {text}", flush=True)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        packages = ("dlopt", "highspy", "ortools", "pulp")
        machine = {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "versions": {package: version(package) for package in packages},
        }
        data = {**machine, "quick": self.quick, "tables": self.tables, "targets": self.targets}
        path.write_text(json.dumps(data, indent=1) + "\n")

    def write_markdown(self, path: Path, command: str) -> None:
        """Write the tables, each below its date and command, and the targets as a page."""
        measured = (
            f"Measured {time.strftime('%Y-%m-%d')} by `{command}`, Python "
            f"{platform.python_version()}, {os.cpu_count()} cores."
        )
        lines: list[str] = []
        for table in self.tables:
            lines += ["", f"## {table['title']}", "", measured, ""]
            rows = [table["columns"], ["---"] * len(table["columns"])]
            rows += [[_shown(cell) for cell in row] for row in table["rows"]]
            lines += [f"| {' | '.join(row)} |" for row in rows]
        if self.targets:
            lines += ["", "## Targets", "", "| target | measured | |", "|---|---|---|"]
        lines += [
            f"| {one['target']} | {one['measured']} | {'met' if one['passed'] else 'missed'} |"
            for one in self.targets
        ]
        path.write_text("\n".join(lines) + "\n")

    def _line(self, cells: Sequence[str]) -> None:
        first, *others = zip(cells, self._widths, strict=True)
        line = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        print("  ".join(line), flush=True)


def run(name: str, tables: Mapping[int, Callable[[Report], None]]) -> int:
    """Run the tables that the command line asks for; return 1 if a target is missed, else 0."""
    doc = "Run the benchmark; the exit code is 1 if a target is missed."
    every = "".join(map(str, tables))
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=doc)
    parser.add_argument("--quick", action="store_true", help="leave out the largest sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there, too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write them as a page, too")
    parser.add_argument("--tables", default=every, help="which ones, e.g. 12 (default: all)")
    wanted = parser.parse_args()
    report = Report(wanted.quick)
    begun = time.perf_counter()
    for number, table in tables.items():
        if str(number) in wanted.tables:
            table(report)
    if wanted.json:
        report.write(wanted.json)
    if wanted.markdown:
        report.write_markdown(wanted.markdown, " ".join([parser.prog, *sys.argv[1:]]))
    missed = sum(not target["passed"] for target in report.targets)
    print(
        f"\n{len(report.targets)} targets, {missed} missed, {time.perf_counter() - begun:.0f} s",
        flush=True,
    )
    return 1 if missed else 0


def _shown(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        if cell and abs(cell) < 1e-4:
            return f"{cell:.0e}"
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)
