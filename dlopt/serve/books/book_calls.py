"""What is asked of a book."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dlopt.arithmetic import Number
from dlopt.problems.validated_record import Record
from dlopt.serve.answers import Answer
from dlopt.serve.books.holds import BookState
from dlopt.serve.books.verbs import Verb
from dlopt.service_api.definitions import Engine

Read: TypeAlias = tuple[Record, Record | None]
"""The arguments and the options of a call."""


@dataclass(frozen=True, slots=True)
class BookCall:
    """What is asked of a book.

    Parameters
    ----------
    verb : Verb
    arguments : dict
        As the request has them.
    idempotency_key : str, optional
    if_match : int, optional
        The version that the book must have.
    """

    verb: Verb
    arguments: Mapping[str, Any]
    idempotency_key: str | None = None
    if_match: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a copy of a book, which is answered while the book goes on.

    Parameters
    ----------
    engine : bytes
        The engine, pickled.
    verb : Verb
    read : tuple
        The arguments and the options.
    now : Number or None
        What the clock of the copy is advanced to; None if callers advance it.
    version : int
        Of the book.
    """

    engine: bytes
    verb: Verb
    read: Read
    now: Number | None
    version: int

    def answer(self) -> Answer:
        """Return the answer.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            If the question makes no sense.
        """
        engine: Engine = pickle.loads(self.engine)
        if self.now is not None:
            engine.advance(self.now)
        return Answer(self.verb.answer(BookState(engine), *self.read), version=self.version)
