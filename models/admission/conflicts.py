"""Sets of tasks that do not fit together."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.request_conflicts import RequestConflicts
from dlopt.models.admission.scaled_instance import ScaledInstance


class TaskConflicts(RequestConflicts[ScaledInstance]):
    """Finds sets of tasks that do not fit together, by their positions.

    Parameters are those of `RequestConflicts`.

    Examples
    --------
    >>> from dlopt.backends.time_budget import Budget
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.result import Limits
    >>> tasks = Task("a", 0, 2, 4), Task("b", 0, 1, 30), Task("c", 0, 2, 4)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> conflicts = TaskConflicts(scaled, 1, Budget(Limits()), seed=0)
    >>> [conflicts.name(k) for k in conflicts.among((0, 1, 2), conflicts.refutations((0, 1, 2)))]
    ['task a', 'task c']
    """

    def relaxation(
        self, scaled: ScaledInstance, dividing: Collection[Fraction], most: int, is_proof: bool
    ) -> ChunkSpanRelaxation:
        """Return the relaxation over spans of chunks, of the instance or a part of it."""
        return ChunkSpanRelaxation(scaled, self.installments, dividing, most)

    def restricted_to(self, requests: Collection[int]) -> ScaledInstance:
        """Return the instance in which some tasks must be accepted, and there are no others."""
        return self.scaled.restricted_to(sorted(requests))

    def name(self, request: int) -> str:
        """Return how a message calls a task."""
        return f"task {self.scaled.instance.tasks[self.scaled.tasks[request].index].id}"
