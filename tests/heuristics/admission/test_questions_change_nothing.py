"""Questions change nothing: later decisions are those of a book that was not asked, bit by bit."""

from __future__ import annotations

import random

import pytest

from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster


def ask_something(book: Admission, draw: random.Random, k: int) -> None:
    """Ask a book something that makes it compute its schedule, or take back tentative changes."""
    question = Task(f"q{k}", book.now, draw.uniform(0.3, 2.2), draw.uniform(900, 2000))
    much = Task(f"q{k}", book.now, 5000, 5)
    kind = draw.randrange(5)
    if kind == 0:
        book.plan()
    elif kind == 1:
        book.state()
    elif kind == 2:
        book.ask(question)
    elif kind == 3:
        book.earliest_deadline(question)
    else:
        book.offer(much)


@pytest.mark.parametrize("name", ["fast-mwf-iit", "fast-edf-iit", "fast-edf-iit-linear", "hybrid"])
def test_questions_change_no_later_decision(name: str) -> None:
    draw, other, tasks, rejected = random.Random(160), random.Random(5), 160, 0
    cluster, ready = Cluster(8, 0.1, 1.7), [997.3] * 8
    books = [Admission(cluster, name, ready_times=ready) for _ in range(2)]
    for k in range(tasks):
        if k % 4 == 0:
            ask_something(books[0], other, k)
        load, deadline = draw.uniform(0.3, 2.2), draw.uniform(900, 2500)
        decisions = [book.submit(Task(f"t{k}", k / 7, load, deadline)) for book in books]
        assert decisions[0] == decisions[1]
        rejected += not decisions[0].accepted
        if k % 40 == 39:
            for identity in sorted(books[1].waiting)[::7]:
                assert books[0].cancel(identity) == books[1].cancel(identity)
    assert books[0].snapshot() == books[1].snapshot()
    assert 0 < rejected < tasks
