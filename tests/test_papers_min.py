"""Min's figures: rows kept and shared, pictures of what there is, verdicts under other choices."""

import csv
from dataclasses import replace

import pytest

from benchmarks.papers import coreservation, coreservation_claims, coreservation_points
from benchmarks.papers.claims import Verdict
from benchmarks.papers.coreservation_claims import Claim
from benchmarks.papers.coreservation_points import NARROWER, Experiment, experiments, quick, under
from benchmarks.papers.coreservation_runs import MethodRun, MethodRunRow, RunPlan, rows_of, stored

SMALL = Experiment(
    "requests", "min5", {n: {"requests": n} for n in (4, 8)}, exact=("bound",), proven=(8,)
)


FOUR = Experiment(
    "mean of requested CPU, %",
    "min4",
    {30: {"horizon": 400, "least_cpu": 23, "most_cpu": 37}},
    methods=("RB", "RSPB"),
    measures=("reserved",),
)


PLAN = RunPlan({"5.9": SMALL, "4.6": FOUR}, seeds=2, proofs=1, limit=20)


def test_points_that_are_one_instance_share_their_rows():
    plan = RunPlan(experiments(1))
    same = {
        plan.run_of(figure, x, "Co-RSPB", "benefit", 3)
        for figure, x in (("5.9", 300), ("5.10", 10), ("5.11", 100))
    }
    assert same == {MethodRun("min5", (), 3, "Co-RSPB")}
    exact = plan.run_of("5.10", 4, "bound", "rejections", 0)
    assert exact == MethodRun("min5", (("machines", 4),), 0, "bound", "rejections", 120)
    assert plan.run_of("4.3", 10_000, "RB", "rejections", 0).goal == "benefit"


def test_what_tells_most_comes_first():
    runs = RunPlan(experiments(10), seeds=2).runs()
    assert len(set(runs)) == len(runs)
    kinds = [run.label if run.limit else "" for run in runs]
    assert list(dict.fromkeys(kinds)) == [
        "",
        "bound",
        "clairvoyant",
        "exact per batch",
    ]
    seeds = [run.seed for run in runs if run.limit is None]
    assert seeds == sorted(seeds)
    goals = [run.goal for run in runs if run.label == "clairvoyant"]
    assert goals == sorted(goals)
    few = quick(experiments(10))
    assert max(few["5.9"].points) == 700
    assert [run.label for run in RunPlan(few, 1).runs() if run.limit] == [
        *["bound"] * 2,
        *["clairvoyant"] * 2,
        *["exact per batch"] * 2,
    ]


def test_a_run_goes_on_from_the_rows_that_are_kept(tmp_path, monkeypatch, capsys):
    path = tmp_path / "rows.jsonl"
    runs = PLAN.runs()
    first = rows_of(runs[:5], path, processes=1)
    path.write_text(path.read_text() + '{"cell": 1, "family": "min5", "para')
    assert list(stored(path)) == list(first.values())
    asked = []
    whole = MethodRun.run
    monkeypatch.setattr(MethodRun, "run", lambda run: asked.append(run) or whole(run))
    found = rows_of(runs, path, processes=1)
    assert asked == runs[5:]
    assert list(stored(path)) == list(found.values())
    assert rows_of(runs, path, processes=1) == found
    assert asked == runs[5:]
    assert f"{len(runs) - 5} of {len(runs) - 5} runs" in capsys.readouterr().err
    assert list(stored(None)) == list(stored(tmp_path / "none")) == []
    assert rows_of(runs[:1], None, processes=1)[runs[0]].values == found[runs[0]].values


@pytest.fixture(scope="module")
def rows():
    return rows_of(PLAN.runs(), None, processes=1)


def test_results_are_those_of_the_rows_there_are(rows):
    results = coreservation.Results(PLAN, rows)
    assert results.xs("5.9") == [4, 8]
    values = results.by_seed("5.9", 8, "Co-RSPB", "benefit")
    assert sorted(values) == [0, 1]
    bound = results.by_seed("5.9", 8, "bound", "benefit")
    assert bound.keys() == {0}
    assert values[0] <= bound[0] + 1e-9
    fewest = results.by_seed("5.9", 8, "bound", "rejections")
    assert fewest[0] <= results.by_seed("5.9", 8, "Co-RSBF", "rejections")[0]
    part = {run: row for run, row in rows.items() if run.parameters != (("requests", 4),)}
    assert coreservation.Results(PLAN, part).xs("5.9") == [8]
    tables = list(coreservation.optima(results))
    assert tables[0] == (
        "| system benefit: figure | at | seeds | bound | Co-RSPB | Co-RSBF | Co-RSBFR |"
    )
    assert tables[2].startswith("| 5.9 | 8 | 1 | ")
    assert tables[2].count("%)") == 3
    assert tables[4].startswith("| rejections: figure")
    assert not list(coreservation.optima(coreservation.Results(PLAN, {})))


def test_pictures_and_means_are_written(rows, tmp_path):
    results = coreservation.Results(PLAN, rows)
    assert results.note("5.9") == "2 seeds, bars: 95 % confidence; bound: 1 of them"
    assert results.note("4.6") == "2 seeds, bars: 95 % confidence"
    coreservation.draw(results, "repaired", tmp_path)
    text = (tmp_path / "fig-min-5.9-repaired.svg").read_text()
    assert 'id="bound"' in text
    shown = (tmp_path / "fig-min-4.6-repaired.svg").read_text()
    assert 'id="requested, no plan has more"' in shown
    with (tmp_path / "fig-min-5.9-repaired.csv").open() as file:
        lines = list(csv.DictReader(file))
    shown = [
        line for line in lines if (line["curve"], line["panel"]) == ("Co-RSBF", "system benefit")
    ]
    assert [line["x"] for line in shown] == ["4", "8"]
    mine = results.by_seed("5.9", 8, "Co-RSBF", "benefit")
    assert float(shown[1]["y"]) == pytest.approx(sum(mine.values()) / 2, abs=1e-6)
    beside = [line for line in lines if line["panel"] == "system benefit, 1 seed"]
    assert {line["curve"] for line in beside} == {"Co-RSPB", "Co-RSBF", "Co-RSBFR", "bound"}
    (first,) = [line for line in beside if (line["curve"], line["x"]) == ("Co-RSBF", "8")]
    assert float(first["y"]) == pytest.approx(mine[0], abs=1e-6) and not first["half_width"]
    assert "bound" not in {line["curve"] for line in lines if line["panel"] == "system benefit"}
    assert [line["half_width"] for line in lines if line["curve"] == "bound"] == ["", ""]


def test_what_exact_methods_gave_is_taken_from_pictures(rows, tmp_path):
    results = coreservation.Results(PLAN, rows)
    assert not list(coreservation.drawn(PLAN, "repaired", tmp_path))
    coreservation.draw(results, "repaired", tmp_path)
    found = {row.run: row for row in coreservation.drawn(PLAN, "repaired", tmp_path)}
    exact = {run: row for run, row in rows.items() if run.limit is not None}
    assert found.keys() == exact.keys() and len(exact) == 2
    for run, row in found.items():
        assert row.values == {run.goal: pytest.approx(exact[run].values[run.goal])}
    assert not list(coreservation.drawn(PLAN, "as printed", tmp_path))
    more = replace(PLAN, experiments={"5.9": replace(SMALL, points={4: {"requests": 4}})})
    assert not list(coreservation.drawn(more, "repaired", tmp_path))
    twice = replace(PLAN, proofs=2)
    again = rows_of(twice.runs(), None, processes=1)
    coreservation.draw(coreservation.Results(twice, again), "repaired", tmp_path)
    assert not list(coreservation.drawn(PLAN, "repaired", tmp_path))  # means tell no seed


def test_every_method_takes_its_options():
    for label in coreservation_points.METHODS.keys() - {*coreservation_points.EXACT}:
        few = ("min5", {"requests": 8}) if label.startswith("Co-") else ("min4", {"horizon": 200})
        assert MethodRun.of(*few, 0, label).run().requests > 1


def test_exact_methods_run_where_they_are_asked_for():
    assert SMALL.best("benefit", 4) == ()
    assert SMALL.best("benefit", 8) == SMALL.best("benefit") == ("bound",)
    assert replace(SMALL, proven=()).best("benefit") == ()
    assert FOUR.best("reserved", 30) == ()
    assert set(coreservation_points.EXACT) <= set(coreservation_points.METHODS)


def test_a_row_is_read_as_it_was_told():
    row = MethodRunRow(
        MethodRun("min4", (("horizon", 1e4),), 2, "RB"), 7, {"benefit": 0.1}, 1.5, "why"
    )
    assert MethodRunRow.from_data(row.to_data()) == row


def test_other_choices_change_what_the_thesis_leaves_open():
    chosen = experiments(20)
    five = under("a request every unit", chosen)
    assert set(five) == {"5.9", "5.10", "5.11", "5.12", "5.13"}
    assert all(point["mean_interval"] == 1 for point in five["5.9"].points.values())
    both = under("linear benefits", chosen)
    assert "5.9 at once" in both and "4.6" in both
    assert not any(it.exact for it in both.values())
    for choice, half in NARROWER.items():
        (narrow,) = under(choice, chosen).items()
        assert narrow[0] == "4.6" and narrow[1].points[45]["least_cpu"] == 45 - half
        assert narrow[1].points[63] == chosen["4.6"].points[63]
    assert set(coreservation_points.EVERY_CHOICE) > set(NARROWER)


def test_verdicts_are_told_as_printed_and_under_other_choices():
    few = {"5.10": replace(SMALL, points={4: {"requests": 30, "machines": 2}}, exact=())}
    plans = {"repaired": RunPlan(few, 2), "as printed": RunPlan(few, 2, suffix=" as printed")}
    other = RunPlan(under("benefits in stairs", few), 2)
    assert [run.label for run in plans["as printed"].runs()] == [
        f"{name} as printed" for _ in range(2) for name in SMALL.methods
    ]
    rows = rows_of([run for one in (*plans.values(), other) for run in one.runs()], None, 1)
    found = {name: coreservation.Results(plan, rows) for name, plan in plans.items()}
    there = coreservation.OtherChoices(
        found["repaired"], {"stairs": coreservation.Results(other, rows)}
    )
    lines = list(coreservation.table(found, {"repaired": there}))
    assert lines[0].startswith(
        "| figure | claim | repaired | as printed | left open | repaired: otherwise |"
    )
    assert len({line.count(" | ") for line in lines if "---" not in line}) == 1
    mine = [claim for claim in coreservation_claims.CLAIMS if claim.figure == "5.10"]
    assert len(lines) == 2 + len(mine)
    assert all(line.endswith("| not simulated |") for line in lines[2:])
    assert all(" | arrivals, benefits | " in line for line in lines[2:])
    assert any("| robust |" in line for line in lines)


class Judged:
    """Results of which a claim says a word; None where nothing was simulated."""

    def __init__(self, word):
        self.word = word
        self.plan = RunPlan({"5.9": SMALL})

    def xs(self, figure):
        return [4.0] if self.word else []


def test_what_ours_is_at_the_size_of_the_other_choices_is_told():
    claim = Claim("5.9", "words", lambda results: Verdict(results.word, ""))

    def told(word, ours, *others):
        there = {f"choice {place}": Judged(it) for place, it in enumerate(others)}
        return coreservation.OtherChoices(Judged(ours), there).agreement(claim, word)

    assert told("holds", "holds", "holds", None) == "robust"
    assert told("holds", "holds", "holds", "open") == "open: choice 1"
    assert told("holds", "open", "open") == "open at that size, under all"
    assert told("holds", "open", "open", "does not") == "open at that size; does not: choice 1"
    assert told("holds", "holds", None) == told("holds", None, "holds") == "not simulated"
    assert told(None, "holds", "holds") == "not simulated"


def test_every_abscissa_of_figure_4_6_is_the_mean_of_its_bounds():
    chosen = experiments(1)
    every = [chosen, *(under(choice, chosen) for choice in NARROWER)]
    for some in every:
        for mean, point in some["4.6"].points.items():
            least, most = point["least_cpu"], point["most_cpu"]
            assert isinstance(least, int) and isinstance(most, int)
            assert (least + most) / 2 == mean and least <= most <= 70
    assert chosen["4.6"].points[45] == {"horizon": 100_000, "least_cpu": 20, "most_cpu": 70}
    assert {47.5, 50, 52.5} < chosen["4.6"].points.keys()


def test_what_the_thesis_leaves_open_is_told():
    chosen = experiments(1)
    told = {figure: coreservation_points.left_open(figure, it) for figure, it in chosen.items()}
    assert told["4.3"] == "batches, priorities, benefits"
    assert told["4.6"] == "batches, priorities, benefits, width of CPU"
    assert (told["5.9"], told["5.9 at once"]) == ("arrivals, benefits", "benefits")


def test_other_choices_are_tried_at_fewer_points():
    few = coreservation_points.sparse(quick(experiments(10)))
    assert list(few["5.10"].points) == [4, 20, 40]
    assert list(few["5.9"].points) == [100, 700]
    assert list(few["4.3"].points) == [120_000]
    assert list(few["4.6"].points) == [20, 45, 47.5, 50, 52.5, 56, 63]
