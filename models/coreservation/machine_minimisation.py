"""How few machines hold everything, where all requests can be accepted: bin packing over time.

The bound is that of bin packing at a single instant, see `bin_packing`; assignments come from first
fit in several orders of parts. Where all machines are identical and all parts that need CPU share
an instant, the problem is bin packing itself.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> machines = tuple(Machine(f"m{j}", 5) for j in range(4))
>>> scaled = ScaledInstance.from_instance(Instance(machines, requests), "rejections")
>>> bound = minimise_machines(scaled, Limits())
>>> bound.bound, len({machine for machine, _ in bound.assignment.values()})
(3, 3)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.bin_packing import (
    L2_PROOF,
    Pattern,
    enumerate_patterns,
    martello_toth_l2,
    pack,
    select_patterns,
)
from dlopt.models.coreservation.objective import objective_level
from dlopt.models.coreservation.requests import Clique
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.result import Limits


@dataclass(frozen=True, slots=True)
class MachineBound:
    """The fewest machines of any assignment that accepts everything.

    Parameters
    ----------
    assignment : dict or None
        One that accepts everything, if it was found.
    bound : int
        None that accepts everything uses fewer machines.
    proof : str
        Where the bound comes from.
    """

    assignment: dict[int, tuple[int, int]] | None
    bound: int
    proof: str


@dataclass(frozen=True, slots=True)
class Filling:
    """An assignment that accepts everything, or None, and whether there is provably none."""

    assignment: dict[int, tuple[int, int]] | None
    is_impossible: bool


def minimise_machines(scaled: ScaledInstance, limits: Limits, seed: int = 0) -> MachineBound:
    """Bound the machines that hold all minimum shares, and pack these.

    A minimum share of 0 needs no machine: it is next to another part or anywhere.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
    seed : int
    """
    if not scaled.parts:
        return MachineBound({}, 0, "no request can be accepted")
    needy = [i for i, part in enumerate(scaled.parts) if part.minimum]
    if not needy:
        assignment = {i: (part.machines[0], 0) for i, part in enumerate(scaled.parts)}
        return MachineBound(assignment, 0, "no part needs CPU")
    budget = Budget(limits)
    largest = max(map(max, scaled.free))
    cliques = scaled.maximal_cliques()
    hardest = max(cliques, key=lambda clique: sum(scaled.parts[i].minimum for i in clique.parts))
    bound, proof = 1, "some part needs CPU"
    fixed = {scaled.parts[i].machines for i in needy if len(scaled.parts[i].machines) == 1}
    if len(fixed) > bound:
        bound, proof = len(fixed), "parts are fixed to as many machines"
    for clique in cliques:
        l2 = martello_toth_l2(sorted(_minimum_shares(scaled, clique), reverse=True), largest)
        if l2 > bound:
            bound, proof = l2, f"{L2_PROOF} at one instant"
            hardest = clique
    packing = pack(_minimum_shares(scaled, hardest), largest, budget.left(), seed)
    if packing.bound > bound:
        bound, proof = packing.bound, f"{packing.proof} at one instant"
    assignments = list(_first_fit_assignments(scaled))
    if set(needy) <= set(hardest.parts) and len(packing.bins) <= len(scaled.free):
        assignments.append(_assign_bins(scaled, enumerate(packing.bins)))
    assignments = [assignment for assignment in assignments if is_feasible(scaled, assignment)]
    best = min(
        assignments,
        key=lambda assignment: objective_level(scaled, "machines", assignment),
        default=None,
    )
    return MachineBound(best, bound, proof)


def _minimum_shares(scaled: ScaledInstance, clique: Clique) -> list[int]:
    """Return the positive minimum shares of the parts of a clique."""
    return [scaled.parts[i].minimum for i in clique.parts if scaled.parts[i].minimum]


def _first_fit_assignments(scaled: ScaledInstance) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield assignments of each part to the first machine with room, in some orders of parts."""
    parts = scaled.parts
    orders = (
        lambda i: (parts[i].start, -parts[i].minimum),
        lambda i: (-parts[i].minimum, parts[i].start),
        lambda i: (-parts[i].minimum * (parts[i].end - parts[i].start), parts[i].start),
        lambda i: (parts[i].start, parts[i].start - parts[i].end),
    )
    for order in orders:
        free = [list(row) for row in scaled.free]
        assignment: dict[int, tuple[int, int]] = {}
        for i in sorted(range(len(parts)), key=order):
            part, window = parts[i], slice(parts[i].start, parts[i].end)
            fitting = (j for j in part.machines if min(free[j][window]) >= part.minimum)
            machine = next(fitting, None)
            if machine is None:
                break
            free[machine][window] = [left - part.minimum for left in free[machine][window]]
            assignment[i] = machine, part.minimum
        else:
            yield assignment


def fill_machines(scaled: ScaledInstance, clique: Clique, budget: Budget, seed: int) -> Filling:
    """Pack all minimum shares of a clique into machines that differ, where little may be wasted.

    Every machine wastes at most what all of them have beyond the shares: these patterns are
    enumerated for each capacity, and selected by CP-SAT.

    Raises
    ------
    TimeoutError
        If no time is left.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
    >>> requests = tuple(Request(f"{cpu}", 0, 1, 2, 1, (Part(cpu),)) for cpu in (5, 4, 3, 2))
    >>> machines = Machine("m", 8), Machine("n", 6)
    >>> scaled = ScaledInstance.from_instance(Instance(machines, requests))
    >>> (clique,) = scaled.maximal_cliques()
    >>> sorted(fill_machines(scaled, clique, Budget(Limits()), 0).assignment.values())
    [(0, 3), (0, 5), (1, 2), (1, 4)]
    """
    demand = Counter(_minimum_shares(scaled, clique))
    waste = sum(clique.free) - sum(demand.elements())
    if waste < 0:
        return Filling(None, True)
    groups: list[tuple[int, list[Pattern]]] = []
    capacities = Counter(clique.free)
    for capacity, count in capacities.items():
        patterns = enumerate_patterns(demand, capacity, waste, budget)
        if patterns is None:
            return Filling(None, False)
        groups.append((count, patterns))
    selection = select_patterns(groups, demand, waste, budget, seed)
    if selection.bins is None:
        return Filling(None, selection.is_impossible)
    machines = [
        [j for j, free in enumerate(clique.free) if free == capacity] for capacity in capacities
    ]
    pairs = zip(chain(*machines), chain(*selection.bins), strict=True)
    assignment = _assign_bins(scaled, pairs)
    return Filling(assignment if is_feasible(scaled, assignment) else None, False)


def _assign_bins(
    scaled: ScaledInstance, bins: Iterable[tuple[int, Pattern]]
) -> dict[int, tuple[int, int]]:
    """Return patterns of machines as an assignment; what needs nothing is on its first machine."""
    left = defaultdict(list)
    for i, part in enumerate(scaled.parts):
        left[part.minimum].append(i)
    assignment = {i: (scaled.parts[i].machines[0], 0) for i in left[0]}
    return assignment | {left[size].pop(): (j, size) for j, sizes in bins for size in sizes}
