"""What services return to the HTTP layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""Plain data with names, for `json.dumps`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation returns.

    Parameters
    ----------
    body : dict
        Plain data, for `json.dumps`.
    status : int, default 200
        Status of the HTTP response.
    version : int, optional
        Version of the book: the number of its log records. It is the response's ``ETag``.
    location : str, optional
        Path of what was made.
    """

    body: JsonObject
    status: int = 200
    version: int | None = None
    location: str | None = None
