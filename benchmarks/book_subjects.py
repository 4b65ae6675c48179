"""Books, all of whose promises wait, with submissions that are accepted and one that is not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import fast_admission, multistage
from dlopt import Admission, CoReservation, MultiStage
from dlopt.books import Book
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request, linear
from dlopt.problems.multistage import Reservation

NODES = 512
"""Nodes of the cluster for divisible tasks."""
RESERVED_NODES = 256
"""Nodes of the cluster with reservations, as in benchmarks/multistage.py."""
RESERVATIONS = 10
"""Reservations ahead, as in benchmarks/multistage.py."""
MACHINES = 10
"""Machines for shares of CPU (Min 2001, chapter 4)."""
CAPACITY = 70.0
"""Capacity of each machine (Min 2001, chapter 4)."""
MEAN_REQUEST = 45.0 * 160.0
"""Mean CPU times mean length of a request, see `requests`."""
REQUESTED_SHARE = 0.6
"""Share of the capacity that is requested. Chosen by hand, so that nearly all are accepted."""
CALLS = 15
"""Calls of each verb, of which the median is taken."""
FILLED = 0.97
"""How much of the largest load that is accepted without the promised tasks a rejected task has.
Chosen by hand, so that few of the promised tasks suffice to reject it."""
HALVINGS = 40
"""Steps of the search for that load."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A book, all of whose promises wait, and what can be done with them.

    Parameters
    ----------
    book : Book
    submit : callable
        Submits one.
    new : list
        Submissions that are all accepted, one after the other.
    promised : list
        Submissions that were accepted; every second one is changed, the others are cancelled.
    changed : callable
        Returns a submission with less to do.
    negotiating : Book
        Equal to the book, at the instant at which all nodes are ready: else they would stand in
        the way.
    rejected : Task or Request
        Arrives at that instant, and is rejected because of what is promised.
    """

    book: Book
    submit: Callable[[Any], Any]
    new: list[Any]
    promised: list[Any]
    changed: Callable[[Any], Any]
    negotiating: Book
    rejected: Any


def _smaller(task: Task) -> Task:
    """Return a task with nine tenths of the load."""
    return replace(task, load=task.load * 0.9)


def _largest_load(empty: Book, task: Task) -> Task:
    """Return a task with the largest load that a book accepts."""
    low, high = 0.0, 1e9
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        accepted = empty.ask(replace(task, load=middle)).accepted
        low, high = (middle, high) if accepted else (low, middle)
    return replace(task, load=low)


def _rejected(book: Book, empty: Book, queued: list[QueuedTask]) -> Task:
    """Return a task that a book rejects now, and would accept without some of its promises."""
    due = sorted(float(task.deadline) for task in queued)[len(queued) // 2]
    now = float(book.now)
    largest = _largest_load(empty, Task("rejected", now, 1.0, due - now))
    task = replace(largest, load=FILLED * largest.load)
    if book.ask(task).accepted:
        raise RuntimeError("the rejected task is accepted")
    return task


def _task(queued: QueuedTask) -> Task:
    return Task(queued.id, queued.arrival, queued.load, queued.deadline - queued.arrival)


def admission(name: str, **options: bool) -> Callable[[int], Subject]:
    """Return what makes a book of divisible tasks that all wait for the first node."""

    def empty_book() -> Admission:
        tau, chi, *_ = fast_admission.COSTS
        ready = [fast_admission.BUSY] * NODES
        return Admission(Cluster(NODES, tau, chi), name, ready_times=ready, **options)

    def make(waiting: int) -> Subject:
        book, queued = empty_book(), fast_admission.tasks(waiting + CALLS, NODES)
        tasks = [_task(task) for task in queued]
        for task in tasks[:waiting]:
            if not book.submit(task).accepted:
                raise RuntimeError(f"{name}: the queue is not feasible")
        promised = random.Random(waiting).sample(tasks[:waiting], 2 * CALLS)
        later = Admission.restore(book.snapshot())
        later.advance(fast_admission.BUSY)
        rejected = _rejected(later, empty_book(), queued[:waiting])
        return Subject(book, book.submit, tasks[waiting:], promised, _smaller, later, rejected)

    return make


def multi_stage(waiting: int) -> Subject:
    """Return a book of divisible tasks that wait, with reservations ahead."""
    ahead, drawn, _ = multistage.arrivals(RESERVED_NODES, RESERVATIONS, waiting + 2 * CALLS, 0)
    cluster = Cluster(RESERVED_NODES, multistage.TAU, multistage.CHI)
    ready = [multistage.BUSY] * RESERVED_NODES
    book, empty = (MultiStage(cluster, ready_times=ready) for _ in range(2))
    for number, (start, sent, end, nodes) in enumerate(ahead[:RESERVATIONS]):
        if not isinstance(nodes, int):
            raise RuntimeError("a number of nodes is needed")
        reservation = Reservation(f"r{number}", 0.0, start, end, io_end=sent, nodes=nodes)
        if book.reserve(reservation).accepted:
            empty.reserve(reservation)
    arriving = map(_task, drawn)
    tasks = _accepted(book.submit, arriving, waiting)
    trial = MultiStage.restore(book.snapshot())
    new = _accepted(trial.submit, arriving, CALLS)
    promised = random.Random(waiting).sample(tasks, 2 * CALLS)
    later = MultiStage.restore(book.snapshot())
    later.advance(multistage.BUSY)
    rejected = _rejected(later, empty, drawn)
    return Subject(book, book.submit, new, promised, _smaller, later, rejected)


def requests(waiting: int) -> Iterator[Request]:
    """Yield requests of one part, of 20 to 70 % for 20 to 300, as in Min 2001, chapter 4."""
    rng = random.Random(waiting)
    span = waiting * MEAN_REQUEST / (MACHINES * CAPACITY * REQUESTED_SHARE)
    for number in range(4 * (waiting + CALLS)):
        start, cpu = 1000 + rng.uniform(0, span), rng.uniform(20, 70)
        part = Part(cpu, cpu / 4, linear())
        end = start + rng.uniform(20, 300)
        yield Request(str(number), 0.0, start, end, rng.randint(1, 100), (part,))


def co_reservation(waiting: int) -> Subject:
    """Return a book of shares of CPU that have not begun."""
    machines = [Machine(f"m{number}", CAPACITY) for number in range(MACHINES)]
    book = CoReservation(machines, "co-rspb")

    def smaller(request: Request) -> Request:
        (part,) = request.parts
        return replace(request, parts=(replace(part, cpu=part.cpu * 0.9),))

    def whole(request: Request) -> Request:
        end = request.start + 300
        return replace(request, id="rejected", end=end, parts=(Part(CAPACITY),))

    arriving = requests(waiting)
    promised = _accepted(lambda one: book.submit([one])[0], arriving, waiting)
    trial = CoReservation.restore(book.snapshot())
    new = _accepted(lambda one: trial.submit([one])[0], arriving, CALLS)
    rejected = next(one for one in map(whole, promised) if not book.ask(one).accepted)
    sampled = random.Random(waiting).sample(promised, 2 * CALLS)
    return Subject(book, lambda one: book.submit([one]), new, sampled, smaller, book, rejected)


def _accepted(submit: Callable[[Any], Any], arriving: Iterator[Any], count: int) -> list[Any]:
    """Submit until so many are accepted; return these."""
    found: list[Any] = []
    for one in arriving:
        if submit(one).accepted:
            found.append(one)
        if len(found) == count:
            return found
    raise RuntimeError(f"only {len(found)} of {count} are accepted")


SUBJECTS: dict[str, Callable[[int], Subject]] = {
    "Admission, fast-edf-iit": admission("fast-edf-iit"),
    "Admission, fast-edf-iit, compiled": admission("fast-edf-iit", compiled=True),
    "Admission, hybrid": admission("hybrid"),
    "Admission, edf-iit-2": admission("edf-iit-2"),
    "Admission, edf-opr-mn": admission("edf-opr-mn"),
    "MultiStage, multi-stage": multi_stage,
    "CoReservation, co-rspb": co_reservation,
}
"""What makes a book with so many waiting promises, by the name of the engine and its algorithm."""
