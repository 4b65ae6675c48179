"""The search for an optimum of one divisible load: which models to ask, and when to stop."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from dlopt.arithmetic import ROUNDING, SOLVER, exact, least, shown
from dlopt.backends.pulp import Outcome
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.iit.fixed_sequence_lp import SequenceModel, Timed
from dlopt.models.iit.fluid_relaxation import least_completion
from dlopt.models.iit.initial_solution import filled
from dlopt.models.iit.prefix_milp import Prefixes, PrefixModel
from dlopt.models.iit.scaled_instance import Scaled
from dlopt.models.iit.sequencing_milp import OrderModel
from dlopt.problems.allowance import rounded_down
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit.data import Solution
from dlopt.result import NO_LIMITS, Limits, PlanClass, Proof, Result, Status

Answer = Result[Solution]


_SLACK = SOLVER * 2**8
"""By how much floats may miss a deadline, in the units of `Scaled`: half of what is checked."""

_DOUBT = SOLVER / 4
"""The part of a MILP's bound that is not believed: so much its tolerances may have cut off."""


class Search:
    """One search for an optimum: the models it may ask, and what it has found so far."""

    def __init__(
        self,
        scaled: Scaled,
        limits: Limits,
        hint: Solution | None,
        seed: int,
        formulation: str,
        installments: int,
        solver: str,
    ) -> None:
        self.scaled, self.instance = scaled, scaled.instance
        self.limits, self.seed, self.solver = limits, seed, solver
        self.formulation, self.installments = formulation, installments
        self.budget = Budget(limits)
        self.prefixes = Prefixes(self.instance, limits, solver, seed)
        self.plan = scaled.plan_forth(hint) if _in_class(hint, installments) else None
        self.upper: Any = last_result(self._alone() if self.plan is None else self.plan)
        self.refuted = False
        self.proven = True
        self.plan_class: PlanClass = "single" if installments == 1 else "k"

    def completion(self) -> Answer:
        """Return the plan of least completion."""
        timed = self._least(self.instance.cluster.nodes)
        self.proven = timed.outcome.proven
        if self._late(timed.completion):
            return self._infeasible("completion", timed)
        plan, outcome = _planned(timed), timed.outcome
        bound = self._stated(timed)
        if self.instance.exact and not (timed.outcome.proven or self.refuted):
            bound = self._or_that_of_flow(bound, timed.completion)
        return self._answer("completion", plan, timed.completion, bound, outcome)

    def fewest_nodes(self) -> Answer:
        """Return the plan of fewest nodes that meets the deadline; it ends as early as it can."""
        everyone = self._least(self.instance.cluster.nodes)
        if self._late(everyone.completion):
            self.proven = everyone.outcome.proven
            return self._infeasible("nodes", everyone)
        plan, outcome = _planned(everyone), everyone.outcome
        low, high = 1, _nodes(plan)
        while low < high:
            middle = (low + high) // 2
            timed = self._least(middle)
            if not self._late(timed.completion):
                plan, outcome = _planned(timed), timed.outcome
                high = _nodes(plan)
            elif self._surely_late(timed.bound):
                low = middle + 1
                self.proven = self.proven and timed.outcome.proven
            else:
                return self._limited("nodes", plan, low)
        return self._answer("nodes", plan, _nodes(plan), low, outcome)

    def stopped(self, objective: str, reason: str) -> Answer:
        """Return what is known when a limit, or the reason that is given, ends the search."""
        best = self.prefixes.best
        if best is not None and best.plan is not None and best.completion <= self.upper:
            self.plan = best.plan
        elif reason and self.plan is None:
            self.plan = self._alone()
        answer = self._limited(objective, self.plan, None)
        return replace(answer, reason=reason or answer.reason)

    def _least(self, most: int) -> Timed:
        """Return the least completion on `most` nodes at the most."""
        if self.formulation == "sequence":
            useful = self.prefixes.longest_useful()
            return self.prefixes.at(min(most, useful))
        if self.formulation == "prefix":
            chosen = PrefixModel(self.instance, most, self._slack(most)).minimise_completion()
            chunks, outcome = chosen.solve(self.budget.left(), self.solver, self.seed)
        else:
            model = OrderModel(self.instance, self.installments, most, self._slack(most))
            chunks, outcome = model.minimise_completion().solve(
                self.budget.left(), self.solver, self.seed
            )
        return self._polished(chunks, outcome, most)

    def _polished(self, chunks: list[int], outcome: Outcome, most: int) -> Timed:
        """Re-solve the loads of the order that a MILP chose; keep its bound."""
        plan, completion = None, None
        if chunks:
            model = SequenceModel(self.instance, chunks).minimise_completion()
            unlimited = replace(self.limits, time_s=None, work=None)
            timed = model.solve(unlimited, self.solver, self.seed, self.instance.exact)
            plan, completion = timed.plan, timed.completion
        known = self._incumbent(most)
        end = last_result(known)
        if completion is None or end < completion:
            plan, completion = known, end
        bound = outcome.bound
        if bound is not None and bound > completion:
            if exact(bound) - exact(completion) > 4 * exact(_SLACK):  # more than rounding
                return self._bounded_by_flow(plan or known, completion)
            # In exact numbers the solver may be off as much the other way, for other plans.
            off = exact(bound) - exact(completion) if self.instance.exact else 0
            bound = rounded_down(exact(completion) - off)  # a float: it proves nothing exactly
        return Timed(plan, completion, bound, None, outcome)

    def _bounded_by_flow(self, plan: Solution, completion: Any) -> Timed:
        """Return a plan that refutes the solver's bound, with the bound of every plan instead."""
        self.refuted = True
        flow = self._flow(proven=True)
        bound = None if flow.bound is None else min(flow.bound, completion)
        return Timed(plan, completion, bound, None, flow)

    def _or_that_of_flow(self, bound: Any, completion: Any) -> Any:
        """Return a solver's bound, or that of loads that flow if it proves more, exactly.

        Floats tell first whether it can.
        """
        try:
            flow = self._flow(proven=False)
            if flow.bound is None or (bound is not None and flow.bound < bound):
                return bound
            flow = self._flow(proven=True)
        except (TimeoutError, SolverError):  # pragma: no cover - the time is up, or HiGHS fails
            return bound
        closes = flow.bound == completion or bound is None or not _close(bound, completion)
        if flow.proven and closes:
            self.proven = True
            return flow.bound
        return bound

    def _flow(self, *, proven: bool) -> Outcome:
        left = self.budget.left()
        return least_completion(self.instance, left, self.solver, self.seed, proven=proven)

    def _slack(self, most: int) -> Any:
        """Return a completion time that `most` nodes attain, a little relaxed for the solver."""
        relaxed = exact(last_result(self._incumbent(most))) * (1 + exact(1e-7))
        return relaxed if self.instance.exact else float(relaxed)

    def _incumbent(self, most: int) -> Solution:
        """Return the best plan on `most` nodes at the most that is known without a solver."""
        plans = [self._alone(), filled(self.instance, most)]
        if self.plan is not None and _nodes(self.plan) <= most:
            plans.append(self.plan)
        return min(plans, key=last_result)

    def _alone(self) -> Solution:
        """Return the plan of the node that is done first with all of the load."""
        load = self.instance.load
        plans = (earliest_plan(self.instance, [i], [load]) for i in self._alike())
        return min(plans, key=last_result)

    def _alike(self) -> list[int]:
        """Return the nodes, of identical ones only the first that is ready."""
        cluster = self.instance.cluster
        if cluster.identical:
            ready = self.instance.ready_times
            return [ready.index(least(ready))]
        return list(range(cluster.nodes))

    def _late(self, completion: Any, roundings: float = 0.5) -> bool:
        """Tell whether a plan that ends then misses the deadline; in floats, beyond rounding.

        `roundings` says how often an instant of the original may be off for being a float.
        """
        deadline = self.instance.absolute_deadline
        if deadline is None:
            return False
        if self.instance.exact and not isinstance(completion, float):
            return bool(completion > deadline)
        spare = exact(_SLACK)
        if not self.instance.exact:
            given = exact(self.scaled.original.absolute_deadline or 0)
            spare += exact(roundings) * ROUNDING * given / self.scaled.time
        return exact(completion) - exact(deadline) > spare

    def _surely_late(self, bound: Any) -> bool:
        """Tell whether a bound proves that every plan that the check accepts is late."""
        return bound is not None and self._late(bound, roundings=4)

    def _answer(
        self, objective: str, plan: Solution, value: Any, bound: Any, outcome: Outcome
    ) -> Answer:
        close = bound is not None and not self.refuted and _close(bound, value)
        return Result(
            Status.OPTIMAL if close else Status.FEASIBLE,
            solution=plan,
            objective=objective,
            value=value,
            bound=bound,
            reason=None if close else self._open(),
            method="exact",
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=outcome.solver,
            solver_version=outcome.version,
            proof=None if bound is None else self._proof(),
        )

    def _open(self) -> str:
        """Return why value and bound have not met."""
        if self.refuted:
            text = (
                "is refuted by a plan that was found; every plan takes as long as loads that flow"
            )
            return f"the bound of {self.solver} {text}"
        return "stopped with a gap between value and bound"

    def _stated(self, timed: Timed) -> Any:
        """Return a bound that holds for exact instances, too: a solver's is within a tolerance."""
        if timed.bound is None or not self.instance.exact:
            return timed.bound
        return believed(timed.bound, timed.outcome)

    def _proof(self) -> Proof:
        """Return on whose word the bound stands."""
        return "exact" if self.proven else "solver"

    def _limited(self, objective: str, plan: Solution | None, bound: Any) -> Answer:
        if plan is not None and self._late(last_result(plan)):
            plan = None
        value = None
        if plan is not None:
            value = last_result(plan) if objective == "completion" else _nodes(plan)
        return Result(
            Status.LIMIT if plan is None else Status.FEASIBLE,
            solution=plan,
            objective=objective,
            value=value,
            bound=bound,
            reason=self._unproven(),
            method="exact",
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=self.solver,
            proof=None if bound is None else self._proof(),
        )

    def _undecided(self, objective: str, timed: Timed) -> Answer:
        """Report a deadline between bound and value: neither met nor proven to be missed."""
        bound = self._stated(timed) if objective == "completion" else None
        answer = self._limited(objective, None, bound)
        return answer if self._limits_apply() else replace(answer, status=Status.UNKNOWN)

    def _unproven(self) -> str:
        """Return why a deadline is neither met nor proven to be missed."""
        if self._limits_apply():
            return "a limit was reached before the optimum was proven"
        return "the deadline is closer to a least completion than the solver, or a float, can tell"

    def _limits_apply(self) -> bool:
        return self.limits != replace(NO_LIMITS, threads=self.limits.threads)

    def _infeasible(self, objective: str, timed: Timed) -> Answer:
        """Report a deadline that even the least completion misses, if that is proven."""
        if not self._surely_late(timed.bound):
            return self._undecided(objective, timed)
        least = self.scaled.instant_back(timed.completion)
        reason = f"the least completion is {shown(least)}"
        if self.instance.cluster.identical and self.installments == 1:
            done = self.scaled.load_back(self.prefixes.most_load(self.instance.absolute_deadline))
            total = self.scaled.original.load
            reason += f"; {shown(done)} of load {shown(total)} can be done by then"
        return Result(
            Status.INFEASIBLE,
            reason=reason,
            method="exact",
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=timed.outcome.solver,
            solver_version=timed.outcome.version,
            proof=self._proof(),
        )


def believed(bound: Any, outcome: Outcome) -> Any:
    """Return what counts of a bound in exact numbers: of a solver's, less than it says.

    It is a fraction: at a date, a float would round it by more.
    """
    return bound if outcome.proven else exact(bound) * (1 - exact(_DOUBT))


def _close(bound: Any, value: Any) -> bool:
    return abs(exact(value) - exact(bound)) <= exact(SOLVER) * exact(value)


def _in_class(hint: Solution | None, installments: int) -> bool:
    """Tell whether a hint is a plan of the class that is searched; others prove nothing."""
    if hint is None:
        return False
    chunks = Counter(chunk.node for chunk in hint.chunks)
    return max(chunks.values()) <= installments and all(chunk.load > 0 for chunk in hint.chunks)


def _planned(timed: Timed) -> Solution:
    """Return the plan of a model: every search has one, if only the incumbent."""
    if timed.plan is None:
        raise AssertionError
    return timed.plan


def _nodes(plan: Solution) -> int:
    return len({chunk.node for chunk in plan.chunks})
