"""The methods for divisible loads around advance reservations."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, MethodGroup, Option, Problem

PROBLEM = Problem(
    "multistage",
    "divisible loads with deadlines around advance reservations",
    hints=("multi-stage",),
    certified="dlopt.models.multistage.certificate_check:proven_value",
)

_OBJECTIVES = (
    "accepted",
    "accepted-tasks",
    "accepted-reservations",
    "accepted-load",
    "reject-ratio",
    "utilization",
)
_HEURISTIC = MethodGroup(
    "multistage",
    "heuristic",
    "dlopt.heuristics.multistage.methods",
    _OBJECTIVES,
    applies="applies",
)
_EXACT = MethodGroup(
    "multistage", "exact", "dlopt.models.multistage.methods", _OBJECTIVES[:-1], "per-stage"
)
_BOUND = replace(_EXACT, kind="bound", plan_class="any")

_SLIPS = {
    "F1": "a reservation after the deadline makes the I/O time negative",
    "F2": "does not wait for the transmission in progress at arrival",
    "F3": "ignores a reservation that starts when the task could",
    "F4": "uses a node that becomes free within its own reservation",
    "F5": "the last stage ends with an I/O beyond the deadline",
    "F6": "loads may be negative",
    "F7": "a node starts in the next stage before it is free",
    "F8": "uses a node until the end of the stage, though it is reserved earlier",
    "F9": "a transmission may start before the task arrives",
    "M1": "chunks of later stages occupy the channel only",
    "M2": "the test ignores the reservation that is being decided",
    "M3": "the I/O of a reservation may overlap transmissions of started tasks",
}


_VARIANTS = {
    "": "stages between reservations, earliest stage first; reservations in full or not at all",
    ":literal": "as published: Algorithms 1 to 4",
    **{f":literal-{slip}": f"as published: {summary}" for slip, summary in _SLIPS.items()},
}

_INSTALLMENTS = Option(
    "installments", "int", 1, "largest number of chunks per task, node and stage", least=1
)
_RELAX = Option("relax", "bool", False, "accept in part: one linear program, no branching")

METHODS = (
    *(
        _HEURISTIC.entry(
            f"multi-stage{variant}",
            "Mamat 2011, Algorithms 1-4" + ("" if variant else ", repaired"),
            summary,
        )
        for variant, summary in _VARIANTS.items()
    ),
    _EXACT.entry(
        "exact",
        "integer programs",
        "clairvoyant optimum of tasks and reservations, proven",
        (_INSTALLMENTS, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "feasibility",
        "integer program",
        "clairvoyant feasibility test: a plan that accepts everything, or a proof of none",
        (_INSTALLMENTS, SOLVER),
        target="feasible_together",
    ),
    replace(_EXACT, module="dlopt.models.multistage.single_task_method").entry(
        "stage-optimal",
        "Mamat 2011, section 5.2, with free order of nodes",
        "one task around accepted reservations: maximum load over the stages",
        (_INSTALLMENTS, SOLVER),
        target="structured_plan",
        applies="reason_against_structured",
    ),
    _BOUND.entry(
        "bound-fluid",
        "linear program with branch and bound",
        "fluid relaxation: bounds schedules with any number of chunks",
        (_RELAX,),
    ),
)
