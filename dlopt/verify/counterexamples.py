"""What a search found, and how it is written to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlopt import io
from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError
from dlopt.problems.validated_record import Header
from dlopt.result import PLAN_CLASSES, Objective, Result, Status
from dlopt.verify.shrinking import extent

Draw = Callable[[Header, Any, Path], Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """An instance that breaks a claim, or shows a gap.

    Parameters
    ----------
    stem, method : str
    claim : str
        Name of the claim; ``gap`` if there was none.
    kind : str
        Of the violation, or ``refuted``, ``failed``, ``beaten``, ``worse``, ``gap``.
    texts : tuple of str
        All that is wrong.
    instance : Instance
        The smallest found.
    result : Result, optional
        What the method answers; None if it failed.
    goal : Objective
    gap : Number, optional
        Of a search for gaps: how far the value lies behind the optimum, relative to it.
    optimum : Result, optional
        What the exact method proves of the instance, if it does.
    options : mapping
        With which the method was asked.
    """

    stem: str
    method: str
    claim: str
    kind: str
    texts: tuple[str, ...]
    instance: Any
    result: Result[Any] | None
    goal: Objective
    gap: Number | None = None
    optimum: Result[Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """How many jobs (tasks, reservations, parts) and machines (nodes) the instance has."""
        return extent(self.instance)[:2]

    @property
    def impossible(self) -> bool | None:
        """Whether no plan at all is worth what the method claims; None if that is not known.

        If it is False, only the plan is wrong: another one does what the method promises.
        """
        best, found = self.optimum, self.result
        if best is None or found is None or found.value is None or best.bound is None:
            return None
        if best.status is not Status.OPTIMAL or not _comparable(found, best):
            return None
        return self.goal.better(found.value, best.bound)

    @property
    def name(self) -> str:
        """What the files are called."""
        what = self.kind if self.claim in ("sound", "optimal", "bound") else self.claim
        return f"{self.method.replace(':', '-')}-{what}"


def _comparable(found: Result[Any], best: Result[Any]) -> bool:
    if found.plan_class is None or best.plan_class is None:
        return True
    return PLAN_CLASSES.index(found.plan_class) <= PLAN_CLASSES.index(best.plan_class)


@dataclass(frozen=True, slots=True)
class Search:
    """What became of a search.

    Parameters
    ----------
    finding : Finding or None
    tried : int
        Instances that the method was asked about, without those tried while shrinking.
    left_out : int
        Instances that it does not apply to.
    seconds : float
        Until something was found, or all was tried; without shrinking.
    phase : str, optional
        What found it: ``chance``, ``grid``, ``hypothesis``, ``annealing``.
    """

    finding: Finding | None
    tried: int
    left_out: int
    seconds: float
    phase: str | None = None

    @property
    def rate(self) -> float:
        """Instances tried in a second."""
        return self.tried / self.seconds if self.seconds else 0.0


def save(
    finding: Finding, folder: str | os.PathLike[str], draw: Draw | None = None
) -> tuple[Path, ...]:
    """Write instance, result and picture of a finding.

    Each file appears complete or not at all; the instance, which names the rest, comes last.

    Parameters
    ----------
    finding : Finding
    folder : path-like
        Made if need be.
    draw : callable, optional
        Of instance, result and path: `dlopt.plot`.

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
    found = finding.result
    if found is not None:
        written.append(folder / f"{finding.name}.result.json")
        io.write(io.result_to_data(instance, found), written[-1])
        if draw is not None and found.solution is not None:
            written.append(folder / f"{finding.name}.svg")
            draw(instance, found, written[-1])
    written.append(folder / f"{finding.name}.json")
    io.write(instance, written[-1])
    return tuple(reversed(written))


def named(finding: Finding) -> Any:
    """Return the instance of a finding with its name and what it shows."""
    told = "; ".join(finding.texts)
    asked = ", ".join([finding.claim, *(f"{k}={v}" for k, v in finding.options.items())])
    origin = f"made for dlopt, found by falsify of {finding.method} ({asked}): {told}"
    return replace(finding.instance, name=finding.name, origin=origin)
