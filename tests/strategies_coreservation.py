"""Hypothesis strategies for small exact instances of CPU shares, and for valid plans of them."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from dlopt.arithmetic import exact
from dlopt.problems.coreservation import (
    Batch,
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    affine,
    batch_times,
    linear,
    staircase,
    step,
)
from tests.oracles_coreservation import room

instants = st.integers(0, 8) | st.builds(Fraction, st.integers(0, 16), st.just(2))
lengths = st.integers(1, 5) | st.builds(Fraction, st.integers(1, 10), st.just(2))
cpus = st.integers(1, 8) | st.builds(Fraction, st.integers(1, 24), st.just(3))
capacities = st.integers(0, 10) | st.builds(Fraction, st.integers(0, 30), st.just(3))
priorities = st.integers(1, 5) | st.builds(Fraction, st.integers(1, 9), st.just(2))
quarters = st.builds(Fraction, st.integers(0, 4), st.just(4))
three_quarters = st.tuples(quarters, quarters, quarters)
steps = st.sets(instants.filter(bool), max_size=2)
batches = st.none() | st.builds(Batch, lengths)


@st.composite
def shapes(draw):
    """Return a benefit function: one of the four shapes, or any other with a jump or a bend."""
    named = [step(), linear(), affine(Fraction(1, 3)), staircase(2), staircase(3)]
    if draw(st.integers(0, 3)):
        return draw(st.sampled_from(named))
    at = draw(quarters)
    low, high, top = sorted(draw(three_quarters))
    if at == 0:
        return ((0, 0), (0, low), (1, top))
    return ((0, 0), (1, low), (1, top)) if at == 1 else ((0, 0), (at, low), (at, high), (1, top))


@cache
def _no_or_a_machine(machines):
    return st.none() | st.integers(0, machines - 1)


@cache
def _lists_of_parts(machines, most, hard, fixed):
    return st.lists(parts(machines, hard=hard, fixed=fixed), min_size=1, max_size=most)


@st.composite
def parts(draw, machines, *, hard=False, fixed=True):
    """Return a part; now and then it is on one machine."""
    cpu = draw(cpus)
    machine = draw(_no_or_a_machine(machines)) if fixed else None
    if hard or draw(st.integers(0, 2)) == 0:
        return Part(cpu, machine=machine)
    shape = draw(shapes())
    jumps = shape[1][0] == 0 < shape[1][1]
    least = cpu * Fraction(draw(st.integers(1 if jumps else 0, 4)), 4)
    return Part(cpu, least, shape, machine)


@st.composite
def coreservation(
    draw,
    *,
    machines=2,
    requests=3,
    parts_each=2,
    hard=False,
    fixed=True,
    batched=True,
    together=False,
    state=True,
):
    """Return an instance in exact numbers.

    `machines`, `requests` and `parts_each` are the most of them. With `hard` no part takes less
    than it asks for; without `fixed` every part floats; without `batched` requests are decided
    one by one, with `together` all at instant 0. Without `state` there are no holdings and no
    steps of a capacity.
    """
    count = draw(st.integers(1, machines))
    arrivals = sorted(draw(st.lists(instants, min_size=1, max_size=requests)))
    made = []
    some = _lists_of_parts(count, parts_each, hard, fixed)
    for index, arrival in enumerate(arrivals):
        arrival = 0 if together else arrival
        start = arrival + draw(instants)
        window = arrival, start, start + draw(lengths)
        made.append(Request(f"r{index}", *window, draw(priorities), tuple(draw(some))))
    holdings = draw(st.lists(_holdings(count), max_size=2)) if state else []
    batch = draw(batches) if batched else None
    return Instance(
        tuple(Machine(f"m{j}", draw(_capacities(state))) for j in range(count)),
        tuple(made),
        Batch(1) if together else batch,
        tuple(holdings),
    )


@st.composite
def _holdings(draw, machines):
    start = draw(instants)
    return Holding(draw(st.integers(0, machines - 1)), start, start + draw(lengths), draw(cpus))


@st.composite
def _capacities(draw, state):
    if not state or draw(st.integers(0, 2)):
        return draw(capacities)
    since = sorted(draw(steps))
    return tuple((instant, draw(capacities)) for instant in [0, *since])


@st.composite
def planned(draw, **options):
    """Return an instance and a valid plan of it, in which machines are full at some instant.

    The shares are chosen first; the capacities are what they and the holdings need.
    """
    instance = draw(coreservation(**options))
    times = batch_times(instance)
    decisions, shares = [], []
    for request, latest in zip(instance.requests, times, strict=True):
        accepted = draw(st.integers(0, 3)) > 0
        at = draw(st.sampled_from([request.arrival, latest]))
        decisions.append(Decision(request.id, accepted, at))
        for index, part in enumerate(request.parts if accepted else ()):
            machine = part.machine
            if machine is None:
                machine = draw(st.integers(0, len(instance.machines) - 1))
            part_of = Fraction(draw(st.integers(0, 4)), 4)
            cpu = part.least + (part.cpu - part.least) * part_of
            shares.append(Share(request.id, index, machine, cpu))
    plan = Solution(tuple(decisions), tuple(shares))
    return roomy(instance, plan), plan


def roomy(instance, plan):
    """Return the instance with just so much more capacity that the plan is valid."""
    windows = {one.id: (one.start, one.end) for one in instance.requests}
    machines = []
    for index, machine in enumerate(instance.machines):
        mine = [(*windows[one.request], one.cpu) for one in plan.shares if one.machine == index]
        starts = {start for start, _, _ in mine} | {since for since, _ in machine.steps}
        starts |= {one.start for one in instance.holdings if one.machine == index}
        lacking = 0
        for instant in starts:
            load = sum(cpu for start, end, cpu in mine if start <= instant < end)
            if load:
                lacking = max(lacking, load - room(instance, index, instant))
        steps = tuple((since, value + lacking) for since, value in machine.steps)
        machines.append(replace(machine, capacity=steps))
    return replace(instance, machines=tuple(machines))


EPOCHS = (0, 10**12, 1_700_000_000)
SIZES = (Fraction(1), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 7), Fraction(10**9))
NUMBERS = ("exact", "floats", "mixed")
NUDGES = (0, 0, 0, 1, -1, 3, 8, -8, 25)


@st.composite
def any_numbers(draw, **options):
    """Return an instance in exact numbers, in floats, or in a mixture of both.

    Instants count from several epochs, and CPU in several units. Some amounts of CPU are nudged by
    a few 1e-10 of themselves, which is what a check in floats allows.
    """
    instance = draw(coreservation(**options))
    kind, nudged = draw(st.sampled_from(NUMBERS)), draw(st.booleans())
    epoch, size = draw(st.sampled_from(EPOCHS)), draw(st.sampled_from(SIZES))
    known = {}

    def number(value):
        value = Fraction(value)
        floating = kind == "floats" or (kind == "mixed" and draw(st.booleans()))
        return float(value) if floating else value

    def instant(value):
        moment = Fraction(value) + epoch
        if moment not in known:  # one form each, so that what is in order stays in order
            known[moment] = number(moment)
        return known[moment]

    def cpu(value):
        value = Fraction(value) * size
        if nudged:
            value *= 1 + Fraction(draw(st.sampled_from(NUDGES)), 10**10)
        return number(value)

    def part(one):
        most, least = cpu(one.cpu), cpu(one.least)  # 0 stays 0, of whatever kind
        if one.hard or exact(least) > exact(most):
            least = None
        points = [(number(share), number(worth)) for share, worth in one.benefit[1:]]
        for n in range(1, len(points)):
            points[n] = tuple(
                max(pair, key=exact) for pair in zip(*points[n - 1 : n + 1], strict=True)
            )
        return replace(one, cpu=most, cpu_min=least, benefit=((0, 0), *points))

    machines = []
    for machine in instance.machines:
        steps = [(0 if not since else instant(since), cpu(most)) for since, most in machine.steps]
        machines.append(replace(machine, capacity=tuple(steps)))
    holdings = [
        replace(one, start=instant(one.start), end=instant(one.end), cpu=cpu(one.cpu))
        for one in instance.holdings
    ]
    requests = [
        replace(
            one,
            arrival=instant(one.arrival),
            start=instant(one.start),
            end=instant(one.end),
            priority=number(one.priority),
            parts=tuple(map(part, one.parts)),
        )
        for one in instance.requests
    ]
    batch = instance.batch and Batch(number(instance.batch.interval))
    return Instance(tuple(machines), tuple(requests), batch, tuple(holdings))
