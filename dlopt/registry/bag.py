"""The methods for independent tasks."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Claim, Method, Option, Problem

PROBLEM = Problem(
    "bag",
    "independent tasks on machines that differ, with sites, priorities and deadlines",
    hints=("min-min", "sufferage", "mct", "gds", "edf", "priority-edf"),
)

_ALL = ("makespan", "flowtime", "critical-then-all", "accepted", "by-priority")
_HEURISTICS = "dlopt.heuristics.bag"
_MODELS = "dlopt.models.bag.methods"

_TARDY = Option(
    "tardy",
    "str",
    "reject",
    "reject a task that would miss its deadline, or run it all the same",
    choices=("reject", "run"),
)
_SITES = Option(
    "sites", "str", "all", "whether tasks may leave their site", choices=("all", "home")
)
_SHARE = Option("k", "int", 20, "percent of the machines that are looked at, to 100", least=1)
_LOW = Option("low", "int", 60, "percent of evenness down to which tasks go by MET", least=0)
_HIGH = Option("high", "int", 90, "percent of evenness up to which tasks go by MCT", least=1)

_META = frozenset({"min-min", "max-min", "sufferage", "duplex"})
"""The rules that look at all tasks that are left."""

_CHEN = "Chen 2001, section 2.3.1"
_GDS = "Liu, Baskiyar and Li 2007"

_RULES: tuple[tuple[str, str, str, tuple[Option, ...]], ...] = (
    ("edf", f"{_GDS}, section 6.1", "by deadline, each where it ends first", ()),
    ("priority-edf", "edf with priorities", "by priority, then by deadline", ()),
    ("mct", _CHEN, "as tasks arrive, each where it ends first (static: fast greedy)", ()),
    ("met", _CHEN, "as tasks arrive, each where it takes least (static: UDA)", ()),
    ("switching", _CHEN, "MCT and MET by turns, as loads are even or not", (_LOW, _HIGH)),
    ("kpb", _CHEN, "MCT among the k percent fastest machines", (_SHARE,)),
    ("olb", _CHEN, "as tasks arrive, each on the machine free next (static: the same)", ()),
    ("min-min", _CHEN, "of all that are left, the task that ends first", ()),
    ("max-min", _CHEN, "of all that are left, the task whose first end is last", ()),
    ("sufferage", _CHEN, "of all that are left, the one that suffers most elsewhere", ()),
    ("duplex", f"{_CHEN}; Braun et al. 2001", "the better of min-min and max-min", ()),
)

_PRINTED: tuple[tuple[str, Claim, str], ...] = (
    ("gds", "sound", "slacks from the last on, Shuffle task by task, dispatch until taken"),
    ("gds-without-shuffle", "sound", "the same without Shuffle"),
    ("gds:literal", "literal-unsound", "figures 3 and 6 to the letter; the prose is right"),
    (
        "gds:literal-evict-all",
        "none",
        "no paper prints this: Shuffle takes all tasks out first, and loses some",
    ),
    (
        "gds:literal-endless-loop",
        "none",
        "figure 3 to the letter: a task that does not fit is tried for ever",
    ),
    (
        "gds:literal-every-slack",
        "literal-unsound",
        "figure 3 to the letter: a task in every slack of a machine",
    ),
    (
        "gds:literal-duplicate",
        "literal-unsound",
        "figure 6 to the letter: a task to every neighbour; the prose is right",
    ),
    (
        "gds:literal-transmission",
        "literal-unsound",
        "no paper prints this: Shuffle forgets transmissions",
    ),
)


def _mappings() -> Iterator[Method]:
    for name, claim, summary in _PRINTED:
        yield Method(
            "bag",
            name,
            kind="heuristic",
            source=f"{_GDS}, Figs. 2-6" + ("" if ":" in name else ", repaired"),
            claim=claim,
            plan_class="any",
            objectives=_ALL,
            target=f"{_HEURISTICS}.gds_methods:{name.replace(':', '_').replace('-', '_')}",
            summary=summary,
        )
    for name, source, summary, options in _RULES:
        module = "batch_methods" if name in _META else "immediate_methods"
        yield Method(
            "bag",
            name,
            kind="heuristic",
            source=source,
            claim="sound",
            plan_class="any",
            objectives=_ALL,
            target=f"{_HEURISTICS}.{module}:{name.replace('-', '_')}",
            options=(_TARDY, _SITES, *options),
            summary=summary,
        )


_MAPPINGS = tuple(_mappings())

_SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")
_COMPACT = tuple(name for name in _ALL if name != "flowtime")

_PROOFS: tuple[Method, ...] = (
    Method(
        "bag",
        "exact",
        kind="exact",
        source="disjunctive program with alternatives; Horn 1973 for flowtimes",
        claim="optimal",
        plan_class="any",
        objectives=_ALL,
        target=f"{_MODELS}:exact_plan",
        summary="the best plan, proven level by level",
    ),
    Method(
        "bag",
        "milp",
        kind="exact",
        source="Jackson 1955; Lenstra, Shmoys and Tardos 1990",
        claim="optimal",
        plan_class="any",
        objectives=_COMPACT,
        target=f"{_MODELS}:milp",
        applies=f"{_MODELS}:in_turn",
        options=(_SOLVER,),
        summary="one compact integer program in floats: machines of tasks, no starts",
    ),
    Method(
        "bag",
        "lns",
        kind="exact",
        source="ours",
        claim="optimal",
        plan_class="any",
        objectives=_ALL,
        target=f"{_MODELS}:lns",
        summary="beyond proof: machines decided again, and how much better it could be",
    ),
    Method(
        "bag",
        "bound-lp",
        kind="bound",
        source="Lenstra, Shmoys and Tardos 1990; Horn 1973",
        claim="sound",
        plan_class="any",
        objectives=_ALL,
        target="dlopt.models.bag.bound_methods:bound_lp",
        applies=f"{_MODELS}:not_too_many_pairs",
        summary="plans that may split tasks, proven in whole numbers",
    ),
)

METHODS = (*_MAPPINGS, *_PROOFS)
