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
        "largest upward rank first, where it ends first, in gaps too",
    ),
    "cpop": (
        "Topcuoglu, Hariri and Wu 2002",
        "longest way through the task first; critical tasks on one machine",
    ),
    "peft": (
        "Arabnejad and Barbosa 2014",
        "where the end and what is left after it, at best, are least",
    ),
    "heft-lookahead": (
        "Bittencourt, Sakellariou and Madeira 2010",
        "HEFT that places a task for its successors' sake",
    ),
}
_LISTED = {
    "t-level": ("Chen 2001, section 2.3.2", "list: least t-level first"),
    "b-level": ("Chen 2001, section 2.3.2", "list: largest b-level first"),
    "static-b-level": ("Chen 2001, section 2.3.2", "list: largest b-level without transfers first"),
    "p-level": ("Chen 2001, section 2.3.2", "list: longest ready task first"),
    "b-minus-t": ("Chen 2001, section 2.3.2", "list: largest b-level less t-level first"),
    "dynamic-t-level": (
        "Chen 2001, section 2.3.2",
        "after each placement, the task and machine that end first",
    ),
    "dynamic-b-minus-t": (
        "Chen 2001, section 2.3.2",
        "after each placement, the largest b-level less actual start",
    ),
    "deadline-list": (
        "Chen 2001, section 3.3",
        "list over all graphs: least deadline less static b-level first",
    ),
}
_COMPETITIVE = {
    "competitive": (
        "Iverson and Özgüner 1998, as in Chen 2001, section 2.3.3",
        "each graph maps its tasks as it arrives, and sees only the queues",
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
        target=f"{_MODELS}:exact_plan",
        summary="the best plan, proven by CP-SAT",
    ),
    Method(
        "dag",
        "milp",
        kind="exact",
        source="integer program",
        claim="optimal",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_MODELS}:compact_plan",
        applies=f"{_MODELS}:tiny",
        options=(_SOLVER,),
        summary="the best plan of a tiny instance, by another program and solver",
    ),
    Method(
        "dag",
        "bound-critical-path",
        kind="bound",
        source="longest ways; joins after Chen 2001, section 2.3.2",
        claim="sound",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_BOUNDS}:bound_critical_path",
        summary="the longest way, each task where that is shortest",
    ),
    Method(
        "dag",
        "bound-work",
        kind="bound",
        source="dual of the loads of machines",
        claim="sound",
        plan_class="any",
        objectives=_OBJECTIVES,
        target=f"{_BOUNDS}:bound_work",
        summary="what all machines can do, or the critical path",
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
        summary="what must be done in intervals, or the better of the other bounds",
    ),
)

METHODS = (*_schedulers(), *_PROOFS)
