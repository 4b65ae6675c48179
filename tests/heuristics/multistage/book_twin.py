"""A naive record of what a book of tasks and reservations promised, and what must hold of it."""

from dataclasses import dataclass
from itertools import combinations

from dlopt import MultiStage, check
from dlopt.problems.multistage import Reservation, Task

FLOAT_SLACK = 1e-6
"""By how much loads and instants of a book in floats may differ from what was promised: far above
rounding, far below the smallest number that the tests use."""


@dataclass
class Held:
    """A reservation, and when it holds its nodes and the channel by what was reported."""

    content: Reservation
    io_end: object
    end: object


class BookTwin:
    """The promises of a book, by what was submitted and what it named as broken."""

    def __init__(self, head: MultiStage, slack: float) -> None:
        self.head, self.slack = head, slack
        self.tasks: dict[str, Task] = {}
        self.reservations: dict[str, Held] = {}
        self.incomplete: set[str] = set()  # tasks that ended early or missed their deadlines

    def promise(self, content: Task | Reservation) -> None:
        if isinstance(content, Task):
            self.tasks[content.id] = content
        else:
            self.reservations[content.id] = Held(content, content.channel_end, content.end)

    def drop(self, identities) -> None:
        for identity in identities:
            self.tasks.pop(identity, None)
            self.reservations.pop(identity, None)
            self.incomplete.discard(identity)

    def alive(self, identity: str) -> bool:
        """Tell whether something of a promise is still to come."""
        if identity in self.reservations:
            return self.reservations[identity].end > self.head.now
        return identity in self.head.waiting or any(
            chunk.task == identity and chunk.computation_end > self.head.now
            for chunk in self.head.plan().chunks
        )

    def has_begun(self, identity: str) -> bool:
        """Tell whether the book has begun with a promise."""
        now = self.head.now
        if identity in self.reservations:
            return self.reservations[identity].content.start < now
        return any(
            chunk.task == identity and chunk.transmission_start < now
            for chunk in self.head.plan().chunks
        )

    def check(self) -> None:
        """Require that all promises are planned, and that the plan is valid."""
        state = self.head.state()
        if state is not None:
            assert check(state.instance, state.plan) == ()
        plan = self.head.plan()
        assert {one.task for one in plan.decisions if one.accepted} == self.tasks.keys()
        assert {one.reservation for one in plan.grants if one.accepted} == self.reservations.keys()
        self._check_tasks(plan.chunks)
        self._check_reservations(plan.grants, state)
        self._check_overlaps(plan)

    def _check_tasks(self, chunks) -> None:
        for task in self.tasks.values():
            own = [chunk for chunk in chunks if chunk.task == task.id]
            if task.id not in self.incomplete:
                assert abs(sum(chunk.load for chunk in own) - task.load) <= self.slack
                end = max(chunk.computation_end for chunk in own)
                assert end <= task.arrival + task.deadline + self.slack

    def _check_reservations(self, grants, state) -> None:
        stated = {} if state is None else {one.id: one for one in state.instance.reservations}
        for grant in grants:
            if not grant.accepted:
                continue
            held = self.reservations[grant.reservation]
            wanted = held.content.nodes
            assert len(set(grant.nodes)) == held.content.count
            assert not isinstance(wanted, tuple) or set(grant.nodes) == set(wanted)
            in_service = set(grant.nodes) & set(self.head.nodes)
            if held.end <= self.head.now or not in_service:
                assert grant.reservation not in stated
                assert held.end <= self.head.now or self.has_begun(grant.reservation)
                continue
            one = stated[grant.reservation]
            assert (one.start, one.end) == (held.content.start, held.end)
            assert abs(one.io_end - held.io_end) <= self.slack
            assert {state.nodes[node] for node in one.nodes} == in_service

    def _check_overlaps(self, plan) -> None:
        """Require that nodes and channel do one thing at a time, in the past, too."""
        uses = [
            (chunk.transmission_start, chunk.transmission_end, chunk.computation_end, {chunk.node})
            for chunk in plan.chunks
        ]
        for grant in plan.grants:
            if grant.accepted:
                held = self.reservations[grant.reservation]
                uses.append((held.content.start, held.io_end, held.end, set(grant.nodes)))
        for one, other in combinations(uses, 2):
            start = max(one[0], other[0]) + self.slack
            assert start >= min(one[1], other[1])
            assert one[3].isdisjoint(other[3]) or start >= min(one[2], other[2])
