"""Whether all tasks and reservations fit together: a schedule, or a proof that they do not."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import exact, shown
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.feasibility import LATENESS_MARGIN, lateness_claim
from dlopt.models.admission.sequencing_milp import DUE_DATE_MARGIN
from dlopt.models.multistage.chunk_windows import TOO_MANY_SEQUENCES
from dlopt.models.multistage.fixed_sequence_lp import (
    Grants,
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.multistage.min_max_lateness import MAX_CHUNKS, MinMaxLateness
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Limits, Proof, Status


@dataclass(frozen=True, slots=True)
class FeasibilityResult:
    """The answer to the feasibility question.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``: there is a schedule. ``INFEASIBLE``: there is none. ``UNKNOWN``: undecided
        within the solver's tolerance, or too large. ``LIMIT``.
    plan : Solution or None
    reason : str or None
    holds_for_any_plan : bool
        Whether an infeasibility holds for schedules with any number of chunks.
    certificate : BoundCertificate or None
        The proof that there is no schedule, if it is one in fractions.
    proof_kind : {"exact", "solver"}
        Whether the status is proven in fractions, or the solver's claim.
    """

    status: Status
    plan: Solution | None = None
    reason: str | None = None
    holds_for_any_plan: bool = False
    certificate: BoundCertificate | None = None
    proof_kind: Proof = "exact"


class FeasibilityTest:
    """The question whether all tasks and reservations of an instance fit together.

    Parameters
    ----------
    scaled : ScaledInstance
        All of its tasks and reservations are to be accepted.
    installments : int
        Chunks that a task may have on a node in a gap.
    limits : Limits
    seed : int
    solver : str
        For the sequencing MILP.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 4),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance, accept_all=True)
    >>> str(FeasibilityTest(scaled, 1, Limits(), 0).decide().status)
    'infeasible'
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        limits: Limits,
        seed: int,
        solver: str = DEFAULT,
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.seed, self.solver = seed, solver
        self.all_tasks = range(len(scaled.tasks))
        self.budget = Budget(limits)

    def decide(self, *, explain: bool = False) -> FeasibilityResult:
        """Return the answer.

        Parameters
        ----------
        explain : bool
            Also find the minimum of the maximum lateness, if there is no schedule.
        """
        try:
            result = self._decide()
        except TimeoutError:
            return FeasibilityResult(Status.LIMIT, reason="a limit was reached before a decision")
        grants = assign_nodes(self.scaled)
        if not explain or result.status is not Status.INFEASIBLE or grants is None:
            return result
        question = MinMaxLateness(
            self.scaled, self.installments, self.budget, self.seed, self.solver
        )
        message: str | None = None
        with contextlib.suppress(TimeoutError, SolverError):  # it only explains
            message = question.message(grants)
        return result if message is None else replace(result, reason=f"{message}; {result.reason}")

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

    def _decide(self) -> FeasibilityResult:
        if self.scaled.obstacle is not None:
            reason = self.scaled.obstacle
            return FeasibilityResult(Status.INFEASIBLE, reason=reason, holds_for_any_plan=True)
        limits = self.budget.left()
        bound = upper_bound(self.scaled, limits, relaxation_only=True, seed=self.seed)
        if bound.value is None:
            reason = f"infeasible even in the {bound.derivation}"
            return FeasibilityResult(Status.INFEASIBLE, None, reason, True, bound.certificate)
        plan = self.schedule_by_deadline()
        if plan is not None:
            return FeasibilityResult(Status.OPTIMAL, plan)
        return self._solve_sequencing_milp()

    def _schedule(
        self, sequence: list[UnsizedChunk] | tuple[UnsizedChunk, ...], grants: Grants
    ) -> Solution | None:
        """Return the schedule of a sequence; None if it is incomplete, too long or infeasible."""
        is_complete = {chunk.task for chunk in sequence} == set(self.all_tasks)
        if not is_complete or len(sequence) > MAX_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None)
        return schedule_sequence(self.scaled, sequence, self.all_tasks, grants, limits, self.seed)

    def _solve_sequencing_milp(self) -> FeasibilityResult:
        """Look for the sequence of minimum lateness, up to `LATENESS_MARGIN`."""
        milp = SequencingMilp(self.scaled, self.installments, max_lateness=LATENESS_MARGIN)
        if milp.candidates.is_too_large:
            return FeasibilityResult(Status.UNKNOWN, reason=TOO_MANY_SEQUENCES)
        solution = milp.build().solve(self.budget.left(), self.solver, self.seed)
        outcome = solution.outcome
        if outcome.status is Status.INFEASIBLE:
            reason = lateness_claim(outcome, f"> {self._format(LATENESS_MARGIN)}")
            return FeasibilityResult(Status.INFEASIBLE, reason=reason, proof_kind="solver")
        plan = self._schedule(solution.sequence, solution.grants) if outcome.assignment else None
        if plan is not None:
            return FeasibilityResult(Status.OPTIMAL, plan)
        if outcome.bound is not None and outcome.bound > DUE_DATE_MARGIN:
            reason = lateness_claim(outcome, f">= {self._format(exact(outcome.bound))}")
            return FeasibilityResult(Status.INFEASIBLE, reason=reason, proof_kind="solver")
        if outcome.status is Status.OPTIMAL:
            reason = "undecided: Lmax is 0 within the solver's tolerance"
            return FeasibilityResult(Status.UNKNOWN, reason=reason)
        return FeasibilityResult(Status.LIMIT, reason="a limit was reached before a decision")

    def _format(self, lateness: Fraction) -> str:
        return shown(self.scaled.tasks_only.unscale_duration(lateness))


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
