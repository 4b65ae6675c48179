"""A command that goes on in a child process, whose parent sees how it ended.

A command that uses code of others, or a solver that gets no memory, may end in the middle, with
exit code 0 and without a word. So the child says when it is done, and with which exit code; the
parent tells if it ended otherwise.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import FrameType

CAN_FORK = hasattr(os, "fork")
"""Whether a command can go on in a child; without, nobody sees how it ends."""

_mark: int | None = None
"""In a child, the pipe on which it says that it is done."""


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How a child ended.

    Parameters
    ----------
    code : int
        Its exit code; negative, the number of the signal that it died of.
    finished : bool
        Whether it ended by itself, having done what it was to do.
    """

    code: int
    finished: bool

    @property
    def signalled(self) -> int | None:
        """The exit code of a command that was asked to end and did so at once, else None."""
        if -self.code in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            return 128 - self.code
        return None

    @property
    def description(self) -> str:
        """What became of the program."""
        if self.code < 0:
            return f"was killed by {signal.Signals(-self.code).name}"
        return f"ended with exit code {self.code} before it was done"


def go_on_in_child() -> ChildExit | None:
    """Return None in a child process, and in the parent how the child ended, once it has.

    Signals that ask a command to end are passed on to the child, and it is killed when the parent
    has ended, however that came about.
    """
    global _mark
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    life, ours = os.pipe()
    marks, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.close(marks)
        _mark = theirs
        os.setsid()  # Ctrl-C at a terminal is passed on by the parent, once; it can be read from
        threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
        return None
    os.close(life)  # the other end stays open as long as this process lives
    os.close(theirs)
    code = _end_of(child)
    os.set_blocking(marks, False)  # what the child has started may hold the other end
    with contextlib.suppress(BlockingIOError):
        if mark := os.read(marks, 1):
            return ChildExit(mark[0] if code >= 0 else code, code >= 0)
    return ChildExit(code, False)


def finished(code: int) -> None:
    """Say that the command is done, and ends with this exit code; in a child only."""
    if _mark is not None:
        with contextlib.suppress(OSError):
            os.write(_mark, bytes([code & 0xFF]))


def code_of_others(words: Sequence[str]) -> str:
    """Return which code of others the words of a command name, for a message; "" if none.

    Examples
    --------
    >>> code_of_others(["batch", "a.json", "--import", "mine.py", "--import=others"])
    'mine.py, others'
    >>> code_of_others(["falsify", "iit", "mine.py:method"]), code_of_others([])
    ('mine.py:method', '')
    """
    named: list[str] = []
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        option, equals, value = word.partition("=")
        if option == "--import":
            named.append(value if equals else following)
        elif ".py:" in word:
            named.append(word)
    return ", ".join(named)


def _end_with_parent(pipe: int) -> None:
    os.read(pipe, 1)  # nothing is ever written
    os.kill(os.getpid(), signal.SIGKILL)


def _end_of(child: int) -> int:
    """Wait for a child, pass on to it what ends a command, and return its exit code."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, pass_on)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
