"""What the searches of the blocks of a stream have found, and what follows for the stream."""

from __future__ import annotations

from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.time_division import Block, TimeDivision
from dlopt.result import Proof

PlanT = TypeVar("PlanT")
ScaledT = TypeVar("ScaledT")
FoundT = TypeVar("FoundT", covariant=True)


class BlockSearch(Protocol[FoundT]):
    """What is asked of the search of a block, see `dlopt.models.common.stream_search`."""

    @property
    def plan(self) -> FoundT | None:
        """Its incumbent."""

    @property
    def value(self) -> Fraction:
        """The objective value of the incumbent."""

    @property
    def bound(self) -> Fraction | None:
        """No schedule of the block has a larger value."""

    @property
    def proof_kind(self) -> Proof:
        """Whether the bound is proven in fractions."""

    @property
    def holds_for_any_plan(self) -> bool:
        """Whether the bound holds with any number of chunks."""

    @property
    def is_within_gap(self) -> bool:
        """Whether the incumbent is proven as good as asked for."""


class BlockOutcomes(Generic[ScaledT, PlanT]):
    """Schedules and bounds of the blocks, from the incumbent of the stream on.

    Parameters
    ----------
    divided : TimeDivision
    incumbent : Solution
        A schedule of the stream.

    Attributes
    ----------
    plans : dict of Block to Solution
    values, bounds : dict of Block to Fraction
        The bound of a block is that all of it is accepted, until a better one is known.
    holds_for_any_plan : bool
        Whether all bounds hold with any number of chunks.
    """

    def __init__(self, divided: TimeDivision[ScaledT, PlanT], incumbent: PlanT) -> None:
        self.divided, blocks = divided, divided.blocks
        self.plans = {block: divided.restrict(incumbent, block) for block in blocks}
        self.values = {block: divided.value(incumbent, block) for block in blocks}
        self.bounds = {block: divided.max_value(block) for block in blocks}
        self.proof_kind: Proof = "exact"
        self.holds_for_any_plan = True
        self.open = len(blocks)

    def add(self, block: Block, search: BlockSearch[PlanT]) -> None:
        """Add what the search of a block has found."""
        if search.plan is not None and search.value > self.values[block]:
            self.values[block], self.plans[block] = search.value, search.plan
        if search.bound is not None:
            self.bounds[block] = search.bound
            self.holds_for_any_plan &= search.holds_for_any_plan
        self.open -= search.is_within_gap
        if search.proof_kind == "solver":
            self.proof_kind = "solver"

    @property
    def plan(self) -> PlanT:
        """The schedule of the stream."""
        return self.divided.merge([self.divided.placed_plan, *self.plans.values()])

    @property
    def value(self) -> Fraction:
        """Its objective value."""
        return self.divided.placed_value + sum(self.values.values(), Fraction(0))

    @property
    def upper_bound(self) -> UpperBound:
        """The sum of the bounds."""
        value = self.divided.placed_value + sum(self.bounds.values(), Fraction(0))
        proof = (
            "exact arithmetic" if self.proof_kind == "exact" else "floating point, not certified"
        )
        derivation = f"sum of the bounds of {len(self.bounds)} blocks of time ({proof})"
        return UpperBound(value, derivation, proof_kind=self.proof_kind)

    @property
    def open_blocks(self) -> str | None:
        """How many blocks have a gap, None if there are none."""
        return f"{self.open} of {len(self.bounds)} blocks of time have a gap" if self.open else None
