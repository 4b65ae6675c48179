"""The methods for task graphs on heterogeneous machines."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, MethodGroup, Option, Problem

PROBLEM = Problem(
    "dag",
    "task graphs on heterogeneous machines with communication",
    hints=("heft", "peft", "cpop", "b-level", "dynamic-t-level", "deadline-list", "list-plus"),
    certified="dlopt.problems.dag.certified_program:proven_value",
)

_OBJECTIVES = ("makespan", "tardy-graphs", "total-response-time", "tardy-then-response-time")
_RANK_BASED = MethodGroup("dag", "heuristic", "dlopt.heuristics.dag.methods", _OBJECTIVES)
_LEVEL_BASED = replace(_RANK_BASED, module="dlopt.heuristics.dag.level_methods")
_RULES = replace(_RANK_BASED, module="dlopt.heuristics.dag.rule_methods")
_LIST_PLUS = replace(_RANK_BASED, module="dlopt.heuristics.dag.list_plus")
_COMPETITIVE = replace(_RANK_BASED, module="dlopt.heuristics.dag.competitive")
_EXACT = replace(_RANK_BASED, kind="exact", module="dlopt.models.dag.methods")
_BOUND = replace(_RANK_BASED, kind="bound", module="dlopt.models.dag.bound_methods")

_INSERTION_HELP = "insert tasks into idle intervals between scheduled ones"
_INSERTION = (Option("insertion", "bool", True, _INSERTION_HELP),)
_MACHINE_RULE = Option(
    "machine_rule",
    "str",
    "eft",
    "machine of a task: that of the earliest finish time (eft) or of the earliest start time (est)",
    choices=("eft", "est"),
)
_LEVEL_OPTIONS = (Option("insertion", "bool", False, _INSERTION_HELP), _MACHINE_RULE)
_SOLVER = replace(SOLVER, help="any MILP solver that PuLP knows by name")

_TOPCUOGLU = "Topcuoglu, Hariri and Wu 2002"
_CHEN = "Chen 2001, section 2.3.2"
_RANKED = (
    ("heft", _TOPCUOGLU, "largest upward rank first; each task where it finishes first"),
    ("cpop", _TOPCUOGLU, "longest path through the task first; critical tasks on one machine"),
    (
        "peft",
        "Arabnejad and Barbosa 2014",
        "optimistic cost table: minimises finish time plus optimistic cost of what follows",
    ),
    (
        "heft-lookahead",
        "Bittencourt, Sakellariou and Madeira 2010",
        "HEFT with lookahead: each task where its successors can finish first",
    ),
)
_LISTED = (
    ("t-level", _CHEN, "list scheduling: smallest t-level (longest path to the task) first"),
    ("b-level", _CHEN, "list scheduling: largest b-level (longest path from the task) first"),
    ("static-b-level", _CHEN, "list scheduling: largest b-level without communication first"),
    ("p-level", _CHEN, "list scheduling: largest p-level (processing time of a ready task) first"),
    ("b-minus-t", _CHEN, "list scheduling: largest b-level minus t-level first"),
    (
        "dynamic-t-level",
        _CHEN,
        "dynamic list scheduling: the pair of ready task and machine with the earliest finish time",
    ),
    (
        "dynamic-b-minus-t",
        _CHEN,
        "dynamic list scheduling: the pair with the largest b-level minus start time",
    ),
    (
        "deadline-list",
        "Chen 2001, section 3.3",
        "list scheduling of all graphs together: smallest deadline minus static b-level first",
    ),
)

_MANDAL = "on ready tasks as in Mandal et al. 2005"
_PUBLISHED_RULES = (
    (
        "bil",
        "Oh and Ha 1996",
        "best imaginary level: the ready task with most left on its best machines first",
    ),
    (
        "dls",
        "Sih and Lee 1993",
        "the pair of ready task and machine with the largest dynamic level first",
    ),
    (
        "gdl",
        "Sih and Lee 1993",
        "generalised dynamic levels: with the next task, and the loss on any other machine",
    ),
    (
        "fcp",
        "Radulescu and van Gemund 1999, 2000",
        "fast critical path: on the machine of the last data, or on that idle first",
    ),
    (
        "flb",
        "Radulescu and van Gemund 1999",
        "fast load balancing: the ready task that starts first, of two candidates",
    ),
    (
        "hbmct",
        "Sakellariou and Zhao 2004",
        "groups of independent tasks by b-level, each balanced over the machines",
    ),
    (
        "mct",
        "Maheswaran et al. 1999, in topological order",
        "each task where it finishes first, in topological order",
    ),
    (
        "min-min",
        f"Braun et al. 2001, {_MANDAL}",
        "the ready task with the earliest finish time first",
    ),
    (
        "max-min",
        f"Braun et al. 2001, {_MANDAL}",
        "the ready task whose earliest finish time is latest first",
    ),
    (
        "sufferage",
        f"Maheswaran et al. 1999, {_MANDAL}",
        "the ready task that loses most on its second-best machine first",
    ),
)

METHODS = (
    *(_RANK_BASED.entry(*described, _INSERTION) for described in _RANKED),
    *(_LEVEL_BASED.entry(*described, _LEVEL_OPTIONS) for described in _LISTED),
    *(_RULES.entry(*described) for described in _PUBLISHED_RULES),
    _LIST_PLUS.entry(
        "list-plus",
        "iterated list scheduling by annealing, our own",
        "improves the schedule of HEFT, PEFT or CPOP by list passes until a limit is reached",
    ),
    _COMPETITIVE.entry(
        "competitive",
        "Iverson and Özgüner 1998, as in Chen 2001, section 2.3.3",
        "maps the tasks of each graph when it arrives, knowing only the queues of the machines",
    ),
    _EXACT.entry(
        "exact", "constraint program", "finds an optimal schedule by CP-SAT", target="solve_exact"
    ),
    _EXACT.entry(
        "milp",
        "integer program",
        "finds an optimal schedule of a tiny instance by a compact MILP",
        (_SOLVER,),
        target="solve_milp",
        applies="reason_against_milp",
    ),
    _BOUND.entry(
        "bound-critical-path",
        "longest paths; joins after Chen 2001, section 2.3.2",
        "bounds by the critical path, each task on its fastest machine",
    ),
    _BOUND.entry(
        "bound-work",
        "dual of the machine load program",
        "bounds by the total work over all machines, or by the critical path",
    ),
    _BOUND.entry(
        "bound-fernandez",
        "Fernandez and Bussell 1973, sharpened",
        "bounds by the work due within a time interval, or by the best of the other bounds",
    ),
)
