"""What machines of a grid of LANs may do: one task at a time, first come first served, failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.dag.trace import Outage, Run
from dlopt.problems.dag.trace_checker.facts import TraceFacts, group_by_machine, is_coherent, name
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation


def machine_violations(
    facts: TraceFacts, queue_size: int | None, failures: Sequence[Outage]
) -> Iterator[Violation]:
    """Yield what machines did that they cannot have done."""
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in facts.runs:
        if is_coherent(run):
            runs[run.machine].append(run)
    down, presumed = group_by_machine(facts.trace.down), group_by_machine(facts.trace.presumed)
    for machine in sorted({*runs, *down, *presumed}):
        mine = runs[machine]
        yield from _overlap_violations(facts, machine, mine)
        yield from _order_violations(facts, machine, mine, down[machine])
        if queue_size is not None:
            yield from _queue_violations(machine, mine, queue_size)
        for run in mine:
            yield from _failure_violations(facts, run, down[machine])
            yield from _presumption_violations(facts, run, presumed[machine])
        for outage in presumed[machine]:
            if not any(_missed(facts, run, outage) for run in mine):
                yield Violation("suspected-without-cause", f"machine {machine}", outage.begin)
    for failure in failures:
        if not any(_covers(outage, failure) for outage in down[failure.machine]):
            text = f"machine {failure.machine}"
            yield Violation("failure-missing", text, failure.begin, failure.until)


def _missed(facts: TraceFacts, run: Run, outage: Outage) -> bool:
    """Tell whether a machine is presumed dead for a run that might have been back by then."""
    at = exact(outage.begin)
    cost = facts.times.duration(run.graph, run.task, run.machine)
    if run.freed is None or exact(run.freed) != at or cost is None:
        return False
    return not facts.before(at, facts.delivery(run, facts.arrival(run) + cost))


def _overlap_violations(facts: TraceFacts, machine: int, runs: list[Run]) -> Iterator[Violation]:
    """Yield where two runs overlap; one that has not ended occupies its machine longest."""
    begun = [(exact(run.start), run.end) for run in runs if run.start is not None]
    last = max((exact(run.end) for run in runs if run.end is not None), default=Fraction(0))
    ran = [(start, last if end is None else exact(end)) for start, end in begun]
    for shared in overlaps(ran):
        if shared.amount > facts.resolution(shared.end):
            yield Violation("machine-overlap", f"machine {machine}", *shared)


def _order_violations(
    facts: TraceFacts, machine: int, runs: list[Run], down: list[Outage]
) -> Iterator[Violation]:
    """Yield where a task starts before one that was sent there earlier, and waits still."""
    kind, text = "not-first-in-first-out", f"machine {machine}"
    first: Fraction | None = None  # the earliest start of those that were sent later
    for run in sorted(runs, key=lambda run: exact(run.sent))[::-1]:
        if run.start is not None:
            if first is not None and facts.before(first, run.start):
                yield Violation(kind, text, first, run.start)
            start = exact(run.start)
            first = start if first is None or start < first else first
        elif first is None or run.fate == "lost" or facts.possibly_lost(run, down):
            continue
        elif run.freed is None or facts.before(first, run.freed):
            yield Violation(kind, text, first, run.freed)


def _queue_violations(machine: int, runs: list[Run], size: int) -> Iterator[Violation]:
    """Yield where the queue of a machine is too long; a place is free as soon as it is freed."""
    changes = [(exact(run.sent), 1) for run in runs]
    changes += [(exact(run.freed), -1) for run in runs if run.freed is not None]
    queued = 0
    for at, change in sorted(changes):
        queued += change
        if queued > size and change > 0:
            yield Violation("queue-overflow", f"machine {machine}", at, amount=queued - size)


def _failure_violations(facts: TraceFacts, run: Run, down: list[Outage]) -> Iterator[Violation]:
    """Yield where a run and the outages of its machine do not go together."""
    text = f"{name(run)} on machine {run.machine}"
    stop = None if run.end is None else exact(run.end)
    for outage in down:
        if run.start is None:
            break
        begin, start = exact(outage.begin), exact(run.start)
        until = None if outage.until is None else exact(outage.until)
        if start < begin:
            if stop is None or facts.before(begin, stop):
                yield Violation("continues-through-failure", text, begin, stop)
        elif start == begin == stop:
            continue  # it ended as it began, and its machine failed
        elif until is None or facts.before(start, until):
            yield Violation("starts-during-failure", text, start, until)
        elif facts.before(facts.arrival(run), until):  # it waited there, and was lost
            yield Violation("continues-through-failure", text, begin, start)
    if run.fate == "lost" and not any(_can_have_lost(outage, run) for outage in down):
        yield Violation("lost-without-failure", text, run.sent)


def _can_have_lost(outage: Outage, run: Run) -> bool:
    """Tell whether an outage can have lost a run: it began, or lasted, while the run was on the
    machine.
    """
    begin = exact(outage.begin)
    if run.end is not None:
        return begin == exact(run.end)
    gone = outage.until is not None and exact(outage.until) < exact(run.sent)
    return not gone and (run.freed is None or begin <= exact(run.freed))


def _presumption_violations(
    facts: TraceFacts, run: Run, presumed: list[Outage]
) -> Iterator[Violation]:
    """Yield where a run and what its scheduler believed of its machine do not go together."""
    text = f"{name(run)} on machine {run.machine}"
    for outage in presumed:
        for kind, at in (
            ("sent-to-suspected-machine", run.sent),
            ("starts-on-suspected-machine", run.start),
        ):
            if (
                at is not None
                and facts.before(outage.begin, at)
                and (outage.until is None or facts.before(at, outage.until))
            ):
                yield Violation(kind, text, at, outage.until)
        if facts.before(run.sent, outage.begin) and (
            run.freed is None or facts.before(outage.begin, run.freed)
        ):
            yield Violation("left-on-suspected-machine", text, outage.begin, run.freed)
    if run.fate == "pulled-back" and run.freed is not None:
        freed = exact(run.freed)
        if not any(
            exact(outage.begin) <= freed and (outage.until is None or freed <= exact(outage.until))
            for outage in presumed
        ):
            yield Violation("pulled-back-without-cause", text, run.freed)


def _covers(outage: Outage, failure: Outage) -> bool:
    if exact(outage.begin) > exact(failure.begin):
        return False
    if outage.until is None:
        return True
    return failure.until is not None and exact(failure.until) <= exact(outage.until)
