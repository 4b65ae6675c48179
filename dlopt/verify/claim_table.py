"""The claims about methods, each with its check.

Every method claims to be sound (its solutions are feasible); some claim an optimum or a bound; the
papers claim more of some, and most of that is false. `claims` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlopt.errors import NotApplicableError, known_names
from dlopt.registry import Method
from dlopt.verify.claim import Claim, ClaimCheck, ClaimViolation, Trial
from dlopt.verify.claim_checks import (
    check_bound,
    check_monotonicity,
    check_rejection_ratio,
    check_soundness,
    no_costlier_than,
    no_worse_than,
)

__all__ = ["Claim", "ClaimCheck", "ClaimViolation", "Trial", "claim", "claims"]


def claim(entry: Method, name: str | None = None) -> Claim:
    """Return a claim by its name; by default the claim of the method in the registry.

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
        text = f"no claim {name!r} about {entry.name} ({known_names(name, known)})"
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


def _dominance_claims(
    stem: str, name: str, text: str, objective: str, pairs: dict[str, str], **options: Any
) -> Iterator[Claim]:
    """Yield a claim for each method: by an objective it is never worse than another."""
    for method, other in pairs.items():
        yield Claim(name, text, no_worse_than(other), stem, (method,), objective, options)


_CLAIMS = (
    Claim("sound", "its solutions are feasible, with the values it reports", check_soundness),
    Claim(
        "optimal", "its solutions are feasible, and none of its plan class is better", check_bound
    ),
    Claim("bound", "no solution of its plan class is better", check_bound),
    Claim("monotone", "a relaxed instance never gets a worse answer", check_monotonicity),
    *_dominance_claims(
        "iit",
        "fewest-nodes",
        "it finds the fewest nodes that meet the deadline by its partition",
        "nodes",
        {
            "opr:literal-logarithm": "opr",
            "opr:literal-binary-search": "opr",
        },
    ),
    *_dominance_claims(
        "admission",
        "accepts-what-edf-accepts",
        "it accepts as many tasks as earliest deadline first",
        "accepted",
        {"mcdf": "edf-opr-mn", "mwf-opr-mn": "edf-opr-mn"},
    ),
    *(
        Claim(
            "minimises-cost",
            "where all tasks are accepted, they use no more node time than under EDF",
            no_costlier_than(f"edf-opr-mn{slip}"),
            "admission",
            (f"mcdf{slip}",),
            "accepted",
        )
        for slip in ("", ":literal")
    ),
    *_dominance_claims(
        "admission",
        "rejects-less",
        "it rejects no more tasks than the algorithm that it is claimed to improve on",
        "accepted",
        {
            "edf-opr-mn": "edf-epr-mn",
            "edf-opr-an": "edf-opr-mn",
            "edf-iit-2": "fast-edf-iit",
            "fast-edf-iit": "edf-iit-1",
            "hybrid": "fast-edf-iit",
        },
    ),
    *_dominance_claims(
        "admission",
        "as-good-as-planned",
        "it accepts as many tasks as EDF-IIT-2, though it decides without a schedule under load",
        "accepted",
        {"hybrid": "edf-iit-2"},
        threshold=1,
    ),
    Claim(
        "near-bound",
        "it rejects at most twice as many requests as the optimum",
        check_rejection_ratio,
        "coreservation",
        ("co-rsbf", "best-fit", "co-rsbfr"),
        "rejections",
    ),
    *_dominance_claims(
        "coreservation",
        "stopping-costs-nothing",
        "stopping at the first machine with enough capacity costs no benefit",
        "benefit",
        {"rspb:literal-stop": "rspb", "co-rspb:literal-stop": "co-rspb"},
    ),
    *_dominance_claims(
        "coreservation",
        "slots-cost-nothing",
        "rounding windows to whole slots causes no further rejections",
        "rejections",
        {
            f"{name}:literal-slots": name
            for name in ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr")
        },
    ),
    *_dominance_claims(
        "coreservation",
        "refining-helps",
        "refinement never reduces the benefit",
        "benefit",
        {"co-rsbfr": "co-rsbf"},
    ),
    *_dominance_claims(
        "bag",
        "meets-what-edf-meets",
        "it meets as many deadlines as earliest deadline first",
        "accepted",
        {"gds": "edf"},
    ),
    *_dominance_claims(
        "bag",
        "shuffle-helps",
        "Shuffle never reduces the number of deadlines met",
        "accepted",
        {"gds": "gds-without-shuffle"},
    ),
    *_dominance_claims(
        "bag",
        "as-good-as-repaired",
        "it meets as many deadlines as the repaired GDS",
        "accepted",
        dict.fromkeys(
            ("gds:literal-evict-all", "gds:literal-endless-loop", "gds-without-shuffle"), "gds"
        ),
    ),
)
