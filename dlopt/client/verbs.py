"""Methods of both clients, made of the functions that make their calls."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from dlopt.client import book_calls, job_calls
from dlopt.client.exchange import Call

T = TypeVar("T")
P = ParamSpec("P")


class Blocking(Protocol):
    """A book or a job of the client that waits."""

    name: str

    def run(self, call: Call[T], /) -> T:
        """Send a call; return the answer."""


class Awaited(Protocol):
    """A book or a job of the client that is awaited."""

    name: str

    def run(self, call: Call[T], /) -> Awaitable[T]:
        """Send a call; return what is awaited for the answer."""


class Verb(Generic[P, T]):
    """A method of a book or a job: it sends what a function makes of its name and the arguments.

    Of the client that waits it returns the answer, of the other what is awaited for it.

    Parameters
    ----------
    make : callable
    """

    def __init__(self, make: Callable[Concatenate[str, P], Call[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, target: None, kind: type) -> Self: ...
    @overload
    def __get__(self, target: Blocking, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, target: Awaited, kind: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, target: Blocking | Awaited | None, kind: type) -> object:
        """Return the method of a book or a job."""
        if target is None:
            return self

        @functools.wraps(self._make)
        def method(*args: P.args, **kwargs: P.kwargs) -> object:
            return target.run(self._make(target.name, *args, **kwargs))

        return method


class BookVerbs:
    """The verbs of `dlopt.Book`, and those of holds."""

    describe = Verb(book_calls.describe)
    delete = Verb(book_calls.delete)
    ask = Verb(book_calls.ask)
    offer = Verb(book_calls.offer)
    why = Verb(book_calls.why)
    submit = Verb(book_calls.submit)
    reserve = submit
    hold = Verb(book_calls.hold)
    confirm = Verb(book_calls.confirm)
    release = Verb(book_calls.release)
    cancel = Verb(book_calls.cancel)
    change = Verb(book_calls.change)
    finished = Verb(book_calls.finished)
    resources = Verb(book_calls.resources)
    advance = Verb(book_calls.advance)
    archive = Verb(book_calls.archive)
    plan = Verb(book_calls.plan)
    state = Verb(book_calls.state)
    log = Verb(book_calls.log)
    snapshot = Verb(book_calls.snapshot)


class JobVerbs:
    """What is asked of a job."""

    status = Verb(job_calls.status)
    cancel = Verb(job_calls.stop)
    certificate = Verb(job_calls.certificate)
    plot = Verb(job_calls.plot)
    data = Verb(job_calls.data)
