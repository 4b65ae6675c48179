"""Families of requests for CPU shares, as instances.

Capacities are given in percent; the instances count CPU in quarters of a percent, of which all
minimum shares and all steps of benefit functions are integer multiples.

Source: Min 2001, sections 4.5 and 5.6. Parameters are what they leave open: arrivals in chapter 5,
batches and priorities in chapter 4, and most benefit functions (`request_distributions.SHAPES`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from dlopt.arithmetic import Number, is_finite, shown
from dlopt.errors import NotApplicableError
from dlopt.formats.binpack import BinPacking, Item
from dlopt.generation import packed_requests
from dlopt.generation.bin_packing_requests import bin_packing_instance
from dlopt.generation.distributions import check_count, check_counts, positive_float
from dlopt.generation.request_distributions import (
    ALL_SHAPES,
    MEAN_INTERVAL,
    MOST_PARTS,
    MOST_REQUESTS,
    QUARTERS,
    RandomStreams,
    arrivals_of,
    check_non_negative,
    check_range,
    machine_assignment,
    machines_of,
    requests_of,
    shapes_of,
    uniform_integers,
    windows_of,
)
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, step
from dlopt.problems.validated_record import Units

MOST_SMALL = 100
"""Largest number of requests or machines of a small instance."""
_UNITS = Units(cpu="quarters of a percent of a machine")


def min4(
    *,
    horizon: Number = 100_000,
    mean_interval: Number = MEAN_INTERVAL,
    machines: int = 10,
    capacity: int = 70,
    least_cpu: int = 20,
    most_cpu: int = 70,
    least_duration: int = 20,
    most_duration: int = 300,
    ahead: int = 4320,
    lead: int = 0,
    most_priority: int = 100,
    batch: Number = 50,
    shapes: str = ALL_SHAPES,
    seed: int = 0,
) -> Instance:
    """Return the requests of Min 2001, chapter 4: one part each, which may be on any machine.

    Requests arrive in a Poisson process; all else is uniformly distributed.

    Parameters
    ----------
    horizon : Number
        End of the arrivals, which begin at 0; by default there are about 10,505.
    mean_interval : Number
        Mean of the exponential inter-arrival times; arrivals are rounded down.
    machines : int
        Number of machines, 1 to 10,000.
    capacity : int
        Percent of each machine's CPU that can be reserved.
    least_cpu, most_cpu : int
        Smallest and largest CPU that a part requests, in percent; uniformly distributed.
    least_duration, most_duration : int
        Smallest and largest length of a time window; uniformly distributed.
    ahead : int
        Width of the uniform distribution of the time from arrival to start, which begins at `lead`
        (or at 0, where there is no `lead`).
    lead : int
        Smallest time from arrival to start; 300 in figure 4.7.
    most_priority : int
        Largest priority; priorities are uniform from 1 on. The thesis does not give it.
    batch : Number
        Time between two decisions, each on the requests that arrived; the thesis has none.
    shapes : {"all", "step", "linear", "affine", "stairs"}
        Shape of the benefit functions, not in the thesis; with ``all`` a quarter has each.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("min-4", seed)
    arrivals = [
        int(at) for at in arrivals_of(streams, positive_float("horizon", horizon), mean_interval)
    ]
    if not arrivals:
        raise NotApplicableError("no request arrives before the horizon")
    check_count("machines", machines, 10_000)
    check_count("capacity", capacity, 100)
    requests = requests_of(
        streams,
        arrivals,
        windows=windows_of(streams, least_duration, most_duration, ahead, lead),
        cpus=uniform_integers(streams, "cpu", least_cpu, most_cpu),
        most_priority=most_priority,
        shapes=shapes,
    )
    return Instance(
        machines_of([capacity] * machines),
        tuple(requests),
        _periodic_batches(batch),
        name=f"min-4-{len(arrivals)}-{seed}",
        origin=f"drawn as in Min 2001, 4.5: min-4, seed {seed}",
        units=_UNITS,
    )


def min5(
    *,
    requests: int = 300,
    mean_interval: Number = MEAN_INTERVAL,
    machines: int = 10,
    least_capacity: int = 50,
    most_capacity: int = 100,
    parts: int = 6,
    floating: Number = Fraction(4, 5),
    least_cpu: int = 10,
    most_cpu: int = 90,
    least_duration: int = 20,
    most_duration: int = 180,
    ahead: int = 4320,
    most_priority: int = 100,
    batch: Number = 50,
    shapes: str = ALL_SHAPES,
    seed: int = 0,
) -> Instance:
    """Return the requests of Min 2001, chapter 5: several parts, some of them on given machines.

    Other parameters are those of `min4`.

    Parameters
    ----------
    requests : int
        Number of requests, 1 to 1,000,000.
    mean_interval : Number
        Mean inter-arrival time. Chapter 5 does not give it; by default that of chapter 4.
    least_capacity, most_capacity : int
        Smallest and largest percentage of a machine's CPU that can be reserved; uniformly
        distributed.
    parts : int
        Largest number of parts of a request; it is uniform from 1 on.
    floating : Number
        Probability that the parts of a request may be on any machine. Parts of the other requests
        have given machines, different ones as far as possible.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("min-5", seed)
    check_count("requests", requests, MOST_REQUESTS)
    check_count("machines", machines, 10_000)
    check_range("capacity", least_capacity, most_capacity)
    arrivals = [int(at) for at in islice(arrivals_of(streams, None, mean_interval), requests)]
    dedicated = streams.get("capacity")
    made = requests_of(
        streams,
        arrivals,
        windows=windows_of(streams, least_duration, most_duration, ahead, 0),
        cpus=uniform_integers(streams, "cpu", least_cpu, most_cpu),
        most_priority=most_priority,
        parts=parts,
        place=machine_assignment(streams, machines, floating),
        shapes=shapes,
    )
    return Instance(
        machines_of([dedicated.randint(least_capacity, most_capacity) for _ in range(machines)]),
        tuple(made),
        _periodic_batches(batch),
        name=f"min-5-{requests}-{seed}",
        origin=f"drawn as in Min 2001, 5.6: min-5, seed {seed}",
        units=_UNITS,
    )


def overloaded(
    *,
    requests: int = 100,
    demand: Number = Fraction(3, 2),
    machines: int = 10,
    parts: int = 6,
    floating: Number = 1,
    grain: int = 5,
    least_cpu: int = 10,
    most_cpu: int = 90,
    least_duration: int = 20,
    most_duration: int = 180,
    most_priority: int = 100,
    seed: int = 0,
) -> Instance:
    """Return more requests than identical machines can accept, all known from the beginning.

    The full capacity of each machine can be reserved. Other parameters are those of `min5`.

    Parameters
    ----------
    requests : int
        Number of requests, 1 to 1,000,000.
    demand : Number
        Demand by capacity: CPU times duration of all parts, divided by the capacity of all
        machines in the interval of the windows; less if that interval would be shorter than some
        window.
    grain : int
        Step of the CPU of a part, in percent: it is a multiple of this, uniformly distributed.
    seed : int

    Returns
    -------
    Instance
        Its requests are one batch.
    """
    streams = RandomStreams("overloaded", seed)
    check_count("requests", requests, MOST_REQUESTS)
    check_count("machines", machines, 10_000)
    check_count("grain", grain, 100)
    if not is_finite(demand) or demand <= 0:
        raise NotApplicableError(f"demand must be a positive number, got {shown(demand)}")
    check_range("cpu", least_cpu, most_cpu)
    low, high = -(-least_cpu // grain), most_cpu // grain
    if low > high:
        raise NotApplicableError(f"no multiple of {grain} from {least_cpu} to {most_cpu}")
    cpus = (grain * cpu for cpu in uniform_integers(streams, "cpu", low, high))
    lengths = uniform_integers(streams, "duration", least_duration, most_duration)
    durations = list(islice(lengths, requests))
    made = requests_of(
        streams,
        [0] * requests,
        windows=((0, duration) for duration in durations),
        cpus=cpus,
        most_priority=most_priority,
        parts=parts,
        place=machine_assignment(streams, machines, floating),
    )
    wanted = sum(one.end * part.cpu for one in made for part in one.parts)
    able = QUARTERS * 100 * machines
    span = max(math.ceil(wanted / (demand * able)), max(durations))
    begin = streams.get("start")
    shifted = []
    for one, duration in zip(made, durations, strict=True):
        start = begin.randint(0, span - duration)
        shifted.append(Request(one.id, 0, start, start + duration, one.priority, one.parts))
    return Instance(
        machines_of([100] * machines),
        tuple(shifted),
        Batch(1),
        name=f"overloaded-{requests}-{seed}",
        origin=f"dlopt generate coreservation --family overloaded, seed {seed}",
        units=_UNITS,
    )


def small(
    *,
    requests: int = 6,
    machines: int = 2,
    capacity: int = 8,
    parts: int = 2,
    floating: Number = Fraction(4, 5),
    span: int = 12,
    most_priority: int = 9,
    batch: Number = 4,
    seed: int = 0,
) -> Instance:
    """Return a few random requests in small numbers, for exact methods and for tests.

    Windows, numbers of parts, CPU and priorities are uniform. Other parameters are those of `min5`.

    Parameters
    ----------
    requests : int
        Number of requests, 1 to 100.
    capacity : int
        Capacity of each machine. A part requests 1 to `capacity`; if it accepts less, its minimum
        is at least 1.
    span : int
        Last instant of the time windows; requests arrive at or before the start of theirs.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("small", seed)
    check_counts(MOST_SMALL, requests=requests, machines=machines)
    check_count("parts", parts, MOST_PARTS)
    check_count("capacity", capacity, 10**6)
    check_count("span", span, 10**6)
    check_count("most_priority", most_priority, 10**6)
    place = machine_assignment(streams, machines, floating)
    draw = streams.get("requests")
    made = []
    for shape in islice(shapes_of(streams), requests):
        end = draw.randint(1, span)
        start = draw.randint(0, end - 1)
        arrival = draw.randint(0, start)
        asked = [draw.randint(1, capacity) for _ in range(draw.randint(1, parts))]
        where = place(len(asked))
        wanted = tuple(
            Part(cpu, None if shape == step() else draw.randint(1, cpu), shape, machine)
            for cpu, machine in zip(asked, where, strict=True)
        )
        made.append((arrival, start, end, draw.randint(1, most_priority), wanted))
    made.sort(key=lambda one: one[0])
    return Instance(
        tuple(Machine(str(index), capacity) for index in range(machines)),
        tuple(Request(str(index), *one) for index, one in enumerate(made)),
        _periodic_batches(batch),
        name=f"small-{machines}x{requests}-{seed}",
        origin=f"dlopt generate coreservation --family small, seed {seed}",
    )


def bins(
    *,
    items: int = 30,
    capacity: int = 150,
    least_size: int = 20,
    most_size: int = 100,
    span: int = 0,
    most_duration: int = 20,
    machines: int | None = None,
    seed: int = 0,
) -> Instance:
    """Return a (temporal) bin packing problem: rigid requests with one part, all of one batch.

    Parameters
    ----------
    items : int
        Number of items, 1 to 1,000,000.
    capacity : int
        Capacity of a bin.
    least_size, most_size : int
        Smallest and largest size of an item; uniformly distributed, by default as in Falkenauer's
        class u.
    span : int
        Last start of an item, for temporal bin packing: items start uniformly from 0 on; by default
        all of them are present throughout.
    most_duration : int
        Largest duration of an item, if there is a `span`.
    machines : int, optional
        Number of bins; by default as many as first fit decreasing needs.
    seed : int

    Returns
    -------
    Instance
    """
    streams = RandomStreams("bins", seed)
    check_count("items", items, MOST_REQUESTS)
    check_count("capacity", capacity, 10**9)
    check_count("most_size", most_size, capacity)
    check_count("most_duration", most_duration, 10**9)
    check_non_negative("span", span)
    sizes = islice(uniform_integers(streams, "size", least_size, most_size), items)
    begin, stay = streams.get("start"), streams.get("duration")
    wanted = []
    for index, size in enumerate(sizes):
        start = begin.randint(0, span) if span else None
        end = start + stay.randint(1, most_duration) if start is not None else None
        wanted.append(Item(str(index), size, start, end))
    name = f"bins-{items}-{seed}"
    made = bin_packing_instance(BinPacking(name, capacity, tuple(wanted)), machines=machines)
    return replace(made, origin=f"dlopt generate coreservation --family bins, seed {seed}")


def _periodic_batches(batch: Number) -> Batch:
    """Return batches of an interval, which keeps its type of number."""
    positive_float("batch", batch)
    return Batch(batch)


FAMILIES: dict[str, Callable[..., Instance]] = {
    "small": small,
    "min-4": min4,
    "min-5": min5,
    "overloaded": overloaded,
    "bins": bins,
    **packed_requests.FAMILIES,
}
