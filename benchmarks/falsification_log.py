"""Log of falsification runs: method, CPU time, seed and result of each.

Interrupted runs resume: a method that was searched for the given CPU seconds is not searched again,
and a new search of the same method has the next seed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.rows import Rows, records, stored
from dlopt import registry
from dlopt.cli.console import quiet_solvers
from dlopt.registry import Method
from dlopt.verify import SearchResult, falsify
from dlopt.version import __version__

LEAST = 1.0
"""Shortest search in seconds: with less time left, a method is finished."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """What is searched: a method, with an objective, options, and exact numbers or floats."""

    entry: Method
    objective: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    floats: bool = False

    @property
    def asked(self) -> str:
        """Objective, options and kind of numbers, in words; empty if all are defaults."""
        words = [] if self.objective is None else [self.objective]
        words += [f"{name}={value}" for name, value in self.options.items()]
        return " ".join([*words, *(["floats"] if self.floats else [])])

    def search(self, seed: int, seconds: float) -> SearchResult:
        """Search for a time limit in seconds."""
        with quiet_solvers():
            return falsify(
                self.entry.stem,
                self.entry.name,
                objective=self.objective,
                seconds=seconds,
                seed=seed,
                floats=self.floats,
                options=self.options,
                shipped=False,
            )


_MORE: Mapping[str, tuple[Any, ...]] = {"installments": (2,), "threshold": (1, 2), "k": (60,)}
"""Values of options that are numbers; of one with choices all are taken."""


def variants(entry: Method) -> Iterator[SearchTarget]:
    """Yield the variants of a method: with each objective, and each value of each option."""
    if entry.kind != "heuristic":
        default = registry.problem(entry.stem).module.OBJECTIVES
        for objective in entry.objectives if len(default) > 1 else ():
            yield SearchTarget(entry, objective)
    for option in entry.options:
        for value in (*option.choices, *_MORE.get(option.name, ())):
            if value != option.default:
                yield SearchTarget(entry, options={option.name: value})


@dataclass(frozen=True, slots=True)
class SearchRow:
    """The record of one search."""

    problem: str
    method: str
    kind: str
    claim: str
    asked: str
    seed: int
    seconds: float
    cpu_s: float
    tried: int
    left_out: int
    found: str
    version: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What is searched."""
        return self.problem, self.method, self.asked


FORM = records("search", SearchRow, lambda row: (*row.key, row.seed, row.version))


def rows_of(file: Path | None) -> list[SearchRow]:
    """Return the rows of a file that are of this version of dlopt, none if it does not exist."""
    return [row for row in stored(file, FORM) if row.version == __version__]


class SearchLog:
    """The records of all searches so far."""

    def __init__(self, kept: Rows[SearchRow]) -> None:
        self._kept = kept

    @property
    def rows(self) -> list[SearchRow]:
        """Those of this version of dlopt."""
        return [row for row in self._kept if row.version == __version__]

    def spent(self, key: tuple[str, str, str]) -> tuple[float, int]:
        """Return the CPU seconds spent on a target, and its first unused seed."""
        mine = [row for row in self.rows if row.key == key]
        return sum(row.cpu_s for row in mine), max((row.seed + 1 for row in mine), default=0)

    def append(self, row: SearchRow) -> None:
        """Add a row; it is in the file when this returns."""
        self._kept.add(row)


def searches(subject: SearchTarget, log: SearchLog, seconds: float) -> Iterator[SearchResult]:
    """Search with one seed after the other until so much CPU time is spent.

    Parameters
    ----------
    subject : SearchTarget
    log : SearchLog
    seconds : float
        In all, with those of former runs.

    Yields
    ------
    SearchResult
        Of each search of this run; the first that finds something is the last.
    """
    entry = subject.entry
    spent, seed = log.spent((entry.stem, entry.name, subject.asked))
    while seconds - spent > LEAST:
        before = time.process_time()
        result = subject.search(seed, seconds - spent)
        used = time.process_time() - before
        row = SearchRow(
            entry.stem,
            entry.name,
            entry.kind,
            entry.claim,
            subject.asked,
            seed,
            round(result.seconds, 2),
            round(used, 2),
            result.tried,
            result.not_applicable,
            "" if result.finding is None else result.finding.kind,
            __version__,
        )
        log.append(row)
        yield result
        if result.finding is not None:
            return
        spent, seed = spent + used, seed + 1


def table(rows: Iterable[SearchRow]) -> str:
    """Return a Markdown table with totals by method."""
    lines = [
        "| method | claim | s | CPU s | instances | left out | found |",
        "|---|---|---|---|---|---|---|",
    ]
    by_key = sorted(rows, key=lambda row: row.key)
    for (problem, name, asked), group in groupby(by_key, key=lambda row: row.key):
        mine = list(group)
        claim = "bound" if mine[0].kind == "bound" else mine[0].claim
        cells = (
            f"{problem} `{name}`" + (f", {asked}" if asked else ""),
            "sound" if claim == "none" else claim,
            f"{sum(row.seconds for row in mine):.0f}",
            f"{sum(row.cpu_s for row in mine):.0f}",
            f"{sum(row.tried for row in mine):,}",
            f"{sum(row.left_out for row in mine):,}",
            ", ".join(sorted({row.found for row in mine if row.found})) or "nothing",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
