"""Figures around reservations: bounds on all plans lie below what the algorithm rejects."""

from pathlib import Path

from benchmarks.papers import multistage
from benchmarks.papers.multistage_runs import (
    ADVANCES,
    LOADS,
    OTHERS,
    SHARES,
    Point,
    Results,
    Stream,
)

HORIZON = 110_000.0


def test_bounds_are_below_the_curves_and_drawn(tmp_path: Path):
    results = Results(("5.18",), 2, HORIZON, 1, proofs=1)
    assert set(results.bounds) == {(0.5, 0.0, load) for load in LOADS}
    for (share, _, load), (bound,) in results.bounds.items():
        assert all(bound <= results.found[share, advance, load][0][0] for advance in ADVANCES)
    assert any(bound > 0 for (bound,) in results.bounds.values())
    multistage.draw(results, ("5.18",), tmp_path, "note")
    text = (tmp_path / "fig-5.17-5.18-repaired.csv").read_text()
    assert text.count("bound on all plans") == len(LOADS)
    bare = Results(("5.18",), 1, HORIZON, 1)
    (tmp_path / "new").mkdir()
    multistage.draw(bare, ("5.18",), tmp_path / "new", "note", before_that=tmp_path)
    again = (tmp_path / "new" / "fig-5.17-5.18-repaired.csv").read_text()
    bounds = [line for line in text.splitlines() if "bound on all plans" in line]
    assert [line for line in again.splitlines() if "bound on all plans" in line] == bounds
    multistage.draw(bare, ("5.18",), tmp_path, "note", "as printed", tmp_path / "none")
    assert "bound" not in (tmp_path / "fig-5.17-5.18-as-printed.csv").read_text()


def test_bounds_do_not_see_when_reservations_are_asked_for():
    _, at_once = Stream((0.5, 0.0, 1.0), 0, HORIZON).bounded()
    _, before = Stream((0.5, 10.0, 1.0), 0, HORIZON).bounded()
    assert at_once == before


def test_without_proofs_there_are_no_bounds(tmp_path: Path):
    results = Results(("5.13",), 1, HORIZON, 1, proofs=0)
    assert results.bound("bound", 0.0) == []
    multistage.draw(results, ("5.13",), tmp_path, "note")
    assert "bound" not in (tmp_path / "fig-5.13-5.14-repaired.csv").read_text()


def few(measures: dict[Point, list[float]]) -> Results:
    """Return results in which seeds reject so much, and use as much; by share, advance, load."""
    results = Results((), 0, HORIZON, 1)
    results.found = {
        point: [(value, value) for value in values] for point, values in measures.items()
    }
    return results


def every(by_share: dict[float, list[float]], advances: tuple[float, ...] = (0.0,)) -> Results:
    return few(
        {
            (share, advance, load): values
            for share, values in by_share.items()
            for advance in advances
            for load in LOADS
        }
    )


def words(results: Results, figure: str) -> list[str]:
    return [verdict.word for _, _, verdict in multistage.claims(results, [figure])]


def test_claims_are_open_where_seeds_do_not_tell():
    rising = {share: [share, share + 0.01] for share in SHARES}
    assert words(every(rising), "5.13") == ["holds"]
    assert words(every(rising), "5.14") == ["does not"]
    noisy = {**rising, 0.5: [0.25, 0.9]}  # the mean lies between its neighbours, the interval not
    assert words(every(noisy), "5.13") == ["open"]
    ((_, _, verdict),) = multistage.claims(every(noisy), ["5.13"])
    assert verdict.numbers.startswith("30 of 50 points, 20 open; all reserved is 100.0 ± 0.0")
    level = {share: [0.2, 0.21] for share in SHARES}
    more = {**level, 0.8: [0.3, 0.31], 1.0: [0.3, 0.31]}
    assert words(every(more, (1.0,)), "5.15") == ["holds", "holds"]
    assert words(every(level, (1.0,)), "5.15") == ["holds", "does not"]
    assert words(every({**more, 0.3: [0.2, 0.3]}, (1.0,)), "5.16") == ["open"]
    assert words(every({**more, 0.3: [0.3, 0.31]}, (1.0,)), "5.16") == ["only"]
    assert words(every({**more, 1.0: [0.3, 0.4]}, (1.0,)), "5.15") == ["holds", "open"]


def test_other_choices_are_held_against_as_few_seeds():
    sure = every({share: [share, share + 0.01, share] for share in SHARES})
    other = every({share: [0.25, 0.3] for share in SHARES})
    found = {"repaired": sure, "as printed": sure}
    there = {"repaired": {"raised": sure.first(2)}, "as printed": {"raised": other}}
    assert len(sure.first(2).found[0.0, 0.0, 1.0]) == 2 and len(sure.found[0.0, 0.0, 1.0]) == 3
    (row,) = list(multistage.table(found, there, ["5.13"], 2))[2:]
    assert row.endswith(" | robust | robust |")
    (row,) = list(multistage.table(found, there, ["5.14"], 2))[2:]
    assert row.endswith(" | robust | holds: raised |")
    one = {name: {"raised": sure.first(1)} for name in found}
    (row,) = list(multistage.table(found, one, ["5.13"], 1))[2:]
    assert row.endswith(" | open at that size, under all | open at that size, under all |")


def test_asking_earlier_is_judged_step_by_step():
    def asked(*rejected: list[float]) -> Results:
        pairs = zip(ADVANCES, rejected, strict=True)
        return few({(0.3, a, load): values for a, values in pairs for load in LOADS})

    falling = asked([0.3, 0.31], [0.2, 0.21], [0.1, 0.11], [0.1, 0.11])
    assert words(falling, "5.17") == ["holds", "holds"]
    rising = asked([0.1, 0.11], [0.2, 0.21], [0.3, 0.31], [0.5, 0.51])
    assert words(rising, "5.17") == ["does not", "does not"]
    assert words(asked([0.3, 0.4], [0.3, 0.31], [0.2, 0.21], [0.2, 0.28]), "5.17") == ["open"] * 2


def test_verdicts_are_told_as_printed_and_under_other_choices():
    found = {
        name: Results(("5.13",), 1, HORIZON, 1, method=method)
        for name, method in multistage.VARIANTS.items()
    }
    choices = OTHERS["an early deadline is raised"]
    other = Results(("5.13",), 1, HORIZON, 1, choices=choices)
    lines = list(
        multistage.table(found, {"repaired": {"raised": other}, "as printed": {}}, ["5.13"], 1)
    )
    assert lines[0] == (
        "| figure | claim | repaired | as printed | left open "
        "| repaired: otherwise | as printed: otherwise |"
    )
    (row,) = lines[2:]
    assert row.startswith("| 5.13 | asked for at once") and row.endswith("| not simulated |")
    assert other.found != found["repaired"].found
