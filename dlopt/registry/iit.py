"""The methods for one divisible load."""

from __future__ import annotations

from dlopt.registry.method_entries import Method, Option, Problem

PROBLEM = Problem(
    "iit",
    "one divisible load over nodes that become ready at different times",
    hints=("edf-iit-2", "equal-finish"),
)

_BOTH = ("completion", "nodes")
_METHODS = "dlopt.heuristics.iit.methods"
_LITERAL = "dlopt.heuristics.iit.literal"
_MODELS = "dlopt.models.iit.methods"
_IDENTICAL = f"{_METHODS}:identical_nodes"

_ASSIGNMENT = Option(
    "assignment",
    "str",
    "best",
    "nodes under `completion`: the best number, or all nodes that reduce it (AN)",
    choices=("best", "all"),
)
_SOLVER = Option("solver", "str", "HiGHS", "any LP/MILP solver that PuLP knows by name")

METHODS = (
    Method(
        "iit",
        "opr",
        kind="heuristic",
        source="Mamat 2011, 4.3.1",
        claim="sound",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_METHODS}:opr",
        applies=_IDENTICAL,
        options=(_ASSIGNMENT,),
        summary="optimal partitioning rule (OPR): all nodes start when the last is ready",
    ),
    Method(
        "iit",
        "epr",
        kind="heuristic",
        source="Mamat 2011, 4.3.2",
        claim="sound",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_METHODS}:epr",
        applies=_IDENTICAL,
        options=(_ASSIGNMENT,),
        summary="equal partitioning rule (EPR): all nodes start when the last is ready",
    ),
    Method(
        "iit",
        "edf-iit-1",
        kind="heuristic",
        source="Lin et al. 2007, cited in Mamat 2011, 6.4",
        claim="sound",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_METHODS}:edf_iit_1",
        applies=_IDENTICAL,
        summary="early-ready nodes modelled as faster (heterogeneous equivalent)",
    ),
    Method(
        "iit",
        "edf-iit-2",
        kind="heuristic",
        source="Mamat 2011, 6.4, after Chuprat and Baruah 2008",
        claim="optimal",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_METHODS}:edf_iit_2",
        applies=_IDENTICAL,
        summary="closed form: a prefix of the nodes in ready order, equal finish times",
    ),
    Method(
        "iit",
        "equal-finish",
        kind="heuristic",
        source="divisible load theory; Bharadwaj et al. 1996",
        claim="sound",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_METHODS}:equal_finish",
        summary="heterogeneous nodes: best of three orders, equal finish times",
    ),
    Method(
        "iit",
        "opr:literal-logarithm",
        kind="heuristic",
        source="n_min after (4.6) of Lin et al. 2005, 4.1, in floats; the paper is right",
        claim="literal-unsound",
        plan_class="single",
        objectives=("nodes",),
        target=f"{_LITERAL}:opr_logarithm",
        applies=f"{_METHODS}:no_setup_costs",
        summary="not in a paper: n_min by logarithms in floating point, off by one node",
    ),
    Method(
        "iit",
        "opr:literal-binary-search",
        kind="heuristic",
        source="(4.7) of Mamat 2011, halved over all nodes",
        claim="none",
        plan_class="single",
        objectives=("nodes",),
        target=f"{_LITERAL}:opr_binary_search",
        applies=_IDENTICAL,
        summary="not in a paper: binary search beyond n*, rejects feasible loads",
    ),
    Method(
        "iit",
        "opr:literal-timeline",
        kind="heuristic",
        source="Lin et al. 2005, (4.10)",
        claim="literal-unsound",
        plan_class="single",
        objectives=("completion",),
        target=f"{_LITERAL}:opr_timeline",
        applies=f"{_LITERAL}:requires_transmission_setup",
        summary="as published: one set-up time is missing",
    ),
    Method(
        "iit",
        "epr:literal-roots",
        kind="heuristic",
        source="Mamat 2011, 4.3.2, cases after (4.10)",
        claim="literal-unsound",
        plan_class="single",
        objectives=("nodes",),
        target=f"{_LITERAL}:epr_roots",
        applies=f"{_LITERAL}:requires_transmission_setup",
        summary="as published: n_min from the lower root, though no integer lies between the roots",
    ),
    Method(
        "iit",
        "exact",
        kind="exact",
        source="linear and mixed-integer programs",
        claim="optimal",
        plan_class="single",
        objectives=_BOTH,
        target=f"{_MODELS}:exact_plan",
        applies=f"{_MODELS}:reason_against_sequencing_milp",
        options=(
            Option(
                "formulation",
                "str",
                "auto",
                "linear programs over prefixes, MILP over prefixes, or MILP with free order",
                choices=("auto", "sequence", "prefix", "order"),
            ),
            Option("installments", "int", 1, "largest number of chunks per node", least=1),
            _SOLVER,
        ),
        summary="minimum completion time or fewest nodes, proven",
    ),
    Method(
        "iit",
        "bound-fluid",
        kind="bound",
        source="linear program; Mamat 2011, chapter 5, without reservations",
        claim="sound",
        plan_class="any",
        objectives=("completion",),
        target=f"{_MODELS}:bound_fluid",
        options=(_SOLVER,),
        summary="fluid relaxation: bounds schedules with any number of chunks",
    ),
)
