"""Executes a plan, whatever its runs do, and resumes where an earlier batch was interrupted."""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from dlopt.arithmetic import integer_argument
from dlopt.batch.drawings import file_name
from dlopt.batch.executors import (
    WorkerPool,
    close_workers,
    solve_in_worker,
    worker_pool,
)
from dlopt.batch.experiment import ExperimentPlan
from dlopt.batch.journal import Journal
from dlopt.batch.records import Failure, Record
from dlopt.batch.runs import Reply, Run
from dlopt.batch.worker import WorkerSettings
from dlopt.child_processes import processors
from dlopt.errors import NotApplicableError, SolverError, described
from dlopt.json_files import replacing
from dlopt.registry import load_methods

RETRIED_STATUSES = frozenset(
    {Failure.FAILED, Failure.CRASHED, Failure.TIMEOUT, Failure.OUT_OF_MEMORY}
)
"""What ``retry`` solves again."""

_BATCHES_PER_WORKER = 2
"""So many batches for each worker are handed over, so that none waits for this process."""
_MAX_BATCH_RUNS = 1000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """What a batch has come to.

    Parameters
    ----------
    records : tuple of Record
        Those of the plan, in its order, whenever they were solved.
    solved : int
        How many of them this batch has solved.
    others : int
        Records in the file that are not of this plan.
    """

    records: tuple[Record, ...]
    solved: int
    others: int


def run_batch(
    plan: ExperimentPlan,
    path: str | os.PathLike[str],
    *,
    executor: str | Executor = "processes",
    workers: int | None = None,
    memory_mb: int | None = None,
    modules: Iterable[str] = (),
    retry: bool = False,
    pictures: str | os.PathLike[str] | None = None,
    certificates: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> BatchSummary:
    """Solve the runs of a plan that a file has no record of, and append theirs.

    The process may be killed at any moment: started again, it solves what is missing. What was
    in flight is lost, at most two batches for each worker. A run that crashes its worker, or
    exceeds its time or memory, is a record with the reason.

    Parameters
    ----------
    plan : ExperimentPlan
    path : path-like
        A file of records, or a new one.
    executor : str or concurrent.futures.Executor, default "processes"
        ``processes``, ``dask://HOST:PORT``, or an executor of your own, which stays open. Each
        thread of it starts a worker process of its own.
    workers : int, optional
        How many processes, or how many runs an executor of your own works at at the same time.
        By default as many as there are processors for.
    memory_mb : int, optional
        For each worker, in MB.
    modules : iterable of str
        Modules or ``.py`` files that the workers import first, for the methods they register.
    retry : bool, default False
        Solve again what failed, crashed, or exceeded its time or memory.
    pictures : path-like, optional
        A folder for the drawings of runs that are planned with ``pictures``.
    certificates : path-like, optional
        A folder for the certificates of runs that are planned with ``certificates``. A run whose
        certificate is not in its place is solved again.
    progress : callable, optional
        Called with the number of runs that are done, and that of all.

    Returns
    -------
    BatchSummary

    Raises
    ------
    InvalidInstanceError
        If the file has a line that is no record.
    NotApplicableError
        If the file cannot be written, or another batch writes to it; if there is no such executor.
    SolverError
        If the executor itself breaks down. The records so far are in the file.

    Examples
    --------
    >>> import tempfile
    >>> from dlopt import read
    >>> from dlopt.batch import plan_runs
    >>> plan = plan_runs([read("instances/iit/three-nodes.json")], ["opr", "exact"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     once = run_batch(plan, f"{folder}/records.jsonl", workers=1)
    ...     again = run_batch(plan, f"{folder}/records.jsonl")
    >>> [str(record.value) for record in again.records], once.solved, again.solved
    (['32/5', '39/8'], 2, 0)
    """
    memory_mb = None if memory_mb is None else integer_argument("memory", memory_mb, 1)
    workers = None if workers is None else integer_argument("workers", workers, 1)
    if isinstance(modules, str):
        raise NotApplicableError(f"modules are a list, got {modules!r}")
    modules = tuple(modules)
    for module in modules:
        load_methods(module)
    setting = WorkerSettings(uuid.uuid4().hex, memory_mb, modules)
    folders = Folders(*(None if one is None else Path(one) for one in (pictures, certificates)))
    report_progress = progress or (lambda done, total: None)
    with Journal(path) as journal:
        home = journal.path.parent
        writes = certificates is not None
        todo = [run for run in plan.runs if _is_pending(journal, run, retry, writes)]
        done = len(plan.runs) - len(todo)
        report_progress(done, len(plan.runs))
        for reply in _replies(todo, executor, workers, setting):
            journal.append(_with_files(reply, folders, home))
            done += 1
            report_progress(done, len(plan.runs))
        records = tuple(journal.rows[run.key] for run in plan.runs)
        return BatchSummary(records, len(todo), len(journal.rows) - len(records))


def _is_pending(journal: Journal, run: Run, retry: bool, writes_certificates: bool) -> bool:
    record = journal.rows.get(run.key)
    if record is None or (retry and record.status in RETRIED_STATUSES):
        return True
    if not (run.certificate and writes_certificates and record.proof == "certificate"):
        return False
    if record.certificate is None:
        return record.certificate_bytes is not None or not record.certificate_is_refused
    return not (journal.path.parent / record.certificate).is_file()


def _replies(
    todo: list[Run], executor: str | Executor, workers: int | None, setting: WorkerSettings
) -> Iterator[Reply]:
    """Yield what comes of each run, in the order in which they are done."""
    if not todo:
        return
    if isinstance(executor, Executor):
        try:
            yield from execute_runs(todo, WorkerPool(executor, workers or processors()), setting)
        finally:
            close_workers(setting.batch_id)
        return
    threads = max(run.key.limits.threads for run in todo)
    with worker_pool(executor, workers, threads, setting.batch_id) as pool:
        yield from execute_runs(todo, pool, setting)


def execute_runs(todo: list[Run], pool: WorkerPool, setting: WorkerSettings) -> Iterator[Reply]:
    """Hand runs to workers in batches, and yield what comes of each as soon as it is known."""
    waiting, pace = deque(todo), BatchSizer(pool.batch_s)
    alone: set[Run] = set()
    pending: dict[Future[list[Reply]], tuple[Run, ...]] = {}
    try:
        while waiting or pending:
            while waiting and len(pending) < _BATCHES_PER_WORKER * pool.size:
                batch = pace.batch(waiting, alone)
                pending[pool.executor.submit(solve_in_worker, setting, batch)] = batch
            done = wait(pending, return_when=FIRST_COMPLETED).done
            # What went well first: a breakdown ends the batch.
            for future in sorted((f for f in pending if f in done), key=_failed):
                batch = pending.pop(future)
                try:
                    replies = future.result()
                except (BrokenExecutor, CancelledError):
                    raise
                except Exception as error:  # the machine died that it was handed to
                    if len(batch) == 1:
                        text = f"the executor lost it: {described(error)}"
                        yield Reply(batch[0].failure_record(Failure.CRASHED, text))
                    else:  # one of them is to blame; alone it will show
                        alone.update(batch)
                        waiting.extendleft(reversed(batch))
                    continue
                for run, reply in zip(batch, replies, strict=True):
                    pace.learn(run, reply.elapsed_s)
                    yield reply
    except (BrokenExecutor, CancelledError, RuntimeError) as error:
        text = f"the executor broke down: {error or type(error).__name__}"
        raise SolverError(f"{text}; the records so far are kept, start again to resume") from error
    finally:
        for future in pending:
            future.cancel()


def _failed(future: Future[list[Reply]]) -> bool:
    return future.cancelled() or future.exception() is not None


class BatchSizer:
    """Groups runs into batches of about equal time, by the mean of their method."""

    def __init__(self, batch_s: float) -> None:
        self._batch_s = batch_s
        self._known: dict[tuple[str, str], float] = {}

    def learn(self, run: Run, elapsed_s: float) -> None:
        """Take note of how long a run took; the last count most."""
        kind = (run.key.problem, run.key.method)
        self._known[kind] = (self._known.get(kind, elapsed_s) + elapsed_s) / 2

    def batch(self, waiting: deque[Run], alone: set[Run]) -> tuple[Run, ...]:
        """Take the next batch; a run of which nothing is known is one by itself."""
        batch = [waiting.popleft()]
        if self._expected_s(batch[0]) is None or batch[0] in alone:
            return tuple(batch)
        total = self._expected_s(batch[0]) or 0.0
        while waiting and total < self._batch_s and len(batch) < _MAX_BATCH_RUNS:
            more = self._expected_s(waiting[0])
            if more is None or waiting[0] in alone:
                break
            total += more
            batch.append(waiting.popleft())
        return tuple(batch)

    def _expected_s(self, run: Run) -> float | None:
        return self._known.get((run.key.problem, run.key.method))


class Folders(NamedTuple):
    """Where the files of runs are written; None where none are."""

    pictures: Path | None
    certificates: Path | None


def _with_files(reply: Reply, folders: Folders, home: Path) -> Record:
    """Write the drawing and the certificate, if there are any; return the record with their names.

    They are complete before the record is written, so that a batch that is killed has no record of
    a file that is not there.
    """
    key = reply.record.key
    certificate = _written(reply.certificate, folders.certificates, file_name(key, ".vipr"), home)
    picture = _written(reply.picture, folders.pictures, file_name(key), home)
    return replace(reply.record, picture=picture, certificate=certificate)


def _written(content: bytes | None, folder: Path | None, name: str, home: Path) -> str | None:
    """Write a file as a whole; return its name relative to the folder of the records."""
    if folder is None or content is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / name) as target:
        target.write(content)
    return Path(os.path.relpath(folder / name, home)).as_posix()
