"""Everything that dlopt raises on purpose, and the faults that bad input is told by.

Infeasible instances and exhausted limits are no errors: they are statuses of a
:class:`dlopt.result.Result`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with some input.

    Parameters
    ----------
    path : str
        Where it is: a field path such as ``cluster.tau[3]``, or ``line 12, field 4 (run time)``.
    value : object
        What stands there; `MISSING` if nothing does.
    rule : str
        What should stand there, as a phrase: ``must be a positive number``.

    Examples
    --------
    >>> print(Fault("cluster.tau", -1, "must not be negative"))
    cluster.tau: must not be negative, got -1
    """

    path: str
    value: object
    rule: str

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        if self.value is MISSING:
            return f"{where}{self.rule}"
        return f"{where}{self.rule}, got {_short(self.value)}"


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
"""Stands for a value that is not there, where ``None`` could be meant."""


class DloptError(Exception):
    """Base of everything that dlopt raises on purpose."""


class InvalidInstanceError(DloptError, ValueError):
    """Input that breaks the rules; it carries every fault that was found, not only the first.

    Parameters
    ----------
    faults : sequence of Fault
        At least one.
    source : str, optional
        The file they stand in.

    Examples
    --------
    >>> raise InvalidInstanceError([Fault("load", 0, "must be positive")], "a.json")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: a.json: load: must be positive, got 0
    """

    MOST_SHOWN = 20

    def __init__(self, faults: Sequence[Fault], source: str | None = None) -> None:
        self.faults = tuple(faults)
        self.source = source
        lines = [str(fault) for fault in self.faults[: self.MOST_SHOWN]]
        if len(self.faults) > self.MOST_SHOWN:
            lines.append(f"... and {len(self.faults) - self.MOST_SHOWN} more")
        prefix = f"{source}: " if source else ""
        super().__init__("\n".join(prefix + line for line in lines))

    def within(self, source: str) -> InvalidInstanceError:
        """Return the same faults, told of a named file."""
        return InvalidInstanceError(self.faults, source)


class NotApplicableError(DloptError, ValueError):
    """A method, objective, option or format that does not fit what it was asked for."""


class SolverError(DloptError):
    """A solver is missing, failed, or answered what the rules of the problem refute."""


class MissingExtraError(DloptError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'dlopt[{extra}]'")


def _short(value: object) -> str:
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):  # over 4300 digits, or nested too deeply
        return f"a very long {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
