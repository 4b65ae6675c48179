"""Messages between a process and its worker: pickled objects with their lengths, over two pipes."""

from __future__ import annotations

import asyncio
import os
import pickle
import selectors
import struct
import subprocess
import threading
import time
from math import inf
from typing import IO, Any

_LENGTH_HEADER = struct.Struct("!Q")
_POLL_INTERVAL_S = 0.2
"""Seconds after which a wait for a worker looks at whether there still is one."""
_MAX_CHUNK_BYTES = 2**20
"""So many bytes are read or written at once."""


def send(pipe: IO[bytes], message: object) -> None:
    """Send a message."""
    pipe.write(_frame(message))
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Return the next message.

    Raises
    ------
    EOFError
        If there will be none.
    """
    (size,) = _LENGTH_HEADER.unpack(_read(pipe, _LENGTH_HEADER.size))
    return pickle.loads(_read(pipe, size))


async def receive_async(pipe: asyncio.StreamReader) -> Any:
    """Return the next message from a pipe that an event loop reads.

    Raises
    ------
    EOFError
        If there will be none.
    """
    try:
        (size,) = _LENGTH_HEADER.unpack(await pipe.readexactly(_LENGTH_HEADER.size))
        return pickle.loads(await pipe.readexactly(size))
    except asyncio.IncompleteReadError as error:
        raise EOFError from error


def request(
    worker: subprocess.Popen[bytes], message: object, timeout_s: float | None = None
) -> Any:
    """Send a message to a worker, and return its answer.

    A worker that has ended has no answer, even if something that it has started lives on and
    holds the pipes open.

    Parameters
    ----------
    worker : subprocess.Popen
    message : object
    timeout_s : float, optional
        Seconds in which the answer must be there.

    Raises
    ------
    TimeoutError
        If there is no answer in time.
    EOFError, OSError
        If there will be none.
    """
    if os.name != "posix":  # pragma: no cover - no forks, and no waiting for pipes
        return _request_blocking(worker, message, timeout_s)
    deadline = inf if timeout_s is None else time.monotonic() + timeout_s
    _write_watching(worker, _frame(message), deadline)
    (size,) = _LENGTH_HEADER.unpack(_read_watching(worker, _LENGTH_HEADER.size, deadline))
    return pickle.loads(_read_watching(worker, size, deadline))


def _request_blocking(
    worker: subprocess.Popen[bytes], message: object, timeout_s: float | None
) -> object:  # pragma: no cover - Windows
    assert worker.stdin is not None and worker.stdout is not None
    longest = threading.TIMEOUT_MAX
    timer = threading.Timer(longest if timeout_s is None else min(timeout_s, longest), worker.kill)
    timer.daemon = True
    timer.start()
    try:
        send(worker.stdin, message)
        return receive(worker.stdout)
    except (OSError, EOFError) as error:
        raise TimeoutError if timer.finished.is_set() else error from error
    finally:
        timer.cancel()


def _frame(message: object) -> bytes:
    data = pickle.dumps(message)
    return _LENGTH_HEADER.pack(len(data)) + data


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _read_watching(worker: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    assert worker.stdout is not None
    handle, data = worker.stdout.fileno(), bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(handle, selectors.EVENT_READ)
        while len(data) < size:
            _wait(ready, worker, deadline)
            more = os.read(handle, min(size - len(data), _MAX_CHUNK_BYTES))
            if not more:
                raise EOFError
            data += more
    return bytes(data)


def _write_watching(worker: subprocess.Popen[bytes], data: bytes, deadline: float) -> None:
    assert worker.stdin is not None
    handle, rest = worker.stdin.fileno(), memoryview(data)
    os.set_blocking(handle, False)
    with selectors.DefaultSelector() as ready:
        ready.register(handle, selectors.EVENT_WRITE)
        while rest:
            _wait(ready, worker, deadline)
            rest = rest[os.write(handle, rest[:_MAX_CHUNK_BYTES]) :]


def _wait(ready: selectors.BaseSelector, worker: subprocess.Popen[bytes], deadline: float) -> None:
    """Wait until a pipe is ready; raise `EOFError` if the worker has ended and it is not."""
    while not ready.select(max(0.0, min(_POLL_INTERVAL_S, deadline - time.monotonic()))):
        if time.monotonic() >= deadline:  # what is there at the same moment has come in time
            raise TimeoutError
        if worker.poll() is not None and not ready.select(0):
            raise EOFError
