"""The health of the service, and the faults of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class FaultData:
    """One thing that is wrong with a request.

    Parameters
    ----------
    path : str
        Where it is, as ``task.load``; empty for the whole body.
    rule : str
        What should stand there.
    value : object
        What stands there, if anything does.
    """

    path: str
    rule: str
    value: Any = None


@dataclass(frozen=True)
class FaultList:
    """Everything that is wrong with a question; empty if nothing is."""

    faults: tuple[FaultData, ...]


@dataclass(frozen=True)
class Problem:
    """An error, by RFC 9457.

    Parameters
    ----------
    type, title : str
        The kind of error, for programs and for people.
    status : int
        Of the response.
    detail : str
        What is wrong with this request.
    faults : list
        Everything that is wrong with its content.
    request_id : str
        Under which the log of the service has details.
    """

    type: str
    title: str
    status: int
    detail: str
    faults: tuple[FaultData, ...]
    request_id: str


@dataclass(frozen=True)
class Health:
    """Whether the service can do its work.

    Parameters
    ----------
    status : str
        ``ok`` if all parts are.
    parts : object
        Each part with ``ok``, or what is wrong with it.
    version : str
        Of dlopt.
    """

    status: Literal["ok", "failing"]
    parts: Mapping[str, str]
    version: str
