"""The calendar: earliest starts, spans found and added, copies; growth with the number of spans.

``python -m benchmarks.calendar --quick`` leaves out more than 10,000 spans, and compares a tenth of
the random calls with brute force. Times are those of the processor, not of the clock, so that other
processes on the machine count less.

The anchor is the planner of Fluxion (flux-sched, C++), measured on another day on a machine of the
same kind: `avail_time_first` took 916 microseconds with 1,000 spans and 16,277 with 10,000; to find
and to add a span took 338 and 5,765.
"""

from __future__ import annotations

import gc
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.timing import Report, run
from dlopt.calendar import ProfileTree, ResourceCalendar
from dlopt.calendar.compiled_profile import CompiledProfile, NodeArrays

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK = 10_000
POOL = 128
"""Capacity of the machine, as the cores of a node."""
QUESTIONS = 1_000
"""Questions per measurement."""
REPETITIONS = 5
"""Times that spans are found and added, in copies; the row is that with the median of the means."""
EARLIER = 4_000
"""Questions that were asked before, so that most bounds are known, as in a calendar in use."""
EARLIEST_START = {(True, 10_000): 20.0, (False, 10_000): 300.0, (True, 1_000_000): 50.0}
"""Microseconds at the most, by twin and size."""
FIND_AND_ADD = {1_000: 338.0 / 500, 10_000: 5_765.0 / 500}
"""Microseconds at the most: a 500th of the anchor's."""
GROWTH = 2.0
"""How much longer a question may take with ten times as many spans; linear would be 10."""
RANDOM_CALLS = 1_000_000


@dataclass(frozen=True, slots=True)
class Workload:
    """A calendar with one machine, and questions to it: amount, duration and instant."""

    calendar: ResourceCalendar
    questions: list[tuple[int, int, int]]


def random_spans(size: int, compiled: bool) -> Workload:
    """Return random spans on a pool, two thirds of which are allocated on average."""
    generator = random.Random(size)
    horizon = size * 1000 * 8 * 3 // (POOL * 2)
    filling = ResourceCalendar([POOL], compiled=True)
    spans = []
    while len(spans) < size:
        start = generator.randrange(horizon)
        end, amount = start + generator.randint(1, 2000), generator.randint(1, 15)
        if filling.smallest_free(0, start, end) >= amount:
            spans.append([filling.add_span(0, start, end, amount), 0, start, end, amount])
    questions = [
        (generator.randint(1, POOL), generator.randint(1, 2000), generator.randrange(horizon))
        for _ in range(EARLIER + QUESTIONS)
    ]
    return Workload(loaded(POOL, spans, compiled), questions)


def nothing_fits_for_long(size: int, compiled: bool) -> Workload:
    """Return a pool of which one unit at the most is free until all spans have ended."""
    spans = [[k, 0, k, k + 1, POOL - k % 2] for k in range(size)]
    questions = [(2 + k % 100, 1 + k % 50, 0) for k in range(EARLIER + QUESTIONS)]
    return Workload(loaded(POOL, spans, compiled), questions)


def alternating(size: int, compiled: bool) -> Workload:
    """Return a pool that is alternately free and allocated, and questions that need more time."""
    spans = [[k, 0, 2 * k + 1, 2 * k + 2, POOL] for k in range(size)]
    questions = [(1 + k % POOL, 2 + k % 50, 0) for k in range(EARLIER + QUESTIONS)]
    return Workload(loaded(POOL, spans, compiled), questions)


def between_two_levels(size: int, compiled: bool) -> Workload:
    """Return a pool for which the bounds do not help: the worst case, which is linear."""
    capacity = 1_000_000
    # 0 and 1,000,000 are free in every node, and alternately 499,999 and 500,000 between them.
    half = capacity // 2
    amounts = (capacity, 0, half + 1, half, half + 1, half, half + 1, capacity)
    spans = [[k, 0, k, k + 1, amounts[k % 8]] for k in range(size)]
    return Workload(loaded(capacity, spans, compiled), [(capacity // 2, 2, 0)] * 10)


def loaded(capacity: int, spans: list[list[int]], compiled: bool) -> ResourceCalendar:
    """Return a calendar with given spans."""
    data = ResourceCalendar([capacity]).snapshot()
    data |= {"spans": spans, "next_span": len(spans)}
    return ResourceCalendar.restore(data, compiled=compiled)


def microseconds(calls: list[Callable[[], object]]) -> tuple[float, float, float]:
    """Return mean, median and 99th percentile of calls, without the collection of garbage."""
    times = []
    gc.collect()
    gc.disable()
    for call in [lambda: None] * 100 + calls:
        begin = time.thread_time_ns()
        call()
        times.append((time.thread_time_ns() - begin) / 1000)
    gc.enable()
    nothing = statistics.median(times[:100])  # what it takes to read the clock
    times = sorted(spent - nothing for spent in times[100:])
    return statistics.mean(times), statistics.median(times), times[len(times) * 99 // 100]


def asked(workload: Workload, questions: list[tuple[int, int, int]]) -> list[Callable[[], object]]:
    """Return calls for an earliest start."""
    ask = workload.calendar.earliest_start
    return [
        lambda amount=amount, duration=duration, after=after: ask(0, amount, duration, after=after)
        for amount, duration, after in questions
    ]


def just_loaded(workload: Workload) -> tuple[float, float, float]:
    """Return how long the first questions take after all spans were loaded at once."""
    return microseconds(asked(workload, workload.questions[:QUESTIONS]))


def earliest_starts(workload: Workload) -> tuple[float, float, float]:
    """Return how long questions for an earliest start take in a calendar in use."""
    for call in asked(workload, workload.questions[QUESTIONS:-QUESTIONS]):
        call()
    return microseconds(asked(workload, workload.questions[-QUESTIONS:]))


def found_and_added(workload: Workload) -> tuple[float, float, float]:
    """Return how long it takes to find the earliest start and to add the span.

    A single interruption of the process adds several microseconds to the mean of 1,000 calls.
    """

    def measured() -> tuple[float, float, float]:
        add = workload.calendar.copy().add_at_earliest_start
        calls = [
            lambda amount=amount, duration=duration, after=after: add(
                0, min(amount, 16), duration, after=after
            )
            for amount, duration, after in workload.questions[-QUESTIONS:]
        ]
        return microseconds(calls)

    return sorted(measured() for _ in range(REPETITIONS))[REPETITIONS // 2]


def copied(workload: Workload) -> tuple[float, float, float]:
    """Return how long a trial takes: a copy, in which a span is found and added."""

    def trial(amount: int, duration: int, after: int) -> object:
        copy = workload.calendar.copy()
        return copy.add_at_earliest_start(0, min(amount, 16), duration, after=after)

    questions = workload.questions[-QUESTIONS:]
    return microseconds([lambda question=question: trial(*question) for question in questions])


WORKLOADS: dict[str, Callable[[int, bool], Workload]] = {
    "random spans": random_spans,
    "nothing fits for long": nothing_fits_for_long,
    "alternating": alternating,
    "between two levels": between_two_levels,
}


def by_size(report: Report) -> None:
    """Print a row for every measurement."""
    report.table(
        "1. Microseconds by number of spans",
        *("workload", "call", "twin", "spans", "mean", "median", "99 %", "at most"),
    )
    means: dict[tuple[str, str, bool, int], float] = {}
    targets = []
    sizes = [size for size in SIZES if size <= QUICK or not report.quick]
    for name, make in WORKLOADS.items():
        for size in sizes:
            for compiled in (False, True):
                workload = make(size, compiled)
                calls = {"just loaded": just_loaded, "earliest start": earliest_starts}
                if make is random_spans:
                    calls |= {"found and added": found_and_added, "copied, found": copied}
                for call, measure in calls.items():
                    mean, median, high = measure(workload)
                    means[name, call, compiled, size] = mean
                    most = None
                    if call == "earliest start" and make is not between_two_levels:
                        most = EARLIEST_START.get((compiled, size))
                    elif call == "found and added" and compiled:
                        most = FIND_AND_ADD.get(size)
                    twin = "compiled" if compiled else "plain"
                    report.row(name, call, twin, size, mean, median, high, most)
                    if most:
                        title = f"{name}, {call}, {twin}, {size:,} spans"
                        targets.append((title, f"{mean:.3g} us, at most {most:.3g}", mean <= most))
    for name in WORKLOADS:
        if name != "between two levels":
            first, last = (
                means[name, "earliest start", True, size] for size in (sizes[0], sizes[-1])
            )
            growth = (last / first) ** (1 / (len(sizes) - 1))
            text = f"{growth:.3g} for ten times as many spans, at most {GROWTH:.3g}"
            targets.append((f"{name}, growth, compiled", text, growth <= GROWTH))
    for target in targets:
        report.target(*target)


def common_starts(report: Report) -> None:
    """Print how long the earliest start on k of m machines takes."""
    report.table(
        "2. Microseconds for the earliest common start on several machines with 100 spans each",
        *("machines", "asked for", "twin", "mean", "median", "99 %"),
    )
    for count, parts in ((16, 4), (128, 32), (512, 128)):
        for compiled in (False, True):
            generator = random.Random(count)
            calendar = ResourceCalendar([4] * count, compiled=compiled)
            for _ in range(100 * count):
                calendar.add_at_earliest_start(
                    generator.randrange(count),
                    generator.randint(1, 4),
                    generator.randint(1, 100),
                    after=generator.randrange(5000),
                )
            instants = [generator.randrange(5000) for _ in range(110)]
            calls = [
                lambda calendar=calendar, after=after, parts=parts: calendar.earliest_common_start(
                    [2] * parts, 50, after=after
                )
                for after in instants
            ]
            report.row(count, parts, "compiled" if compiled else "plain", *microseconds(calls))


def agreement(report: Report) -> None:
    """Compare both twins with brute force."""
    calls = RANDOM_CALLS // 10 if report.quick else RANDOM_CALLS
    report.target("equal answers", f"{calls:,} random calls against brute force", equal(calls))


def equal(queries: int) -> bool:
    """Tell whether both twins and brute force give the same answers to random calls."""
    generator, horizon = np.random.default_rng(11), 3000
    instants = horizon + 200  # of the free amounts by instant; the last one lasts for ever
    free = np.full(instants, POOL)
    twins: list[Any] = [ProfileTree([(0, POOL)]), CompiledProfile(NodeArrays(), [(0, POOL)])]
    spans: list[tuple[int, int, int]] = []
    numbers = generator.integers(0, 1 << 30, (queries, 5)).tolist()
    for kind, a, b, c, d in numbers:
        start, amount = a % horizon, 1 + b % POOL
        duration = 1 + c % 100
        if kind % 5 == 0:
            amount = 1 + amount % 16
            answers = [twin.least_free(start, start + duration) for twin in twins]
            if answers != [free[start : start + duration].min()] * 2:
                return False
            if answers[0] >= amount:
                spans.append((start, start + duration, amount))
                free[start : start + duration] -= amount
                for twin in twins:
                    twin.change(start, start + duration, -amount)
        elif kind % 5 == 1 and spans and (len(spans) > 1200 or d % 3 == 0):
            start, end, amount = spans.pop(d % len(spans))
            free[start:end] += amount
            for twin in twins:
                twin.change(start, end, amount)
        else:
            below = np.flatnonzero(free[start:] < amount)
            edges = np.concatenate(([-1], below))
            ends = np.concatenate((below, [instants * 2]))
            expected = start + int(edges[np.argmax(ends - edges - 1 >= duration)]) + 1
            if [twin.earliest_start(amount, duration, start) for twin in twins] != [expected] * 2:
                return False
    return True


if __name__ == "__main__":
    sys.exit(run("calendar", {1: by_size, 2: common_starts, 3: agreement}))
