"""Distributions of requests for CPU shares.

Each property has a random stream of its own, so that equal seeds with, for example, other machines
give equal requests.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice

from dlopt.arithmetic import Number, is_finite, shown
from dlopt.errors import NotApplicableError, short_text
from dlopt.generation.distributions import (
    check_choice,
    check_count,
    poisson_arrivals,
    positive_float,
)
from dlopt.problems.coreservation import Machine, Part, Request, affine, linear, staircase, step
from dlopt.problems.coreservation.benefit_functions import Points

SHAPES: Mapping[str, Points] = {
    "step": step(),
    "linear": linear(),
    "affine": affine(Fraction(1, 2)),
    "stairs": staircase(4),
}
"""The four benefit functions; by default a quarter of the requests has each.

The first accepts all or nothing, the others no less than a quarter of what they request."""
ALL_SHAPES = "all"
QUARTERS = 4
"""Units of CPU per percent in the instances."""
MOST_REQUESTS = 1_000_000
"""Largest number of requests of an instance."""
MOST_PARTS = 1000
"""Largest number of parts of a request."""
MEAN_INTERVAL = Fraction(100_000, 10_505)
"""Mean time between requests in chapter 4; chapter 5 does not give its own."""


class RandomStreams:
    """Independent streams of random numbers, one for each property that is drawn.

    Examples
    --------
    >>> streams = RandomStreams("min-4", seed=1)
    >>> streams.get("cpu").random() == streams.get("cpu").random() != streams.get("start").random()
    True
    """

    def __init__(self, family: str, seed: int) -> None:
        self._key = f"{family} {seed}"

    def get(self, name: str) -> random.Random:
        """Return the stream of a property, from its beginning."""
        return random.Random(f"{self._key} {name}")


def requests_of(
    streams: RandomStreams,
    arrivals: Sequence[int],
    *,
    windows: Iterator[tuple[int, int]],
    cpus: Iterator[int],
    most_priority: int,
    parts: int = 1,
    place: Callable[[int], list[int | None]] | None = None,
    shapes: str = ALL_SHAPES,
) -> list[Request]:
    """Return a request for each arrival; windows are relative to it."""
    check_count("parts", parts, MOST_PARTS)
    check_count("most_priority", most_priority, 10**9)
    priority, size = streams.get("priority"), streams.get("parts")
    found = []
    for index, (arrival, shape, window) in enumerate(
        zip(arrivals, shapes_of(streams, shapes), windows, strict=False)
    ):
        asked = list(islice(cpus, size.randint(1, parts)))
        where = [None] * len(asked) if place is None else place(len(asked))
        start, end = (arrival + instant for instant in window)
        wanted = tuple(_part(*both, shape) for both in zip(asked, where, strict=True))
        found.append(
            Request(str(index), arrival, start, end, priority.randint(1, most_priority), wanted)
        )
    return found


def _part(percent: int, machine: int | None, shape: Points) -> Part:
    """Return a part; malleable ones have a minimum of a quarter."""
    return Part(QUARTERS * percent, None if shape == step() else percent, shape, machine)


def shapes_of(streams: RandomStreams, shapes: str = ALL_SHAPES) -> Iterator[Points]:
    """Yield benefit functions: each once in every four, in random order; or always the same."""
    check_choice("shapes", shapes, (ALL_SHAPES, *SHAPES))
    draw = streams.get("shape")
    chosen = tuple(SHAPES.values()) if shapes == ALL_SHAPES else (SHAPES[shapes],)
    while True:
        yield from draw.sample(chosen, len(chosen))


def arrivals_of(
    streams: RandomStreams, horizon: float | None, mean_interval: Number
) -> Iterator[float]:
    """Yield the arrivals of a Poisson process, endless without a horizon."""
    draw, interval = streams.get("arrival"), positive_float("mean_interval", mean_interval)
    if horizon is not None:
        yield from poisson_arrivals(draw, interval, horizon)
        return
    instant = 0.0
    while True:
        instant += draw.expovariate(1 / interval)
        yield instant


def windows_of(
    streams: RandomStreams, least: int, most: int, ahead: int, lead: int
) -> Iterator[tuple[int, int]]:
    """Yield windows relative to the arrival."""
    check_non_negative("ahead", ahead)
    check_non_negative("lead", lead)
    begin, lengths = streams.get("start"), uniform_integers(streams, "duration", least, most)
    return ((start, start + next(lengths)) for start in _uniform(begin, lead, lead + ahead))


def uniform_integers(streams: RandomStreams, what: str, least: int, most: int) -> Iterator[int]:
    """Yield random integers, uniform between two bounds."""
    check_range(what, least, most)
    return _uniform(streams.get(what), least, most)


def _uniform(draw: random.Random, least: int, most: int) -> Iterator[int]:
    while True:
        yield draw.randint(least, most)


def machine_assignment(
    streams: RandomStreams, machines: int, floating: Number
) -> Callable[[int], list[int | None]]:
    """Return a function that gives the parts of a request their machines, or leaves them free.

    The machines are different ones as far as possible.
    """
    if not is_finite(floating) or not 0 <= floating <= 1:
        raise NotApplicableError(f"floating must lie between 0 and 1, got {shown(floating)}")
    coin, draw, share = streams.get("floating"), streams.get("machine"), float(floating)

    def chosen(parts: int) -> list[int | None]:
        order = draw.sample(range(machines), machines)
        if coin.random() < share:
            return [None] * parts
        return [order[index % machines] for index in range(parts)]

    return chosen


def machines_of(percents: Sequence[int]) -> tuple[Machine, ...]:
    """Return machines with the given percentages of reservable CPU."""
    return tuple(Machine(str(index), QUARTERS * each) for index, each in enumerate(percents))


def check_range(what: str, least: int, most: int) -> None:
    """Raise `NotApplicableError` unless two bounds are positive integers in order."""
    check_count(f"least_{what}", least, 10**9)
    check_count(f"most_{what}", most, 10**9)
    if least > most:
        raise NotApplicableError(f"least_{what}={least} exceeds most_{what}={most}")


def check_non_negative(name: str, value: int, most: float = math.inf) -> None:
    """Raise `NotApplicableError` unless a parameter is an integer from 0 to `most`."""
    if not isinstance(value, int) or not 0 <= value <= most:
        rule = "not negative" if most == math.inf else f"from 0 to {most}"
        raise NotApplicableError(f"{name} must be an integer, {rule}, got {short_text(value)}")
