"""Streams of divisible loads: simultaneous arrivals, deadlines that are barely met."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.admission import Commitment, Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import GAPS, SMALL, Size, cluster, execution_time


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
    now, sent = busy(choices, made, nodes.nodes) if size.busy else (0, ())
    return Instance(nodes, tuple(made), now, ready, channel, sent)


def state(choices: Choices, nodes: int, one_in: int = 4) -> tuple[tuple[int, ...], int]:
    """Return when the nodes and the channel become free: mostly at once."""
    if not choices.chance(one_in):
        return (), 0
    return tuple(choices.integer(0, 6) for _ in range(nodes)), choices.number([0, 0, 1, 3])


def busy(
    choices: Choices, tasks: Iterable[Task], nodes: int
) -> tuple[Number, tuple[Commitment, ...]]:
    """Return the present instant, mostly 0, and what was sent before of tasks that had arrived."""
    if not choices.chance(2):
        return 0, ()
    now = choices.number([1, 2, 3, Fraction(1, 2)])
    sent = []
    for task in tasks:
        if task.arrival < now and choices.chance(2):
            start = task.arrival + (now - task.arrival) * choices.number([0, Fraction(1, 2)])
            load = task.load * choices.number([1, Fraction(1, 2)])
            end = start + choices.number([1, 2, 4])
            sent.append(Commitment(task.id, choices.integer(0, nodes - 1), start, load, end))
    return now, tuple(sent)


def _task(choices: Choices, name: str, arrival: Number, nodes: Cluster) -> Task:
    load = choices.number([1, 1, 2, 3, 4, 6, Fraction(1, 2), Fraction(3, 2)])
    if choices.chance(3):
        return Task(name, arrival, load, choices.integer(1, 30))
    time = execution_time(nodes, load, choices.integer(1, nodes.nodes), equal=choices.chance(4))
    wait = choices.number([0, 0, 0, 1, 2, 3, 5, 8, 20, Fraction(1, 2)])
    return Task(name, arrival, load, time + wait)
