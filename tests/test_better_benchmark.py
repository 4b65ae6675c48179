"""The comparison of bid prices with the papers' algorithms and the clairvoyant plan."""

import argparse

import pytest

from benchmarks import better
from benchmarks.better import OURS, Row, by_seed, compared, measured, tables
from benchmarks.better_settings import FIGURES, PAPERS, Setting, settings
from benchmarks.papers.experiments import WITHOUT
from benchmarks.rows import kept
from benchmarks.timing import Report

SETTING = Setting("4.6", None, None)


def rows(ours, clairvoyant, best=0.4):
    """Return the rows of a setting at one load, of two seeds."""
    others = dict.fromkeys(PAPERS, 0.9)
    return [
        [Row((), 1.0, seed, {**others, "mcdf": best, OURS: ours + shift}, clairvoyant, 0.1)]
        for seed, shift in ((100, 0.01), (101, -0.01))
    ]


@pytest.mark.parametrize(
    ("ours", "clairvoyant", "share", "met"),
    [
        (0.2, 0.1, 2 / 3, [True, True]),
        (0.22, 0.1, 0.6, [True, False]),
        (0.42, 0.1, -1 / 15, [False, False]),
        (0.4, 0.395, None, [True]),
    ],
)
def test_targets(ours, clairvoyant, share, met):
    found = compared(SETTING, rows(ours, clairvoyant))
    assert (found.best, found.bound) == ("mcdf", 0.1)
    assert found.share == (None if share is None else pytest.approx(share))
    report = Report(quick=False)
    tables(report, [found])
    assert [target["passed"] for target in report.targets] == met


def test_without_set_up_costs_a_third_suffices():
    free = Setting(f"4.6{WITHOUT}", None, None)
    for setting, met in ((SETTING, False), (free, True)):
        report = Report(quick=False)
        tables(report, [compared(setting, rows(0.29, 0.1))])
        assert report.targets[-1]["passed"] is met


def test_a_run_measures_what_is_missing(monkeypatch):
    """Two settings have the same streams where what is varied has its usual value."""
    calls = []

    def fake(parameters, load, seed, planned, bounded, papers):
        calls.append((parameters, load, seed))
        key = tuple(sorted(parameters.items()))
        return Row(
            key, load, seed, dict.fromkeys((*PAPERS, OURS), 0.5), 0.5 if planned else None, None
        )

    monkeypatch.setattr(better, "measured", fake)
    wanted = argparse.Namespace(
        first=7, seeds=2, horizon=1000.0, loads=[0.5, 1.0], bounds=0, plans=1, only=("4.6", "4.7")
    )
    with kept(None, better.FORM) as found:
        better.run(wanted, found)
        better.run(wanted, found)
        assert len(calls) == len(found.by_key) == 2 * 2 * 3 * 2  # seeds, loads, DCRatios, set-up
        assert {len(by_seed(setting, wanted, found)) for setting in settings(wanted.only)} == {2}
    assert {seed for *_, seed in calls} == {7, 8}
    assert {row.seed for row in found if row.clairvoyant is not None} == {7}


def test_a_stream_is_run_again_where_more_algorithms_are_compared(monkeypatch):
    """Figure 4 of the report has a setting of its figure 10, with other algorithms."""

    def fake(parameters, load, seed, planned, bounded, papers):
        key = tuple(sorted(parameters.items()))
        return Row(key, load, seed, dict.fromkeys((*papers, OURS), 0.5), None, None)

    monkeypatch.setattr(better, "measured", fake)
    wanted = argparse.Namespace(first=7, seeds=1, horizon=None, loads=[1.0], bounds=0, plans=0)
    with kept(None, better.FORM) as found:
        for wanted.only in (("R10",), ("R4",)):
            better.run(wanted, found)
        (setting,) = settings(("R4",))
        (loads,) = by_seed(setting, wanted, found)
        assert compared(setting, [loads], setting.papers).paper.mean == 0.5
        assert dict(loads[0].parameters)["horizon"] == setting.values["horizon"] / 2


def test_a_measured_stream():
    parameters = {"family": "mamat4", "nodes": 8, "chi": 10, "average_load": 50, "horizon": 1500.0}
    row = measured({**parameters, "theta_cm": 5, "theta_cp": 5}, 1.0, 100, True, True)
    assert 0 <= row.bound <= row.clairvoyant + 1e-9
    assert row.bound <= min(row.ratios.values()) + 1e-9
    assert set(row.ratios) == {*PAPERS, OURS}
    line = better.FORM.state(row)
    assert better.FORM.parse(line) == row


def test_plans_and_bounds_are_read_from_the_pictures(monkeypatch):
    """They are of one seed; the reject ratio of every plan lies above the bound."""

    def fake(parameters, load, seed, planned, bounded, papers):
        length = {"mamat4": 5e6, "lin5": 5e5}[parameters["family"]]
        assert (seed, planned, bounded, parameters["horizon"]) == (0, False, False, length)
        key = tuple(sorted(parameters.items()))
        return Row(key, load, seed, dict.fromkeys((*PAPERS, OURS), 0.5), None, None)

    monkeypatch.setattr(better, "measured", fake)
    wanted = argparse.Namespace(loads=[0.5, 1.0], only=FIGURES, stored=False)
    with kept(None, better.FORM) as found:
        drawn = better.run_drawn(wanted, found)
    assert len(drawn) == len(settings(FIGURES)) == 36 + 13
    assert all(row.bound <= row.clairvoyant for ((*loads,),) in drawn.values() for row in loads)
    assert SETTING.drawn(0.55) is None
    assert Setting("4.5", None, None).drawn(1.0) is None


def test_figures_of_chapter_6_and_of_the_report():
    """Without set-up costs but for figures 6 to 9 of the report, with the algorithms they compare.

    Streams are as long, in mean intervals between tasks, as those of chapter 4.
    """
    heavy, report, costly = (
        Setting("6.18", None, None),
        Setting("R4", None, None),
        settings(["R6-R9"]),
    )
    assert [one.has_set_up for one in (heavy, report, *costly)] == [False, False, *[True] * 4]
    assert {"fast-edf-iit", "hybrid"} <= set(heavy.papers) > set(PAPERS)
    assert heavy.loads([0.2, 1]) == [1.0, 5.0] and report.loads([0.2, 1]) == [0.2, 1.0]
    assert heavy.parameters(5e6)["horizon"] == 4e7  # a quarter of the nodes, loose deadlines
    assert report.parameters(5e6) == {"family": "lin5", "horizon": 5e5}
    assert costly[0].parameters(5e6)["theta_cm"] == 5
    row = measured(
        {**report.parameters(5e6), "horizon": 2e4}, 1.0, 100, False, False, report.papers
    )
    assert set(row.ratios) == {*PAPERS, "fifo-opr-an", OURS}
