"""What may become of graphs on a grid of LANs: where they go, and when they are home."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from dlopt.arithmetic import Number, exact
from dlopt.problems.dag.checker_times import last_tasks
from dlopt.problems.dag.trace import Course
from dlopt.problems.dag.trace_checker.facts import TraceFacts, name
from dlopt.result import Violation


def must_have_begun(facts: TraceFacts, instant: Number, until: Number | None) -> bool:
    """Tell whether an instant must have come before all was stopped."""
    return until is None or facts.before(instant, until)


def graph_violations(facts: TraceFacts, until: Number | None = None) -> Iterator[Violation]:
    """Yield what became of graphs that cannot have become of them."""
    yield from facts.strange
    finished: dict[int, set[int]] = defaultdict(set)
    for run in facts.runs:
        if run.fate == "done":
            if run.task in finished[run.graph]:
                yield Violation("completed-twice", name(run), run.start, run.end)
            finished[run.graph].add(run.task)
    for at, graph in enumerate(facts.instance.graphs):
        text = f"graph {at}"
        course = facts.courses.get(at)
        if course is None:
            if must_have_begun(facts, graph.arrival, until):
                yield Violation("graph-record-missing", text)
            continue
        yield from _departure_violations(facts, text, exact(graph.arrival), course)
        if course.returned is None:
            if not course.reason:
                yield Violation("incomplete-without-reason", text)
            continue
        for task in range(len(graph.tasks)):
            if task not in finished[at]:
                yield Violation("task-missing", f"task {task} of {text}")
        yield from _return_violations(facts, text, course)


def _departure_violations(
    facts: TraceFacts, text: str, arrival: Fraction, course: Course
) -> Iterator[Violation]:
    """Yield where a graph is decided on or received too early."""
    if course.decided is not None and facts.before(course.decided, arrival):
        yield Violation("decided-before-arrival", text, course.decided, arrival)
    if course.received is not None:
        graph = facts.instance.graphs[course.graph]
        ready = exact(arrival if course.decided is None else course.decided)
        ready += facts.times.over_wan(graph.input, graph.lan, course.lan)
        if facts.before(course.received, ready):
            yield Violation("received-before-input", text, course.received, ready)


def _return_violations(facts: TraceFacts, text: str, course: Course) -> Iterator[Violation]:
    """Yield where a graph is home before its last result can be."""
    assert course.returned is not None
    graph = facts.instance.graphs[course.graph]
    back = facts.times.over_wan(graph.output, course.lan, graph.lan)
    runs = [facts.done.get((course.graph, task)) for task in last_tasks(graph)]
    known = [exact(run.known) for run in runs if run is not None and run.known is not None]
    ready = max(known, default=exact(graph.arrival)) + back
    if facts.before(course.returned, ready):
        yield Violation("returned-before-results", text, course.returned, ready)
