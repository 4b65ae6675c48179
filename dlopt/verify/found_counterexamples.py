"""The counterexamples that a search found, and their files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from dlopt import aliases, io
from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError, NothingToDrawError
from dlopt.plan_classes import is_in_class_of
from dlopt.presented_record import PresentedRecord
from dlopt.problems.validated_record import Header
from dlopt.result import Objective, Status
from dlopt.verify.method_under_test import AnyResult, Options
from dlopt.verify.shrinking import instance_size

Draw = Callable[[Header, AnyResult, Path], object]

MAX_SKIP_REASONS = 4
"""Reasons that are named in a line; `SearchResult.skip_reasons` has them all."""

SHIPPED = "shipped instances"
"""The phase of a search in which shipped instances are tried."""

METHOD_DOES_NOT_APPLY = "the method does not apply"
"""Why a search skips an instance, unless it says otherwise."""


@dataclass(frozen=True, slots=True)
class Finding(PresentedRecord):
    """An instance that violates a claim, or shows a gap.

    Parameters
    ----------
    stem, method : str
    claim : str
        Name of the claim; ``gap`` in a search for gaps.
    kind : str
        Kind of the claim violation, see `dlopt.verify.claim.ClaimViolation`; or ``gap``.
    texts : tuple of str
        Descriptions of all violations.
    instance : Instance
        The smallest instance found.
    result : Result, optional
        Result of the method; None if it failed.
    goal : Objective
    gap : Number, optional
        In a search for gaps: the relative gap between value and optimum.
    optimum : Result, optional
        Result of the exact method for the instance, if it proves something.
    options : mapping
        Options with which the method was run.
    """

    PRESENTED_BY: ClassVar[str] = "dlopt.presentation.falsification_searches"

    stem: str
    method: str
    claim: str
    kind: str
    texts: tuple[str, ...]
    instance: Any
    result: AnyResult | None
    goal: Objective
    gap: Number | None = None
    optimum: AnyResult | None = None
    options: Options = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of jobs (tasks, reservations, parts) and machines (nodes) of the instance."""
        return instance_size(self.instance)[:2]

    @property
    def impossible(self) -> bool | None:
        """Whether no solution at all has the value that the method claims; None if unknown.

        If it is False, only the solution is wrong: another one attains the claimed value.
        """
        best, result = self.optimum, self.result
        if best is None or result is None or result.value is None or best.bound is None:
            return None
        if best.status is not Status.OPTIMAL or not is_in_class_of(result, best):
            return None
        return self.goal.better(result.value, best.bound)

    @property
    def name(self) -> str:
        """Stem of the file names."""
        label = self.kind if self.claim in ("sound", "optimal", "bound") else self.claim
        return f"{self.method.replace(':', '-')}-{label}"


@dataclass(frozen=True, slots=True)
class SearchResult(PresentedRecord):
    """The result of a search.

    Parameters
    ----------
    finding : Finding or None
    tried : int
        Number of instances on which the method was run, without shipped ones, and without those
        tried while shrinking.
    not_applicable : int
        Number of instances to which it does not apply, or, of a search for gaps, that have none.
    seconds : float
        Time until the finding, or until the search ended; without shrinking.
    phase : str, optional
        What found it: ``shipped instances``, ``random sampling``, ``enumeration``,
        ``hypothesis``, ``annealing``.
    skip_reasons : tuple of (str, int)
        Why the method does not apply, or, of a search for gaps, why instances have none; and of
        how many instances, the most frequent first.
    shipped : int
        Number of shipped instances on which the method was run before.
    """

    PRESENTED_BY: ClassVar[str] = "dlopt.presentation.falsification_searches"

    finding: Finding | None
    tried: int
    not_applicable: int
    seconds: float
    phase: str | None = None
    skip_reasons: tuple[tuple[str, int], ...] = ()
    shipped: int = 0

    @property
    def skip_reason(self) -> str:
        """Why instances were skipped, in words; with their numbers if the reasons differ."""
        if len(self.skip_reasons) < 2:
            return next((why for why, _ in self.skip_reasons), METHOD_DOES_NOT_APPLY)
        named = [f"{why} ({count})" for why, count in self.skip_reasons[:MAX_SKIP_REASONS]]
        others = sum(count for _, count in self.skip_reasons[MAX_SKIP_REASONS:])
        return "; ".join([*named, f"other reasons ({others})"] if others else named)

    @property
    def rate(self) -> float:
        """Instances tried per second."""
        return (self.tried + self.shipped) / self.seconds if self.seconds else 0.0


def save(
    finding: Finding, folder: str | os.PathLike[str], draw: Draw | None = None
) -> tuple[Path, ...]:
    """Write instance, result and chart of a finding to files.

    Each file is written completely or not at all; the instance is written last.

    Parameters
    ----------
    finding : Finding
    folder : path-like
        Created if it does not exist.
    draw : callable, optional
        Called with instance, result and path, such as `dlopt.plot`. Of a solution without any
        part there is no chart.

    Returns
    -------
    tuple of Path

    Raises
    ------
    NotApplicableError
        If they cannot be written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotApplicableError(f"cannot make {folder}: {error.strerror}") from error
    instance = named(finding)
    written: list[Path] = []
    result = finding.result
    if result is not None:
        written.append(folder / f"{finding.name}.result.json")
        io.write(io.result_to_data(instance, result), written[-1])
        if draw is not None and result.solution is not None:
            with contextlib.suppress(NothingToDrawError):
                draw(instance, result, folder / f"{finding.name}.svg")
                written.append(folder / f"{finding.name}.svg")
    written.append(folder / f"{finding.name}.json")
    io.write(instance, written[-1])
    return tuple(reversed(written))


def named(finding: Finding) -> Header:
    """Return the instance of a finding with a name, and with the violations as its origin."""
    texts = "; ".join(finding.texts)
    query = ", ".join([finding.claim, *(f"{k}={v}" for k, v in finding.options.items())])
    origin = f"made for dlopt, found by falsify of {finding.method} ({query}): {texts}"
    instance: Header = replace(finding.instance, name=finding.name, origin=origin)
    return instance


def search_to_data(search: SearchResult) -> dict[str, Any]:
    """Return the result of a search as plain data."""
    found = search.finding
    data = aliases.with_former_keys(
        {
            "found": found is not None,
            "tried": search.tried,
            "shipped": search.shipped,
            "skipped": search.not_applicable,
            "seconds": search.seconds,
            "per_second": search.rate,
        }
    )
    if found is None:
        return data
    jobs, machines = found.size
    instance, result = named(found), found.result
    return data | {
        "phase": search.phase,
        "claim": found.claim,
        "options": dict(found.options),
        "kind": found.kind,
        "broken": list(found.texts),
        "jobs": jobs,
        "machines": machines,
        "impossible": found.impossible,
        **io.values_to_data(
            gap=found.gap, optimum=None if found.optimum is None else found.optimum.value
        ),
        "instance": io.instance_to_data(instance),
        "result": None if result is None else io.result_to_data(instance, result),
    }
