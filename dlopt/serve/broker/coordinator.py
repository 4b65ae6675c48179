"""The broker: holds everywhere, decides, confirms everywhere or takes everything back."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dlopt.client import RefusedRequestError, RemoteBook
from dlopt.errors import DloptError, InvalidInstanceError, NotApplicableError
from dlopt.serve.broker.broker_log import BrokerLog, Step
from dlopt.serve.broker.joint_placement import JointPlacement, earliest_joint_placement
from dlopt.serve.broker.joint_requests import JointDecision, JointRequest, Promise
from dlopt.serve.errors import ConflictingStateError, NotFoundError

MAX_ATTEMPTS = 5
"""How often a start is looked for if others take in between what was free. Chosen by hand."""
TIME_TO_LIVE_S = 30.0
"""By default, in seconds: some hundred messages to each of a few domains."""
PAUSE_S = 0.5
"""Between two attempts to reach a domain while its hold lives, in seconds. Chosen by hand."""

_Settled: TypeAlias = Literal["done", "gone", "unknown"]
_GONE = frozenset([NotFoundError.title, ConflictingStateError.title])
"""Titles of the errors with which a service says that a promise is not there, or not any more. The
status alone proves nothing: it may be that of a proxy, which knows of no promises."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The decision that holds in all domains lead to, and until when the holds live at least."""

    decision: JointDecision
    lives_until: float

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> _Attempt:
        """Return the last attempt of a request."""
        data = next(step.data for step in reversed(steps) if step.kind == "holding")
        return cls(JointDecision.from_data(data["decision"]), data["lives_until"])


class Broker:
    """Reserves resources of several domains in one window, in all or in none.

    The protocol and its guarantees are described in `dlopt.serve.broker`.

    Parameters
    ----------
    domains : mapping of str to RemoteBook
    log : BrokerLog
    ttl_s : float, default 30
        Time to live of holds in seconds: how long a domain keeps what was not decided.
    clock : callable
        Seconds of a clock that goes on while the broker does not run.
    pause : callable
        Waits for so many seconds.

    Notes
    -----
    One caller at a time. A message to a domain should be given up after a small part of the time to
    live; it is sent again. Call `recover` before the first request, and as long as it names
    requests that are not settled.
    """

    def __init__(
        self,
        domains: Mapping[str, RemoteBook],
        log: BrokerLog,
        *,
        ttl_s: float = TIME_TO_LIVE_S,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        if not ttl_s > 0:
            raise NotApplicableError(f"a time to live is a positive number of seconds, not {ttl_s}")
        self._domains, self._log, self._ttl_s = domains, log, ttl_s
        self._clock, self._pause = clock, pause

    def recover(self) -> tuple[str, ...]:
        """Go on with what was not settled when the broker stopped, or a domain was not reached.

        Returns
        -------
        tuple of str
            Requests that are not settled still, for a domain does not answer.
        """
        for request in self._log.unsettled():
            self._settle(request)
        return self._log.unsettled()

    def reserve(self, request: JointRequest) -> JointDecision:
        """Decide on a request; what is accepted is confirmed by every domain.

        Raises
        ------
        ConflictingStateError
            If another content was asked for under this identity.
        UnavailableError
            If the log cannot be written.
        """
        steps = self._log.steps(request.id)
        if not steps:
            self._log.append(request.id, "asked", request.to_data())
        elif JointRequest.from_data(steps[0].data) != request:
            raise ConflictingStateError(
                f"request {request.id} already exists with a different content"
            )
        settled = self._settle(request.id)
        if settled is not None:
            return settled
        refusal = ""
        for _ in range(MAX_ATTEMPTS):
            attempt = secrets.token_hex(8)  # brokers with the same request share no promises

            def identity(part: int, attempt: str = attempt) -> str:
                return f"{request.id}/{attempt}/{part}"

            found = earliest_joint_placement(request, self._domains, identity)
            if isinstance(found, str):
                return self._ended(JointDecision(request.id, False, reason=found))
            refusal = self._hold(request.id, found)
            if not refusal:
                self._log.append(request.id, "confirming", {})
                return self._confirm(request.id)
        reason = f"{refusal}, and {MAX_ATTEMPTS} attempts were made"
        return self._ended(JointDecision(request.id, False, reason=reason))

    def cancel(self, request: str) -> JointDecision:
        """Take back what was promised.

        Raises
        ------
        NotFoundError
            If nothing was asked for under this identity.
        """
        settled = self._settle(request) if self._log.steps(request) else None
        if settled is None:
            raise NotFoundError(f"there is no decision on a request {request}")
        if not settled.accepted:
            return settled
        return self._cancel(request, "it was cancelled")

    def _settle(self, request: str) -> JointDecision | None:
        """Bring a request to a state without obligations; return its answer, if it has one."""
        steps = self._log.steps(request)
        last = steps[-1].kind if steps else "asked"
        if last == "holding":  # nothing can have been confirmed
            self._release(request, _Attempt.of(steps))
        elif last == "confirming":
            return self._confirm(request)
        elif last == "cancelling":
            return self._cancel_all(request)
        return JointDecision.from_data(steps[-1].data) if last == "ended" else None

    def _hold(self, request: str, found: JointPlacement) -> str:
        """Hold all parts; else take back the holds, and return the reason."""
        parts = sorted(found.parts, key=lambda part: part.domain)
        promises = tuple(Promise(part.domain, part.id) for part in parts)
        decision = JointDecision(request, True, found.start, found.end, promises)
        attempt = _Attempt(decision, self._clock() + self._ttl_s)
        data = {"decision": decision.to_data(), "lives_until": attempt.lives_until}
        self._log.append(request, "holding", data)
        reason = ""
        for part, promise in zip(parts, promises, strict=True):
            try:
                answer = self._domains[part.domain].hold(
                    part.submission, self._ttl_s, idempotency_key=_key(promise, "hold")
                )
                if answer.hold is None:
                    reason = f"{part.domain}: {answer.decision.reason}"
            except DloptError as error:
                reason = f"{part.domain}: {error}"
            if reason:
                break
        if not reason and self._clock() > attempt.lives_until - self._ttl_s / 2:
            reason = f"holding took more than half of the time to live, {self._ttl_s} s"
        if reason:
            self._release(request, attempt)
        return reason

    def _release(self, request: str, attempt: _Attempt) -> None:
        """Take back the holds; one whose domain is not reached expires by itself."""
        for promise in attempt.decision.promises:
            self._tried(promise, lambda domain, part: domain.release(part.id))
        self._log.append(request, "aborted", {})

    def _confirm(self, request: str) -> JointDecision:
        """Confirm all parts while their holds live; else cancel all."""
        attempt = _Attempt.of(self._log.steps(request))
        left = attempt.decision.promises
        while True:
            unknown = []
            for promise in left:
                outcome = self._tried(promise, _confirm)
                if outcome == "gone":
                    return self._cancel(request, f"{promise.domain}: the hold has expired")
                if outcome == "unknown":
                    unknown.append(promise)
            left = tuple(unknown)
            if not left:
                return self._ended(attempt.decision)
            if self._clock() + PAUSE_S >= attempt.lives_until:
                return self._cancel(request, f"{left[0].domain}: no answer to the confirmation")
            self._pause(PAUSE_S)

    def _cancel(self, request: str, reason: str) -> JointDecision:
        self._log.append(request, "cancelling", {"reason": reason})
        return self._cancel_all(request)

    def _cancel_all(self, request: str) -> JointDecision:
        """Cancel all parts, confirmed or not; it is settled once every domain has answered."""
        steps = self._log.steps(request)
        unresolved = tuple(
            promise.domain
            for promise in _Attempt.of(steps).decision.promises
            if self._tried(promise, lambda domain, part: domain.cancel(part.id)) == "unknown"
        )
        reason = str(steps[-1].data["reason"])
        decision = JointDecision(request, False, reason=reason, unresolved=unresolved)
        return decision if unresolved else self._ended(decision)

    def _tried(
        self, promise: Promise, message: Callable[[RemoteBook, Promise], object]
    ) -> _Settled:
        """Send a message about a promise; "gone" if the domain says that there is none."""
        try:
            message(self._domains[promise.domain], promise)
        except (InvalidInstanceError, NotApplicableError):
            return "gone"
        except RefusedRequestError as error:
            return "gone" if error.title in _GONE else "unknown"
        except (DloptError, KeyError):  # not reached, or not a domain of this broker any more
            return "unknown"
        return "done"

    def _ended(self, decision: JointDecision) -> JointDecision:
        self._log.append(decision.request, "ended", decision.to_data())
        return decision


def _confirm(domain: RemoteBook, promise: Promise) -> None:
    domain.confirm(promise.id, idempotency_key=_key(promise, "confirm"))


def _key(promise: Promise, verb: str) -> str:
    """Return the idempotency key of a message about a promise: every identity makes a valid one."""
    return hashlib.sha256(f"{verb} {promise.domain} {promise.id}".encode()).hexdigest()
