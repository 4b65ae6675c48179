"""Constructive heuristics: list scheduling of requests, and rounding of the relaxation.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request, linear
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3, 1, linear()),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests))
>>> greedy_assignment(scaled)
{0: (0, 3), 1: (0, 2)}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.models.coreservation.objective import Assignment, objective_key
from dlopt.models.coreservation.scaled_instance import ScaledInstance


def construct_from_relaxation(
    scaled: ScaledInstance, accepted: Iterable[int], shares: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return an assignment of some requests, guided by the shares of the aggregated relaxation.

    Each part has its minimum share on the machine where its target share causes the least overflow.
    A request of which a part fits nowhere is left out.

    Parameters
    ----------
    scaled : ScaledInstance
    accepted : iterable of int
        The requests that the relaxation accepts.
    shares : sequence of int
        The target share of every part.
    """
    table = _CapacityTable(scaled)
    for k in sorted(accepted, key=lambda k: scaled.requests[k].start):
        table.place(k, shares)
    return table.assignment


def greedy_assignment(scaled: ScaledInstance) -> dict[int, tuple[int, int]]:
    """Return the best of some list schedules: three orders of requests, three rules for shares.

    The orders are by weight, by weight per minimum CPU (Dantzig's density), and by least CPU; the
    shares are minimum ones, with minimum or largest ones as targets, or as large as fit.
    """
    weights = [scaled.weight(scaled.levels[0], k) for k in range(len(scaled.requests))]
    sizes = [sum(scaled.parts[i].minimum for i in request.parts) for request in scaled.requests]
    by_weight = sorted(range(len(weights)), key=lambda k: -weights[k])
    by_density = sorted(by_weight, key=lambda k: (sizes[k] > 0, -weights[k] / (sizes[k] or 1)))
    by_size = sorted(by_weight, key=lambda k: sizes[k])
    minimum = [part.minimum for part in scaled.parts]
    maximum = [part.segments[-1].high for part in scaled.parts]
    assignments = []
    for order in (by_weight, by_density, by_size):
        for shares, full in ((minimum, False), (maximum, False), (maximum, True)):
            table = _CapacityTable(scaled)
            for k in order:
                table.place(k, shares, full=full)
            assignments.append(raise_shares(scaled, table.assignment))
    return max(assignments, key=lambda assignment: objective_key(scaled, assignment))


def raise_shares(scaled: ScaledInstance, assignment: Assignment) -> dict[int, tuple[int, int]]:
    """Return an assignment with larger shares, each as large as is useful and fits.

    Parts are raised in the order of their weights, the largest first.
    """
    table = _CapacityTable(scaled)
    for i, (machine, units) in assignment.items():
        table.allocate(i, machine, units)
    for i in sorted(assignment, key=lambda i: -scaled.weight("benefit", scaled.parts[i].request)):
        part, (machine, units) = scaled.parts[i], assignment[i]
        room = units + min(table.free[machine][part.start : part.end])
        best = max(
            (min(room, segment.high) for segment in part.segments if segment.low <= room),
            default=units,
        )
        if best > units:
            table.allocate(i, machine, best - units)
            table.assignment[i] = machine, best
    return table.assignment


class _CapacityTable:
    """Free capacity, and what would be free if every part had its target share."""

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        self.free = [list(free) for free in scaled.free]
        self.free_at_target = [list(free) for free in scaled.free]
        self.assignment: dict[int, tuple[int, int]] = {}

    def place(self, k: int, shares: Sequence[int], *, full: bool = False) -> None:
        """Place all parts of a request, or none; `full` gives target shares as far as they fit.

        Else parts get their minimum, and their targets count in `free_at_target` only.
        """
        parts = self.scaled.requests[k].parts
        placed: list[tuple[int, int, int]] = []
        for i in sorted(parts, key=lambda i: -shares[i]):
            machine = self._best_machine(i, shares[i])
            if machine is None:
                break
            part = self.scaled.parts[i]
            units = part.minimum
            if full:
                units = max(units, min(shares[i], *self.free[machine][part.start : part.end]))
            self._add(i, machine, units, shares[i])
            placed.append((i, machine, units))
        if len(placed) == len(parts):
            self.assignment |= {i: (machine, units) for i, machine, units in placed}
        else:
            for i, machine, units in placed:
                self._add(i, machine, -units, -shares[i])

    def allocate(self, i: int, machine: int, units: int) -> None:
        """Allocate units of a machine to a part."""
        self._add(i, machine, units, units)
        self.assignment[i] = machine, units

    def _best_machine(self, i: int, share: int) -> int | None:
        """Return the machine on which a target share overflows least, of those the fullest."""
        part = self.scaled.parts[i]
        window = slice(part.start, part.end)

        def overflow(j: int) -> tuple[int, int]:
            free = self.free_at_target[j][window]
            return -sum(min(value - share, 0) for value in free), min(free)

        fitting = [j for j in part.machines if min(self.free[j][window]) >= part.minimum]
        return min(fitting, key=overflow, default=None)

    def _add(self, i: int, machine: int, units: int, share: int) -> None:
        part = self.scaled.parts[i]
        for t in range(part.start, part.end):
            self.free[machine][t] -= units
            self.free_at_target[machine][t] -= share
