"""One run of a method on an instance: its hint, its time limit, its result, and what is known then.

An exact method starts from the best plan of the problem's heuristics. If it is interrupted before
it returns, that plan is the result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from dlopt import registry
from dlopt.backends.time_budget import MIN_TIME_S
from dlopt.backends.versions import version_of
from dlopt.errors import DloptError, NotApplicableError, SolverError
from dlopt.incumbents import Offer, wanted
from dlopt.interruption import within
from dlopt.query import Query
from dlopt.result import Limits, Result, Status
from dlopt.result_checker import checked_result, malformed_reason, values_of

HINT_TIME_SHARE = 1 / 40
"""Share of the time limit for a heuristic that improves plans until its time is up; chosen by hand:
more would leave less for the exact method."""
GRACE_S = 0.5
"""Seconds by which a method may exceed its limit; chosen by hand: solvers look at the clock at
intervals."""
GRACE_SHARE = 0.05
"""Share of the time limit by which a method may exceed it, if that is more than `GRACE_S`."""


@dataclass(slots=True)
class Attempt:
    """A method that is to solve an instance within limits.

    Parameters
    ----------
    query : Query
        The instance, the method and the objective.
    limits : Limits
    hint : Solution, optional
        A caller's own, which is checked.
    seed : int
    options : dict
    """

    query: Query
    limits: Limits
    hint: Any = None
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    _best: Result[Any] | None = None

    def result(self) -> Result[Any]:
        """Return the method's answer, or what is known without it if that overruns the limit.

        Raises
        ------
        NotApplicableError
            If the method does not fit the instance, or the hint is no valid plan.
        InvalidResultError
            If a method that claims to be sound gives a result that fails verification.
        SolverError
            If a solver is missing or fails, or if a method fails or gives what is no result.
        """
        given = self.limits.time_s
        method = self.query.method
        with method.guard():
            method.load()  # what it imports is not its work
        if given is None:
            return self._answer()
        place = Offer(self.query.instance, self.query.goal.name, method.name)
        try:
            with wanted(place):
                return within(given + max(GRACE_S, GRACE_SHARE * given), self._answer)
        except TimeoutError:
            return self._offered(place) or self._known()

    def _answer(self) -> Result[Any]:
        query, limits, hint = self.query, self.limits, self.hint
        method, goal = query.method, query.goal
        reason = method.reason_against(query.instance, goal.name)
        if reason is not None:
            raise NotApplicableError(f"{method.name} does not apply to this instance: {reason}")
        if method.kind == "exact":
            begun = time.perf_counter()
            hint = self._hint() if hint is None else self._valid()
            limits = _left(limits, begun)
        begun = time.perf_counter()
        with method.guard():
            answer = method.load()(
                query.instance,
                objective=goal.name,
                limits=limits,
                hint=hint,
                seed=self.seed,
                **self.options,
            )
        runtime = time.perf_counter() - begun
        wrong = malformed_reason(query, answer)
        if wrong is not None:
            raise SolverError(f"{method.name} failed: {wrong}")
        return self._checked(replace(answer, runtime_s=runtime))

    def _checked(self, answer: Result[Any]) -> Result[Any]:
        query = self.query
        answer = replace(
            answer, objective=query.goal.name, method=query.method.name, seed=self.seed
        )
        if answer.solver is not None and answer.solver_version is None:
            answer = replace(answer, solver_version=version_of(answer.solver))
        return checked_result(query, answer)

    def _offered(self, place: Offer) -> Result[Any] | None:
        """Return what the method knew when it was given up, if it can be checked."""
        if place.answer is None:
            return None
        try:
            found = self._checked(place.answer())
        except Exception:  # it was broken off anywhere, and may know nothing yet
            return None
        reason = f"{self._given_up}; {found.reason}" if found.reason else self._given_up
        return (
            None
            if found.solution is None and found.bound is None
            else replace(found, reason=reason)
        )

    @property
    def _given_up(self) -> str:
        return f"given up: {self.query.method.name} overran its limit of {self.limits.time_s:g} s"

    def _known(self) -> Result[Any]:
        """Return the answer that can be given without the method: its hint, which was checked."""
        reason, method, best = self._given_up, self.query.method, self._best
        answer: Result[Any] = Result(
            Status.LIMIT if best is None else Status.FEASIBLE,
            objective=self.query.goal.name,
            method=method.name,
            seed=self.seed,
            plan_class=method.plan_class,
            reason=reason,
        )
        if best is None:
            return answer
        of = f"; the plan is that of {best.method}" if best.method else ""
        return replace(
            answer,
            solution=best.solution,
            value=best.value,
            plan_class=best.plan_class,
            tolerance=best.tolerance,
            origin=best.origin,
            reason=reason + of,
        )

    def _hint(self) -> Any:
        """Return the first proven, or else the best, plan of the problem's heuristics, or None."""
        begun, query = time.perf_counter(), self.query
        for name in query.problem.hints:
            left = _left(self.limits, begun)
            entry = registry.method(query.problem.stem, name)
            if left.time_s == MIN_TIME_S:
                continue
            brief = replace(
                left, time_s=None if left.time_s is None else left.time_s * HINT_TIME_SHARE
            )
            attempt = Attempt(replace(query, method=entry), brief)
            try:
                found = attempt._answer()
            except DloptError:
                continue  # a hint is only a help
            if found.solution is None:
                continue
            best = self._best
            if best is None or query.goal.better(_value(found), _value(best)):
                self._best = found
            if found.status is Status.OPTIMAL:
                return found.solution
        return None if self._best is None else self._best.solution

    def _valid(self) -> Any:
        """Return a caller's hint; a model that trusts an invalid one could prove nonsense."""
        query, hint = self.query, self.hint
        if not isinstance(hint, query.module.Solution):
            raise NotApplicableError(f"a hint is a Solution, not a {type(hint).__name__}")
        found = query.module.violations(query.instance, hint, query.tolerance)
        if found:
            raise NotApplicableError(f"the hint is no valid plan: {found[0]}")
        value = values_of(query.instance, hint).get(query.goal.name)
        self._best = Result(
            Status.FEASIBLE,
            hint,
            query.goal.name,
            value,
            plan_class="any",  # nothing is known of how it was made
            tolerance=query.tolerance,
            origin=query.origin_of(query.goal.name),
        )
        return hint


def _value(found: Result[Any]) -> Any:
    assert found.value is not None
    return found.value


def _left(limits: Limits, begun: float) -> Limits:
    """Return the limits with what is left of the time, or hardly any if it is spent."""
    if limits.time_s is None:
        return limits
    left = limits.time_s - (time.perf_counter() - begun)
    return replace(limits, time_s=max(left, MIN_TIME_S))
