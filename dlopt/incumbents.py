"""Incumbents of running methods: the result that a method would return if it had to stop now.

Methods that keep an incumbent and a bound while they search offer them here. The caller asks for
the offer from time to time to report progress, and when such a method is interrupted; the result is
checked like any other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dlopt.result import Result


@dataclass(slots=True)
class Offer:
    """A place for the offer of one method about one instance.

    Parameters
    ----------
    instance : Instance
    objective, method : str
    answer : callable, optional
        Returns what the method would answer now; None if nothing was offered.
    """

    instance: Any
    objective: str
    method: str
    answer: Callable[[], Result[Any]] | None = None


_WANTED: ContextVar[Offer | None] = ContextVar("wanted", default=None)


@contextlib.contextmanager
def wanted(offer: Offer) -> Iterator[None]:
    """Let the method that is asked in this context offer what it knows.

    Examples
    --------
    >>> from dlopt.result import Status
    >>> place = Offer("instance", "load", "mine")
    >>> with wanted(place):
    ...     offer("instance", "load", "mine", lambda: Result(Status.FEASIBLE, "plan"))
    ...     offer("a part of it", "load", "mine", lambda: Result(Status.LIMIT))
    >>> place.answer().solution
    'plan'
    """
    token = _WANTED.set(offer)
    try:
        yield
    finally:
        _WANTED.reset(token)


def offer(instance: object, objective: str, method: str, answer: Callable[[], Result[Any]]) -> None:
    """Offer what can be answered from now on, if it is about what was asked for.

    A method that asks another one, or itself about a part of the instance, offers nothing by that.

    Parameters
    ----------
    instance : Instance
    objective, method : str
    answer : callable
        May be called at any time, from another thread, and may fail.
    """
    place = _WANTED.get()
    if place is None or place.instance is not instance:
        return
    if (place.objective, place.method) == (objective, method):
        place.answer = answer
