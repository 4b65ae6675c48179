"""Streams with reservations: windows that touch each other, arrivals and deadlines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.admission import busy, state, weighted
from dlopt.verify.instance_builders.size_limits import GAPS, SMALL, Size, heterogeneous, rare

_DEADLINES: tuple[int, ...] = (1, 0, *range(2, 11))


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return an instance in exact numbers.

    Reservations start where something else starts or ends, as often as not.
    """
    nodes = choices.integer(1, size.machines)
    tau = choices.number([1, 1, 1, 2, 0, Fraction(1, 2)])
    chi = choices.number([1, 1, 1, 2, 3])
    most = max(1, size.jobs - 1)
    made = _tasks(choices, choices.integer(0, most))
    wanted = _reservations(choices, choices.integer(0 if made else 1, most), nodes, made)
    ready, channel = state(choices, nodes, 2)
    now, sent, tasks = busy(choices, made, nodes, size)
    setup = (choices.integer(0, 2), choices.integer(0, 2)) if choices.chance(8) else (0, 0)
    cluster, weights = Cluster(nodes, tau, chi, *setup), (1, 1)
    if rare(choices, size, 4):
        if nodes > 1 and choices.chance(2):
            cluster = Cluster(nodes, *heterogeneous(choices, nodes, tau, chi), *setup)
        if choices.chance(2):
            weights = choices.integer(0, 3), choices.integer(0, 3)
        wanted = tuple(_varied(choices, one) for one in wanted)
    wanted = tuple(_named(one) if one.arrival < now else one for one in wanted)
    tasks = weighted(choices, tasks, size)
    return Instance(cluster, tasks, wanted, now, ready, channel, sent, *weights)


def _varied(choices: Choices, wanted: Reservation) -> Reservation:
    """Return a reservation with its use of the channel stated otherwise, or nodes reversed."""
    channel = choices.pick(["as it is", "ratio", "none"])
    if channel == "ratio":
        ratio = choices.number([Fraction(1, 2), Fraction(1, 3), 0, 1])
        wanted = replace(wanted, io_end=None, io_ratio=ratio)
    elif channel == "none":
        wanted = replace(wanted, io_end=None)
    if isinstance(wanted.nodes, tuple) and len(wanted.nodes) > 1 and choices.chance(2):
        wanted = replace(wanted, nodes=wanted.nodes[::-1])
    return wanted


def _named(wanted: Reservation) -> Reservation:
    """Return a reservation that names its nodes, as promised ones do."""
    if isinstance(wanted.nodes, tuple):
        return wanted
    return replace(wanted, nodes=tuple(range(wanted.count)))


def _tasks(choices: Choices, count: int) -> tuple[Task, ...]:
    made: list[Task] = []
    arrival = Fraction(0)
    for index in range(count):
        arrival += choices.number(GAPS)
        load = choices.number([1, 1, 2, 3, Fraction(1, 2), Fraction(3, 2), 5])
        made.append(Task(f"t{index}", arrival, load, choices.number(_DEADLINES)))
    return tuple(made)


def _around(task: Task) -> tuple[Number, ...]:
    """Return starts of windows that conflict with a task."""
    due = task.absolute_deadline
    return task.arrival, due, due, max(task.arrival, due - Fraction(1, 2))


def _reservations(
    choices: Choices, count: int, nodes: int, tasks: Iterable[Task]
) -> tuple[Reservation, ...]:
    edges: list[Number] = [0, 1, 2, 3, 4, 5, 6]
    edges += [instant for task in tasks for instant in _around(task)]
    made: list[Reservation] = []
    arrival = Fraction(0)
    for index in range(count):
        arrival += choices.number(GAPS)
        start = max(arrival, choices.number(edges))
        send = choices.number([0, 0, 1, 1, 2, Fraction(1, 2)])
        end = start + max(send + choices.number([0, 0, 1, 2, Fraction(1, 2)]), Fraction(1, 2))
        which: int | tuple[int, ...]
        if choices.chance(3):
            which = choices.integer(1, nodes)
        else:
            which = tuple(choices.subset(nodes, least=1))
        edges += [start, end, start + send, start + Fraction(1, 2)]
        made.append(
            Reservation(
                f"r{index}",
                arrival,
                start,
                end,
                io_end=start + send,
                nodes=which,
                mandatory=choices.chance(10),
            )
        )
    return tuple(made)
