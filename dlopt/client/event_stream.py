"""The events of a job as lines of a stream (server-sent events)."""

from __future__ import annotations

from urllib.parse import quote

from dlopt.client.errors import UnreachableServiceError
from dlopt.client.exchange import Lost, Retries
from dlopt.client.operations import EVENTS_PATH
from dlopt.client.records import JobEvent
from dlopt.json_files import parse_json


class EventParser:
    """Puts events together from the lines of a stream.

    Attributes
    ----------
    last : int
        The number of the last event, after which the stream is asked to go on.

    Examples
    --------
    >>> parser = EventParser()
    >>> lines = ["id: 1", "event: started", 'data: {"method": "exact"}', "", ": still there", ""]
    >>> [event.event for event in map(parser.feed, lines) if event]
    ['started']
    >>> parser.last
    1
    """

    def __init__(self, last: int = 0) -> None:
        self.last = last
        self._fields: dict[str, str] = {}

    def feed(self, line: str) -> JobEvent | None:
        """Take a line without its end; return the event that it completes, if it does."""
        if line:
            name, _, value = line.partition(":")
            if name:  # a line that begins with a colon only keeps the connection open
                value = value.removeprefix(" ")
                before = self._fields.get(name)
                several = name == "data" and before is not None
                self._fields[name] = f"{before}\n{value}" if several else value
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        self.last = int(fields.get("id", self.last))
        return JobEvent(self.last, fields.get("event", "message"), parse_json(fields["data"]))


class EventStream:
    """The events of a job over as many connections as it takes.

    Parameters
    ----------
    job : str
    after : int
        The number of the last event that is known.
    retries : Retries
        How often, in a row, a connection may end without an event.

    Attributes
    ----------
    path : str
    parser : EventParser
        Takes the lines that come.
    """

    def __init__(self, job: str, after: int, retries: Retries) -> None:
        self.path = EVENTS_PATH.format(job=quote(job, safe=""))
        self.parser = EventParser(after)
        self._retries = retries
        self._failures, self._last = 0, after

    @property
    def headers(self) -> dict[str, str]:
        """Of the request for the events that are not known."""
        return {"last-event-id": str(self.parser.last), "accept": "text/event-stream"}

    def pause_after(self, lost: Lost | None) -> float:
        """Return the seconds after which to connect again.

        Parameters
        ----------
        lost : Lost, optional
            How the connection ended; by default in good order, but before the job.

        Raises
        ------
        UnreachableServiceError
            If that makes no sense any more.
        """
        self._failures = 1 if self.parser.last > self._last else self._failures + 1
        self._last = self.parser.last
        if self._failures >= self._retries.attempts:
            detail = "the events ended before the job" if lost is None else lost.detail
            raise UnreachableServiceError(detail, sent=True)
        return self._retries.pause_s(self._failures)
