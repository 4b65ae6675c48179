"""Requests for CPU shares: windows that touch, capacities that barely suffice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number
from dlopt.problems.coreservation import (
    Batch,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    affine,
    linear,
    staircase,
    step,
)
from dlopt.problems.coreservation.benefit_functions import Points
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import GAPS, SMALL, Size, rare

_SHAPES: tuple[Points, ...] = (step(), linear(), affine(Fraction(1, 3)), staircase(2), staircase(3))
_SHAPES_FROM_0: tuple[Points, ...] = tuple(one for one in _SHAPES if one[1] != (0, Fraction(1, 3)))
_RARE_SHAPES: tuple[Points, ...] = (
    ((0, 0), (Fraction(1, 2), Fraction(3, 4)), (1, 1)),  # concave
    ((0, 0), (Fraction(1, 2), Fraction(1, 4)), (1, 1)),  # convex
    ((0, 0), (Fraction(1, 2), Fraction(1, 2)), (1, Fraction(1, 2))),  # a plateau
    ((0, 0), (1, 0)),  # no benefit at all
    ((0, 0), (0, Fraction(1, 4)), (Fraction(1, 3), Fraction(1, 4)), (1, Fraction(2, 3))),
)
_RARE_SHAPES_FROM_0: tuple[Points, ...] = _RARE_SHAPES[:-1]
_ROOM: tuple[Number, ...] = (4, 5, 6, 8, 10, 0, 1, 2, 12, Fraction(7, 2))
_LENGTHS: tuple[Number, ...] = (1, 1, 2, 3, 5, Fraction(1, 2))


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return an instance in exact numbers; capacities are mostly those of one or two parts."""
    count = choices.integer(1, size.machines)
    arrival: Number = 0
    together, identical = choices.chance(2), choices.chance(3)
    requests = []
    for index in range(choices.integer(1, size.jobs)):
        arrival += 0 if together else choices.number(GAPS)
        start = arrival + (0 if identical else choices.number([0, 0, 1, 2, 4]))
        end = start + (1 if identical else choices.number(_LENGTHS))
        parts = [_part(choices, count) for _ in range(choices.pick([1, 1, 2]))]
        priority = choices.number([1, 1, 2, 3])
        requests.append(Request(f"r{index}", arrival, start, end, priority, tuple(parts)))
    batch = Batch(choices.number(_LENGTHS)) if together or choices.chance(2) else None
    machines = tuple(Machine(f"m{j}", _capacity(choices)) for j in range(count))
    holdings = choices.list_of(0, 1, lambda _: _holding(choices, count))
    if rare(choices, size, 3):
        machines = tuple(_stepped(choices, machine) for machine in machines)
        requests = [_varied(choices, request, count) for request in requests]
        holdings += choices.list_of(0, 2, lambda _: _holding(choices, count))
    return Instance(machines, tuple(requests), batch, tuple(holdings))


def _stepped(choices: Choices, machine: Machine) -> Machine:
    """Return a machine that is away for some time, or as it is."""
    if not choices.chance(4):
        return machine
    (_, first), *_ = machine.steps
    away = choices.integer(1, 3)
    back = away + choices.number(_LENGTHS)
    return replace(machine, capacity=((0, first), (away, 0), (back, choices.number(_ROOM))))


def _varied(choices: Choices, request: Request, machines: int) -> Request:
    """Return a request with other benefits, a fractional priority, or one part more."""
    parts = list(request.parts)
    if choices.chance(3):
        parts.append(_part(choices, machines))
    for index, part in enumerate(parts):
        if choices.chance(3):
            best_effort = part.cpu_min == 0
            shape = choices.number(_RARE_SHAPES_FROM_0 if best_effort else _RARE_SHAPES)
            parts[index] = replace(part, benefit=shape)
    priority = choices.number([request.priority, Fraction(1, 2), Fraction(4, 3)])
    return replace(request, priority=priority, parts=tuple(parts))


def _part(choices: Choices, machines: int) -> Part:
    cpu = choices.number([1, 2, 3, 4, 5, 6, 8, 10, Fraction(7, 2)])
    machine = choices.integer(0, machines - 1) if choices.chance(3) else None
    if choices.chance(3):
        return Part(cpu, machine=machine)
    share = choices.number([1, Fraction(1, 2), Fraction(1, 4), 0])
    shape = choices.number(_SHAPES if share else _SHAPES_FROM_0)
    return Part(cpu, cpu * share, shape, machine)


def _capacity(choices: Choices) -> Any:
    if not choices.chance(5):
        return choices.number(_ROOM)
    return ((0, choices.number(_ROOM)), (choices.integer(1, 4), choices.number(_ROOM)))


def _holding(choices: Choices, machines: int) -> Holding:
    start = choices.integer(0, 4)
    end = start + choices.number(_LENGTHS)
    return Holding(choices.integer(0, machines - 1), start, end, choices.integer(1, 6))
