"""Whether all jobs and bookings of a case fit: by plan, or by proof that they do not."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import exact, shown
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.sequencing_milp import SPARE
from dlopt.models.multistage.chunk_windows import TOO_MANY
from dlopt.models.multistage.fixed_sequence_lp import Grants, Part, by_deadline, plan_of
from dlopt.models.multistage.min_max_lateness import MOST_CHUNKS, Lateness
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.sequencing_milp import OrderModel
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Limits, Proof, Status

_MARGIN = Fraction(1, 2**6)
"""Lateness, in units of the model, that is told from none: about 1e-5 of the horizon."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of the question.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``: there is a plan. ``INFEASIBLE``: there is none. ``UNKNOWN``: it is too close
        to tell, or too large. ``LIMIT``.
    plan : Solution or None
    reason : str or None
    of_all : bool
        Whether an infeasibility holds for plans with any number of chunks.
    certificate : BoundCertificate or None
        The proof that there is no plan, if it is one in fractions.
    stands_on : {"exact", "solver"}
        Whether the status is proven in fractions, or the solver's claim.
    """

    status: Status
    plan: Solution | None = None
    reason: str | None = None
    of_all: bool = False
    certificate: BoundCertificate | None = None
    stands_on: Proof = "exact"


class Feasibility:
    """One question.

    Parameters
    ----------
    case : Case
        All of its jobs and bookings are to be accepted.
    installments : int
        Chunks that a task may have on a node in a gap.
    limits : Limits
    seed : int
    solver : str
        Of the program over orders.
    """

    def __init__(
        self, case: Case, installments: int, limits: Limits, seed: int, solver: str = DEFAULT
    ) -> None:
        self.case, self.installments = case, installments
        self.seed, self.solver = seed, solver
        self.everyone = range(len(case.jobs))
        self.budget = Budget(limits)

    def decide(self, *, explain: bool = False) -> Verdict:
        """Return the verdict.

        Parameters
        ----------
        explain : bool
            Also find how late the latest task must be, if there is no plan.
        """
        try:
            verdict = self._decide()
        except TimeoutError:
            return Verdict(Status.LIMIT, reason="a limit was reached before it was decided")
        grants = placed(self.case)
        if not explain or verdict.status is not Status.INFEASIBLE or grants is None:
            return verdict
        question = Lateness(self.case, self.installments, self.budget, self.seed, self.solver)
        words: str | None = None
        with contextlib.suppress(TimeoutError, SolverError):  # it is only a help
            words = question.told(grants)
        return verdict if words is None else replace(verdict, reason=f"{words}; {verdict.reason}")

    def quick_plan(self) -> Solution | None:
        """Return a plan from an order that is often feasible, if it is.

        Raises
        ------
        TimeoutError
        """
        grants = placed(self.case)
        if grants is None:
            return None
        return self._plan(by_deadline(self.case, self.everyone, grants), grants)

    def _decide(self) -> Verdict:
        if self.case.obstacle is not None:
            return Verdict(Status.INFEASIBLE, reason=self.case.obstacle, of_all=True)
        bound = upper_bound(self.case, self.budget.left(), relaxed=True, seed=self.seed)
        if bound.worth is None:
            text = f"not even loads that flow would be in time ({bound.proof})"
            return Verdict(Status.INFEASIBLE, None, text, True, bound.certificate)
        plan = self.quick_plan()
        return self._by_orders() if plan is None else Verdict(Status.OPTIMAL, plan)

    def _plan(self, parts: list[Part] | tuple[Part, ...], grants: Grants) -> Solution | None:
        if {part.job for part in parts} != set(self.everyone) or len(parts) > MOST_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None)
        return plan_of(self.case, parts, self.everyone, grants, limits, self.seed)

    def _by_orders(self) -> Verdict:
        """Ask for the order of least lateness, up to a margin."""
        model = OrderModel(self.case, self.installments, late=_MARGIN)
        if model.too_large:
            return Verdict(Status.UNKNOWN, reason=TOO_MANY)
        found = model.state().solve(self.budget.left(), self.solver, self.seed)
        outcome = found.outcome
        if outcome.status is Status.INFEASIBLE:
            text = f"every order of chunks is late by more than {self._shown(_MARGIN)}"
            return _claimed(f"{text}, says {outcome.solver}, in floats")
        plan = self._plan(found.parts, found.grants) if outcome.assignment else None
        if plan is not None:
            return Verdict(Status.OPTIMAL, plan)
        if outcome.bound is not None and outcome.bound > SPARE:
            text = f"every order of chunks is late by {self._shown(exact(outcome.bound))} or more"
            return _claimed(f"{text}, says {outcome.solver}, in floats")
        if outcome.status is Status.OPTIMAL:
            return Verdict(Status.UNKNOWN, reason="it is too close for the solver to tell")
        return Verdict(Status.LIMIT, reason="a limit was reached before it was decided")

    def _shown(self, lateness: Fraction) -> str:
        return shown(self.case.stream.span_back(lateness))


def _claimed(reason: str) -> Verdict:
    """Return that there is no plan, as a solver claims."""
    return Verdict(Status.INFEASIBLE, reason=reason, stands_on="solver")


def placed(case: Case) -> Grants | None:
    """Return nodes for all bookings of a case, chosen one by one; None if this leads nowhere.

    Those that name their nodes come first; the others get nodes that are reserved otherwise,
    before and behind, so that few nodes are cut up.
    """
    grants: dict[int, tuple[int, ...]] = {}
    order = sorted(range(len(case.bookings)), key=lambda r: (not case.bookings[r].named, r))
    for r in order:
        booking = case.bookings[r]
        taken = {
            node for s, nodes in grants.items() if booking.meets(case.bookings[s]) for node in nodes
        }
        used = [node for nodes in grants.values() for node in nodes]
        there = [node for node in booking.able if node not in taken]
        there.sort(key=lambda node: (-used.count(node), node))
        barred = any(booking.bars(case.bookings[s]) for s in grants)
        if booking.obstacle is not None or barred or len(there) < booking.count:
            return None
        grants[r] = tuple(sorted(there[: booking.count]))
    return grants
