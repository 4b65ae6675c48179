"""Choice sequences: instances are functions of a sequence of small integers.

A builder (`dlopt.verify.instance_builders`) draws its choices from a source. The same builder is
driven by random numbers, by Hypothesis, by a recorded and mutated sequence, or by the enumeration
of all sequences of a given sum.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

ItemT = TypeVar("ItemT")

MAX_CHOICES = 10_000
"""A builder that draws more choices for one instance is considered a mistake; chosen by hand."""


class ChoiceSource(Protocol):
    """Supplies the choices of a builder."""

    def index(self, weights: Sequence[int]) -> int:
        """Return one of ``0 .. len(weights) - 1``; 0 is the simplest choice."""
        ...


class Choices:
    """The choices that a builder draws from a source; they are recorded.

    Parameters
    ----------
    source : ChoiceSource

    Examples
    --------
    >>> choices = Choices(RecordedSource([2, 0]))
    >>> choices.integer(1, 6), choices.pick(["a", "b"]), choices.record
    (3, 'a', [2, 0])
    """

    __slots__ = ("_source", "record")

    def __init__(self, source: ChoiceSource) -> None:
        self._source = source
        self.record: list[int] = []

    def _index(self, weights: Sequence[int]) -> int:
        if len(self.record) >= MAX_CHOICES:
            raise RuntimeError(f"more than {MAX_CHOICES} choices for one instance")
        chosen = self._source.index(weights)
        self.record.append(chosen)
        return chosen

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high; low is the simplest choice."""
        return low + self._index(_UniformWeights(high - low + 1))

    def pick(self, options: Sequence[ItemT]) -> ItemT:
        """Return one of the options; the first is the simplest, repeated ones are likelier."""
        unique = list(dict.fromkeys(options))
        return unique[self._index([options.count(option) for option in unique])]

    def number(self, options: Sequence[Any]) -> Any:
        """Return one of several numbers, which may be of different types; see `pick`."""
        return self.pick(options)

    def chance(self, one_in: int) -> bool:
        """Return True with probability ``1 / one_in``; False is the simplest choice."""
        return self._index((one_in - 1, 1)) == 1

    def list_of(self, low: int, high: int, make: Callable[[int], ItemT]) -> list[ItemT]:
        """Return ``[make(0), make(1), ...]``, with low to high entries."""
        return [make(index) for index in range(self.integer(low, high))]

    def subset(self, count: int, least: int = 0) -> list[int]:
        """Return a subset of ``0 .. count - 1``, ascending, with at least `least` elements."""
        chosen = [index for index in range(count) if self.chance(2)]
        others = [index for index in range(count) if index not in chosen]
        return sorted(chosen + others[: max(0, least - len(chosen))])

    def shuffled(self, count: int) -> list[int]:
        """Return a permutation of ``0 .. count - 1``; the identity is the simplest choice."""
        remaining = list(range(count))
        return [remaining.pop(self.integer(0, len(remaining) - 1)) for _ in range(count)]


class _UniformWeights(Sequence[int]):
    """A sequence of weights that are all 1, without a list in memory."""

    __slots__ = ("_length",)

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return 1


class RandomSource:
    """Random choices."""

    __slots__ = ("_random",)

    def __init__(self, rng: random.Random) -> None:
        self._random = rng

    def index(self, weights: Sequence[int]) -> int:
        """Return a random index, with probability proportional to its weight."""
        if isinstance(weights, _UniformWeights):
            return int(self._random.random() * len(weights))
        remaining = self._random.random() * sum(weights)
        for index, weight in enumerate(weights):
            remaining -= weight
            if remaining < 0:
                return index
        return len(weights) - 1


class RecordedSource:
    """Recorded choices, each reduced to the largest admissible one; 0 after the last."""

    __slots__ = ("_remaining",)

    def __init__(self, record: Sequence[int]) -> None:
        self._remaining = iter(record)

    def index(self, weights: Sequence[int]) -> int:
        """Return the next choice."""
        return min(next(self._remaining, 0), len(weights) - 1)


class WeightedSource:
    """A fixed prefix of choices, then zeros; for `instances_of_weight`."""

    __slots__ = ("_fixed", "can_grow", "remaining")

    def __init__(self, fixed: Sequence[int], weight: int) -> None:
        self._fixed = iter(fixed)
        self.remaining = weight  # less the sum of the choices so far
        self.can_grow: list[bool] = []  # whether each choice could have been larger by one

    def index(self, weights: Sequence[int]) -> int:
        """Return the next choice of the prefix, 0 after its end."""
        chosen = next(self._fixed, 0)
        self.remaining -= chosen
        self.can_grow.append(self.remaining > 0 and chosen + 1 < len(weights))
        return chosen


def instances_of_weight(
    build: Callable[[Choices], ItemT], weight: int
) -> Iterator[tuple[ItemT, list[int]]]:
    """Yield every instance whose choices have the given sum, with the choices.

    Examples
    --------
    >>> pair = lambda choices: (choices.integer(0, 2), choices.integer(0, 2))
    >>> [instance for instance, _ in instances_of_weight(pair, 2)]
    [(0, 2), (1, 1), (2, 0)]
    """
    prefix: list[int] | None = []
    while prefix is not None:
        source = WeightedSource(prefix, weight)
        choices = Choices(source)
        instance = build(choices)
        if source.remaining == 0:
            yield instance, choices.record
        prefix = _next_prefix(choices.record, source.can_grow)


def _next_prefix(record: list[int], can_grow: list[bool]) -> list[int] | None:
    """Return the choices up to the last one that can grow, grown by one; None if none can."""
    for position in reversed(range(len(record))):
        if can_grow[position]:
            return [*record[:position], record[position] + 1]
    return None
