"""One divisible task around everything that is taken: how many nodes it gets, and its chunks.

What a stage is, and why the search for the number of nodes is right, stands in
`dlopt.heuristics.multistage.stages`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from dlopt.heuristics.admission.nodes import Miss
from dlopt.heuristics.multistage.blocks import Blocks, Piece
from dlopt.heuristics.multistage.stages import StageView, Terms, stages

DUST = 1e-12
"""Of a load: what floats may leave, or be too small to send."""


class Planner:
    """Plans one task after the other on identical nodes without set-up costs.

    Parameters
    ----------
    tau, chi : Number
        In the field to compute in.

    Notes
    -----
    Guarantee: what is planned meets its deadline and touches nothing that is taken. The nodes are
    the fewest, of those that can receive first, on which this dispatch completes the load.
    Complexity: O(S n log n) for each number `n` of nodes that is tried, with `S` stages. Two are
    tried if the hint is right, else O(log n), unless relaxed stages promise what is not kept.

    Source: Mamat 2011, Algorithms 3 and 4, repaired.

    Examples
    --------
    >>> from fractions import Fraction
    >>> planner, free = Planner(Fraction(1), Fraction(1)), Blocks([2, 4], [[], [3, 8]])
    >>> for piece in planner.place(free, 0, 2, 8):
    ...     print(piece.node, *map(str, piece[1:]))
    0 2 0 2 4
    """

    def __init__(self, tau: Any, chi: Any) -> None:
        self.tau, self.chi, self.unit = tau, chi, tau + chi
        self.dust: Any = DUST if isinstance(self.unit, float) else 0

    def place(
        self, blocks: Blocks, lo: Any, load: Any, deadline: Any, hint: int = 1
    ) -> tuple[Piece, ...] | Miss:
        """Return the chunks of a task in the order of transmission, or what is left of its load.

        Parameters
        ----------
        blocks : Blocks
        lo : Number
            Nothing is sent before it.
        load : Number
        deadline : Number
            Absolute.
        hint : int, default 1
            How many nodes it may take; the answer does not depend on it.
        """
        return _Attempt(self, blocks, lo, load, deadline).pieces(hint)


class _Attempt:
    """One task in one state."""

    def __init__(self, costs: Planner, blocks: Blocks, lo: Any, load: Any, deadline: Any) -> None:
        self.unit, self.load, self.deadline = costs.unit, load, deadline
        self.spare = load * costs.dust
        self.line = blocks.line(lo, deadline)
        self._nodes = blocks.nodes
        self._terms = Terms(costs.tau, costs.chi, self.spare, self.line.order, blocks.nodes)
        self._ahead = stages(blocks.channel, lo, deadline)
        self._stages: list[StageView] = []

    def pieces(self, hint: int) -> tuple[Piece, ...] | Miss:
        found = self._fewest(hint)
        self.line.keep()
        return found

    def _fewest(self, hint: int) -> tuple[Piece, ...] | Miss:
        """Return the chunks on the fewest nodes that do: those certain not to are passed first."""
        low = self._too_few()
        high = self.line.upto(max(hint, low + 1))
        best: list[Piece] | None = None
        step = 1
        while high > low:
            left, made = self.run(high)
            if left <= self.spare:
                best = made
                break
            low, high = high, self.line.upto(high + step)
            step *= 2
        else:
            return self._missed()
        step = 1
        while high - low > 1:
            # From a hint that does: down by 1, 2, 4, until some number is too low; then halve.
            middle = max(high - step, (low + high) // 2)
            left, made = self.run(middle)
            if left > self.spare:
                low = middle
            else:
                high, best = middle, made
                step *= 2
        while best is None:
            left, best = self.run(high, relaxed=False)
            if left > self.spare:
                best, low, high = None, high, self.line.upto(high + 1)
                if high == low:
                    return self._missed()
        return tuple(best)

    def _missed(self) -> Miss:
        """Return what all nodes leave."""
        return Miss(self.run(self.line.upto(len(self._nodes)), relaxed=False)[0], "load")

    def _too_few(self) -> int:
        """Return how many nodes have no time for the load even if they all can be served."""
        needed, count = (self.load - self.spare) * self.unit, 0
        while self.line.upto(count + 1) > count:
            node = self.line.order[count]
            needed -= _spare_time(self._nodes[node], self.line.instants[count], self.deadline)
            if needed <= 0:
                return count
            count += 1
        return count

    def run(self, count: int, relaxed: bool = True) -> tuple[Any, list[Piece] | None]:
        """Return what the first nodes leave of the load, and the chunks.

        With `relaxed`, what is left at the least, and no chunks if that is not what is left; and
        no more than is needed to tell that something is.
        """
        left, made, pure = self.load, list[Piece](), True
        for stage in self._views():
            if stage.reach < count:
                stage.extend(self._terms, count)
            if relaxed and stage.disordered <= count:
                pure = False
                left = stage.relaxed(self._terms, count, left)
            else:
                left = stage.serve(self._terms, count, left, made)
            if left <= self.spare:
                break
            if relaxed and (left - self.spare) * self.unit > count * (self.deadline - stage.end):
                break
        return left, made if pure else None

    def _views(self) -> Iterator[StageView]:
        """Yield the stages, made when they are first reached."""
        yield from self._stages
        for stage in self._ahead:
            self._stages.append(StageView(*stage))
            yield self._stages[-1]


def _spare_time(taken: list[Any], start: Any, end: Any) -> Any:
    """Return how long a node is free between an instant at which it is, and another.

    Examples
    --------
    >>> _spare_time([2, 4, 6, 9], 0, 8)
    4
    """
    time = end - start
    at, last = bisect_right(taken, start), bisect_right(taken, end)
    if last % 2:
        time -= end - taken[last - 1]
        last -= 1
    return time - sum(taken[at + 1 : last : 2]) + sum(taken[at:last:2])
