"""A stream of a million tasks: how long the longest submission takes, and what makes it long."""

from __future__ import annotations

import contextlib
import gc
import heapq
import random
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.timing import Report
from dlopt import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

NODES = 512
STREAM = 1_000_000
"""Tasks of the stream."""
STEPS = 10
"""Rows of the table about it."""
ARCHIVED_AFTER = 10
"""Submissions between two calls of `archive`."""
ADDITIONS = 3_200
"""Additions of the fixed computation, which takes about as long as a submission."""
OLDEST = 2
"""Number of the oldest generation of the collector of garbage."""
SLOWEST = 5
"""Rows of the table about the slowest submissions."""
LONGEST_MS = 5.0
"""Target: milliseconds that a submission may take at the most, collections included."""
GROWTH = 1.25
"""Target: by how much the memory may grow from the first step to the last."""


class CollectionTimes:
    """Measures how long collections of garbage take, in microseconds of the processor."""

    def __init__(self) -> None:
        self.total = 0.0
        self.longest = 0.0
        self.full = 0
        """Number of collections of the oldest generation, which search all that is not frozen."""
        self._begun = 0

    def __call__(self, phase: str, about: dict[str, int]) -> None:
        """Take the time at the start and at the end of a collection."""
        if phase == "start":
            self._begun = time.thread_time_ns()
        else:
            spent = (time.thread_time_ns() - self._begun) / 1000
            self.total += spent
            self.longest = max(self.longest, spent)
            self.full += about["generation"] == OLDEST


class CallTimes:
    """Measures calls, in microseconds by the clock and of the processor.

    The clock goes on while other processes of the machine run, the time of the processor does not.
    Both are kept in arrays, for objects would make more work for the collector.

    Parameters
    ----------
    collections : CollectionTimes
    """

    def __init__(self, collections: CollectionTimes) -> None:
        self._collections = collections
        self.clock = array("d")
        self.processor = array("d")
        self.within = array("d")
        """Of the processor, for the collections of garbage that began within each call."""

    def measure(self, call: Callable[..., object], *arguments: object) -> None:
        """Call something, and keep how long it takes."""
        before = self._collections.total
        begun, used = time.perf_counter_ns(), time.thread_time_ns()
        call(*arguments)
        spent, ended = time.thread_time_ns() - used, time.perf_counter_ns()
        self.clock.append((ended - begun) / 1000)
        self.processor.append(spent / 1000)
        self.within.append(self._collections.total - before)

    def without_collections(self) -> float:
        """Return the longest call of the processor, less the collections in it."""
        calls = zip(self.processor, self.within, strict=True)
        return max(spent - within for spent, within in calls)

    def slowest(self) -> list[tuple[float, float, float]]:
        """Return the slowest calls by the clock: clock, processor, collections."""
        calls = zip(self.clock, self.processor, self.within, strict=True)
        return heapq.nlargest(SLOWEST, calls)


@dataclass(frozen=True, slots=True)
class Step:
    """What was measured of a part of the stream.

    Parameters
    ----------
    submissions : CallTimes
    fixed : CallTimes
        A computation that is always the same and makes no garbage, once after each submission.
    longest_collection : float
        Microseconds of the processor, within submissions and between them.
    full_collections : int
    archive : float
        Microseconds of the processor to archive a task.
    alive : int
        Tasks in the book at the end.
    memory : float
        Megabytes of this process at the end.
    """

    submissions: CallTimes
    fixed: CallTimes
    longest_collection: float
    full_collections: int
    archive: float
    alive: int
    memory: float


def resident() -> float:
    """Return the memory of this process in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def compute() -> int:
    """Compute always the same."""
    total = 0
    for number in range(ADDITIONS):
        total += number
    return total


def steps(count: int, collections: CollectionTimes) -> Iterator[Step]:
    """Submit tasks that keep the cluster busy, and archive what is over."""
    generator, now = random.Random(5), 0.0
    book = Admission(Cluster(NODES, 1.0, 1000.0), "fast-edf-iit")
    gap = 1000 * 1001 / NODES / 0.9
    for step in range(STEPS):
        submissions, fixed = CallTimes(collections), CallTimes(collections)
        archiving, over = 0, 0
        collections.longest, collections.full = 0.0, 0
        for number in range(step * count // STEPS, (step + 1) * count // STEPS):
            now += generator.expovariate(1 / gap)
            load, deadline = 1 + generator.expovariate(1 / 1000), generator.uniform(5e5, 1e7)
            submissions.measure(book.submit, Task(f"task {number}", now, load, deadline))
            fixed.measure(compute)
            if number % ARCHIVED_AFTER == 0:
                begun = time.thread_time_ns()
                over += len(book.archive().decisions)
                archiving += time.thread_time_ns() - begun
        yield Step(
            submissions,
            fixed,
            collections.longest,
            collections.full,
            archiving / 1000 / max(over, 1),
            len(book.decisions),
            resident(),
        )


def stream(report: Report, number: int, *, frozen: bool) -> None:
    """Print a row for each step of a stream, its slowest submissions, and the targets."""
    count = STREAM // 10 if report.quick else STREAM
    setting = "after gc.freeze()" if frozen else "without gc.freeze()"
    report.table(
        f"{number}. A stream of tasks {setting}, archived every {ARCHIVED_AFTER}: microseconds",
        *("tasks", "p50", "p99", "max", "max less collections", "max by the clock"),
        *("fixed, max", "fixed, max by the clock", "longest collection", "full collections"),
        *("archive, a task", "alive", "memory, MB"),
    )
    longest, clock, memory = 0.0, 0.0, []
    slowest: dict[str, list[tuple[float, float, float]]] = {
        "submission": [],
        "fixed computation": [],
    }
    with collection_times(frozen=frozen) as collections:
        for index, step in enumerate(steps(count, collections), start=1):
            report.row(f"{index * count // STEPS:,}", *cells_of(step))
            for name, calls in (
                ("submission", step.submissions),
                ("fixed computation", step.fixed),
            ):
                slowest[name] += calls.slowest()
            longest = max(longest, max(step.submissions.processor))
            clock = max(clock, max(step.submissions.clock))
            memory.append(step.memory)
            del step, calls  # they would count as memory of the next step
        collections.longest = 0.0
        gc.collect()
        whole = collections.longest
    report.table(
        f"{number}a. The slowest calls of that stream by the clock: microseconds",
        *("call", "by the clock", "of the processor", "of it collections"),
    )
    for name, found in slowest.items():
        for call in heapq.nlargest(SLOWEST, found):
            report.row(name, *call)
    report.row("gc.collect() afterwards", None, whole, whole)
    for name, most in (("of the processor", longest), ("by the clock", clock)):
        text = f"{most / 1000:.3g} ms, at most {LONGEST_MS:g}"
        passed = most <= 1000 * LONGEST_MS
        report.target(f"the longest of {count:,} submissions {name}, {setting}", text, passed)
    growth = memory[-1] / memory[0]
    text = f"{growth:.3g} times that after the first step, at most {GROWTH:g}"
    report.target(f"memory, {setting}", text, growth <= GROWTH)


def cells_of(step: Step) -> tuple[float, ...]:
    """Return the cells of a row, after the number of tasks."""
    calls, fixed = step.submissions, step.fixed
    return (
        *(float(share) for share in np.quantile(np.frombuffer(calls.processor), (0.5, 0.99))),
        max(calls.processor),
        calls.without_collections(),
        max(calls.clock),
        max(fixed.processor),
        max(fixed.clock),
        step.longest_collection,
        step.full_collections,
        step.archive,
        step.alive,
        step.memory,
    )


@contextlib.contextmanager
def collection_times(*, frozen: bool) -> Iterator[CollectionTimes]:
    """Measure collections, with or without what is loaded already."""
    collections = CollectionTimes()
    gc.collect()
    if frozen:
        gc.freeze()
    gc.callbacks.append(collections)
    try:
        yield collections
    finally:
        gc.callbacks.remove(collections)
        gc.unfreeze()


def stream_after_freeze(report: Report) -> None:
    """Stream with `gc.freeze()`, as docs/engines.md says."""
    stream(report, 2, frozen=True)


def stream_without_freeze(report: Report) -> None:
    """Stream as Python comes."""
    stream(report, 3, frozen=False)
