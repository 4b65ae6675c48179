"""Chunks without their loads, when they can be sent, and sequences of them with their loads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

NO_LOAD = 1e-9
"""Load, in units of the model, up to which a chunk is left out of a sequence."""


class SequencedChunk(Protocol):
    """A chunk without its load: a named tuple."""

    @property
    def task(self) -> int:
        """Its task, by the index in the scaled instance."""

    @property
    def node(self) -> int:
        """Its node."""

    def _replace(self, *, node: int = ...) -> Self: ...


ChunkT = TypeVar("ChunkT", bound=SequencedChunk)


class Window(NamedTuple):
    """When a chunk may start, and by when it must be sent and computed."""

    earliest_start: float
    latest_start: float
    send_by: float
    compute_by: float


class Costs(NamedTuple):
    """Times of port and nodes: for a unit of load by node, and for the set-up of a chunk."""

    tau: Sequence[float]
    unit_time: Sequence[float]
    on_port: Sequence[bool]
    setup: float
    overhead: float


class PossibleChunks(Generic[ChunkT]):
    """The chunks that can be sent, with their windows.

    Parameters
    ----------
    windows : mapping of chunk to Window
    installments : int
        How often each may be sent.
    """

    def __init__(self, windows: Mapping[ChunkT, Window], installments: int) -> None:
        self.windows = windows
        self.of_task = defaultdict[int, list[ChunkT]](list)
        for chunk in windows:
            self.of_task[chunk.task] += [chunk] * installments


class SizedSequence(NamedTuple, Generic[ChunkT]):
    """A sequence of chunks for a set of requests, and what its linear program says."""

    requests: frozenset[int]
    sequence: list[ChunkT]
    unfinished_load: float
    loads: Sequence[float]
    starts: Sequence[float]
    unfinished: frozenset[int]

    @property
    def loaded_chunks(self) -> list[ChunkT]:
        """The chunks with load; all of a task of which no chunk has more than `NO_LOAD`."""
        sized = list(zip(self.sequence, self.loads, strict=True))
        loaded = {chunk.task for chunk, load in sized if load > NO_LOAD}
        return [chunk for chunk, load in sized if load > NO_LOAD or chunk.task not in loaded]
