"""Results that state no bound without a certificate that the checker has accepted.

What a method claims without one becomes a part of the reason. In its place an exact method gets the
best bound that a bound method of the problem proves with a certificate.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dlopt import registry
from dlopt.certificate_files import (
    NOT_CERTIFIED,
    check_own_certificate,
    reason_for_no_certificate,
)
from dlopt.errors import DloptError
from dlopt.method_run import Attempt
from dlopt.plan_classes import is_in_class_of
from dlopt.query import Query
from dlopt.result import Limits, Result, Status, shown_value
from dlopt.returned_bounds import beyond, meets, proves

SolutionT = TypeVar("SolutionT")

BOUND_TIME_SHARE = 0.1
"""Share of the time limit for bounds with certificates, where the method has none. Chosen by hand.
"""


@dataclass(frozen=True, slots=True)
class CertifiedAttempt:
    """A method whose bound counts only with a certificate that is accepted.

    Parameters
    ----------
    query : Query
    limits : Limits
        `BOUND_TIME_SHARE` of its time is left for bound methods if the method is an exact one.
    seed : int
    options : mapping
        Of the method; bound methods get those that they have, too.
    stop : threading.Event, optional
        Once it is set, no further bound method is begun.
    begun : float
        When its time began, by `time.perf_counter`; by default now.
    """

    query: Query
    limits: Limits
    seed: int
    options: Mapping[str, object]
    stop: threading.Event | None = None
    begun: float = field(default_factory=time.perf_counter)

    @property
    def method_limits(self) -> Limits:
        """What the method itself may spend."""
        time_s = self.limits.time_s
        if time_s is None or not self._has_bound_methods:
            return self.limits
        return replace(self.limits, time_s=time_s * (1 - BOUND_TIME_SHARE))

    def certified(self, result: Result[SolutionT]) -> Result[SolutionT]:
        """Return the result of the method as `certified_result` does."""
        return certified_result(self.query, result, self.bound_results())

    @property
    def _has_bound_methods(self) -> bool:
        return self.query.method.kind == "exact"

    def bound_results(self) -> Iterator[Result[object]]:
        """Yield the results of the bound methods that apply, while there is time."""
        query = self.query
        for entry in registry.methods(query.problem.stem) if self._has_bound_methods else ():
            limits = self._left()
            if entry.kind != "bound" or limits is None:
                continue
            names = {option.name for option in entry.options}
            own = {name: value for name, value in self.options.items() if name in names}
            inner = replace(query, method=entry)
            try:
                if entry.reason_against(query.instance, query.goal.name) is None:
                    yield Attempt(inner, limits, None, self.seed, own, None, self.stop).result()
            except DloptError:
                continue  # it is only a help

    def _left(self) -> Limits | None:
        """Return the limits of the next bound method, or None if time is up."""
        if self.stop is not None and self.stop.is_set():
            return None
        limits = Limits(work=self.limits.work, threads=self.limits.threads)
        if self.limits.time_s is None:
            return limits
        left = self.limits.time_s - (time.perf_counter() - self.begun)
        return replace(limits, time_s=left) if left > 0 else None


def certified_result(
    query: Query, result: Result[SolutionT], others: Iterable[Result[object]] = ()
) -> Result[SolutionT]:
    """Return a result without what it claims and has no accepted certificate of.

    Parameters
    ----------
    query : Query
    result : Result
        As `dlopt.solve` returns it.
    others : iterable of Result
        Bounds of the same instance and objective, perhaps with certificates. The best one that is
        certified takes the place of a bound that is not; they are asked for one by one, until one
        proves the value optimal.

    Returns
    -------
    Result
        ``OPTIMAL`` and ``INFEASIBLE`` with an accepted certificate only; else ``FEASIBLE``, or
        ``UNKNOWN`` without a plan. A bound that is dropped is named in the reason.

    Examples
    --------
    >>> from dlopt import api, generate
    >>> decimals = generate("multistage", "small", nodes=2, tasks=5, tau=1.5, seed=10)
    >>> claimed = api.solve(decimals)
    >>> query = Query.of(decimals, registry.method("multistage", "exact"), "accepted")
    >>> print(claimed.status, claimed.bound, certified_result(query, claimed).status)
    optimal 3 feasible
    >>> bound = api.solve(decimals, "bound-fluid")
    >>> result = certified_result(query, claimed, [bound])
    >>> print(result.status, result.bound, result.proof)
    feasible 4 certificate
    """
    best = result
    if _has_claim(result):
        flaw = _flaw(query, result)
        if flaw is None:
            return result
        best = without_claim(result, flaw)
    if result.status in (Status.INFEASIBLE, Status.UNSOUND):
        return best
    plain = best
    for other in others:
        found = _with_bound(query, plain, other)
        if found is not None and _is_tighter(query, found, best):
            best = found
        if best.status is Status.OPTIMAL:
            break
    return best


def _is_tighter(query: Query, found: Result[object], best: Result[object]) -> bool:
    assert found.bound is not None  # it has a certificate
    return best.bound is None or query.goal.better(best.bound, found.bound)


def _has_claim(result: Result[object]) -> bool:
    return result.bound is not None or result.status is Status.INFEASIBLE


def _flaw(query: Query, result: Result[object]) -> str | None:
    """Return why what a result claims is not certified, or None if it is."""
    if result.certificate is None:
        return reason_for_no_certificate(result)
    found = check_own_certificate(query.instance, result)
    return f"its certificate is refused: {found[0]}" if found else None


def without_claim(result: Result[SolutionT], flaw: str) -> Result[SolutionT]:
    """Return a result without its bound, or without infeasibility, which becomes its reason.

    Parameters
    ----------
    result : Result
        One that claims nothing is returned as it is.
    flaw : str
        Why the claim is not certified.

    Examples
    --------
    >>> claimed = Result(Status.OPTIMAL, value=3, bound=3, proof="solver")
    >>> found = without_claim(claimed, "the search goes on")
    >>> print(found.status, found.bound, found.reason)
    feasible None a bound of 3 is claimed, not certified: the search goes on
    """
    if not _has_claim(result):
        return result
    infeasible = result.status is Status.INFEASIBLE
    claim = "infeasibility" if infeasible else f"a bound of {shown_value(result.bound)}"
    status = {
        Status.OPTIMAL: Status.FEASIBLE,
        Status.INFEASIBLE: Status.UNKNOWN,
        Status.BOUND: Status.UNKNOWN,
    }
    return replace(
        result,
        status=status.get(result.status, result.status),
        bound=None,
        proof=None,
        certificate=None,
        reason=f"{claim}{NOT_CERTIFIED}{flaw}",
    )


def _with_bound(
    query: Query, plain: Result[SolutionT], other: Result[object]
) -> Result[SolutionT] | None:
    """Return a result without a bound with that of another one; None if it proves nothing of it."""
    bound, value = other.bound, plain.value
    if bound is None or other.certificate is None or not is_in_class_of(plain, other):
        return None
    if value is not None and beyond(query.goal, value, bound):
        if query.exact or not meets(bound, value, plain.origin):
            return None
        bound = value  # floats that differ by a rounding
    is_optimal = value is not None and proves(bound, value, plain.origin, "certificate")
    origin = f"the bound is that of {other.method}, with a certificate"
    found = replace(
        plain,
        status=Status.OPTIMAL if is_optimal else plain.status,
        bound=bound,
        proof="certificate",
        certificate=other.certificate,
        reason=origin if plain.reason is None else f"{plain.reason}; {origin}",
        stopped_by=None if is_optimal else plain.stopped_by,
    )
    return None if check_own_certificate(query.instance, found) else found
