"""Whatever is asked of a book of tasks and reservations in whatever order: its promises hold, or
are named as broken."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from dlopt import MultiStage
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task
from tests.heuristics.book_machine import BookMachine
from tests.heuristics.multistage.book_twin import FLOAT_SLACK, BookTwin
from tests.heuristics.multistage.strategies import hopeless_tasks, reservations

F = Fraction
gaps = st.sampled_from([0, 0, F(1, 2), 1, F(5, 2), 4])
loads = st.builds(F, st.integers(1, 12), st.sampled_from([1, 1, 2, 4]))
deadlines = st.builds(F, st.integers(2, 60), st.sampled_from([1, 1, 2]))


class ReservationBook(BookMachine):
    """A book of tasks and reservations, and a naive record of it."""

    @initialize(
        nodes=st.integers(1, 4),
        tau=st.sampled_from([0, F(1, 2), 1, 1]),
        chi=st.integers(1, 4),
        number=st.sampled_from([F, F, float]),
        ready=st.integers(0, 3),
        name=st.sampled_from(["multi-stage", "priced-multi-stage"]),
    )
    def start(self, nodes, tau, chi, number, ready, name):
        self.number = number
        cluster = Cluster(nodes, tau=number(tau), chi=number(chi))
        ready_times = tuple(number(ready * (node % 2)) for node in range(nodes))
        self.head = MultiStage(cluster, name, ready_times=ready_times)
        self.count, self.nodes = 0, nodes
        if name == "priced-multi-stage":
            for task in hopeless_tasks(number):
                assert not self.head.submit(task).accepted
        self.twin = BookTwin(self.head, FLOAT_SLACK if number is float else 0)

    def some(self, data):
        """Draw a promise."""
        promised = sorted([*self.twin.tasks, *self.twin.reservations])
        return data.draw(st.sampled_from(promised))

    def some_reservation(self, data, name, arrival, *, mandatory=False):
        """Draw a reservation in the numbers of the book."""
        one = data.draw(reservations(name, F(arrival), self.nodes, mandatory=mandatory))
        start, sent, end = map(self.number, (one.start, one.channel_end, one.end))
        return replace(one, arrival=arrival, start=start, end=end, io_end=sent, io_ratio=None)

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    @rule(gap=gaps, load=loads, deadline=deadlines)
    def submit(self, gap, load, deadline):
        task = Task(self.name("t"), self.at(gap), self.number(load), self.number(deadline))
        foretold = self.unchanged(self.head.ask, task)
        decision = self.head.submit(task)
        assert decision == foretold == self.unchanged(self.head.submit, task)
        assert self.unchanged(self.head.ask, task) == decision
        if decision.accepted:
            self.twin.promise(task)
            self.refused(self.head.submit, replace(task, load=task.load + 1))

    @rule(data=st.data(), gap=gaps, mandatory=st.sampled_from([False, False, True]))
    def reserve(self, data, gap, mandatory):
        one = self.some_reservation(data, self.name("r"), self.at(gap), mandatory=mandatory)
        try:
            foretold = self.unchanged(self.head.ask, one)
        except PromiseError:
            assert mandatory
            self.refused(self.head.reserve, one)
            return
        grant = self.head.reserve(one)
        assert grant == foretold == self.unchanged(self.head.reserve, one)
        assert self.unchanged(self.head.ask, one) == grant
        if grant.accepted:
            self.twin.promise(one)
            self.refused(self.head.reserve, replace(one, end=one.end + 1))
        else:
            assert not mandatory

    @rule(gap=gaps)
    def advance(self, gap):
        plan = self.head.plan()
        self.head.advance(self.at(gap))
        assert self.head.plan() == plan

    @precondition(lambda self: self.twin.tasks or self.twin.reservations)
    @rule(data=st.data())
    def cancel(self, data):
        identity = self.some(data)
        if not self.twin.alive(identity):
            self.refused(self.head.cancel, identity)
            return
        content = self.twin.tasks.get(identity)
        content = content or self.twin.reservations[identity].content
        assert self.head.cancel(identity).broken == ()
        self.twin.drop([identity])
        self.refused(self.head.cancel, identity)
        call = self.head.submit if isinstance(content, Task) else self.head.reserve
        self.refused(call, replace(content, arrival=self.head.now, **self.window(content)))

    def window(self, content):
        if isinstance(content, Task):
            return {}
        start = max(content.start, self.head.now)
        return {"start": start, "end": start + 1, "io_end": start}

    @precondition(lambda self: self.twin.tasks)
    @rule(data=st.data(), load=loads, deadline=deadlines)
    def change_task(self, data, load, deadline):
        task = self.twin.tasks[data.draw(st.sampled_from(sorted(self.twin.tasks)))]
        new = replace(task, load=self.number(load), deadline=self.number(deadline))
        now = self.head.now
        sent = [
            chunk
            for chunk in self.head.plan().chunks
            if chunk.task == task.id and chunk.transmission_start < now
        ]
        least = sum((chunk.load for chunk in sent), self.number(0))
        end = max((chunk.computation_end for chunk in sent), default=now)
        possible = new.load >= least and new.arrival + new.deadline >= end
        if not self.twin.alive(task.id) or not possible:
            self.refused(self.head.change, new)
            return
        if task.id in self.twin.incomplete:
            return  # it may have been reported to end
        before = self.visible()
        if self.head.change(new).accepted:
            self.twin.promise(new)
        else:
            assert self.visible() == before

    @precondition(lambda self: self.twin.reservations)
    @rule(data=st.data(), stays=st.booleans())
    def change_reservation(self, data, stays):
        held = self.twin.reservations[data.draw(st.sampled_from(sorted(self.twin.reservations)))]
        former, now = held.content, self.head.now
        new = self.some_reservation(data, former.id, max(now, former.arrival))
        new, begun = replace(new, arrival=former.arrival), former.start < now
        if begun and stays:
            sent = min(new.io_end, new.end)
            new = replace(new, start=former.start, nodes=former.nodes, io_end=sent)
        elif begun:
            new = replace(new, start=former.start + self.number(F(1, 4)), end=new.end + 1)
        if held.end <= now or (begun and not stays):
            self.refused(self.head.change, new)
            return
        before = self.visible()
        if not self.head.change(new).accepted:
            assert self.visible() == before
            return
        io_over = begun and held.io_end <= now
        self.twin.promise(new)
        changed = self.twin.reservations[new.id]
        changed.io_end = held.io_end if io_over else new.io_end
        assert self.head.reserve(new).accepted

    @precondition(lambda self: self.twin.tasks or self.twin.reservations)
    @rule(data=st.data(), gap=gaps)
    def finished(self, data, gap):
        identity, at = self.some(data), self.at(gap)
        if not (self.twin.alive(identity) and self.twin.has_begun(identity)):
            self.refused(self.head.finished, identity, at)
            return
        self.refused(self.head.finished, identity, self.head.now - 1)
        held = self.twin.reservations.get(identity)
        if held is not None:
            late = at > held.end
            done = self.head.finished(identity, at)
            assert late or not (done.broken or done.moved)
            held.end, held.io_end = at, min(held.io_end, at)
        else:
            task, chunks = self.twin.tasks[identity], self.head.plan().chunks
            own = [chunk for chunk in chunks if chunk.task == identity]
            end, now = max(chunk.computation_end for chunk in own), self.head.now
            running = any(chunk.transmission_start < now < chunk.computation_end for chunk in own)
            if at > end and not running:
                self.refused(self.head.finished, identity, at)
                return
            done = self.head.finished(identity, at)
            assert at > end or not (done.broken or done.moved)
            if at < end or (at > end and at > task.arrival + task.deadline):
                self.twin.incomplete.add(identity)
            if identity in done.broken:
                assert at > task.arrival + task.deadline
                if any(one.task == identity for one in self.head.decisions):
                    done = replace(done, broken=tuple(b for b in done.broken if b != identity))
        self.broken(done)

    def broken(self, done):
        """Take note of broken promises, whose identities are not free again yet."""
        promised = {*self.twin.tasks, *self.twin.reservations}
        assert len(set(done.broken)) == len(done.broken) and promised.issuperset(done.broken)
        assert self.twin.reservations.keys() >= set(done.moved)
        assert set(done.moved).isdisjoint(done.broken)
        self.twin.drop(done.broken)
        for identity in done.broken:
            self.refused(self.head.cancel, identity)

    @precondition(lambda self: self.head.nodes)
    @rule(data=st.data(), how=st.sampled_from(["fail", "remove"]))
    def lose(self, data, how):
        node = data.draw(st.sampled_from(self.head.nodes))
        waiting = {
            identity
            for identity, held in self.twin.reservations.items()
            if held.content.start >= self.head.now
        }
        done = self.head.resources(**{how: [node]})
        assert set(done.moved) <= waiting
        self.broken(done)
        for identity in done.moved:
            assert not isinstance(self.twin.reservations[identity].content.nodes, tuple)
        for grant in self.head.grants:
            held = self.twin.reservations.get(grant.reservation)
            if held is not None and held.end > self.head.now and node in grant.nodes:
                assert how == "remove" and held.content.start < self.head.now
        self.refused(self.head.resources, remove=[node])

    @rule(data=st.data())
    def gain(self, data):
        out = sorted(set(range(self.nodes)).difference(self.head.nodes))
        if out:
            node = data.draw(st.sampled_from(out))
            done = self.head.resources(repair=[node])
        else:
            node, done = self.nodes, self.head.resources(add=1)
            self.nodes += 1
        assert (done.broken, done.moved) == ((), ()) and node in self.head.nodes
        self.refused(self.head.resources, repair=[node])

    @rule()
    def archive(self):
        over = {
            identity
            for identity in (*self.twin.tasks, *self.twin.reservations)
            if not self.twin.alive(identity)
        }
        state, chunks = self.head.state(), self.head.plan().chunks
        done = self.head.archive()
        accepted = {one.task for one in done.decisions if one.accepted}
        granted = {one.reservation for one in done.grants if one.accepted}
        assert accepted | granted == over
        assert {one.id for one in done.reservations} == granted
        for one in done.reservations:
            held = self.twin.reservations[one.id]
            assert (one.start, one.end) == (held.content.start, held.end)
        assert set(done.allocations) == {chunk for chunk in chunks if chunk.task in accepted}
        self.twin.drop(over)
        assert self.head.state() == state
        again = self.unchanged(self.head.archive)
        assert not (again.decisions or again.grants or again.allocations or again.reservations)

    @rule()
    def restore(self):
        """Go on with a book that was saved and restored."""
        text = json.dumps(self.head.snapshot())
        before = self.visible()
        self.head = self.twin.head = MultiStage.restore(json.loads(text))
        assert self.visible() == before and json.dumps(self.head.snapshot()) == text

    @rule()
    def misuse(self):
        head = self.head
        for call, *arguments in (
            (head.ask, 5),
            (head.submit, Reservation("x", 10**6, 10**6, 10**7)),
            (head.reserve, Task("x", 10**6, 1, 9)),
            (head.reserve, Reservation("x", 10**6, 10**6, 10**7, nodes=(99,))),
            (head.change, Task("nobody", 0, 1, 9)),
            (head.change, Reservation("nobody", 0, 1, 9)),
            (head.cancel, "nobody"),
            (head.finished, "nobody", 10**6),
            (head.advance, -1),
            (head.advance, float("nan")),
        ):
            self.refused(call, *arguments)
        for wrong in ({"fail": [99]}, {"add": -1}, {"remove": ["0"]}, {"repair": [0, 0]}):
            self.refused(head.resources, **wrong)

    @invariant()
    def promises_hold(self):
        self.twin.check()


ReservationBook.TestCase.settings = settings(stateful_step_count=30)
TestReservationBook = pytest.mark.property(ReservationBook.TestCase)
