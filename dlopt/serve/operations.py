"""The table of all operations: routes, the OpenAPI document and the scopes are made from it."""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.client.records import BookDescription
from dlopt.serve import bodies, job_bodies
from dlopt.serve.books.definitions import DEFINITIONS
from dlopt.serve.books.verbs import VERBS
from dlopt.serve.security import Scope

BOOK = "/v1/books/{name}"
JOB = "/v1/jobs/{id}"
JSON = "application/json"
PAGE_PARTS = (
    "page.css",
    "page.js",
    "allocations.js",
    "book_chart.js",
    "elements.js",
    "job_chart.js",
    "service.js",
    "docs.js",
)
"""Files that the pages load, in the folder ``page``; no other file is served."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query, or a header.

    Parameters
    ----------
    name : str
    place : {"query", "header"}
    kind : type
        ``int`` or ``str``.
    description : str
    pattern : str, optional
        Regular expression of its text.
    """

    name: str
    place: str
    kind: type
    description: str
    pattern: str | None = None


IF_MATCH = Parameter(
    "If-Match",
    "header",
    str,
    "The ETag of a former answer: if the book has changed since then, nothing is done.",
    r'^(\*|(W/)?"[0-9]{1,18}")$',
)
IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    str,
    "Of the caller's choice: the same request with the same key is done once, and its answer is "
    "given again.",
    r"^[!-~]{1,200}$",
)
LAST_EVENT = Parameter(
    "Last-Event-ID", "header", int, "The last event that was received: those after it follow."
)
AFTER = Parameter("after", "query", int, "Number of the record after which to begin.")
LIMIT = Parameter("limit", "query", int, "The most records to return.")
VALIDATE = Parameter(
    "validate", "query", str, "`only`: return all that is wrong, and do nothing.", "^only$"
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
    scope : Scope or None
        That a token needs; None if everybody may.
    summary, description : str
        For people.
    response : type or None
        The record that describes the body; None if it is no JSON.
    request : tuple of type
        The records of which the body of the request is one; empty if there is no body.
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
    scope: Scope | None
    summary: str
    description: str
    response: type | None
    request: tuple[type, ...] = ()
    options: type | None = None
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


def _verb(name: str, response: type, summary: str, description: str = "") -> Operation:
    """Return the operation that calls a verb of a book."""
    verb = VERBS[name]
    return Operation(
        f"book_{name}",
        "POST",
        f"{BOOK}/{name}",
        Scope.BOOK if verb.changes else Scope.READ,
        summary,
        description,
        response,
        tuple(dict.fromkeys(verb.arguments.values())),
        verb.options,
        errors=(404, 409, 412, 422),
        parameters=(IF_MATCH, IDEMPOTENCY_KEY) if verb.changes else (IF_MATCH,),
        verb=name,
    )


def _view(
    name: str, response: type, summary: str, description: str, *parameters: Parameter
) -> Operation:
    """Return the operation that shows something of a book."""
    return Operation(
        f"book_{name}",
        "GET",
        f"{BOOK}/{name}",
        Scope.READ,
        summary,
        description,
        response,
        errors=(404, 409, 412, 422),
        parameters=(IF_MATCH, *parameters),
        verb=name,
    )


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
    *(
        Operation(
            f"page_file_{name.replace('.', '_')}", "GET", f"/{name}", None,
            "Return a part of the pages", "", None,
            media_type="text/css" if name.endswith(".css") else "text/javascript",
            page_file=name,
        )
        for name in PAGE_PARTS
    ),
    Operation(
        "openapi", "GET", "/openapi.json", None, "Return the OpenAPI document",
        "OpenAPI 3.1, with the schemas of all records.", dict,
    ),
    Operation(
        "health", "GET", "/healthz", None, "Tell whether the service works",
        "Whether the store can be read, and its writer is alive; status 503 if not.",
        bodies.Health, statuses=(200, 503),
    ),
    Operation(
        "metrics", "GET", "/metrics", Scope.READ, "Return the metrics",
        "In the text format of Prometheus.", None, media_type="text/plain",
    ),
)  # fmt: skip

_BOOKS = (
    Operation(
        "create_book", "PUT", BOOK, Scope.BOOK, "Create a book",
        "Status 201 if it is new, 200 if it is there with the same definition, 409 with another.",
        BookDescription, tuple(DEFINITIONS.values()), statuses=(200, 201), errors=(409, 412, 422),
        parameters=(IF_MATCH,),
    ),
    Operation(
        "list_books", "GET", "/v1/books", Scope.READ, "List all books", "", bodies.BookList,
    ),
    Operation(
        "describe_book", "GET", BOOK, Scope.READ, "Describe a book", "", BookDescription,
        errors=(404, 412), parameters=(IF_MATCH,),
    ),
    Operation(
        "delete_book", "DELETE", BOOK, Scope.ADMIN, "Delete a book",
        "With its log and all promises. This cannot be undone.", bodies.BookName,
        errors=(404, 412), parameters=(IF_MATCH,),
    ),
    _verb("ask", bodies.DecisionAnswer,
          "Return the decision that a submission would get", "Nothing changes."),
    _verb("offer", bodies.OffersAnswer,
          "Return what would be accepted instead of a submission",
          "The smallest concession first. What would be accepted as it is gives no offer."),
    _verb("why", bodies.ConflictAnswer,
          "Return what stands in the way of a submission",
          "Without any one of these parts it would be accepted."),
    _verb("submit", bodies.DecisionAnswer, "Decide on a submission",
          "If it is accepted, it is promised, and durable before it is answered. The same content "
          "under the same identity gets the same answer again."),
    _verb("hold", bodies.HoldAnswer,
          "Promise a submission for a while",
          "Unless it is confirmed in time, the promise is taken back."),
    _verb("confirm", bodies.HoldState, "Make a promise permanent that is on hold"),
    _verb("release", bodies.ConsequencesAnswer, "Take back a promise that is on hold"),
    _verb("cancel", bodies.ConsequencesAnswer,
          "Take back a promise", "What has begun of it is broken off now."),
    _verb("change", bodies.DecisionAnswer,
          "Replace the content of a promise",
          "If all promises hold then; otherwise nothing changes."),
    _verb("finished", bodies.ConsequencesAnswer,
          "Report that something ends earlier or later than planned"),
    _verb("resources", bodies.ConsequencesAnswer,
          "Change the nodes or machines from now on",
          "Promises that cannot be kept are named, as few as possible."),
    _verb("advance", bodies.ClockTime, "Advance the clock"),
    _verb("archive", bodies.ArchiveAnswer,
          "Hand out what is over, and forget it"),
    _view("plan", bodies.PlanAnswer, "Return all decisions and allocations",
          "That are not archived."),
    _view("state", bodies.StateAnswer, "Return what is still to come",
          "As an instance with its plan, which `dlopt check` accepts."),
    _view("log", bodies.LogAnswer, "Return the records of the log",
          "In the order in which they were written.", AFTER, LIMIT),
    _view("snapshot", bodies.SnapshotAnswer, "Return the whole state",
          "From which a book can be made again."),
)  # fmt: skip

_JOBS = (
    Operation(
        "submit_job", "POST", "/v1/jobs", Scope.SOLVE, "Submit a job",
        "Status 202 with the path of the job; 200 with its status if the same question is "
        "answered already.",
        job_bodies.JobStatus, (job_bodies.JobQuestion,), statuses=(200, 202),
        errors=(404, 409, 422),
        parameters=(VALIDATE,),
    ),
    Operation("list_jobs", "GET", "/v1/jobs", Scope.READ, "List all jobs", "", job_bodies.JobList),
    Operation(
        "job_status", "GET", JOB, Scope.READ, "Return the status of a job", "",
        job_bodies.JobStatus,
        errors=(404,),
    ),
    Operation(
        "job_events", "GET", f"{JOB}/events", Scope.READ, "Follow a job",
        "As server-sent events: queued, started, progress (the best checked value and bound) and "
        "ended. The events before are sent first, from Last-Event-ID on.",
        None, errors=(404,), parameters=(LAST_EVENT,), media_type="text/event-stream",
    ),
    Operation(
        "cancel_job", "DELETE", JOB, Scope.SOLVE, "Stop a job",
        "The best checked schedule is kept.", job_bodies.EndedJob, errors=(404, 409),
    ),
    Operation(
        "job_result", "GET", f"{JOB}/result", Scope.READ, "Return the result of a job",
        "As `dlopt solve --json` prints it; of `compare`, as `dlopt compare --json` does.", dict,
        errors=(404, 409, 422),
    ),
    Operation(
        "job_certificate", "GET", f"{JOB}/certificate", Scope.READ, "Return the proof of the bound",
        "In the VIPR format, which other programs verify.", None, errors=(404, 409, 422),
        media_type="text/plain",
    ),
    Operation(
        "job_plot", "GET", f"{JOB}/plot", Scope.READ, "Return a chart of the schedule",
        "A Gantt chart.", None, errors=(404, 409, 422, 501), media_type="image/svg+xml",
    ),
)  # fmt: skip

OPERATIONS: tuple[Operation, ...] = (*_BOOKS, *_JOBS, *_SERVICE)
"""All operations, in the order in which the documentation lists them."""
DOCUMENTED = tuple(op for op in OPERATIONS if op.page_file not in PAGE_PARTS)
"""Those that the OpenAPI document describes: all but the parts of pages."""
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
