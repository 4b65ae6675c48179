"""What is over is handed out once, and a book needs no more memory than what is alive takes."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.random_verbs import RandomCaller, new_book

NAMES = ("edf-iit-2", "edf-opr-mn", "fifo-epr-an", "mcdf", "mwf-opr-mn", "fast-edf-iit", "hybrid")


class ScanningBook(Admission):
    """Finds what is over among all decisions and all chunks."""

    def over(self) -> tuple[Sequence[str], Sequence[object]]:
        """Return the tasks that are over by now, and their chunks."""
        plan, now = self.plan(), self.now
        ends: dict[str, object] = {}
        for chunk in plan.chunks:
            ends[chunk.task] = max(ends.get(chunk.task, now), chunk.computation_end)
        over = [
            decision.task
            for decision in plan.decisions
            if (ends.get(decision.task, now) <= now if decision.accepted else decision.at < now)
        ]
        chunks = [chunk for chunk in plan.chunks if chunk.task in over]
        return over, sorted(chunks, key=lambda chunk: chunk.transmission_start)


@pytest.mark.parametrize("number", [float, Fraction])
@pytest.mark.parametrize("name", NAMES)
def test_it_hands_out_what_a_scan_of_everything_finds(name, number):
    handed_out = 0
    for seed in range(8):
        caller, book = RandomCaller(seed, number), new_book(seed, name, number)
        scanning = ScanningBook(book.cluster, name)
        twin = RandomCaller(seed, number)
        for _ in range(50):
            assert caller.calls(book, 1) == twin.calls(scanning, 1)
            over, chunks = scanning.over()
            archived, same = book.archive(), scanning.archive()
            assert archived == same
            gone = [decision.task for decision in archived.decisions]
            # What ended early and was lost with its node before that instant is over then.
            lost = set(over) - set(gone) - {chunk.task for chunk in chunks}
            assert gone == [task for task in over if task not in lost]
            assert sorted(map(repr, archived.allocations)) == sorted(map(repr, chunks))
            assert book.archive().decisions == ()
            scanning.archive()
            handed_out += len(over)
    assert handed_out > 30


def test_a_promised_task_without_load_is_over_at_once():
    tasks = (Task("a", 0, 4, 30, remaining=0), Task("b", 1, 3, 40))
    book = Admission.of(Instance(Cluster(2, 1, 2), tasks, now=5))
    assert [decision.task for decision in book.archive().decisions] == ["a"]
    book.advance(30)
    assert [decision.task for decision in book.archive().decisions] == ["b"]


def test_identities_are_new_again():
    book = Admission(Cluster(1, 1, 1))
    for name, load in (("done", 1), ("gone", 1), ("rejected", 90)):
        book.submit(Task(name, 0, load, 9))
    book.cancel("gone")
    book.advance(8)
    archive = book.archive()
    assert [decision.task for decision in archive.decisions] == ["done", "rejected"]
    assert [chunk.task for chunk in archive.allocations] == ["done"]
    assert book.submit(Task("done", 8, 1, 9)).accepted
    with pytest.raises(InvalidInstanceError, match="taken back"):
        book.submit(Task("gone", 8, 1, 9))
    book.advance(9)
    book.archive()
    assert book.submit(Task("gone", 9, 1, 20)).accepted


@pytest.mark.parametrize("name", ["fast-edf-iit", "fast-mwf-iit", "hybrid", "edf-iit-2"])
def test_the_size_of_a_book_is_that_of_what_is_alive(name):
    """A snapshot has everything that a book keeps, but for caches."""
    draw, book = random.Random(name), Admission(Cluster(4, 1.0, 8.0), name)
    sizes, now = [], 0.0
    for k in range(1200):
        now += draw.expovariate(0.4)
        book.submit(Task(f"task {k:06}", now, 0.5 + draw.random(), 4 + 60 * draw.random()))
        if k % 10 == 0:
            book.archive()
        if k % 100 == 99:
            sizes.append(len(str(book.snapshot())))
    assert max(sizes[6:]) < 2 * max(sizes[:6])
    assert len(book.decisions) < 120
