"""Connections of clients: how long they may take, and how many there may be.

uvicorn leaves both open. A client that never finishes the head of a request (its request line and
its headers), or never reads the response, would hold a connection for ever, and a head without an
end would fill the memory.
"""

from __future__ import annotations

import asyncio
import itertools

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

HEAD_TIME_S = 10.0
"""Seconds in which the head of a request must have arrived; nginx allows 60, Apache 20."""
MAX_HEAD_BYTES = 65_536
"""Bytes of the head of a request, or between two parts of its body; a head that arrives in a single
read from the network may be larger. nginx allows 32 KB, h11 64 KB."""
WRITE_TIME_S = 60.0
"""Seconds in which a client must read some of a response that waits to be sent; as nginx."""
RESERVED_CONNECTIONS = 16
"""Connections without a request that are kept even if there are too many connections, so that a
new one has the time to send its request."""

_WAITS = itertools.count()
"""Numbers of waits for a request. The time would not do: the clock of an event loop may stand still
while it accepts several connections (that of uvloop does)."""


class LimitedHttpProtocol(HttpToolsProtocol):
    """A connection with limits on the time and the size of the head of each request.

    If there are more connections than ``limit_concurrency`` of the configuration, the one closes
    that has been without a request for longest. Requests are never refused here:
    `dlopt.serve.app.RequestMiddleware` does that.

    Attributes
    ----------
    wait_number : int or None
        Smaller for a connection that has been without a request for longer; None while a request
        is being answered.
    """

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._max_connections = self.limit_concurrency
        self.limit_concurrency = None
        self.wait_number: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unread_bytes = self._unsent_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()
        self._limit_connections()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what a client sends, and refuse a head that is too large."""
        self._unread_bytes += len(data)
        super().data_received(data)
        if self._unread_bytes > MAX_HEAD_BYTES:
            self._refuse(431)

    def on_headers_complete(self) -> None:
        """Begin to answer a request."""
        self._unread_bytes = 0
        self.wait_number = None
        self._limit_time()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._unread_bytes = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is here."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._wait_for_head()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._limit_time()

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._limit_time()

    def close_at_once(self) -> None:
        """Close the connection, without sending what waits to be sent."""
        self.wait_number = None
        self._stop_timer()
        self.transport.abort()

    def _wait_for_head(self) -> None:
        self.wait_number = next(_WAITS)
        self._limit_time()

    def _limit_connections(self) -> None:
        if self._max_connections is None or len(self.connections) <= self._max_connections:
            return
        waiting = {
            connection: connection.wait_number
            for connection in self.connections
            if isinstance(connection, LimitedHttpProtocol) and connection.wait_number is not None
        }
        if len(waiting) > RESERVED_CONNECTIONS:
            min(waiting, key=waiting.__getitem__).close_at_once()

    @property
    def _must_be_read(self) -> bool:
        """Whether nothing happens before the client has read some of what waits to be sent."""
        return self.flow.write_paused or self.transport.is_closing()

    def _limit_time(self) -> None:
        """Limit the time of what the client is to do next, if anything."""
        self._stop_timer()
        self._unsent_bytes = self.transport.get_write_buffer_size()
        if self._must_be_read:
            self._timer = self.loop.call_later(WRITE_TIME_S, self._time_out)
        elif self.wait_number is not None:
            self._timer = self.loop.call_later(HEAD_TIME_S, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        if not self._must_be_read:
            self._refuse(408)
        elif self.transport.get_write_buffer_size() < self._unsent_bytes:
            self._limit_time()
        else:
            self.close_at_once()

    def _refuse(self, status: int) -> None:
        """Answer without a request, and close once the client has read the answer."""
        if not self.transport.is_closing():
            head = STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head)
            self.transport.close()
        self._limit_time()
