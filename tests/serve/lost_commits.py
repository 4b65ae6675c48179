"""A network that fails while a transaction is committed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import sqlalchemy as sql


class Network:
    """Loses the connection in commits, and the whole database after that."""

    def __init__(self) -> None:
        self.loses_before = self.loses_after = self.is_down = False
        self.stays_down = False

    def commit(self, connection: sql.Connection) -> None:
        """Lose the connection before or after the database has committed."""
        if not (self.loses_before or self.loses_after):
            return
        wire = connection.connection.dbapi_connection
        if self.loses_after:
            wire.commit()
        else:
            wire.rollback()
        wire.close()
        self.loses_before = self.loses_after = False
        self.is_down = self.stays_down

    def connect(self, *_: object) -> None:
        """Refuse connections while the database is not reached."""
        if self.is_down:
            raise sql.exc.OperationalError("connect", {}, OSError("no route to host"))


@contextlib.contextmanager
def failing_network() -> Iterator[Network]:
    """Yield the network of all databases of this process."""
    found = Network()
    sql.event.listen(sql.Engine, "commit", found.commit)
    sql.event.listen(sql.pool.Pool, "checkout", found.connect)
    try:
        yield found
    finally:
        sql.event.remove(sql.Engine, "commit", found.commit)
        sql.event.remove(sql.pool.Pool, "checkout", found.connect)
