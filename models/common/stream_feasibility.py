"""The question whether all requests of an instance can be accepted, and its answer."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.common.time_division import TimeDivision
from dlopt.result import Limits, Proof, Status

PlanT = TypeVar("PlanT")
ScaledT = TypeVar("ScaledT")


@dataclass(frozen=True)  # slots would break FeasibilityResult[Solution](...) in Python 3.11
class FeasibilityResult(Generic[PlanT]):
    """The answer to the feasibility question.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``: there is a schedule. ``INFEASIBLE``: there is none. ``UNKNOWN``: undecided
        within the solver's tolerance, or too large. ``LIMIT``.
    plan : Solution or None
    reason : str or None
    certificate : BoundCertificate or None
        The proof that there is no schedule, if it is one in fractions.
    proof_kind : {"exact", "solver"}
        Whether the status is proven in fractions, or the solver's claim.
    holds_for_any_plan : bool
        Whether an infeasibility holds for schedules with any number of chunks.
    """

    status: Status
    plan: PlanT | None = None
    reason: str | None = None
    certificate: BoundCertificate | None = None
    proof_kind: Proof = "exact"
    holds_for_any_plan: bool = False


class StreamFeasibility(ABC, Generic[ScaledT, PlanT]):
    """The question whether all requests of an instance can be accepted.

    Parameters
    ----------
    scaled : ScaledInstance
        All of its requests are to be accepted.
    installments : int
        Chunks that a task may have on a node (in a gap between reservations).
    limits : Limits
    seed : int
    solver : str
        For the sequencing MILP.
    """

    def __init__(
        self,
        scaled: ScaledT,
        installments: int,
        limits: Limits,
        seed: int,
        solver: str = DEFAULT,
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.seed, self.solver = seed, solver
        self.budget = Budget(limits)

    def decide(self, *, relax: bool = True, explain: bool = False) -> FeasibilityResult[PlanT]:
        """Return the answer.

        Parameters
        ----------
        relax : bool
            Ask the fluid relaxation first.
        explain : bool
            Also find the minimum of the maximum lateness, if there is no schedule.
        """
        try:
            result = (self.disprove_by_relaxation() if relax else None) or self.find_schedule()
        except TimeoutError:
            return at_limit()
        if explain and result.status is Status.INFEASIBLE:
            with contextlib.suppress(TimeoutError, SolverError):  # it only explains
                explanation = self.explain()
                if explanation is not None:
                    return replace(result, reason=f"{explanation}; {result.reason}")
        return result

    @abstractmethod
    def disprove_by_relaxation(self) -> FeasibilityResult[PlanT] | None:
        """Return that there is no schedule, if the fluid relaxation proves it."""

    def find_schedule(self) -> FeasibilityResult[PlanT]:
        """Try the sequence by deadline, then the blocks of time, each by models of sequences."""
        plan = self.schedule_by_deadline()
        if plan is not None:
            return FeasibilityResult(Status.OPTIMAL, plan)
        divided = self.divide()
        return self.find_sequence() if divided.is_trivial else self.decide_blocks(divided)

    def decide_blocks(self, divided: TimeDivision[ScaledT, PlanT]) -> FeasibilityResult[PlanT]:
        """Decide each block of time by itself: all of them must be feasible."""
        plans, undecided = [divided.placed_plan], None
        for number, block in enumerate(divided.blocks):
            limits = self.budget.left_or_minimum(1 / (len(divided.blocks) - number))
            scaled = divided.scaled_block(block)
            answer = type(self)(scaled, self.installments, limits, self.seed, self.solver).decide()
            if answer.status is Status.INFEASIBLE:
                return replace(answer, certificate=None)  # it is in the units of the block
            if answer.plan is None:
                undecided = answer
            else:
                plans.append(answer.plan)
        return undecided or FeasibilityResult(Status.OPTIMAL, divided.merge(plans))

    @abstractmethod
    def divide(self) -> TimeDivision[ScaledT, PlanT]:
        """Return the blocks of time, in which all is mandatory."""

    @abstractmethod
    def schedule_by_deadline(self) -> PlanT | None:
        """Return the schedule of a sequence that is often feasible, if it is."""

    @abstractmethod
    def find_sequence(self) -> FeasibilityResult[PlanT]:
        """Look for a schedule by models over sequences, or for a claim that there is none."""

    @abstractmethod
    def explain(self) -> str | None:
        """Report the minimum of the maximum lateness, or an upper bound on it."""


def at_limit() -> FeasibilityResult[PlanT]:
    """Return that nothing was decided in time."""
    return FeasibilityResult(Status.LIMIT, reason="a limit was reached before a decision")
