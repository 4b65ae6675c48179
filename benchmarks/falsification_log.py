"""The file of searches that found nothing: what was searched for, how long, by which seed.

A run that ends, however it ends, is gone on with: a method that was searched for so many seconds
of CPU time is not searched for again, and a new search of the same method has the next seed.
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
"""Seconds of a search at the least: with less left of a method it is done."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched: a method, by an objective, with options, in exact numbers or in floats.

    Parameters
    ----------
    entry : Method
    objective : str, optional
        By default the problem's own, of each instance.
    options : mapping
        By default those of the method.
    floats : bool
    """

    entry: Method
    objective: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    floats: bool = False

    @property
    def asked(self) -> str:
        """How it is asked, in words; empty if as by default."""
        told = [] if self.objective is None else [self.objective]
        told += [f"{name}={value}" for name, value in self.options.items()]
        return " ".join([*told, *(["floats"] if self.floats else [])])

    def search(self, seed: int, seconds: float) -> SearchResult:
        """SearchResult for so many seconds by the clock."""
        with quiet_solvers():
            return falsify(
                self.entry.stem,
                self.entry.name,
                objective=self.objective,
                seconds=seconds,
                seed=seed,
                floats=self.floats,
                options=self.options,
            )


_MORE: Mapping[str, tuple[Any, ...]] = {"installments": (2,), "threshold": (1, 2), "k": (60,)}
"""Values of options that are numbers; of one with choices all are taken."""


def variants(entry: Method) -> Iterator[Subject]:
    """Yield the other ways to ask a method: by each objective, with each value of each option."""
    if entry.kind != "heuristic":
        default = registry.problem(entry.stem).module.OBJECTIVES
        for objective in entry.objectives if len(default) > 1 else ():
            yield Subject(entry, objective)
    for option in entry.options:
        for value in (*option.choices, *_MORE.get(option.name, ())):
            if value != option.default:
                yield Subject(entry, options={option.name: value})


@dataclass(frozen=True, slots=True)
class Row:
    """One search.

    Parameters
    ----------
    problem, method, kind, claim : str
        Of the method, as the registry has them.
    asked : str
        How, if not as by default: `Subject.asked`.
    seed : int
    seconds, cpu_s : float
        By the clock, and of the processor.
    tried, left_out : int
        Instances that the method was asked about, and those that it does not apply to.
    found : str
        The kind of what was found; empty if nothing was.
    version : str
        Of dlopt.
    """

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


FORM = records("search", Row, lambda row: (*row.key, row.seed, row.version))


def rows_of(file: Path | None) -> list[Row]:
    """Return the rows of a file that are of this version of dlopt, none if it does not exist."""
    return [row for row in stored(file, FORM) if row.version == __version__]


class Log:
    """The rows so far.

    Parameters
    ----------
    kept : Rows
        Each new one is added to it.
    """

    def __init__(self, kept: Rows[Row]) -> None:
        self._kept = kept

    @property
    def rows(self) -> list[Row]:
        """Those of this version of dlopt."""
        return [row for row in self._kept if row.version == __version__]

    def spent(self, key: tuple[str, str, str]) -> tuple[float, int]:
        """Return the CPU seconds spent on something, and the first seed not used for it."""
        mine = [row for row in self.rows if row.key == key]
        return sum(row.cpu_s for row in mine), max((row.seed + 1 for row in mine), default=0)

    def append(self, row: Row) -> None:
        """Add a row; it is in the file when this returns."""
        self._kept.add(row)


def searches(subject: Subject, log: Log, seconds: float) -> Iterator[SearchResult]:
    """SearchResult by one seed after the other until so much CPU time is spent.

    Parameters
    ----------
    subject : Subject
    log : Log
    seconds : float
        In all, with those of former runs.

    Yields
    ------
    SearchResult
        Each one that was made now; the last is the first that found something.
    """
    entry = subject.entry
    spent, seed = log.spent((entry.stem, entry.name, subject.asked))
    while seconds - spent > LEAST:
        before = time.process_time()
        made = subject.search(seed, seconds - spent)
        used = time.process_time() - before
        row = Row(
            entry.stem,
            entry.name,
            entry.kind,
            entry.claim,
            subject.asked,
            seed,
            round(made.seconds, 2),
            round(used, 2),
            made.tried,
            made.not_applicable,
            "" if made.finding is None else made.finding.kind,
            __version__,
        )
        log.append(row)
        yield made
        if made.finding is not None:
            return
        spent, seed = spent + used, seed + 1


def table(rows: Iterable[Row]) -> str:
    """Return the rows of each method summed up, as Markdown."""
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
