"""The methods for one divisible load."""

from __future__ import annotations

from dataclasses import replace

from dlopt.registry.method_entries import SOLVER, MethodGroup, Option, Problem

PROBLEM = Problem(
    "iit",
    "one divisible load over nodes that become ready at different times",
    hints=("edf-iit-2", "equal-finish"),
    certified="dlopt.problems.iit.certified_program:proven_value",
)

_METHODS = "dlopt.heuristics.iit.methods"
_ANY_NODES = MethodGroup("iit", "heuristic", _METHODS, ("completion", "nodes"), "single")
_IDENTICAL_NODES = replace(_ANY_NODES, applies="identical_nodes")
_LITERAL = replace(
    _ANY_NODES, module="dlopt.heuristics.iit.literal", applies="requires_transmission_setup"
)
_EXACT = replace(_ANY_NODES, kind="exact", module="dlopt.models.iit.methods")
_BOUND = replace(_EXACT, kind="bound", objectives=("completion",), plan_class="any")

_ASSIGNMENT = Option(
    "assignment",
    "str",
    "best",
    "nodes under `completion`: the best number of them (best), or all that help (all, AN)",
    choices=("best", "all"),
)
_FORMULATION = Option(
    "formulation",
    "str",
    "auto",
    "how the problem is modelled: linear programs over prefixes of the ready order (sequence), a "
    "MILP over these prefixes (prefix), or a MILP over all orders (order)",
    choices=("auto", "sequence", "prefix", "order"),
)
_INSTALLMENTS = Option("installments", "int", 1, "largest number of chunks per node", least=1)

METHODS = (
    _IDENTICAL_NODES.entry(
        "opr",
        "Mamat 2011, 4.3.1",
        "optimal partitioning rule (OPR): nodes start together, and finish together",
        (_ASSIGNMENT,),
    ),
    _IDENTICAL_NODES.entry(
        "epr",
        "Mamat 2011, 4.3.2",
        "equal partitioning rule (EPR): nodes start together, with equal chunks",
        (_ASSIGNMENT,),
    ),
    _IDENTICAL_NODES.entry(
        "edf-iit-1",
        "Lin et al. 2007, cited in Mamat 2011, 6.4",
        "starts each node when it is ready; its chunk is that of a faster node that starts with "
        "the last (equivalent heterogeneous cluster)",
    ),
    _IDENTICAL_NODES.entry(
        "edf-iit-2",
        "Mamat 2011, 6.4, after Chuprat and Baruah 2008",
        "uses the first nodes in the order of their ready times, so that all finish together "
        "(closed form)",
        claim="optimal",
    ),
    _ANY_NODES.entry(
        "equal-finish",
        "divisible load theory; Bharadwaj et al. 1996",
        "lets heterogeneous nodes finish together, in the best of three orders",
    ),
    _LITERAL.entry(
        "opr:literal-logarithm",
        "n_min after (4.6) of Lin et al. 2005, 4.1, in floats; the paper is right",
        "not in a paper: computes n_min by floating-point logarithms, which are off by one node",
        target="opr_logarithm",
        applies=f"{_METHODS}:no_setup_costs",
        objectives=("nodes",),
    ),
    _LITERAL.entry(
        "opr:literal-binary-search",
        "(4.7) of Mamat 2011, halved over all nodes",
        "not in a paper: searches n_min by bisection beyond n*, and rejects feasible loads",
        target="opr_binary_search",
        applies=f"{_METHODS}:identical_nodes",
        claim="none",
        objectives=("nodes",),
    ),
    _LITERAL.entry(
        "opr:literal-timeline",
        "Lin et al. 2005, (4.10)",
        "as published: the last line of the time diagram lacks one set-up time",
        target="opr_timeline",
        objectives=("completion",),
    ),
    _LITERAL.entry(
        "epr:literal-roots",
        "Mamat 2011, 4.3.2, cases after (4.10)",
        "as published: takes n_min from the lower root, even if no integer lies between the roots",
        target="epr_roots",
        objectives=("nodes",),
    ),
    _EXACT.entry(
        "exact",
        "linear and mixed-integer programs",
        "minimises the completion time or the number of nodes, with a proof",
        (_FORMULATION, _INSTALLMENTS, SOLVER),
        target="exact_plan",
        applies="reason_against_sequencing_milp",
    ),
    _BOUND.entry(
        "bound-fluid",
        "linear program; Mamat 2011, chapter 5, without reservations",
        "bounds the completion of schedules with any number of chunks (fluid relaxation)",
        (SOLVER,),
    ),
)
