"""The time slot table against a plain array of slots."""

import math
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dlopt.arithmetic import exact
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.time_slot_table import TimeSlotTable
from dlopt.problems.coreservation import Machine

F = Fraction
SLOTS = 24
slots = st.integers(0, SLOTS)
whole = st.integers(0, 12)
thirds = st.builds(Fraction, st.integers(0, 36), st.just(3))
floats = st.floats(0, 12).filter(lambda cpu: cpu == 0 or cpu > 1e-9)


class Naive:
    """One number for each slot: slower, and obviously right."""

    def __init__(self, capacities):
        self.capacities = [
            [exact(self._at(steps, t)) for t in range(SLOTS)] for steps in capacities
        ]
        self.loads = [[F(0)] * SLOTS for _ in capacities]
        self.now = 0

    @staticmethod
    def _at(steps, slot):
        return next(value for since, value in reversed(steps) if since <= slot)

    def add(self, machine, start, end, cpu):
        for slot in range(max(start, self.now), end):
            self.loads[machine][slot] += exact(cpu)

    def smallest_free(self, machine, start, end):
        pairs = zip(self.capacities[machine], self.loads[machine], strict=True)
        return max(0, min(most - load for most, load in list(pairs)[start:end]))

    def average_load(self, machine, start, end):
        return sum(self.loads[machine][start:end]) / (end - start)


class TableMachine(RuleBasedStateMachine):
    cpus = st.one_of(whole, thirds)
    near = staticmethod(lambda told, truth: told == truth)

    @initialize(
        capacities=st.lists(
            st.tuples(whole, st.dictionaries(st.integers(1, SLOTS - 1), whole, max_size=2)),
            min_size=1,
            max_size=3,
        )
    )
    def begin(self, capacities):
        steps = [((0, first), *sorted(rest.items())) for first, rest in capacities]
        machines = [Machine(f"m{j}", one) for j, one in enumerate(steps)]
        self.table = TimeSlotTable(machines, exact_numbers=self.exact_numbers)
        self.naive = Naive(steps)
        self.held = []

    exact_numbers = True

    def window(self, data):
        start = data.draw(st.integers(self.naive.now, SLOTS - 1))
        return start, data.draw(st.integers(start + 1, SLOTS))

    def machine(self, data):
        return data.draw(st.integers(0, len(self.naive.loads) - 1))

    @precondition(lambda self: self.naive.now < SLOTS)
    @rule(data=st.data(), overbook=st.booleans())
    def reserve(self, data, overbook):
        machine, cpu = self.machine(data), data.draw(self.cpus)
        start, end = self.window(data)
        before = self.table.loads(machine)
        if overbook or exact(cpu) <= self.naive.smallest_free(machine, start, end):
            made = self.table.reserve(machine, start, end, cpu, overbook=overbook)
            self.naive.add(machine, start, end, cpu)
            self.held.append(made)
        else:
            with pytest.raises(NotApplicableError, match="asked for"):
                self.table.reserve(machine, start, end, cpu)
            assert self.table.loads(machine) == before

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def cancel(self, data):
        gone = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.table.cancel(gone)
        self.naive.add(gone.machine, gone.start, gone.end, -exact(gone.cpu))
        with pytest.raises(NotApplicableError, match="does not hold"):
            self.table.cancel(gone)

    @precondition(lambda self: self.naive.now < SLOTS)
    @rule(data=st.data())
    def fill(self, data):
        """What is said to be free can be reserved, and nothing is left."""
        machine, (start, end) = self.machine(data), self.window(data)
        cpu = self.table.smallest_free(machine, start, end)
        self.held.append(self.table.reserve(machine, start, end, cpu))
        self.naive.add(machine, start, end, cpu)
        assert self.naive.smallest_free(machine, start, end) >= 0

    @rule(steps=st.integers(0, 3))
    def advance(self, steps):
        self.naive.now = min(self.naive.now + steps, SLOTS)
        self.table.advance(self.naive.now)
        self.held = [one for one in self.held if one.end > self.naive.now]

    @precondition(lambda self: self.naive.now < SLOTS)
    @rule(data=st.data())
    def ask(self, data):
        window = self.machine(data), *self.window(data)
        for query in ("smallest_free", "average_load"):
            told = getattr(self.table, query)(*window)
            truth = getattr(self.naive, query)(*window)
            assert self.near(told, truth)
            assert exact(told) <= truth

    @invariant()
    def small(self):
        if not hasattr(self, "table"):
            return
        assert len(self.table) == len(self.held)
        for machine, loads in enumerate(self.naive.loads):
            told = self.table.loads(machine)
            truth = [(t, loads[t] if t < SLOTS else F(0)) for t in range(self.naive.now, SLOTS + 1)]
            steps = [
                (t, load)
                for (t, load), before in zip(truth, [None, *truth[:-1]], strict=True)
                if before is None or before[1] != load
            ]
            assert [t for t, _ in told] == [t for t, _ in steps]
            assert all(self.near(a, b) for (_, a), (_, b) in zip(told, steps, strict=True))
            # by reservations, not by slots
            mine = [one for one in self.held if one.machine == machine]
            assert len(told) <= 2 * len(mine) + 1


class FloatingTableMachine(TableMachine):
    """In floats: every answer is the largest float that is not above the truth."""

    cpus = floats
    exact_numbers = False

    @staticmethod
    def near(told, truth):
        nearest = float(truth)
        below = nearest if exact(nearest) <= truth else math.nextafter(nearest, -math.inf)
        return isinstance(told, float) and told == below


for machine in (TableMachine, FloatingTableMachine):
    machine.TestCase.settings = settings(stateful_step_count=20)
TestTable = pytest.mark.property(TableMachine.TestCase)
TestFloatingTable = pytest.mark.property(FloatingTableMachine.TestCase)


def test_a_cancel_leaves_no_trace_in_floats():
    """0.1 + 0.2 - 0.1 - 0.2 is not 0 in floats; here it is."""
    table = TimeSlotTable([Machine("m", 1.0)])
    held = [table.reserve(0, 0.5 * k, 9.7, 0.1 * (k + 1)) for k in range(3)]
    assert table.smallest_free(0, 0, 10) == pytest.approx(0.4)
    for one in held:
        table.cancel(one)
    assert table.loads(0) == ((0, 0.0),) and table.smallest_free(0, 0, 10) == 1.0
    assert len(table) == 0


def test_a_million_slots_cost_what_is_reserved():
    """A week in slots of 0.6 s; 300 reservations of a day each."""
    table = TimeSlotTable([Machine("m", 1000)])
    for k in range(300):
        table.reserve(0, 1000 * k, 1000 * k + 144_000, 1 + k % 3)
    assert len(table.loads(0)) <= 601
    assert table.smallest_free(0, 0, 1_008_000) == 1000 - max(load for _, load in table.loads(0))
    table.advance(400_000)
    assert table.loads(0)[0][0] == 400_000 and len(table) == 43


def test_capacity_steps():
    table = TimeSlotTable([Machine("m", ((0, 10), (5, 4), (8, 12)))], now=2)
    table.reserve(0, 2, 9, 3)
    windows = [((2, 5), 7), ((2, 6), 1), ((8, 9), 9), ((9, 20), 12), ((2, 20), 1)]
    assert [table.smallest_free(0, *window) for window, _ in windows] == [
        free for _, free in windows
    ]
    table.advance(7)
    assert [table.smallest_free(0, 7, 8), table.smallest_free(0, 8, 30)] == [1, 9]
    table.reserve(0, 7, 9, 100, overbook=True)
    assert table.smallest_free(0, 7, 30) == 0 and table.average_load(0, 7, 11) == F(103, 2)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ((1, 3, 4, 1), "machine: must be one of the machines 0 to 0, got 1"),
        ((-1, 3, 4, 1), "machine: must be one of"),
        ((0, 1, 4, 1), "start: must be a finite number, not before now, 2, got 1"),
        ((0, "x", 4, 1), "start: must be a finite number"),
        ((0, 3, 3, 1), "end: must be a finite number after the start, 3, got 3"),
        ((0, 3, float("inf"), 1), "end: must be a finite number"),
        ((0, 3, 4, -1), "cpu: must be a finite number, not negative, got -1"),
        ((0, 3, 4, True), "cpu: must be a finite number"),
    ],
)
def test_bad_input(given, fault):
    table = TimeSlotTable([Machine("m", 9)], now=2)
    with pytest.raises(InvalidInstanceError, match=fault):
        table.reserve(*given)
    if "cpu" not in fault:
        with pytest.raises(InvalidInstanceError, match=fault):
            table.smallest_free(*given[:3])
        with pytest.raises(InvalidInstanceError, match=fault):
            table.average_load(*given[:3])
    assert table.loads(0) == ((2, 0),)


def test_bad_tables():
    with pytest.raises(NotApplicableError, match="machines are needed"):
        TimeSlotTable([])
    with pytest.raises(NotApplicableError, match="machines are needed"):
        TimeSlotTable([100])
    with pytest.raises(InvalidInstanceError, match="now: must be a finite number from 0 on"):
        TimeSlotTable([Machine("m", 9)], now=-1)
    table = TimeSlotTable([Machine("m", 9)], now=2)
    with pytest.raises(InvalidInstanceError, match="now: must be a finite number, not before 2"):
        table.advance(1)


def test_each_step_of_a_capacity_meets_its_own_loads():
    """What is held before a step does not count against the capacity after it."""
    table = TimeSlotTable([Machine("m", ((0, 10), (5, 8)))])
    table.reserve(0, 0, 5, 6)
    assert table.smallest_free(0, 0, 10) == 4
    table.reserve(0, 6, 8, 3)
    assert table.smallest_free(0, 0, 10) == 4
    assert table.smallest_free(0, 4, 6) == 4
    assert table.smallest_free(0, 5, 10) == 5
