"""The methods for task graphs on heterogeneous machines."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Method, Option, Problem

PROBLEM = Problem(
    "dag",
    "task graphs on heterogeneous machines with communication",
    hints=("heft", "peft", "cpop", "b-level", "dynamic-t-level", "deadline-list"),
)

_OBJECTIVES = ("makespan", "late-graphs", "response", "late-then-response")
_HEURISTICS = "dlopt.heuristics.dag"
_MODELS = "dlopt.models.dag.methods"
_BOUNDS = "dlopt.models.dag.bound_methods"

_RANKED = {
    "heft": (
        "Topcuoglu, Hariri and Wu 2002",
        "largest upward rank first; earliest finish time, with insertion",
    ),
    "cpop": (
        "Topcuoglu, Hariri and Wu 2002",
        "longest path through the task first; critical tasks on one machine",
    ),
    "peft": (
        "Arabnejad and Barbosa 2014",
        "minimum sum of finish time and optimistic remaining cost",
    ),
    "heft-lookahead": (
        "Bittencourt, Sakellariou and Madeira 2010",
        "HEFT with lookahead: minimises the finish times of the successors",
    ),
}
_LISTED = {
    "t-level": ("Chen 2001, section 2.3.2", "list scheduling: smallest t-level first"),
    "b-level": ("Chen 2001, section 2.3.2", "list scheduling: largest b-level first"),
    "static-b-level": (
        "Chen 2001, section 2.3.2",
        "list scheduling: largest b-level without communication first",
    ),
    "p-level": ("Chen 2001, section 2.3.2", "list scheduling: longest ready task first"),
    "b-minus-t": (
        "Chen 2001, section 2.3.2",
        "list scheduling: largest b-level minus t-level first",
    ),
    "dynamic-t-level": (
        "Chen 2001, section 2.3.2",
        "dynamic: the pair of task and machine with the earliest finish time",
    ),
    "dynamic-b-minus-t": (
        "Chen 2001, section 2.3.2",
        "dynamic: largest b-level minus start time",
    ),
    "deadline-list": (
        "Chen 2001, section 3.3",
        "list scheduling of all graphs: smallest deadline minus static b-level first",
    ),
}
_COMPETITIVE = {
    "competitive": (
        "Iverson and Özgüner 1998, as in Chen 2001, section 2.3.3",
        "each graph maps its tasks on arrival, knowing only the queues",
    ),
}

_INSERTION_HELP = "insert tasks into idle intervals between scheduled ones"
_INSERTION = Option("insertion", "bool", True, _INSERTION_HELP)
_NO_INSERTION = Option("insertion", "bool", False, _INSERTION_HELP)
_MACHINE_RULE = Option(
    "machine_rule",
    "str",
    "eft",
    "machine of a task: earliest finish time, or earliest start time",
    choices=("eft", "est"),
)


def _schedulers() -> Iterator[Method]:
    options: tuple[Option, ...]
    for module, entries, options in (
        ("methods", _RANKED, (_INSERTION,)),
        ("level_methods", _LISTED, (_NO_INSERTION, _MACHINE_RULE)),
        ("competitive", _COMPETITIVE, ()),
    ):
        for name, (source, summary) in entries.items():
            yield Method(
                "dag",
                name,
                kind="heuristic",
                source=source,
                claim="sound",
                plan_class="any",
                objectives=_OBJECTIVES,
                target=f"{_HEURISTICS}.{module}:{name.replace('-', '_')}",
                options=options,
                summary=summary,
            )


_SOLVER = Option("solver", "str", "HiGHS", "any MILP solver that PuLP knows by name")

_PROOFS = (
    Method(
        "dag",
        "exact",
        kind="exact",
        source="constraint program",
        claim="optimal",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_MODELS}:solve_exact",
        summary="optimal schedule by CP-SAT",
    ),
    Method(
        "dag",
        "milp",
        kind="exact",
        source="integer program",
        claim="optimal",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_MODELS}:solve_milp",
        applies=f"{_MODELS}:reason_against_milp",
        options=(_SOLVER,),
        summary="optimal schedule of a tiny instance by a compact MILP",
    ),
    Method(
        "dag",
        "bound-critical-path",
        kind="bound",
        source="longest paths; joins after Chen 2001, section 2.3.2",
        claim="sound",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_BOUNDS}:bound_critical_path",
        summary="critical path with the best machine of each task",
    ),
    Method(
        "dag",
        "bound-work",
        kind="bound",
        source="dual of the machine load program",
        claim="sound",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_BOUNDS}:bound_work",
        summary="total work of all machines, or the critical path",
    ),
    Method(
        "dag",
        "bound-fernandez",
        kind="bound",
        source="Fernandez and Bussell 1973, sharpened",
        claim="sound",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_BOUNDS}:bound_fernandez",
        summary="interval energy (Fernandez-Bussell), or the best of the other bounds",
    ),
)

METHODS = (*_schedulers(), *_PROOFS)
