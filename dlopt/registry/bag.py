"""The methods for independent tasks."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Claim, MethodGroup, Option, Problem

PROBLEM = Problem(
    "bag",
    "independent tasks on machines that differ, with sites, priorities and deadlines",
    hints=("min-min", "sufferage", "mct", "gds", "edf", "priority-edf"),
)

_OBJECTIVES = ("makespan", "flowtime", "critical-then-all", "accepted", "by-priority")
_GDS = MethodGroup("bag", "heuristic", "dlopt.heuristics.bag.gds_methods", _OBJECTIVES)
_IMMEDIATE = replace(_GDS, module="dlopt.heuristics.bag.immediate_methods")
_BATCH = replace(_GDS, module="dlopt.heuristics.bag.batch_methods")
_EXACT = replace(_GDS, kind="exact", module="dlopt.models.bag.methods")
_BOUND = replace(_GDS, kind="bound", module="dlopt.models.bag.bound_methods")

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
_COMMON = (_TARDY, _SITES)
_SHARE = Option("k", "int", 20, "percentage of the fastest machines, up to 100", least=1)
_LOW = Option("low", "int", 60, "load balance in percent below which MCT is used again", least=0)
_HIGH = Option("high", "int", 90, "load balance in percent from which MET is used", least=1)

_CHEN = "Chen 2001, section 2.3.1"
_LIU = "Liu, Baskiyar and Li 2007"

_VARIANTS: tuple[tuple[str, Claim, str], ...] = (
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
_ONE_BY_ONE: tuple[tuple[str, str, str, tuple[Option, ...]], ...] = (
    (
        "edf",
        f"{_LIU}, section 6.1",
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
)
_AMONG_ALL = (
    ("min-min", _CHEN, "the one with the smallest earliest finish time"),
    ("max-min", _CHEN, "the one with the largest earliest finish time"),
    ("sufferage", _CHEN, "the one with the largest loss on its second best machine"),
)

METHODS = (
    *(
        _GDS.entry(
            name,
            f"{_LIU}, figures 2-6" + ("" if ":" in name else ", repaired"),
            summary,
            claim=claim,
        )
        for name, claim, summary in _VARIANTS
    ),
    *(
        _IMMEDIATE.entry(name, source, summary, (*_COMMON, *options))
        for name, source, summary, options in _ONE_BY_ONE
    ),
    *(
        _BATCH.entry(name, source, f"among all remaining tasks, {summary}", _COMMON)
        for name, source, summary in _AMONG_ALL
    ),
    _BATCH.entry(
        "duplex",
        f"{_CHEN}; Braun et al. 2001",
        "the better schedule of min-min and max-min",
        _COMMON,
    ),
    _EXACT.entry(
        "exact",
        "disjunctive program with alternatives; Horn 1973 for flowtimes",
        "optimal schedule, proven level by level",
        target="solve_exact",
    ),
    _EXACT.entry(
        "milp",
        "Jackson 1955; Lenstra, Shmoys and Tardos 1990",
        "compact assignment MILP in floating point, without start times",
        (SOLVER,),
        target="solve_milp",
        applies="reason_against_milp",
        objectives=tuple(name for name in _OBJECTIVES if name != "flowtime"),
    ),
    _EXACT.entry(
        "lns",
        "ours",
        "large neighbourhood search with a dual bound; for large instances",
        target="solve_lns",
    ),
    _BOUND.entry(
        "bound-lp",
        "Lenstra, Shmoys and Tardos 1990; Horn 1973",
        "preemptive relaxation, certified in exact arithmetic",
        applies="dlopt.models.bag.methods:reason_against_bound_lp",
    ),
)
