"""Bags of tasks: deadlines that are barely met, transfers as long as tasks, ETC matrices."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from dlopt.problems.bag.data import PRIORITIES
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import SMALL, Size

_SIZES: tuple[Number, ...] = (1, 1, 2, 3, 4, 6, Fraction(1, 2))
_AMOUNTS: tuple[Number, ...] = (0, 0, 1, 2, 4)
_INSTANTS: tuple[Number, ...] = (0, 0, 0, 0, 1, 2, 5)


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return a bag in exact numbers: all tasks with deadlines, some, or none."""
    places = choices.number([1, 1, 2, 3])
    machines = choices.integer(1, size.machines)
    matrix = choices.chance(4)
    due = choices.pick(["all", "all", "some", "none"])
    count = choices.integer(1, size.jobs)
    tasks = tuple(
        Task(
            f"t{index}",
            None if matrix else choices.number(_SIZES),
            choices.integer(0, places - 1),
            choices.number(_INSTANTS),
            choices.number(_AMOUNTS),
            choices.number(_AMOUNTS),
            choices.pick(PRIORITIES),
            choices.integer(1, 16)
            if due == "all" or (due == "some" and choices.chance(2))
            else None,
        )
        for index in range(count)
    )
    machine_set = tuple(
        Machine(
            f"m{k}",
            choices.integer(0, places - 1),
            1 if matrix else choices.number(_SIZES),
            choices.number(_INSTANTS),
        )
        for k in range(machines)
    )
    sites = tuple(Site(f"s{index}") for index in range(places))
    links = tuple(
        Link(
            (choices.integer(0, there - 1), there), choices.number(_SIZES), choices.number(_AMOUNTS)
        )
        for there in range(1, places)
    )
    etc = (
        tuple(tuple(choices.number(_SIZES) for _ in machine_set) for _ in tasks) if matrix else None
    )
    limits = choices.number([(Fraction(1, 2), 2), (1, 1), (Fraction(1, 10), 10)])
    return Instance(tasks, machine_set, sites, links, etc, limits)
