"""The events of a job as lines of a stream (server-sent events)."""

from __future__ import annotations

from dlopt.client.errors import UnreadableAnswerError
from dlopt.json_files import parse_json
from dlopt.service_api.job_records import JobEvent


class EventParser:
    """Puts events together from the lines of one connection.

    Parameters
    ----------
    last : int
        The number of the last event that is known.

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
        """Take a line without its end; return the event that it completes, if it does.

        Raises
        ------
        UnreadableAnswerError
            If what it completes is no event of a job.
        """
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
        try:
            self.last = int(fields.get("id", self.last))
            return JobEvent(self.last, fields.get("event", "message"), parse_json(fields["data"]))
        except ValueError as error:
            raise UnreadableAnswerError(f"an event of a job cannot be read: {error}") from error
