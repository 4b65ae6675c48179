"""Requests that are submitted again under the identity of one that was rejected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from dlopt.arithmetic import shown
from dlopt.errors import Fault

ACCEPTED_BEFORE = "was accepted before with other content: change it, or use another id"
"""The rule that a new content for the identity of a promise breaks."""


class Submitted(Protocol):
    """A task, a reservation or a request."""

    @property
    def id(self) -> str:
        """Its identity."""

    @property
    def arrival(self) -> Any:
        """When it arrives."""


class Decided(Protocol):
    """A decision on a task, a reservation or a request."""

    @property
    def accepted(self) -> bool:
        """Whether it was accepted."""

    @property
    def at(self) -> Any:
        """When it was decided."""


def resubmission_faults(
    new: Submitted, arrival: Any, before: Decided | None, path: str = ""
) -> Iterator[Fault]:
    """Yield what is wrong with a submission, after the last decision on its identity.

    A client may modify a request that was rejected and submit it again, later or at the same
    instant (Min 2001, sections 4.4 and 5.3). What was accepted is promised, and stays so.

    Parameters
    ----------
    new : Task, Reservation or Request
    arrival : Number
        Its arrival as the engine computes with it, like the instant of the decision.
    before : Decided or None
        The last decision on this identity, None if there is none.
    path : str, default ""
        Prefix of the names of fields.

    Examples
    --------
    >>> from dlopt.problems.admission import Decision, Task
    >>> task = Task("a", arrival=3, load=1, deadline=2)
    >>> list(resubmission_faults(task, 3, Decision("a", False, at=3)))
    []
    >>> print(*resubmission_faults(task, 3, Decision("a", False, at=4)))
    arrival: must not lie before its rejection, 4, got 3
    >>> print(*resubmission_faults(task, 3, Decision("a", True, at=2)))
    id: was accepted before with other content: change it, or use another id, got 'a'
    """
    if before is None:
        return
    if before.accepted:
        yield Fault(f"{path}id", new.id, ACCEPTED_BEFORE)
    elif arrival < before.at:
        rule = f"must not lie before its rejection, {shown(before.at, 15)}"
        yield Fault(f"{path}arrival", new.arrival, rule)
