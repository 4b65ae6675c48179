"""All verbs of a book of divisible tasks, chosen at random."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster

VERBS = (
    *("submit",) * 6,
    *("advance",) * 2,
    *(
        "cancel",
        "change",
        "finished",
        "finished",
        "archive",
        "fail",
        "remove",
        "restore",
        "earliest",
    ),
)


def new_book(seed: int, name: str, number: Callable[[Any], Any], **options: bool) -> Admission:
    """Return an empty book on a few nodes."""
    draw = random.Random(seed)
    cluster = Cluster(draw.randint(1, 5), number(1), number(draw.randint(1, 4)))
    return Admission(cluster, name, **options)


class RandomCaller:
    """Calls verbs of a book, and tells what came of each.

    Two callers with the same seed call the same verbs of equal books.
    """

    def __init__(self, seed: int, number: Callable[[Any], Any]) -> None:
        self._draw, self._number = random.Random(seed), number
        self._seed, self._tasks = seed, dict[str, Task]()

    def calls(self, book: Admission, count: int) -> list[str]:
        """Return the outcomes of so many calls, with the state after each."""
        return [f"{self._call(book)} {book.now} {book.plan()}" for _ in range(count)]

    def _call(self, book: Admission) -> object:
        verb = self._draw.choice(VERBS)
        one, two, three = self._numbers(), self._numbers(), self._numbers()
        choice = self._draw.randrange(10**6)
        promised = [decision.task for decision in book.decisions if decision.accepted]
        task = promised[choice % len(promised)] if promised else ""
        node = book.nodes[choice % len(book.nodes)] if book.nodes else 0
        third, least = self._number(1) / 3, self._number(4)
        try:
            if verb == "submit":
                name = f"{self._seed}-{len(self._tasks)}"
                new = Task(name, book.now + one * 2, third + two * 4, least + three * 18)
                self._tasks[name] = new
                return book.submit(new)
            if verb == "advance":
                return book.advance(book.now + one * 3)
            if verb == "cancel":
                return book.cancel(task)
            if verb == "change":
                former = self._tasks.get(task, Task(task, 0, 1, 1))
                return book.change(
                    replace(former, load=third + two * 6, deadline=least + three * 30)
                )
            if verb == "finished":
                return book.finished(task, book.now + one * 2)
            if verb == "archive":
                return book.archive()
            if verb == "fail":
                return book.resources(fail=[node])
            if verb == "remove":
                return book.resources(remove=[node])
            if verb == "restore":
                out = [gone for gone in range(10) if gone not in book.nodes]
                return book.resources(add=choice % 2, repair=out[:1] if choice % 3 else ())
            return book.earliest_deadline(Task("asked", book.now + one, third + two * 4, 5))
        except (InvalidInstanceError, NotApplicableError) as error:
            return error

    def _numbers(self) -> Any:
        if self._number is Fraction:
            return Fraction(self._draw.randint(0, 12), 6)
        return self._draw.random()
