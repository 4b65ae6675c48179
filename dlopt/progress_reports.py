"""Reports of progress: what a method can answer so far, checked, while it still searches.

While a method runs, another thread looks at what it offers (`dlopt.incumbents`), checks it, and
reports each improvement of the value or the bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from dlopt.errors import NotApplicableError
from dlopt.plan_classes import within_class
from dlopt.result import Objective, Result, Status, Value

PAUSE_S: Final = 0.2
"""Least seconds between two looks at what a method offers; chosen by hand."""
PAUSE_FACTOR: Final = 10
"""How many times as long as a look takes the pause after it is at least: looks at large instances,
whose checks take seconds, slow the search down by a tenth."""


def require_callbacks(progress: object, stop: object) -> None:
    """Refuse what cannot be called with reports of progress, or cannot end a search.

    Raises
    ------
    NotApplicableError
        If `progress` is given and no callable, or `stop` is given and no `threading.Event`.
    """
    if progress is not None and not callable(progress):
        raise NotApplicableError(f"progress is a callable, not a {type(progress).__name__}")
    if stop is not None and not isinstance(stop, threading.Event):
        raise NotApplicableError(f"stop is a threading.Event, not a {type(stop).__name__}")


class ProgressReports:
    """The best checked result of a running method, and the reports of its improvements.

    Parameters
    ----------
    goal : Objective
    offered : callable
        Returns what can be answered now, unchecked results. May fail.
    check : callable
        Returns the checked result, or raises.
    report : callable, optional
        Called with each checked result that improves the value or the bound.

    Attributes
    ----------
    best : Result or None
        Its value and its bound never become worse.
    failure : BaseException or None
        What the callable `report` raised; after that, nothing is reported.

    Examples
    --------
    >>> goal, reported = Objective("load", "max"), []
    >>> offers = [Result(Status.FEASIBLE, "a", value=2)], [Result(Status.LIMIT, bound=7)]
    >>> offered, checked = iter(offers), lambda found: found
    >>> reports = ProgressReports(goal, lambda: next(offered), checked, reported.append)
    >>> reports.look()
    >>> reports.look()
    >>> [(str(result.status), result.value, result.bound) for result in reported]
    [('feasible', 2, None), ('feasible', 2, 7)]
    """

    def __init__(
        self,
        goal: Objective,
        offered: Callable[[], Iterable[Result[Any]]],
        check: Callable[[Result[Any]], Result[Any]],
        report: Callable[[Result[Any]], object] | None = None,
    ) -> None:
        self.goal, self.offered, self.check, self.report = goal, offered, check, report
        self.best: Result[Any] | None = None
        self._improved_s = 0.0
        self.failure: BaseException | None = None
        self._reported: Result[Any] | None = None
        self._begun = time.perf_counter()
        self._looks_again = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begun

    @property
    def unimproved_s(self) -> float:
        """Seconds since the best schedule was found, or since the beginning if there is none."""
        return self.seconds - self._improved_s

    def start(self) -> None:
        """Look at what is offered from time to time, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="dlopt-progress", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Check what is offered, and report it if it is an improvement."""
        improved = None
        with suppress(Exception):  # the method is at any point of its search
            for found in self.offered():
                with suppress(Exception):  # it may contradict itself there
                    better = improvement(self.goal, self.best, found)
                    if better is not None:
                        improved = self._timed(self.check(better))
                        if self.best is None or self.best.value != improved.value:
                            self._improved_s = self.seconds
                        self.best = improved
        if improved is not None and not self._ended.is_set():
            self._report(improved)

    def best_at_end(self, wait_s: float | None = None) -> Result[Any] | None:
        """Return the best result after a last look, for which it waits no longer than so long."""
        self._looks_again = True
        self.end()
        if self._thread is None:
            self.look()
        else:
            self._thread.join(wait_s)
        return self.best

    def finish(self, answer: Result[Any]) -> None:
        """Report the answer of the method, unless what was reported is as good."""
        self.end()
        if self._thread is not None:
            self._thread.join()
        if improvement(self.goal, self._reported, answer) is answer:
            self._report(self._timed(answer))

    def end(self) -> None:
        """Report nothing from now on."""
        self._ended.set()

    def _timed(self, result: Result[Any]) -> Result[Any]:
        return replace(result, runtime_s=self.seconds)

    def _report(self, result: Result[Any]) -> None:
        if self.report is None or self.failure is not None:
            return
        self._reported = result
        try:
            self.report(result)
        except BaseException as error:  # the caller of the method is to have it
            self.failure = error

    def _run(self) -> None:
        pause = PAUSE_S
        while not self._ended.wait(pause) and self.failure is None:
            begun = time.thread_time()
            self.look()
            pause = max(PAUSE_S, PAUSE_FACTOR * (time.thread_time() - begun))
        if self._looks_again:
            self.look()


def improvement(
    goal: Objective, best: Result[Any] | None, found: Result[Any]
) -> Result[Any] | None:
    """Return the better plan of two results with the tighter bound; None if that is the first.

    Plan and bound of different results are put together only if the plan is in the class of plans
    for which the bound holds.

    Examples
    --------
    >>> goal = Objective("time", "min")
    >>> first = Result(Status.FEASIBLE, "a", value=9, bound=4, plan_class="any")
    >>> second = Result(Status.FEASIBLE, "b", value=8, bound=3, plan_class="any")
    >>> joined = improvement(goal, first, second)
    >>> joined.solution, joined.value, joined.bound
    ('b', 8, 4)
    >>> improvement(goal, joined, first)
    """
    if found.solution is None and found.bound is None:
        return None
    if best is None:
        return found

    def better(value: Value | None, other: Value | None) -> bool:
        return value is not None and (other is None or goal.better(value, other))

    def tighter(bound: Value | None, other: Value | None) -> bool:
        return bound is not None and (other is None or goal.better(other, bound))

    if not (better(found.value, best.value) or tighter(found.bound, best.bound)):
        return None
    is_plan_worse = better(best.value, found.value)
    if not (is_plan_worse or tighter(best.bound, found.bound)):
        return found
    planned, bounded = (best, found) if is_plan_worse else (found, best)
    same = (planned.plan_class, planned.installments) == (bounded.plan_class, bounded.installments)
    if not (same or within_class(planned.plan_class, bounded.plan_class)):
        return None
    return replace(
        bounded,
        status=Status.FEASIBLE,
        solution=planned.solution,
        value=planned.value,
        reason=found.reason,
    )
