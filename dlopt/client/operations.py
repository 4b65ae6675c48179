"""The table of the service's operations, for clients: what each is called, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

JsonSchema: TypeAlias = Mapping[str, object]

TEXT: JsonSchema = {"type": "string"}
WHOLE: JsonSchema = {"type": "integer"}
TRUTH: JsonSchema = {"type": "boolean"}
NUMBER: JsonSchema = {"type": ["number", "string"]}
"""A number, or a fraction as a text ``p/q``."""
OBJECT: JsonSchema = {"type": "object"}
LIST: JsonSchema = {"type": "array"}
TEXTS: JsonSchema = {"type": "array", "items": TEXT}
NUMBERS: JsonSchema = {"type": "array", "items": NUMBER}


@dataclass(frozen=True, slots=True)
class Field:
    """An argument of an operation.

    Parameters
    ----------
    name : str
    schema : mapping
        The JSON Schema of its value.
    meaning : str
    required : bool
    """

    name: str
    schema: JsonSchema
    meaning: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that the service does.

    Parameters
    ----------
    name : str
    method : str
        Of HTTP. Arguments of GET stand in the query, of others in the body.
    path : str
        With the names of arguments in braces.
    summary : str
    fields : tuple of Field
        Those of the path come first.
    keyed : bool, default False
        It takes an idempotency key: sent twice under one key, it is done once.
    repeatable : bool, default True
        Whether sending it twice, if need be under one key, does no more than sending it once.
    answer : str, default ""
        The field of the body that has the answer; "" for all of it.
    text : bool, default False
        The body is a text, and not JSON.
    """

    name: str
    method: Literal["GET", "PUT", "POST", "DELETE"]
    path: str
    summary: str
    fields: tuple[Field, ...] = ()
    keyed: bool = False
    repeatable: bool = True
    answer: str = ""
    text: bool = False

    @property
    def safe(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET" or self.name in _QUESTIONS

    @property
    def destructive(self) -> bool:
        """Whether it may take back or break what was promised, or forget it."""
        return self.method == "DELETE" or self.name in _LOSSES


_QUESTIONS = frozenset(["ask", "offer", "why", "validate"])
_LOSSES = frozenset(["release", "cancel", "change", "finished", "resources", "archive"])
_BOOK = Field("book", TEXT, "Name of the book.", required=True)
_JOB = Field("job", TEXT, "Identity of the job.", required=True)
_KIND = Field(
    "kind",
    {"enum": ["task", "reservation"]},
    "In a book of tasks and reservations, which of two with one identity.",
)
_ID = Field("id", TEXT, "Identity of the promise: under which it was submitted.", required=True)
SUBMISSION_FIELDS = (
    Field("task", OBJECT, "A divisible task: id, arrival, load, deadline (relative)."),
    Field("reservation", OBJECT, "An advance reservation: id, arrival, start, end, nodes."),
    Field(
        "request",
        OBJECT,
        "A request for CPU shares: id, arrival, start, end, priority, parts [{cpu, cpu_min}].",
    ),
)
"""One of them is given, with the fields of instance files."""
_DEFINITION = (
    Field("problem", {"enum": ["admission", "multistage", "coreservation"]}, "Which book.", True),
    Field("cluster", OBJECT, "Of admission and multistage: nodes, tau, chi."),
    Field("machines", LIST, "Of coreservation: [{id, capacity}]."),
    Field("algorithm", TEXT, "Which algorithm decides."),
    Field("now", NUMBER, "The clock at the beginning."),
    Field("ready_times", NUMBERS, "When each node becomes free."),
    Field("channel_ready", NUMBER, "When the head node can send."),
    Field("holdings", LIST, "Of coreservation, reserved already: [{machine, start, end, cpu}]."),
    Field("order", TEXT, "Of coreservation: in which order requests of a batch are placed."),
    Field("allocation", TEXT, "Of coreservation: how much CPU they get."),
    Field("trim", TRUTH, "Of coreservation: reserve the least CPU of the same benefit."),
    Field("exact_numbers", TRUTH, "Compute in fractions; decimals are read as what they spell."),
    Field("clock", {"enum": ["caller", "wall"]}, "Who advances the clock."),
)
_RESOURCES = (
    Field("add", {}, "What is new: a number of nodes, or machines."),
    Field("remove", LIST, "What completes what it has begun, and takes no more."),
    Field("fail", LIST, "What loses what it has begun."),
    Field("repair", LIST, "What is as good as new."),
)
_QUESTION = (
    Field("instance", OBJECT, "An instance, as in a file: problem, version, ..."),
    Field("hash", TEXT, "Instead of an instance, the hash of one that the service has."),
    Field("kind", {"enum": ["solve", "compare", "check", "falsify", "certificate"]}, "What to do."),
    Field("method", TEXT, "Which method solves; by default the exact one."),
    Field("methods", TEXTS, "Of a comparison: which methods."),
    Field("objective", TEXT, "By default that of the problem."),
    Field("solution", OBJECT, "Of a check: the plan."),
    Field("problem", TEXT, "Of a falsification: the problem that the method solves."),
    Field("claim", TEXT, "Of a falsification: the claim to refute, instead of the method's own."),
    Field("target", {"enum": ["claim", "gap"]}, "Of a falsification: what to search for."),
    Field("limits", OBJECT, "time_s, work, threads, gap."),
    Field("seed", WHOLE, "Of the random numbers."),
    Field("options", OBJECT, "Options of the method."),
    Field("priority", WHOLE, "Jobs of a higher priority run first."),
)

_VERB_PATH = "/v1/books/{book}/"


def _verb(
    name: str, summary: str, *fields: Field, keyed: bool = True, answer: str = ""
) -> Operation:
    path = _VERB_PATH + name
    return Operation(name, "POST", path, summary, (_BOOK, *fields), keyed, answer=answer)


def _view(name: str, summary: str, *fields: Field, answer: str = "") -> Operation:
    return Operation(name, "GET", _VERB_PATH + name, summary, (_BOOK, *fields), answer=answer)


def _job(name: str, end: str, summary: str, *, text: bool = False) -> Operation:
    return Operation(name, "GET", "/v1/jobs/{job}" + end, summary, (_JOB,), text=text)


_SUBMISSION = SUBMISSION_FIELDS
BOOK_OPERATIONS = (
    Operation("books", "GET", "/v1/books", "List the books.", answer="books"),
    Operation(
        "create",
        "PUT",
        "/v1/books/{book}",
        "Create a book, or find that it is there and equal.",
        (_BOOK, *_DEFINITION),
    ),
    Operation("describe", "GET", "/v1/books/{book}", "Describe a book, its clock too.", (_BOOK,)),
    Operation("delete", "DELETE", "/v1/books/{book}", "Delete a book.", (_BOOK,), repeatable=False),
    _verb(
        "ask",
        "Return the decision that submit would make; change nothing.",
        *_SUBMISSION,
        keyed=False,
        answer="decision",
    ),
    _verb(
        "offer",
        "Return what would be accepted instead, the smallest concession first.",
        *_SUBMISSION,
        Field("k", WHOLE, "How many offers at the most."),
        keyed=False,
        answer="offers",
    ),
    _verb(
        "why",
        "Return what stands in the way: without any one of these parts it would be accepted.",
        *_SUBMISSION,
        keyed=False,
        answer="conflict",
    ),
    _verb(
        "submit",
        "Decide on a task, a reservation or a request; an acceptance is a promise.",
        *_SUBMISSION,
        answer="decision",
    ),
    _verb(
        "hold",
        "Submit with a time to live: taken back unless it is confirmed in time.",
        *_SUBMISSION,
        Field("ttl_s", {"type": "number"}, "Time to live in seconds.", required=True),
    ),
    _verb("confirm", "Make a hold a promise for good.", _ID, _KIND, answer="hold"),
    _verb("release", "Take back a hold.", _ID, _KIND, answer="consequences"),
    _verb("cancel", "Take back a promise.", _ID, _KIND, answer="consequences"),
    _verb(
        "change",
        "Replace the content of a promise if all promises hold then.",
        *_SUBMISSION,
        answer="decision",
    ),
    _verb(
        "finished",
        "Record that something ends earlier or later than planned.",
        _ID,
        _KIND,
        Field("at", NUMBER, "When it ends.", required=True),
        answer="consequences",
    ),
    _verb("resources", "Change nodes or machines.", *_RESOURCES, answer="consequences"),
    _verb(
        "advance",
        "Advance the clock.",
        Field("now", NUMBER, "The instant that it is.", required=True),
        answer="now",
    ),
    _verb("archive", "Hand out what is over, once, and forget it."),
    _view("plan", "Return all that was decided and allocated.", answer="plan"),
    _view("state", "Return what is alive: an instance with its plan.", answer="state"),
    _view(
        "log",
        "Return the records of the log.",
        Field("after", WHOLE, "The number of the last record that is known."),
        Field("limit", WHOLE, "How many records at the most."),
        answer="records",
    ),
    _view("snapshot", "Return the whole state of the book.", answer="snapshot"),
)
"""The operations on books."""
JOB_OPERATIONS = (
    Operation(
        "run",
        "POST",
        "/v1/jobs",
        "Solve or compare in a process of the service; returns the job at once.",
        _QUESTION,
        repeatable=False,
    ),
    Operation(
        "validate",
        "POST",
        "/v1/jobs?validate=only",
        "Return all faults of a question, without running it.",
        _QUESTION,
    ),
    Operation("jobs", "GET", "/v1/jobs", "List the jobs.", answer="jobs"),
    _job("job_status", "", "Return the state of a job, with its value and bound so far."),
    Operation(
        "stop", "DELETE", "/v1/jobs/{job}", "Stop a job; it keeps the best checked plan.", (_JOB,)
    ),
    _job("result", "/result", "Return the result of a job."),
    _job("certificate", "/certificate", "Return the proof of the bound of a job.", text=True),
    _job("plot", "/plot", "Return the plan of a job as an SVG drawing.", text=True),
)
"""The operations on jobs."""
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for operation in (*BOOK_OPERATIONS, *JOB_OPERATIONS)}
)
"""All operations, by name."""
EVENTS_PATH = "/v1/jobs/{job}/events"
"""Where the events of a job are, as they come."""
