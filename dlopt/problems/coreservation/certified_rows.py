"""The constraints of certificates of CPU shares, compared with an instance.

See `dlopt.problems.coreservation.certified_program`, which states them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from math import floor

from dlopt.certificates import StatedConstraint
from dlopt.problems.certificate_units import stated_number
from dlopt.problems.coreservation.certified_capacity import FreeCapacity
from dlopt.problems.coreservation.certified_columns import Piece, ShareColumns
from dlopt.problems.coreservation.certified_knapsacks import largest_weights

_ROW = re.compile(
    r"(accepted|piece|capacity|count|knapsack|level)((?:_\d{1,16})*)(?:_[GL])?", re.ASCII
)
_NUMBERS = {"accepted": 2, "piece": 5, "capacity": 2, "count": 3, "knapsack": 3, "level": 1}
"""How many numbers a name has."""
ZERO = Fraction(0)


class ShareRows:
    """The constraints of a program, each of which all plans must satisfy.

    Parameters
    ----------
    columns : ShareColumns
    capacity : FreeCapacity

    Examples
    --------
    >>> from dlopt.formats.vipr.certificate import Certificate, Constraint
    >>> from dlopt.problems.coreservation.data import Instance, Machine, Part, Request
    >>> wanted = Request("r", 0, 0, 9, 1, (Part(3), Part(3)))
    >>> instance, one = Instance((Machine("m", 5),), (wanted,)), Fraction(1)
    >>> row, names = Constraint({0: one, 1: one}, -1, one), ("y_0_0_0_3_3", "y_0_1_0_3_3")
    >>> program = Certificate(names, frozenset(), {}, (("count_0_0_3", row),), None, ())
    >>> columns = ShareColumns(instance, program, one, ["0"], with_levels=False)
    >>> ShareRows(columns, FreeCapacity(instance)).flaw()
    >>> ShareRows(columns, FreeCapacity(Instance((Machine("m", 6),), (wanted,)))).flaw()
    'count_0_0_3: the machines may hold more'
    """

    def __init__(self, columns: ShareColumns, capacity: FreeCapacity) -> None:
        self.columns, self.capacity, self.program = columns, capacity, columns.program
        self.instance, self.unit, self.groups = columns.instance, columns.unit, columns.groups

    def flaw(self) -> str | None:
        """Return a constraint that some plan may violate, or None if there is none."""
        for name, row in self.program.constraints:
            flaw = self._row_flaw(name, row)
            if flaw is not None:
                return f"{name}: {flaw}"
        return None

    def _row_flaw(self, name: str, row: StatedConstraint) -> str | None:
        if name.removesuffix("_G").removesuffix("_L") in self.columns.by_name:
            return self._bound_flaw(row)
        match = _ROW.fullmatch(name)
        if match is None:
            return "it is no constraint of the plans"
        family, numbers = match[1], [int(text) for text in match[2].split("_")[1:]]
        if row.sign != -1 and (family, row.sign) not in (("accepted", 1), ("level", 1)):
            return "it has the wrong direction"
        rules: Mapping[str, Callable[[StatedConstraint, list[int]], str | None]] = {
            "accepted": self._accepted_flaw,
            "piece": self._piece_flaw,
            "capacity": self._capacity_flaw,
            "count": self._capacity_flaw,
            "knapsack": self._knapsack_flaw,
            "level": self._level_flaw,
        }
        if len(numbers) != _NUMBERS[family]:
            return "its name does not say what it is about"
        return rules[family](row, numbers)

    def _bound_flaw(self, row: StatedConstraint) -> str | None:
        """A variable is between 0 and 1, an increment at most as long as its piece."""
        if list(row.terms.values()) != [1]:
            return "it is no bound of a variable"
        (column,) = row.terms
        piece = self.columns.increments.get(column)
        most = 1 if piece is None else self._length(piece)
        holds = row.side <= 0 if row.sign == 1 else row.sign == -1 and row.side >= most
        return None if holds else "a variable may be smaller or larger"

    def _accepted_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """A part of an accepted request is on one piece of one group."""
        k, p = numbers
        expected = dict.fromkeys(self._pieces_of_part.get((k, p), ()), 1)
        if k not in self.columns.requests or not expected:
            return "there is no such part"
        expected[self.columns.requests[k]] = -1
        return None if row.terms == expected and row.side == 0 else "a part may be elsewhere"

    def _piece_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """An increment is on its piece: up to its length if that is chosen, else 0."""
        label = "_".join(map(str, numbers))
        chosen, above = (self.columns.by_name.get(f"{kind}_{label}") for kind in "yr")
        if chosen is None or above is None or not row.terms.keys() <= {chosen, above}:
            return "it is not about an increment and its piece"
        most = max(row.terms.get(above, ZERO), ZERO) * self._length(Piece(*numbers))
        if row.side < 0:
            return "its right-hand side is negative"
        holds = row.terms.get(chosen, ZERO) + most <= row.side
        return None if holds else "the increment may be larger"

    def _capacity_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """The machines of a group hold no more than they have free at an instant.

        Of ``count`` their units are divided by the last number, and rounded down.
        """
        group, rank = numbers[:2]
        if group not in self.groups or rank >= len(self.capacity.instants):
            return "there is no such group or instant"
        divisor = numbers[2] if len(numbers) > 2 else None
        if divisor == 0:
            return "it is divided by 0"
        needed: list[int] = []
        prices: dict[int, Fraction] = {}
        for column, a in row.terms.items():
            piece = self.columns.pieces.get(column) or self.columns.increments.get(column)
            if column in self.columns.machines and a <= 0:
                prices[self.columns.machines[column]] = -a
            elif a > 0:
                if piece is None or piece.group != group or not self._is_active(piece, rank):
                    return "it counts what is not there"
                units = piece.low if column in self.columns.pieces else 1
                if divisor is not None:
                    units = piece.low // divisor if column in self.columns.pieces else 0
                if a > units:
                    return "it counts a part for more than it takes"
                needed.append(piece.low)
        side = row.side
        for machine in self.groups[group]:
            free = self.capacity.free[machine][rank] / self.unit
            if free < min(needed, default=0):
                continue
            free = free if divisor is None else Fraction(floor(free / divisor))
            if machine not in prices:
                side -= free
            elif prices[machine] < free:
                return "a machine that is used may hold more"
        return "the machines may hold more" if side < 0 else None

    def _knapsack_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """What is on a machine of a group at an instant weighs no more than what fits together.

        The last number tells rows of one group and instant apart.
        """
        group, rank = numbers[:2]
        if group not in self.groups or rank >= len(self.capacity.instants):
            return "there is no such group or instant"
        items: list[tuple[int, Fraction]] = []
        prices: dict[int, Fraction] = {}
        for column, a in row.terms.items():
            piece = self.columns.pieces.get(column)
            if column in self.columns.machines and a <= 0:
                prices[self.columns.machines[column]] = -a
            elif a > 0:
                if piece is None or piece.group != group or not self._is_active(piece, rank):
                    return "it counts what is not there"
                items.append((piece.low, a))
        if not all(size for size, _ in items):
            return "it counts what needs no room"
        rooms = {j: floor(self.capacity.free[j][rank] / self.unit) for j in self.groups[group]}
        weights = largest_weights(items, max(rooms.values()))
        if weights is None:
            return "the sums of its parts are too many"
        side = row.side
        for machine, room in rooms.items():
            if machine not in prices:
                side -= weights[room]
            elif prices[machine] < weights[room]:
                return "a machine that is used may hold more"
        return "the machines may hold more" if side < 0 else None

    def _is_active(self, piece: Piece, rank: int) -> bool:
        return rank in self.capacity.window(self.instance.requests[piece.request])

    def _level_flaw(self, row: StatedConstraint, numbers: list[int]) -> str | None:
        """With `w` the benefit is what is claimed, and fewer requests are rejected than stated."""
        if (
            self.columns.improvement is None
            or numbers not in ([0], [1])
            or row.sign != 1
            or row.side > 0
        ):
            return "there is no such level"
        w, costs = self.columns.improvement, self.program.costs
        fewest = stated_number(self.program.remarks, "rejections")
        assert self.program.claim is not None  # else nothing is asked of the rows
        assert fewest is not None
        if numbers == [0]:
            most, least = -self.program.claim, {c: -costs.get(c, ZERO) for c in self._counted}
        else:
            most = len(self.instance.requests) - fewest + 1
            least = dict.fromkeys(self.columns.requests.values(), Fraction(1))
        if -row.terms.get(w, ZERO) > most:
            return "a plan that improves a level may reach less"
        others = {*row.terms, *least} - {w}
        if any(row.terms.get(column, ZERO) < least.get(column, ZERO) for column in others):
            return "it leaves out what a plan reaches"
        return None

    def _length(self, piece: Piece) -> Fraction:
        """Return how many units a part may have beyond the low end of its piece."""
        request = self.instance.requests[piece.request]
        here = self.groups[piece.group]
        most = max(self.capacity.room(machine, request) for machine in here) / self.unit
        return max(min(Fraction(piece.high), most) - piece.low, ZERO)

    @cached_property
    def _pieces_of_part(self) -> dict[tuple[int, int], list[int]]:
        """The columns of the pieces of each part."""
        columns: dict[tuple[int, int], list[int]] = {}
        for column, piece in self.columns.pieces.items():
            columns.setdefault((piece.request, piece.part), []).append(column)
        return columns

    @property
    def _counted(self) -> list[int]:
        """The columns of benefits."""
        return [*self.columns.pieces, *self.columns.increments]
