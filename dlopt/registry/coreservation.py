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
_TRIM = Option("trim", "bool", False, "reserve the least CPU of the same benefit")


def _order(default: str) -> Option:
    return Option("order", "str", default, "which request of a batch comes first", choices=_ORDERS)


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
        "all that is asked for, where the load is lowest; first come, first served",
        (_order("arrival"),),
    ),
    "rspb": (
        "Min 2001, figure 4.2",
        "by priority, where the load is lowest; else where the benefit is greatest",
        (_TRIM,),
    ),
    "co-rspb": (
        "Min 2001, figures 5.1-5.3",
        "by priority, best fit; else where the benefit is greatest",
        (_TRIM,),
    ),
    "co-rsbf": ("Min 2001, figures 5.4-5.6", "largest first, best fit, as little as accepted", ()),
    "co-rsbfr": (
        "Min 2001, figures 5.7 and 5.8",
        "as co-rsbf, then parts are moved and extended",
        (_TRIM,),
    ),
    "first-fit": ("bin packing", "the first machine with room; order: of the requests", _FIT),
    "best-fit": ("bin packing", "the machine with the least room that is enough", _FIT),
    "worst-fit": ("bin packing", "the machine with the most room", _FIT),
}

_SLIPS: dict[str, tuple[Claim, str]] = {
    "leak": ("literal-unsound", "what a rejected request held stays reserved; the text is right"),
    "requested": ("literal-unsound", "to the letter, a part is marked with all it asks for"),
    "fixed": ("literal-unsound", "refining moves parts off their machine; section 5.2 is right"),
    "mark-first": ("literal-unsound", "to the letter, a share is marked before the old one goes"),
    "stale": ("literal-unsound", "a share is what is free on the last machine; line 38 is right"),
    "stop": ("none", "the text lets the search stop at the first machine with room"),
    "slots": ("none", "whole slots of one time unit, and one too many"),
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
            yield _heuristic(f"{stem}:literal", source, "literal-unsound", "as printed", ())
        for slip in slips:
            claim, told = _SLIPS[slip]
            text = f"as printed: {told}"
            printed = "Min 2001, figure 3.3" if slip == "slots" else source
            same = options if stem == "rb" else ()  # its order is no slip
            yield _heuristic(f"{stem}:literal-{slip}", printed, claim, text, same)
    told = "every fit in every order, shares trimmed; the best plan of all"
    yield _heuristic("portfolio", "bin packing", "sound", told, ())


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
    "of the program over all requests",
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
        "clairvoyant: the plan worth most, proven level by level",
        _FORMULATION,
        _SOLVER,
    ),
    _proof(
        "cp-sat",
        f"{_MODELS}:cp_sat",
        "clairvoyant: one program in whole numbers",
        _SYMMETRY_BREAKING,
        applies=f"{_SIZES}:cp_sat_is_too_large",
    ),
    _proof(
        "milp",
        f"{_MODELS}:milp",
        "clairvoyant: one integer program in floats",
        _SYMMETRY_BREAKING,
        _SOLVER,
        applies=f"{_SIZES}:milp_is_too_large",
    ),
    _proof(
        "lns",
        f"{_MODELS}:lns",
        "clairvoyant, beyond proof: neighbourhoods, and how much better it could be",
    ),
    _proof(
        "rolling-exact",
        "dlopt.models.coreservation.rolling_horizon:exact_per_batch",
        "each batch optimally, given what earlier ones left",
        claim="sound",
        objectives=_OBJECTIVES[:-1],
        source="Min 2001, section 4.2, with an exact method in it",
    ),
    _proof(
        "feasibility",
        "dlopt.models.coreservation.feasibility:all_or_nothing",
        "clairvoyant: whether the machines suffice for all, by a plan or a proof",
        objectives=("rejections", "rejected-priority"),
    ),
    _proof(
        "bound-aggregated",
        f"{_BOUNDS}:bound_pooled",
        "machines as one at every instant, requests accepted whole",
        kind="bound",
        claim="sound",
    ),
    _proof(
        "bound-aggregated-lp",
        f"{_BOUNDS}:bound_lp",
        "machines as one at every instant, requests accepted in part",
        kind="bound",
        claim="sound",
    ),
    _proof(
        "bound-knapsack",
        f"{_BOUNDS}:bound_knapsack",
        "knapsacks at instants that share no request",
        kind="bound",
        claim="sound",
        objectives=_OBJECTIVES[:3],
    ),
)

METHODS = (*_BATCHED, *_PROOFS)
