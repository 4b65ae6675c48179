"""Sets of tasks and reservations that do not fit together, whichever nodes these get."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import islice

from dlopt.models.admission.request_conflicts import RequestConflicts
from dlopt.models.multistage.chunk_span_relaxation import ReservationSpanRelaxation
from dlopt.models.multistage.node_assignments import MAX_ASSIGNED, node_assignments
from dlopt.models.multistage.scaled_instance import ScaledInstance

MAX_CASES = 20
"""Assignments of nodes to reservations that are refuted one by one. Chosen by hand."""


class ReservationConflicts(RequestConflicts[ScaledInstance]):
    """Finds sets of requests that do not fit together: positions of tasks, then of reservations.

    Parameters are those of `RequestConflicts`.

    Examples
    --------
    >>> from dlopt.backends.time_budget import Budget
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> from dlopt.result import Limits
    >>> wanted = Reservation("r", 0, 0, 2), Reservation("s", 0, 5, 6)
    >>> instance = Instance(Cluster(4, tau=1, chi=4), (Task("a", 0, 1, 2),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> conflicts = ReservationConflicts(scaled, 1, Budget(Limits()), seed=0)
    >>> [conflicts.name(k) for k in conflicts.among((0, 1, 2), conflicts.refutations((0, 1, 2)))]
    ['task a', 'reservation r']
    """

    def relaxation(
        self, scaled: ScaledInstance, dividing: Collection[Fraction], most: int, is_proof: bool
    ) -> ReservationSpanRelaxation:
        """Return the relaxation over spans of chunks, of the instance or a part of it."""
        about = scaled, self.installments, dividing, most
        return ReservationSpanRelaxation(*about, all_spans=is_proof)

    def restricted_to(self, requests: Collection[int]) -> ScaledInstance:
        """Return the instance in which some requests must be accepted, and there are no others."""
        return self.scaled.restricted_to(*self.scaled.tasks_and_reservations(requests))

    def cases(self, scaled: ScaledInstance) -> list[ScaledInstance]:
        """Return the instance with each assignment of nodes to reservations, if they are few."""
        if not 0 < len(scaled.reservations) <= MAX_ASSIGNED:
            return []
        found = list(islice(node_assignments(scaled), MAX_CASES + 1))
        return [scaled.with_nodes(grants) for grants in found] if len(found) <= MAX_CASES else []

    @property
    def all_requests(self) -> tuple[int, ...]:
        """All tasks and reservations."""
        return tuple(range(len(self.scaled.tasks) + len(self.scaled.reservations)))

    def name(self, request: int) -> str:
        """Return how a message calls a task or reservation."""
        scaled, first = self.scaled, len(self.scaled.tasks)
        if request < first:
            return f"task {scaled.instance.tasks[scaled.tasks[request].index].id}"
        reservation = scaled.reservations[request - first].index
        return f"reservation {scaled.instance.reservations[reservation].id}"
