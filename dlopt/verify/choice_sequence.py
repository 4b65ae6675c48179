"""Where the choices come from that an instance is built by.

A builder (`dlopt.verify.builders`) is a function of choices. The same builder is driven by chance,
by hypothesis, by a recording that is changed a little, or by all choices of little weight, one
after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

ItemT = TypeVar("ItemT")

MOST_CHOICES = 10_000
"""A builder that asks for more is taken for a mistake."""


class Source(Protocol):
    """What answers the questions of a builder."""

    def index(self, weights: Sequence[int]) -> int:
        """Return one of ``0 .. len(weights) - 1``; 0 is the simplest."""
        ...


class Choices:
    """The questions that a builder asks; the answers are recorded.

    Parameters
    ----------
    source : Source

    Examples
    --------
    >>> choices = Choices(Recorded([2, 0]))
    >>> choices.integer(1, 6), choices.pick(["a", "b"]), choices.record
    (3, 'a', [2, 0])
    """

    __slots__ = ("_source", "record")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.record: list[int] = []

    def _index(self, weights: Sequence[int]) -> int:
        if len(self.record) >= MOST_CHOICES:
            raise RuntimeError(f"more than {MOST_CHOICES} choices for one instance")
        chosen = self._source.index(weights)
        self.record.append(chosen)
        return chosen

    def integer(self, least: int, most: int) -> int:
        """Return an integer; the least is the simplest."""
        return least + self._index(_Equal(most - least + 1))

    def pick(self, options: Sequence[ItemT]) -> ItemT:
        """Return one of the options; the first is the simplest, one named twice likelier."""
        unique = list(dict.fromkeys(options))
        return unique[self._index([options.count(option) for option in unique])]

    def number(self, options: Sequence[Any]) -> Any:
        """Return one of some numbers, which may be of different types; see `pick`."""
        return self.pick(options)

    def chance(self, one_in: int) -> bool:
        """Return True once in so many times; False is the simplest."""
        return self._index((one_in - 1, 1)) == 1

    def several(self, least: int, most: int, make: Callable[[int], ItemT]) -> list[ItemT]:
        """Return a list of what `make` returns of 0, 1, ..."""
        return [make(index) for index in range(self.integer(least, most))]

    def subset(self, count: int, least: int = 0) -> list[int]:
        """Return some of ``0 .. count - 1`` in ascending order, no fewer than `least`."""
        chosen = [index for index in range(count) if self.chance(2)]
        left = [index for index in range(count) if index not in chosen]
        return sorted(chosen + left[: max(0, least - len(chosen))])

    def shuffled(self, count: int) -> list[int]:
        """Return ``0 .. count - 1`` in some order; ascending is the simplest."""
        left = list(range(count))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]


class _Equal(Sequence[int]):
    """So many weights of 1, without the list."""

    __slots__ = ("_length",)

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return 1


class Chance:
    """Choices by chance."""

    __slots__ = ("_random",)

    def __init__(self, rng: random.Random) -> None:
        self._random = rng

    def index(self, weights: Sequence[int]) -> int:
        """Return an index, by its weight."""
        if isinstance(weights, _Equal):
            return int(self._random.random() * len(weights))
        left = self._random.random() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return len(weights) - 1


class Recorded:
    """Choices made before; where they do not fit the largest that does, and 0 beyond their end."""

    __slots__ = ("_left",)

    def __init__(self, record: Sequence[int]) -> None:
        self._left = iter(record)

    def index(self, weights: Sequence[int]) -> int:
        """Return the next choice."""
        return min(next(self._left, 0), len(weights) - 1)


class Light:
    """Choices whose sum is a given weight, one sequence after the other, see `light`."""

    __slots__ = ("_fixed", "left", "room")

    def __init__(self, fixed: Sequence[int], weight: int) -> None:
        self._fixed = iter(fixed)
        self.left = weight  # what the choices so far leave of it
        self.room: list[bool] = []  # whether each choice could have been one more

    def index(self, weights: Sequence[int]) -> int:
        """Return the choice that is due: one of those fixed, then 0."""
        chosen = next(self._fixed, 0)
        self.left -= chosen
        self.room.append(self.left > 0 and chosen + 1 < len(weights))
        return chosen


def light(build: Callable[[Choices], ItemT], weight: int) -> Iterator[tuple[ItemT, list[int]]]:
    """Yield every instance whose choices sum up to a weight, with the choices.

    Examples
    --------
    >>> made = light(lambda choices: (choices.integer(0, 2), choices.integer(0, 2)), 2)
    >>> [instance for instance, _ in made]
    [(0, 2), (1, 1), (2, 0)]
    """
    fixed: list[int] | None = []
    while fixed is not None:
        source = Light(fixed, weight)
        choices = Choices(source)
        made = build(choices)
        if source.left == 0:
            yield made, choices.record
        fixed = _next(choices.record, source.room)


def _next(record: list[int], room: list[bool]) -> list[int] | None:
    """Return the choices up to the last one that can grow, grown by one; None if none can."""
    for at in reversed(range(len(record))):
        if room[at]:
            return [*record[:at], record[at] + 1]
    return None
