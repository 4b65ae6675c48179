"""The methods for streams of divisible loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, Method, MethodGroup, Option, Problem

PROBLEM = Problem(
    "admission",
    "admission control for a stream of divisible loads with deadlines",
    hints=(
        "edf-iit-2", "edf-iit-an", "fifo-iit-mn", "fifo-iit-an", "edf-opr-mn",
        "edf-opr-an", "mwf-opr-mn", "mcdf", "fast-edf-iit", "local-search",
    ),
    certified="dlopt.models.admission.certificate_check:proven_value",
)  # fmt: skip

_OBJECTIVES = (
    "accepted",
    "accepted-load",
    "accepted-weight",
    "reject-ratio",
    "utilization",
    "misses",
)
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
    "admission", "exact", "dlopt.models.admission.methods", _OBJECTIVES[:4], "single"
)
_BOUND = replace(_EXACT, kind="bound")

_ORDERS = {
    "fifo": "first in, first out",
    "edf": "earliest deadline first",
    "mwf": "maximum workload derivative first (MWF)",
}
_PARTITIONS = {
    "opr": "optimal partition with simultaneous start (OPR)",
    "epr": "equal partition with simultaneous start (EPR)",
    "iit": "optimal partition that uses inserted idle times (IIT)",
}
_ASSIGNMENTS = {"mn": "the minimum number of nodes (MN)", "an": "all nodes (AN)"}


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
                yield name, source, f"{first}; {second}; {third} per task"
    yield (
        "edf-iit-1",
        "Lin et al. 2007, cited in Mamat 2011, 6.4",
        "earliest deadline first; partition for an equivalent cluster of nodes that are faster the "
        "earlier they are ready",
    )
    yield (
        "mcdf",
        "Lin et al. 2005, section 5",
        "maximum cost derivative first (MCDF): the order is computed again at each instant",
    )


_SHARED_LINK = "allows simultaneous transmissions on the one-port link"


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
            f"{_ORDERS[order]}; all nodes, no admission control and no promises (ANNA)",
            applies="nothing_promised",
            objectives=tuple(goal for goal in _OBJECTIVES if goal != "reject-ratio"),
        )


_PRICED = replace(_STREAM, module="dlopt.heuristics.admission.priced").entry(
    "priced",
    "bid-price control, Talluri and van Ryzin 2004, chapter 3",
    "rejects a task that fits if the bid price of its channel or node time exceeds its value, or "
    "if it blocks tasks of more value; the admission test of the base algorithm decides in the end",
    (
        Option(
            "base",
            "str",
            "",
            "base algorithm, such as edf-opr-an; by default edf-iit-2, and for each task on the "
            "fewest or on all nodes where all take hardly more time than one",
        ),
    ),
)

_LOCAL_SEARCH = replace(
    _STREAM, module="dlopt.heuristics.admission.local_search", objectives=_OBJECTIVES[:4]
).entry(
    "local-search",
    "our own",
    "finds a clairvoyant schedule by annealing over the order of the tasks, each partitioned as in "
    "EDF-IIT-2 on the fewest or on all nodes",
)

_TIE_BREAK = Option(
    "tie_break",
    "str",
    "arrivals-first",
    "order of simultaneous events: arrivals before dispatches, dispatches before and after each "
    "arrival, or dispatches before arrivals",
    choices=("arrivals-first", "one-by-one", "dispatch-first"),
)
_RESET = Option(
    "reset",
    "str",
    "idle",
    "when the test forgets the last dispatched task: once the cluster is idle, once the task is "
    "finished (running), or never",
    choices=("idle", "running", "never"),
)
_THRESHOLD = Option(
    "threshold", "int", 50, "length of the queue from which the fast test decides", least=0
)
_READING = "reading of Algorithm 6: the predecessor of the first task in the queue"
_TESTS = {
    "fast-edf-iit": "compares the queue with the supply bound of the cluster, without a plan (R2)",
    "fast-edf-iit-minimal": "applies the published test with the smallest repair (R0)",
    "fast-edf-iit-linear": "compares the queue with a linear supply bound of the cluster (R1)",
    "fast-edf-iit-simulated": "tests all deadlines by simulation of the dispatcher (EXACT)",
    "fast-mwf-iit": "as fast-edf-iit (R2), in MWF order, which is fixed on arrival",
    "fast-mwf-iit-linear": "as fast-edf-iit-linear (R1), in MWF order",
    "fast-mwf-iit-simulated": "as fast-edf-iit-simulated (EXACT), in MWF order",
    "fast-edf-iit:literal-waiting": f"{_READING} does not exist",
    "fast-edf-iit:literal-edf": f"{_READING} is a running task",
    "fast-edf-iit:literal-dispatched": f"{_READING} is the last task sent",
    "fast-edf-iit:literal-chunk": f"{_READING} is that of the last chunk sent",
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
        "applies the test of EDF-IIT-2 to short queues, and that of fast-edf-iit to long ones",
        (_THRESHOLD,),
    )
    yield _FAST.entry(
        "hybrid:literal",
        "Mamat 2011, Algorithms 9-11",
        "as published: switches between the tests, whichever of them accepted the waiting tasks",
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
    "accept fractions of tasks: one linear program without branching, for thousands of tasks",
)

METHODS = (
    *_streams(),
    _PRICED,
    _LOCAL_SEARCH,
    *_fast(),
    _EXACT.entry(
        "exact",
        "integer programs, and local search over sequences of chunks",
        "finds the clairvoyant optimum, with a proof",
        (_INSTALLMENTS, SOLVER),
        target="exact_plan",
    ),
    _EXACT.entry(
        "feasibility",
        "integer program",
        "finds a plan that accepts all tasks, or proves that there is none (clairvoyant)",
        (_INSTALLMENTS, SOLVER),
        target="feasible_queue",
    ),
    _BOUND.entry(
        "bound-window-cuts",
        "linear program with latency cuts and branch and bound",
        "bounds its plan class by a relaxation with cuts on the capacity of time windows",
        (_INSTALLMENTS,),
        target="bound_window",
    ),
    _BOUND.entry(
        "bound-fluid",
        "linear program with branch and bound",
        "bounds schedules with any number of chunks (fluid relaxation)",
        (_RELAX,),
        plan_class="any",
    ),
)
