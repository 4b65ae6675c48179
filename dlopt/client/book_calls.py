"""The calls of books: each is written once, for both clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar, Unpack, cast

from dlopt.arithmetic import Number
from dlopt.books import Conflict, Consequences, Offer
from dlopt.client import records
from dlopt.client.calls import Terms, call_of
from dlopt.client.exchange import Call
from dlopt.client.records import (
    BookArchive,
    BookDescription,
    BookState,
    Decision,
    Hold,
    HoldAnswer,
    Json,
    Plan,
    Submission,
    submission_fields,
)
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Holding, Machine
from dlopt.problems.validated_record import plain

T = TypeVar("T")


class BookOptions(TypedDict, total=False):
    """What may be said of a new book; see `dlopt.Admission`, `MultiStage` and `CoReservation`."""

    cluster: Cluster
    machines: Sequence[Machine]
    algorithm: str
    now: Number
    ready_times: Sequence[Number]
    channel_ready: Number
    holdings: Sequence[Holding]
    order: str
    allocation: str
    trim: bool
    exact_numbers: bool
    clock: str


class PromiseTerms(Terms, total=False):
    """The terms of a call about a promise.

    Parameters
    ----------
    kind : {"task", "reservation"}
        Which of the two is meant, where both have the identity.
    """

    kind: str


def _about_book(
    name: str,
    read: Callable[..., T],
    book: str,
    arguments: Json | None = None,
    **terms: Unpack[Terms],
) -> Call[T]:
    return call_of(name, {"book": book, **(arguments or {})}, read, **terms)


def books() -> Call[tuple[BookDescription, ...]]:
    """Return the descriptions of all books."""
    return call_of("books", {}, lambda found: tuple(map(records.read_description, found)))


def create(book: str, problem: str, definition: BookOptions) -> Call[BookDescription]:
    """Create a book; one that is there with an equal definition is left as it is."""
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in definition.items()
    }
    fields = {"problem": problem} | {name: plain(value) for name, value in given.items()}
    return _about_book("create", records.read_description, book, fields)


def describe(book: str) -> Call[BookDescription]:
    """Return the problem, the algorithm, the clock and the version of the book."""
    return _about_book("describe", records.read_description, book)


def delete(book: str) -> Call[None]:
    """Delete the book."""
    return _about_book("delete", lambda answer: None, book)


def ask(book: str, submission: Submission | Json, /) -> Call[Decision]:
    """Return the decision that `submit` would make; nothing changes."""
    return _about_book("ask", records.read_decision, book, submission_fields(submission))


def offer(
    book: str, submission: Submission | Json, /, *, k: int = 3
) -> Call[tuple[Offer[Submission], ...]]:
    """Return up to `k` alternatives that would be accepted now, the smallest concession first."""
    fields = {**submission_fields(submission), "k": k}
    return _about_book("offer", records.read_offers, book, fields)


def why(book: str, submission: Submission | Json, /) -> Call[Conflict | None]:
    """Return what stands in the way of a submission; None if it would be accepted."""
    return _about_book("why", records.read_conflict, book, submission_fields(submission))


def submit(
    book: str,
    submission: Submission | Json,
    /,
    **terms: Unpack[Terms],
) -> Call[Decision]:
    """Decide on a task, a reservation or a request; an acceptance is a promise."""
    fields = submission_fields(submission)
    read = records.read_decision
    return _about_book("submit", read, book, fields, **terms)


def hold(
    book: str,
    submission: Submission | Json,
    /,
    ttl_s: float,
    **terms: Unpack[Terms],
) -> Call[HoldAnswer]:
    """Submit with a time to live: the promise is taken back unless it is confirmed in time."""
    fields = {**submission_fields(submission), "ttl_s": ttl_s}
    read = records.read_hold_answer
    return _about_book("hold", read, book, fields, **terms)


def _about_promise(
    name: str,
    read: Callable[..., T],
    book: str,
    arguments: Json,
    terms: PromiseTerms,
) -> Call[T]:
    given = {**arguments, "kind": terms.pop("kind", None)}
    return _about_book(name, read, book, given, **cast(Terms, terms))


def confirm(book: str, identity: str, /, **terms: Unpack[PromiseTerms]) -> Call[Hold]:
    """Make a hold a promise for good."""
    return _about_promise("confirm", records.read_hold, book, {"id": identity}, terms)


def release(book: str, identity: str, /, **terms: Unpack[PromiseTerms]) -> Call[Consequences]:
    """Take back a hold."""
    return _about_promise("release", records.read_consequences, book, {"id": identity}, terms)


def cancel(book: str, identity: str, /, **terms: Unpack[PromiseTerms]) -> Call[Consequences]:
    """Take back a promise; what has begun of it is broken off now."""
    return _about_promise("cancel", records.read_consequences, book, {"id": identity}, terms)


def change(
    book: str,
    submission: Submission | Json,
    /,
    **terms: Unpack[Terms],
) -> Call[Decision]:
    """Replace the content of a promise if all promises hold then; else nothing changes."""
    fields = submission_fields(submission)
    read = records.read_decision
    return _about_book("change", read, book, fields, **terms)


def finished(
    book: str, identity: str, at: Number, **terms: Unpack[PromiseTerms]
) -> Call[Consequences]:
    """Record that something that has begun ends earlier or later than planned."""
    given = {"id": identity, "at": plain(at)}
    return _about_promise("finished", records.read_consequences, book, given, terms)


def resources(
    book: str,
    *,
    add: int | Sequence[Machine] = (),
    remove: Sequence[int | str] = (),
    fail: Sequence[int | str] = (),
    repair: Sequence[int | str] = (),
    **terms: Unpack[Terms],
) -> Call[Consequences]:
    """Change nodes or machines from now on."""
    added = add if isinstance(add, int) else [machine.to_data() for machine in add]
    given = {"add": added, "remove": list(remove), "fail": list(fail), "repair": list(repair)}
    fields = {name: value for name, value in given.items() if value}
    read = records.read_consequences
    return _about_book("resources", read, book, fields, **terms)


def advance(
    book: str,
    now: Number,
    /,
    **terms: Unpack[Terms],
) -> Call[Number]:
    """Advance the clock; returns what it shows."""
    read, fields = records.read_number, {"now": plain(now)}
    return _about_book("advance", read, book, fields, **terms)


def archive(book: str, **terms: Unpack[Terms]) -> Call[BookArchive]:
    """Hand out what is over, once, and forget it."""
    read = records.read_archive
    return _about_book("archive", read, book, **terms)


def plan(book: str) -> Call[Plan]:
    """Return all decisions, and all allocations that are not archived."""
    return _about_book("plan", records.read_plan, book)


def state(book: str) -> Call[BookState | None]:
    """Return what is alive: an instance with its plan, which `dlopt.check` accepts."""
    return _about_book("state", records.read_state, book)


def log(book: str, *, after: int = 0, limit: int = 1_000) -> Call[list[Json]]:
    """Return records of the log, as plain data: those after a number, at the most so many."""
    return _about_book("log", list, book, {"after": after, "limit": limit})


def snapshot(book: str) -> Call[dict[str, object]]:
    """Return the whole state of the book as plain data, for `restore` of its engine."""
    return _about_book("snapshot", dict, book)
