"""Work that is spread over processes."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from dlopt.errors import NotApplicableError, SolverError
from dlopt.simulation.process_pool import imap_unordered


def refuse(number: int) -> int:
    if number > 1:
        raise NotApplicableError(f"{number} is too much")
    return number


def die(number: int) -> int:
    os._exit(number)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_comes_of_items_is_yielded(processes: int) -> None:
    assert sorted(imap_unordered(abs, [-3, 1, -2], processes)) == [1, 2, 3]
    assert list(imap_unordered(abs, [], processes)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_what_work_raises_is_raised(processes: int) -> None:
    with pytest.raises(NotApplicableError, match="2 is too much"):
        list(imap_unordered(refuse, [2, 2, 2], processes))


def test_without_processes_nothing_is_done() -> None:
    with pytest.raises(NotApplicableError, match="processes must be positive, got 0"):
        list(imap_unordered(abs, [], 0))


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(SolverError, match="a worker process ended unexpectedly"):
        list(imap_unordered(die, [3, 3], 2))


def test_whoever_stops_listening_ends_the_processes() -> None:
    """And the thread that manages them: Python must not end while that closes its pipes."""
    before = set(threading.enumerate())
    answers = imap_unordered(abs, [1, 2, 3], 2)
    assert next(answers) in (1, 2, 3)
    answers.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before and not multiprocessing.active_children()
