"""The database of a service: durable transactions, and one server at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import IO, Any, Self

from dlopt.errors import MissingExtraError, NotApplicableError, described
from dlopt.serve.errors import UnavailableError

try:
    import sqlalchemy as sql
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("SQLAlchemy", "serve") from error

METADATA = sql.MetaData()
"""All tables of the service; each package declares its own."""
_FORMAT = sql.Table("dlopt_format", METADATA, sql.Column("version", sql.Integer, primary_key=True))
FORMAT_VERSION = 1
"""Version of the tables; a store of another version is refused."""
_ADVISORY_LOCK = 0x646C6F7074
"""The number of the lock that a server holds on a PostgreSQL database: "dlopt"."""


class Store:
    """A database that one server owns as long as it is open.

    A transaction has reached the disk when its context ends.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` or ``postgresql+psycopg://...``. Tables that are missing are made.

    Raises
    ------
    NotApplicableError
        If the URL cannot be opened, another server owns the store, or it is of another version.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(f"sqlite:///{folder.name}/a.db") as store:
    ...     with store.transaction() as connection:
    ...         connection.execute(sql.select(_FORMAT.c.version)).scalar_one()
    1
    >>> folder.cleanup()
    """

    def __init__(self, url: str) -> None:
        self._owned = contextlib.ExitStack()
        try:
            address = sql.make_url(url)
            if address.get_backend_name() == "sqlite":
                self._engine = _sqlite_engine(address, self._owned)
            else:
                self._engine = _server_engine(address, self._owned)
            METADATA.create_all(self._engine)
            self._check_version()
        except (sql.exc.SQLAlchemyError, ImportError, OSError) as error:
            self.close()
            shown = sql.make_url(url).render_as_string() if "://" in url else url
            raise NotApplicableError(
                f"the store {shown} cannot be opened: {described(error)}"
            ) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and let another server have it."""
        self._owned.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sql.Connection]:
        """Yield a connection in a transaction, which is durable once the context has ended.

        Raises
        ------
        UnavailableError
            If the database cannot do it, as on a full disk: nothing of it has happened.
        """
        try:
            with self._engine.begin() as connection:
                yield connection
        except sql.exc.SQLAlchemyError as error:
            raise UnavailableError(f"the store failed: {described(error)}") from error

    def check(self) -> None:
        """Read from the database.

        Raises
        ------
        UnavailableError
            If it cannot be read.
        """
        with self.transaction() as connection:
            connection.execute(sql.select(_FORMAT.c.version)).scalar_one()

    def _check_version(self) -> None:
        with self.transaction() as connection:
            found = connection.execute(sql.select(_FORMAT.c.version)).scalar_one_or_none()
            if found is None:
                connection.execute(sql.insert(_FORMAT).values(version=FORMAT_VERSION))
            elif found != FORMAT_VERSION:
                raise NotApplicableError(
                    f"the store has version {found}; this dlopt reads version {FORMAT_VERSION}"
                )


def _sqlite_engine(address: sql.URL, owned: contextlib.ExitStack) -> sql.Engine:
    """Return an engine that logs ahead (WAL), flushes each transaction, and owns the file."""
    if not address.database:
        raise NotApplicableError("a store needs a file: sqlite:///FILE")
    _lock(owned.enter_context(open(f"{os.path.realpath(address.database)}.lock", "a")))  # noqa: SIM115
    engine = sql.create_engine(address)
    owned.callback(engine.dispose)

    @sql.event.listens_for(engine, "connect")
    def _(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    return engine


def _lock(file: IO[str]) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise NotApplicableError(
            f"another server uses the store: {os.path.basename(file.name)} is locked"
        ) from error


def _server_engine(address: sql.URL, owned: contextlib.ExitStack) -> sql.Engine:
    """Return an engine for PostgreSQL, one connection of which holds the lock of the owner."""
    engine = sql.create_engine(address, pool_pre_ping=True)
    owned.callback(engine.dispose)
    holder = owned.enter_context(engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
    acquired = holder.execute(
        sql.select(sql.func.pg_try_advisory_lock(_ADVISORY_LOCK))
    ).scalar_one()
    if not acquired:
        raise NotApplicableError("another server uses the store: its advisory lock is taken")
    owned.callback(_unlock, holder)
    return engine


def _unlock(holder: sql.Connection) -> None:
    """Let another server have the lock at once, not when the database notices that we are gone."""
    with contextlib.suppress(sql.exc.SQLAlchemyError):  # a lost connection has lost its lock
        holder.execute(sql.select(sql.func.pg_advisory_unlock(_ADVISORY_LOCK)))
