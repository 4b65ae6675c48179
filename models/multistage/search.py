"""The search for what can be accepted: plans from below, bounds from above, until they meet."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from dlopt.arithmetic import SOLVER, exact
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.multistage.chunk_windows import TOO_MANY
from dlopt.models.multistage.feasibility import Feasibility
from dlopt.models.multistage.fixed_sequence_lp import Grants, Part, plan_of
from dlopt.models.multistage.initial_solution import replayed_hint
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.sequencing_milp import OrderModel
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Limits, Proof, Status

_CARE = Fraction(1, 10**6)
_SHARE = 1 / 4
"""Of the time that is left, what each step but the last may take."""


class Search:
    """One search for the plan that is worth most.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node in a gap.
    limits : Limits
    seed : int
    solver : str
        Of the program over orders.

    Attributes
    ----------
    plan : Solution or None
        The best one so far.
    worth : Fraction
        Of that plan.
    bound : Fraction or None
        No plan is worth more; None if nothing is known.
    of_all : bool
        Whether the bound, or that there is no plan, holds with any number of chunks.
    proof : str or None
        Where the bound comes from, or why there is no plan.
    stands_on : {"exact", "solver"}
        Whether bound or status are proven in fractions, or a solver's claim.
    certificate : BoundCertificate or None
        Of the bound, or that there is no plan, if it is proven in fractions.
    status : Status or None
        ``INFEASIBLE``, ``UNKNOWN`` or ``LIMIT`` if there is no plan, for that reason.
    """

    def __init__(
        self, case: Case, installments: int, limits: Limits, seed: int, solver: str
    ) -> None:
        self.case, self.installments = case, installments
        self.limits, self.seed, self.solver = limits, seed, solver
        self.budget = Budget(limits)
        self.plan: Solution | None = None
        self.worth = Fraction(-1)
        self.bound: Fraction | None = None
        self.of_all = False
        self.proof: str | None = None
        self.certificate: BoundCertificate | None = None
        self.stands_on: Proof = "exact"
        self.status: Status | None = None
        self.solvers = ["HiGHS"]

    def run(self, hint: Solution | None) -> None:
        """Search until value and bound meet, or time is up."""
        try:
            self.start(hint)
            if self.plan is None:
                self.keep_promises()
            if self.plan is not None:
                self.bound_from_above()
                if not self.done:
                    self.order_chunks()
        except TimeoutError:
            self.stopped()

    def stopped(self) -> Search:
        """Return the search with a bound, if only that of everything, wherever it was stopped."""
        if self.plan is not None and self.bound is None:
            self._take_bound(self.case.most, "what everything is worth", "exact", of_all=True)
        return self

    @property
    def tight(self) -> bool:
        """Whether the plan is proven to be worth most."""
        return self._within(0.0)

    @property
    def done(self) -> bool:
        """Whether the plan is proven as good as asked for."""
        return self._within(self.limits.gap)

    def start(self, hint: Solution | None) -> None:
        """Take the plan of the hint, if it comes to one with few chunks; else reject everything."""
        case = self.case
        known = None if hint is None else replayed_hint(case, hint, self.installments)
        if known is not None:
            self.plan, self.worth = known[0], case.worth(known[1], known[2])
        elif not self.case.has_promises:
            self.plan, self.worth = self._planned((), {}, ()), case.worth((), ())

    def keep_promises(self) -> None:
        """Find a plan for what is accepted already, or cannot be refused."""
        jobs = [i for i, job in enumerate(self.case.jobs) if job.must]
        bookings = [r for r, one in enumerate(self.case.bookings) if one.must]
        case = self.case.only(jobs, bookings)
        question = Feasibility(case, self.installments, self.budget.left(), self.seed, self.solver)
        verdict = question.decide()
        if verdict.plan is None:
            self.status, self.certificate = verdict.status, verdict.certificate
            self.of_all, self.stands_on = verdict.of_all, verdict.stands_on
            self.proof = f"what is promised or mandatory: {verdict.reason}"
        else:
            self.plan, self.worth = verdict.plan, self.case.worth(jobs, bookings)

    def bound_from_above(self) -> None:
        """Bound what can be accepted by flowing loads; try what they accept."""
        limits = self.budget.left(_SHARE)
        found = upper_bound(self.case, limits, known=self.worth, seed=self.seed)
        self._take_bound(found.worth, found.proof, found.stands_on, found.certificate, of_all=True)
        if not self.done and found.complete and (found.jobs or found.bookings):
            self._try(found.jobs, found.bookings, hard=False)

    def order_chunks(self) -> None:
        """Solve the program over orders, to the end if there is time."""
        step, granted = self.case.step, self.case.stream.granted
        model = OrderModel(self.case.worth_least(self.worth + step), self.installments)
        if model.too_large:
            self.proof = f"{self.proof}; {TOO_MANY}"
            return
        model.state()
        assert self.bound is not None  # from above, by then
        model.add_worth(self.worth + step - granted, self.bound - granted)
        found = model.solve(self.budget.left(), self.solver, self.seed)
        outcome = found.outcome
        self.solvers = list(dict.fromkeys((*self.solvers, outcome.solver)))
        if outcome.assignment and self.case.worth(found.accepted, found.grants) > self.worth:
            whole = {part.job for part in found.parts} == set(found.accepted)
            order = found.accepted, found.grants, found.parts
            plan = self._planned(*order) if whole else None
            if plan is not None:
                self.plan, self.worth = plan, self.case.worth(found.accepted, found.grants)
            else:
                # The order was found in floats; another one may do as well in fractions.
                self._try(found.accepted, tuple(found.grants), hard=True)
        if outcome.status is Status.INFEASIBLE:
            bound = self.worth  # nothing is worth more
        elif outcome.bound is None:
            return
        else:
            bound = step * floor(-exact(outcome.bound) / step + _CARE) + granted
        if self.bound is None or bound < self.bound:
            self._take_bound(bound, f"the word of {outcome.solver}, in floats", "solver")

    def _try(self, jobs: tuple[int, ...], bookings: tuple[int, ...], *, hard: bool) -> None:
        """Take the plan that accepts some jobs and bookings, if it is found and better."""
        worth = self.case.worth(jobs, bookings)
        if worth <= self.worth:
            return
        limits = self.budget.left(_SHARE)
        case = self.case.only(jobs, bookings)
        question = Feasibility(case, self.installments, limits, self.seed, self.solver)
        plan = question.decide().plan if hard else question.quick_plan()
        if plan is not None:
            self.plan, self.worth = plan, worth

    def _take_bound(
        self,
        bound: Fraction | None,
        proof: str,
        stands_on: Proof,
        certificate: BoundCertificate | None = None,
        *,
        of_all: bool = False,
    ) -> None:
        """Take a bound, of all plans or of the class; None says that there is no plan."""
        if bound is None or bound < self.worth:
            # A plan in floats may be better by the tolerance of its check; one in fractions not.
            if self.case.instance.exact:
                raise SolverError(
                    f"a plan is worth {self.worth}, but its bound is {bound}: {proof}"
                )
            bound, certificate = self.worth, None
        self.bound, self.proof, self.stands_on = bound, proof, stands_on
        self.certificate, self.of_all = certificate, of_all

    def _within(self, gap: float) -> bool:
        assert self.bound is not None  # from above, or what everything is worth
        allowed = gap if self.case.instance.exact else max(gap, SOLVER / 2)
        return self.bound - self.worth <= exact(allowed) * self.worth

    def _planned(
        self, accepted: tuple[int, ...], grants: Grants, parts: tuple[Part, ...]
    ) -> Solution | None:
        limits = replace(self.limits, time_s=None, work=None)  # what was found is not thrown away
        return plan_of(self.case, parts, accepted, grants, limits, self.seed)
