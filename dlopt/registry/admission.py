"""The methods for streams of divisible loads."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.registry.method_entries import Method, Option, Problem

PROBLEM = Problem(
    "admission",
    "accept or reject divisible loads with deadlines, in a stream",
    hints=(
        "edf-iit-2",
        "edf-iit-an",
        "fifo-iit-mn",
        "fifo-iit-an",
        "edf-opr-mn",
        "edf-opr-an",
        "mwf-opr-mn",
        "mcdf",
        "fast-edf-iit",
    ),
    certified="dlopt.models.admission.certificate_check:proven_value",
)

_OBJECTIVES = ("accepted", "accepted-load", "reject-ratio", "utilization", "misses")
_EXACT = ("accepted", "accepted-load", "reject-ratio")
_STREAMS = "dlopt.heuristics.admission.methods"
_MODELS = "dlopt.models.admission.methods"

_ORDERS = {
    "fifo": "first in, first out",
    "edf": "earliest deadline first",
    "mwf": "largest cost derivative first (MWF)",
}
_PARTITIONS = {
    "opr": "optimal partition, simultaneous start (OPR)",
    "epr": "equal partition, simultaneous start (EPR)",
    "iit": "optimal partition, inserted idle time used (IIT)",
}
_ASSIGNMENTS = {"mn": "minimum number of nodes (MN)", "an": "all nodes (AN)"}


def _algorithms() -> Iterator[tuple[str, str, str]]:
    """Yield name, source and summary of each algorithm with admission control."""
    for order, first in _ORDERS.items():
        for partition, second in _PARTITIONS.items():
            for assignment, third in _ASSIGNMENTS.items():
                if order == "mwf" and (partition == "iit" or assignment == "an"):
                    continue
                name = f"{order}-{partition}-{assignment}"
                if name == "edf-iit-mn":
                    source = "Mamat 2011, 6.4, after Chuprat and Baruah 2008"
                    yield "edf-iit-2", source, f"{first}; {second}; {third}"
                    continue
                source = "Mamat 2011, figure 4.1"
                if partition == "iit":
                    source += " with the partitioning of EDF-IIT-2"
                yield name, source, f"{first}; {second}; {third}"
    yield (
        "edf-iit-1",
        "Lin et al. 2007, cited in Mamat 2011, 6.4",
        "earliest deadline first; early-ready nodes modelled as faster (heterogeneous equivalent)",
    )
    yield (
        "mcdf",
        "Lin et al. 2005, section 5",
        "maximum cost derivative first (MCDF), evaluated at each instant",
    )


_SHARED = {
    False: "as published: simultaneous transmissions on the one-port link",
    True: "not in a paper: simultaneous transmissions on the one-port link, as in figure 4.1",
}


def _streams() -> Iterator[Method]:
    for name, source, summary in _algorithms():
        inserted = "-iit-" in name
        for literal in (False, True):
            yield Method(
                "admission",
                f"{name}:literal" if literal else name,
                kind="heuristic",
                source=source,
                claim="literal-unsound" if literal else "sound",
                plan_class="single",
                objectives=_OBJECTIVES,
                target=f"{_STREAMS}:{name.replace('-', '_')}{'_literal' * literal}",
                applies=f"{_STREAMS}:identical_nodes",
                summary=_SHARED[inserted] if literal else summary,
            )
    for order, first in list(_ORDERS.items())[:2]:
        yield Method(
            "admission",
            f"{order}-anna",
            kind="heuristic",
            source="Lin et al. 2005, section 6.2",
            claim="sound",
            plan_class="single",
            objectives=tuple(goal for goal in _OBJECTIVES if goal != "reject-ratio"),
            target=f"{_STREAMS}:{order}_anna",
            applies=f"{_STREAMS}:nothing_promised",
            summary=f"{first}; all nodes, no admission control (ANNA): deadlines are not promised",
        )


_TIE_BREAK = Option(
    "tie_break",
    "str",
    "arrivals-first",
    "order of simultaneous events: arrivals before dispatches, one arrival at a time, or after",
    choices=("arrivals-first", "one-by-one", "dispatch-first"),
)
_RESET = Option(
    "reset",
    "str",
    "idle",
    "when the last dispatched task is forgotten: cluster idle, task finished, never",
    choices=("idle", "running", "never"),
)
_THRESHOLD = Option(
    "threshold", "int", 50, "queue length from which the fast test decides", least=0
)
_LITERAL_THRESHOLD = Option(
    "threshold", "int", 1, "queue length from which the fast test decides", least=0
)
_FAST = {
    "fast-edf-iit": "R2: plan-free test against the cluster's supply bound",
    "fast-edf-iit-minimal": "R0: minimal repair of the published test",
    "fast-edf-iit-linear": "R1: as R2, with a linear supply bound",
    "fast-edf-iit-simulated": "EXACT: test by simulation of the dispatcher",
    "fast-mwf-iit": "R2 in MWF order, fixed on arrival",
    "fast-mwf-iit-linear": "R1 in MWF order",
    "fast-mwf-iit-simulated": "EXACT in MWF order",
    "fast-edf-iit:literal-waiting": "reading of Algorithm 6: the first task has no predecessor",
    "fast-edf-iit:literal-edf": "reading of Algorithm 6: the predecessor is a running task",
    "fast-edf-iit:literal-dispatched": "reading of Algorithm 6: predecessor is the last task sent",
    "fast-edf-iit:literal-chunk": "reading of Algorithm 6: predecessor is that of the last chunk",
}


def _source(name: str) -> str:
    """Return where an algorithm of chapter 6 comes from."""
    source = "Mamat 2011, Algorithms 6-8" + ("" if ":" in name else ", repaired")
    return f"{source}, and 6.2 and 4.2.1 for MWF" if "-mwf-" in name else source


def _fast() -> Iterator[Method]:
    module = "dlopt.heuristics.admission.fast.methods"
    for name, summary in _FAST.items():
        literal = ":" in name
        from_idle = literal or name.endswith("-minimal")
        target = name.replace("-", "_").replace(":", "_")
        yield Method(
            "admission",
            name,
            kind="heuristic",
            source=_source(name),
            claim="literal-unsound" if literal else "sound",
            plan_class="single",
            objectives=_OBJECTIVES,
            target=f"{module}:{target}",
            applies=f"{module}:{'from_idle' if from_idle else 'without_setup_costs'}",
            options=(_RESET, _TIE_BREAK) if literal else (_TIE_BREAK,),
            summary=summary,
        )
    yield Method(
        "admission",
        "hybrid",
        kind="heuristic",
        source="Mamat 2011, Algorithms 9-11, repaired",
        claim="sound",
        plan_class="single",
        objectives=_OBJECTIVES,
        target=f"{module}:hybrid",
        applies=f"{module}:without_setup_costs",
        options=(_THRESHOLD,),
        summary="EDF-IIT-2 for short queues, R2 for long ones",
    )
    yield Method(
        "admission",
        "hybrid:literal",
        kind="heuristic",
        source="Mamat 2011, Algorithms 9-11",
        claim="literal-unsound",
        plan_class="single",
        objectives=_OBJECTIVES,
        target=f"{module}:hybrid_literal",
        applies=f"{module}:needs_processing_time",
        options=(_LITERAL_THRESHOLD,),
        summary="as published: switches regardless of tasks accepted by the other test",
    )


_INSTALLMENTS = Option(
    "installments", "int", 1, "largest number of chunks per task and node", least=1
)
_SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")
_RELAX = Option(
    "relax",
    "bool",
    False,
    "accept tasks in part: one linear program, no branching, for thousands of tasks",
)

_PROOFS = (
    Method(
        "admission",
        "exact",
        kind="exact",
        source="integer programs and CP-SAT",
        claim="optimal",
        plan_class="single",
        objectives=_EXACT,
        target=f"{_MODELS}:exact_plan",
        options=(_INSTALLMENTS, _SOLVER),
        summary="clairvoyant optimum, proven",
    ),
    Method(
        "admission",
        "feasibility",
        kind="exact",
        source="integer program",
        claim="optimal",
        plan_class="single",
        objectives=_EXACT,
        target=f"{_MODELS}:feasible_queue",
        options=(_INSTALLMENTS, _SOLVER),
        summary="clairvoyant feasibility test: a plan that accepts all tasks, or a proof of none",
    ),
    Method(
        "admission",
        "bound-window-cuts",
        kind="bound",
        source="linear program with latency cuts and branch and bound",
        claim="sound",
        plan_class="single",
        objectives=_EXACT,
        target=f"{_MODELS}:bound_window",
        options=(_INSTALLMENTS,),
        summary="relaxation with window-capacity cuts: bounds its plan class",
    ),
    Method(
        "admission",
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

METHODS = (*_streams(), *_fast(), *_PROOFS)
