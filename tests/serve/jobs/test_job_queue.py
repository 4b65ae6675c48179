"""The order of the queue, against a plain statement of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.serve.errors import TooManyRequestsError
from dlopt.serve.jobs.job_queue import JobQueue

ARRIVALS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-1, 1), st.booleans()), max_size=30
)


class PlainQueue:
    """A list of (priority, owner, job); owners have turns by when they were served last."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, str, str]] = []
        self.turns: dict[tuple[int, str], int] = {}
        self.clock = 0

    def put(self, job: str, owner: str, priority: int) -> None:
        self.clock += 1
        if not any((priority, owner) == entry[:2] for entry in self.waiting):
            self.turns[priority, owner] = self.clock  # its turn is after those who wait
        self.waiting.append((priority, owner, job))

    def pop(self) -> str | None:
        if not self.waiting:
            return None
        self.clock += 1
        first = min(self.waiting, key=lambda entry: (-entry[0], self.turns[entry[:2]]))
        self.waiting.remove(first)
        self.turns[first[:2]] = self.clock
        return first[2]

    def remove(self, job: str) -> bool:
        before = len(self.waiting)
        self.waiting = [entry for entry in self.waiting if entry[2] != job]
        return len(self.waiting) < before


@given(ARRIVALS, st.data())
def test_it_is_served_as_is_said_of_it(
    arrivals: list[tuple[str, int, bool]], data: st.DataObject
) -> None:
    queue, plain = JobQueue(capacity=100), PlainQueue()
    for number, (owner, priority, takes) in enumerate(arrivals):
        job = f"{owner}{number}"
        queue.put(job, owner, priority)
        plain.put(job, owner, priority)
        assert not takes or queue.pop() == plain.pop()
        if data.draw(st.booleans()):
            other = f"{data.draw(st.sampled_from('abc'))}{data.draw(st.integers(0, number))}"
            assert queue.remove(other) == plain.remove(other)
        assert len(queue) == len(plain.waiting)
    while plain.waiting:
        assert queue.pop() == plain.pop()
    assert queue.pop() is None and len(queue) == 0


def test_who_has_a_thousand_jobs_delays_another_by_one() -> None:
    queue = JobQueue(capacity=2_000)
    for number in range(1_000):
        queue.put(f"many-{number}", "many")
    queue.put("one", "few")
    assert [queue.pop(), queue.pop()] == ["many-0", "one"]


def test_it_is_bounded() -> None:
    queue = JobQueue(capacity=1)
    queue.require_place()
    queue.put("first", "")
    with pytest.raises(TooManyRequestsError, match=r"the job queue is full \(1 jobs\)") as refused:
        queue.require_place()
    assert refused.value.retry_after_s
    queue.pop()
    queue.require_place()
