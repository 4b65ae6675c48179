"""Whatever is asked of a book in whatever order: its promises hold, or are named as broken."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from dlopt import check
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.book_twin import FLOAT_SLACK, BookTwin
from tests.heuristics.book_machine import BookMachine

F = Fraction
ALGORITHMS = (
    "edf-iit-2",
    "edf-opr-mn",
    "fifo-opr-mn",
    "mwf-opr-mn",
    "mcdf",
    "edf-iit-1",
    "edf-epr-an",
    "fast-edf-iit",
    "fast-edf-iit-linear",
    "fast-edf-iit-simulated",
    "fast-mwf-iit",
    "hybrid",
)
gaps = st.sampled_from([0, 0, F(1, 2), 1, F(5, 3), 4])
loads = st.builds(F, st.integers(1, 16), st.sampled_from([1, 1, 2, 3]))
deadlines = st.builds(F, st.integers(2, 60), st.sampled_from([1, 1, 2]))


class AdmissionBook(BookMachine):
    """A book of divisible tasks, and a naive record of it."""

    @initialize(
        name=st.sampled_from(ALGORITHMS),
        nodes=st.integers(1, 4),
        chi=st.integers(1, 4),
        number=st.sampled_from([F, F, float]),
        ready=st.integers(0, 3),
    )
    def start(self, name, nodes, chi, number, ready):
        self.number = number
        cluster = Cluster(nodes, tau=number(1), chi=number(chi))
        ready_times = tuple(number(ready * (node % 2)) for node in range(nodes))
        self.head = Admission(cluster, name, ready_times=ready_times)
        self.count, self.nodes = 0, nodes
        self.twin = BookTwin(self.head, FLOAT_SLACK if number is float else 0)

    def some(self, data):
        """Draw a promised task."""
        return data.draw(st.sampled_from(sorted(self.twin.promised)))

    def alive(self, identity):
        """Tell whether something of a task is still to come."""
        plan = self.head.plan()
        return any(
            chunk.task == identity and chunk.computation_end > self.head.now
            for chunk in plan.chunks
        )

    @rule(gap=gaps, load=loads, deadline=deadlines)
    def submit(self, gap, load, deadline):
        task = Task(f"t{self.count}", self.at(gap), self.number(load), self.number(deadline))
        self.count += 1
        foretold = self.unchanged(self.head.ask, task)
        before = self.visible()
        decision = self.head.submit(task)
        assert decision == foretold
        if not decision.accepted:
            assert self.head.plan().chunks == before[0].chunks
            assert self.visible()[1:] == before[1:]
        assert self.unchanged(self.head.submit, task) == decision
        assert self.unchanged(self.head.ask, task) == decision
        if decision.accepted:
            self.twin.promise(task)
            self.refused(self.head.submit, replace(task, load=task.load + 1))

    @rule(gap=gaps)
    def advance(self, gap):
        plan = self.head.plan()
        self.head.advance(self.at(gap))
        if self.head.algorithm.name.startswith(("edf", "fifo", "mwf", "mcdf")):
            assert self.head.plan() == plan

    @precondition(lambda self: self.twin.promised)
    @rule(data=st.data())
    def cancel(self, data):
        identity = self.some(data)
        if not self.alive(identity):
            self.refused(self.head.cancel, identity)
            return
        task = self.twin.promised[identity]
        assert self.head.cancel(identity).broken == ()
        self.twin.drop([identity])
        self.refused(self.head.cancel, identity)
        self.refused(self.head.submit, replace(task, arrival=self.head.now))

    @precondition(lambda self: self.twin.promised)
    @rule(data=st.data(), load=loads, deadline=deadlines)
    def change(self, data, load, deadline):
        identity = self.some(data)
        former = self.twin.promised[identity]
        task = replace(former, load=self.number(load), deadline=self.number(deadline))
        self.refused(self.head.change, replace(task, arrival=former.arrival + 1))
        before = self.visible()
        try:
            decision = self.head.change(task)
        except (InvalidInstanceError, NotApplicableError):
            assert self.visible() == before
            return
        if decision.accepted:  # of a task that was to end, what a failure lost was still to come
            self.twin.promise(task)
            self.twin.ended.pop(identity, None)
        else:
            assert self.visible() == before

    @precondition(lambda self: self.twin.promised)
    @rule(data=st.data(), gap=st.sampled_from([0, 0, F(1, 2), 2, 9]))
    def finished(self, data, gap):
        identity, end = self.some(data), self.at(gap)
        chunks = [chunk for chunk in self.head.plan().chunks if chunk.task == identity]
        begun = any(chunk.transmission_start < self.head.now for chunk in chunks)
        planned = max((chunk.computation_end for chunk in chunks), default=0)
        running = any(
            chunk.transmission_start < self.head.now < chunk.computation_end for chunk in chunks
        )
        if not begun or not self.alive(identity) or (end > planned and not running):
            self.refused(self.head.finished, identity, end)
            return
        task = self.twin.promised[identity]
        done = self.head.finished(identity, end)
        if end <= planned:
            assert done.broken == ()
            self.twin.ended[identity] = end
        else:
            late = end > task.arrival + task.deadline + self.twin.slack
            if late and identity not in self.twin.excused:
                assert identity in done.broken
            still = {one.task for one in self.head.plan().decisions}
            if late and identity in still:
                self.twin.excused.add(identity)
            self.twin.drop(one for one in done.broken if one not in still)

    @rule(data=st.data(), verb=st.sampled_from(["add", "remove", "fail", "repair"]))
    def resources(self, data, verb):
        head, everything = self.head, set(range(self.nodes))
        inside = set(head.nodes)
        if verb == "add":
            if self.nodes < 6:
                assert head.resources(add=1).broken == ()
                self.nodes += 1
            return
        here = everything - inside if verb == "repair" else inside
        wrong = everything - here - (set() if verb == "repair" else set(self.twin.down))
        if verb != "fail":
            for node in sorted(wrong)[:1]:
                self.refused(head.resources, **{verb: [node]})
        if not here:
            return
        node = data.draw(st.sampled_from(sorted(here)))
        done = head.resources(**{verb: [node]})
        if verb == "repair":
            assert done.broken == ()
            self.twin.repair([node])
        elif verb == "fail":
            self.twin.fail([node])
        assert set(done.broken) <= set(self.twin.promised)
        self.twin.drop(done.broken)

    @rule()
    def archive(self):
        head = self.head
        plan, state = head.plan(), head.state()
        archive = head.archive()
        gone = {decision.task for decision in archive.decisions}
        assert {chunk.task for chunk in archive.allocations} <= gone
        assert all(chunk.computation_end <= head.now for chunk in archive.allocations)
        rest = head.plan()
        assert sorted((*rest.chunks, *archive.allocations), key=repr) == sorted(
            plan.chunks, key=repr
        )
        assert set(rest.decisions) | set(archive.decisions) == set(plan.decisions)
        assert head.state() == state
        assert head.archive().decisions == ()
        self.twin.drop(gone)

    @rule(wrong=st.sampled_from([None, -3, "unknown", float("nan"), ("t0",)]))
    def ask_for_nonsense(self, wrong):
        head = self.head
        self.refused(head.cancel, wrong)
        self.refused(head.finished, wrong, head.now)
        self.refused(head.ask, wrong)
        self.refused(head.change, wrong)
        self.refused(head.resources, fail=[wrong])
        self.refused(head.resources, repair=[wrong])
        self.refused(head.resources, add=wrong)
        self.refused(head.resources, remove=[99])

    @precondition(lambda self: self.twin.promised)
    @rule(data=st.data(), wrong=st.sampled_from([float("nan"), float("inf"), -1, "soon", None]))
    def finish_at_nonsense(self, data, wrong):
        self.refused(self.head.finished, self.some(data), wrong)

    @rule()
    def go_on_with_a_copy(self):
        self.head = deepcopy(self.head)
        self.twin.head = self.head

    @invariant()
    def the_state_is_valid(self):
        state = self.head.state()
        if state is not None:
            assert check(state.instance, state.plan) == ()
            assert state.nodes == tuple(node for node in state.nodes if node in self.head.nodes)

    @invariant()
    def promises_are_kept(self):
        self.twin.check()


AdmissionBook.TestCase.settings = settings(stateful_step_count=30)
TestAdmissionBook = pytest.mark.property(AdmissionBook.TestCase)
