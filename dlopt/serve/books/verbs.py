"""The verbs of books: one table of how each is read, applied and answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dlopt.arithmetic import Number, to_json
from dlopt.books import Consequences
from dlopt.books.snapshots import PlainData
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.multistage.data import Reservation
from dlopt.problems.validated_record import Record
from dlopt.serve.books.holds import BookState, Hold
from dlopt.serve.errors import ConflictingStateError
from dlopt.service_api import arguments as args
from dlopt.service_api import book_records as records
from dlopt.service_api.book_records import kind_of
from dlopt.service_api.definitions import DEFINITIONS
from dlopt.service_api.json_data import plain_data
from dlopt.service_api.operations import OPERATIONS_BY_NAME, Permission

Apply = Callable[[BookState, Any, Any], object]
"""Applies a verb to a book with its arguments and options, and returns the record of the answer.
A snapshot, which may be large, is plain data already."""
Read: TypeAlias = tuple[Record, Record | None]
"""The arguments and the options of a call."""


@dataclass(frozen=True, slots=True)
class Verb:
    """Something that can be asked of a book.

    Parameters
    ----------
    name : str
    apply : callable, optional
        None for what is answered from the store.
    arguments : dict
        By problem, the record of its arguments.
    options : type, optional
        The record of what it takes in addition to a submission.
    changes : bool
        Whether it changes the book, and is logged.
    on_copy : bool
        Whether it is applied to a copy of the engine, while the book goes on: it answers a question
        that may take long, or prepares an engine for later calls as only what is logged may do.
    arrives : bool
        Whether it has a submission that arrives now unless it says when.
    is_slow : bool
        Whether it takes much longer than a decision: what was done before is written meanwhile.
    """

    name: str
    apply: Apply | None
    arguments: Mapping[str, type[Record]]
    options: type[Record] | None = None
    changes: bool = False
    on_copy: bool = False
    arrives: bool = False
    is_slow: bool = False

    def read(self, problem: str, data: Mapping[str, Any]) -> Read:
        """Return the arguments and the options of a call.

        Raises
        ------
        InvalidInstanceError
            With every fault of both.
        """
        if self.options is None:
            return self.arguments[problem].from_data(data), None
        names = self.options.__dataclass_fields__  # type: ignore[attr-defined]
        parts = (
            {name: value for name, value in data.items() if name not in names},
            {name: value for name, value in data.items() if name in names},
        )
        read: list[Record] = []
        faults: list[Fault] = []
        for record, part in zip((self.arguments[problem], self.options), parts, strict=True):
            try:
                read.append(record.from_data(part))
            except InvalidInstanceError as error:
                faults += error.faults
        if faults:
            raise InvalidInstanceError(faults)
        return read[0], read[1]

    def answer(self, book: BookState, arguments: Record, options: Record | None) -> PlainData:
        """Apply the verb to a book, and return the answer as plain data."""
        assert self.apply is not None  # the log is read from the store
        found = self.apply(book, arguments, options)
        answer: PlainData = found if isinstance(found, dict) else plain_data(found)
        return answer


def with_arrival(data: Mapping[str, Any], now: Number) -> Mapping[str, Any]:
    """Return the arguments of a call in which what does not say when it arrives does so now.

    Examples
    --------
    >>> with_arrival({"task": {"id": "a", "load": 1}}, 7)
    {'task': {'id': 'a', 'load': 1, 'arrival': 7}}
    """
    found = dict(data)
    for name in ("task", "reservation", "request"):
        if isinstance(found.get(name), Mapping):
            found[name] = _arriving(found[name], now)
    if isinstance(found.get("requests"), list):
        found["requests"] = [
            _arriving(one, now) if isinstance(one, Mapping) else one for one in found["requests"]
        ]
    return found


def require_arrived(arguments: Record, now: Number) -> None:
    """Refuse what arrives later than now: accepting it would advance the clock of the book.

    Raises
    ------
    InvalidInstanceError
        With the path of each such arrival.
    """
    batch = getattr(arguments, "requests", None)
    named: list[tuple[str, Any]] = [
        (kind_of(one) if batch is None else f"requests[{index}]", one)
        for index, one in enumerate(submissions_of(arguments))
    ]
    rule = "must not lie in the future of the server's clock; it may be left out"
    faults = [
        Fault(f"{path}.arrival", one.arrival, rule) for path, one in named if one.arrival > now
    ]
    if faults:
        raise InvalidInstanceError(faults)


def _arriving(submission: Mapping[str, Any], now: Number) -> Mapping[str, Any]:
    if "arrival" in submission:
        return submission
    return {**submission, "arrival": to_json(now)}


def submissions_of(arguments: Any) -> Sequence[Any]:
    """Return the submissions of a call: a batch of requests, or the one that it has."""
    batch: Sequence[Any] | None = getattr(arguments, "requests", None)
    return [submission_of(arguments)] if batch is None else batch


def submission_of(arguments: Any) -> Any:
    """Return the one submission that arguments have."""
    for name in ("task", "reservation", "request"):
        submission = getattr(arguments, name, None)
        if submission is not None:
            return submission
    raise AssertionError(f"{type(arguments).__name__} has no submission")


@contextmanager
def _faults_within(name: str) -> Iterator[None]:
    """Let faults of a submission have the paths that they have in the request."""
    try:
        yield
    except InvalidInstanceError as error:
        first = "requests[0]."
        faults = [
            replace(fault, path=f"{name}.{fault.path.removeprefix(first)}")
            if fault.path not in ("k", "at")
            else fault
            for fault in error.faults
        ]
        raise InvalidInstanceError(faults) from None


def _decide(book: BookState, arguments: Any, verb: str) -> records.DecisionAnswer:
    """Submit something, or ask about it."""
    engine: Any = book.engine
    batch = getattr(arguments, "requests", None)
    if batch is not None:
        decisions = getattr(engine, verb)(batch, at=arguments.at)
        return records.DecisionAnswer(decisions=tuple(decisions))
    submission = submission_of(arguments)
    kind = kind_of(submission)
    with _faults_within(kind):
        if kind == "request":
            at = getattr(arguments, "at", None)
            (decision,) = getattr(engine, verb)([submission], at=at)
        elif verb == "submit" and isinstance(submission, Reservation):
            decision = engine.reserve(submission)
        else:
            decision = getattr(engine, verb)(submission)
    return records.DecisionAnswer.of(decision)


def _ask(book: BookState, arguments: Any, _: None) -> records.DecisionAnswer:
    return _decide(book, arguments, "ask")


def _submit(book: BookState, arguments: Any, _: None) -> records.DecisionAnswer:
    """Submit; what was on hold until now is promised for good then, as if it was confirmed."""
    answer = _decide(book, arguments, "submit")
    if len(book.holds):
        for submission in submissions_of(arguments):
            kind = kind_of(submission)
            hold = book.holds.get(kind, submission.id)
            if hold is not None and book.is_promised(kind, submission.id):
                book.holds.remove(hold)
    return answer


def _offer(book: BookState, arguments: Any, options: args.OfferOptions) -> records.OffersAnswer:
    submission, engine = submission_of(arguments), book.engine
    with _faults_within(kind_of(submission)):
        offers = engine.offer(submission, k=options.k)
    return records.OffersAnswer(tuple(map(records.OfferAnswer.of, offers)))


def _why(book: BookState, arguments: Any, _: None) -> records.ConflictAnswer:
    submission = submission_of(arguments)
    with _faults_within(kind_of(submission)):
        return records.ConflictAnswer(book.engine.why(submission))


def _change(book: BookState, arguments: Any, _: None) -> records.DecisionAnswer:
    submission, engine = submission_of(arguments), book.engine
    with _faults_within(kind_of(submission)):
        return records.DecisionAnswer.of(engine.change(submission))


def _hold(book: BookState, arguments: Any, options: args.HoldOptions) -> records.HoldAnswer:
    submission = submission_of(arguments)
    kind, identity = kind_of(submission), submission.id
    name = book.engine.algorithm.name
    if ":literal" in name:
        raise NotApplicableError(f"{name} has no holds: it cannot take back what it promises")
    hold = book.holds.get(kind, identity)
    if hold is None and book.is_promised(kind, identity):
        raise ConflictingStateError(f"{kind} {identity} is promised already, without a hold")
    answer = _decide(book, arguments, "submit")
    assert answer.decision is not None
    if hold is None and answer.decision.accepted:
        ttl = float(options.ttl_s)
        hold = Hold(kind, identity, book.time + ttl, ttl)
        book.holds.add(hold)
    return records.HoldAnswer(answer.decision, None if hold is None else hold.record, answer.reason)


def _confirm(book: BookState, arguments: Any, _: None) -> records.HoldState:
    hold = book.holds.find(arguments.id, getattr(arguments, "kind", None))
    book.holds.remove(hold)
    return records.HoldState(hold.record)


def _release(book: BookState, arguments: Any, _: None) -> records.ConsequencesAnswer:
    hold = book.holds.find(arguments.id, getattr(arguments, "kind", None))
    book.cancel(hold.kind, hold.id)
    book.holds.remove(hold)
    return records.ConsequencesAnswer(_NOTHING)


def _expire(book: BookState, arguments: Any, _: None) -> records.ConsequencesAnswer:
    """Take back a promise whose hold has expired; if it has run already, nothing is left of it."""
    hold = book.holds.find(arguments.id, arguments.kind)
    if book.is_promised(hold.kind, hold.id):
        with suppress(NotApplicableError):
            book.cancel(hold.kind, hold.id)
    book.holds.remove(hold)
    return records.ConsequencesAnswer(_NOTHING)


def _consequences(book: BookState, done: Consequences) -> records.ConsequencesAnswer:
    """Return what happened to promises, once the holds of broken ones are removed."""
    book.forget_broken_holds()
    return records.ConsequencesAnswer(done)


def _cancel(book: BookState, arguments: Any, _: None) -> records.ConsequencesAnswer:
    return _consequences(book, book.cancel(getattr(arguments, "kind", None), arguments.id))


def _finished(book: BookState, arguments: Any, _: None) -> records.ConsequencesAnswer:
    engine: Any = book.engine
    kind = {"kind": arguments.kind} if isinstance(engine, MultiStage) else {}
    return _consequences(book, engine.finished(arguments.id, arguments.at, **kind))


def _resources(book: BookState, arguments: Any, _: None) -> records.ConsequencesAnswer:
    engine: Any = book.engine
    done = engine.resources(
        add=arguments.add, remove=arguments.remove, fail=arguments.fail, repair=arguments.repair
    )
    return _consequences(book, done)


def _advance(book: BookState, arguments: args.Instant, _: None) -> records.ClockTime:
    book.engine.advance(arguments.now)
    return records.ClockTime(book.engine.now)


def _archive(book: BookState, _arguments: Any, _: None) -> records.ArchiveAnswer:
    answer = records.ArchiveAnswer.of(book.engine.archive())
    book.forget_broken_holds()
    return answer


def _plan(book: BookState, _arguments: Any, _: None) -> records.PlanAnswer:
    return records.PlanAnswer(book.engine.plan())


def _state(book: BookState, _arguments: Any, _: None) -> records.StateAnswer:
    state = book.engine.state()
    return records.StateAnswer(None if state is None else records.State(**state._asdict()))


def _snapshot(book: BookState, _arguments: Any, _: None) -> PlainData:
    return {"snapshot": book.engine.snapshot()}


def _of_operation(name: str, apply: Apply | None, **traits: bool) -> Verb:
    """Return the verb that an operation of the service calls."""
    operation = OPERATIONS_BY_NAME[f"book_{name}"]
    arguments = operation.request or _for_all(args.NoArguments)
    changes = operation.scope is Permission.BOOK
    return Verb(name, apply, arguments, operation.options, changes, **traits)


def _for_all(record: type[Record]) -> dict[str, type[Record]]:
    return dict.fromkeys(DEFINITIONS, record)


_NOTHING = Consequences()

VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        _of_operation("ask", _ask, arrives=True),
        _of_operation("offer", _offer, arrives=True, on_copy=True),
        _of_operation("why", _why, arrives=True, on_copy=True),
        _of_operation("submit", _submit, arrives=True),
        _of_operation("hold", _hold, arrives=True),
        _of_operation("confirm", _confirm),
        _of_operation("release", _release),
        _of_operation("cancel", _cancel),
        _of_operation("change", _change, is_slow=True),
        _of_operation("finished", _finished, is_slow=True),
        _of_operation("resources", _resources, is_slow=True),
        _of_operation("advance", _advance),
        _of_operation("archive", _archive, is_slow=True),
        _of_operation("plan", _plan, on_copy=True),
        _of_operation("state", _state, on_copy=True),
        _of_operation("snapshot", _snapshot, on_copy=True),
        _of_operation("log", None),
    )
}
"""What can be asked of a book, by name."""

EXPIRE = Verb("expire", _expire, _for_all(args.ExpiredHold), changes=True)
"""What the clock does to a hold whose time to live is over. Nobody can ask for it."""
