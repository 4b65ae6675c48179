"""Bags of tasks: deadlines that are barely met, transfers as long as tasks, ETC matrices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from dlopt.problems.bag.data import PRIORITIES
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import SMALL, Size, partly_none, rare

_SIZES: tuple[Number, ...] = (1, 1, 2, 3, 4, 6, Fraction(1, 2))
_AMOUNTS: tuple[Number, ...] = (0, 0, 1, 2, 4)
_INSTANTS: tuple[Number, ...] = (0, 0, 0, 0, 1, 2, 5)


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return a bag in exact numbers: all tasks with deadlines, some, or none.

    The common ones have machines that can run every task, and links without a cycle.
    """
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
    plain = Instance(tasks, machine_set, sites, links, etc, limits)
    return _varied(choices, plain) if rare(choices, size, 3) else plain


def _varied(choices: Choices, plain: Instance) -> Instance:
    """Return a bag with features that the others lack: tasks that cannot run everywhere, ...

    Links are turned or parallel to others, sites have neither tasks nor machines, and there is
    nothing but a matrix.
    """
    etc, links, places = plain.etc, plain.links, len(plain.sites)
    if etc is not None:
        etc = tuple(partly_none(choices, row) for row in etc)
    if etc is not None and places == 1 and choices.chance(3):
        return Instance(etc=etc)
    if choices.chance(4):
        there = choices.integer(0, places - 1)
        link = Link((there, places), choices.number(_SIZES), choices.number(_AMOUNTS))
        links, places = (*links, link), places + 1
    if links and choices.chance(3):
        here, there = links[choices.integer(0, len(links) - 1)].between
        link = Link((there, here), choices.number(_SIZES), choices.number(_AMOUNTS))
        links = (*links, link) if choices.chance(2) else (link, *links)
    if places > 2 and choices.chance(3):
        other = 1 if (0, places - 1) in {link.between for link in links} else 0
        link = Link((places - 1, other), choices.number(_SIZES), choices.number(_AMOUNTS))
        links = (*links, link)
    sites = tuple(Site(f"s{index}") for index in range(places))
    return replace(plain, sites=sites, links=links, etc=etc)
