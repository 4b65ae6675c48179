"""The search for an optimum of one divisible load: which models to solve, and when to stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dlopt.arithmetic import ROUNDING, SOLVER, Number, exact, shown
from dlopt.backends.pulp import UNCERTIFIED, Outcome
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.common.objective_levels import bound_reason
from dlopt.models.iit.all_sequences_lp import MAX_NODES, minimise_over_sequences
from dlopt.models.iit.fixed_sequence_lp import CompletionResult, FixedSequenceLp
from dlopt.models.iit.fluid_relaxation import completion_lower_bound
from dlopt.models.iit.initial_solution import (
    best_single_node,
    fill_nodes_in_ready_order,
    repeat_rounds,
)
from dlopt.models.iit.prefix_milp import PrefixMilp, PrefixSearch
from dlopt.models.iit.scaled_instance import ScaledInstance
from dlopt.models.iit.sequencing_milp import SequencingMilp
from dlopt.models.iit.solutions import (
    count_nodes,
    is_closed,
    is_in_class,
    lower_by_tolerance,
    plan_of_chunks,
    shown_instant,
)
from dlopt.problems.allowance import rounded_down
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit.data import Solution
from dlopt.result import NO_LIMITS, Limits, PlanClass, Proof, Result, Status

Answer = Result[Solution]

DEADLINE_TOLERANCE = SOLVER * 2**8
"""By how much floats may miss a deadline, in the units of `ScaledInstance`: half of what the
checker of results allows."""

RELAXED_INCUMBENT = 1e-7
"""Relative amount by which the incumbent's completion time is increased where it bounds a model, so
that the solver's tolerance does not cut the incumbent off: the solver's feasibility tolerance."""


class SingleLoadSearch:
    """One search for an optimum: the models it may solve, and its incumbent.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
    hint : Solution or None
        In the units of the original.
    seed : int
    formulation : {"sequence", "prefix", "order"}
    installments : int
        Chunks that a node may get.
    solver : str

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit.data import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, 1, 1), (0, 0), 512))
    >>> search = SingleLoadSearch(scaled, NO_LIMITS, None, 0, "sequence", 1, "HiGHS")
    >>> str(scaled.unscale_instant(search.minimise_completion().value))
    '2048/3'
    """

    def __init__(
        self,
        scaled: ScaledInstance,
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
        self.prefixes = PrefixSearch(self.instance, limits, solver, seed)
        self.plan = scaled.scale_solution(hint) if is_in_class(hint, installments) else None
        incumbent = best_single_node(self.instance) if self.plan is None else self.plan
        self.upper: Any = last_result(incumbent)
        self.bound_refuted = False
        self.proven = True
        self.fewest = 1  # nodes, as proven
        self.relaxed_bound: Number | None = None  # of the fluid relaxation
        self.running: tuple[PrefixMilp | SequencingMilp, Outcome] | None = None
        self.plan_class: PlanClass = "single" if installments == 1 else "k"

    def minimise_completion(self) -> Answer:
        """Return the schedule of minimum completion time."""
        best = self._known_optimum() if self.formulation != "sequence" else None
        best = best or self._minimum_completion(self.instance.cluster.nodes)
        self.proven = best.outcome.proven
        if self._is_late(best.completion):
            return self._infeasible_result("completion", best)
        plan, outcome = _require_plan(best), best.outcome
        bound = self._valid_bound(best)
        if not (best.outcome.proven or self.bound_refuted):
            bound = self._stronger_bound(bound, best.completion)
            if self.instance.exact and (bound is None or not is_closed(bound, best.completion)):
                optimum = self._best_of_all_sequences()
                if optimum is not None:
                    best, bound, self.proven = optimum, optimum.completion, True
                    plan, outcome = _require_plan(best), best.outcome
        return self._finished_result("completion", plan, best.completion, bound, outcome)

    def minimise_nodes(self) -> Answer:
        """Return the schedule of fewest nodes that meets the deadline, as early as it can end."""
        single = best_single_node(self.instance)
        if self.formulation != "sequence" and not self._is_late(last_result(single)):
            known = Outcome(Status.OPTIMAL, 1, 1, {}, True, self.solver, None)
            return replace(self._finished_result("nodes", single, 1, 1, known), solver=None)
        on_all_nodes = self._minimum_completion(self.instance.cluster.nodes)
        if self._is_late(on_all_nodes.completion):
            self.proven = on_all_nodes.outcome.proven
            return self._infeasible_result("nodes", on_all_nodes)
        plan, outcome = _require_plan(on_all_nodes), on_all_nodes.outcome
        low, high = 1, count_nodes(plan)
        while low < high:
            middle = (low + high) // 2
            result = self._minimum_completion(middle)
            if not self._is_late(result.completion):
                plan, outcome = _require_plan(result), result.outcome
                high = count_nodes(plan)
            elif self._is_provably_late(result.bound):
                low = middle + 1
                self.proven = self.proven and result.outcome.proven
                self.fewest = low
            else:
                return self._limit_result("nodes", plan, low)
        return self._finished_result("nodes", plan, count_nodes(plan), low, outcome)

    def result_at_limit(self, objective: str, reason: str) -> Answer:
        """Return what is known when a limit, or the given reason, ends the search."""
        best = self.prefixes.best
        if best is not None and best.plan is not None and best.completion <= self.upper:
            self.plan = best.plan
        elif reason and self.plan is None:
            self.plan = best_single_node(self.instance)
        answer = self._limit_result(objective, self.plan, None)
        return replace(answer, reason=reason or answer.reason)

    def snapshot(self, objective: str) -> Answer:
        """Return what is known now, for another thread in the middle of the search."""
        running, prefix = self.running, self.prefixes.best
        bound, reason = None, None
        plans = [self._best_incumbent(self.instance.cluster.nodes)]
        if prefix is not None and prefix.plan is not None:
            plans.append(prefix.plan)
        if running is not None:
            model, outcome = running
            chunks = model.chunks(outcome)
            plans += [plan_of_chunks(self.instance, chunks)] if chunks else []
            if objective == "completion" and outcome.bound is not None:
                bound = outcome.bound
                bound = lower_by_tolerance(bound, outcome) if self.instance.exact else bound
        plan = min(plans, key=last_result)
        if bound is None or (self.relaxed_bound is not None and self.relaxed_bound >= bound):
            reason = None if self.relaxed_bound is None else bound_reason(["fluid relaxation"])
            return replace(self._limit_result(objective, plan, None), reason=reason)
        reason = bound_reason([f"{outcome.solver} {UNCERTIFIED}"])
        return replace(self._limit_result(objective, plan, bound), reason=reason, proof="solver")

    def _known_optimum(self) -> CompletionResult | None:
        """Return a schedule that attains the fluid bound, or keep both for the search."""
        try:
            fluid, solver, seed = self._fluid_bound(), self.solver, self.seed
        except (TimeoutError, SolverError):
            return None
        if fluid.status is Status.OPTIMAL and fluid.proven is self.instance.exact:
            self.relaxed_bound = fluid.bound
        nodes = self.instance.cluster.nodes
        plans = [fill_nodes_in_ready_order(self.instance, nodes), self._best_incumbent(nodes)]
        plan = repeat_rounds(self.instance, plans, self.installments, self.budget, solver, seed)
        self.plan, end = plan, last_result(plan)
        return CompletionResult(plan, end, end, None, fluid) if end == self.relaxed_bound else None

    def _minimum_completion(self, max_nodes: int) -> CompletionResult:
        """Return the minimum completion on at most `max_nodes` nodes."""
        if self.formulation == "sequence":
            useful_length = self.prefixes.longest_useful_prefix()
            return self.prefixes.solve_prefix(min(max_nodes, useful_length))
        upper = self._relaxed_incumbent_end(max_nodes)
        model: PrefixMilp | SequencingMilp
        if self.formulation == "prefix":
            model = PrefixMilp(self.instance, max_nodes, upper).minimise_completion()
        else:
            model = SequencingMilp(self.instance, self.installments, max_nodes, upper)
            model.minimise_completion(self.budget.stop)

        def keep(known: Outcome) -> None:
            self.running = model, known

        sequence, outcome = model.solve(self.budget.left(), self.solver, self.seed, keep)
        self.running = None
        return self._resolve_sequence(sequence, outcome, max_nodes)

    def _resolve_sequence(
        self, sequence: list[int], outcome: Outcome, max_nodes: int
    ) -> CompletionResult:
        """Solve the loads of the sequence that a MILP chose again; keep the bound of the MILP."""
        plan, completion = None, None
        if sequence:
            model = FixedSequenceLp(self.instance, sequence).minimise_completion()
            unlimited = replace(self.limits, time_s=None, work=None)
            result = model.solve(unlimited, self.solver, self.seed, self.instance.exact)
            plan, completion = result.plan, result.completion
        incumbent = self._best_incumbent(max_nodes)
        incumbent_end = last_result(incumbent)
        if completion is None or incumbent_end < completion:
            plan, completion = incumbent, incumbent_end
        bound = outcome.bound
        if bound is not None and bound > completion:
            if exact(bound) - exact(completion) > 4 * exact(DEADLINE_TOLERANCE):  # not rounding
                return self._use_fluid_bound(plan or incumbent, completion)
            # The solver may be off by as much in the other direction for other schedules, which
            # counts for exact instances.
            error = exact(bound) - exact(completion) if self.instance.exact else 0
            bound = rounded_down(exact(completion) - error)  # a float: it proves nothing exactly
        return CompletionResult(plan, completion, bound, None, outcome)

    def _use_fluid_bound(self, plan: Solution, completion: Any) -> CompletionResult:
        """Return a schedule that refutes the solver's bound, with the fluid bound instead."""
        self.bound_refuted = True
        fluid = self._fluid_bound()
        bound = None if fluid.bound is None else min(fluid.bound, completion)
        return CompletionResult(plan, completion, bound, None, fluid)

    def _stronger_bound(self, bound: Any, completion: Any) -> Any:
        """Return a solver's bound, or that of the fluid relaxation if it is stronger."""
        relaxed = self.relaxed_bound
        if relaxed is None or (bound is not None and relaxed < bound):
            return bound
        if relaxed != completion and bound is not None and is_closed(bound, completion):
            return bound
        self.proven = self.instance.exact
        return min(relaxed, completion)

    def _best_of_all_sequences(self) -> CompletionResult | None:
        """Return the optimum of all sequences if there are few, with a rational proof, or None."""
        few = self.installments == 1 and self.instance.cluster.nodes <= MAX_NODES
        if not few or self.limits.gap:
            return None
        try:
            return minimise_over_sequences(self.instance, self.budget, self.solver, self.seed)
        except TimeoutError:  # pragma: no cover - the time is up
            return None

    def _fluid_bound(self) -> Outcome:
        limits = replace(self.budget.left(), work=None)
        return completion_lower_bound(self.instance, limits, self.solver, self.seed)

    def _relaxed_incumbent_end(self, max_nodes: int) -> Any:
        """Return a completion time that `max_nodes` nodes attain, increased by a tolerance."""
        end = exact(last_result(self._best_incumbent(max_nodes))) * (1 + exact(RELAXED_INCUMBENT))
        return end if self.instance.exact else float(end)

    def _best_incumbent(self, max_nodes: int) -> Solution:
        """Return the best schedule on at most `max_nodes` nodes that is known without a solver."""
        single = best_single_node(self.instance)
        plans = [single, fill_nodes_in_ready_order(self.instance, max_nodes)]
        if self.plan is not None and count_nodes(self.plan) <= max_nodes:
            plans.append(self.plan)
        return min(plans, key=last_result)

    def _is_late(self, completion: Any, roundings: float = 0.5) -> bool:
        """Tell whether a completion time misses the deadline; in floats, by more than rounding.

        `roundings` says how many times an instant of the original may be rounded to a float.
        """
        deadline = self.instance.absolute_deadline
        if deadline is None:
            return False
        if self.instance.exact and not isinstance(completion, float):
            return bool(completion > deadline)
        allowance = exact(DEADLINE_TOLERANCE)
        if not self.instance.exact:
            original = exact(self.scaled.original.absolute_deadline or 0)
            allowance += exact(roundings) * ROUNDING * original / self.scaled.time_unit
        return exact(completion) - exact(deadline) > allowance

    def _is_provably_late(self, bound: Any) -> bool:
        """Tell whether a bound proves that every schedule that the checker accepts is late."""
        return bound is not None and self._is_late(bound, roundings=4)

    def _finished_result(
        self, objective: str, plan: Solution, value: Any, bound: Any, outcome: Outcome
    ) -> Answer:
        closed = bound is not None and not self.bound_refuted and is_closed(bound, value)
        return Result(
            Status.OPTIMAL if closed else Status.FEASIBLE,
            solution=plan,
            objective=objective,
            value=value,
            bound=bound,
            reason=None if closed else self._gap_reason(),
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=outcome.solver,
            solver_version=outcome.version,
            proof=None if bound is None else self._proof_kind(),
        )

    def _gap_reason(self) -> str:
        """Return why the gap is not closed."""
        if self.bound_refuted:
            return (
                f"gap not closed: a schedule was found that refutes the dual bound of "
                f"{self.solver}; bound: fluid relaxation"
            )
        return "gap not closed"

    def _valid_bound(self, result: CompletionResult) -> Any:
        """Return a bound that holds for exact instances, too: a solver's within a tolerance."""
        if result.bound is None or not self.instance.exact:
            return result.bound
        return lower_by_tolerance(result.bound, result.outcome)

    def _proof_kind(self) -> Proof:
        """Return whether the bound is proven in rational arithmetic or claimed by the solver."""
        return "exact" if self.proven else "solver"

    def _limit_result(self, objective: str, plan: Solution | None, bound: Any) -> Answer:
        if plan is not None and self._is_late(last_result(plan)):
            plan = None
        value, status, proof = None, Status.LIMIT, self._proof_kind()
        if bound is None and objective == "completion" and self.relaxed_bound is not None:
            bound, proof = self.relaxed_bound, "exact" if self.instance.exact else "solver"
        if plan is not None:
            value, status = last_result(plan), Status.FEASIBLE
            if objective == "nodes":
                value, bound = count_nodes(plan), bound or self.fewest
                status = Status.OPTIMAL if value == bound else status
                proof = "exact" if bound == 1 else proof
        return Result(
            status,
            solution=plan,
            objective=objective,
            value=value,
            bound=bound,
            reason=None if status is Status.OPTIMAL else self._limit_reason(),
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=self.solver,
            proof=None if bound is None else proof,
        )

    def _undecided_result(self, objective: str, result: CompletionResult) -> Answer:
        """Report a deadline between bound and value: neither met nor proven to be missed."""
        bound = self._valid_bound(result) if objective == "completion" else None
        answer = self._limit_result(objective, None, bound)
        return answer if self._has_limits() else replace(answer, status=Status.UNKNOWN)

    def _limit_reason(self) -> str:
        """Return why a deadline is neither met nor proven to be missed."""
        if self._has_limits():
            return "a limit was reached before the optimum was proven"
        return (
            "undecided: the deadline differs from the minimum completion time by no more than the "
            "solver's tolerance or floating-point rounding"
        )

    def _has_limits(self) -> bool:
        return self.limits != replace(NO_LIMITS, threads=self.limits.threads)

    def _infeasible_result(self, objective: str, result: CompletionResult) -> Answer:
        """Report a deadline that even the minimum completion misses, if that is proven."""
        if not self._is_provably_late(result.bound):
            return self._undecided_result(objective, result)
        minimum = self.scaled.unscale_instant(result.completion)
        reason = f"the minimum completion time is {shown_instant(minimum)}"
        if self.instance.cluster.identical and self.installments == 1:
            done = self.prefixes.maximum_load(self.instance.absolute_deadline)
            done, total = self.scaled.unscale_load(done), self.scaled.original.load
            reason += f"; {shown(done)} of load {shown(total)} can be done by the deadline"
        return Result(
            Status.INFEASIBLE,
            reason=reason,
            plan_class=self.plan_class,
            installments=self.installments if self.installments > 1 else None,
            solver=result.outcome.solver,
            solver_version=result.outcome.version,
            proof=self._proof_kind(),
        )


def _require_plan(result: CompletionResult) -> Solution:
    """Return the schedule of a result: every search has one, if only the incumbent."""
    if result.plan is None:
        raise AssertionError
    return result.plan
