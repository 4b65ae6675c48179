"""Whether all tasks and reservations fit together: a schedule, or a proof that they do not."""

from __future__ import annotations

from dataclasses import replace

from dlopt.arithmetic import shown
from dlopt.models.admission.feasibility import LATENESS_MARGIN, MAX_CHUNKS, decide_by_lateness
from dlopt.models.common.stream_feasibility import FeasibilityResult, StreamFeasibility
from dlopt.models.multistage.fixed_sequence_lp import (
    Grants,
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.multistage.min_max_lateness import MinMaxLateness
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.time_blocks import TimeBlocks
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Status


class FeasibilityTest(StreamFeasibility[ScaledInstance, Solution]):
    """The question whether all tasks and reservations of an instance fit together.

    Parameters are those of `StreamFeasibility`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> from dlopt.result import Limits
    >>> wanted = (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 4),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance, accept_all=True)
    >>> str(FeasibilityTest(scaled, 1, Limits(), 0).decide().status)
    'infeasible'
    """

    def disprove_by_relaxation(self) -> FeasibilityResult[Solution] | None:
        """Return that there is no schedule, if the fluid relaxation proves it."""
        reason, certificate = self.scaled.obstacle, None
        if reason is None:
            limits = self.budget.left()
            bound = upper_bound(self.scaled, limits, relaxation_only=True, seed=self.seed)
            if bound.value is not None:
                return None
            reason, certificate = f"infeasible even in the {bound.derivation}", bound.certificate
        return FeasibilityResult(
            Status.INFEASIBLE, None, reason, certificate, holds_for_any_plan=True
        )

    def divide(self) -> TimeBlocks:
        """Return the blocks of time, in which all is mandatory."""
        return TimeBlocks(self.scaled)

    def find_sequence(self) -> FeasibilityResult[Solution]:
        """Look for the sequence of minimum lateness, up to `LATENESS_MARGIN`."""
        milp = SequencingMilp(self.scaled, self.installments, max_lateness=LATENESS_MARGIN)
        if milp.candidates.too_large is not None:
            return FeasibilityResult(Status.UNKNOWN, reason=milp.candidates.too_large)
        solution = milp.build().solve(self.budget.left(), self.solver, self.seed)
        return decide_by_lateness(
            solution.outcome,
            lambda: self._schedule(solution.sequence, solution.grants),
            lambda lateness: shown(self.scaled.tasks_only.unscale_duration(lateness)),
        )

    def explain(self) -> str | None:
        """Report the minimum of the maximum lateness, or an upper bound on it."""
        grants = assign_nodes(self.scaled)
        if grants is None:
            return None
        question = MinMaxLateness(
            self.scaled, self.installments, self.budget, self.seed, self.solver
        )
        return question.message(grants)

    @property
    def all_tasks(self) -> range:
        """All tasks."""
        return range(len(self.scaled.tasks))

    def schedule_by_deadline(self) -> Solution | None:
        """Return the schedule of a sequence that is often feasible, if it is.

        Raises
        ------
        TimeoutError
        """
        grants = assign_nodes(self.scaled)
        if grants is None:
            return None
        return self._schedule(sequence_by_deadline(self.scaled, self.all_tasks, grants), grants)

    def _schedule(
        self, sequence: list[UnsizedChunk] | tuple[UnsizedChunk, ...], grants: Grants
    ) -> Solution | None:
        """Return the schedule of a sequence; None if it is incomplete, too long or infeasible."""
        is_complete = {chunk.task for chunk in sequence} == set(self.all_tasks)
        if not is_complete or len(sequence) > MAX_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None)
        return schedule_sequence(self.scaled, sequence, self.all_tasks, grants, limits, self.seed)


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
