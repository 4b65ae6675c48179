"""The database of a service: durable transactions, and one server at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any, Self

from dlopt.errors import MissingExtraError, NotApplicableError, described
from dlopt.serve.errors import UnavailableError, UnknownOutcomeError

try:
    import sqlalchemy as sql
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("SQLAlchemy", "serve") from error

METADATA = sql.MetaData()
"""All tables of the service; each package declares its own."""
_FORMAT = sql.Table("dlopt_format", METADATA, sql.Column("version", sql.Integer, primary_key=True))
FORMAT_VERSION = 2
"""Version of the tables; a store of another version is refused."""
_OWNER = sql.Table("dlopt_owner", METADATA, sql.Column("token", sql.String(32), nullable=False))
_ADVISORY_LOCK = 0x646C6F7074
"""The number of the lock that a server holds on a PostgreSQL database: "dlopt"."""
_SETTLING_TIME_S = 10
"""Seconds that `Store.settled` waits for earlier transactions, which take some milliseconds."""


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
    2
    >>> folder.cleanup()
    """

    def __init__(self, url: str) -> None:
        self._ownership: _Ownership | None = None
        try:
            with contextlib.ExitStack() as owned:  # which is closed if anything fails
                self._open(sql.make_url(url), owned)
                self._owned = owned.pop_all()
        except (sql.exc.SQLAlchemyError, ImportError, OSError) as error:
            shown = sql.make_url(url).render_as_string() if "://" in url else url
            raise NotApplicableError(
                f"the store {shown} cannot be opened: {_cause(error)}"
            ) from error

    def _open(self, address: sql.URL, owned: contextlib.ExitStack) -> None:
        if address.get_backend_name() == "sqlite":
            self._engine = _sqlite_engine(address, owned)
        elif address.get_backend_name() != "postgresql":
            raise NotApplicableError(
                f"the store {address.render_as_string()} cannot be opened: it must be "
                "sqlite:///FILE or postgresql+psycopg://..."
            )
        else:
            self._engine = sql.create_engine(address, pool_pre_ping=True)
            owned.callback(self._engine.dispose)
            self._ownership = _Ownership(self._engine)
            owned.callback(self._ownership.release)
        METADATA.create_all(self._engine)
        self._check_version()
        if self._ownership is not None:
            self._ownership.claim()

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
            If the database cannot do it, as on a full disk, or another server has taken the store
            over: nothing of it has happened.
        UnknownOutcomeError
            If the commit failed, for instance because the connection was lost: it may have happened
            or not. `settled` tells.
        """
        with self.reading() as connection:
            yield connection
            with _database_errors_as(UnknownOutcomeError):
                connection.commit()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Yield a connection of which nothing is kept that it changes.

        Raises
        ------
        UnavailableError
            If the database cannot be read, or another server has taken the store over.
        """
        with _database_errors_as(UnavailableError), self._engine.connect() as connection:
            if self._ownership is not None:
                self._ownership.ensure(connection)
            yield connection

    @contextlib.contextmanager
    def settled(self, table: sql.TableClause) -> Iterator[sql.Connection]:
        """Yield a transaction that sees every earlier change of a table that will ever be made.

        A server of a database may still commit what a lost connection sent. This waits for it.

        Raises
        ------
        UnavailableError
            If the database cannot be read, or does not end an earlier transaction in time.
        """
        with self.transaction() as connection:
            if self._ownership is not None:
                timeout = sql.text(f"SET LOCAL lock_timeout = '{_SETTLING_TIME_S}s'")
                connection.execute(timeout)
                connection.execute(sql.text(f"LOCK TABLE {table.name} IN SHARE MODE"))
            yield connection

    def ensure_written(
        self,
        table: sql.TableClause,
        is_written: Callable[[sql.Connection], bool],
        error: UnknownOutcomeError,
    ) -> None:
        """Return if a transaction whose commit has failed has changed a table all the same.

        Parameters
        ----------
        table : TableClause
            A table that the transaction was to change.
        is_written : callable
            Tells whether the change is there.
        error : UnknownOutcomeError
            Of the commit; it is raised again if the table cannot be read.

        Raises
        ------
        UnavailableError
            If the change is not there, and never will be.
        UnknownOutcomeError
            If it cannot be known now.
        """
        try:
            with self.settled(table) as connection:
                done = is_written(connection)
        except UnavailableError:
            raise error from None
        if not done:
            raise UnavailableError(f"nothing was done: {error}", retry_after_s=1.0) from error

    def check(self) -> None:
        """Read from the database.

        Raises
        ------
        UnavailableError
            If it cannot be read.
        """
        with self.reading() as connection:
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


class _Ownership:
    """The lock of PostgreSQL that keeps a second server away, with a connection of its own.

    The lock is lost with its connection. It is acquired again if no other server had it meanwhile,
    which the token of the latest owner tells.
    """

    def __init__(self, engine: sql.Engine) -> None:
        self._engine, self._token = engine, secrets.token_hex(16)
        self._regaining = threading.Lock()
        self._is_taken_over = False
        self._holder, self._process_id = self._acquire()

    def claim(self) -> None:
        """Let a former owner that believes to hold the lock still know that it does not."""
        with self._engine.begin() as connection:
            connection.execute(sql.delete(_OWNER))
            connection.execute(sql.insert(_OWNER).values(token=self._token))

    def ensure(self, connection: sql.Connection) -> None:
        """Return if this server has the lock, or can acquire it again.

        Raises
        ------
        UnavailableError
            If another server has the lock, or had it.
        """
        if self._has_lock(connection):
            return
        with self._regaining:
            if not self._is_taken_over and not self._has_lock(connection):
                self._regain(connection)  # unless another thread was faster
            if self._is_taken_over:
                raise UnavailableError("another server has changed the store: restart this one")

    def _regain(self, connection: sql.Connection) -> None:
        with contextlib.suppress(sql.exc.SQLAlchemyError):
            self._holder.invalidate()
            self._holder.close()
        try:
            self._holder, self._process_id = self._acquire()
        except NotApplicableError as error:
            raise UnavailableError(str(error)) from error
        if connection.execute(sql.select(_OWNER.c.token)).scalar_one() != self._token:
            self._is_taken_over = True
            self.release()

    def release(self) -> None:
        """Let another server have the lock at once, not when the database notices our end."""
        with contextlib.suppress(sql.exc.SQLAlchemyError):  # a lost connection has lost its lock
            self._holder.execute(sql.select(sql.func.pg_advisory_unlock(_ADVISORY_LOCK)))
        self._holder.close()

    def _acquire(self) -> tuple[sql.Connection, int]:
        """Return a new connection that holds the lock, and its process on the server."""
        holder = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        acquire = sql.func.pg_try_advisory_lock(_ADVISORY_LOCK)
        acquired, process_id = holder.execute(sql.select(acquire, sql.func.pg_backend_pid())).one()
        if not acquired:
            holder.close()
            raise NotApplicableError("another server uses the store: its advisory lock is taken")
        return holder, process_id

    def _has_lock(self, connection: sql.Connection) -> bool:
        key = {"high": _ADVISORY_LOCK >> 32, "low": _ADVISORY_LOCK & 0xFFFFFFFF}
        found = connection.execute(_HOLDS_LOCK, {**key, "pid": self._process_id})
        return bool(found.scalar_one())


_HOLDS_LOCK = sql.text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = :pid"
    " AND classid = :high AND objid = :low AND objsubid = 1)"
)


@contextlib.contextmanager
def _database_errors_as(kind: type[UnavailableError]) -> Iterator[None]:
    """Raise an error of ours instead of those of the database."""
    try:
        yield
    except sql.exc.SQLAlchemyError as error:
        raise kind(f"the store failed: {_cause(error)}") from error


def _cause(error: Exception) -> str:
    """Return what the driver has reported, without the statement and the advice of SQLAlchemy."""
    cause = error.orig if isinstance(error, sql.exc.DBAPIError) else None
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(described(cause or error).split())  # psycopg breaks and indents lines
