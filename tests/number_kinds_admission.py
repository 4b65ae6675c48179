"""Streams in every kind of numbers, and plans pushed to the end of what a check allows."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.problems.admission import Chunk, Decision, Instance, Solution, Task
from dlopt.problems.cluster import Cluster

EPOCHS = (0, 0, 10**12, 1_700_000_000)
KINDS = ("whole", "fractions", "decimals", "floats", "mixed")
PUSHES = (0, 0, Fraction(3, 10), Fraction(99, 100), Fraction(99, 100), 1, Fraction(3, 2), 3)
"""How many allowances a deadline lies before what the tasks take, or a chunk is stated early."""
SHRUNK = (0, 0, 0, 0, Fraction(1, 3), Fraction(99, 100))
"""How many allowances a load is too small."""

amounts = st.builds(Fraction, st.integers(1, 24), st.sampled_from([1, 1, 2, 3, 7]))
gaps = st.sampled_from([0, 0, 0, Fraction(1, 3), 1, Fraction(5, 2)])


def _cast(draw, kind, number):
    """Return about the same number as one of a kind."""
    if kind == "mixed":
        kind = draw(st.sampled_from(KINDS[:-1]))
    if kind == "whole":
        return max(round(number), int(number > 0))
    if kind == "decimals":
        return round(float(number), 2) or float(number)
    return float(number) if kind == "floats" else Fraction(number)


@st.composite
def numbers(draw):
    """Return a function that turns rationals into numbers of one kind, or of all kinds."""
    kind = draw(st.sampled_from(KINDS))
    return lambda number: _cast(draw, kind, number)


@st.composite
def streams(draw, *, nodes=2, tasks=4):
    """Return an instance, tasks and nodes in the order of a plan, and chunks of that plan.

    Deadlines are about what the plan needs, in which each of the tasks is one chunk or two.
    """
    number = draw(numbers())
    unit = draw(st.sampled_from([Fraction(1, 1000), 1, 1, 1000]))
    epoch = draw(st.sampled_from(EPOCHS))
    count = draw(st.integers(1, nodes))
    costs = [
        (draw(st.sampled_from([0, 0, 1, 2, Fraction(1, 3)])), draw(amounts) / 3)
        for _ in range(count)
    ]
    if draw(st.booleans()):
        costs = costs[:1] * count
    setups = draw(
        st.sampled_from([(0, 0), (0, 0), (Fraction(1, 5), 0), (0, 1), (1, Fraction(1, 3))])
    )
    tau, chi = zip(*((number(t * unit), number(c * unit)) for t, c in costs), strict=True)
    if tau[1:] == tau[:-1] and chi[1:] == chi[:-1]:
        tau, chi = tau[0], chi[0]
    cluster = Cluster(count, tau, chi, *(number(theta * unit) for theta in setups))
    arrival, made = Fraction(epoch), []
    for index in range(draw(st.integers(1, tasks))):
        arrival += draw(gaps) * unit
        made.append(Task(f"t{index}", _instant(number, arrival), number(draw(amounts)), 0))
    made.sort(key=lambda task: exact(task.arrival))
    instance = Instance(cluster, tuple(made))
    if draw(st.booleans()):
        instance = replace(instance, ready_times=(_instant(number, arrival),) * count)
    order = [
        (task, node)
        for task in draw(st.permutations(made))
        for node in draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=2))
    ]
    chunks = earliest(instance, order)
    ends = {}
    for chunk in chunks:
        ends[chunk.task] = max(chunk.computation_end, ends.get(chunk.task, 0))
    due = []
    for task in made:
        span = ends[task.id] - exact(task.arrival)
        early = draw(st.sampled_from(PUSHES)) * allowance(instance, span, ends[task.id])
        deadline = max(span - early, Fraction(0))
        if draw(st.integers(0, 7)) == 7:
            deadline *= draw(st.sampled_from([Fraction(1, 2), Fraction(2, 3), 2]))
        floating = not instance.exact and draw(st.integers(0, 2)) == 0
        due.append(replace(task, deadline=float(deadline) if floating else deadline))
    return replace(instance, tasks=tuple(due)), tuple(chunks)


def _instant(number, instant):
    """Return an instant as a number; a date keeps its digits, or is rounded to thousandths."""
    found = number(instant)
    return round(found, 3) if isinstance(found, float) else found


def allowance(instance, span, instant):
    """Return what a check lets one instant of a plan be off."""
    return 0 if instance.exact else exact(FLOATING) * span + ROUNDING * instant


def earliest(instance, order):
    """Return chunks in an order, each as early as can be, in fractions."""
    cluster, free = instance.cluster, [exact(instant) for instant in instance.free_times]
    channel = exact(instance.channel_free)
    counts = {}
    for task, _ in order:
        counts[task.id] = counts.get(task.id, 0) + 1
    chunks = []
    for task, node in order:
        load = exact(task.load) / counts[task.id]
        send = exact(cluster.theta_cm) + load * exact(cluster.tau_of(node))
        start = max(exact(task.arrival), free[node], channel if send else 0)
        sent = start + send
        channel = sent if send else channel
        free[node] = sent + exact(cluster.theta_cp) + load * exact(cluster.chi_of(node))
        chunks.append(Chunk(task.id, node, load, start, sent, sent, free[node]))
    return chunks


@st.composite
def pushed(draw, instance, chunks):
    """Return a plan of chunks that are stated early, overlap and are short by what is allowed.

    The first of them begin when they can, so that only what is beside others is early.
    """
    accepted = {chunk.task for chunk in chunks if draw(st.integers(0, 5)) < 5}
    one, shrunk = draw(st.sampled_from(PUSHES)), draw(st.sampled_from(SHRUNK))
    spans = [exact(task.deadline) for task in instance.tasks if task.id in accepted]
    shortest = min(spans, default=Fraction(0))
    floating = draw(st.booleans())
    adding = draw(st.booleans())  # each is early beside the one before, or all by the same
    stated, early = [], Fraction(0)
    for chunk in chunks:
        if chunk.task not in accepted:
            continue
        off = allowance(instance, shortest, chunk.computation_end)
        first = not stated and adding
        load = chunk.load * (1 - shrunk * exact(FLOATING) * (not instance.exact))
        early = early * adding + one * off * (not first)
        times = [
            chunk.transmission_start - early,
            chunk.transmission_end - early,
            chunk.computation_start - early,
            chunk.computation_end - early,
        ]
        values = [load, *times]
        stated.append(Chunk(chunk.task, chunk.node, *map(float, values) if floating else values))
    decisions = (Decision(t.id, t.id in accepted, t.arrival) for t in instance.tasks)
    return Solution(tuple(decisions), tuple(stated))
