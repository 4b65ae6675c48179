"""Families of requests that fill machines exactly, or exceed them by a little.

A simple heuristic accepts nearly all of the requests; to accept the last ones, or to prove that it
is impossible, is hard. Where the optimum is known from how the instance is made, it is in
`best_known`.

Source: triplets are class t of Falkenauer (Journal of Heuristics 2, 1996); the others are ours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from dlopt.arithmetic import Number, exact, is_finite, shown
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import check_count, check_counts, positive_float
from dlopt.generation.request_distributions import (
    MOST_PARTS,
    MOST_REQUESTS,
    RandomStreams,
    check_non_negative,
    shapes_of,
    uniform_integers,
)
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, step
from dlopt.problems.validated_record import BestKnown

MOST_MACHINES = 10_000
"""Largest number of machines of an instance."""


def triplets(
    *,
    machines: int = 12,
    capacity: int = 1000,
    layers: int = 1,
    parts: int = 1,
    slack: Number = 0,
    spread: int = 0,
    unit: Number = 1,
    seed: int = 0,
) -> Instance:
    """Return items of which three fill each machine: all can be accepted.

    Parameters
    ----------
    machines : int
        Number of machines, 1 to 10,000; there are three parts for each of them, in each layer.
    capacity : int
        Capacity of a machine, 4 or more.
    layers : int
        Windows that follow each other, each with items of its own.
    parts : int
        Parts of a request: so many items, drawn at random from a layer.
    slack : Number
        Percent by which capacities exceed what the three items need; rounded down, not negative.
    spread : int
        Percent by which capacities differ at the most, uniformly distributed; 0 to 100.
    unit : Number
        All CPU is multiplied by this number; a float gives floats.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("triplets", seed)
    check_counts(MOST_MACHINES, machines=machines, layers=layers)
    check_count("parts", parts, MOST_PARTS)
    check_count("capacity", capacity, 10**12)
    if not is_finite(slack) or slack < 0:
        raise NotApplicableError(f"slack must be a number from 0, got {shown(slack, 15)}")
    check_non_negative("spread", spread)
    if capacity < 4:
        raise NotApplicableError(f"capacity must be at least 4, got {capacity}")
    if spread > 100:
        raise NotApplicableError(f"spread must be at most 100, got {spread}")
    positive_float("unit", unit)
    each, draw = streams.get("capacity"), streams.get("size")
    filled = [capacity + capacity * each.randint(0, spread) // 100 for _ in range(machines)]
    requests: list[Request] = []
    for layer in range(layers):
        sizes = [size for full in filled for size in _three_items(draw, full)]
        draw.shuffle(sizes)
        for first in range(0, len(sizes), parts):
            asked = tuple(Part(_in_unit(size, unit)) for size in sizes[first : first + parts])
            requests.append(Request(str(len(requests)), 0, layer, layer + 1, 1, asked))
    capacities = [full + int(full * exact(slack) / 100) for full in filled]
    return _instance(
        "triplets", seed, [_in_unit(one, unit) for one in capacities], requests, rejections=0
    )


def tiles(
    *,
    machines: int = 4,
    instants: int = 24,
    pieces: int = 8,
    capacity: int = 60,
    extra: int = 0,
    seed: int = 0,
) -> Instance:
    """Return rectangles of time and CPU into which machines are cut: all can be accepted.

    Parameters
    ----------
    instants : int
        Length of the time that is cut.
    pieces : int
        Rectangles of a machine.
    capacity : int
        Capacity of a machine.
    extra : int
        Further requests, at most 1,000,000, each for a whole machine all the time: as many requests
        are rejected.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("tiles", seed)
    check_counts(MOST_MACHINES, machines=machines, instants=instants, pieces=pieces)
    check_count("capacity", capacity, 10**9)
    check_non_negative("extra", extra, MOST_REQUESTS)
    if pieces > instants * capacity:
        raise NotApplicableError(f"pieces={pieces} exceeds instants times capacity")
    draw = streams.get("cut")
    whole = (0, instants, capacity)
    found = [tile for _ in range(machines) for tile in _cut(draw, whole, pieces)]
    found += [whole] * extra
    draw.shuffle(found)
    # To accept one of the extra requests is to reject rectangles of the same area: one or more.
    return _instance("tiles", seed, [capacity] * machines, _rigid(found), rejections=extra)


def strips(
    *,
    machines: int = 5,
    strips: int = 3,
    instants: int = 200,
    mean_duration: int = 8,
    capacity: int = 100,
    seed: int = 0,
) -> Instance:
    """Return windows that follow each other in strips of each machine: all can be accepted.

    Parameters
    ----------
    strips : int
        Strips of a machine: parts of its capacity that sum to it.
    instants : int
        Length of the time.
    mean_duration : int
        About the mean length of a window.
    capacity : int
        Capacity of a machine.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("strips", seed)
    check_count("machines", machines, MOST_MACHINES)
    check_count("instants", instants, MOST_REQUESTS)
    check_count("mean_duration", mean_duration, instants)
    check_count("capacity", capacity, 10**9)
    check_count("strips", strips, capacity)
    draw = streams.get("strip")
    found: list[tuple[int, int, int]] = []
    for _ in range(machines):
        for cpu in _composition(draw, capacity, strips):
            windows = _composition(draw, instants, max(1, instants // mean_duration))
            end = 0
            for length in windows:
                found.append((end, end + length, cpu))
                end += length
    return _instance("strips", seed, [capacity] * machines, _rigid(sorted(found)), rejections=0)


def near_equal(
    *,
    machines: int = 8,
    fit: int = 4,
    extra: int = 1,
    capacity: int = 860,
    most_priority: int = 1,
    seed: int = 0,
) -> Instance:
    """Return items of nearly equal sizes, a few more than fit: only counting shows that.

    Parameters
    ----------
    fit : int
        How many of the items fit on a machine, whichever they are.
    extra : int
        How many more items there are, at most 1,000,000; as many are rejected.
    capacity : int
        Capacity of a machine.
    most_priority : int
        Largest priority; priorities are uniform from 1 on.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("near-equal", seed)
    check_count("machines", machines, MOST_MACHINES)
    check_count("capacity", capacity, 10**9)
    check_count("fit", fit, capacity)
    check_non_negative("extra", extra, MOST_REQUESTS)
    least, most = capacity // (fit + 1) + 1, capacity // fit
    if least > most:
        raise NotApplicableError(f"no size of which {fit} fit in {capacity}, and no more")
    sizes = uniform_integers(streams, "size", (least + most + 1) // 2, most)
    priorities = uniform_integers(streams, "priority", 1, most_priority)
    requests = [
        Request(str(k), 0, 0, 1, next(priorities), (Part(next(sizes)),))
        for k in range(machines * fit + extra)
    ]
    return _instance("near-equal", seed, [capacity] * machines, requests, rejections=extra)


def knapsacks(
    *,
    requests: int = 40,
    machines: int = 1,
    demand: Number = 2,
    least_cpu: int = 20,
    most_cpu: int = 100,
    grain: int = 1,
    most_priority: int = 100,
    shapes: str = "step",
    seed: int = 0,
) -> Instance:
    """Return requests of one part at the same time on few machines: (multiple) knapsacks.

    Parameters
    ----------
    requests : int
        Number of requests, 1 to 1,000,000.
    demand : Number
        CPU of all requests by that of all machines.
    least_cpu, most_cpu : int
        Smallest and largest CPU of a part, in multiples of `grain`; uniformly distributed.
    grain : int
        CPU of each part is a multiple of this; above 1 capacities are one more than a multiple, so
        that rigid parts fill no machine, but at least `grain` times `most_cpu`.
    most_priority : int
        Largest priority; priorities are uniform from 1 on. With 0 each is the CPU of the part: of
        rigid parts that is the subset sum problem, whose fractional bound no `grain` above 1 meets.
    shapes : {"all", "step", "linear", "affine", "stairs"}
        Shape of the benefit functions. Parts that have another than a step accept a quarter.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("knapsacks", seed)
    check_count("requests", requests, MOST_REQUESTS)
    check_count("machines", machines, MOST_MACHINES)
    check_count("grain", grain, 10**6)
    check_non_negative("most_priority", most_priority)
    positive_float("demand", demand)
    sizes, draw = uniform_integers(streams, "cpu", least_cpu, most_cpu), streams.get("priority")
    made: list[Request] = []
    for k, shape in zip(range(requests), shapes_of(streams, shapes), strict=False):
        cpu = grain * next(sizes)
        priority = draw.randint(1, most_priority) if most_priority else cpu
        part = Part(cpu, None if shape == step() else Fraction(cpu, 4), shape)
        made.append(Request(str(k), 0, 0, 1, priority, (part,)))
    total = sum(int(exact(one.parts[0].cpu)) for one in made)
    capacity = int(total / (exact(demand) * machines))
    if grain > 1:
        capacity += 1 - (capacity % grain)
    return _instance("knapsacks", seed, [max(capacity, grain * most_cpu)] * machines, made)


def intervals(
    *,
    requests: int = 100,
    machines: int = 5,
    span: int = 100,
    most_duration: int = 15,
    most_priority: int = 1,
    seed: int = 0,
) -> Instance:
    """Return requests for a whole machine each: (weighted) interval scheduling.

    Parameters
    ----------
    requests : int
        Number of requests, 1 to 1,000,000.
    span : int
        Last start; starts are uniform from 0 on.
    most_duration : int
        Largest length of a window, uniform from 1 on.
    most_priority : int
        Largest priority; priorities are uniform from 1 on.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("intervals", seed)
    check_count("requests", requests, MOST_REQUESTS)
    check_count("machines", machines, MOST_MACHINES)
    check_non_negative("span", span)
    begin, lengths = streams.get("start"), uniform_integers(streams, "duration", 1, most_duration)
    priorities = uniform_integers(streams, "priority", 1, most_priority)
    starts = sorted(begin.randint(0, span) for _ in range(requests))
    made = [
        Request(str(k), 0, start, start + next(lengths), next(priorities), (Part(1),))
        for k, start in enumerate(starts)
    ]
    return _instance("intervals", seed, [1] * machines, made)


def _three_items(draw: random.Random, capacity: int) -> tuple[int, int, int]:
    """Return three sizes that sum to a capacity, none below a quarter of it (rounded down)."""
    large = draw.randint(capacity * 38 // 100, capacity * 49 // 100)
    middle = draw.randint(capacity // 4, (capacity - large) // 2)
    return large, middle, capacity - large - middle


def _cut(
    draw: random.Random, whole: tuple[int, int, int], pieces: int
) -> list[tuple[int, int, int]]:
    """Return a rectangle (start, end, cpu) cut into so many, at random."""
    tiles = [whole]
    while len(tiles) < pieces:
        start, end, cpu = tiles.pop(draw.randrange(len(tiles)))
        if end - start > 1 and (draw.random() < 0.5 or cpu == 1):
            cut = draw.randint(start + 1, end - 1)
            tiles += [(start, cut, cpu), (cut, end, cpu)]
        elif cpu > 1:
            lower = draw.randint(1, cpu - 1)
            tiles += [(start, end, lower), (start, end, cpu - lower)]
        else:
            tiles.append((start, end, cpu))
    return tiles


def _composition(draw: random.Random, total: int, count: int) -> Iterator[int]:
    """Yield so many positive integers that sum to a total."""
    cuts = [0, *sorted(draw.sample(range(1, total), count - 1)), total]
    yield from (after - before for before, after in pairwise(cuts))


def _in_unit(size: int, unit: Number) -> Number:
    """Return a size in another unit; in floats the decimal that it should be."""
    return float(size * exact(unit)) if isinstance(unit, float) else size * unit


def _rigid(windows: Iterable[tuple[int, int, int]]) -> list[Request]:
    """Return a request of one part and priority 1 for each start, end and CPU."""
    return [
        Request(str(k), 0, start, end, 1, (Part(cpu),))
        for k, (start, end, cpu) in enumerate(windows)
    ]


def _instance(
    family: str,
    seed: int,
    capacities: Sequence[Number],
    requests: Sequence[Request],
    rejections: int | None = None,
) -> Instance:
    """Return an instance of one batch; the fewest rejections are in `best_known` if known."""
    known: tuple[BestKnown, ...] = ()
    if rejections is not None:
        known = (BestKnown("rejections", "any", rejections, rejections, method="construction"),)
    return Instance(
        tuple(Machine(str(j), capacity) for j, capacity in enumerate(capacities)),
        tuple(requests),
        Batch(1),
        name=f"{family}-{len(requests)}-{seed}",
        origin=f"dlopt generate coreservation --family {family}, seed {seed}",
        best_known=known,
    )


FAMILIES: dict[str, Callable[..., Instance]] = {
    "triplets": triplets,
    "tiles": tiles,
    "strips": strips,
    "near-equal": near_equal,
    "knapsacks": knapsacks,
    "intervals": intervals,
}
