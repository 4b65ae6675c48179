"""The methods for CPU shares that are reserved on several machines at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Claim, Method, MethodGroup, Option, Problem

PROBLEM = Problem(
    "coreservation",
    "CPU shares on several machines at once, with priorities and benefit functions",
    hints=("portfolio",),
    certified="dlopt.problems.coreservation.certified_program:proven_value",
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
_TRIM = Option("trim", "bool", False, "reserve the smallest CPU of equal benefit")


def _order(default: str) -> Option:
    return Option("order", "str", default, "order of the requests of a batch", choices=_ORDERS)


_ALLOCATION = Option(
    "allocation",
    "str",
    "max",
    "CPU of a part: all that it requests (full), as much as is free (max), or its minimum (min)",
    choices=("full", "max", "min"),
)
_FIT = (_order("arrival"), _ALLOCATION, _TRIM)

_REPAIRED: dict[str, tuple[str, str, tuple[Option, ...]]] = {
    "rb": (
        "Kim and Nahrstedt 2000, as Min 2001 reads it",
        "first come, first served; allocates the full CPU on the least loaded machine",
        (_order("arrival"),),
    ),
    "rspb": (
        "Min 2001, figure 4.2",
        "in order of priority; takes the least loaded machine, else that of maximum benefit",
        (_TRIM,),
    ),
    "co-rspb": (
        "Min 2001, figures 5.1-5.3",
        "in order of priority; takes the best fitting machine, else that of maximum benefit",
        (_TRIM,),
    ),
    "co-rsbf": ("Min 2001, figures 5.4-5.6", "largest request first; best fit for minimum CPU", ()),
    "co-rsbfr": (
        "Min 2001, figures 5.7 and 5.8",
        "as co-rsbf; then moves parts to other machines and increases their shares",
        (_TRIM,),
    ),
    "first-fit": ("bin packing", "takes the first machine with enough capacity", _FIT),
    "best-fit": ("bin packing", "takes the machine with the least sufficient capacity", _FIT),
    "worst-fit": ("bin packing", "takes the machine with the most free capacity", _FIT),
    "priced": (
        "bid-price control, Talluri and van Ryzin 2004",
        "rejects requests whose benefit is less than the price of their CPU in the forecast",
        (_order("density"),),
    ),
}

_SLIPS: dict[str, tuple[Claim, str]] = {
    "leak": ("literal-unsound", "keeps the allocations of a rejected request; the text does not"),
    "requested": ("literal-unsound", "allocates all the CPU that is requested, not the share"),
    "fixed": ("literal-unsound", "moves parts off their fixed machine; section 5.2 does not"),
    "mark-first": ("literal-unsound", "allocates a new share before it releases the old one"),
    "stale": (
        "literal-unsound",
        "takes the free capacity of another machine as the share; line 38 is right",
    ),
    "stop": ("none", "stops the search at the first machine with enough capacity"),
    "slots": ("none", "reserves whole time slots, and one more than the window has"),
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
            yield _HEURISTIC.entry(f"{name}:literal", source, "as published: with all its errors")
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
    "symmetry_breaking",
    "bool",
    True,
    "order identical machines by their first request",
)
_FORMULATION = Option(
    "formulation", "str", "auto", "kind of the model", choices=("auto", "cp-sat", "milp")
)
_PACKING = "packing over event points"

METHODS = (
    *_batched(),
    _HEURISTIC.entry(
        "portfolio",
        "bin packing",
        "runs all fit rules in all orders, trims the shares, and returns the best plan",
    ),
    _EXACT.entry(
        "exact",
        _PACKING,
        "finds the clairvoyant optimum, each level of the objective with a proof",
        (_FORMULATION, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "cp-sat",
        _PACKING,
        "solves one CP-SAT model of all requests in integers (clairvoyant)",
        (_SYMMETRY_BREAKING,),
        applies=f"{_MODELS}.program_size:cp_sat_is_too_large",
    ),
    _EXACT.entry(
        "milp",
        _PACKING,
        "solves one MILP of all requests in floating point (clairvoyant)",
        (_SYMMETRY_BREAKING, SOLVER),
        applies=f"{_MODELS}.program_size:milp_is_too_large",
    ),
    _EXACT.entry(
        "lns",
        _PACKING,
        "large neighbourhood search with a dual bound, for large instances (clairvoyant)",
    ),
    _EXACT.entry(
        "rolling-exact",
        "Min 2001, section 4.2, with an exact method for each batch",
        "solves one batch after the other to optimality (rolling horizon)",
        target=f"{_MODELS}.rolling_horizon:exact_per_batch",
        claim="sound",
        objectives=_OBJECTIVES[:-1],
    ),
    _EXACT.entry(
        "feasibility",
        _PACKING,
        "finds a plan that accepts all requests, or proves that there is none (clairvoyant)",
        target=f"{_MODELS}.feasibility:all_or_nothing",
        objectives=("rejections", "rejected-priority"),
    ),
    _BOUND.entry(
        "bound-aggregated",
        _PACKING,
        "replaces all machines by one, and accepts each request in full or not at all (MILP)",
        target="bound_pooled",
    ),
    _BOUND.entry(
        "bound-aggregated-lp",
        _PACKING,
        "replaces all machines by one, and accepts fractions of requests (LP)",
        target="bound_lp",
    ),
    _BOUND.entry(
        "bound-knapsack",
        _PACKING,
        "adds up knapsack bounds at instants that have no request in common",
        objectives=_OBJECTIVES[:3],
    ),
)
