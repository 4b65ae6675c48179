"""Whether all tasks and reservations fit together: a schedule, or a proof that they do not."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from dlopt.arithmetic import shown
from dlopt.models.admission.feasibility import (
    LATENESS_MARGIN,
    MAX_CHUNKS,
    SEARCH_SHARE,
    decide_by_lateness,
    max_small_chunks,
)
from dlopt.models.admission.request_conflicts import FIRST_DIVISIONS
from dlopt.models.admission.sequence_feasibility import SequenceFeasibility
from dlopt.models.common.sequence_annealing import EFFORT
from dlopt.models.common.stream_feasibility import FeasibilityResult
from dlopt.models.multistage.conflicts import ReservationConflicts
from dlopt.models.multistage.fixed_sequence_lp import (
    Grants,
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.multistage.min_max_lateness import MinMaxLateness
from dlopt.models.multistage.node_assignments import assign_nodes
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequence_search import NodeChoices, ReservationSequenceSearch
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.time_blocks import TimeBlocks
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Status


class FeasibilityTest(SequenceFeasibility[ScaledInstance, Solution]):
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
        """Decide by local search and spans of chunks, then by the sequencing MILP."""
        milp = SequencingMilp(self.scaled, self.installments, max_lateness=LATENESS_MARGIN)
        chunks, answer = len(milp.candidates.chunks), None
        if chunks <= max_small_chunks(self.scaled.tasks_only):
            answer = self.disprove_by_spans(islice(self.divisions(), FIRST_DIVISIONS))
        elif chunks <= MAX_CHUNKS:
            answer = self.decide_by_sequences_and_spans()
        if answer is not None:
            return answer
        if milp.candidates.too_large is not None:
            return FeasibilityResult(Status.UNKNOWN, reason=milp.candidates.too_large)
        solution = milp.build().solve(self.budget.left(), self.solver, self.seed)
        return decide_by_lateness(
            solution.outcome,
            lambda: self._schedule(solution.sequence, solution.grants),
            lambda lateness: shown(self.scaled.tasks_only.unscale_duration(lateness)),
        )

    def conflict_finder(self) -> ReservationConflicts:
        """Return what finds sets of requests that do not fit together."""
        return ReservationConflicts(self.scaled, self.installments, self.budget, self.seed)

    def search_sequences(self) -> Solution | None:
        """Look for a schedule by local search over sequences of chunks."""
        choices, requests = NodeChoices(self.scaled), self.conflict_finder().all_requests
        grants = choices.nodes(range(len(self.scaled.reservations)))
        if grants is None:
            return None
        about = self.budget.left(SEARCH_SHARE), EFFORT, self.seed, choices
        search, plan = ReservationSequenceSearch(self.scaled, self.installments, *about), None
        begun, possible = self._by_deadline(grants), search.possible_chunks(requests).of_task
        while plan is None and all(map(possible.__contains__, self.all_tasks)):
            found = search.finish(begun, requests)
            if found is None:
                break
            plan = self._schedule(found.loaded_chunks, grants)
        return plan

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
        return None if grants is None else self._schedule(self._by_deadline(grants), grants)

    def _by_deadline(self, grants: Grants) -> list[UnsizedChunk]:
        """Return a sequence of all tasks that is often feasible."""
        return sequence_by_deadline(self.scaled, self.all_tasks, grants)

    def _schedule(
        self, sequence: list[UnsizedChunk] | tuple[UnsizedChunk, ...], grants: Grants
    ) -> Solution | None:
        """Return the schedule of a sequence; None if it is incomplete, too long or infeasible."""
        is_complete = {chunk.task for chunk in sequence} == set(self.all_tasks)
        if not is_complete or len(sequence) > MAX_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None)
        return schedule_sequence(self.scaled, sequence, self.all_tasks, grants, limits, self.seed)
