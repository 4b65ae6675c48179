"""What is sent for each operation, and how its answer is read: written once for both clients."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar, Unpack, cast
from urllib.parse import quote, urlencode

from dlopt.arithmetic import Number
from dlopt.books import Conflict, Consequences, Offer
from dlopt.client import records
from dlopt.client.exchange import Call
from dlopt.client.operations import OPERATIONS
from dlopt.client.records import (
    BookArchive,
    BookDescription,
    BookState,
    Decision,
    HeldDecision,
    Hold,
    JobStatus,
    Json,
    Plan,
    Submission,
    submission_fields,
)
from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError
from dlopt.io import instance_to_data, result_from_data
from dlopt.json_files import parse_json
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine
from dlopt.problems.validated_record import Header, plain
from dlopt.result import Limits, Result

T = TypeVar("T")

_NAMES = re.compile(r"\{(\w+)\}")


class BookOptions(TypedDict, total=False):
    """What may be said of a new book; see `dlopt.Admission` and its siblings."""

    cluster: Cluster
    machines: Sequence[Machine]
    algorithm: str
    now: Number
    ready_times: Sequence[Number]
    channel_ready: Number
    exact_numbers: bool
    clock: str


class Terms(TypedDict, total=False):
    """The terms of a change.

    Parameters
    ----------
    idempotency_key : str
        The same call under the same key is done once. By default a new one, for the repetitions of
        this call alone.
    if_match : int
        The version that the book must have; else nothing changes, and the error has status 412.
    """

    idempotency_key: str
    if_match: int


class PromiseTerms(Terms, total=False):
    """The terms of a call about a promise.

    Parameters
    ----------
    kind : {"task", "reservation"}
        Which of the two is meant, where both have the identity.
    """

    kind: str


class RunOptions(TypedDict, total=False):
    """What may be said of a run; see `dlopt.solve`."""

    objective: str
    limits: Limits
    seed: int
    options: Mapping[str, object]
    priority: int


def call_of(name: str, arguments: Json, read: Callable[..., T], **terms: Unpack[Terms]) -> Call[T]:
    """Return the call of an operation by its name, with arguments as the table names them.

    Parameters
    ----------
    name : str
        One of `dlopt.client.operations.OPERATIONS`.
    arguments : mapping
        Plain data; what is None is left out.
    read : callable
        Makes the answer of the data of its body.
    **terms
        See `Terms`.

    Examples
    --------
    >>> call = call_of("log", {"book": "a/b", "after": 7}, dict)
    >>> call.operation.method, call.path
    ('GET', '/v1/books/a%2Fb/log?after=7')
    """
    operation = OPERATIONS[name]
    given = {key: value for key, value in arguments.items() if value is not None}
    in_path = _NAMES.findall(operation.path)
    path = operation.path.format_map({key: quote(str(given.pop(key)), safe="") for key in in_path})
    body, headers = None, {}
    if operation.method == "GET" and given:
        path += "?" + urlencode(given)
    elif operation.method in ("POST", "PUT"):
        body = json.dumps(given, allow_nan=False).encode()
        headers["content-type"] = "application/json"
    if operation.keyed:
        headers["idempotency-key"] = terms.get("idempotency_key") or uuid.uuid4().hex
    if "if_match" in terms:
        headers["if-match"] = f'"{terms["if_match"]}"'

    def read_body(content: bytes) -> T:
        text = content.decode()
        if operation.text or not text:
            return read(text)
        data = parse_json(text)
        return read(data[operation.answer] if operation.answer else data)

    return Call(operation, path, read_body, body, headers)


def plain_call(name: str, arguments: Json) -> Call[object]:
    """Return the call of an operation by its name, answered with the data of its body.

    Raises
    ------
    NotApplicableError
        If there is no such operation.
    InvalidInstanceError
        If it takes no such argument, or one is missing.
    """
    if name not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise NotApplicableError(f"there is no operation {name}; there are {known}")
    operation = OPERATIONS[name]
    taken = {field.name: field.required for field in operation.fields}
    rule = f"is not an argument of {name} (known: {', '.join(taken)})"
    faults = [Fault(key, given, rule) for key, given in arguments.items() if key not in taken]
    missing = [key for key, required in taken.items() if required and arguments.get(key) is None]
    faults += [Fault(key, MISSING, "is missing") for key in missing]
    if faults:
        raise InvalidInstanceError(faults)
    made = call_of(name, arguments, str)

    def read_body(content: bytes) -> object:
        text = content.decode()
        return text if operation.text else parse_json(text)

    return Call(operation, made.path, read_body, made.body, made.headers)


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
    fields: dict[str, object] = {"problem": problem}
    for name, value in definition.items():
        if isinstance(value, Cluster):
            fields[name] = value.to_data()
        elif name == "machines":
            fields[name] = [one.to_data() for one in cast(Sequence[Machine], value)]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            fields[name] = [plain(number) for number in value]
        else:
            fields[name] = plain(value)
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
) -> Call[HeldDecision]:
    """Submit with a time to live: the promise is taken back unless it is confirmed in time."""
    fields = {**submission_fields(submission), "ttl_s": ttl_s}
    read = records.read_held
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


def run(
    kind: str,
    instance: Header,
    method: str | None,
    methods: Sequence[str] | None,
    options: RunOptions,
) -> Call[JobStatus]:
    """Ask the service to solve, or to compare methods; returns the job at once."""
    limits = options.get("limits")
    fields: dict[str, object] = {
        "kind": kind,
        "instance": instance_to_data(instance),
        "method": method,
        "methods": None if methods is None else list(methods),
        **options,
        "limits": limits and {name: value for name, value in _limits(limits) if value is not None},
    }
    return call_of("run", fields, records.read_status)


def _limits(limits: Limits) -> Sequence[tuple[str, object]]:
    return [(name, getattr(limits, name)) for name in ("time_s", "work", "threads", "gap")]


def jobs() -> Call[tuple[JobStatus, ...]]:
    """Return the states of all jobs."""
    return call_of("jobs", {}, lambda found: tuple(map(records.read_status, found)))


def _about_job(name: str, read: Callable[..., T], job: str) -> Call[T]:
    return call_of(name, {"job": job}, read)


def status(job: str) -> Call[JobStatus]:
    """Return the state of the job, with its value and bound so far."""
    return _about_job("job_status", records.read_status, job)


def stop(job: str) -> Call[JobStatus]:
    """Stop the job; it keeps the best checked plan."""
    return _about_job("stop", records.read_status, job)


def result(job: str, instance: Header) -> Call[Result[object]]:
    """Return the result of a job that solved the instance."""
    return _about_job("result", lambda data: result_from_data(data, instance), job)


def data(job: str) -> Call[Json]:
    """Return the result of the job as plain data: of a comparison, a check or a search, too."""
    return _about_job("result", dict, job)


def certificate(job: str) -> Call[str]:
    """Return the proof of the bound of the job, in the format VIPR."""
    return _about_job("certificate", str, job)


def plot(job: str) -> Call[str]:
    """Return the plan of the job as an SVG drawing."""
    return _about_job("plot", str, job)
