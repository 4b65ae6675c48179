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
    "number of nodes under `completion`: the one that ends first, or all that help (AN)",
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
        summary="optimal partitioning rule, all nodes wait for the last",
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
        summary="equal partitioning rule, all nodes wait for the last",
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
        summary="a node that is ready early passes for a faster one",
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
        summary="closed form: a prefix in ready order, ending together",
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
        summary="nodes may differ: the best of three orders, ending together",
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
        summary="no paper prints this: logarithms in floats, one node too many or too few",
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
        summary="no paper prints this: halving 1..N beyond n* refuses what can be done",
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
        summary="as printed: one set-up time too few; the lines before are right",
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
        summary="as printed: n_min from the lower root, though no integer is between",
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
                "LPs over prefixes, MILP over prefixes, or MILP in free order",
                choices=("auto", "sequence", "prefix", "order"),
            ),
            Option("installments", "int", 1, "chunks that a node may get", least=1),
            _SOLVER,
        ),
        summary="least completion or fewest nodes, proven",
    ),
    Method(
        "iit",
        "bound-fluid",
        kind="bound",
        source="linear program; Mamat 2011, chapter 5 reservations left out",
        claim="sound",
        plan_class="any",
        objectives=("completion",),
        target=f"{_MODELS}:bound_fluid",
        options=(_SOLVER,),
        summary="no plan with any number of chunks ends earlier",
    ),
)
