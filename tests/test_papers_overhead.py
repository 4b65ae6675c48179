"""Figures 6.12 to 6.16: what is measured, and what is said of it."""

import gc
from dataclasses import replace

import pytest

from benchmarks.papers import overhead
from benchmarks.papers.overhead import (
    AROUND,
    FAST,
    FIGURES,
    GROUPS,
    HYBRID,
    ONE,
    PRINTED,
    STRAIGHT,
    SWITCH,
    TESTS,
    WAITING,
    MeasuredTimes,
    claims,
    panels,
)


@pytest.fixture(scope="module", autouse=True)
def collect_only_what_is_new():
    """Exclude what other tests left from the garbage collection before each measurement."""
    gc.collect()
    gc.freeze()


class Told(MeasuredTimes):
    """Times by test and nodes, whatever is measured."""

    def __init__(self, times):
        super().__init__(max(WAITING))
        self.of = times

    def times(self, figure, test, nodes):
        return self.of(test, nodes, figure.first)


def words_of(name, times):
    return [verdict.word for _, verdict in claims(name, Told(times))]


@pytest.mark.parametrize("name", ["6.12", "6.13"])
def test_how_many_times_as_fast_is_held_against_the_chapter(name):
    figure = FIGURES[name]
    chapter = {test: figure.published[test, 512] for test in (PRINTED, ONE, STRAIGHT)}

    def times(scale):
        return lambda test, *_: {
            n: time * (scale if test != PRINTED else 1)
            for n, time in chapter[PRINTED if test == FAST else test].items()
        }

    assert words_of(name, times(1.001)) == ["holds", "holds"]
    assert words_of(name, times(0.9)) == ["only", "only"]
    assert words_of(name, times(1e-6)) == ["does not", "does not"]


def test_what_more_nodes_cost():
    def times(fast, slow):
        return lambda test, nodes, _: {
            n: (n / 2 + 1) * (1 if nodes == 512 else fast if test == PRINTED else slow(n))
            for n in WAITING
        }

    assert words_of("6.14", times(1.1, lambda _: 2.0)) == ["holds", "holds"]
    assert words_of("6.14", times(1.3, lambda n: 2.0 if n > 500 else 1.0)) == ["does not", "only"]


def test_what_hybrid_does_around_its_switch_point():
    def times(before, beyond):
        return lambda test, *_: {
            n: {FAST: 0.1, GROUPS: float(n)}.get(test, before(n) if n <= 500 else beyond(n))
            for n in AROUND
        }

    good = times(lambda n: n, lambda n: 100 / n)
    for name in ("6.15", "6.16"):
        assert words_of(name, good) == ["holds", "holds", "holds"]
    worse = times(lambda n: -n, lambda n: 9.0 * n)
    for name in ("6.15", "6.16"):
        assert words_of(name, worse) == ["does not"] * 3
    half = times(lambda n: n, lambda n: 150.0 if n < 1000 else 350.0)
    assert words_of("6.16", half)[1] == "only"


def test_times_are_measured_once_and_averaged(monkeypatch):
    asked = []

    def after(method, nodes, waiting, count, plain):
        asked.append((method, nodes, waiting, count, plain))
        return [9.0] * (count - 3) + [waiting / 1e3] * 3

    monkeypatch.setattr(overhead, "after", after)
    measured = MeasuredTimes(1000)
    assert measured.after(STRAIGHT, 512, 300) == pytest.approx(300)
    area = (300 - 1) * (1 + 300) / 2 + (1000 - 300) * (300 + 1000) / 2
    assert measured.first(STRAIGHT, 512, 1000) == pytest.approx(area / 999)
    assert sorted(asked) == [("edf-iit-2", 512, n, 3, True) for n in (1, 300, 1000)]
    asked.clear()
    for waiting in (390, 550):
        measured.after(HYBRID, 1024, waiting)
    assert [one[2:4] for one in asked] == [(390, 100)] * 5 + [(550, 120)] * 5
    times = measured.times(FIGURES["6.13"], STRAIGHT, 512)
    assert list(times) == [300, 1000]


def test_the_mean_of_the_first_is_that_of_one_queue(monkeypatch):
    rounds = iter([1, 9, 1, 1, 7])
    monkeypatch.setattr(overhead, "spent", lambda *_: [next(rounds) / 1e3, 1e-3, 1e-3, 4e-3])
    measured = MeasuredTimes(4)
    assert measured.first(FAST, 8, 1) == pytest.approx(1)
    assert measured.first(FAST, 8, 3) == pytest.approx(1)
    assert measured.first(FAST, 8, 4) == pytest.approx(7 / 4)
    assert next(rounds, None) is None


def test_curves_stand_above_those_of_the_chapter():
    told = Told(lambda *_: {300: 1.0, 1000: 2.0})
    found = panels("6.14", told)
    assert [label for label, _ in found] == [
        "ms, 512 nodes",
        "ms, 512 nodes, the chapter",
        "ms, 1024 nodes",
        "ms, 1024 nodes, the chapter",
    ]
    assert [curve.name for curve in found[3][1]] == [PRINTED, STRAIGHT]
    assert [label for label, _ in panels("6.16", told)] == ["ms, 1024 nodes"]


def test_a_quick_run_draws_what_is_asked_for(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    few = replace(FIGURES["6.16"], tasks=(1, 390, SWITCH + 1))
    monkeypatch.setitem(FIGURES, "6.16", few)
    for name in few.tests:
        monkeypatch.setitem(TESTS, name, TESTS[name]._replace(decisions=2, rounds=1))
    monkeypatch.setattr(
        "sys.argv", ["overhead", "--quick", "--only", "6.16", "--out", f"{tmp_path}"]
    )
    assert overhead.main() == 0
    told = capsys.readouterr().out
    assert told.count("| 6.16 | ") == 3 + 3 and "chapter" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fig-6.16.csv", "fig-6.16.svg"]
