"""Plans of one divisible load, and how to change their chunks."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution

SMALLEST = Instance(Cluster(1, tau=1, chi=2, theta_cm=3, theta_cp=4), (5,), load=6)
SMALLEST_PLAN = Solution((Chunk(0, 6, 5, 14, 14, 30),))
TIMES = ("transmission_start", "transmission_end", "computation_start", "computation_end")
"""The fields of a chunk that are times."""


def moved(chunk: Chunk, by: Fraction) -> Chunk:
    """Return the chunk, sent and computed later by so much."""
    return replace(
        chunk,
        transmission_start=chunk.transmission_start + by,
        transmission_end=chunk.transmission_end + by,
        computation_start=chunk.computation_start + by,
        computation_end=chunk.computation_end + by,
    )


def with_chunk(chunks: tuple[Chunk, ...], index: int, chunk: Chunk) -> tuple[Chunk, ...]:
    return (*chunks[:index], chunk, *chunks[index + 1 :])


def some_chunk(draw: Any, chunks: tuple[Chunk, ...]) -> tuple[int, Chunk]:
    index = draw(st.integers(0, len(chunks) - 1))
    return index, chunks[index]


def send_of(chunk: Chunk) -> Fraction:
    return chunk.transmission_end - chunk.transmission_start
