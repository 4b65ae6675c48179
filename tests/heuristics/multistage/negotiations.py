"""Books of tasks and reservations after random calls, and what they reject."""

from copy import deepcopy
from fractions import Fraction

from hypothesis import reject
from hypothesis import strategies as st

from dlopt.problems.multistage import Reservation, Task
from tests.heuristics.multistage.random_verbs import RandomCaller, new_book

numbers = st.sampled_from([Fraction, float])


@st.composite
def negotiations(draw, kind, number, *, calls=12):
    """Return a book that rejects a task or a reservation, and what it rejects."""
    seed = draw(st.integers(0, 10**6))
    book, caller = new_book(seed, number), RandomCaller(seed, number)
    for _ in range(draw(st.integers(2, calls))):
        caller.call(book)
    for attempt in range(6):
        arrival = caller.at(book, 2)
        if kind == "task":
            task = caller.task("new", arrival)
            new = Task("new", arrival, task.load * 2**attempt, task.deadline)
        else:
            new = caller.reservation(book, "new", arrival)
        if not accepts(book, new):
            return book, new
    return reject()


def accepts(book, new):
    """Tell whether a copy of a book accepts something when it is submitted."""
    copy = deepcopy(book)
    if isinstance(new, Task):
        return copy.submit(new).accepted
    if new.mandatory:  # its refusal would be an error, and the same otherwise
        new = Reservation(
            new.id, new.arrival, new.start, new.end, new.io_end, new.io_ratio, new.nodes
        )
    return copy.reserve(new).accepted


def contents(book):
    """Return all that a caller sees of a book, and does not change by looking."""
    return book.plan(), book.decisions, book.grants, book.now, book.waiting, book.nodes
