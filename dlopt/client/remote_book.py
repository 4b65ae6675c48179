"""A book of a service; its methods are awaited, see `dlopt.client.asynchronous`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypeVar, Unpack

from dlopt.arithmetic import Number
from dlopt.books import Conflict, Consequences, Offer
from dlopt.client.connection import ServiceConnection
from dlopt.client.errors import UnreadableAnswerError
from dlopt.client.http_messages import ChangeOptions
from dlopt.problems.coreservation import Machine, Request
from dlopt.service_api import book_records as records
from dlopt.service_api.json_data import Json, plain_data

T = TypeVar("T")

Submittable: TypeAlias = records.Submitted | Json
"""A task, a reservation, a request, or one of them as a body has it: ``{"task": {...}}``, without
`arrival` for one that arrives now by the wall's clock."""

PromiseKind: TypeAlias = Literal["task", "reservation"]
"""In a book of tasks and reservations, which of two promises with one identity is meant."""


class AsyncRemoteBook:
    """A book of a service; its verbs are those of `dlopt.Book`, and those of holds.

    Parameters
    ----------
    connection : ServiceConnection
    name : str

    Attributes
    ----------
    version : int or None
        Of the book, from the last answer to this object; for `if_match`.
    """

    def __init__(self, connection: ServiceConnection, name: str) -> None:
        self._connection, self.name = connection, name
        self.version: int | None = None

    async def describe(self) -> records.BookDescription:
        """Return the problem, the algorithm, the clock and the version of the book."""
        return await self._call("describe_book", {}, records.BookDescription)

    async def delete(self, *, if_match: int | None = None) -> None:
        """Delete the book; if a version is given, only if the book still has that one."""
        await self._call("delete_book", {}, records.BookName, if_match=if_match)

    async def ask(self, submission: Submittable, /) -> records.Decision:
        """Return the decision that `submit` would make; nothing changes."""
        return await self._decision("book_ask", submission)

    async def ask_batch(
        self, requests: Sequence[Request], /, *, at: Number | None = None
    ) -> tuple[records.Decision, ...]:
        """Return the decisions that `submit_batch` would make; nothing changes."""
        return await self._decisions("book_ask", requests, at)

    async def offer(
        self, submission: Submittable, /, *, k: int = 3
    ) -> tuple[Offer[records.Submitted], ...]:
        """Return up to `k` alternatives that would be accepted, the smallest concession first.

        Empty if it would be accepted as it is, or if nothing was found; `ask` tells which.
        """
        body = {**_body(submission), "k": k}
        answer = await self._call("book_offer", body, records.OffersAnswer)
        return tuple(found.offer for found in answer.offers)

    async def why(self, submission: Submittable, /) -> Conflict | None:
        """Return what stands in the way of a submission; None if it would be accepted."""
        return (await self._call("book_why", _body(submission), records.ConflictAnswer)).conflict

    async def submit(
        self, submission: Submittable, /, **options: Unpack[ChangeOptions]
    ) -> records.Decision:
        """Decide on a task, a reservation or a request; an acceptance is a promise."""
        return await self._decision("book_submit", submission, **options)

    reserve = submit

    async def submit_batch(
        self,
        requests: Sequence[Request],
        /,
        *,
        at: Number | None = None,
        **options: Unpack[ChangeOptions],
    ) -> tuple[records.Decision, ...]:
        """Decide on several requests for CPU shares together.

        Parameters
        ----------
        requests : sequence of Request
        at : Number, optional
            When they are decided; by default when the last of them arrived.
        **options
            See `ChangeOptions`.

        Returns
        -------
        tuple of Decision
            One for each request, in their order.
        """
        return await self._decisions("book_submit", requests, at, **options)

    async def hold(
        self, submission: Submittable, /, ttl_s: float, **options: Unpack[ChangeOptions]
    ) -> records.HoldAnswer:
        """Submit with a time to live: the promise is taken back unless it is confirmed in time."""
        body = {**_body(submission), "ttl_s": ttl_s}
        return await self._call("book_hold", body, records.HoldAnswer, **options)

    async def confirm(
        self, identity: str, /, *, kind: PromiseKind | None = None, **options: Unpack[ChangeOptions]
    ) -> records.Hold:
        """Make a hold a promise for good."""
        body = {"id": identity, "kind": kind}
        return (await self._call("book_confirm", body, records.HoldState, **options)).hold

    async def release(
        self, identity: str, /, *, kind: PromiseKind | None = None, **options: Unpack[ChangeOptions]
    ) -> Consequences:
        """Take back a hold."""
        body = {"id": identity, "kind": kind}
        return await self._consequences("book_release", body, **options)

    async def cancel(
        self, identity: str, /, *, kind: PromiseKind | None = None, **options: Unpack[ChangeOptions]
    ) -> Consequences:
        """Take back a promise; what has begun of it is broken off now."""
        body = {"id": identity, "kind": kind}
        return await self._consequences("book_cancel", body, **options)

    async def change(
        self, submission: Submittable, /, **options: Unpack[ChangeOptions]
    ) -> records.Decision:
        """Replace the content of a promise if all promises hold then; else nothing changes."""
        return await self._decision("book_change", submission, **options)

    async def finished(
        self,
        identity: str,
        at: Number,
        *,
        kind: PromiseKind | None = None,
        **options: Unpack[ChangeOptions],
    ) -> Consequences:
        """Record that something that has begun ends earlier or later than planned."""
        body = {"id": identity, "at": at, "kind": kind}
        return await self._consequences("book_finished", body, **options)

    async def resources(
        self,
        *,
        add: int | Sequence[Machine] = (),
        remove: Sequence[int] = (),
        fail: Sequence[int] = (),
        repair: Sequence[int] = (),
        **options: Unpack[ChangeOptions],
    ) -> Consequences:
        """Change nodes or machines from now on."""
        given = {"add": add, "remove": remove, "fail": fail, "repair": repair}
        body = {name: value for name, value in given.items() if value}
        return await self._consequences("book_resources", body, **options)

    async def advance(self, now: Number, /, **options: Unpack[ChangeOptions]) -> Number:
        """Advance the clock; returns what it shows."""
        return (await self._call("book_advance", {"now": now}, records.ClockTime, **options)).now

    async def archive(self, **options: Unpack[ChangeOptions]) -> records.BookArchive:
        """Hand out what is over, once, and forget it."""
        return (await self._call("book_archive", {}, records.ArchiveAnswer, **options)).archive

    async def plan(self) -> records.Plan:
        """Return all decisions, and all allocations that are not archived."""
        return (await self._call("book_plan", {}, records.PlanAnswer)).plan

    async def state(self) -> records.State | None:
        """Return what is alive: an instance with its plan, which `dlopt.check` accepts."""
        return (await self._call("book_state", {}, records.StateAnswer)).state

    async def log(self, *, after: int = 0, limit: int = 1_000) -> tuple[Json, ...]:
        """Return records of the log, as plain data: those after a number, at the most so many."""
        wanted = {"after": after, "limit": limit}
        return (await self._call("book_log", wanted, records.LogAnswer)).records

    async def snapshot(self) -> Json:
        """Return the whole state of the book as plain data, for `restore` of its engine."""
        return (await self._call("book_snapshot", {}, records.SnapshotAnswer)).snapshot

    async def _decision(
        self, operation: str, submission: Submittable, **options: Unpack[ChangeOptions]
    ) -> records.Decision:
        body = _body(submission)
        answer = await self._call(operation, body, records.DecisionAnswer, **options)
        if answer.decision is None:
            raise UnreadableAnswerError(f"the answer to {operation} has no decision")
        return answer.decision

    async def _decisions(
        self,
        operation: str,
        requests: Sequence[Request],
        at: Number | None,
        **options: Unpack[ChangeOptions],
    ) -> tuple[records.Decision, ...]:
        body = {"requests": list(requests), "at": at}
        answer = await self._call(operation, body, records.DecisionAnswer, **options)
        if answer.decisions is None:
            raise UnreadableAnswerError(f"the answer to {operation} has no decisions")
        return answer.decisions

    async def _consequences(
        self, operation: str, body: Json, **options: Unpack[ChangeOptions]
    ) -> Consequences:
        answer = await self._call(operation, body, records.ConsequencesAnswer, **options)
        return answer.consequences

    async def _call(
        self, operation: str, body: Json, record: type[T], **options: Unpack[ChangeOptions]
    ) -> T:
        arguments = plain_data({"name": self.name, **body})
        reply = await self._connection.call(operation, arguments, record, **options)
        self.version = self.version if reply.version is None else reply.version
        return reply.value


def _body(submission: Submittable) -> Json:
    return (
        submission if isinstance(submission, Mapping) else {records.kind_of(submission): submission}
    )
