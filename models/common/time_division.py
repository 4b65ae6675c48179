"""Streams that divide into blocks of time, each of which is solved by itself.

`dlopt.models.admission.time_blocks` says why nothing is lost; the blocks of `multistage` have
reservations, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

PlanT = TypeVar("PlanT")
ScaledT = TypeVar("ScaledT")
Block = tuple[int, ...]
"""Tasks by their positions in the scaled instance, then reservations, numbered on from these."""


class IdlePlacement(NamedTuple):
    """A task that is done as one chunk in an idle period: its position, its node and its start."""

    task: int
    node: int
    start: Fraction


class TimeDivision(ABC, Generic[ScaledT, PlanT]):
    """A stream, divided.

    Attributes
    ----------
    blocks : tuple of Block
        Those with few tasks and reservations first.
    placements : sequence of IdlePlacement
        The tasks that are done outside all blocks, in the order of their starts.
    placed_value : Fraction
        Objective value of what is finished, and of tasks that are done outside all blocks.
    placed_plan : Solution
        The schedule of these; all else is rejected.
    """

    blocks: tuple[Block, ...]
    placements: Sequence[IdlePlacement]
    placed_value: Fraction
    placed_plan: PlanT

    @property
    def is_trivial(self) -> bool:
        """Whether nothing is divided."""
        return not self.placements and len(self.blocks) <= 1

    @abstractmethod
    def scaled_block(self, block: Block) -> ScaledT:
        """Return a block in its own units, without the finished tasks of the stream."""

    @abstractmethod
    def restrict(self, plan: PlanT, block: Block) -> PlanT:
        """Return what a schedule of the stream does for one block: all else is rejected."""

    @abstractmethod
    def value(self, plan: PlanT, block: Block) -> Fraction:
        """Return the objective value of what a schedule accepts in a block."""

    @abstractmethod
    def max_value(self, block: Block) -> Fraction:
        """Return the objective value of accepting all of a block."""

    @abstractmethod
    def merge(self, plans: Iterable[PlanT]) -> PlanT:
        """Return the schedule that does what each of some schedules at different times does."""
