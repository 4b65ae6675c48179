"""The verbs of the books: what they cost next to a decision, and a stream of a million tasks.

``python -m benchmarks.books --quick`` leaves out 3,000 waiting promises, and streams a tenth. Times
are those of the processor, so that other processes on the machine count less; those of the stream
are of the clock as well.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial

from benchmarks.book_stream import stream_after_freeze, stream_without_freeze
from benchmarks.book_subjects import CALLS, SUBJECTS, Subject
from benchmarks.timing import Report, run

WAITING = (30, 300, 3_000)
"""Promises that wait."""
MOST_WAITING = {"MultiStage, multi-stage": 300}
"""Promises that wait at the most, where a decision on more takes long."""
MOST_EXPLAINED = 300
"""Promises that wait at the most where offers and explanations are measured."""
SECONDS = 0.5
"""Seconds after which no further call of a verb is made."""
SNAPSHOT_MS = 20.0
"""Target: milliseconds that a snapshot may take with the largest number of waiting tasks."""
RESTORE_MS = 100.0
"""Target: milliseconds that it may take to restore it."""
VERBS = ("ask", "cancel", "change", "offer", "why", "snapshot", "restore", "fail")
"""The columns of the verbs, next to that of a decision."""


def milliseconds(calls: Iterable[Callable[[], object]]) -> float:
    """Return the median of calls, without the collection of garbage."""
    spent: list[float] = []
    gc.collect()
    gc.disable()
    for call in calls:
        begun = time.thread_time_ns()
        call()
        spent.append((time.thread_time_ns() - begun) / 1e6)
        if sum(spent) > 1000 * SECONDS:
            break
    gc.enable()
    return statistics.median(spent)


def times_of_verbs(subject: Subject, *, explained: bool) -> dict[str, float | None]:
    """Return the milliseconds of each verb, and of a decision."""
    book, later, rejected = subject.book, subject.negotiating, subject.rejected
    text = json.dumps(book.snapshot())
    restored = (type(book).restore(json.loads(text)) for _ in range(CALLS))
    found: dict[str, float | None] = {"offer": None, "why": None}
    if explained:
        found["offer"] = milliseconds([lambda: later.offer(rejected)] * CALLS)
        found["why"] = milliseconds([lambda: later.why(rejected)] * CALLS)
    parsed = milliseconds([lambda: json.loads(text)] * CALLS)
    whole = milliseconds([lambda: type(book).restore(json.loads(text))] * CALLS)
    found |= {
        "fail": milliseconds(partial(one.resources, fail=[0]) for one in restored),
        "ask": milliseconds(partial(book.ask, new) for new in subject.new),
        "decision": milliseconds(partial(subject.submit, new) for new in subject.new),
        "change": milliseconds(
            partial(book.change, subject.changed(one)) for one in subject.promised[::2]
        ),
        "cancel": milliseconds(partial(book.cancel, one.id) for one in subject.promised[1::2]),
        "snapshot": milliseconds([book.snapshot] * CALLS),
        "restore": whole - parsed,
    }
    return found


def by_waiting(report: Report) -> None:
    """Print a row for every engine and number of waiting promises: times, ratios and growth."""
    measured: dict[tuple[str, int], dict[str, float | None]] = {}
    report.table("1. Milliseconds of a call", "engine", "waiting", "decision", *VERBS)
    for name, make in SUBJECTS.items():
        for waiting in WAITING:
            left_out = report.quick and waiting == WAITING[-1]
            if left_out or waiting > MOST_WAITING.get(name, waiting):
                continue
            explained = waiting <= MOST_EXPLAINED
            found = times_of_verbs(make(waiting), explained=explained)
            measured[name, waiting] = found
            report.row(name, waiting, found["decision"], *(found[verb] for verb in VERBS))
    report.table("1a. How many decisions a call takes", "engine", "waiting", *VERBS)
    for (name, waiting), found in measured.items():
        one = found["decision"]
        report.row(name, waiting, *(ratio(found[verb], one) for verb in VERBS))
    report.table(
        "1b. How a call grows with ten times as many that wait",
        *("engine", "waiting", "decision", *VERBS),
    )
    for (name, waiting), found in measured.items():
        before = measured.get((name, waiting // 10))
        if before is not None:
            cells = (ratio(found[verb], before[verb]) for verb in ("decision", *VERBS))
            report.row(name, f"{waiting // 10} to {waiting}", *cells)
    for (name, waiting), found in measured.items():
        if waiting == WAITING[-1]:
            for verb, most in (("snapshot", SNAPSHOT_MS), ("restore", RESTORE_MS)):
                spent = found[verb]
                assert spent is not None  # always measured
                text = f"{spent:.3g} ms, at most {most:g}"
                report.target(f"{name}, {waiting:,} waiting: {verb}", text, spent <= most)


def ratio(spent: float | None, other: float | None) -> float | None:
    """Return how many times as long something takes, if both were measured."""
    return None if spent is None or other is None else spent / other


if __name__ == "__main__":
    sys.exit(run("books", {1: by_waiting, 2: stream_after_freeze, 3: stream_without_freeze}))
