"""Interruption of work that exceeds its time limit, at whatever point it is.

Methods observe their limits themselves and return their incumbent. This module interrupts what
cannot observe a limit: a formula over a million numbers, a model that is still being built, a
solver that overruns.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Generic, TypeVar

AnswerT = TypeVar("AnswerT")

_NAME = "dlopt-within"
_FIRST_PAUSE_S = 0.02
"""Seconds between the first two attempts to interrupt; each later pause is twice as long."""
_LONGEST_PAUSE_S = 1.0
"""The longest of these pauses. Both are chosen by hand."""
_STEPS = 100
"""Steps of a loop, at any of which Python may raise what another thread asked for."""
_NOT_BROKEN_OFF = frozenset({"coverage", "llvmlite", "logging", "numba", "dlopt.temporary_files"})
"""Packages whose code holds locks that all threads wait for, and that it must release itself; and
the module that removes files, which what was raised a moment before has made it do."""
_POLLING_PAUSE_S = 0.02
"""Seconds between two looks at a condition that gives work up, where there is one."""
_LAST_WAIT_S = 10.0
"""Seconds that Python waits at its end for work that was given up and is still inside a solver."""


class GivenUp(BaseException):
    """Ends a thread for whose answer nobody waits any longer; no ``except Exception`` stops it."""


def within(
    seconds: float, work: Callable[[], AnswerT], is_stopped: Callable[[], bool] | None = None
) -> AnswerT:
    """Return what `work` returns, or give it up after a time or on a condition.

    It runs in a thread of its own, in the context (`contextvars`) of the caller. Work that is
    given up ends at its next step in Python. A call of compiled code first runs to its own end, or
    is asked to end if it can be, see `ended_by`; nobody waits for it. Within such work, only the
    outer limit counts.

    Parameters
    ----------
    seconds : float
    work : callable
        Without arguments. It should change nothing that others see: it may end anywhere.
    is_stopped : callable, optional
        Asked again and again; once it returns true, the work is given up.

    Returns
    -------
    object

    Raises
    ------
    TimeoutError
        If there is no answer in time, or before the condition is true.

    Examples
    --------
    >>> within(60, lambda: 6 * 7)
    42
    >>> within(0.05, lambda: max(iter(lambda: 0, 1)))  # the largest of endless zeros
    Traceback (most recent call last):
    ...
    TimeoutError: no answer within 0.05 s
    """
    if isinstance(threading.current_thread(), WorkThread):
        return work()
    work_here = WorkThread(partial(contextvars.copy_context().run, work))
    work_here.start()
    try:
        seconds = min(seconds, threading.TIMEOUT_MAX)
        if is_stopped is None:
            work_here.wait(seconds)
        else:
            end = time.monotonic() + seconds
            while not (work_here.is_over or is_stopped() or time.monotonic() >= end):
                work_here.wait(_POLLING_PAUSE_S)
    finally:
        if not work_here.is_over:
            threading.Thread(target=work_here.end, name=f"{_NAME}-end", daemon=True).start()
    if work_here.answers:
        return work_here.answers[0]
    if work_here.failure is not None:
        raise work_here.failure
    raise TimeoutError(f"no answer within {seconds:g} s")


@contextlib.contextmanager
def ended_by(stop: Callable[[], object]) -> Iterator[None]:
    """Let a call of compiled code in this block be ended if the work around it is given up.

    Parameters
    ----------
    stop : callable
        Called from another thread, perhaps several times, also before the call has begun.

    Examples
    --------
    >>> gate = threading.Event()
    >>> def work():
    ...     with ended_by(gate.set):
    ...         gate.wait()
    >>> within(0.05, work)
    Traceback (most recent call last):
    ...
    TimeoutError: no answer within 0.05 s
    >>> gate.wait()
    True
    """
    thread = threading.current_thread()
    if not isinstance(thread, WorkThread):
        yield
        return
    thread.set_stop_call(stop)
    try:
        yield
    finally:
        thread.set_stop_call(None)


def still_working(wait_s: float = 0.0) -> bool:
    """Tell whether work that was given up is still inside a call that cannot be broken off.

    Parameters
    ----------
    wait_s : float, default 0
        Seconds that each thread has to end: one that has given its answer ends soon after it.
    """
    working = [thread for thread in threading.enumerate() if isinstance(thread, WorkThread)]
    for thread in working:
        thread.join(wait_s)
    return any(thread.is_alive() for thread in working)


class _QuietInFinalizers:
    """What Python calls for an exception in a finalizer or callback, which it does not pass on.

    `GivenUp` is no error there: the thread is asked again. What anything else raises is reported as
    before.
    """

    def __init__(self, others: Callable[[sys.UnraisableHookArgs], object]) -> None:
        self._others = others

    def __call__(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is not GivenUp:
            self._others(unraisable)

    @classmethod
    def install(cls) -> None:
        if not isinstance(sys.unraisablehook, cls):
            sys.unraisablehook = cls(sys.unraisablehook)


class WorkThread(threading.Thread, Generic[AnswerT]):
    """A thread with an answer, which can be ended."""

    def __init__(self, work: Callable[[], AnswerT]) -> None:
        super().__init__(name=_NAME, daemon=True)
        self._work = work
        self._lock, self._running = threading.Lock(), threading.Lock()
        self._running.acquire()
        self._stop_call: Callable[[], object] | None = None
        self._is_given_up = False
        self.answers: list[AnswerT] = []
        self.failure: BaseException | None = None
        self._is_done = self._has_announced_end = self.is_over = False

    def run(self) -> None:
        """Do the work; what ends it from outside ends no more than that."""
        try:
            self.answers.append(self._work())
        except GivenUp:
            self._is_done = True
        except BaseException as error:
            self._is_done = True
            self.failure = error
        try:
            self._close()
        except GivenUp:
            self._close()

    def _close(self) -> None:
        """Let nobody raise anything in this thread from here on, and let arrive what was raised.

        Python's own code at the end of a thread must not be broken off.
        """
        self._is_done = True
        with self._lock:
            self.is_over = True
        for _ in range(_STEPS):
            pass
        if not self._has_announced_end:
            self._has_announced_end = True
            self._running.release()

    def wait(self, seconds: float) -> None:
        """Wait for the end; `join` is not made to be broken off itself, and takes it for the end.

        (CPython issue 89437.)
        """
        if self._running.acquire(timeout=seconds):
            self._running.release()

    def set_stop_call(self, stop: Callable[[], object] | None) -> None:
        """Set what ends the call of compiled code that this thread begins; None after it.

        Nothing is raised in the thread meanwhile: it might arrive in Python code that the compiled
        code calls, and would be thrown through that.
        """
        with self._lock:
            is_given_up = self._is_given_up
            self._stop_call = None if is_given_up else stop
        if is_given_up:
            raise GivenUp

    def end(self) -> None:
        """Raise in the thread until it ends, but not where it would leave something unfinished."""
        _QuietInFinalizers.install()
        pause = _FIRST_PAUSE_S
        while self.is_alive() and not self.is_over:
            with self._lock:
                self._is_given_up = True
                frame = sys._current_frames().get(self.ident or 0)
                if self._stop_call is not None:
                    self._stop_call()
                elif not self._is_done and can_be_broken_off(frame):
                    _raise_in(self.ident or 0)
            self.join(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)


def _raise_in(thread: int) -> None:
    """Let `GivenUp` be raised in another thread as soon as that is in Python.

    Until it is, all threads are asked to look for what is to be raised in them. Under a debugger
    or a measurement of coverage they do nothing else: Python 3.11 looks again before each function
    that is traced, for as long as the other thread is inside compiled code. Raising something in
    this thread ends that; the other one is asked again when it comes back to Python.
    """
    given_up = ctypes.py_object(GivenUp)
    try:
        for one in (thread, threading.get_ident()):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(one), given_up)
        for _ in range(_STEPS):
            pass
    except GivenUp:
        pass


def can_be_broken_off(frame: FrameType | None) -> bool:
    """Tell whether a thread may be ended where it is: in no import, code with locks, or clean-up.

    Half of an import would be left for good, a lock that is never released would stop all threads
    that want it, and a temporary folder that is half removed would stay. What such code calls
    counts as well: it holds the lock meanwhile. A thread that is inside `contextlib` itself may be
    about to leave a block, whose end must be reached.
    """
    if is_importing(frame) or _module_name(frame) == "contextlib":
        return False
    while frame is not None:
        name = _module_name(frame)
        if name in _NOT_BROKEN_OFF or name.partition(".")[0] in _NOT_BROKEN_OFF:
            return False
        frame = frame.f_back
    return True


def _module_name(frame: FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def is_importing(frame: FrameType | None) -> bool:
    """Tell whether an import is going on where a thread is."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@atexit.register
def _wait() -> None:
    """Let solvers end before Python takes down what they use."""
    stop = time.monotonic() + _LAST_WAIT_S
    for thread in threading.enumerate():
        if isinstance(thread, WorkThread):
            thread.join(max(0.0, stop - time.monotonic()))
