"""Instances with one divisible load: nodes ready at once or in turn, deadlines barely met."""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.problems.iit import Instance
from dlopt.verify.choice_sequence import Choices
from dlopt.verify.instance_builders.size_limits import (
    HAIR,
    SMALL,
    Size,
    cluster,
    execution_time,
    rare,
)

_LOADS: tuple[Number, ...] = (1, 2, Fraction(1, 2), *range(3, 13), Fraction(7, 3))


def build(choices: Choices, size: Size = SMALL) -> Instance:
    """Return an instance in exact numbers.

    The deadline, if there is one, is the completion time on some nodes by a formula of the papers,
    or differs from it by `HAIR` or by some units; or it lies shortly after the first ready time.
    """
    nodes = cluster(choices, size.machines)
    together = choices.chance(2)
    ready = tuple(
        0 if together else choices.number([0, 0, 1, 2, 3, 5, Fraction(1, 2)])
        for _ in range(nodes.nodes)
    )
    load = choices.number(_LOADS)
    if choices.chance(3):
        return Instance(nodes, ready, load)
    if rare(choices, size, 8):
        late = min(ready) + choices.number([Fraction(1, 2), 1, 2])
        return Instance(nodes, ready, load, absolute_deadline=late)
    time = execution_time(nodes, load, choices.integer(1, nodes.nodes), equal=choices.chance(2))
    off = choices.number([0, 0, -1, 1, -HAIR, HAIR, Fraction(-1, 2), 2])
    until = max(max(ready) + time + off, min(ready) + Fraction(1, 2))
    return Instance(nodes, ready, load, absolute_deadline=until)
