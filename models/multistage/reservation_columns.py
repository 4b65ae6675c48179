"""The acceptance of reservations, and their nodes, in the programs of the relaxations.

A binary ``q_r`` accepts reservation `r`; ``h_rg`` of its nodes are of group `g`. For a reservation
that names its nodes, ``h_rg`` is ``q_r`` times the number of nodes of the group that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dlopt.backends.linear_program import ProgramBuilder
from dlopt.models.admission.fluid_relaxation import NodeGroup
from dlopt.models.multistage.scaled_instance import ScaledInstance


class ReservationColumns:
    """The columns of reservations, and the rows of reservations that exclude each other.

    Parameters
    ----------
    scaled : ScaledInstance
    program : ProgramBuilder
        Gets the columns ``q`` at once; the columns ``h``, and rows, with the methods.
    groups : sequence of NodeGroup
    row_names : list of str, optional
        Gets the name of each row, as certificates over spans of chunks have it.

    Attributes
    ----------
    accepted : list of int
        The columns ``q``.
    reserved_nodes : dict of (int, int) to int
        The columns ``h``, by reservation and group.

    Examples
    --------
    >>> from dlopt.models.admission.fluid_relaxation import group_nodes
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation
    >>> instance = Instance(Cluster(3, tau=1, chi=1), (), (Reservation("r", 0, 1, 3, nodes=2),))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> groups = group_nodes(scaled.tasks_only)
    >>> reservations = ReservationColumns(scaled, ProgramBuilder(), groups)
    >>> reservations.accepted, reservations.nodes_of(0)
    ([0], {0: (0, 2)})
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        program: ProgramBuilder,
        groups: Sequence[NodeGroup],
        row_names: list[str] | None = None,
    ) -> None:
        self.scaled, self.program, self.groups = scaled, program, groups
        self.row_names = list[str]() if row_names is None else row_names
        self.accepted = [
            program.add_column(
                Fraction(reservation.mandatory), Fraction(1), cost=-reservation.weight
            )
            for reservation in scaled.reservations
        ]
        self.reserved_nodes: dict[tuple[int, int], int] = {}

    def names(self) -> dict[int, str]:
        """Return the names of the columns; reservations are counted as in the instance."""
        wanted = self.scaled.reservations
        pairs = zip(self.accepted, wanted, strict=True)
        names = {column: f"q_{reservation.index}" for column, reservation in pairs}
        for (r, g), column in self.reserved_nodes.items():
            names[column] = f"h_{wanted[r].index}_{g}"
        return names

    def nodes_of(self, r: int) -> dict[int, tuple[int, int]]:
        """Return how many nodes of each group a reservation gets, as a column times a number.

        An impossible reservation gets none, and is rejected.
        """
        reservation, q = self.scaled.reservations[r], self.accepted[r]
        if reservation.obstacle is not None:
            self._add_row(f"q_{reservation.index}", [(q, Fraction(1))], None, Fraction(0))
            return {}
        eligible = set(reservation.eligible)
        counts = {g: len(eligible.intersection(group.nodes)) for g, group in enumerate(self.groups)}
        counts = {g: count for g, count in counts.items() if count}
        if reservation.names_nodes:
            return {g: (q, count) for g, count in counts.items()}
        if len(counts) == 1:
            return dict.fromkeys(counts, (q, reservation.count))
        reserved = {
            g: (self.program.add_column(Fraction(0), Fraction(count)), 1)
            for g, count in counts.items()
        }
        self.reserved_nodes |= {(r, g): column for g, (column, _) in reserved.items()}
        terms = [(column, Fraction(1)) for column, _ in reserved.values()]
        terms.append((q, Fraction(-reservation.count)))
        self._add_row(f"reserved_{reservation.index}", terms, Fraction(0), Fraction(0))
        return reserved

    def add_conflicts(self) -> None:
        """Give the channel, and each node, to one reservation at a time."""
        cliques: dict[frozenset[int], None] = {}
        for reservation in self.scaled.reservations:
            on_channel, on_node = list[int](), defaultdict[int, list[int]](list)
            for r, other in enumerate(self.scaled.reservations):
                if other.start <= reservation.start < other.io_end:
                    on_channel.append(r)
                if other.names_nodes and other.start <= reservation.start < other.end:
                    for node in other.eligible:
                        on_node[node].append(r)
            for conflicting in (on_channel, *on_node.values()):
                if len(conflicting) > 1:
                    cliques[frozenset(conflicting)] = None
        for number, clique in enumerate(cliques):
            terms = [(self.accepted[r], Fraction(1)) for r in sorted(clique)]
            self._add_row(f"conflict_{number}", terms, None, Fraction(1))

    def _add_row(
        self,
        name: str,
        terms: Iterable[tuple[int, Fraction]],
        lower: Fraction | None,
        upper: Fraction | None,
    ) -> None:
        self.row_names.append(name)
        self.program.add_row(terms, lower, upper)
