"""The names of the algorithms, and what each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

from dlopt.errors import NotApplicableError

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
        of the highest priority for each unit of CPU and time that it needs; that of which the
        parts need least, or most, together. Among equals the one that arrived first.
    fit : {"first", "best", "worst", "least-loaded"}
        Among the machines with room for a part: the first, the one with the least room, with the
        most, or the one whose average load over the window is lowest.
    allocation : {"full", "max", "min"}
        What a part takes: all it asks for; all, or else as much as is of use on the machine that
        gives the greatest benefit; as little as it accepts.
    refined : bool
        Whether parts are moved and extended once all requests of the batch are decided.
    trimmed : bool
        Whether a share is the least CPU of the same benefit.
    slips : frozenset of str
        What is done as printed, see `SLIPS`.
    """

    name: str
    order: Order
    fit: Fit
    allocation: AllocationRule
    refined: bool = False
    trimmed: bool = False
    slips: frozenset[str] = frozenset()


_REPAIRED: Mapping[str, Algorithm] = {
    one.name: one
    for one in (
        Algorithm("rb", "arrival", "least-loaded", "full"),
        Algorithm("rspb", "priority", "least-loaded", "max"),
        Algorithm("co-rspb", "priority", "best", "max"),
        Algorithm("co-rsbf", "descending", "best", "min"),
        Algorithm("co-rsbfr", "descending", "best", "min", refined=True),
        Algorithm("first-fit", "arrival", "first", "max"),
        Algorithm("best-fit", "arrival", "best", "max"),
        Algorithm("worst-fit", "arrival", "worst", "max"),
    )
}

SLIPS: Mapping[str, tuple[str, ...]] = {
    "rb": ("slots",),
    "rspb": ("requested", "stop", "slots"),
    "co-rspb": ("leak", "stop", "slots"),
    "co-rsbf": ("leak", "slots"),
    "co-rsbfr": ("leak", "fixed", "mark-first", "stale", "slots"),
}
"""What is wrong in each algorithm as it is printed.

``leak``: of a request that is rejected, the parts reserved before stay reserved. ``requested``: a
part that gets less is marked with all it asks for. ``stop``: the search ends at the first machine
that has room. ``fixed``: parts are moved off the machine on which they must be. ``mark-first``: a
new share is marked before the old one is cancelled. ``stale``: a share is what was free on the
machine looked at last. ``slots``: whole slots are marked, and one too many.
"""

NAMES = (
    *_REPAIRED,
    *(f"{stem}:literal" for stem in SLIPS if len(SLIPS[stem]) > 1),
    *(f"{stem}:literal-{slip}" for stem, slips in SLIPS.items() for slip in slips),
)
"""Every algorithm: the repaired ones, the printed ones, and those with one slip each."""


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
    """Return a name that is known as what it is."""
    for one in known:
        if one == given:
            return one
    raise NotApplicableError(f"unknown {what} {given!r} (known: {', '.join(known)})")
