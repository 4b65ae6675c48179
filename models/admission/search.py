"""The search for what can be accepted: plans from below, bounds from above, until they meet."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from dlopt.arithmetic import SOLVER, exact
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.cpsat import GridModel, quanta
from dlopt.models.admission.feasibility import EFFORT, MOST_CHUNKS, Feasibility, is_small
from dlopt.models.admission.fixed_sequence_lp import Part, by_deadline, plan_of
from dlopt.models.admission.initial_solution import replayed_hint
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.admission.sequencing_milp import TOO_MANY, OrderModel
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.problems.admission.data import Solution
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
        Chunks that a task may have on a node.
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
    proof : str or None
        Where the bound comes from, or why there is no plan.
    certificate : BoundCertificate or None
        Of the bound, or that there is no plan, if it is proven in fractions.
    stands_on : {"exact", "solver"}
        Whether bound or status are proven in fractions, or a solver's claim.
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
                orders = OrderModel(self.case, self.installments)
                if len(orders.slots) <= MOST_CHUNKS and not (self.done or is_small(orders)):
                    self.look_on_grids()
                if not self.done:
                    self.order_chunks(orders)
        except TimeoutError:
            self.stopped()

    def stopped(self) -> Search:
        """Return the search with a bound, if only that of everything, wherever it was stopped."""
        if self.plan is not None and self.bound is None:
            everything = self.case.worth(range(len(self.case.jobs)))
            self._take_bound(everything, "what all tasks are worth", "exact")
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
        """Take the plan of the hint, if it comes to one with few chunks; or else reject all."""
        known = None if hint is None else replayed_hint(self.case, hint, self.installments)
        if known is not None:
            self.plan, self.worth = known[0], self.case.worth(known[1])
        elif not any(job.must for job in self.case.jobs):
            self._offer([], set())

    def keep_promises(self) -> None:
        """Find a plan for what is accepted already."""
        promised = [i for i, job in enumerate(self.case.jobs) if job.must]
        case = self.case.only(promised)
        question = Feasibility(case, self.installments, self.budget.left(), self.seed, self.solver)
        verdict = question.decide(explain=True)
        if verdict.plan is None:
            self.status, self.certificate = verdict.status, verdict.certificate
            self.stands_on = verdict.stands_on
            self.proof = f"the promised tasks: {verdict.reason}"
        else:
            self.plan, self.worth = verdict.plan, self.case.worth(promised)

    def bound_from_above(self) -> None:
        """Bound what can be accepted by flowing loads; try what they accept."""
        found = upper_bound(
            self.case,
            self.budget.left(_SHARE),
            installments=self.installments,
            known=self.worth,
            seed=self.seed,
        )
        self._take_bound(found.worth, found.proof, found.stands_on, found.certificate)
        if found.subset is not None:
            self._offer(by_deadline(self.case, found.subset), set(found.subset))

    def look_on_grids(self) -> None:
        """Ask CP-SAT for better plans on a coarse grid, on a fine one, and with more time."""
        coarse, fine = quanta(self.case)
        self.solvers.append("CP-SAT")
        for quantum, late in ((coarse, 0), (fine, 0), (coarse, 2)):
            if self.done or self.bound is None:
                return
            grid = GridModel(self.case, self.installments, quantum, late)
            granted = self.case.granted
            grid.maximise_weight(self.worth + self.case.step - granted, self.bound - granted)
            found = grid.solve(self.budget.left(_SHARE), self.seed, EFFORT)
            if found is not None:
                self._offer(list(found.parts), set(found.accepted))

    def order_chunks(self, orders: OrderModel) -> None:
        """Solve the program over orders, to the end if there is time."""
        if orders.pairs is None:
            self.proof = f"{self.proof}; {TOO_MANY}"
            return
        if self.limits.work is not None and not is_small(orders):
            # The first node of branch and bound alone may take minutes.
            self.proof = f"{self.proof}; orders of chunks are too many for a limit on work"
            return
        parts, outcome = orders.state().solve(self.budget.left(), self.solver, self.seed)
        if outcome.solver not in self.solvers:
            self.solvers.append(outcome.solver)
        if parts:
            self._offer(parts, {part.job for part in parts})
        if outcome.bound is None:
            return
        step = self.case.step
        bound = step * floor(-exact(outcome.bound) / step + _CARE) + self.case.granted
        if self.bound is None or bound < self.bound:
            self._take_bound(bound, f"the word of {outcome.solver}, in floats", "solver")

    def _take_bound(
        self,
        bound: Fraction | None,
        proof: str,
        stands_on: Proof,
        certificate: BoundCertificate | None = None,
    ) -> None:
        """Take a bound; None says that there is no plan."""
        if bound is None or bound < self.worth:
            # Of floats a plan may be at the end of what its check allows, where solvers err.
            if self.case.instance.exact:
                raise SolverError(
                    f"a plan is worth {self.worth}, but its bound is {bound}: {proof}"
                )
            bound, certificate = self.worth, None
        self.bound, self.proof, self.stands_on = bound, proof, stands_on
        self.certificate = certificate

    def _within(self, gap: float) -> bool:
        if self.plan is None or self.bound is None:
            return False
        allowed = gap if self.case.instance.exact else max(gap, SOLVER / 2)
        return self.bound - self.worth <= exact(allowed) * self.worth

    def _offer(self, parts: list[Part], accepted: set[int]) -> None:
        """Take the plan of an order of chunks, if it is feasible and better."""
        worth = self.case.worth(accepted)
        whole = {part.job for part in parts} == accepted and len(parts) <= MOST_CHUNKS
        if worth <= self.worth or not whole:
            return
        limits = replace(self.limits, time_s=None, work=None)  # what was found is not thrown away
        plan = plan_of(self.case, parts, accepted, limits, self.seed)
        if plan is not None:
            self.plan, self.worth = plan, worth
