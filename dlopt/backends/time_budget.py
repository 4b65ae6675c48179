"""Time and work limits that several solver calls of one method share."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from dlopt.result import Limits

MIN_TIME_S = 1e-6
"""Seconds for a step that begins when the time is up: it answers with what needs no search."""


class Budget:
    """Limits whose clock starts when the budget is created.

    Parameters
    ----------
    limits : Limits

    Attributes
    ----------
    stop : float
        Instant of the monotonic clock at which the time is up; infinite without a time limit.

    Examples
    --------
    >>> Budget(Limits(work=7)).left().work
    7
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stop = inf if limits.time_s is None else time.monotonic() + limits.time_s

    def left(self, share: float = 1) -> Limits:
        """Return the limits with a share of the remaining time.

        Raises
        ------
        TimeoutError
            If no time remains.
        """
        if self.stop == inf:
            return self.limits
        left = self.stop - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return replace(self.limits, time_s=left * share)

    def left_or_minimum(self, share: float = 1) -> Limits:
        """Return the limits with a share of the remaining time; if none remains, `MIN_TIME_S`.

        For steps that must give an answer all the same, such as one component of an instance.

        Examples
        --------
        >>> Budget(Limits(time_s=1e-9)).left_or_minimum().time_s
        1e-06
        """
        try:
            return self.left(share)
        except TimeoutError:
            return replace(self.limits, time_s=MIN_TIME_S)

    @property
    def is_spent(self) -> bool:
        """Whether at least nine tenths of the time are over: a solver may end a little early.

        Examples
        --------
        >>> Budget(Limits(time_s=1e-9)).is_spent, Budget(Limits(time_s=99)).is_spent
        (True, False)
        >>> Budget(Limits()).is_spent
        False
        """
        given = self.limits.time_s
        return given is not None and self.stop - time.monotonic() <= given / 10
