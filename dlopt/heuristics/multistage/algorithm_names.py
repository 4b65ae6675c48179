"""The algorithms by their names, and their planners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlopt.arithmetic import Number
from dlopt.errors import NotApplicableError, known_names
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals
from dlopt.heuristics.multistage.literal_stream import FLAWS, LiteralPlanner
from dlopt.heuristics.multistage.priced_queue import PricedMultiStageQueue
from dlopt.heuristics.multistage.queue import MultiStageQueue
from dlopt.problems.cluster import Cluster

STEM = "multi-stage"
PRICED = f"priced-{STEM}"
NAMES = (STEM, PRICED, f"{STEM}:literal", *(f"{STEM}:literal-{flaw}" for flaw in FLAWS))
"""Every algorithm: the repaired one, without and with bid prices, the printed one, and those with
one flaw each."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """The repaired algorithm, or the printed one with all its flaws or one of them.

    Prices are for the repaired one only.

    Parameters
    ----------
    flaw : str, optional
        ``literal``, or one of `dlopt.heuristics.multistage.literal_stream.FLAWS`; None is repaired.
    priced : bool, default False
        Whether tasks are rejected for their bid prices.

    Examples
    --------
    >>> parse("multi-stage:literal-F4")
    Algorithm(flaw='F4', priced=False)
    >>> parse("priced-multi-stage").name
    'priced-multi-stage'
    """

    flaw: str | None = None
    priced: bool = False

    @property
    def name(self) -> str:
        """The name that `parse` reads."""
        if self.flaw is None:
            return PRICED if self.priced else STEM
        return f"{STEM}:literal" if self.flaw == "literal" else f"{STEM}:literal-{self.flaw}"


def parse(name: str) -> Algorithm:
    """Return the algorithm of a name, one of `NAMES`.

    Raises
    ------
    NotApplicableError
        If it is no such name.
    """
    if not isinstance(name, str):
        raise NotApplicableError(f"an algorithm's name is needed, not a {type(name).__name__}")
    if name not in NAMES:
        raise NotApplicableError(f"unknown algorithm {name!r} ({known_names(name, NAMES)})")
    if name == PRICED:
        return Algorithm(priced=True)
    flaw = name.removeprefix(STEM).removeprefix(":").removeprefix("literal-")
    return Algorithm(flaw or None)


def reason_against(cluster: Cluster) -> str | None:
    """Return why the algorithms do not apply to a cluster, or None if they do."""
    if not cluster.identical:
        return "the nodes differ"
    return "there are set-up costs" if cluster.has_setup_costs else None


def make_planner(
    algorithm: Algorithm,
    costs: tuple[Number, Number],
    ready: Sequence[Number],
    channel: Number,
    now: Number,
    *,
    prices: BidPrices | None = None,
) -> MultiStageQueue | LiteralPlanner:
    """Return the planner of an algorithm, on a cluster in a given state.

    Parameters
    ----------
    algorithm : Algorithm
    costs, ready, channel, now
        See `MultiStageQueue`.
    prices : BidPrices, optional
        Those of an earlier planner, for an algorithm that is priced.
    """
    if algorithm.priced:
        return PricedMultiStageQueue(costs, ready, channel, now, prices=prices)
    if algorithm.flaw is None:
        return MultiStageQueue(costs, ready, channel, now)
    return LiteralPlanner(algorithm.flaw, costs, ready, channel, now)


def queue_around(
    costs: tuple[Number, Number], fixed: BusyIntervals, prices: BidPrices | None
) -> MultiStageQueue:
    """Return an empty queue around what is fixed, with bid prices if there are any.

    The other parameters are as of `MultiStageQueue.around`.
    """
    if prices is None:
        return MultiStageQueue.around(costs, fixed)
    queue = PricedMultiStageQueue.around(costs, fixed)
    queue.prices = prices
    return queue
