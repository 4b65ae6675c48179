"""What is asked of a book."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dlopt.serve.answers import Answer
from dlopt.serve.books.verbs import Verb

Question: TypeAlias = Callable[[], Answer]
"""Answers something about a copy of a book, while the book goes on."""


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
