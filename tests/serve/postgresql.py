"""A real PostgreSQL in a temporary folder, which listens on a socket of that folder alone."""

import contextlib
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = ("initdb", "postgres", "pg_ctl")
_USER = "dlopt"
_READY_WITHIN_S = 60
"""Seconds that `pg_ctl` waits for a server to accept connections."""


def reason_against_postgresql() -> str | None:
    """Return why there can be no server here; None if there can."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"not on this machine: {', '.join(missing)}"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    if os.getuid() == 0 and _unprivileged() is None:
        return "PostgreSQL refuses to run as root, and there is no other user"
    return None


@contextlib.contextmanager
def running_postgresql() -> Iterator[Callable[[], str]]:
    """Yield what makes an empty database, and returns its URL for `dlopt.serve.store.Store`."""
    with tempfile.TemporaryDirectory(prefix="dlopt-postgresql-") as folder:
        other = _unprivileged() if os.getuid() == 0 else None
        if other is not None:
            os.chown(folder, other.pw_uid, other.pw_gid)
        as_user: dict[str, Any] = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
        if other is not None:
            as_user |= {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
        data, log = f"{folder}/data", f"{folder}/log"
        subprocess.run(["initdb", "-D", data, "-A", "trust", "-U", _USER, "--no-sync"], **as_user)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        control = ["pg_ctl", "-D", data, "-w", "-t", str(_READY_WITHIN_S)]
        try:
            subprocess.run([*control, "-l", log, "-o", options, "start"], **as_user)
        except subprocess.CalledProcessError as error:
            raise AssertionError(Path(log).read_text()) from error
        numbers = itertools.count()

        def new_database() -> str:
            import psycopg

            name = f"test{next(numbers)}"
            where = f"host={folder} user={_USER} dbname=postgres"
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
            return f"postgresql+psycopg://{_USER}@/{name}?host={folder}"

        try:
            yield new_database
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **as_user)


def _unprivileged() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        return None


@pytest.fixture(scope="session")
def new_postgresql_database() -> Iterator[Callable[[], str]]:
    """Make empty databases of a server that runs until the tests end."""
    reason = reason_against_postgresql()
    if reason is not None:
        pytest.skip(f"a PostgreSQL server is needed: {reason}")
    with running_postgresql() as new_database:
        yield new_database
