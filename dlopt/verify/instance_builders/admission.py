"""Streams of divisible loads: simultaneous arrivals, deadlines that are barely met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.admission import Commitment, Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import (
    GAPS,
    SMALL,
    Size,
    cluster,
    execution_time,
    rare,
)

BUSY_ONE_IN = 12
"""How many streams there are to one that begins with promised tasks, unless such are requested;
chosen by hand: many of these have no feasible solution, so that no method applies to them."""

_EXTENSIONS: tuple[int, ...] = (20, 0, 3, 8)
_DEADLINES: tuple[int, ...] = (1, 0, *range(2, 31))


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return a stream in exact numbers.

    Deadlines are the completion time of the task alone on some nodes, plus a possible waiting time,
    or arbitrary.
    """
    nodes = cluster(choices, size.machines, plain_in=5)
    made: list[Task] = []
    arrival: Number = 0
    for index in range(choices.integer(1, size.jobs)):
        arrival += choices.number(GAPS)
        made.append(_task(choices, f"t{index}", arrival, nodes))
    ready, channel = state(choices, nodes.nodes)
    now, sent, tasks = busy(choices, made, nodes.nodes, size)
    return Instance(nodes, weighted(choices, tasks, size), now, ready, channel, sent)


def state(choices: Choices, nodes: int, one_in: int = 4) -> tuple[tuple[int, ...], int]:
    """Return when the nodes and the channel become free: mostly at once."""
    if not choices.chance(one_in):
        return (), 0
    return tuple(choices.integer(0, 6) for _ in range(nodes)), choices.number([0, 0, 1, 3])


def busy(
    choices: Choices, tasks: Sequence[Task], nodes: int, size: Size
) -> tuple[Number, tuple[Commitment, ...], tuple[Task, ...]]:
    """Return the present instant, what was sent before, and the tasks with what remains of them.

    Mostly the instant is 0, and nothing was sent. Otherwise tasks that arrived before are promised;
    chunks of them, or of a task that is not listed, are committed.
    """
    if not (choices.chance(2) if size.busy else rare(choices, size, BUSY_ONE_IN)):
        return 0, (), tuple(tasks)
    now = choices.number([1, 2, 3, Fraction(1, 2)])
    sent, left = [], []
    for task in tasks:
        early = task.arrival < now
        if early and choices.chance(2):
            start = task.arrival + (now - task.arrival) * choices.number([0, Fraction(1, 2)])
            load = task.load * choices.number([1, 0, Fraction(1, 2)])
            end = start + choices.integer(1, 4)
            sent.append(Commitment(task.id, choices.integer(0, nodes - 1), start, load, end))
        if early:  # else most promises could not be kept
            task = replace(task, deadline=task.deadline + choices.number(_EXTENSIONS))
        if early and rare(choices, size, 4):
            remaining = task.load * choices.number([0, Fraction(1, 2), 1])
            task = replace(task, remaining=remaining)
        left.append(task)
    if rare(choices, size, 4):
        node, end = choices.integer(0, nodes - 1), now + choices.integer(0, 3)
        sent.append(Commitment("earlier", node, 0, choices.integer(1, 2), end))
    return now, tuple(sent), tuple(left)


def weighted(choices: Choices, tasks: Iterable[Task], size: Size) -> tuple[Task, ...]:
    """Return the tasks, in some instances with weights that differ."""
    if not rare(choices, size, 6):
        return tuple(tasks)
    return tuple(
        replace(task, weight=choices.number([1, 2, 3, 10, Fraction(1, 2)])) for task in tasks
    )


def _task(choices: Choices, name: str, arrival: Number, nodes: Cluster) -> Task:
    load = choices.number([1, 1, 2, 3, 4, 6, Fraction(1, 2), Fraction(3, 2)])
    if choices.chance(3):
        return Task(name, arrival, load, choices.number(_DEADLINES))
    time = execution_time(nodes, load, choices.integer(1, nodes.nodes), equal=choices.chance(4))
    wait = choices.number([0, 0, 0, 1, 2, 3, 5, 8, 20, Fraction(1, 2)])
    return Task(name, arrival, load, time + wait)
