"""The methods for CPU shares that are reserved on several machines at once."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Claim, Kind, Method, Option, Problem

PROBLEM = Problem(
    "coreservation",
    "CPU shares on several machines at once, with priorities and benefit functions",
    hints=("portfolio",),
)

_OBJECTIVES = (
    "benefit",
    "rejections",
    "rejected-priority",
    "benefit-then-rejections",
    "rejections-then-benefit",
    "rejected-priority-then-benefit",
    "rejections-then-machines",
)
_HEURISTICS = "dlopt.heuristics.coreservation.methods"
_MODELS = "dlopt.models.coreservation.methods"
_SIZES = "dlopt.models.coreservation.program_size"
_BOUNDS = "dlopt.models.coreservation.bound_methods"

_ORDERS = ("arrival", "priority", "density", "ascending", "descending")
_TRIM = Option("trim", "bool", False, "reserve the least CPU of equal benefit")


def _order(default: str) -> Option:
    return Option("order", "str", default, "order of the requests of a batch", choices=_ORDERS)


_ALLOCATION = Option(
    "allocation",
    "str",
    "max",
    "CPU of a part: all it asks for or none, as much as is free, as little as it accepts",
    choices=("full", "max", "min"),
)
_FIT = (_order("arrival"), _ALLOCATION, _TRIM)

_REPAIRED: dict[str, tuple[str, str, tuple[Option, ...]]] = {
    "rb": (
        "Kim and Nahrstedt 2000, as Min 2001 reads it",
        "full CPU on the least loaded machine; first come, first served",
        (_order("arrival"),),
    ),
    "rspb": (
        "Min 2001, figure 4.2",
        "by priority; least loaded machine, else the machine of maximum benefit",
        (_TRIM,),
    ),
    "co-rspb": (
        "Min 2001, figures 5.1-5.3",
        "by priority; best fit, else the machine of maximum benefit",
        (_TRIM,),
    ),
    "co-rsbf": ("Min 2001, figures 5.4-5.6", "largest first, best fit, minimum CPU", ()),
    "co-rsbfr": (
        "Min 2001, figures 5.7 and 5.8",
        "as co-rsbf, then parts are migrated and extended",
        (_TRIM,),
    ),
    "first-fit": ("bin packing", "first machine with enough capacity", _FIT),
    "best-fit": ("bin packing", "machine with the least sufficient capacity", _FIT),
    "worst-fit": ("bin packing", "machine with the most free capacity", _FIT),
}

_SLIPS: dict[str, tuple[Claim, str]] = {
    "leak": (
        "literal-unsound",
        "allocations of a rejected request are not released; the text is right",
    ),
    "requested": ("literal-unsound", "a part is allocated all that it requests"),
    "fixed": (
        "literal-unsound",
        "refinement moves parts off their fixed machine; section 5.2 is right",
    ),
    "mark-first": ("literal-unsound", "a new share is allocated before the old one is released"),
    "stale": (
        "literal-unsound",
        "a share is the free capacity of the last machine; line 38 is right",
    ),
    "stop": ("none", "the search stops at the first machine with enough capacity"),
    "slots": ("none", "whole slots of one time unit, one too many"),
}
_PRINTED = {
    "rb": ("slots",),
    "rspb": ("requested", "stop", "slots"),
    "co-rspb": ("leak", "stop", "slots"),
    "co-rsbf": ("leak", "slots"),
    "co-rsbfr": ("leak", "fixed", "mark-first", "stale", "slots"),
}


def _batched() -> Iterator[Method]:
    for stem, (source, summary, options) in _REPAIRED.items():
        yield _heuristic(stem, source, "sound", summary, options)
        slips = _PRINTED.get(stem, ())
        if len(slips) > 1:
            yield _heuristic(f"{stem}:literal", source, "literal-unsound", "as published", ())
        for slip in slips:
            claim, error = _SLIPS[slip]
            text = f"as published: {error}"
            printed = "Min 2001, figure 3.3" if slip == "slots" else source
            same = options if stem == "rb" else ()  # its order is no slip
            yield _heuristic(f"{stem}:literal-{slip}", printed, claim, text, same)
    summary = "best plan of all fit rules and orders, shares trimmed"
    yield _heuristic("portfolio", "bin packing", "sound", summary, ())


def _heuristic(
    name: str, source: str, claim: Claim, summary: str, options: tuple[Option, ...]
) -> Method:
    return Method(
        "coreservation",
        name,
        kind="heuristic",
        source=source,
        claim=claim,
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_HEURISTICS}:{name.replace('-', '_').replace(':', '_')}",
        options=options,
        summary=summary,
    )


_BATCHED = tuple(_batched())

_SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")
_SYMMETRY_BREAKING = Option(
    "symmetry_breaking", "bool", True, "order identical machines by their first request"
)
_FORMULATION = Option(
    "formulation",
    "str",
    "auto",
    "model over all requests",
    choices=("auto", "cp-sat", "milp"),
)


def _proof(
    name: str,
    target: str,
    summary: str,
    *options: Option,
    kind: Kind = "exact",
    claim: Claim = "optimal",
    objectives: tuple[str, ...] = _OBJECTIVES,
    source: str = "packing over event points",
    applies: str | None = None,
) -> Method:
    return Method(
        "coreservation",
        name,
        kind=kind,
        source=source,
        claim=claim,
        plan_class="any",
        objectives=objectives,
        target=target,
        applies=applies,
        options=options,
        summary=summary,
    )


_PROOFS: tuple[Method, ...] = (
    _proof(
        "exact",
        f"{_MODELS}:exact_plan",
        "clairvoyant optimum, proven level by level",
        _FORMULATION,
        _SOLVER,
    ),
    _proof(
        "cp-sat",
        f"{_MODELS}:cp_sat",
        "clairvoyant: one CP-SAT model in integers",
        _SYMMETRY_BREAKING,
        applies=f"{_SIZES}:cp_sat_is_too_large",
    ),
    _proof(
        "milp",
        f"{_MODELS}:milp",
        "clairvoyant: one MILP in floating point",
        _SYMMETRY_BREAKING,
        _SOLVER,
        applies=f"{_SIZES}:milp_is_too_large",
    ),
    _proof(
        "lns",
        f"{_MODELS}:lns",
        "clairvoyant: large neighbourhood search with a dual bound; for large instances",
    ),
    _proof(
        "rolling-exact",
        "dlopt.models.coreservation.rolling_horizon:exact_per_batch",
        "rolling horizon: each batch solved to optimality in turn",
        claim="sound",
        objectives=_OBJECTIVES[:-1],
        source="Min 2001, section 4.2, with an exact method for each batch",
    ),
    _proof(
        "feasibility",
        "dlopt.models.coreservation.feasibility:all_or_nothing",
        "clairvoyant feasibility test: a plan that accepts all requests, or a proof of none",
        objectives=("rejections", "rejected-priority"),
    ),
    _proof(
        "bound-aggregated",
        f"{_BOUNDS}:bound_pooled",
        "aggregated machines, requests accepted in full (MILP)",
        kind="bound",
        claim="sound",
    ),
    _proof(
        "bound-aggregated-lp",
        f"{_BOUNDS}:bound_lp",
        "aggregated machines, requests accepted in part (LP)",
        kind="bound",
        claim="sound",
    ),
    _proof(
        "bound-knapsack",
        f"{_BOUNDS}:bound_knapsack",
        "sum of knapsack bounds at instants without common requests",
        kind="bound",
        claim="sound",
        objectives=_OBJECTIVES[:3],
    ),
)

METHODS = (*_BATCHED, *_PROOFS)
