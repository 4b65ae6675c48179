"""The algorithms by name, as combinations of an order, a fit and a rule for shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

from dlopt.errors import NotApplicableError, known_names

Order: TypeAlias = Literal["arrival", "priority", "density", "ascending", "descending"]
Fit: TypeAlias = Literal["first", "best", "worst", "least-loaded"]
AllocationRule: TypeAlias = Literal["full", "max", "min"]

NameT = TypeVar("NameT", bound=str)

ORDERS: tuple[Order, ...] = get_args(Order)
ALLOCATION_RULES: tuple[AllocationRule, ...] = get_args(AllocationRule)


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How the requests of a batch are placed.

    Parameters
    ----------
    name : str
    order : {"arrival", "priority", "density", "ascending", "descending"}
        Which request comes first: the one that arrived first; that of the highest priority; that
        of the highest priority per unit of CPU and time that it needs; the one whose parts need
        the least, or the most, in total. Among equals the one that arrived first.
    fit : {"first", "best", "worst", "least-loaded"}
        Among the machines with room for a part: the first, the one with the least room, with the
        most, or the one with the lowest average load over the window.
    allocation : {"full", "max", "min"}
        What a part is allocated: all it asks for; all, or else as much as is useful on the machine
        of the largest benefit; the minimum that it accepts.
    refined : bool
        Whether parts are moved and extended after all requests of the batch are decided.
    trimmed : bool
        Whether a share is the least CPU of the same benefit.
    slips : frozenset of str
        The errata of the paper that are reproduced, see `SLIPS`.
    priced : bool
        Whether shares are chosen, and requests rejected, by bid prices, see
        `dlopt.heuristics.coreservation.bid_prices`.
    """

    name: str
    order: Order
    fit: Fit
    allocation: AllocationRule
    refined: bool = False
    trimmed: bool = False
    slips: frozenset[str] = frozenset()
    priced: bool = False


_REPAIRED: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("rb", "arrival", "least-loaded", "full"),
        Algorithm("rspb", "priority", "least-loaded", "max"),
        Algorithm("co-rspb", "priority", "best", "max"),
        Algorithm("co-rsbf", "descending", "best", "min"),
        Algorithm("co-rsbfr", "descending", "best", "min", refined=True),
        Algorithm("first-fit", "arrival", "first", "max"),
        Algorithm("best-fit", "arrival", "best", "max"),
        Algorithm("worst-fit", "arrival", "worst", "max"),
        Algorithm("priced", "density", "first", "max", priced=True),
    )
}

SLIPS: Mapping[str, tuple[str, ...]] = {
    "rb": ("slots",),
    "rspb": ("requested", "stop", "slots"),
    "co-rspb": ("leak", "stop", "slots"),
    "co-rsbf": ("leak", "slots"),
    "co-rsbfr": ("leak", "fixed", "mark-first", "stale", "slots"),
}
"""The errata of each algorithm as it is printed.

``leak``: of a request that is rejected, the parts reserved before stay reserved. ``requested``: a
part that gets less is reserved with all it asks for. ``stop``: the search ends at the first machine
that has room. ``fixed``: parts are moved off the machine to which they are fixed. ``mark-first``: a
new share is reserved before the old one is cancelled. ``stale``: a share is what was free on the
machine looked at last. ``slots``: whole slots are reserved, and one too many.
"""

NAMES = (
    *_REPAIRED,
    *(f"{stem}:literal" for stem in SLIPS if len(SLIPS[stem]) > 1),
    *(f"{stem}:literal-{slip}" for stem, slips in SLIPS.items() for slip in slips),
)
"""Every algorithm: the repaired ones, the printed ones, and those with one erratum each."""


def parse(
    name: str,
    *,
    order: str | None = None,
    allocation: str | None = None,
    trimmed: bool = False,
) -> Algorithm:
    """Return the algorithm of a name, one of `NAMES`, with its own order and allocation.

    Raises
    ------
    NotApplicableError
        If there is no such name, order or allocation rule.

    Examples
    --------
    >>> parse("co-rspb:literal-stop").fit
    'first'
    >>> parse("best-fit", order="descending", allocation="min").order
    'descending'
    """
    _known(name, NAMES, "algorithm")
    stem, _, printed = name.partition(":")
    found = _REPAIRED[stem]
    if found.priced and allocation not in (None, found.allocation):
        raise NotApplicableError(f"{stem} chooses allocations by prices, not by a rule")
    slips = SLIPS[stem] if printed == "literal" else (printed.removeprefix("literal-"),)
    return replace(
        found,
        name=name,
        order=_known(order or found.order, ORDERS, "order"),
        fit="first" if "stop" in slips else found.fit,
        allocation=_known(allocation or found.allocation, ALLOCATION_RULES, "allocation"),
        trimmed=trimmed,
        slips=frozenset(slips) - {""},
    )


def _known(given: str, known: tuple[NameT, ...], what: str) -> NameT:
    """Return a name that is known, with its literal type."""
    for name in known:
        if name == given:
            return name
    raise NotApplicableError(f"unknown {what} {given!r} ({known_names(given, known)})")
