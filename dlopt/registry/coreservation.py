"""The methods for CPU shares that are reserved on several machines at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Claim, Method, MethodGroup, Option, Problem

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
_MODELS = "dlopt.models.coreservation"
_HEURISTIC = MethodGroup(
    "coreservation", "heuristic", "dlopt.heuristics.coreservation.methods", _OBJECTIVES
)
_EXACT = replace(_HEURISTIC, kind="exact", module=f"{_MODELS}.methods")
_BOUND = replace(_HEURISTIC, kind="bound", module=f"{_MODELS}.bound_methods")

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
    for name, (source, summary, options) in _REPAIRED.items():
        yield _HEURISTIC.entry(name, source, summary, options)
        slips = _PRINTED.get(name, ())
        if len(slips) > 1:
            yield _HEURISTIC.entry(f"{name}:literal", source, "as published")
        for slip in slips:
            claim, error = _SLIPS[slip]
            yield _HEURISTIC.entry(
                f"{name}:literal-{slip}",
                "Min 2001, figure 3.3" if slip == "slots" else source,
                f"as published: {error}",
                options if name == "rb" else (),  # its order is no slip
                claim=claim,
            )


_SYMMETRY_BREAKING = Option(
    "symmetry_breaking", "bool", True, "order identical machines by their first request"
)
_FORMULATION = Option(
    "formulation", "str", "auto", "model over all requests", choices=("auto", "cp-sat", "milp")
)
_PACKING = "packing over event points"

METHODS = (
    *_batched(),
    _HEURISTIC.entry(
        "portfolio", "bin packing", "best plan of all fit rules and orders, shares trimmed"
    ),
    _EXACT.entry(
        "exact",
        _PACKING,
        "clairvoyant optimum, proven level by level",
        (_FORMULATION, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "cp-sat",
        _PACKING,
        "clairvoyant: one CP-SAT model in integers",
        (_SYMMETRY_BREAKING,),
        applies=f"{_MODELS}.program_size:cp_sat_is_too_large",
    ),
    _EXACT.entry(
        "milp",
        _PACKING,
        "clairvoyant: one MILP in floating point",
        (_SYMMETRY_BREAKING, SOLVER),
        applies=f"{_MODELS}.program_size:milp_is_too_large",
    ),
    _EXACT.entry(
        "lns",
        _PACKING,
        "clairvoyant: large neighbourhood search with a dual bound; for large instances",
    ),
    _EXACT.entry(
        "rolling-exact",
        "Min 2001, section 4.2, with an exact method for each batch",
        "rolling horizon: each batch solved to optimality in turn",
        target=f"{_MODELS}.rolling_horizon:exact_per_batch",
        claim="sound",
        objectives=_OBJECTIVES[:-1],
    ),
    _EXACT.entry(
        "feasibility",
        _PACKING,
        "clairvoyant feasibility test: a plan that accepts all requests, or a proof of none",
        target=f"{_MODELS}.feasibility:all_or_nothing",
        objectives=("rejections", "rejected-priority"),
    ),
    _BOUND.entry(
        "bound-aggregated",
        _PACKING,
        "aggregated machines, requests accepted in full (MILP)",
        target="bound_pooled",
    ),
    _BOUND.entry(
        "bound-aggregated-lp",
        _PACKING,
        "aggregated machines, requests accepted in part (LP)",
        target="bound_lp",
    ),
    _BOUND.entry(
        "bound-knapsack",
        _PACKING,
        "sum of knapsack bounds at instants without common requests",
        objectives=_OBJECTIVES[:3],
    ),
)
