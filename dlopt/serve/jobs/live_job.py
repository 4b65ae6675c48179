"""A job that is queued or running, as the server has it in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from dlopt.serve.answers import JsonObject
from dlopt.serve.jobs.event_history import EventHistory
from dlopt.serve.jobs.supervised_process import SupervisedProcess


@dataclass(slots=True)
class LiveJob:
    """A job that is queued or running.

    Attributes
    ----------
    id : str
    history : EventHistory
        What is stored of it, and may be known to anyone.
    process : SupervisedProcess or None
        None as long as it is queued.
    is_cancelled : bool
    started_at : float or None
    progress, result : dict or None
        The best checked result so far, and what is shown of it.
    ended : asyncio.Event
        Set once the end is stored, or left to the next server.
    """

    id: str
    history: EventHistory
    process: SupervisedProcess | None = None
    is_cancelled: bool = False
    started_at: float | None = None
    progress: JsonObject | None = None
    result: JsonObject | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
