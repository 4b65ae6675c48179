"""The methods for divisible loads around advance reservations."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Method, Option, Problem

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
_EXACT = _OBJECTIVES[:-1]
_HEURISTICS = "dlopt.heuristics.multistage.methods"
_MODELS = "dlopt.models.multistage.methods"

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


def _stages() -> Iterator[Method]:
    slips = {
        "": "stages between reservations, earliest stage first; reservations in full or not at all"
    }
    slips[":literal"] = "as published: Algorithms 1 to 4"
    slips |= {f":literal-{slip}": f"as published: {summary}" for slip, summary in _SLIPS.items()}
    for slip, summary in slips.items():
        yield Method(
            "multistage",
            f"multi-stage{slip}",
            kind="heuristic",
            source="Mamat 2011, Algorithms 1-4" + ("" if slip else ", repaired"),
            claim="literal-unsound" if slip else "sound",
            plan_class="any",
            objectives=_OBJECTIVES,
            target=f"{_HEURISTICS}:multi_stage{slip.replace(':', '_').replace('-', '_').lower()}",
            applies=f"{_HEURISTICS}:applies",
            summary=summary,
        )


_INSTALLMENTS = Option(
    "installments", "int", 1, "largest number of chunks per task, node and stage", least=1
)
_SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")
_RELAX = Option("relax", "bool", False, "accept in part: one linear program, no branching")

_PROOFS = (
    Method(
        "multistage",
        "exact",
        kind="exact",
        source="integer programs",
        claim="optimal",
        plan_class="per-stage",
        objectives=_EXACT,
        target=f"{_MODELS}:exact_plan",
        options=(_INSTALLMENTS, _SOLVER),
        summary="clairvoyant optimum of tasks and reservations, proven",
    ),
    Method(
        "multistage",
        "feasibility",
        kind="exact",
        source="integer program",
        claim="optimal",
        plan_class="per-stage",
        objectives=_EXACT,
        target=f"{_MODELS}:feasible_together",
        options=(_INSTALLMENTS, _SOLVER),
        summary="clairvoyant feasibility test: a plan that accepts everything, or a proof of none",
    ),
    Method(
        "multistage",
        "stage-optimal",
        kind="exact",
        source="Mamat 2011, section 5.2, with free order of nodes",
        claim="optimal",
        plan_class="per-stage",
        objectives=_EXACT,
        target="dlopt.models.multistage.single_task_method:structured_plan",
        applies="dlopt.models.multistage.single_task_method:reason_against_structured",
        options=(_INSTALLMENTS, _SOLVER),
        summary="one task around accepted reservations: maximum load over the stages",
    ),
    Method(
        "multistage",
        "bound-fluid",
        kind="bound",
        source="linear program with branch and bound",
        claim="sound",
        plan_class="any",
        objectives=_EXACT,
        target=f"{_MODELS}:bound_fluid",
        options=(_RELAX,),
        summary="fluid relaxation: bounds schedules with any number of chunks",
    ),
)

METHODS = (*_stages(), *_PROOFS)
