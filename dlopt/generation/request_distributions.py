"""What requests for CPU shares are drawn from, thing by thing.

Each has a stream of its own, so that equal seeds with, say, other machines draw equal requests.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice

from dlopt.arithmetic import Number, is_finite, shown
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import poisson, positive, whole, word_of
from dlopt.problems.coreservation import Machine, Part, Request, affine, linear, staircase, step
from dlopt.problems.coreservation.benefit_functions import Points

SHAPES: Mapping[str, Points] = {
    "step": step(),
    "linear": linear(),
    "affine": affine(Fraction(1, 2)),
    "stairs": staircase(4),
}
"""The four benefit functions, of which each has a quarter of the requests by default.

The first takes all or nothing, the others no less than a quarter of what they ask for.
"""
ALL_SHAPES = "all"
QUARTERS = 4
"""A percent of CPU in the units of the instances."""
MOST_REQUESTS = 1_000_000
MOST_PARTS = 1000
MEAN_INTERVAL = Fraction(100_000, 10_505)
"""Mean time between requests in chapter 4; chapter 5 does not tell its own."""


class Draws:
    """Streams of random numbers, one for each thing that is drawn."""

    def __init__(self, family: str, seed: int) -> None:
        self._key = f"{family} {seed}"

    def of(self, what: str) -> random.Random:
        """Return the stream of one thing, from its beginning."""
        return random.Random(f"{self._key} {what}")


def requests_of(
    draws: Draws,
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
    whole("parts", parts, MOST_PARTS)
    whole("most_priority", most_priority, 10**9)
    priority, size = draws.of("priority"), draws.of("parts")
    found = []
    for index, (arrival, shape, window) in enumerate(
        zip(arrivals, shapes_of(draws, shapes), windows, strict=False)
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
    """Return a part; of soft ones the least share is a quarter."""
    return Part(QUARTERS * percent, None if shape == step() else percent, shape, machine)


def shapes_of(draws: Draws, shapes: str = ALL_SHAPES) -> Iterator[Points]:
    """Yield benefit functions: of four in turn each is there once, in random order; or one."""
    word_of("shapes", shapes, (ALL_SHAPES, *SHAPES))
    draw = draws.of("shape")
    chosen = tuple(SHAPES.values()) if shapes == ALL_SHAPES else (SHAPES[shapes],)
    while True:
        yield from draw.sample(chosen, len(chosen))


def arrivals_of(draws: Draws, horizon: float | None, mean_interval: Number) -> Iterator[float]:
    """Yield instants, exponential intervals apart; without a horizon there is no end of them."""
    draw, interval = draws.of("arrival"), positive("mean_interval", mean_interval)
    if horizon is not None:
        yield from poisson(draw, interval, horizon)
        return
    instant = 0.0
    while True:
        instant += draw.expovariate(1 / interval)
        yield instant


def windows_of(
    draws: Draws, least: int, most: int, ahead: int, lead: int
) -> Iterator[tuple[int, int]]:
    """Yield windows relative to the arrival."""
    not_negative("ahead", ahead)
    not_negative("lead", lead)
    begin, lengths = draws.of("start"), spread(draws, "duration", least, most)
    return ((start, start + next(lengths)) for start in _endless(begin, lead, lead + ahead))


def spread(draws: Draws, what: str, least: int, most: int) -> Iterator[int]:
    """Return integers at random, uniform between two bounds."""
    in_order(what, least, most)
    return _endless(draws.of(what), least, most)


def _endless(draw: random.Random, least: int, most: int) -> Iterator[int]:
    while True:
        yield draw.randint(least, most)


def placing(draws: Draws, machines: int, floating: Number) -> Callable[[int], list[int | None]]:
    """Return a function that gives the parts of a request their machines, or leaves them free.

    They are different ones as far as there are any.
    """
    if not is_finite(floating) or not 0 <= floating <= 1:
        raise NotApplicableError(f"floating must lie between 0 and 1, got {shown(floating)}")
    coin, draw, share = draws.of("floating"), draws.of("machine"), float(floating)

    def chosen(parts: int) -> list[int | None]:
        order = draw.sample(range(machines), machines)
        if coin.random() < share:
            return [None] * parts
        return [order[index % machines] for index in range(parts)]

    return chosen


def machines_of(percents: Sequence[int]) -> tuple[Machine, ...]:
    """Return machines of which so many percent can be reserved."""
    return tuple(Machine(str(index), QUARTERS * each) for index, each in enumerate(percents))


def in_order(what: str, least: int, most: int) -> None:
    """Raise `NotApplicableError` unless two bounds are positive integers in order."""
    whole(f"least_{what}", least, 10**9)
    whole(f"most_{what}", most, 10**9)
    if least > most:
        raise NotApplicableError(f"least_{what}={least} exceeds most_{what}={most}")


def not_negative(name: str, value: int) -> None:
    """Raise `NotApplicableError` unless a parameter is an integer from 0."""
    if not isinstance(value, int) or value < 0:
        raise NotApplicableError(f"{name} must be an integer, not negative, got {value!r}")
