"""The methods for independent tasks."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Claim, MethodGroup, Option, Problem

PROBLEM = Problem(
    "bag",
    "independent tasks on heterogeneous machines, with sites, priorities and deadlines",
    hints=("min-min", "max-min", "sufferage", "mct", "gds", "edf", "priority-edf"),
    certified="dlopt.problems.bag.certified_program:proven_value",
)

_OBJECTIVES = ("makespan", "flowtime", "critical-then-all", "accepted", "by-priority")
_GDS = MethodGroup("bag", "heuristic", "dlopt.heuristics.bag.gds_methods", _OBJECTIVES)
_LOCAL_SEARCH = replace(
    _GDS, module="dlopt.heuristics.bag.gds_local_search_method", objectives=_OBJECTIVES[2:]
)
_IMMEDIATE = replace(_GDS, module="dlopt.heuristics.bag.immediate_methods")
_BATCH = replace(_GDS, module="dlopt.heuristics.bag.batch_methods")
_EXACT = replace(_GDS, kind="exact", module="dlopt.models.bag.methods")
_BOUND = replace(_GDS, kind="bound", module="dlopt.models.bag.bound_methods")

_TARDY = Option(
    "tardy",
    "str",
    "reject",
    "what happens to a task that would miss its deadline: it is rejected, or it runs late",
    choices=("reject", "run"),
)
_SITES = Option(
    "sites",
    "str",
    "all",
    "sites at which a task may run: all of them, or only its home site",
    choices=("all", "home"),
)
_COMMON = (_TARDY, _SITES)
_SHARE = Option("k", "int", 20, "percentage of machines, the fastest for a task", least=1)
_LOW = Option("low", "int", 60, "load balance in percent below which MCT replaces MET", least=0)
_HIGH = Option("high", "int", 90, "load balance in percent from which MET replaces MCT", least=1)

_CHEN = "Chen 2001, section 2.3.1"
_LIU = "Liu, Baskiyar and Li 2007"

_VARIANTS: tuple[tuple[str, Claim, str], ...] = (
    ("gds", "sound", "takes the last idle time that fits, makes room by Shuffle, asks other sites"),
    ("gds-without-shuffle", "sound", "as gds, without Shuffle"),
    ("gds:literal", "literal-unsound", "as published: figures 3 and 6 with all their errors"),
    (
        "gds:literal-evict-all",
        "none",
        "not in a paper: Shuffle first removes all tasks of a machine, and loses some of them",
    ),
    (
        "gds:literal-endless-loop",
        "none",
        "as published: figure 3 tries a task that does not fit for ever",
    ),
    (
        "gds:literal-every-slack",
        "literal-unsound",
        "as published: figure 3 puts a task into every idle time in which it fits",
    ),
    (
        "gds:literal-duplicate",
        "literal-unsound",
        "as published: figure 6 sends a task to every neighbour; the text sends it to one",
    ),
    (
        "gds:literal-transmission",
        "literal-unsound",
        "not in a paper: Shuffle ignores when the inputs of tasks arrive",
    ),
)
_ONE_BY_ONE: tuple[tuple[str, str, str, tuple[Option, ...]], ...] = (
    (
        "edf",
        f"{_LIU}, section 6.1",
        "earliest deadline first; each task where it finishes first",
        (),
    ),
    ("priority-edf", "edf with priorities", "as edf, the highest priority before all", ()),
    ("mct", _CHEN, "minimum completion time: tasks as they arrive, each where it ends first", ()),
    ("met", _CHEN, "minimum execution time: tasks as they arrive, each where it is fastest", ()),
    (
        "switching",
        _CHEN,
        "switching algorithm: alternates between MCT and MET, depending on the load balance",
        (_LOW, _HIGH),
    ),
    ("kpb", _CHEN, "k-percent best: MCT among the k percent fastest machines of a task", (_SHARE,)),
    ("olb", _CHEN, "opportunistic load balancing: each task on the machine free first", ()),
)
_AMONG_ALL = (
    ("min-min", _CHEN, "the one that can finish first"),
    ("max-min", _CHEN, "the one whose earliest finish time is latest"),
    ("sufferage", _CHEN, "the one that loses most on its second best machine"),
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
    _LOCAL_SEARCH.entry(
        "gds-local-search",
        f"ours, over {_LIU}",
        "improves the schedule of gds: sites reschedule with unscheduled tasks of their neighbours",
        applies="reason_against_local_search",
    ),
    *(
        _IMMEDIATE.entry(name, source, summary, (*_COMMON, *options))
        for name, source, summary, options in _ONE_BY_ONE
    ),
    *(
        _BATCH.entry(name, source, f"of all remaining tasks, schedules next {summary}", _COMMON)
        for name, source, summary in _AMONG_ALL
    ),
    _BATCH.entry(
        "duplex",
        f"{_CHEN}; Braun et al. 2001",
        "returns the better schedule of min-min and max-min",
        _COMMON,
    ),
    _EXACT.entry(
        "exact",
        "disjunctive program with alternatives; Horn 1973 for flowtimes",
        "finds an optimal schedule, each level of the objective with a proof",
        target="solve_exact",
    ),
    _EXACT.entry(
        "milp",
        "Jackson 1955; Lenstra, Shmoys and Tardos 1990",
        "assigns tasks to machines by a compact MILP without start times, in floating point",
        (SOLVER,),
        target="solve_milp",
        applies="reason_against_milp",
        objectives=tuple(name for name in _OBJECTIVES if name != "flowtime"),
    ),
    _EXACT.entry(
        "lns",
        "ours",
        "large neighbourhood search with a dual bound, for large instances",
        target="solve_lns",
    ),
    _BOUND.entry(
        "bound-lp",
        "Lenstra, Shmoys and Tardos 1990; Horn 1973",
        "bounds by the preemptive relaxation, certified in exact arithmetic",
        applies="dlopt.models.bag.methods:reason_against_bound_lp",
    ),
)
