"""The table of all operations of the service.

The routes of the server, the OpenAPI document, the calls of clients and the tools of assistants are
made from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from dlopt.problems.validated_record import Record
from dlopt.service_api import arguments as args
from dlopt.service_api import book_records as books
from dlopt.service_api import health_and_faults as service
from dlopt.service_api import job_records as jobs
from dlopt.service_api.definitions import DEFINITIONS
from dlopt.service_api.job_requests import JOB_REQUESTS

BOOK = "/v1/books/{name}"
JOB = "/v1/jobs/{id}"
JSON = "application/json"
EVENT_STREAM = "text/event-stream"


class Permission(StrEnum):
    """What a token allows."""

    READ = "read"
    SOLVE = "solve"
    BOOK = "book"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of a path, a parameter of a query, or a header.

    Parameters
    ----------
    name : str
    place : {"path", "query", "header"}
    schema : mapping
        JSON Schema of its value.
    description : str
    """

    name: str
    place: str
    schema: Mapping[str, object]
    description: str


def _text(pattern: str) -> Mapping[str, object]:
    return {"type": "string", "pattern": pattern}


_WHOLE_NUMBER = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}
PATH_PARAMETERS = {
    "name": Parameter(
        "name",
        "path",
        {**_text("^[A-Za-z0-9][A-Za-z0-9._-]*$"), "maxLength": 100},
        "Name of a book.",
    ),
    "id": Parameter("id", "path", {"type": "string", "minLength": 1}, "Identity of a job."),
}
"""What stands in paths."""
IF_MATCH = Parameter(
    "If-Match",
    "header",
    _text(r'^(\*|(W/)?"[0-9]{1,18}")$'),
    "The ETag of a former answer: if the book has changed since then, nothing is done.",
)
IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    _text("^[!-~]{1,200}$"),
    "Of the caller's choice: the same request with the same key is done once, and its answer is "
    "given again.",
)
LAST_EVENT = Parameter(
    "Last-Event-ID",
    "header",
    _WHOLE_NUMBER,
    "The last event that was received: those after it follow.",
)
AFTER = Parameter("after", "query", _WHOLE_NUMBER, "Number of the record after which to begin.")
LIMIT = Parameter("limit", "query", _WHOLE_NUMBER, "The most records to return.")
VALIDATE = Parameter(
    "validate", "query", _text("^only$"), "`only`: return all that is wrong, and do nothing."
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: a method of HTTP on a path.

    Parameters
    ----------
    name : str
        Unique; the verb of a book has ``book_`` in front.
    method, path : str
        A path may have ``{name}`` or ``{id}``.
    scope : Permission or None
        That a token needs; None if everybody may.
    summary, description : str
        For people.
    response : type or None
        The record that describes the body; None if it is no JSON.
    request : mapping
        The record of the body of the request, by the problem of the book or the kind of the job.
        Empty if there is no body.
    options : type, optional
        The record of the fields that the body may have too.
    statuses : tuple of int
        Of answers that are no errors.
    errors : tuple of int
        Statuses of errors, without those that every operation can have.
    parameters : tuple of Parameter
        Of the query, and headers.
    media_type : str
        Of the response.
    verb : str
        Of a book: what its engine is asked to do.
    page_file : str
        The file that is the response, in the folder of the pages.
    """

    name: str
    method: str
    path: str
    scope: Permission | None
    summary: str
    description: str
    response: type | None
    request: Mapping[str, type] = field(default_factory=dict)
    options: type[Record] | None = None
    statuses: tuple[int, ...] = (200,)
    errors: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    media_type: str = JSON
    verb: str = ""
    page_file: str = ""

    @property
    def tag(self) -> str:
        """The part of the service: books, jobs or service."""
        parts = self.path.split("/")
        return parts[2] if parts[1] == "v1" else "service"

    @property
    def bodies(self) -> tuple[type, ...]:
        """The records of which the body of the request is one."""
        return tuple(dict.fromkeys(self.request.values()))

    @property
    def path_parameters(self) -> tuple[Parameter, ...]:
        """The parts of the path that vary."""
        return tuple(PATH_PARAMETERS[name] for name in re.findall(r"{(\w+)}", self.path))

    @property
    def query_parameters(self) -> tuple[str, ...]:
        """The names of the parameters of the query."""
        return tuple(one.name for one in self.parameters if one.place == "query")

    @property
    def is_keyed(self) -> bool:
        """Whether it is done once however often it is sent under one idempotency key."""
        return IDEMPOTENCY_KEY in self.parameters

    @property
    def is_repeatable(self) -> bool:
        """Whether doing it twice, under one key if it has one, is doing it once.

        A second deletion of a book would be refused, as there is no such book.
        """
        safe = self.scope in (None, Permission.READ)
        idempotent = self.method in ("PUT", "DELETE") and self.scope is not Permission.ADMIN
        return safe or idempotent or self.is_keyed


def _by_problem(
    admission: type[Record], multistage: type[Record] | None = None, co: type[Record] | None = None
) -> Mapping[str, type[Record]]:
    return dict(
        zip(DEFINITIONS, (admission, multistage or admission, co or admission), strict=True)
    )


_SUBMISSION = _by_problem(args.TaskArguments, args.TaskOrReservation, args.RequestArguments)
_SUBMISSIONS = _by_problem(args.TaskArguments, args.TaskOrReservation, args.RequestOrBatch)
_IDENTITY = _by_problem(args.Identity, args.IdentityOfKind)
_END = _by_problem(args.End, args.EndOfKind)
_RESOURCES = _by_problem(args.NodeChanges, args.NodeChanges, args.MachineChanges)


def _verb(
    name: str,
    request: Mapping[str, type],
    response: type,
    summary: str,
    description: str = "",
    *,
    options: type[Record] | None = None,
    scope: Permission = Permission.BOOK,
) -> Operation:
    """Return the operation that calls a verb of a book."""
    return Operation(
        f"book_{name}",
        "POST",
        f"{BOOK}/{name}",
        scope,
        summary,
        description,
        response,
        request,
        options,
        errors=(404, 409, 412, 422),
        parameters=(IF_MATCH,) if scope is Permission.READ else (IF_MATCH, IDEMPOTENCY_KEY),
        verb=name,
    )


def _view(
    name: str, response: type, summary: str, description: str, *parameters: Parameter
) -> Operation:
    """Return the operation that shows something of a book."""
    verb = _verb(name, {}, response, summary, description, scope=Permission.READ)
    return replace(verb, method="GET", parameters=(*verb.parameters, *parameters))


_SERVICE = (
    Operation(
        "page", "GET", "/", None, "Show the page of the service",
        "Books with their schedules, and jobs.", None, media_type="text/html",
        page_file="index.html",
    ),
    Operation(
        "docs", "GET", "/docs", None, "Show this documentation",
        "Made from the OpenAPI document; it loads nothing from other sites.", None,
        media_type="text/html", page_file="docs.html",
    ),
    Operation(
        "openapi", "GET", "/openapi.json", None, "Return the OpenAPI document",
        "OpenAPI 3.1, with the schemas of all records.", dict,
    ),
    Operation(
        "health", "GET", "/healthz", None, "Tell whether the service works",
        "Whether the store can be read, and its writer is alive; status 503 if not.",
        service.Health, statuses=(200, 503),
    ),
    Operation(
        "metrics", "GET", "/metrics", Permission.READ, "Return the metrics",
        "In the text format of Prometheus.", None, media_type="text/plain",
    ),
)  # fmt: skip

_BOOKS = (
    Operation(
        "create_book", "PUT", BOOK, Permission.BOOK, "Create a book",
        "Status 201 if it is new, 200 if it is there with the same definition, 409 with another.",
        books.BookDescription, DEFINITIONS, statuses=(200, 201), errors=(409, 412, 422),
        parameters=(IF_MATCH,),
    ),
    Operation(
        "list_books", "GET", "/v1/books", Permission.READ, "List all books", "", books.BookList,
    ),
    Operation(
        "describe_book", "GET", BOOK, Permission.READ, "Describe a book", "", books.BookDescription,
        errors=(404, 412), parameters=(IF_MATCH,),
    ),
    Operation(
        "delete_book", "DELETE", BOOK, Permission.ADMIN, "Delete a book",
        "With its log and all promises. This cannot be undone.", books.BookName,
        errors=(404, 412), parameters=(IF_MATCH,),
    ),
    _verb("ask", _SUBMISSIONS, books.DecisionAnswer,
          "Return the decision that a submission would get", "Nothing changes.",
          scope=Permission.READ),
    _verb("offer", _SUBMISSION, books.OffersAnswer,
          "Return what would be accepted instead of a submission",
          "The smallest concession first. What would be accepted as it is gives no offer.",
          options=args.OfferOptions, scope=Permission.READ),
    _verb("why", _SUBMISSION, books.ConflictAnswer,
          "Return what stands in the way of a submission",
          "Without any one of these parts it would be accepted.", scope=Permission.READ),
    _verb("submit", _SUBMISSIONS, books.DecisionAnswer, "Decide on a submission",
          "If it is accepted, it is promised, and durable before it is answered. The same content "
          "under the same identity gets the same answer again."),
    _verb("hold", _SUBMISSION, books.HoldAnswer,
          "Promise a submission for a while",
          "Unless it is confirmed in time, the promise is taken back.", options=args.HoldOptions),
    _verb("confirm", _IDENTITY, books.HoldState, "Make a promise permanent that is on hold"),
    _verb("release", _IDENTITY, books.ConsequencesAnswer, "Take back a promise that is on hold"),
    _verb("cancel", _IDENTITY, books.ConsequencesAnswer,
          "Take back a promise", "What has begun of it is broken off now."),
    _verb("change", _SUBMISSION, books.DecisionAnswer,
          "Replace the content of a promise",
          "If all promises hold then; otherwise nothing changes."),
    _verb("finished", _END, books.ConsequencesAnswer,
          "Report that something ends earlier or later than planned"),
    _verb("resources", _RESOURCES, books.ConsequencesAnswer,
          "Change the nodes or machines from now on",
          "Promises that cannot be kept are named, as few as possible."),
    _verb("advance", _by_problem(args.Instant), books.ClockTime, "Advance the clock"),
    _verb("archive", _by_problem(args.NoArguments), books.ArchiveAnswer,
          "Hand out what is over, and forget it"),
    _view("plan", books.PlanAnswer, "Return all decisions and allocations",
          "That are not archived."),
    _view("state", books.StateAnswer, "Return what is still to come",
          "As an instance with its plan, which `dlopt check` accepts."),
    _view("log", books.LogAnswer, "Return the records of the log",
          "In the order in which they were written.", AFTER, LIMIT),
    _view("snapshot", books.SnapshotAnswer, "Return the whole state",
          "From which a book can be made again."),
)  # fmt: skip

_JOBS = (
    Operation(
        "submit_job", "POST", "/v1/jobs", Permission.SOLVE, "Submit a job",
        "Status 202 with the path of the job; 200 with its status if the same request is "
        "answered already.",
        jobs.JobStatus, JOB_REQUESTS, statuses=(200, 202),
        errors=(404, 409, 422),
        parameters=(VALIDATE,),
    ),
    Operation("list_jobs", "GET", "/v1/jobs", Permission.READ, "List all jobs", "", jobs.JobList),
    Operation(
        "job_status", "GET", JOB, Permission.READ, "Return the status of a job", "",
        jobs.JobStatus,
        errors=(404,),
    ),
    Operation(
        "job_events", "GET", f"{JOB}/events", Permission.READ, "Follow a job",
        "As server-sent events: queued, started, progress (the best checked value and bound) and "
        "ended. The events before are sent first, from Last-Event-ID on.",
        None, errors=(404,), parameters=(LAST_EVENT,), media_type=EVENT_STREAM,
    ),
    Operation(
        "cancel_job", "DELETE", JOB, Permission.SOLVE, "Stop a job",
        "The best checked schedule is kept.", jobs.EndedJob, errors=(404, 409),
    ),
    Operation(
        "job_result", "GET", f"{JOB}/result", Permission.READ, "Return the result of a job",
        "As `dlopt solve --json` prints it; of `compare`, as `dlopt compare --json` does.", dict,
        errors=(404, 409, 422),
    ),
    Operation(
        "job_certificate", "GET", f"{JOB}/certificate", Permission.READ,
        "Return the proof of the bound",
        "In the VIPR format, which other programs verify.", None, errors=(404, 409, 422),
        media_type="text/plain",
    ),
    Operation(
        "job_plot", "GET", f"{JOB}/plot", Permission.READ, "Return a chart of the schedule",
        "A Gantt chart.", None, errors=(404, 409, 422, 501), media_type="image/svg+xml",
    ),
)  # fmt: skip

OPERATIONS: tuple[Operation, ...] = (*_BOOKS, *_JOBS, *_SERVICE)
"""All operations, in the order in which the documentation lists them."""
OPERATIONS_BY_NAME: Mapping[str, Operation] = MappingProxyType({op.name: op for op in OPERATIONS})
"""All operations, by name."""
COMMON_ERRORS = (400, 403, 405, 500, 503, 504)
"""Statuses of errors that every operation can have."""
TOKEN_ERRORS = (401, 429)
"""Statuses of errors of operations that need a token."""
BODY_ERRORS = (408, 413, 415)
"""Statuses of errors of operations that read a body."""


def error_statuses(operation: Operation) -> tuple[int, ...]:
    """Return the statuses of all errors that an operation can have, in order.

    Examples
    --------
    >>> error_statuses(OPERATIONS[0])
    (400, 401, 403, 405, 408, 409, 412, 413, 415, 422, 429, 500, 503, 504)
    """
    found = set(COMMON_ERRORS) | set(operation.errors)
    if operation.scope is not None:
        found |= set(TOKEN_ERRORS)
    if operation.request:
        found |= set(BODY_ERRORS)
    return tuple(sorted(found - set(operation.statuses)))
