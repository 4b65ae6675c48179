"""Requests for CPU shares: windows that touch, capacities that barely suffice."""

from __future__ import annotations

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
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import GAPS, SMALL, Size

_SHAPES: tuple[Any, ...] = (step(), linear(), affine(Fraction(1, 3)), staircase(2), staircase(3))
_SHAPES_FROM_0: tuple[Any, ...] = tuple(one for one in _SHAPES if one[1] != (0, Fraction(1, 3)))
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
    return Instance(machines, tuple(requests), batch, tuple(holdings))


def _part(choices: Choices, machines: int) -> Part:
    cpu = choices.number([1, 2, 3, 4, 5, 6, 8, 10, Fraction(7, 2)])
    machine = choices.integer(0, machines - 1) if choices.chance(3) else None
    if choices.chance(3):
        return Part(cpu, machine=machine)
    share = choices.number([1, Fraction(1, 2), Fraction(1, 4), 0])
    shape = choices.number(_SHAPES if share else _SHAPES_FROM_0)
    return Part(cpu, cpu * share, shape, machine)


def _capacity(choices: Choices) -> Any:
    room = [4, 5, 6, 8, 10, 0, 1, 2, 12, Fraction(7, 2)]
    if not choices.chance(5):
        return choices.number(room)
    return ((0, choices.number(room)), (choices.integer(1, 4), choices.number(room)))


def _holding(choices: Choices, machines: int) -> Holding:
    start = choices.integer(0, 4)
    end = start + choices.number(_LENGTHS)
    return Holding(choices.integer(0, machines - 1), start, end, choices.integer(1, 6))
