"""Runs a plan to its end, whatever its cells do, and goes on where a run before was ended."""

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

from dlopt.batch.drawings import name_of
from dlopt.batch.executors import Crew, close_workers, crew_of, processors, solve_apart
from dlopt.batch.experiment import Plan
from dlopt.batch.journal import Journal
from dlopt.batch.records import Row, Trouble
from dlopt.batch.runs import Cell, Reply, load_module
from dlopt.batch.worker import Setting
from dlopt.errors import NotApplicableError, SolverError, described
from dlopt.json_files import replacing

AGAIN = frozenset({Trouble.FAILED, Trouble.DIED, Trouble.OUT_OF_TIME, Trouble.OUT_OF_MEMORY})
"""What ``retry`` solves again."""

_AHEAD = 2
"""So many batches for each worker are handed over, so that none waits for this process."""
_MOST_IN_BATCH = 1000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run has come to.

    Parameters
    ----------
    rows : tuple of Row
        Those of the plan, in its order, whenever they were solved.
    solved : int
        How many of them this run has solved.
    others : int
        Rows in the file that are not of this plan.
    """

    rows: tuple[Row, ...]
    solved: int
    others: int


def run_batch(
    plan: Plan,
    path: str | os.PathLike[str],
    *,
    executor: str | Executor = "processes",
    workers: int | None = None,
    memory_mb: int | None = None,
    modules: Iterable[str] = (),
    retry: bool = False,
    pictures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Solve the cells of a plan that a file has no row of, and append theirs.

    The process may be killed at any moment: started again, it solves what is missing. What was
    in flight is lost, at most two batches for each worker. A cell that crashes its worker, or
    exceeds its time or memory, is a row with the reason.

    Parameters
    ----------
    plan : Plan
    path : path-like
        A file of rows, or a new one.
    executor : str or concurrent.futures.Executor, default "processes"
        ``processes``, ``dask://HOST:PORT``, or an executor of your own, which stays open. Each
        thread of it starts a worker process of its own.
    workers : int, optional
        How many processes, or how many cells an executor of your own works at at the same time.
        By default as many as there are processors for.
    memory_mb : int, optional
        For each worker, in MB.
    modules : iterable of str
        Modules or ``.py`` files that the workers import first, for the methods they register.
    retry : bool, default False
        Solve again what failed, died, or was ended for time or memory.
    pictures : path-like, optional
        A folder for the drawings of cells that are planned with ``pictures``.
    progress : callable, optional
        Called with the number of cells that are done, and that of all.

    Returns
    -------
    Summary

    Raises
    ------
    InvalidInstanceError
        If the file has a line that is no row.
    NotApplicableError
        If the file cannot be written, or another run writes to it; if there is no such executor.
    SolverError
        If the executor itself breaks down. The rows so far are in the file.

    Examples
    --------
    >>> import tempfile
    >>> from dlopt import read
    >>> from dlopt.batch import plan_cells
    >>> plan = plan_cells([read("instances/iit/three-nodes.json")], ["opr", "exact"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     once = run_batch(plan, f"{folder}/rows.jsonl", workers=1)
    ...     again = run_batch(plan, f"{folder}/rows.jsonl")
    >>> [str(row.value) for row in again.rows], once.solved, again.solved
    (['32/5', '39/8'], 2, 0)
    """
    if memory_mb is not None and memory_mb < 1:
        raise NotApplicableError(f"memory must be positive, got {memory_mb}")
    if workers is not None and workers < 1:
        raise NotApplicableError(f"workers must be positive, got {workers}")
    modules = tuple(modules)
    for module in modules:
        load_module(module)
    setting = Setting(uuid.uuid4().hex, memory_mb, modules)
    folder = None if pictures is None else Path(pictures)
    told = progress or (lambda done, total: None)
    with Journal(path) as journal:
        todo = [cell for cell in plan.cells if _open(journal, cell, retry)]
        done = len(plan.cells) - len(todo)
        told(done, len(plan.cells))
        for reply in _solved(todo, executor, workers, setting):
            journal.append(_with_picture(reply, folder, journal.path.parent))
            done += 1
            told(done, len(plan.cells))
        rows = tuple(journal.rows[cell.key] for cell in plan.cells)
        return Summary(rows, len(todo), len(journal.rows) - len(rows))


def _open(journal: Journal, cell: Cell, retry: bool) -> bool:
    row = journal.rows.get(cell.key)
    return row is None or (retry and row.status in AGAIN)


def _solved(
    todo: list[Cell], executor: str | Executor, workers: int | None, setting: Setting
) -> Iterator[Reply]:
    """Yield what comes of each cell, in the order in which they are done."""
    if not todo:
        return
    if isinstance(executor, Executor):
        try:
            yield from _handed_over(todo, Crew(executor, workers or processors()), setting)
        finally:
            close_workers(setting.run)
        return
    threads = max(cell.key.limits.threads for cell in todo)
    with crew_of(executor, workers, threads, setting.run) as crew:
        yield from _handed_over(todo, crew, setting)


def _handed_over(todo: list[Cell], crew: Crew, setting: Setting) -> Iterator[Reply]:
    waiting, pace = deque(todo), _Pace(crew.batch_s)
    alone: set[Cell] = set()
    pending: dict[Future[list[Reply]], tuple[Cell, ...]] = {}
    try:
        while waiting or pending:
            while waiting and len(pending) < _AHEAD * crew.size:
                batch = pace.batch(waiting, alone)
                pending[crew.executor.submit(solve_apart, setting, batch)] = batch
            done = wait(pending, return_when=FIRST_COMPLETED).done
            # What went well first: a breakdown ends the run.
            for future in sorted((f for f in pending if f in done), key=_went_wrong):
                batch = pending.pop(future)
                try:
                    replies = future.result()
                except (BrokenExecutor, CancelledError):
                    raise
                except Exception as error:  # the machine died that it was handed to
                    if len(batch) == 1:
                        text = f"the executor lost it: {described(error)}"
                        yield Reply(batch[0].row(Trouble.DIED, text))
                    else:  # one of them is to blame; alone it will show
                        alone.update(batch)
                        waiting.extendleft(reversed(batch))
                    continue
                for cell, reply in zip(batch, replies, strict=True):
                    pace.learn(cell, reply.elapsed_s)
                    yield reply
    except (BrokenExecutor, CancelledError, RuntimeError) as error:
        text = f"the executor broke down: {error or type(error).__name__}"
        raise SolverError(f"{text}; the rows so far are kept, start again to go on") from error
    finally:
        for future in pending:
            future.cancel()


def _went_wrong(future: Future[list[Reply]]) -> bool:
    return future.cancelled() or future.exception() is not None


class _Pace:
    """Puts cells into batches of about the same time, by the time that cells alike have taken."""

    def __init__(self, batch_s: float) -> None:
        self._batch_s = batch_s
        self._known: dict[tuple[str, str], float] = {}

    def learn(self, cell: Cell, elapsed_s: float) -> None:
        """Take note of how long a cell took; the last count most."""
        alike = (cell.key.problem, cell.key.method)
        self._known[alike] = (self._known.get(alike, elapsed_s) + elapsed_s) / 2

    def batch(self, waiting: deque[Cell], alone: set[Cell]) -> tuple[Cell, ...]:
        """Take the next batch; a cell of which nothing is known is one by itself."""
        batch = [waiting.popleft()]
        if self._of(batch[0]) is None or batch[0] in alone:
            return tuple(batch)
        total = self._of(batch[0]) or 0.0
        while waiting and total < self._batch_s and len(batch) < _MOST_IN_BATCH:
            more = self._of(waiting[0])
            if more is None or waiting[0] in alone:
                break
            total += more
            batch.append(waiting.popleft())
        return tuple(batch)

    def _of(self, cell: Cell) -> float | None:
        return self._known.get((cell.key.problem, cell.key.method))


def _with_picture(reply: Reply, folder: Path | None, home: Path) -> Row:
    """Write the drawing, if there is one, and return the row that names it."""
    if folder is None or reply.picture is None:
        return reply.row
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name_of(reply.row.key)
    with replacing(file) as target:
        target.write(reply.picture)
    return replace(reply.row, picture=Path(os.path.relpath(file, home)).as_posix())
