"""The methods for divisible loads around advance reservations."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Method, Option, Problem

PROBLEM = Problem(
    "multistage",
    "divisible loads with deadlines around advance reservations",
    hints=("multi-stage",),
    certified="dlopt.models.multistage.certificate_check:proven_worth",
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
    "F2": "what is sent when a task arrives is not waited for",
    "F3": "a reservation that starts as the task could is not seen",
    "F4": "a node that becomes free within its own reservation is taken",
    "F5": "the last stage ends with an I/O, beyond the deadline",
    "F6": "loads may be negative",
    "F7": "a node starts in the next stage before it is free",
    "F8": "a node is used to the end of the stage, though it is reserved before",
    "F9": "a transmission may start before the task arrives",
    "M1": "what is sent in later stages holds the channel only",
    "M2": "the test does not see the reservation that is being decided",
    "M3": "the I/O of a reservation may meet what started tasks send",
}


def _stages() -> Iterator[Method]:
    slips = {"": "blocks and stages, the earliest end first; reservations all or nothing"}
    slips[":literal"] = "as printed: Algorithms 1 to 4"
    slips |= {f":literal-{slip}": f"as printed: {summary}" for slip, summary in _SLIPS.items()}
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
    "installments", "int", 1, "chunks that a task may have on a node in a gap", least=1
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
        summary="clairvoyant: the tasks and reservations worth most, proven",
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
        summary="clairvoyant: whether everything fits, by a plan or a proof",
    ),
    Method(
        "multistage",
        "stage-optimal",
        kind="exact",
        source="Mamat 2011, section 5.2, with the order of nodes free",
        claim="optimal",
        plan_class="per-stage",
        objectives=_EXACT,
        target="dlopt.models.multistage.single_task_method:structured_plan",
        applies="dlopt.models.multistage.single_task_method:one_task",
        options=(_INSTALLMENTS, _SOLVER),
        summary="one task around accepted reservations, stage by stage: as much as can be done",
    ),
    Method(
        "multistage",
        "bound-fluid",
        kind="bound",
        source="linear program, branched on",
        claim="sound",
        plan_class="any",
        objectives=_EXACT,
        target=f"{_MODELS}:bound_fluid",
        options=(_RELAX,),
        summary="no plan with any number of chunks is worth more",
    ),
)

METHODS = (*_stages(), *_PROOFS)
