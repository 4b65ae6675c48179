"""Stopping criteria of searches that go on: a value that is good enough, too long without a better.

They are looked at from outside, whatever the method; methods themselves observe the limits of time,
work and gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dlopt.errors import NotApplicableError
from dlopt.result import Limits, Objective, Result, Status, StoppedBy, levels_of

TIME_SHARE: Final = 0.95
"""Share of its time limit after which a method that has proven nothing was ended by it: methods
keep some of their time for the check of their answers. Chosen by hand."""
_DONE = frozenset({Status.OPTIMAL, Status.INFEASIBLE, Status.UNSOUND})


@dataclass(frozen=True, slots=True)
class StoppingCriteria:
    """What ends a search before it is done.

    Parameters
    ----------
    goal : Objective
    limits : Limits

    Raises
    ------
    NotApplicableError
        If the target has not the levels of the objective.

    Examples
    --------
    >>> criteria = StoppingCriteria(Objective("load", "max"), Limits(target_value=7))
    >>> found = [Result(Status.FEASIBLE, "plan", value=value) for value in (6, 7)]
    >>> [criteria.reached(best, unimproved_s=0) for best in found]
    [None, 'target-value']
    """

    goal: Objective
    limits: Limits

    def __post_init__(self) -> None:
        target, levels = self.limits.target_value, self.goal.levels
        if target is None:
            return
        if (len(target) if isinstance(target, tuple) else 0) != len(levels):
            what = f"a tuple of {', '.join(levels)}" if levels else "a number"
            text = f"limits: target_value (--target-value) must be {what} for {self.goal.name}"
            raise NotApplicableError(f"{text}, got {target!r}")

    @property
    def are_watched(self) -> bool:
        """Whether a search must be looked at while it goes on."""
        return self.limits.target_value is not None or self.limits.no_improvement_s is not None

    def reached(self, best: Result[object] | None, unimproved_s: float) -> StoppedBy | None:
        """Return the criterion that the best result so far fulfils, or None.

        Parameters
        ----------
        best : Result, optional
        unimproved_s : float
            Seconds since its schedule was found.
        """
        if best is None or best.value is None:
            return None
        target, longest = self.limits.target_value, self.limits.no_improvement_s
        if target is not None and not self.goal.better(target, best.value):
            return "target-value"
        return "no-improvement" if longest is not None and unimproved_s >= longest else None

    def limit_of(self, answer: Result[object], kind: str, seconds: float) -> StoppedBy | None:
        """Return the limit that a method itself has observed, judged by its answer; or None.

        Parameters
        ----------
        answer : Result
        kind : {"heuristic", "exact", "bound"}
            Of the method.
        seconds : float
            That it took, with its hint.

        Examples
        --------
        >>> criteria = StoppingCriteria(Objective("load", "max"), Limits(time_s=2, gap=0.5))
        >>> close = Result(Status.FEASIBLE, "plan", value=6, bound=7)
        >>> far = Result(Status.FEASIBLE, "plan", value=1, bound=7)
        >>> criteria.limit_of(close, "exact", 0.1), criteria.limit_of(far, "exact", 2.1)
        ('gap', 'time')
        """
        limits = self.limits
        if answer.status in _DONE:
            return None
        gaps = () if answer.gap is None else levels_of(answer.gap)
        if kind == "exact" and gaps and max(gaps) <= limits.gap:
            return "gap"
        if limits.time_s is not None and seconds >= TIME_SHARE * limits.time_s:
            return "time"
        return "work" if kind == "exact" and limits.work is not None else None
