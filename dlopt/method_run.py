"""One run of a method on an instance: its hint, its time limit, its result, and what is known then.

An exact method starts from the best plan of the problem's heuristics. If it is interrupted before
it returns, the best plan and bound that it offers are the result, or else the plan that it began
with.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from dlopt import registry
from dlopt.arithmetic import exact, shown
from dlopt.backends.time_budget import MIN_TIME_S
from dlopt.backends.versions import version_of
from dlopt.certificate_files import with_writable_certificate
from dlopt.errors import DloptError, InvalidInstanceError, NotApplicableError, SolverError
from dlopt.incumbents import Offer, wanted
from dlopt.interruption import within
from dlopt.problems.validated_record import numbers_of
from dlopt.progress_reports import ProgressReports
from dlopt.query import Query
from dlopt.result import Limits, Result, Status, StoppedBy, Value
from dlopt.result_checker import checked_result, malformed_reason, values_of
from dlopt.stopping_criteria import StoppingCriteria

HINT_TIME_SHARE = 1 / 40
"""Share of the time limit for a heuristic that improves plans until its time is up; chosen by hand:
more would leave less for the exact method."""
GRACE_S = 0.5
"""Seconds by which a method may exceed its limit; chosen by hand: solvers look at the clock at
intervals."""
LAST_LOOK_S = 0.3
"""Seconds after a stop in which what the method knows is checked once more; else the result is what
was checked last. Chosen by hand, so that a stop is answered within half a second."""
GRACE_SHARE = 0.05
"""Share of the time limit by which a method may exceed it, if that is more than `GRACE_S`."""

WIDE = 10**50
"""Size from which on the product of two numbers may exceed what the fields of a plan hold, 1e100;
what is smaller than its inverse may be rounded to 0 in products."""


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
    progress : callable, optional
        Called with each checked result that improves the value or the bound.
    stop : threading.Event, optional
        Ends the method once it is set.
    """

    query: Query
    limits: Limits
    hint: Any = None
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    progress: Callable[[Result[Any]], object] | None = None
    stop: threading.Event | None = None
    _best: Result[Any] | None = None

    def result(self) -> Result[Any]:
        """Return the method's answer, or what is known without it if the search is ended before.

        Raises
        ------
        NotApplicableError
            If the method does not fit the instance, or the hint is no valid plan.
        InvalidResultError
            If a method that claims to be sound gives a result that fails verification.
        SolverError
            If a solver is missing or fails, or if a method fails or gives what is no result.
        """
        method = self.query.method
        criteria = StoppingCriteria(self.query.goal, self.limits)
        with method.guard():
            method.load()  # what it imports is not its work
        begun = time.perf_counter()
        try:
            answer = self._answer_within(criteria)
        except (InvalidInstanceError, SolverError) as error:
            self._refuse_extreme_numbers(error)
            raise
        if answer.stopped_by is not None:
            return answer
        limit = criteria.limit_of(answer, method.kind, time.perf_counter() - begun)
        return replace(answer, stopped_by=limit)

    def _refuse_extreme_numbers(self, error: DloptError) -> None:
        """Raise the cause of an error: numbers of which products leave the range of numbers."""
        sizes = [abs(exact(number)) for number in numbers_of(self.query.instance) if number]
        ends = sorted(sizes)[:: max(len(sizes) - 1, 1)]
        extreme = [size for size in ends if not 1 < size * WIDE < WIDE**2]
        if extreme:
            raise NotApplicableError(
                f"{self.query.method.name} cannot compute with numbers as small or large as "
                f"{' and '.join(shown(size, 3) for size in extreme)}: state times and amounts in "
                "other units"
            ) from error

    def _answer_within(self, criteria: StoppingCriteria) -> Result[Any]:
        """Return the answer; `stopped_by` is set if the method was given up with nothing proven."""
        method = self.query.method
        is_watched = self.progress is not None or self.stop is not None or criteria.are_watched
        if self.limits.time_s is None and not is_watched:
            return self._answer()
        if self._is_stopped:
            self._require_applicable()
            if self.hint is not None and method.kind == "exact":
                self._valid()
            return self._given_up(self._hint_result(), "request")
        place = Offer(self.query.instance, self.query.goal.name, method.name)
        reports = ProgressReports(
            self.query.goal, lambda: self._offered(place), self._checked_once, self.progress
        )
        reached: StoppedBy | None = None

        def is_stopped() -> bool:
            nonlocal reached
            reached = "request" if self._is_stopped else None
            reached = reached or criteria.reached(reports.best, reports.unimproved_s)
            return reached is not None or reports.failure is not None

        if is_watched:
            reports.start()
        try:
            with wanted(place):
                watch = is_stopped if is_watched else None
                answer = within(self._patience_s, self._answer, watch)
        except TimeoutError:
            if reports.failure is not None:
                raise reports.failure from None
            best = reports.best_at_end(None if reached is None else LAST_LOOK_S)
            answer = self._given_up(best, reached or "time")
            answer = replace(answer, runtime_s=reports.seconds)
        finally:
            reports.end()
        if not self._is_stopped:
            reports.finish(answer)
            if reports.failure is not None:
                raise reports.failure
        return answer

    @property
    def _patience_s(self) -> float:
        given = self.limits.time_s
        return inf if given is None else given + max(GRACE_S, GRACE_SHARE * given)

    @property
    def _is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def _require_applicable(self) -> None:
        query = self.query
        reason = query.method.reason_against(query.instance, query.goal.name)
        if reason is not None:
            raise NotApplicableError(
                f"{query.method.name} does not apply to this instance: {reason}"
            )

    def _answer(self) -> Result[Any]:
        query, limits, hint = self.query, self.limits, self.hint
        method, goal = query.method, query.goal
        self._require_applicable()
        begun = time.perf_counter()
        if method.kind == "exact":
            hint = self._hint() if hint is None else self._valid()
            limits = _left(limits, begun)
        answer = method.run(
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
        return checked_result(query, with_writable_certificate(answer))

    def _checked_once(self, answer: Result[Any]) -> Result[Any]:
        """Return a checked result; the plan of the hint alone was checked before."""
        is_hint = self._best is not None and answer.solution is self._best.solution
        return answer if is_hint and answer.bound is None else self._checked(answer)

    def _offered(self, place: Offer) -> Iterator[Result[Any]]:
        """Yield what is known without the answer of the method: its hint, and what it offers."""
        hint = self._hint_result()
        if hint is not None:
            yield hint
        if place.answer is not None:
            yield place.answer()

    def _given_up(self, best: Result[Any] | None, stopped_by: StoppedBy) -> Result[Any]:
        """Return the best checked result as the answer of a method that was given up."""
        if best is not None and best.status is Status.OPTIMAL:
            return replace(best, stopped_by=None)  # it was proven before
        method, limits = self.query.method, self.limits
        reason = "stopped"
        if stopped_by == "time":
            limit = f"its limit of {limits.time_s:g} s"
            reason = f"given up: {method.name} overran {limit}"
        elif stopped_by == "target-value":
            reason = "stopped: its value is as good as the target"
        elif stopped_by == "no-improvement":
            reason = f"stopped: no better schedule within {limits.no_improvement_s:g} s"
        if best is None:
            best = Result(
                Status.LIMIT,
                objective=self.query.goal.name,
                method=method.name,
                seed=self.seed,
                plan_class=method.plan_class,
            )
        reason = f"{reason}; {best.reason}" if best.reason else reason
        return replace(best, reason=reason, stopped_by=stopped_by)

    def _hint_result(self) -> Result[Any] | None:
        """Return the plan of the hint, which was checked, as a result of the method."""
        best = self._best
        if best is None:
            return None
        return replace(
            best,
            status=Status.FEASIBLE,
            bound=None,
            proof=None,
            certificate=None,
            reason=f"the plan is that of {best.method}" if best.method else None,
            method=self.query.method.name,
            seed=self.seed,
            runtime_s=None,
            solver=None,
            solver_version=None,
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
            kind = f"{type(hint).__module__}.{type(hint).__qualname__}".removeprefix("builtins.")
            text = f"a hint is a Solution of {query.instance.problem}, not a {kind}"
            raise NotApplicableError(text)
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


def _value(found: Result[Any]) -> Value:
    assert found.value is not None
    return found.value


def _left(limits: Limits, begun: float) -> Limits:
    """Return the limits with what is left of the time, or hardly any if it is spent."""
    if limits.time_s is None:
        return limits
    left = limits.time_s - (time.perf_counter() - begun)
    return replace(limits, time_s=max(left, MIN_TIME_S))
