"""What the searches of the blocks of a stream have found, and what follows for the stream."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from dlopt.models.admission.time_blocks import TimeBlocks, merge_schedules
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.problems.admission.data import Solution
from dlopt.result import Proof


class BlockSearch(Protocol):
    """What is asked of the search of a block, see `dlopt.models.common.stream_search`."""

    @property
    def plan(self) -> Solution | None:
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
    def is_within_gap(self) -> bool:
        """Whether the incumbent is proven as good as asked for."""


class BlockOutcomes:
    """Schedules and bounds of the blocks, from the first incumbent on.

    Parameters
    ----------
    divided : TimeBlocks
    incumbent : Solution
        A schedule of the stream.

    Attributes
    ----------
    values, bounds : dict of tuple of int to Fraction
        By block. Its bound is that all of its tasks are accepted, until a better one is known.
    """

    def __init__(self, divided: TimeBlocks, incumbent: Solution) -> None:
        self.divided, scaled = divided, divided.scaled
        self.placed = divided.schedule_placements()
        self.schedules = {block: divided.restrict(incumbent, block) for block in divided.blocks}
        accepted = {one.task for one in incumbent.decisions if one.accepted}
        self.values = {
            block: self._weight(
                [i for i in block if scaled.instance.tasks[scaled.tasks[i].index].id in accepted]
            )
            for block in divided.blocks
        }
        self.bounds = {block: self._weight(block) for block in divided.blocks}
        self.proof_kind: Proof = "exact"
        self.open = len(divided.blocks)

    def add(self, block: tuple[int, ...], search: BlockSearch) -> None:
        """Add what the search of a block has found."""
        if search.plan is not None and search.value > self.values[block]:
            self.values[block], self.schedules[block] = search.value, search.plan
        if search.bound is not None:
            self.bounds[block] = search.bound
        self.open -= search.is_within_gap
        if search.proof_kind == "solver":
            self.proof_kind = "solver"

    @property
    def schedule(self) -> Solution:
        """The schedule of the stream."""
        return merge_schedules(self.divided.scaled, [self.placed, *self.schedules.values()])

    @property
    def value(self) -> Fraction:
        """Its objective value."""
        return self._fixed_value + sum(self.values.values(), Fraction(0))

    @property
    def upper_bound(self) -> UpperBound:
        """The sum of the bounds."""
        value = self._fixed_value + sum(self.bounds.values(), Fraction(0))
        proof = (
            "exact arithmetic" if self.proof_kind == "exact" else "floating point, not certified"
        )
        derivation = f"sum of the bounds of {len(self.bounds)} blocks of time ({proof})"
        derivation = "; ".join(filter(None, (derivation, self.open_blocks)))
        return UpperBound(value, derivation, proof_kind=self.proof_kind)

    @property
    def open_blocks(self) -> str | None:
        """How many blocks have a gap, None if there are none."""
        return f"{self.open} of {len(self.bounds)} blocks of time have a gap" if self.open else None

    @property
    def _fixed_value(self) -> Fraction:
        return self.divided.scaled.value_of_finished + self.divided.placed_weight

    def _weight(self, tasks: Sequence[int]) -> Fraction:
        scaled = self.divided.scaled
        return scaled.value(tasks) - scaled.value_of_finished
