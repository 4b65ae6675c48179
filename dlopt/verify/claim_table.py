"""What can be claimed of a method, and what on an instance would break it.

Every method claims to be sound; some claim their optimum or bound; and of some the papers say
more, most of which is false. `claims` lists what there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlopt.errors import NotApplicableError
from dlopt.registry import Method
from dlopt.verify.claim import Breaks, Broken, Case, Claim
from dlopt.verify.claim_checks import as_good_as, beaten, cheaper, monotone, near_bound, unsound

__all__ = ["Breaks", "Broken", "Case", "Claim", "claim", "claims"]


def claim(entry: Method, name: str | None = None) -> Claim:
    """Return a claim by its name; by default what the registry says that the method claims.

    Raises
    ------
    NotApplicableError
        If nothing of that name is claimed of the method.

    Examples
    --------
    >>> from dlopt import registry
    >>> claim(registry.method("iit", "edf-iit-2")).name
    'optimal'
    """
    if name is None:
        if entry.kind == "bound":
            name = "bound"
        else:
            name = "optimal" if entry.claim == "optimal" else "sound"
    known = {one.name: one for one in claims(entry)}
    if name not in known:
        text = f"nothing called {name!r} is claimed of {entry.name} (known: {', '.join(known)})"
        raise NotApplicableError(text)
    return known[name]


def claims(entry: Method | None = None) -> tuple[Claim, ...]:
    """Return all claims, or those about a method.

    Examples
    --------
    >>> from dlopt import registry
    >>> [one.name for one in claims(registry.method("bag", "gds"))][-2:]
    ['meets-what-edf-meets', 'shuffle-helps']
    """
    return tuple(one for one in _CLAIMS if entry is None or one.about(entry))


def _no_worse(
    stem: str, name: str, text: str, objective: str, pairs: dict[str, str], **options: Any
) -> Iterator[Claim]:
    """Yield a claim of each method: it is never worse than another by an objective."""
    for method, other in pairs.items():
        yield Claim(name, text, as_good_as(other), stem, (method,), objective, options)


def _all() -> Iterator[Claim]:
    yield Claim("sound", "its plans break no rule, and are worth what it says", unsound)
    yield Claim("optimal", "no plan of its class is better, and its plans break no rule", beaten)
    yield Claim("bound", "no plan of its class is better", beaten)
    yield Claim("monotone", "an easier instance never gets a worse answer", monotone)
    yield from _no_worse(
        "iit",
        "fewest-nodes",
        "it finds the fewest nodes that meet the deadline by its partition",
        "nodes",
        {
            "opr:literal-logarithm": "opr",
            "opr:literal-binary-search": "opr",
        },
    )
    yield from _no_worse(
        "admission",
        "accepts-what-edf-accepts",
        "it accepts as many tasks as earliest deadline first",
        "accepted",
        {"mcdf": "edf-opr-mn", "mwf-opr-mn": "edf-opr-mn"},
    )
    for slip in ("", ":literal"):
        yield Claim(
            "minimises-cost",
            "where all is accepted, its tasks hold the nodes no longer than those of EDF",
            cheaper(f"edf-opr-mn{slip}"),
            "admission",
            (f"mcdf{slip}",),
            "accepted",
        )
    yield from _no_worse(
        "admission",
        "rejects-less",
        "it rejects no more than the algorithm that it is said to beat",
        "accepted",
        {
            "edf-opr-mn": "edf-epr-mn",
            "edf-opr-an": "edf-opr-mn",
            "edf-iit-2": "fast-edf-iit",
            "fast-edf-iit": "edf-iit-1",
            "hybrid": "fast-edf-iit",
        },
    )
    yield from _no_worse(
        "admission",
        "as-good-as-planned",
        "it accepts as many tasks as EDF-IIT-2, though it decides without a plan while any waits",
        "accepted",
        {"hybrid": "edf-iit-2"},
        threshold=1,
    )
    yield Claim(
        "near-bound",
        "it rejects at most twice what must be rejected",
        near_bound,
        "coreservation",
        ("co-rsbf", "best-fit", "co-rsbfr"),
        "rejections",
    )
    yield from _no_worse(
        "coreservation",
        "stopping-costs-nothing",
        "the first machine with room does as well as the right one",
        "benefit",
        {"rspb:literal-stop": "rspb", "co-rspb:literal-stop": "co-rspb"},
    )
    yield from _no_worse(
        "coreservation",
        "slots-cost-nothing",
        "whole slots reject no more than half-open windows",
        "rejections",
        {
            f"{name}:literal-slots": name
            for name in ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr")
        },
    )
    yield from _no_worse(
        "coreservation",
        "refining-helps",
        "with refinement the benefit is never less",
        "benefit",
        {"co-rsbfr": "co-rsbf"},
    )
    slips = ("gds:literal-evict-all", "gds:literal-endless-loop", "gds-without-shuffle")
    yield from _no_worse(
        "bag",
        "meets-what-edf-meets",
        "it meets as many deadlines as earliest deadline first",
        "accepted",
        {"gds": "edf"},
    )
    yield from _no_worse(
        "bag",
        "shuffle-helps",
        "with Shuffle no fewer deadlines are met",
        "accepted",
        {"gds": "gds-without-shuffle"},
    )
    yield from _no_worse(
        "bag",
        "as-good-as-repaired",
        "it meets as many deadlines as GDS repaired",
        "accepted",
        dict.fromkeys(slips, "gds"),
    )


_CLAIMS = tuple(_all())
