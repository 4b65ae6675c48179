"""The methods for divisible loads around advance reservations."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, MethodGroup, Option, Problem

PROBLEM = Problem(
    "multistage",
    "divisible loads with deadlines around advance reservations",
    hints=("multi-stage", "priced-multi-stage"),
    certified="dlopt.models.multistage.certificate_check:proven_value",
)

_OBJECTIVES = (
    "accepted",
    "accepted-tasks",
    "accepted-reservations",
    "accepted-load",
    "accepted-weight",
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
    "F2": "does not wait for the transmission that is in progress at the arrival",
    "F3": "ignores a reservation that starts at the instant at which the task could start",
    "F4": "uses a node that becomes free within its own reservation",
    "F5": "ends the last stage with an I/O that lasts beyond the deadline",
    "F6": "assigns negative loads",
    "F7": "starts a node in the next stage before it is free",
    "F8": "uses a node until the end of the stage, although it is reserved earlier",
    "F9": "starts transmissions before the task arrives",
    "M1": "counts chunks of later stages as occupying the channel, but not their nodes",
    "M2": "the test ignores the reservation that is being decided",
    "M3": "lets the I/O of a reservation overlap transmissions of started tasks",
}


_VARIANTS = {
    "": "partitions each task over the stages between reservations, the earliest stage first; "
    "accepts a reservation in full or not at all",
    ":literal": "as published: Algorithms 1 to 4 with all their errors",
    **{f":literal-{slip}": f"as published: {summary}" for slip, summary in _SLIPS.items()},
}

_PRICED = _HEURISTIC.entry(
    "priced-multi-stage",
    "bid-price control, Talluri and van Ryzin 2004, chapter 3",
    "rejects a task or a reservation that fits if the bid price of its channel or node time "
    "exceeds its value, or if it blocks requests of more value; the admission test of multi-stage "
    "decides in the end",
)

_INSTALLMENTS = Option(
    "installments", "int", 1, "largest number of chunks per task, node and stage", least=1
)
_RELAX = Option("relax", "bool", False, "accept fractions: one linear program, no branching")

METHODS = (
    *(
        _HEURISTIC.entry(
            f"multi-stage{variant}",
            "Mamat 2011, Algorithms 1-4" + ("" if variant else ", repaired"),
            summary,
        )
        for variant, summary in _VARIANTS.items()
    ),
    _PRICED,
    _EXACT.entry(
        "exact",
        "integer programs",
        "finds the clairvoyant optimum of tasks and reservations, with a proof",
        (_INSTALLMENTS, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "feasibility",
        "integer program",
        "finds a plan that accepts all tasks and reservations, or proves that there is none "
        "(clairvoyant)",
        (_INSTALLMENTS, SOLVER),
        target="feasible_together",
    ),
    replace(_EXACT, module="dlopt.models.multistage.single_task_method").entry(
        "stage-optimal",
        "Mamat 2011, section 5.2, with free order of nodes",
        "partitions one task around accepted reservations with maximum load in the stages",
        (_INSTALLMENTS, SOLVER),
        target="structured_plan",
        applies="reason_against_structured",
    ),
    _BOUND.entry(
        "bound-fluid",
        "linear program with branch and bound",
        "bounds schedules with any number of chunks (fluid relaxation)",
        (_RELAX,),
    ),
)
