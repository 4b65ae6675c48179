"""What is drawn of streams beside the algorithms: a bound, and a plan that knows all tasks."""

from dataclasses import replace
from pathlib import Path

import pytest

import dlopt
from benchmarks.papers import admission, claims, clairvoyant, experiments
from benchmarks.papers.clairvoyant import (
    PLANNERS,
    Bracket,
    Stream,
    accepted,
    bracket,
    most_accepted,
    substream,
)
from benchmarks.papers.experiments import EXPERIMENTS, Experiment
from benchmarks.papers.figure_files import curves_of
from dlopt.result import Status
from dlopt.simulation import simulate, simulate_many

PARAMETERS = {"horizon": 3_000.0, "nodes": 8, "chi": 10, "theta_cm": 5, "theta_cp": 5}
SMALL = replace(
    EXPERIMENTS["4.7"],
    methods=("edf-opr-mn", "edf-opr-an"),
    settings=(2, 4),
    fixed={**PARAMETERS, "average_load": 50},
    loads=(0.2, 1.0),
)


def stream(load, seed=0, **others):
    return Stream.of("mamat4", load, seed, {**PARAMETERS, "average_load": 50, **others})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_optimum_lies_in_the_bracket(seed):
    tight = stream(1.0, seed, nodes=2, horizon=1500.0)
    instance = tight.drawn().instance()
    assert 2 < len(instance.tasks) < 9
    found = bracket(tight)
    best = dlopt.solve(instance, objective="reject-ratio")
    assert best.status is Status.OPTIMAL
    assert found.bound - 1e-9 <= best.value <= found.found + 1e-9
    assert found.tasks == len(instance.tasks)


def test_a_plan_that_knows_all_tasks_rejects_no_more_than_the_algorithms():
    given = stream(1.0)
    workload, found = given.drawn(), bracket(given)
    online = [simulate(workload, planner).reject_ratio for planner in PLANNERS]
    assert found.bound <= found.found <= min(online)
    assert found.found < max(online)
    assert bracket(stream(0.01)) == Bracket(stream(0.01), len(stream(0.01).drawn()), 0.0, 0.0)


def test_all_that_is_shown_is_accepted():
    workload = stream(1.0).drawn()
    order = sorted(range(len(workload)), key=workload.loads.__getitem__)
    kept = accepted(workload, order, "edf-opr-mn")
    assert not simulate(substream(workload, kept), "edf-opr-mn").rejected
    assert 0 < len(kept) < len(workload)
    for one in set(order) - set(kept):  # the stream is short: groups are taken apart to the end
        shown = [i for i in kept if order.index(i) < order.index(one)]
        assert simulate(substream(workload, [*shown, one]), "edf-opr-mn").rejected
    assert substream(workload, [2, 0]).loads == (workload.loads[0], workload.loads[2])


def test_a_plan_that_breaks_a_rule_is_not_believed(monkeypatch):
    monkeypatch.setattr(clairvoyant, "PLANNERS", ("edf-opr-mn:literal",))
    workload = stream(1.0, horizon=10_000.0).drawn()
    with pytest.raises(RuntimeError, match="broke a rule"):
        most_accepted(workload)


def test_brackets_are_drawn_and_told(tmp_path: Path):
    experiment: Experiment = SMALL
    known: dict[Stream, Bracket] = {}
    best = experiment.brackets(2, 3_000.0, 1, known)
    assert {len(found) for found in best.values()} == {2}
    with pytest.MonkeyPatch.context() as patched:  # once is enough
        patched.setattr("benchmarks.papers.experiments.bracket", None)
        assert experiment.brackets(2, 3_000.0, 1, known) == best
    assert best[2, 1.0][0] == bracket(
        Stream.of("mamat4", 1.0, 0, {**experiment.parameters(2), "horizon": 3_000.0})
    )
    results = experiment.run("repaired", 3, 3_000.0, processes=1)
    admission.draw("4.7", results, best, tmp_path / "a.svg", "note")
    text = (tmp_path / "a.svg").read_text()
    assert text.count('id="clairvoyant plan"') == text.count('id="bound on all plans"') > 0
    assert "utilization, dc_ratio" in text and "dc_ratio 4" in text
    lines = list(admission.reject_ratio_table(experiment, results, best))
    assert lines[0] == "| 4.7: reject ratio, % | 0.2 | 1 |"
    online = results.by_seed("edf-opr-an", 1.0, setting=4)[:2]
    assert lines[7].startswith("| edf-opr-an, dc_ratio 4 | ")
    assert lines[7].endswith(f" {50 * sum(online):.1f} |")
    assert lines[9].startswith("| bound on all plans, dc_ratio 4 |")
    none = experiment.brackets(0, 3_000.0, 1, {})
    assert list(admission.reject_ratio_table(experiment, results, none)) == []
    admission.draw("4.7", results, none, tmp_path / "b.svg", "note")
    assert 'id="clairvoyant plan"' not in (tmp_path / "b.svg").read_text()
    (tmp_path / "new").mkdir()
    admission.draw("4.7", results, none, tmp_path / "new" / "a.svg", "note", tmp_path)
    assert curves_of(tmp_path / "new" / "a.csv") == curves_of(tmp_path / "a.csv")


def test_hybrid_is_drawn_as_printed_too():
    few = replace(EXPERIMENTS["6.18"], methods=("hybrid",), loads=(5.0,))
    found = [few.run(variant, 1, 300_000.0, processes=1) for variant in ("repaired", "as printed")]
    ratios = [results.by_seed("hybrid", 5.0) for results in found]
    (printed,) = simulate_many(
        "mamat4",
        ["hybrid:literal"],
        loads=[5.0],
        seeds=range(1),
        processes=1,
        parameters={"horizon": 300_000.0, **few.parameters(None)},
    )
    assert ratios[0] != ratios[1] == [printed.estimate("reject_ratio").mean]


def test_a_verdict_is_robust_or_depends_on_a_choice():
    word = claims.otherwise("holds", {"a": "holds", "b": None})
    assert word == "robust"
    told = claims.otherwise("holds", {"a": "open", "b": "does not", "c": "does not"})
    assert told == "does not: b, c; open: a"
    assert claims.otherwise("holds", {"a": None}) == "not simulated"
    assert claims.otherwise(None, {"a": "holds"}) == "not simulated"


def test_the_table_tells_verdicts_under_other_choices():
    verdict = claims.Verdict("holds", "10 of 10 points")
    other = claims.Verdict("does not", "0 of 10 points")
    names = ("4.6", "4.6 without set-up costs")
    mine = [claim for claim in claims.CLAIMS if claim.experiment == "4.6"]
    of = [
        {claim: {"repaired": one, "as printed": verdict} for claim in mine}
        for one in (verdict, other)
    ]
    lines = list(admission.table(dict(zip(names, of, strict=True)), {"4.6": {"x": of[0]}}))
    assert lines[0].endswith("repaired: otherwise | as printed: otherwise |")
    assert len(lines) == 2 + 2 * len(mine)
    assert lines[2].endswith("| does not: without set-up costs | robust |")
    assert lines[-1].endswith("|  |  |")


def test_other_choices_change_what_the_paper_leaves_open():
    first, free, report = (
        experiments.EXPERIMENTS[name] for name in ("4.6", "4.6 without set-up costs", "R4")
    )
    assert free.otherwise() == {}
    changes = {name: dict(one.fixed) for name, one in first.otherwise().items()}
    assert changes["deadlines as on n* nodes"] == {"reference": "best"}
    assert len(changes) == 3
    assert report.otherwise()["the load as defined"].fixed == {"interval": "definition"}
    for other in (*first.otherwise().values(), *report.otherwise().values()):
        Stream.of(other.family, 0.5, 1, {"horizon": 30_000.0, **other.parameters(None)}).drawn()
