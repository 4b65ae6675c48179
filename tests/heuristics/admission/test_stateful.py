"""Whatever is asked of the engine in whatever order: its promises hold."""

from copy import deepcopy
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Instance, Task, violations
from tests.heuristics.admission.strategies import GAPS, SOUND, instants, loads
from tests.strategies import clusters

F = Fraction
slacks = st.builds(F, st.integers(1, 40), st.sampled_from([2, 4, 6]))


class Head(RuleBasedStateMachine):
    """A head node that tasks are submitted to, while time passes."""

    @initialize(data=st.data(), nodes=st.integers(1, 3), name=st.sampled_from(SOUND))
    def start(self, data, nodes, name):
        self.cluster = data.draw(clusters(nodes))
        self.ready = tuple(data.draw(st.lists(instants, min_size=nodes, max_size=nodes)))
        self.channel = data.draw(instants)
        self.head = Admission(
            self.cluster, name, ready_times=self.ready, channel_ready=self.channel
        )
        self.tasks, self.count = [], 0
        self.committed = ()
        self.accepted = ()

    def state(self):
        """Return all that a caller can see, and the numbers behind it."""
        head = self.head
        core = deepcopy(
            (head.planner.committed_state.__getstate__(), head.planner.waiting, head.planner.sent)
        )
        marks = [(at, nodes.ready(), nodes.channel) for at, nodes in head.planner.checkpoints]
        return head.plan(), head.waiting, head.now, head.placements(), core, marks

    @rule(gap=st.sampled_from(GAPS), load=loads, slack=slacks, again=st.booleans())
    def submit(self, gap, load, slack, again):
        """Submit a task, or one that was rejected with other content."""
        cluster = self.cluster
        alone = cluster.theta_cm + cluster.theta_cp
        alone += load * (cluster.tau_of(0) + cluster.chi_of(0))
        last = self.tasks[-1].arrival if self.tasks else 0
        arrival = max(self.head.now, last) + gap
        rejected = [one.task for one in self.head.decisions if not one.accepted]
        name = rejected[0] if again and rejected else f"t{self.count}"
        self.count += 1
        task = Task(name, arrival, load, alone * slack)
        before = self.state()
        decision = self.head.submit(task)
        self.tasks = [*(one for one in self.tasks if one.id != name), task]
        assert decision == self.head.decisions[-1]
        others = tuple(one for one in before[0].decisions if one.task != name)
        assert self.head.decisions[:-1] == others
        assert (decision.task, decision.at) == (task.id, arrival)
        if decision.accepted:
            assert decision.reason is None
            assert self.head.now == arrival
            assert set(before[1]) - set(self.head.waiting) <= {
                planned.task.id for planned in self.head.planner.sent
            }
        else:
            assert decision.by > 0
            assert decision.missed == task.id or decision.missed in before[1]
            after = self.state()
            assert after[0].chunks == before[0].chunks
            assert after[1:] == before[1:]

    @rule(gap=st.sampled_from([0, F(1, 3), 1, 3, 10, 60]))
    def advance(self, gap):
        before = self.state()
        self.head.advance(self.head.now + gap)
        after = self.state()
        assert after[0] == before[0]
        assert after[3] == before[3]
        starts = [planned.placement.start for planned in self.head.planner.waiting]
        assert all(start >= self.head.now for start in starts)

    def refused(self, error, call, *arguments):
        before = self.state()
        with pytest.raises(error):
            call(*arguments)
        assert self.state() == before

    @precondition(lambda self: self.head.now > 0)
    @rule(early=st.sampled_from([F(1, 10**9), 1, 50]))
    def submit_in_the_past(self, early):
        arrival = max(self.head.now - early, 0)
        self.refused(InvalidInstanceError, self.head.submit, Task("past", arrival, 1, 10**6))

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def submit_what_was_accepted(self, data):
        name = data.draw(st.sampled_from(self.accepted))
        task = Task(name, self.head.now, 1, 10**6)
        self.refused(InvalidInstanceError, self.head.submit, task)

    @rule(wrong=st.sampled_from([None, "t0", ("a", 0, 1, 9), {"id": "a"}]))
    def submit_what_is_no_task(self, wrong):
        self.refused(NotApplicableError, self.head.submit, wrong)

    @rule()
    def submit_a_rest(self):
        task = Task("rest", self.head.now, 3, 10**6, remaining=1)
        self.refused(InvalidInstanceError, self.head.submit, task)

    @precondition(lambda self: self.head.now > 0)
    @rule(early=st.sampled_from([F(1, 10**9), 1]))
    def advance_backwards(self, early):
        back = max(self.head.now - early, 0)
        self.refused(InvalidInstanceError, self.head.advance, back)

    @rule(wrong=st.sampled_from([None, "soon", float("nan"), float("inf"), -1]))
    def advance_to_nowhere(self, wrong):
        self.refused(InvalidInstanceError, self.head.advance, wrong)

    @invariant()
    def the_plan_is_valid(self):
        if self.tasks:
            instance = Instance(
                self.cluster,
                tuple(self.tasks),
                ready_times=self.ready,
                channel_ready=self.channel,
            )
            assert violations(instance, self.head.plan()) == ()

    @invariant()
    def nothing_is_taken_back(self):
        accepted = tuple(d.task for d in self.head.decisions if d.accepted)
        assert accepted[: len(self.accepted)] == self.accepted
        assert sorted(planned.task.id for planned in self.head.placements()) == sorted(accepted)
        self.accepted = accepted

    @invariant()
    def what_was_sent_stays(self):
        waiting = set(self.head.waiting)
        sent = tuple(chunk for chunk in self.head.plan().chunks if chunk.task not in waiting)
        assert sent[: len(self.committed)] == self.committed
        self.committed = sent


Head.TestCase.settings = settings(stateful_step_count=20)
TestHead = pytest.mark.property(Head.TestCase)
