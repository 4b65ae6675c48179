"""Min's figures: rows kept and shared, claims with intervals, pictures of what there is."""

import csv
from dataclasses import replace

import pytest

from benchmarks.papers import coreservation, coreservation_claims, coreservation_points
from benchmarks.papers.claims import Verdict
from benchmarks.papers.coreservation_claims import Claim, difference, formatted_estimate, quotient
from benchmarks.papers.coreservation_points import NARROWER, Experiment, experiments, quick, under
from benchmarks.papers.coreservation_runs import MethodRun, MethodRunRow, RunPlan, rows_of, stored
from dlopt.simulation.replications import MeanEstimate

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


def test_intervals_are_of_what_is_compared_seed_by_seed():
    pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]
    assert quotient(pairs) == MeanEstimate(0.5, 0.0)
    assert difference(pairs).mean == -2
    assert difference(pairs).half_width == pytest.approx(2.484, abs=1e-3)
    assert quotient([(1.0, 2.0)]) == MeanEstimate(0.5, None)
    for one, shown in (
        (MeanEstimate(0.5, None), "0.50"),
        (MeanEstimate(0.5, 0.0123), "0.50 ± 0.01"),
        (MeanEstimate(100.0, 9.7), "100.00 ± 10"),
    ):
        assert formatted_estimate(one) == shown


class Fixed:
    """Seeds of every method; `shift` is added at the second of two abscissae, in figure 4.6 two."""

    def __init__(self, values, shift=0.0, points=None):
        self.values, self.shift, self.points = values, shift, points

    def xs(self, figure):
        return self.points or ([10.0, 50.0] if figure == "4.6" else [4.0, 8.0])

    def by_seed(self, figure, x, label, measure):
        more = self.shift if x == self.xs(figure)[1] else 0.0
        return dict(enumerate(value + more for value in self.values[label]))


def claims(figure, words):
    found: list[Claim] = [
        claim
        for claim in coreservation_claims.CLAIMS
        if claim.figure == figure and words in claim.words
    ]
    return [claim.test for claim in found]


LOW, HIGH = (10.0, 11.0, 12.0), (20.0, 22.0, 24.0)
NOISY = (1.0, 20.0, 60.0)
"""Of three seeds, means of 11, 22 and 27; the last does not tell itself from the others."""


def test_a_ratio_holds_where_its_interval_says_so():
    (fewer,) = claims("4.4", "considerably less")
    assert fewer(Fixed({"RB": HIGH, "RSPB": LOW})).word == "holds"
    verdict = fewer(Fixed({"RB": LOW, "RSPB": HIGH}))
    assert verdict.word == "does not"
    assert verdict.numbers == "0 of 2 points; RSPB by RB 2.00 ± 0 at 4, 2.00 ± 0 at 8"
    # a mean of 27 by 67 is below three quarters, but may be above
    unsure = fewer(Fixed({"RB": (10.0, 90.0, 100.0), "RSPB": NOISY}))
    assert unsure.word == "open" and unsure.numbers.startswith("0 of 2 points, 2 open; ")
    half = fewer(Fixed({"RB": (20.0, 20.0, 20.0), "RSPB": (9.0, 10.0, 11.0)}, shift=40.0))
    assert half.word == "only" and half.numbers.startswith("1 of 2 points; ")
    assert fewer(Fixed({"RB": (20.0,), "RSPB": (1.0,)})).word == "open"
    assert fewer(Fixed({"RB": (0.0,) * 3, "RSPB": (0.0,) * 3})).word == "open"


def test_a_difference_holds_where_its_interval_says_so():
    (better, _) = claims("5.9", "considerably above")
    verdict = better(Fixed({"Co-RSPB": HIGH, "Co-RSBF": LOW}))
    assert verdict.word == "holds"
    assert verdict.numbers.startswith(
        "2 of 2 points; Co-RSPB over Co-RSBF (in brackets) +11.000 ± 2 at 4 (11)"
    )
    assert better(Fixed({"Co-RSPB": LOW, "Co-RSBF": HIGH})).word == "does not"
    assert better(Fixed({"Co-RSPB": NOISY, "Co-RSBF": LOW})).word == "open"
    (least,) = claims("5.9", "rejects least")
    assert least(Fixed({"Co-RSPB": LOW, "Co-RSBF": LOW})).word == "holds"


def test_a_trend_holds_where_every_step_does():
    every = dict.fromkeys(("Co-RSPB", "Co-RSBF", "Co-RSBFR"), LOW)
    (rising, falling) = claims("5.12", "more requests float")
    assert rising(Fixed(every, shift=1.0)).word == "holds"
    assert falling(Fixed(every, shift=1.0)).word == "does not"
    assert falling(Fixed(every)).word == rising(Fixed(every)).word == "holds"

    class Unsure(Fixed):
        def by_seed(self, figure, x, label, measure):
            return dict(enumerate((10.0, 12.0, 14.0) if x == 4 else (13.0, 12.0, 13.0)))

    verdict = rising(Unsure(every))
    assert verdict.word == "open"  # by .67 in the mean, of one seed it falls
    assert verdict.numbers.startswith("0 of 3 steps, 3 open; Co-RSPB 12 to 12.7 (+0.667 ± 5)")


def test_what_is_flat_is_flat_within_its_interval():
    every = dict.fromkeys(("Co-RSPB", "Co-RSBF", "Co-RSBFR"), LOW)
    (flat, _) = claims("5.13", "scope of priorities")
    assert flat(Fixed(every, shift=0.1)).word == "holds"
    assert flat(Fixed(every, shift=9.0)).word == "does not"

    class Unsure(Fixed):
        def by_seed(self, figure, x, label, measure):
            return dict(enumerate((10.0, 10.2, 9.8) if x == 4 else (10.5, 10.0, 10.0)))

    assert flat(Unsure(every)).word == "open"  # 2 % in the mean, and up to 10
    (scarce,) = claims("5.10", "very close")
    assert scarce(Fixed(every)).word == "holds"
    assert scarce(Fixed({**every, "Co-RSBFR": HIGH})).word == "does not"
    assert scarce(Fixed({**every, "Co-RSBFR": (11.0, 10.5, 12.0)})).word == "open"


def test_claims_about_what_is_reserved():
    ten = (10.0, 10.2, 9.9)
    equal, widest, none = claims("4.6", "")
    same = Fixed({"RB": ten, "RSPB": ten})
    assert (equal(same).word, widest(same).word, none(same).word) == ("holds", "holds", "holds")
    more = Fixed({"RB": ten, "RSPB": (11.0, 11.3, 11.2)})
    assert (equal(more).word, none(more).word) == ("only", "does not")
    unsure = Fixed({"RB": ten, "RSPB": (10.0, 10.9, 9.9)})
    assert (equal(unsure).word, none(unsure).word) == ("open", "open")


class Gains(Fixed):
    """What RSPB gains on RB, seed by seed, at 45, 50 and 56 %."""

    def __init__(self, gains):
        super().__init__({}, points=[45.0, 50.0, 56.0])
        self.gains = gains

    def by_seed(self, figure, x, label, measure):
        gain = self.gains[self.points.index(x)]
        return dict(enumerate(gain if label == "RSPB" else [0.0] * len(gain)))


def test_the_widest_gain_is_told_from_the_others_by_its_interval():
    _, widest, _ = claims("4.6", "")
    peak, less = (9.0, 10.0, 11.0), (5.0, 6.1, 7.0)
    assert widest(Gains((less, peak, less))).word == "holds"
    verdict = widest(Gains((peak, less, less)))
    assert verdict.word == "does not"
    assert verdict.numbers.startswith(
        "widest but for 50 at 45, +3.97 ± 0.14 from 50 %, surely wider at 45: "
    )
    # the mean at 50 is the largest, but its interval is wide
    wide = widest(Gains((less, (2.0, 10.0, 18.0), less)))
    assert wide.word == "open" and ", open at 45, 56: " in wide.numbers
    # the mean at 45 is the largest, but may be the smaller one
    assert widest(Gains(((2.0, 10.0, 18.0), less, less))).word == "open"
    # one place that is surely wider is enough, whatever is open
    assert widest(Gains(((2.0, 10.0, 18.0), less, peak))).word == "does not"
    alone = Gains((less, peak, less))
    alone.xs = lambda figure: [45.0]
    assert widest(alone).word == "open"


def test_the_order_by_priority():
    rb, ordered, soft = (30.0, 31.0), (29.0, 30.0), (10.0, 11.0)
    _, order = claims("4.7", "")
    verdict = order(Fixed({"RB": rb, "RB by priority": ordered, "RSPB": soft}))
    assert verdict.word == "does not"
    assert verdict.numbers.startswith("the order alone brings 5.0 ± 0 % of the difference")
    assert order(Fixed({"RB": rb, "RB by priority": soft, "RSPB": soft})).word == "holds"
    noisy = (10.0, 30.0)
    assert order(Fixed({"RB": rb, "RB by priority": noisy, "RSPB": soft})).word == "open"


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
