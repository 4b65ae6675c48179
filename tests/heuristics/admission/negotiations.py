"""Books of tasks after some events, and tasks that they reject."""

from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import reject
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Task
from tests.heuristics.admission.strategies import PROMISING, streams

FAST = (
    "fast-edf-iit",
    "fast-edf-iit-linear",
    "fast-edf-iit-simulated",
    "fast-edf-iit-minimal",
    "fast-mwf-iit",
    "hybrid",
)
ALGORITHMS = (*PROMISING, *FAST)
EXACT = tuple(
    name
    for name in ALGORITHMS
    if name not in ("edf-iit-1", "fast-edf-iit-minimal") and not name.endswith("iit-an")
)
"""Algorithms of which offers of loads and of later arrivals come from breakpoints."""

VERBS = st.lists(st.sampled_from(["cancel", "fail", "remove", "add"]), max_size=2)


@dataclass(frozen=True)
class Negotiation:
    """A book, and a task that it rejects."""

    book: Admission
    task: Task

    def accepts(self, **changes):
        """Tell whether a copy of the book accepts the task with some changes."""
        return deepcopy(self.book).submit(replace(self.task, **changes)).accepted


def in_floats(record):
    """Return a cluster or a task with floats."""
    return replace(
        record,
        **{
            name: float(getattr(record, name))
            for name in record.__dataclass_fields__
            if isinstance(getattr(record, name), Fraction | int) and name not in ("nodes",)
        },
    )


@st.composite
def negotiations(draw, name, *, floats=False, events=True):
    """Return a book of an algorithm that rejects a task; `events` are failures and the like."""
    simple = name in FAST
    stream = draw(streams(tasks=6, setup=not simple, state=name != "fast-edf-iit-minimal"))
    cast = in_floats if floats else lambda record: record
    number = float if floats else Fraction
    book = Admission(
        cast(stream.cluster),
        name,
        ready_times=tuple(map(number, stream.ready_times)),
        channel_ready=number(stream.channel_ready),
    )
    *before, task = map(cast, stream.tasks)
    for one in before:
        if one.arrival >= book.now:
            book.submit(one)
    if events and name != "fast-edf-iit-minimal":
        for verb in draw(VERBS):
            _happen(draw, book, verb)
    task = replace(task, arrival=max(task.arrival, book.now))
    for _ in range(8):
        if not book.ask(task).accepted:
            return Negotiation(book, task)
        task = replace(task, load=task.load * 4)
    return reject()


def _happen(draw, book, verb):
    if verb == "cancel":
        accepted = [decision.task for decision in book.decisions if decision.accepted]
        if accepted:
            try:
                book.cancel(draw(st.sampled_from(accepted)))
            except NotApplicableError as error:
                assert "is over" in str(error)
    elif verb == "add":
        book.resources(add=1)
    elif book.nodes:
        book.resources(**{verb: [draw(st.sampled_from(book.nodes))]})


def contents(book):
    """Return all that a caller sees of a book."""
    try:
        placements = book.placements()
    except NotApplicableError:
        placements = None
    return book.plan(), book.decisions, book.now, book.waiting, book.nodes, placements
