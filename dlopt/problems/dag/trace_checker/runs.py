"""What may become of a task that a scheduler sends to a machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from dlopt.arithmetic import exact
from dlopt.problems.dag.trace import Run
from dlopt.problems.dag.trace_checker.facts import TraceFacts, is_coherent, name
from dlopt.result import Violation


def run_violations(facts: TraceFacts) -> Iterator[Violation]:
    """Yield what became of runs that cannot have become of them."""
    for run in facts.runs:
        if not is_coherent(run):
            yield Violation("inconsistent-run", name(run), run.sent)
            continue
        yield from _placement_violations(facts, run)
        yield from _readiness_violations(facts, run)
        if run.start is not None:
            there = facts.arrival(run)
            if facts.before(run.start, there):
                late = there - exact(run.start)
                yield Violation("starts-before-data", name(run), run.start, there, late)
        if run.known is not None and run.end is not None:
            there = facts.delivery(run, run.end)
            if facts.before(run.known, there):
                late = there - exact(run.known)
                yield Violation("result-known-before-transfer", name(run), run.known, there, late)
        yield from _drop_violations(facts, run)
    yield from _resending_violations(facts)


def _placement_violations(facts: TraceFacts, run: Run) -> Iterator[Violation]:
    """Yield where a run is in the wrong place, or takes the wrong time there."""
    lan, course = facts.instance.machines[run.machine].lan, facts.courses.get(run.graph)
    if course is not None and course.lan != lan:
        yield Violation("wrong-lan", name(run), run.sent)
    cost = facts.times.duration(run.graph, run.task, run.machine)
    if cost is None:
        yield Violation("ineligible-machine", name(run), run.sent)
    elif run.start is not None and run.end is not None:
        took, resolution = exact(run.end) - exact(run.start), facts.resolution(run.end)
        whole = run.fate in ("done", "ignored")
        off = max(took - cost * facts.most, cost * facts.least - took if whole else 0)
        if off > resolution:
            yield Violation("duration", name(run), run.start, run.end, off)


def _readiness_violations(facts: TraceFacts, run: Run) -> Iterator[Violation]:
    """Yield where a task is sent before its graph, or the result of a predecessor, is there."""
    course = facts.courses.get(run.graph)
    if course is not None and (course.received is None or facts.before(run.sent, course.received)):
        yield Violation("sent-before-ready", name(run), run.sent, course.received)
    for source, _ in facts.needs[run.graph, run.task]:
        before = facts.done.get((run.graph, source))
        if before is None or before.known is None or facts.before(run.sent, before.known):
            known = None if before is None else before.known
            yield Violation("sent-before-ready", name(run), run.sent, known)


def _drop_violations(facts: TraceFacts, run: Run) -> Iterator[Violation]:
    """Yield where what a run did, or might have done, was dropped though nothing else was done."""
    course = facts.courses.get(run.graph)
    if run.fate not in ("ignored", "withdrawn") or course is None or course.returned is None:
        return  # if the graph was given up, so were its runs
    done, at = facts.done.get((run.graph, run.task)), run.known or run.freed
    if done is None or done.known is None or at is None:
        return  # which is another violation
    if facts.before(at, done.known):
        yield Violation("discarded-without-other-result", name(run), at, done.known)


def _resending_violations(facts: TraceFacts) -> Iterator[Violation]:
    """Yield where a task is sent though a machine has it, or though it is done."""
    runs_of: dict[tuple[int, int], list[Run]] = defaultdict(list)
    for run in facts.runs:
        runs_of[run.graph, run.task].append(run)
    for key, runs in runs_of.items():
        runs.sort(key=lambda run: exact(run.sent))
        for before, after in pairwise(runs):
            if before.freed is None or facts.before(after.sent, before.freed):
                yield Violation("sent-twice", name(after), after.sent, before.freed)
        done = facts.done.get(key)
        for run in runs:
            if done is not None and done.known is not None and facts.before(done.known, run.sent):
                yield Violation("sent-after-result", name(run), run.sent, done.known)
