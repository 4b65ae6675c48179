"""The verbs of the books: what they cost next to a decision, and a stream of a million tasks.

``python -m benchmarks.books --quick`` leaves out 3,000 waiting tasks, and streams a tenth. Times
are those of the processor, not of the clock, so that other processes on the machine count less.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import fast_admission
from benchmarks.timing import Report, run
from dlopt import Admission
from dlopt.books import Book
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

NODES = 512
WAITING = (30, 300, 3_000)
CALLS = 15
"""Calls of each verb, of which the median is taken."""
SNAPSHOT_MS = 20.0
"""Milliseconds that a snapshot may take with the largest number of waiting tasks."""
RESTORE_MS = 100.0
"""Milliseconds that it may take to restore it."""
STREAM = 1_000_000
"""Tasks of the stream."""
STEPS = 10
"""Rows of the table about it."""
ARCHIVED_AFTER = 10
"""Submissions between two calls of `archive`."""
LONGEST_MS = 5.0
"""Milliseconds that a submission may take at the most."""
GROWTH = 1.25
"""By how much the memory may grow from the first step to the last."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A book, all of whose promises wait, and what can be done with them.

    Parameters
    ----------
    book : Book
    new : list
        Submissions that are all accepted, one after the other.
    promised : list
        Submissions that were accepted; every second one is changed, the others are taken back.
    changed : callable
        Returns a submission with less to do.
    """

    book: Book
    new: list[Any]
    promised: list[Any]
    changed: Callable[[Any], Any]


def admission(name: str, **options: bool) -> Callable[[int], Subject]:
    """Return what makes a book of divisible tasks that all wait for the first node."""

    def make(waiting: int) -> Subject:
        busy = fast_admission.BUSY
        tau, chi, *_ = fast_admission.COSTS
        book = Admission(Cluster(NODES, tau, chi), name, ready_times=[busy] * NODES, **options)
        tasks = [
            Task(task.id, task.arrival, task.load, task.deadline - task.arrival)
            for task in fast_admission.tasks(waiting + CALLS, NODES)
        ]
        for task in tasks[:waiting]:
            if not book.submit(task).accepted:
                raise RuntimeError(f"{name}: the queue is not feasible")
        promised = random.Random(waiting).sample(tasks[:waiting], 2 * CALLS)
        return Subject(
            book, tasks[waiting:], promised, lambda task: replace(task, load=task.load * 0.9)
        )

    return make


ENGINES: dict[str, Callable[[int], Subject]] = {
    "Admission, fast-edf-iit": admission("fast-edf-iit"),
    "Admission, fast-edf-iit, compiled": admission("fast-edf-iit", compiled=True),
    "Admission, hybrid": admission("hybrid"),
    "Admission, edf-iit-2": admission("edf-iit-2"),
    "Admission, edf-opr-mn": admission("edf-opr-mn"),
}
"""The engines by name; each makes a book with so many waiting promises."""


def milliseconds(calls: list[Callable[[], object]]) -> float:
    """Return the median of calls, without the collection of garbage."""
    spent = []
    gc.collect()
    gc.disable()
    for call in calls:
        begun = time.thread_time_ns()
        call()
        spent.append((time.thread_time_ns() - begun) / 1e6)
    gc.enable()
    return statistics.median(spent)


def verbs(subject: Subject) -> dict[str, float]:
    """Return the milliseconds of each verb."""
    book = subject.book
    text = json.dumps(book.snapshot())
    found = {
        "ask": milliseconds([lambda new=new: book.ask(new) for new in subject.new]),
        "decision": milliseconds([lambda new=new: book.submit(new) for new in subject.new]),
        "change": milliseconds(
            [lambda one=one: book.change(subject.changed(one)) for one in subject.promised[::2]]
        ),
        "cancel": milliseconds(
            [lambda one=one: book.cancel(one.id) for one in subject.promised[1::2]]
        ),
        "snapshot": milliseconds([book.snapshot] * CALLS),
        "restore": milliseconds([lambda: type(book).restore(json.loads(text))] * CALLS),
    }
    parsed = milliseconds([lambda: json.loads(text)] * CALLS)
    found["restore"] -= parsed
    return found


def by_waiting(report: Report) -> None:
    """Print a row for every engine and number of waiting promises."""
    names = ("ask", "change", "cancel", "snapshot", "restore")
    report.table(
        f"1. Milliseconds of a decision on {NODES} nodes, and how many decisions the others take",
        *("engine", "waiting", "decision", *names, "snapshot, ms", "restore, ms"),
    )
    for name, make in ENGINES.items():
        for waiting in WAITING:
            if report.quick and waiting == WAITING[-1]:
                continue
            found = verbs(make(waiting))
            one = found["decision"]
            ratios = [found[verb] / one for verb in names]
            report.row(name, waiting, one, *ratios, found["snapshot"], found["restore"])
            if waiting == WAITING[-1]:
                for verb, most in (("snapshot", SNAPSHOT_MS), ("restore", RESTORE_MS)):
                    text = f"{found[verb]:.3g} ms, at most {most:g}"
                    report.target(f"{name}: {verb}", text, found[verb] <= most)


def resident() -> float:
    """Return the memory of this process in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


class CollectionTimes:
    """Measures how long each collection of garbage takes, in microseconds."""

    def __init__(self) -> None:
        self.spent: list[float] = [0.0]
        self._begun = 0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        """Take the time at the start and at the end of a collection."""
        if phase == "start":
            self._begun = time.thread_time_ns()
        else:
            self.spent.append((time.thread_time_ns() - self._begun) / 1000)


def stream(report: Report) -> None:
    """Submit a million tasks that keep the cluster busy, and archive what is over.

    Two equal books get each task, and the shorter of both times counts: what interrupts one of them
    from outside does not interrupt both. Collections of garbage are measured by themselves.
    """
    report.table(
        f"2. A stream of tasks, archived every {ARCHIVED_AFTER}: microseconds of a submission",
        *("tasks", "p50", "p99", "max", "max, garbage", "archive, a task"),
        *("alive", "memory, MB"),
    )
    count, generator = STREAM // 10 if report.quick else STREAM, random.Random(5)
    gc.collect()
    gc.freeze()  # what is loaded is not searched for garbage again
    collections = CollectionTimes()
    gc.callbacks.append(collections)
    books = [Admission(Cluster(NODES, 1.0, 1000.0), "fast-edf-iit") for _ in range(2)]
    gap, now, memory = 1000 * 1001 / NODES / 0.9, 0.0, []
    longest, pauses = [], []
    for step in range(STEPS):
        spent, archiving, over = [], 0.0, 0
        collections.spent = [0.0]
        for number in range(step * count // STEPS, (step + 1) * count // STEPS):
            now += generator.expovariate(1 / gap)
            load, deadline = 1 + generator.expovariate(1 / 1000), generator.uniform(5e5, 1e7)
            task = Task(f"task {number}", now, load, deadline)
            spent.append(min(timed(book.submit, task)[0] for book in books))
            if number % ARCHIVED_AFTER == 0:
                for book in books:
                    one, archived = timed(book.archive)
                    over += len(archived.decisions)
                    archiving += one
        spent.sort()
        longest.append(spent[-1])
        pauses.append(max(collections.spent))
        memory.append(resident())
        report.row(
            f"{(step + 1) * count // STEPS:,}",
            *(spent[len(spent) // 2], spent[len(spent) * 99 // 100], spent[-1], pauses[-1]),
            *(archiving / max(over, 1), len(books[0].decisions), memory[-1]),
        )
    gc.callbacks.remove(collections)
    most = (max(longest) + statistics.median(pauses)) / 1000
    text = f"{most:.3g} ms with the median of these collections, at most {LONGEST_MS:g}"
    report.target("the longest submission", text, most <= LONGEST_MS)
    growth = memory[-1] / memory[0]
    text = f"{growth:.3g} times that after the first step, at most {GROWTH:g}"
    report.target("memory", text, growth <= GROWTH)


def timed(call: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
    """Return the microseconds that a call takes, and what it returns."""
    begun = time.thread_time_ns()
    answer = call(*arguments)
    return (time.thread_time_ns() - begun) / 1000, answer


if __name__ == "__main__":
    sys.exit(run("books", {1: by_waiting, 2: stream}))
