"""The methods for streams of divisible loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Method, MethodGroup, Option, Problem

PROBLEM = Problem(
    "admission",
    "accept or reject divisible loads with deadlines, in a stream",
    hints=(
        "edf-iit-2", "edf-iit-an", "fifo-iit-mn", "fifo-iit-an", "edf-opr-mn",
        "edf-opr-an", "mwf-opr-mn", "mcdf", "fast-edf-iit",
    ),
    certified="dlopt.models.admission.certificate_check:proven_value",
)  # fmt: skip

_OBJECTIVES = ("accepted", "accepted-load", "reject-ratio", "utilization", "misses")
_STREAM = MethodGroup(
    "admission",
    "heuristic",
    "dlopt.heuristics.admission.methods",
    _OBJECTIVES,
    "single",
    applies="identical_nodes",
)
_FAST = replace(
    _STREAM, module="dlopt.heuristics.admission.fast.methods", applies="without_setup_costs"
)
_EXACT = MethodGroup(
    "admission", "exact", "dlopt.models.admission.methods", _OBJECTIVES[:3], "single"
)
_BOUND = replace(_EXACT, kind="bound")

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
                name, source = f"{order}-{partition}-{assignment}", "Mamat 2011, figure 4.1"
                if name == "edf-iit-mn":
                    name, source = "edf-iit-2", "Mamat 2011, 6.4, after Chuprat and Baruah 2008"
                elif partition == "iit":
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


_SHARED_LINK = "simultaneous transmissions on the one-port link"


def _streams() -> Iterator[Method]:
    for name, source, summary in _algorithms():
        yield _STREAM.entry(name, source, summary)
        literal = f"as published: {_SHARED_LINK}"
        if "-iit-" in name:
            literal = f"not in a paper: {_SHARED_LINK}, as in figure 4.1"
        yield _STREAM.entry(f"{name}:literal", source, literal)
    for order in ("fifo", "edf"):
        yield _STREAM.entry(
            f"{order}-anna",
            "Lin et al. 2005, section 6.2",
            f"{_ORDERS[order]}; all nodes, no admission control (ANNA): deadlines are not promised",
            applies="nothing_promised",
            objectives=tuple(goal for goal in _OBJECTIVES if goal != "reject-ratio"),
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
_TESTS = {
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


def _fast() -> Iterator[Method]:
    for name, summary in _TESTS.items():
        literal = ":" in name
        source = "Mamat 2011, Algorithms 6-8" + ("" if literal else ", repaired")
        if "-mwf-" in name:
            source += ", and 6.2 and 4.2.1 for MWF"
        from_idle = literal or name.endswith("-minimal")
        yield _FAST.entry(
            name,
            source,
            summary,
            (_RESET, _TIE_BREAK) if literal else (_TIE_BREAK,),
            applies="from_idle" if from_idle else None,
        )
    yield _FAST.entry(
        "hybrid",
        "Mamat 2011, Algorithms 9-11, repaired",
        "EDF-IIT-2 for short queues, R2 for long ones",
        (_THRESHOLD,),
    )
    yield _FAST.entry(
        "hybrid:literal",
        "Mamat 2011, Algorithms 9-11",
        "as published: switches regardless of tasks accepted by the other test",
        (replace(_THRESHOLD, default=1),),
        applies="needs_processing_time",
    )


_INSTALLMENTS = Option(
    "installments", "int", 1, "largest number of chunks per task and node", least=1
)
_RELAX = Option(
    "relax",
    "bool",
    False,
    "accept tasks in part: one linear program, no branching, for thousands of tasks",
)

METHODS = (
    *_streams(),
    *_fast(),
    _EXACT.entry(
        "exact",
        "integer programs and CP-SAT",
        "clairvoyant optimum, proven",
        (_INSTALLMENTS, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "feasibility",
        "integer program",
        "clairvoyant feasibility test: a plan that accepts all tasks, or a proof of none",
        (_INSTALLMENTS, SOLVER),
        target="feasible_queue",
    ),
    _BOUND.entry(
        "bound-window-cuts",
        "linear program with latency cuts and branch and bound",
        "relaxation with window-capacity cuts: bounds its plan class",
        (_INSTALLMENTS,),
        target="bound_window",
    ),
    _BOUND.entry(
        "bound-fluid",
        "linear program with branch and bound",
        "fluid relaxation: bounds schedules with any number of chunks",
        (_RELAX,),
        plan_class="any",
    ),
)
