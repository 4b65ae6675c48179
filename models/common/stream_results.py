"""Results of the registered methods of `admission` and `multistage`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import Number, simplest
from dlopt.incumbents import offer
from dlopt.models.common.objective_levels import bound_reason
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_feasibility import FeasibilityResult
from dlopt.models.common.stream_search import PlanT, ScaledT, StreamSearch
from dlopt.result import PlanClass, Result, Status


@dataclass(frozen=True, slots=True)
class StreamResults:
    """Makes results: what they say of the instance, the objective and the class of schedules.

    Parameters
    ----------
    exact : bool
        Whether the instance is in exact numbers.
    requests : int
        Its tasks and reservations.
    objective : str
    plan_class : PlanClass
        Of schedules with so many installments.
    installments : int
    warning : str, optional
        Is added to every reason.

    Examples
    --------
    >>> StreamResults(True, 4, "reject-ratio", "single").objective_value(Fraction(3))
    Fraction(1, 4)
    """

    exact: bool
    requests: int
    objective: str
    plan_class: PlanClass
    installments: int = 1
    warning: str | None = None

    def run(
        self, search: StreamSearch[ScaledT, PlanT], instance: object, hint: PlanT | None
    ) -> Result[PlanT]:
        """Run a search, which offers its result wherever it is, and return its result."""
        offer(instance, self.objective, "exact", lambda: self._of(search.snapshot()))
        search.run(hint)
        search.certify_optimum()
        return self._of(search)

    def decide(self, search: StreamSearch[ScaledT, PlanT], hint: PlanT | None) -> Result[PlanT]:
        """Return whether all requests can be accepted, all of which are mandatory in a search."""
        search.initialise(hint)
        answer = FeasibilityResult(Status.OPTIMAL, search.plan)
        if search.plan is None:
            answer = search.feasibility_test(search.scaled, search.limits).decide(explain=True)
        found = answer.plan is not None
        value = self.objective_value(search.scaled.max_value) if found else None
        result = Result(
            answer.status,
            solution=answer.plan,
            value=value,
            bound=value,
            reason=answer.reason,
            solver=search.solver,
            certificate=answer.certificate,
            proof=answer.proof_kind,
        )
        any_plan = search.bounds_any_plan if found else answer.holds_for_any_plan
        return self._complete(result, any_plan)

    def of_bound(
        self, bound: UpperBound, mandatory: str, obstacle: str | None = None
    ) -> Result[PlanT]:
        """Return the result of a bound.

        Parameters
        ----------
        bound : UpperBound
        mandatory : str
            What must be accepted.
        obstacle : str, optional
            Why that is impossible, if it is obvious.
        """
        value, reason = bound.value, bound.derivation
        if value is None:
            value = Fraction(0)
            obstacle = obstacle or f"infeasible even in the {reason}"
            reason = f"no feasible schedule of {mandatory}: {obstacle}"
        result = Result[PlanT](
            Status.BOUND,
            bound=self.objective_value(value),
            reason=reason,
            solver="HiGHS",
            solver_version=bound.version,
            certificate=bound.certificate,
            proof=bound.proof_kind,
        )
        return self._complete(result)

    def objective_value(self, value: Fraction) -> Number:
        """Return a sum of weights as the value of the objective."""
        if self.objective == "reject-ratio":
            return simplest(1 - value / self.requests)
        if self.objective in ("accepted-load", "accepted-weight") and not self.exact:
            return float(value)
        return simplest(value)

    def _of(self, search: StreamSearch[ScaledT, PlanT]) -> Result[PlanT]:
        value, status = None, search.status or Status.LIMIT
        reason = search.derivation or "a limit was reached before any bound was proven"
        if search.plan is not None:
            value, status = self.objective_value(search.value), Status.OPTIMAL
            reason = bound_reason([reason])
            if not search.is_optimal:
                status, reason = Status.FEASIBLE, f"gap not closed; {reason}"
        result = Result(
            status,
            solution=search.plan,
            value=value,
            bound=None if search.bound is None else self.objective_value(search.bound),
            reason=reason,
            solver="+".join(search.solvers),
            certificate=search.certificate,
            proof=search.proof_kind,
        )
        return self._complete(result, search.holds_for_any_plan)

    def _complete(self, result: Result[PlanT], any_plan: bool = False) -> Result[PlanT]:
        return replace(
            result,
            objective=self.objective,
            plan_class="any" if any_plan else self.plan_class,
            installments=None if any_plan or self.installments == 1 else self.installments,
            reason="; ".join(filter(None, (result.reason, self.warning))) or None,
        )
