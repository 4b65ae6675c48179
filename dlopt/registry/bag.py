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
    "sites",
    "str",
    "all",
    "sites on which a task may run: all, or its home site",
    choices=("all", "home"),
)
_SHARE = Option("k", "int", 20, "percentage of the fastest machines, up to 100", least=1)
_LOW = Option("low", "int", 60, "load balance in percent below which MCT is used again", least=0)
_HIGH = Option("high", "int", 90, "load balance in percent from which MET is used", least=1)

_META = frozenset({"min-min", "max-min", "sufferage", "duplex"})
"""The rules that look at all tasks that are left."""

_CHEN = "Chen 2001, section 2.3.1"
_GDS = "Liu, Baskiyar and Li 2007"

_RULES: tuple[tuple[str, str, str, tuple[Option, ...]], ...] = (
    (
        "edf",
        f"{_GDS}, section 6.1",
        "earliest deadline first, each at its earliest finish time",
        (),
    ),
    ("priority-edf", "edf with priorities", "by priority, then earliest deadline", ()),
    ("mct", _CHEN, "minimum completion time, in order of arrival (static: fast greedy)", ()),
    ("met", _CHEN, "minimum execution time, in order of arrival (static: UDA)", ()),
    (
        "switching",
        _CHEN,
        "switching algorithm: MCT and MET, depending on load balance",
        (_LOW, _HIGH),
    ),
    ("kpb", _CHEN, "k-percent best: MCT among the k percent fastest machines", (_SHARE,)),
    ("olb", _CHEN, "opportunistic load balancing: next free machine, in order of arrival", ()),
    (
        "min-min",
        _CHEN,
        "among all remaining tasks, the one with the smallest earliest finish time",
        (),
    ),
    (
        "max-min",
        _CHEN,
        "among all remaining tasks, the one with the largest earliest finish time",
        (),
    ),
    (
        "sufferage",
        _CHEN,
        "among all remaining tasks, the one with the largest loss on its second best machine",
        (),
    ),
    ("duplex", f"{_CHEN}; Braun et al. 2001", "duplex: the better of min-min and max-min", ()),
)

_PRINTED: tuple[tuple[str, Claim, str], ...] = (
    ("gds", "sound", "last fitting slack first, Shuffle task by task, dispatch to neighbours"),
    ("gds-without-shuffle", "sound", "as gds, without Shuffle"),
    ("gds:literal", "literal-unsound", "as published: figures 3 and 6; the text is right"),
    (
        "gds:literal-evict-all",
        "none",
        "not in a paper: Shuffle removes all tasks first, and loses some",
    ),
    (
        "gds:literal-endless-loop",
        "none",
        "as published: figure 3 never gives up a task that does not fit",
    ),
    (
        "gds:literal-every-slack",
        "literal-unsound",
        "as published: figure 3 puts a task into every slack of a machine",
    ),
    (
        "gds:literal-duplicate",
        "literal-unsound",
        "as published: figure 6 sends a task to every neighbour; the text is right",
    ),
    (
        "gds:literal-transmission",
        "literal-unsound",
        "not in a paper: Shuffle ignores transmissions",
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
        target=f"{_MODELS}:solve_exact",
        summary="optimal schedule, proven level by level",
    ),
    Method(
        "bag",
        "milp",
        kind="exact",
        source="Jackson 1955; Lenstra, Shmoys and Tardos 1990",
        claim="optimal",
        plan_class="any",
        objectives=_COMPACT,
        target=f"{_MODELS}:solve_milp",
        applies=f"{_MODELS}:reason_against_milp",
        options=(_SOLVER,),
        summary="compact assignment MILP in floating point, without start times",
    ),
    Method(
        "bag",
        "lns",
        kind="exact",
        source="ours",
        claim="optimal",
        plan_class="any",
        objectives=_ALL,
        target=f"{_MODELS}:solve_lns",
        summary="large neighbourhood search with a dual bound; for large instances",
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
        applies=f"{_MODELS}:reason_against_bound_lp",
        summary="preemptive relaxation, certified in exact arithmetic",
    ),
)

METHODS = (*_MAPPINGS, *_PROOFS)
