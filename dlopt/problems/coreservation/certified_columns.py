"""The columns of certificates of CPU shares, by what they stand for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dlopt.certificates import StatedProgram
from dlopt.problems.coreservation.data import Instance

_INDEX = r"(0|[1-9]\d{0,8})"
_UNITS = r"(0|[1-9]\d{0,15})"
_REQUEST = re.compile(f"x_{_INDEX}", re.ASCII)
_PIECE = re.compile(f"([yr])_{_INDEX}_{_INDEX}_{_INDEX}_{_UNITS}_{_UNITS}", re.ASCII)
_MACHINE = re.compile(f"m_{_INDEX}", re.ASCII)


class Piece(NamedTuple):
    """A piece of a part on a group of machines, from so many units to so many.

    Parameters
    ----------
    request, part, group, low, high : int
    """

    request: int
    part: int
    group: int
    low: int
    high: int


class ShareColumns:
    """The columns that a certificate states.

    Parameters
    ----------
    instance : Instance
    program : StatedProgram
    unit : Fraction
        Of CPU; positive.
    groups : sequence of str
        The number of the group of each machine.
    with_levels : bool
        Whether there may be the column `w`.

    Attributes
    ----------
    groups : dict of int to list of int
        The machines of each group.
    requests : dict of int to int
        Columns of requests.
    machines : dict of int to int
        Machines of columns.
    pieces, increments : dict of int to Piece
        Of columns `y` and `r`.
    improvement : int or None
        The column `w`.
    unknown : list of str
        Names that stand for nothing.

    Examples
    --------
    >>> from dlopt.formats.vipr.certificate import Certificate
    >>> from dlopt.problems.coreservation.data import Machine, Part, Request
    >>> instance = Instance((Machine("m", 5),), (Request("r", 0, 1, 2, 1, (Part(3),)),))
    >>> names = ("x_0", "y_0_0_0_3_3", "y_0_1_0_3_3", "w")
    >>> program = Certificate(names, frozenset(), {}, (), None, ())
    >>> columns = ShareColumns(instance, program, Fraction(1), ["0"], with_levels=False)
    >>> columns.pieces[1], columns.unknown
    (Piece(request=0, part=0, group=0, low=3, high=3), ['y_0_1_0_3_3', 'w'])
    """

    def __init__(
        self,
        instance: Instance,
        program: StatedProgram,
        unit: Fraction,
        groups: Sequence[str],
        *,
        with_levels: bool,
    ) -> None:
        self.instance, self.program, self.unit = instance, program, unit
        self.with_levels = with_levels
        self.groups: dict[int, list[int]] = defaultdict(list)
        for machine, group in enumerate(groups):
            self.groups[int(group)].append(machine)
        self.by_name = {name: column for column, name in enumerate(program.names)}
        self.requests: dict[int, int] = {}
        self.machines: dict[int, int] = {}
        self.pieces: dict[int, Piece] = {}
        self.increments: dict[int, Piece] = {}
        self.improvement: int | None = None
        self.unknown = [
            name for name, column in self.by_name.items() if not self._read(column, name)
        ]

    def _read(self, column: int, name: str) -> bool:
        """Note what a column stands for; tell whether it stands for anything."""
        if name == "w" and self.with_levels:
            self.improvement = column
            return True
        match = _REQUEST.fullmatch(name)
        if match is not None:
            self.requests[int(match[1])] = column
            return int(match[1]) < len(self.instance.requests)
        match = _MACHINE.fullmatch(name)
        if match is not None:
            self.machines[column] = int(match[1])
            return int(match[1]) < len(self.instance.machines)
        match = _PIECE.fullmatch(name)
        if match is None:
            return False
        piece = Piece(*map(int, match.groups()[1:]))
        (self.pieces if match[1] == "y" else self.increments)[column] = piece
        return (
            piece.request < len(self.instance.requests)
            and piece.part < len(self.instance.requests[piece.request].parts)
            and piece.group in self.groups
            and piece.low <= piece.high
        )
