"""The exact methods for one divisible load, as a caller names them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from dlopt.arithmetic import SOLVER, exact, shown
from dlopt.backends.pulp import DEFAULT, Outcome
from dlopt.errors import NotApplicableError
from dlopt.models.iit import fluid
from dlopt.models.iit.order import OrderModel
from dlopt.models.iit.prefix import Prefixes, PrefixModel
from dlopt.models.iit.sequence import SequenceModel, Timed
from dlopt.problems.iit import Instance, Solution
from dlopt.problems.timeline import earliest_plan, last_result
from dlopt.result import NO_LIMITS, Limits, PlanClass, Result, Status

Answer = Result[Solution]


def exact_plan(
    instance: Instance,
    *,
    objective: str = "completion",
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    formulation: str = "auto",
    installments: int = 1,
    solver: str = DEFAULT,
) -> Answer:
    """Find the least completion time, or the fewest nodes by the deadline, and prove it.

    Parameters
    ----------
    instance : Instance
    objective : {"completion", "nodes"}
    limits : Limits, optional
    hint : Solution, optional
        A plan; it clamps the models, and is the answer if nothing better is found in time.
    seed : int
    formulation : {"auto", "sequence", "prefix", "order"}
        ``sequence``: linear programs over prefixes in ready order (identical nodes, one chunk
        each). ``prefix``: the same choice as one MILP. ``order``: MILP in free order, for nodes
        that differ and for installments. ``auto``: the first that applies of sequence and order.
    installments : int
        Chunks that a node may get. Only ``order`` takes more than one.
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    Result
        ``OPTIMAL`` with value and bound; in exact numbers ``sequence`` proves both by a rational
        dual solution, the MILPs leave the bound of the solver beside an exact value. ``FEASIBLE``
        or ``LIMIT`` at a limit. ``INFEASIBLE`` with the load that can be done by the deadline.

    Raises
    ------
    NotApplicableError
        If the formulation does not fit the instance.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Plan class ``single`` (``k`` with installments). Complexity: O(log N) linear programs; the
    MILPs are exponential in the worst case (free order is proven up to about 12 nodes).

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> result = exact_plan(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> str(result.status), result.value, result.bound
    ('optimal', Fraction(39, 8), Fraction(39, 8))
    """
    chosen = _formulation(instance, formulation, installments)
    search = _Search(instance, limits, hint, seed, chosen, installments, solver)
    try:
        return search.fewest_nodes() if objective == "nodes" else search.completion()
    except TimeoutError:
        return search.stopped(objective)


def bound_fluid(
    instance: Instance,
    *,
    objective: str = "completion",
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Answer:
    """Bound the completion time of every plan, with any number of chunks, by a fluid program.

    Parameters
    ----------
    instance : Instance
    objective : {"completion"}
    limits, seed, solver
        As in `exact_plan`.
    hint
        Not used.

    Returns
    -------
    Result
        ``BOUND``, exact in exact numbers; ``LIMIT`` if the time is up.

    Notes
    -----
    Plan class ``any``: set-up costs are left out and chunks may be infinitesimal. Complexity:
    O(log g) linear programs of O(g^2) variables, g <= 24 groups of ready times.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> bound_fluid(Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)).bound
    Fraction(3, 1)
    """
    outcome = fluid.least_completion(instance, limits, solver, seed)
    done = outcome.status is Status.OPTIMAL
    return Result(
        Status.BOUND if done else Status.LIMIT,
        objective=objective,
        bound=outcome.bound if done else None,
        reason=None if done else "the limit was reached before the program was solved",
        method="bound-fluid",
        plan_class="any",
        solver=outcome.solver,
        solver_version=outcome.version,
        tolerance=0 if outcome.proven else SOLVER,
    )


class _Search:
    """One search for an optimum: the models it may ask, and what it has found so far."""

    def __init__(
        self,
        instance: Instance,
        limits: Limits,
        hint: Solution | None,
        seed: int,
        formulation: str,
        installments: int,
        solver: str,
    ) -> None:
        self.instance, self.limits, self.seed, self.solver = instance, limits, seed, solver
        self.formulation, self.installments = formulation, installments
        self.stop = None if limits.time_s is None else time.monotonic() + limits.time_s
        self.prefixes = Prefixes(instance, limits, solver, seed)
        self.plan: Solution | None = hint
        self.upper: Any = last_result(hint) if hint is not None else self._alone()
        self.outcome: Outcome | None = None
        self.plan_class: PlanClass = "single" if installments == 1 else "k"

    def completion(self) -> Answer:
        """Return the plan of least completion."""
        timed = self._least(self.instance.cluster.nodes)
        if timed.plan is None:
            return self._limited("completion", None, timed.bound)
        if self._late(timed.completion):
            return self._infeasible(timed)
        return self._answer("completion", timed.plan, timed.completion, timed.bound, timed.outcome)

    def fewest_nodes(self) -> Answer:
        """Return the plan of fewest nodes that meets the deadline; it ends as early as it can."""
        everyone = self._least(self.instance.cluster.nodes)
        if everyone.plan is None:
            return self._limited("nodes", None, None)
        if self._late(everyone.completion):
            return self._infeasible(everyone)
        low, high, plan, outcome = 1, _nodes(everyone.plan), everyone.plan, everyone.outcome
        while low < high:
            middle = (low + high) // 2
            timed = self._least(middle)
            if timed.plan is not None and not self._late(timed.completion):
                high, plan, outcome = _nodes(timed.plan), timed.plan, timed.outcome
            elif timed.bound is not None and self._late(timed.bound):
                low = middle + 1
            else:
                return self._limited("nodes", plan, low)
        return self._answer("nodes", plan, _nodes(plan), low, outcome)

    def stopped(self, objective: str) -> Answer:
        """Return what is known when a limit ends the search."""
        best = self.prefixes.best
        if best is not None and best.plan is not None and best.completion <= self.upper:
            self.plan = best.plan
        return self._limited(objective, self.plan, None)

    def _least(self, most: int) -> Timed:
        """Return the least completion on `most` nodes at the most."""
        if self.formulation == "sequence":
            useful = self.prefixes.longest_useful()
            return self.prefixes.at(min(most, useful))
        if self.formulation == "prefix":
            chosen = PrefixModel(self.instance, most, self._slack(most)).minimise_completion()
            chunks, outcome = chosen.solve(self._remaining(), self.solver, self.seed)
        else:
            model = OrderModel(self.instance, self.installments, most, self._slack(most))
            chunks, outcome = model.minimise_completion().solve(
                self._remaining(), self.solver, self.seed
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
        known = self.plan
        if known is not None and _nodes(known) <= most:
            end = last_result(known)
            if completion is None or end < completion:
                plan, completion = known, end
        bound = outcome.bound
        if bound is not None and completion is not None and bound > completion:
            bound = completion  # by less than the solver's tolerance, or `check` will tell
        return Timed(plan, completion, bound, None, outcome)

    def _slack(self, most: int) -> Any:
        """Return a completion time that `most` nodes attain, a little relaxed for the solver."""
        fits = self.plan is not None and _nodes(self.plan) <= most
        upper = exact(self.upper if fits else self._alone())
        relaxed = upper * (1 + exact(1e-7))
        return relaxed if self.instance.exact else float(relaxed)

    def _alone(self) -> Any:
        """Return when the best node is done with all of the load."""
        load = self.instance.load
        plans = (earliest_plan(self.instance, [i], [load]) for i in self._alike())
        return min(last_result(plan) for plan in plans)

    def _alike(self) -> list[int]:
        """Return the nodes, of identical ones only the first that is ready."""
        cluster = self.instance.cluster
        if cluster.identical:
            return [min(range(cluster.nodes), key=self.instance.ready_times.__getitem__)]
        return list(range(cluster.nodes))

    def _remaining(self) -> Limits:
        if self.stop is None:
            return self.limits
        left = self.stop - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return replace(self.limits, time_s=left)

    def _late(self, completion: Any) -> bool:
        deadline = self.instance.absolute_deadline
        if deadline is None:
            return False
        if self.instance.exact and not isinstance(completion, float):
            return bool(completion > deadline)
        return bool(completion > deadline * (1 + SOLVER))

    def _answer(
        self, objective: str, plan: Solution, value: Any, bound: Any, outcome: Outcome
    ) -> Answer:
        close = bound is not None and abs(exact(value) - exact(bound)) <= exact(SOLVER) * exact(
            value
        )
        done = outcome.status is Status.OPTIMAL and close
        return Result(
            Status.OPTIMAL if done else Status.FEASIBLE,
            solution=plan,
            objective=objective,
            value=value,
            bound=bound,
            reason=None if done else "stopped with a gap between value and bound",
            method="exact",
            plan_class=self.plan_class,
            solver=outcome.solver,
            solver_version=outcome.version,
            tolerance=0 if self.instance.exact else SOLVER,
        )

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
            reason="a limit was reached before the optimum was proven",
            method="exact",
            plan_class=self.plan_class,
            solver=self.solver,
            tolerance=0 if self.instance.exact else SOLVER,
        )

    def _infeasible(self, timed: Timed) -> Answer:
        """Report a deadline that even the least completion misses, if that is proven."""
        if timed.bound is None or not self._late(timed.bound):
            return self._limited("completion", None, timed.bound)
        reason = f"the least completion is {shown(timed.completion)}"
        if self.instance.cluster.identical and self.installments == 1:
            done = self.prefixes.most_load(self.instance.absolute_deadline)
            reason += f"; {shown(done)} of load {shown(self.instance.load)} can be done by then"
        return Result(
            Status.INFEASIBLE,
            reason=reason,
            method="exact",
            plan_class=self.plan_class,
            solver=timed.outcome.solver,
            solver_version=timed.outcome.version,
        )


def _formulation(instance: Instance, formulation: str, installments: int) -> str:
    identical = instance.cluster.identical
    if formulation == "auto":
        return "sequence" if identical and installments == 1 else "order"
    if formulation != "order" and not identical:
        raise NotApplicableError(f"formulation {formulation} needs identical nodes")
    if formulation != "order" and installments > 1:
        raise NotApplicableError(f"formulation {formulation} has one installment a node")
    return formulation


def _nodes(plan: Solution) -> int:
    return len({chunk.node for chunk in plan.chunks})
