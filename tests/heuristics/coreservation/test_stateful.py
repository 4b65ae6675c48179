"""All verbs of the engine in any order: its promises hold, and a restored twin answers the same."""

import copy
import json
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dlopt import CoReservation
from dlopt.errors import DloptError
from dlopt.problems.coreservation import (
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    linear,
    staircase,
    step,
    violations,
)

F = Fraction
NAMES = ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr", "first-fit", "worst-fit", "priced")
IDS = [f"r{k}" for k in range(8)]
tenths = st.integers(0, 60)
soon = st.sampled_from([0, 1, 2, 5, 10, 20, 30])
FORECAST = [
    {"at": k / 9, "lead": k % 4, "length": 2, "least": 1, "steps": [[k % 7 / 9 + 0.1, 3 + k % 5]]}
    for k in range(30)
]
"""Requests that have arrived, so that CPU has a price from the beginning."""
COPIES = [
    copy.deepcopy,
    lambda engine: pickle.loads(pickle.dumps(engine)),
    lambda engine: CoReservation.restore(json.loads(json.dumps(engine.snapshot()))),
]


class Engine(RuleBasedStateMachine):
    """An engine, what it promised as a plain list, and a twin that was restored at some moment."""

    number = F
    tolerance = 0

    def of_tenths(self, tenth):
        return self.number(F(tenth, 10))

    @initialize(data=st.data(), name=st.sampled_from(NAMES), trim=st.booleans())
    def start(self, data, name, trim):
        count = data.draw(st.integers(1, 3))
        capacities = [self.draw_capacity(data) for _ in range(count)]
        self.machines = [Machine(f"m{j}", capacity) for j, capacity in enumerate(capacities)]
        self.failed, self.removed, self.serial = set(), set(), count
        self.holdings = []
        for _ in range(data.draw(st.integers(0, 2))):
            begin = data.draw(tenths)
            end = begin + data.draw(st.integers(1, 30))
            machine, cpu = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, 60))
            window = self.of_tenths(begin), self.of_tenths(end)
            self.holdings.append(Holding(machine, *window, self.of_tenths(cpu)))
        self.engine = CoReservation(
            self.machines,
            name,
            holdings=self.holdings,
            trim=trim,
            exact_numbers=self.number is F,
        )
        if name == "priced":
            busy = {**self.engine.snapshot(), "forecast": FORECAST}
            self.engine = CoReservation.restore(busy)
        self.twin = CoReservation.restore(self.engine.snapshot())
        self.alive = {}  # id: request, and of each part its machine and CPU

    def draw_capacity(self, data):
        if data.draw(st.booleans()):
            return self.of_tenths(data.draw(st.integers(30, 100)))
        since = sorted(data.draw(st.sets(st.integers(1, 90), min_size=1, max_size=2)))
        return tuple(
            (self.of_tenths(at), self.of_tenths(data.draw(st.integers(0, 100))))
            for at in (0, *since)
        )

    def draw_parts(self, data):
        if data.draw(st.booleans()):
            return self.draw_parts_with_equal_shares(data)
        parts = []
        for _ in range(data.draw(st.integers(1, 2))):
            cpu, shape = data.draw(st.integers(1, 50)), data.draw(st.integers(0, 3))
            fixed = st.none() | st.integers(0, len(self.machines) - 1)
            machine = data.draw(fixed) if data.draw(st.booleans()) else None
            benefit = (step(), linear(), staircase(2), linear())[shape]
            least = None if shape == 0 else self.of_tenths(cpu * data.draw(st.integers(0, 4)) // 4)
            parts.append(Part(self.of_tenths(cpu), least, benefit, machine))
        return tuple(parts)

    def draw_parts_with_equal_shares(self, data):
        """Return parts that get all that a machine has, placed in another order than theirs."""
        least = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=3))
        asked = self.of_tenths(100)
        return tuple(Part(asked, self.of_tenths(10 * one), linear()) for one in least)

    def draw_request(self, data, name=None, start=None):
        now = self.engine.now
        name = name or data.draw(st.sampled_from(IDS))
        start = now + self.of_tenths(data.draw(soon)) if start is None else start
        end = start + self.of_tenths(data.draw(st.integers(5, 60)))
        priority = data.draw(st.integers(1, 2))
        return Request(name, min(now, start), start, end, priority, self.draw_parts(data))

    def draw_known(self, data):
        """Return an identity: mostly of what has begun, or is alive."""
        begun = [name for name in self.alive if self.has_begun(name)]
        kinds = [kind for kind in (begun, list(self.alive), IDS) if kind]
        return data.draw(st.sampled_from(data.draw(st.sampled_from(kinds))))

    def call(self, verb, *arguments, **named):
        """Call a verb of both engines; what fails changes nothing, and fails in both."""
        before = self.engine.snapshot()
        try:
            answer = getattr(self.engine, verb)(*arguments, **named)
        except DloptError as error:
            assert self.engine.snapshot() == before
            with pytest.raises(type(error)) as caught:
                getattr(self.twin, verb)(*arguments, **named)
            assert str(caught.value) == str(error)
            return None
        assert getattr(self.twin, verb)(*arguments, **named) == answer
        return answer

    def unchanged(self, verb, *arguments, **named):
        before = self.engine.snapshot()
        answer = self.call(verb, *arguments, **named)
        assert self.engine.snapshot() == before
        return answer

    def remember(self, request):
        """Enter what was promised, as the engine says now."""
        shares = [share for share in self.engine.plan().shares if share.request == request.id]
        places = tuple((share.machine, share.cpu) for share in shares)
        assert [share.part for share in shares] == list(range(len(request.parts)))
        self.alive[request.id] = request, places

    @rule(data=st.data(), many=st.integers(1, 2), late=st.booleans())
    def submit(self, data, many, late):
        batch = [self.draw_request(data) for _ in range(many)]
        at = self.engine.now + self.of_tenths(data.draw(st.integers(0, 20))) if late else None
        asked = self.unchanged("ask", batch, at=at)
        decided = self.call("submit", batch, at=at)
        assert decided == asked
        for request, decision in zip(batch, decided or (), strict=decided is not None):
            assert decision.request == request.id
            if decision.accepted and request.id not in self.alive:
                self.remember(request)

    @rule(data=st.data(), past=st.integers(1, 3))
    def submit_and_begin(self, data, past):
        request = self.draw_request(data)
        decided = self.call("submit", [request])
        if decided is not None and decided[0].accepted and request.id not in self.alive:
            self.remember(request)
            self.call("advance", request.start + self.of_tenths(past))
            self.forget_what_is_over()

    @rule(data=st.data())
    def submit_again(self, data):
        """What is known already gets its decision again, and changes nothing."""
        saved = self.engine.snapshot()["requests"]
        if saved:
            entry = data.draw(st.sampled_from(saved))
            request = Request.from_data(entry["request"])
            if self.number is float:
                request = Request.from_data(json.loads(json.dumps(entry["request"])))
            (decision,) = self.unchanged("submit", [request])
            assert decision.accepted == entry["accepted"]
            assert self.unchanged("ask", request) == decision

    @rule(data=st.data(), k=st.integers(1, 3))
    def offer(self, data, k):
        request = self.draw_request(data)
        offers = self.unchanged("offer", request, k=k)
        for offer in offers or ():
            assert self.unchanged("ask", offer.submission).accepted
            assert offer.submission.id == request.id
            assert offer.concession > 0
        if offers is not None:
            assert len(offers) == len({offer.dimension for offer in offers}) <= k
            assert [o.concession for o in offers] == sorted(o.concession for o in offers)

    @rule(data=st.data())
    def why(self, data):
        request = self.draw_request(data)
        if request.id not in {
            entry["request"]["id"] for entry in self.engine.snapshot()["requests"]
        }:
            found, asked = self.unchanged("why", request), self.unchanged("ask", request)
            assert (found is None) == (asked is None or asked.accepted)
            for part in () if found is None else found.parts:
                known = self.alive if part.kind == "request" else map(str, range(99))
                assert part.id in known

    @rule(data=st.data())
    def cancel(self, data):
        name = self.draw_known(data)
        if self.call("cancel", name) is not None:
            del self.alive[name]

    @precondition(lambda self: self.alive)
    @rule(data=st.data(), keep=st.booleans())
    def change(self, data, keep):
        name = self.draw_known(data)
        start = self.alive[name][0].start if name in self.alive else None
        request = self.draw_request(data, name, start if keep else None)
        if keep and name in self.alive and len(request.parts) != len(self.alive[name][1]):
            request = replace(request, parts=self.alive[name][0].parts)
        before, begun = self.engine.snapshot(), name in self.alive and self.has_begun(name)
        former = self.alive.get(name)
        decision = self.call("change", request)
        if decision is None or not decision.accepted:
            assert self.engine.snapshot() == before
            return
        self.remember(request)
        if begun:
            now = self.alive[name]
            assert now[0].start == former[0].start
            assert [place[0] for place in now[1]] == [place[0] for place in former[1]]

    @precondition(lambda self: any(map(self.has_begun, self.alive)))
    @rule(data=st.data(), more=st.integers(-10, 30))
    def finished(self, data, more):
        name = self.draw_known(data)
        end = self.alive[name][0].end if name in self.alive else self.engine.now
        at = max(end + self.of_tenths(more), self.engine.now)
        done = self.call("finished", name, at)
        if done is not None:
            request, places = self.alive[name]
            self.alive[name] = replace(request, end=at), places
            assert name not in done.broken and name not in done.moved
            assert at > end or (done.broken, done.moved) == ((), ())
            self.follow(done, set())

    @rule(data=st.data())
    def resources(self, data):
        machines = st.integers(0, len(self.machines) - 1)
        most = {"remove": 1, "fail": 3, "repair": 1}
        change = {
            verb: data.draw(st.lists(machines, max_size=count, unique=True))
            for verb, count in most.items()
        }
        add = []
        for _ in range(data.draw(st.integers(0, max(0, min(2, 6 - len(self.machines)))))):
            self.serial += 1
            add.append(Machine(f"m{self.serial}", self.draw_capacity(data)))
        if data.draw(st.booleans()):
            self.restore_the_twin(data.draw(st.sampled_from(COPIES)))
        done = self.call("resources", add=add, **change)
        if done is not None:
            self.machines += add
            self.failed = (self.failed - {*change["repair"]}) | {*change["fail"]}
            self.removed |= {*change["remove"]}
            self.follow(done, {*change["fail"]})

    def follow(self, done, failed):
        """Check what became of the promises: the begun ones stay, moved ones keep their shares."""
        lost = {
            name
            for name, (_, places) in self.alive.items()
            if self.has_begun(name) and any(cpu and machine in failed for machine, cpu in places)
        }
        assert lost <= set(done.broken)
        assert not set(done.broken) & set(done.moved)
        order = [name for name in self.alive if name in done.broken]
        assert sorted(order) == sorted(done.broken)
        for name in done.broken:
            del self.alive[name]
        for name in done.moved:
            assert not self.has_begun(name)
            request, before = self.alive[name]
            self.remember(request)
            after = self.alive[name][1]
            assert [cpu for _, cpu in after] == [cpu for _, cpu in before]
            assert [j for j, _ in after] != [j for j, _ in before]

    @rule(gap=st.integers(0, 12))
    def advance(self, gap):
        self.call("advance", self.engine.now + self.of_tenths(gap))
        self.forget_what_is_over()

    @rule()
    def archive(self):
        over = {entry.request for entry in self.engine.decisions} - set(self.alive)
        handed = self.call("archive")
        assert {decision.request for decision in handed.decisions} <= over
        assert {share.request for share in handed.allocations} <= over
        again = self.call("archive")
        assert (again.decisions, again.allocations) == ((), ())
        left = {decision.request for decision in self.engine.decisions if decision.accepted}
        assert left == set(self.alive)

    @rule(copied=st.sampled_from(COPIES))
    def copy_to_the_twin(self, copied):
        self.restore_the_twin(copied)

    def restore_the_twin(self, copied):
        self.twin = copied(self.engine)

    @precondition(lambda self: self.engine.now > 0)
    @rule(wrong=st.sampled_from([-1, None, float("nan"), float("inf"), "now", True]))
    def bad_calls(self, wrong):
        for verb, arguments in (
            ("advance", (wrong,)),
            ("finished", ("r0", wrong)),
            ("cancel", (wrong,)),
            ("change", (wrong,)),
            ("submit", (wrong,)),
            ("ask", (wrong,)),
            ("offer", (wrong,)),
            ("why", (wrong,)),
        ):
            assert self.call(verb, *arguments) is None, verb
        for verb in ("add", "remove", "fail", "repair"):
            assert self.call("resources", **{verb: (wrong,)}) is None
            assert self.call("resources", **{verb: wrong}) is None

    def has_begun(self, name):
        return self.alive[name][0].start < self.engine.now

    def forget_what_is_over(self):
        now = self.engine.now
        self.alive = {name: one for name, one in self.alive.items() if one[0].end > now}

    @invariant()
    def what_is_alive_is_a_valid_plan(self):
        self.forget_what_is_over()
        state = self.engine.state()
        if state is None:
            assert not self.alive
            return
        instance, plan = state
        shares = [(one.request, one.part, one.machine, one.cpu) for one in plan.shares]
        promised = [
            (name, part, machine, cpu)
            for name, (_, places) in self.alive.items()
            for part, (machine, cpu) in enumerate(places)
        ]
        assert sorted(shares) == sorted(promised)
        assert sorted(one.request for one in plan.decisions) == sorted(self.alive)
        now = self.engine.now
        for request in instance.requests:
            own = self.alive[request.id][0]
            assert (request.start, request.end) == (max(own.start, now), own.end)
        assert violations(instance, plan, self.tolerance) == ()
        machines = [
            Machine(machine.id, 0 if j in self.failed else machine.capacity)
            for j, machine in enumerate(self.machines)
        ]
        own_instance = Instance(tuple(machines), instance.requests, None, tuple(self.holdings))
        assert violations(own_instance, plan, self.tolerance) == ()

    @invariant()
    def nothing_new_is_on_a_removed_machine(self):
        for name, (_, places) in self.alive.items():
            if not self.has_begun(name):
                assert not {machine for machine, _ in places} & self.removed

    @invariant()
    def the_twin_has_the_same_state(self):
        assert self.twin.snapshot() == self.engine.snapshot()
        assert self.twin.plan() == self.engine.plan()


class FloatingEngine(Engine):
    number = float


class MixedEngine(Engine):
    """Floats meet fractions: Python orders them by their bits, the checker by what they print."""

    tolerance = 1e-9

    def of_tenths(self, tenth):
        return float(F(tenth, 10)) if tenth % 2 else F(tenth, 10)


@pytest.mark.property
@pytest.mark.parametrize("machine", [Engine, FloatingEngine, MixedEngine])
def test_every_verb_in_any_order(machine):
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=25))
