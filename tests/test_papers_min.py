"""Min's figures: rows kept and shared, claims with intervals, pictures of what there is."""

import csv
from dataclasses import replace

import pytest

from benchmarks.papers import coreservation, coreservation_claims, coreservation_points
from benchmarks.papers.coreservation_claims import Claim, difference, quotient, told
from benchmarks.papers.coreservation_points import Experiment, experiments, quick
from benchmarks.papers.coreservation_runs import Cell, Plan, Row, rows_of, stored
from dlopt.simulation.replications import Estimate

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
PLAN = Plan({"5.9": SMALL, "4.6": FOUR}, seeds=2, proofs=1, limit=20)


def test_points_that_are_one_instance_share_their_rows():
    plan = Plan(experiments(1))
    same = {
        plan.cell(figure, x, "Co-RSPB", "benefit", 3)
        for figure, x in (("5.9", 300), ("5.10", 10), ("5.11", 100))
    }
    assert same == {Cell("min5", (), 3, "Co-RSPB")}
    exact = plan.cell("5.10", 4, "bound", "rejections", 0)
    assert exact == Cell("min5", (("machines", 4),), 0, "bound", "rejections", 120)
    assert plan.cell("4.3", 10_000, "RB", "rejections", 0).goal == "benefit"


def test_what_tells_most_comes_first():
    cells = Plan(experiments(10), seeds=2).cells()
    assert len(set(cells)) == len(cells)
    kinds = [cell.label if cell.limit else "" for cell in cells]
    assert list(dict.fromkeys(kinds)) == [
        "",
        "bound",
        "clairvoyant",
        "exact per batch",
    ]
    seeds = [cell.seed for cell in cells if cell.limit is None]
    assert seeds == sorted(seeds)
    goals = [cell.goal for cell in cells if cell.label == "clairvoyant"]
    assert goals == sorted(goals)
    few = quick(experiments(10))
    assert max(few["5.9"].points) == 700
    assert [cell.label for cell in Plan(few, 1).cells() if cell.limit] == [
        *["bound"] * 2,
        *["clairvoyant"] * 2,
        *["exact per batch"] * 2,
    ]


def test_a_run_goes_on_from_the_rows_that_are_kept(tmp_path, monkeypatch, capsys):
    path = tmp_path / "rows.jsonl"
    cells = PLAN.cells()
    first = rows_of(cells[:5], path, processes=1)
    path.write_text(path.read_text() + '{"family": "min5", "para')
    assert list(stored(path)) == list(first.values())
    asked = []
    whole = Cell.run
    monkeypatch.setattr(Cell, "run", lambda cell: asked.append(cell) or whole(cell))
    found = rows_of(cells, path, processes=1)
    assert asked == cells[5:]
    assert list(stored(path)) == list(found.values())
    assert rows_of(cells, path, processes=1) == found
    assert asked == cells[5:]
    assert f"{len(cells) - 5} of {len(cells) - 5} cells" in capsys.readouterr().err
    assert list(stored(None)) == list(stored(tmp_path / "none")) == []
    assert rows_of(cells[:1], None, processes=1)[cells[0]].values == found[cells[0]].values


@pytest.fixture(scope="module")
def rows():
    return rows_of(PLAN.cells(), None, processes=1)


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
    part = {cell: row for cell, row in rows.items() if cell.parameters != (("requests", 4),)}
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
    coreservation.draw(results, tmp_path)
    text = (tmp_path / "fig-min-5.9.svg").read_text()
    assert 'id="bound"' in text
    assert 'id="requested, no plan has more"' in (tmp_path / "fig-min-4.6.svg").read_text()
    with (tmp_path / "fig-min-5.9.csv").open() as file:
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


def test_intervals_are_of_what_is_compared_seed_by_seed():
    pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]
    assert quotient(pairs) == Estimate(0.5, 0.0)
    assert difference(pairs).mean == -2
    assert difference(pairs).half_width == pytest.approx(2.484, abs=1e-3)
    assert quotient([(1.0, 2.0)]) == Estimate(0.5, None)
    for one, shown in (
        (Estimate(0.5, None), "0.50"),
        (Estimate(0.5, 0.0123), "0.50 ± 0.01"),
        (Estimate(100.0, 9.7), "100.00 ± 10"),
    ):
        assert told(one) == shown


class Fixed:
    """Three seeds of every method at two abscissae; `shift` is added at the second."""

    def __init__(self, values, shift=0.0):
        self.values, self.shift = values, shift

    def xs(self, figure):
        return [10.0, 50.0] if figure == "4.6" else [4.0, 8.0]

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


def test_claims_are_judged_by_means():
    low, high = (10.0, 11.0, 12.0), (20.0, 22.0, 24.0)
    (fewer,) = claims("4.4", "considerably less")
    assert fewer(Fixed({"RB": high, "RSPB": low})).word == "holds"
    verdict = fewer(Fixed({"RB": low, "RSPB": high}))
    assert verdict.word == "does not"
    assert verdict.numbers == "0 of 2 points; RSPB by RB 2.00 ± 0 at 4, 2.00 ± 0 at 8"
    assert fewer(Fixed({"RB": (0.0,) * 3, "RSPB": low}, shift=40.0)).word == "does not"
    (better, _) = claims("5.9", "considerably above")
    told = better(Fixed({"Co-RSPB": high, "Co-RSBF": low})).numbers
    assert told.startswith(
        "2 of 2 points; Co-RSPB over Co-RSBF (in brackets) +11.000 ± 2 at 4 (11)"
    )
    every = dict.fromkeys(("Co-RSPB", "Co-RSBF", "Co-RSBFR"), low)
    (rising, falling) = claims("5.12", "more requests float")
    assert rising(Fixed(every, shift=1.0)).word == "holds"
    assert falling(Fixed(every, shift=1.0)).word == "does not"
    (flat, _) = claims("5.13", "scope of priorities")
    assert flat(Fixed(every, shift=0.1)).word == "holds"
    assert flat(Fixed(every, shift=9.0)).word == "does not"
    (scarce,) = claims("5.10", "very close")
    assert scarce(Fixed(every)).word == "holds"
    assert scarce(Fixed({**every, "Co-RSBFR": high})).word == "does not"


def test_claims_about_what_is_reserved():
    ten = (10.0, 10.2, 9.9)
    equal, widest, none = claims("4.6", "")
    same = Fixed({"RB": ten, "RSPB": ten})
    assert (equal(same).word, widest(same).word, none(same).word) == ("holds", "holds", "holds")
    assert len(claims("4.6 within 15", "")) == len(claims("4.6 within 7", "")) == 3


class Narrowing(Fixed):
    """RSPB gains less at the second abscissa, in each seed."""

    def by_seed(self, figure, x, label, measure):
        less = self.shift if x == 50 and label == "RSPB" else 0.0
        return dict(enumerate(value - less for value in self.values[label]))


def test_the_widest_gap_is_told_from_the_others_by_its_interval():
    _, widest, _ = claims("4.6", "")
    low, high = (10.0, 10.2, 9.9), (20.0, 20.3, 20.1)
    assert widest(Narrowing({"RB": low, "RSPB": high}, shift=5.0)).word == "does not"
    noisy = Narrowing({"RB": (10.0, 10.0, 10.0), "RSPB": (11.0, 15.0, 30.0)}, shift=0.0)
    assert widest(noisy).word == "holds"


def test_the_order_by_priority():
    rb, ordered, soft = (30.0, 31.0), (29.0, 30.0), (10.0, 11.0)
    _, order = claims("4.7", "")
    verdict = order(Fixed({"RB": rb, "RB by priority": ordered, "RSPB": soft}))
    assert verdict.word == "does not"
    assert verdict.numbers.startswith("the order alone brings 5.0 ± 0 % of the difference")
    assert order(Fixed({"RB": rb, "RB by priority": soft, "RSPB": soft})).word == "holds"


def test_exact_methods_run_where_they_are_asked_for():
    assert SMALL.best("benefit", 4) == ()
    assert SMALL.best("benefit", 8) == SMALL.best("benefit") == ("bound",)
    assert replace(SMALL, proven=()).best("benefit") == ()
    assert FOUR.best("reserved", 30) == ()
    assert set(coreservation_points.EXACT) <= set(coreservation_points.METHODS)


def test_a_row_is_read_as_it_was_told():
    row = Row(Cell("min4", (("horizon", 1e4),), 2, "RB"), 7, {"benefit": 0.1}, 1.5, "why")
    assert Row.read(row.told()) == row


def test_verdicts_are_told_as_printed_and_under_other_choices():
    chosen = experiments(20)
    five = coreservation_points.under("a request every unit", chosen)
    assert set(five) == {"5.9", "5.10", "5.11", "5.12", "5.13"}
    assert all(point["mean_interval"] == 1 for point in five["5.9"].points.values())
    both = coreservation_points.under("linear benefits", chosen)
    assert "5.9 at once" in both and "4.6" in both and "4.6 within 7" not in both
    assert not any(it.exact for it in both.values())
    few = {"5.10": replace(SMALL, points={4: {"requests": 30, "machines": 2}}, exact=())}
    plans = {"repaired": Plan(few, 1), "as printed": Plan(few, 1, suffix=" as printed")}
    other = Plan(coreservation_points.under("benefits in stairs", few), 1)
    assert [cell.label for cell in plans["as printed"].cells()] == [
        f"{name} as printed" for name in SMALL.methods
    ]
    rows = rows_of([cell for one in (*plans.values(), other) for cell in one.cells()], None, 1)
    found = {name: coreservation.Results(plan, rows) for name, plan in plans.items()}
    elsewhere = {"repaired": {"stairs": coreservation.Results(other, rows)}}
    lines = list(coreservation.table(found, elsewhere))
    assert lines[0].startswith("| figure | claim | repaired | as printed | repaired: otherwise |")
    assert len({line.count(" | ") for line in lines if "---" not in line}) == 1
    mine = [claim for claim in coreservation_claims.CLAIMS if claim.figure == "5.10"]
    assert len(lines) == 2 + len(mine)
    assert all(line.endswith("| not simulated |") for line in lines[2:])
    assert any("| robust |" in line for line in lines)


def test_every_abscissa_of_figure_4_6_is_the_mean_of_its_bounds():
    for figure in coreservation_points.WIDTHS:
        for mean, point in experiments(1)[figure].points.items():
            least, most = point["least_cpu"], point["most_cpu"]
            assert isinstance(least, int) and isinstance(most, int)
            assert (least + most) / 2 == mean and least <= most <= 70
    assert experiments(1)["4.6"].points[45] == {"horizon": 100_000, "least_cpu": 20, "most_cpu": 70}
