"""Figures of GDS over sites: verdicts under the slips that are printed."""

from dataclasses import replace

from benchmarks.papers import bag
from benchmarks.papers.bag_claims import CLAIMS
from benchmarks.papers.bag_runs import (
    FEW,
    METHODS,
    OTHERWISE,
    SLIPS,
    Experiment,
    SuccessRow,
    experiments,
    measured,
)
from dlopt.generation.bag import gds

LABELS = (*METHODS, *OTHERWISE, *SLIPS)
GRID = Experiment("tasks", {1: {}, 2: {}}, dict.fromkeys(LABELS, 2))
SMALL = Experiment("tasks", {8: {}}, dict.fromkeys(METHODS, 2))


def rows(values):
    """Return rows of two runs; what is not told is .5, None a run without a plan."""
    return [
        SuccessRow("full", "grid", str(x), seed, label, ratio, ratio, False, 0.0)
        for label in LABELS
        for x in (1, 2)
        for seed in range(2)
        for ratio in [values.get(label, 0.5)]
    ]


def test_a_verdict_is_told_for_gds_with_every_slip():
    values = {"GDS": 0.8, "to the letter": None, "a task in every slack": 0.2}
    values |= dict.fromkeys(tuple(SLIPS)[2:], 0.8)
    results = bag.Results(rows(values), {"grid": GRID})
    (claim,) = (it for it in CLAIMS if it.words == "GDS meets more critical tasks than EDF")
    words = {slip: bag.ErratumResults(results, slip).word(claim) for slip in SLIPS}
    assert list(words.values()) == [None, "does not", "holds", "holds", "holds"]
    (line,) = list(bag.judged(results, "claim", [claim]))[2:]
    assert line.endswith(" | robust | does not: a task in every slack |")
    alone = replace(claim, experiment="small")
    few = bag.Results((), {"small": SMALL})
    assert bag.ErratumResults(few, "to the letter").word(alone) is None


def test_gds_to_the_letter_need_not_end():
    instance = gds(seed=0, sites=3, fewest=2, most=4, tasks=30)
    assert measured(instance, "GDS")[1] > 0.5
    assert measured(instance, "to the letter") == (None, None, False)
    assert measured(instance, "a task in every slack")[1] is not None


def test_slips_are_run_on_a_part_of_the_grid():
    runs = experiments(20, quick=False)["grid"].runs
    assert {runs[slip] for slip in SLIPS} == {FEW} and runs["GDS"] == 20
    assert experiments(2, quick=True)["grid"].runs["to the letter"] == 2
