"""What simulations measure in the plan of a stream: rejections, queues, misses, busy nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from dlopt.arithmetic import FLOATING
from dlopt.problems import admission, multistage
from dlopt.problems.admission import Chunk, Decision, Instance, Task, Trace
from dlopt.simulation.metrics import cumulative_steps


def rejected_steps(decisions: Iterable[Decision]) -> list[tuple[float, int]]:
    """Return the cumulative number of rejected tasks, as steps."""
    instants = sorted(float(one.at) for one in decisions if not one.accepted)
    return [(instant, number) for number, instant in enumerate(instants, start=1)]


def waiting_steps(
    tasks: Iterable[Task], chunks: Iterable[Chunk], begin: float
) -> list[tuple[float, int]]:
    """Return the number of accepted tasks that wait, as steps.

    A task waits from its arrival, or from the beginning if it was promised before, until its first
    chunk is sent.
    """
    first: dict[str, float] = {}
    for chunk in chunks:
        start = float(chunk.transmission_start)
        first[chunk.task] = min(start, first.get(chunk.task, start))
    change: Counter[float] = Counter()
    for task in tasks:
        arrival = max(float(task.arrival), begin)
        if first.get(task.id, arrival) > arrival:
            change[arrival] += 1
            change[first[task.id]] -= 1
    return cumulative_steps(change)


def executed_waiting_steps(
    tasks: Iterable[Task], trace: Trace, begin: float
) -> list[tuple[float, int]]:
    """Return the number of accepted tasks of which nothing was sent or given up yet, as steps."""
    change: Counter[float] = Counter()
    ends = {part.task: float(part.at) for part in trace.dropped}
    for chunk in reversed(trace.chunks):  # as they began
        ends[chunk.task] = float(chunk.transmission_start)
    for task in tasks:
        arrival = max(float(task.arrival), begin)
        if ends.get(task.id, arrival) > arrival:
            change[arrival] += 1
            change[ends[task.id]] -= 1
    return cumulative_steps(change)


def count_misses(stream: Instance, plan: admission.Solution | multistage.Solution) -> int:
    """Count the accepted tasks that end after their deadlines, or are not completed."""
    done: dict[str, float] = defaultdict(float)
    last: dict[str, float] = {}
    for chunk in plan.chunks:
        done[chunk.task] += float(chunk.load)
        last[chunk.task] = max(float(chunk.computation_end), last.get(chunk.task, 0.0))
    accepted = {decision.task for decision in plan.decisions if decision.accepted}
    required_loads = stream.remaining
    misses = 0
    for task in stream.tasks:
        deadline, left = float(task.deadline), float(required_loads[task.id])
        late = last.get(task.id, 0.0) - float(task.arrival) - deadline > FLOATING * deadline
        short = left - done[task.id] > FLOATING * float(task.load)
        misses += task.id in accepted and (late or short)
    return misses


def busy_time(chunks: Iterable[Chunk], begin: float, end: float) -> float:
    """Return the time that nodes receive or compute within a span."""
    return sum(
        max(min(float(until), end) - max(float(start), begin), 0)
        for chunk in chunks
        for start, until in (
            (chunk.transmission_start, chunk.transmission_end),
            (chunk.computation_start, chunk.computation_end),
        )
    )
