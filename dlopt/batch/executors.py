"""Executors of runs: threads of this process or of a Dask cluster, each with a worker process."""

from __future__ import annotations

import contextlib
import importlib
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dlopt.batch.runs import Reply, Run
from dlopt.batch.worker import Worker, WorkerSettings
from dlopt.child_processes import processors
from dlopt.errors import MissingExtraError, NotApplicableError, SolverError

DASK = "dask://"
_ADDRESS = re.compile(r"(?:\[[^\[\]\s]+\]|[^/:\[\]\s]+):([0-9]{1,5})")
"""HOST:PORT; a client that is given anything else does not end."""
_LAST_PORT = 65535
CONNECT_S = 30

_LOCAL = threading.local()
_OPEN: dict[str, list[Worker]] = {}
"""The workers of this process by their batch."""
_ENDED: set[str] = set()
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """An executor of runs, with its size.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    size : int
        How many runs it works at at the same time.
    batch_s : float
        Runs are handed over in batches of about so many seconds; 0 is one by one.
    """

    executor: Executor
    size: int
    batch_s: float = 0.0


def solve_in_worker(setting: WorkerSettings, runs: tuple[Run, ...]) -> list[Reply]:
    """Solve runs in the worker process that belongs to this thread.

    This is what a batch submits to its executor, whatever that is: the thread only waits, and a
    run that crashes, hangs or takes all memory ends nothing but that process.
    """
    replies = []
    for run in runs:
        begun = time.perf_counter()
        reply = _worker(setting).ask(run)
        replies.append(reply._replace(elapsed_s=time.perf_counter() - begun))
    return replies


def close_workers(batch_id: str) -> None:
    """End the worker processes that this process has for a batch, whatever they are at."""
    with _LOCK:
        _ENDED.add(batch_id)
        workers = _OPEN.pop(batch_id, [])
    for worker in workers:
        worker.close()


@contextlib.contextmanager
def worker_pool(
    name: str, workers: int | None, threads: int, batch_id: str
) -> Iterator[WorkerPool]:
    """Give the worker pool of a name: ``processes``, or ``dask://HOST:PORT``.

    Parameters
    ----------
    name : str
    workers : int, optional
        How many processes; by default as many as there are processors for, each with `threads`.
        A cluster has the workers that it has.
    threads : int
        Of each solver.
    batch_id : str
        See `WorkerSettings`.

    Raises
    ------
    NotApplicableError
        If there is no such executor.
    MissingExtraError
        If Dask is not installed.
    SolverError
        If the cluster does not answer, or has no worker.
    """
    if name == "processes":
        size = max(1, processors() // threads) if workers is None else workers
        if size < 1:
            raise NotApplicableError(f"workers must be positive, got {size}")
        executor = ThreadPoolExecutor(size, thread_name_prefix="dlopt-batch")
        try:
            yield WorkerPool(executor, size)
        finally:
            close_workers(batch_id)
            executor.shutdown(cancel_futures=True)
    elif name.startswith(DASK) and len(name) > len(DASK):
        if workers is not None:
            raise NotApplicableError("a cluster has the workers it has: no --workers with dask://")
        address = name.removeprefix(DASK)
        port = _ADDRESS.fullmatch(address)
        if port is None or int(port[1]) > _LAST_PORT:
            raise NotApplicableError(f"{name} is no address: write {DASK}HOST:PORT")
        with _dask(address, batch_id) as pool:
            yield pool
    else:
        raise NotApplicableError(f"no executor {name!r} (known: processes, dask://HOST:PORT)")


@contextlib.contextmanager
def _dask(address: str, batch_id: str) -> Iterator[WorkerPool]:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise MissingExtraError("distributed", "dask") from error
    try:
        client = distributed.Client(f"tcp://{address}", timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise SolverError(f"no Dask scheduler answers at {address}: {error}") from error
    try:
        size = sum(client.nthreads().values())
        if not size:
            raise SolverError(f"the Dask cluster at {address} has no workers")
        executor = client.get_executor(pure=False)
        try:
            yield WorkerPool(executor, size, batch_s=0.5)
        finally:
            with contextlib.suppress(Exception):  # the cluster may be gone
                executor.shutdown(wait=False)
                client.run(close_workers, batch_id)
    finally:
        client.close()


def _worker(setting: WorkerSettings) -> Worker:
    """Return this thread's worker; one that it had for another batch is closed."""
    known: tuple[WorkerSettings, Worker] | None = getattr(_LOCAL, "worker", None)
    if known is not None and known[0] == setting:
        return known[1]
    if known is not None:
        known[1].close()
    worker = Worker(setting)
    with _LOCK:
        if setting.batch_id in _ENDED:
            worker.close()
        else:
            _OPEN.setdefault(setting.batch_id, []).append(worker)
    _LOCAL.worker = (setting, worker)
    return worker
