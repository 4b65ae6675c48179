"""The ways in which reservations can get their nodes.

Nodes with equal costs that are free together, and that the same reservations can get, are
identical; so are those of them that the same reservations have got. Of assignments that differ by
exchanges of identical nodes one is listed.

Source: ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from dlopt.models.multistage.fixed_sequence_lp import Grants
from dlopt.models.multistage.scaled_instance import ScaledInstance

MAX_ASSIGNED = 6
"""Reservations of which all assignments of nodes are listed. Chosen by hand."""
IdenticalNodes = tuple[tuple[int, ...], frozenset[int]]
"""Identical nodes, and the reservations that have got them."""


def node_assignments(scaled: ScaledInstance) -> Iterator[Grants]:
    """Yield nodes for all reservations, in all ways up to exchanges of identical nodes.

    Nodes that are reserved at other times, too, come first. Complexity: exponential in the number
    of reservations.

    Parameters
    ----------
    scaled : ScaledInstance

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation
    >>> wanted = Reservation("r", 0, 1, 3, nodes=2), Reservation("s", 0, 3, 4)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(3, tau=1, chi=1), (), wanted))
    >>> list(node_assignments(scaled))
    [{0: (0, 1), 1: (0,)}, {0: (0, 1), 1: (2,)}]
    """
    wanted = scaled.reservations
    if any(one.obstacle for one in wanted) or any(
        one.conflicts_on_channel(other) for one, other in combinations(wanted, 2)
    ):
        return iter(())
    kinds, about = defaultdict[Hashable, list[int]](list), scaled.tasks_only
    for j in about.nodes:
        eligible = tuple(j in one.eligible for one in wanted)
        kinds[about.tau[j], about.chi[j], about.free[j], eligible].append(j)
    return _assignments(scaled, {}, [(tuple(nodes), frozenset()) for nodes in kinds.values()])


def _assignments(
    scaled: ScaledInstance, grants: Grants, classes: Sequence[IdenticalNodes]
) -> Iterator[Grants]:
    """Yield the ways to complete an assignment, with the classes of identical nodes in it."""
    r = len(grants)
    if r == len(scaled.reservations):
        yield grants
        return
    reservation = scaled.reservations[r]
    conflicting = {s for s in grants if reservation.conflicts_on_node(scaled.reservations[s])}
    possible = [
        tuple(j for j in nodes if j in reservation.eligible and not reserved_by & conflicting)
        for nodes, reserved_by in classes
    ]
    order = sorted(range(len(classes)), key=lambda k: -len(classes[k][1]))
    for chosen in _choices([possible[k] for k in order], reservation.count):
        refined = list[IdenticalNodes]()
        for nodes, reserved_by in classes:
            refined.append((tuple(j for j in nodes if j in chosen), reserved_by | {r}))
            refined.append((tuple(j for j in nodes if j not in chosen), reserved_by))
        yield from _assignments(scaled, {**grants, r: tuple(sorted(chosen))}, refined)


def _choices(classes: Sequence[tuple[int, ...]], count: int) -> Iterator[tuple[int, ...]]:
    """Yield ways to choose so many nodes, the first ones of each class, most of the first class."""
    if count == 0:
        yield ()
    elif classes:
        for number in range(min(count, len(classes[0])), -1, -1):
            for others in _choices(classes[1:], count - number):
                yield classes[0][:number] + others


def assign_nodes(scaled: ScaledInstance) -> Grants | None:
    """Return nodes for all reservations, chosen greedily one by one; None if some get none.

    Those that name their nodes come first; the others get nodes that are reserved at other times,
    too, so that few nodes are interrupted.
    """
    grants: dict[int, tuple[int, ...]] = {}
    reservations = scaled.reservations
    for r in sorted(range(len(reservations)), key=lambda r: (not reservations[r].names_nodes, r)):
        reservation = reservations[r]
        occupied = {
            node
            for s, nodes in grants.items()
            if reservation.conflicts_on_node(reservations[s])
            for node in nodes
        }
        reserved = [node for nodes in grants.values() for node in nodes]
        candidates = [node for node in reservation.eligible if node not in occupied]
        candidates.sort(key=lambda node: (-reserved.count(node), node))
        on_channel = any(reservation.conflicts_on_channel(reservations[s]) for s in grants)
        too_few = len(candidates) < reservation.count
        if reservation.obstacle is not None or on_channel or too_few:
            return None
        grants[r] = tuple(sorted(candidates[: reservation.count]))
    return grants
