"""What a caller hands through to CP-SAT and HiGHS: where their logs go, and parameters of theirs.

The settings hold for all solvers that run in a context (`contextvars`), however deep inside a
method.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

ParameterValue: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """What is handed through to solvers.

    Parameters
    ----------
    log : LogLines, optional
        Where the lines of their logs go; by default there are none.
    cpsat, highs : mapping
        Parameters of each by name.
    """

    log: LogLines | None = None
    cpsat: Mapping[str, ParameterValue] = field(default_factory=dict)
    highs: Mapping[str, ParameterValue] = field(default_factory=dict)


_CURRENT: ContextVar[SolverSettings] = ContextVar("solver_settings", default=SolverSettings())  # noqa: B039


def current_settings() -> SolverSettings:
    """Return the settings that hold in this context."""
    return _CURRENT.get()


@contextlib.contextmanager
def solver_settings(settings: SolverSettings) -> Iterator[None]:
    """Let settings hold for the solvers that run in this block.

    Examples
    --------
    >>> with solver_settings(SolverSettings(highs={"mip_heuristic_effort": 0.1})):
    ...     current_settings().highs
    {'mip_heuristic_effort': 0.1}
    """
    token = _CURRENT.set(settings)
    try:
        yield
    finally:
        _CURRENT.reset(token)


class LogLines:
    r"""Hands the lines of a log on, and keeps what the callable raises until the solver has ended.

    Nothing may be raised through compiled code.

    Examples
    --------
    >>> seen = []
    >>> lines = LogLines(seen.append)
    >>> lines("first\nsecond\n")
    >>> seen
    ['first', 'second']
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._failure: BaseException | None = None

    def __call__(self, text: str) -> None:
        """Hand on each line of a text."""
        if self._failure is not None:
            return
        try:
            for line in text.splitlines() or [""]:
                self._log(line)
        except BaseException as error:
            self._failure = error

    def raise_failure(self) -> None:
        """Raise what the callable raised, if it did."""
        if self._failure is not None:
            raise self._failure
