"""What has happened to a job, for any number of readers, none of whom delays it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypedDict

from dlopt.serve.answers import JsonObject
from dlopt.service_api.job_records import JobEventName

MAX_EVENTS = 1_000
"""Events of a job that are kept; of more, the second of all but the first and the last half of
them. Chosen by hand: a curve of more points looks the same."""


class Event(TypedDict):
    """One thing that has happened to a job.

    ``id`` counts the events of the job from 1. ``data`` is the status of the job, or of a
    ``progress`` the value, the bound, the gap and the seconds since its start.
    """

    id: int
    event: JobEventName
    data: JsonObject


class EventHistory:
    """The events of a job, from its arrival to its end.

    Parameters
    ----------
    events : iterable of Event
        What has happened so far.

    Examples
    --------
    >>> history = EventHistory()
    >>> history.add(history.next("queued", {}))
    >>> history.add(history.next("ended", {"state": "cancelled"}))
    >>> async def read(after):
    ...     return [event["event"] async for event in history.follow(after)]
    >>> asyncio.run(read(after=0)), asyncio.run(read(after=1))
    (['queued', 'ended'], ['ended'])
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = list(events)
        self._changed = asyncio.Event()
        self._is_closed = False

    @property
    def last_id(self) -> int:
        """The number of the last event, 0 if there is none."""
        return self.events[-1]["id"] if self.events else 0

    def next(self, event: JobEventName, data: JsonObject) -> Event:
        """Return an event that may be added next."""
        return {"id": self.last_id + 1, "event": event, "data": data}

    def add(self, event: Event) -> None:
        """Add an event, and wake the readers up. Old progress is thinned out where it is much."""
        self.events.append(event)
        if len(self.events) > MAX_EVENTS:
            self.events = _thinned_out(self.events)
        self._changed.set()
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Let the readers end once they have read what there is: nothing more will come."""
        self._is_closed = True
        self._changed.set()

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events after a number, as they come, until the job or the service has ended.

        A reader that is slow misses progress that was thinned out, and nothing else.
        """
        while True:
            news = [event for event in self.events if event["id"] > after]
            for event in news:
                yield event
                after = event["id"]
            if not news:  # else more may have come while the reader was busy
                if self._is_closed or (self.events and self.events[-1]["event"] == "ended"):
                    return
                await self._changed.wait()


def _thinned_out(events: list[Event]) -> list[Event]:
    """Return the events without every second progress of their older half."""
    half = len(events) // 2
    older = [
        event
        for index, event in enumerate(events[:half])
        if event["event"] != "progress" or index % 2
    ]
    return older + events[half:]
