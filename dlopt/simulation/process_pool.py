"""Parallel map over worker processes that end when this process is interrupted or ends."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TypeVar

from dlopt.child_processes import end_with_parent
from dlopt.errors import NotApplicableError, SolverError

ItemT = TypeVar("ItemT")
AnswerT = TypeVar("AnswerT")


def imap_unordered(
    work: Callable[[ItemT], AnswerT], items: Sequence[ItemT], processes: int
) -> Iterator[AnswerT]:
    """Yield the results of a function of each item, as they complete; items start in their order.

    Parameters
    ----------
    work : callable
        A function of a module; it and the items must be picklable. Its exceptions are raised here.
    items : sequence
    processes : int
        With one, the work is done in this process.

    Raises
    ------
    NotApplicableError
        If the number of processes is not positive.
    SolverError
        If a worker process ended unexpectedly, or the function tries to exit.

    Examples
    --------
    >>> list(imap_unordered(abs, [-1, 2], processes=1))
    [1, 2]
    """
    if processes < 1:
        raise NotApplicableError(f"processes must be positive, got {processes}")
    done = partial(_without_system_exit, work)
    if min(processes, len(items)) <= 1:
        yield from map(done, items)
        return
    # A fresh interpreter for each: a fork would copy whatever threads and locks there are.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, len(items)), context, end_with_parent)
    ended = 0
    try:
        for future in as_completed(_submit(pool, done, items)):
            yield future.result()
            ended += 1
    except BrokenProcessPool as error:
        text = (
            "a worker process ended unexpectedly; scripts must be guarded by "
            "`if __name__ == '__main__'`"
        )
        raise SolverError(text) from error
    finally:
        if ended < len(items):
            _kill_workers(pool)
        pool.shutdown()


def _without_system_exit(work: Callable[[ItemT], AnswerT], item: ItemT) -> AnswerT:
    try:
        return work(item)
    except SystemExit as error:
        text = f"the function exits for {item!r}, with code {error.code!r}"
        raise SolverError(text) from None


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[ItemT], AnswerT], items: Sequence[ItemT]
) -> list[Future[AnswerT]]:
    """Submit the items to worker processes that leave Ctrl-C to this one."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - Windows
        return [pool.submit(work, item) for item in items]
    # The processes inherit it, and no signal comes between a start and our knowing of it.
    blocked = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        return [pool.submit(work, item) for item in items]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """End the processes at once. From Python 3.14 on: ``pool.kill_workers()``."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()
    # It waits for the thread that manages them: Python, when it ends, must not meet that thread
    # while it closes its pipes.
    pool.shutdown(cancel_futures=True)
