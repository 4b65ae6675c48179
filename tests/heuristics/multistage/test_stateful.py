"""Whatever is asked of the engine in whatever order: its promises hold."""

from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from tests.heuristics.multistage.strategies import (
    GAPS,
    clusters,
    hopeless_tasks,
    loads,
    reservations,
    slacks,
)
from tests.heuristics.reference.multistage_engine import ReferenceMultiStage

F = Fraction


class Head(RuleBasedStateMachine):
    """A head node that tasks and reservations are told to, while time passes."""

    @initialize(
        data=st.data(),
        cluster=clusters,
        algorithm=st.sampled_from(["multi-stage", "priced-multi-stage"]),
    )
    def start(self, data, cluster, algorithm):
        self.cluster = cluster
        nodes = cluster.nodes
        self.ready = data.draw(st.just(()) | st.tuples(*[st.integers(0, 6)] * nodes))
        self.channel = data.draw(st.sampled_from([0, 0, 2]))
        state = {"ready_times": self.ready, "channel_ready": self.channel}
        self.head = MultiStage(cluster, algorithm, **state)
        self.twin = ReferenceMultiStage(cluster, algorithm, **state)
        self.tasks, self.wanted, self.count = [], [], 0
        if algorithm == "priced-multi-stage":
            self.tasks += hopeless_tasks()
            for task in self.tasks:
                assert self.head.submit(task) == self.twin.submit(task)
        self.committed, self.last = set(), 0

    def state(self):
        """Return all that a caller can see, and the numbers behind it."""
        head = self.head
        states = [(one.channel, list(one.nodes)) for one in head.planner.states]
        return head.plan(), head.waiting, head.now, states, list(head.planner.sent)

    def arrival(self, gap):
        self.last = max(self.head.now, self.last) + gap
        return self.last

    def name(self, kind, again):
        """Return a new identity, or one that was rejected, whose content is to be forgotten."""
        self.count += 1
        decisions = self.head.decisions if kind == "t" else self.head.grants
        for one in decisions if again else ():
            if not one.accepted:
                return one.task if kind == "t" else one.reservation
        return f"{kind}{self.count}"

    @rule(gap=st.sampled_from(GAPS), load=loads, slack=slacks, again=st.booleans())
    def submit(self, gap, load, slack, again):
        """Submit a task, or one that was rejected with other content."""
        task = Task(self.name("t", again), self.arrival(gap), load, slack)
        before = self.state()
        self.tasks = [*(one for one in self.tasks if one.id != task.id), task]
        decision = self.head.submit(task)
        assert decision == self.head.decisions[-1] == self.twin.submit(task)
        assert (decision.task, decision.at) == (task.id, task.arrival)
        if decision.accepted:
            assert self.head.now == task.arrival
        else:
            assert decision.of in ("load", "price") and decision.by > 0
            assert decision.missed == task.id or decision.missed in before[1]
            self.unchanged(before)

    @rule(data=st.data(), gap=st.sampled_from(GAPS), mandatory=st.booleans(), again=st.booleans())
    def reserve(self, data, gap, mandatory, again):
        name, nodes = self.name("r", again), self.cluster.nodes
        one = data.draw(reservations(name, self.arrival(gap), nodes, mandatory=mandatory))
        before = self.state()
        try:
            grant = self.head.reserve(one)
        except PromiseError as error:
            assert mandatory and f"mandatory reservation {name}: " in str(error)
            with pytest.raises(PromiseError):
                self.twin.reserve(one)
            assert self.state() == before
            return
        self.wanted = [*(other for other in self.wanted if other.id != name), one]
        assert grant == self.head.grants[-1] == self.twin.reserve(one)
        if grant.accepted:
            assert self.head.now == one.arrival and len(grant.nodes) == one.count
        else:
            assert not mandatory and grant.reason
            assert (grant.missed in before[1]) == (grant.conflict == "task")
            self.unchanged(before)

    def unchanged(self, before):
        after = self.state()
        assert after[0].chunks == before[0].chunks
        assert after[1:] == before[1:]

    @rule(gap=st.sampled_from([0, F(1, 3), 1, 3, 10, 60]))
    def advance(self, gap):
        before = self.head.plan()
        self.head.advance(self.head.now + gap)
        self.twin.advance(self.head.now)
        assert self.head.plan() == before
        starts = [planned.chunks[0].start for planned in self.head.planner.waiting]
        assert all(start >= self.head.now for start in starts) and starts == sorted(starts)

    @rule(
        wrong=st.sampled_from(
            [
                (InvalidInstanceError, "submit", Task("t0", 10**6, 1, 9, remaining=1)),
                (
                    InvalidInstanceError,
                    "reserve",
                    Reservation("far", 10**6, 10**6, 10**7, nodes=(9,)),
                ),
                (NotApplicableError, "submit", Reservation("r", 0, 1, 2)),
                (NotApplicableError, "reserve", Task("t", 0, 1, 2)),
                (InvalidInstanceError, "advance", float("nan")),
                (InvalidInstanceError, "advance", -1),
            ]
        )
    )
    def misuse(self, wrong):
        error, name, argument = wrong
        before = self.state()
        with pytest.raises(error):
            getattr(self.head, name)(argument)
        assert self.state() == before

    @invariant()
    def the_plan_is_valid(self):
        assert self.head.plan() == self.twin.plan()
        if self.tasks or self.wanted:
            instance = Instance(
                self.cluster,
                tuple(self.tasks),
                tuple(self.wanted),
                ready_times=self.ready,
                channel_ready=self.channel,
            )
            assert violations(instance, self.head.plan()) == ()

    @invariant()
    def what_was_sent_stays(self):
        waiting = set(self.head.waiting)
        sent = {chunk for chunk in self.head.plan().chunks if chunk.task not in waiting}
        assert sent >= self.committed
        self.committed = sent


Head.TestCase.settings = settings(stateful_step_count=20)
TestHead = pytest.mark.property(Head.TestCase)
