"""Figures around reservations: bounds on all plans lie below what the algorithm rejects."""

from pathlib import Path

from benchmarks.papers import multistage
from benchmarks.papers.multistage import ADVANCES, LOADS, Results, Stream

HORIZON = 200_000.0


def test_bounds_are_below_the_curves_and_drawn(tmp_path: Path):
    results = Results(("5.18",), 2, HORIZON, 1, proofs=1)
    assert set(results.bounds) == {(0.5, 0.0, load) for load in LOADS}
    for (share, _, load), (bound,) in results.bounds.items():
        assert all(bound <= results.found[share, advance, load][0][0] for advance in ADVANCES)
    assert any(bound > 0 for (bound,) in results.bounds.values())
    multistage.draw(results, ("5.18",), tmp_path, "note")
    text = (tmp_path / "fig-5.17-5.18.csv").read_text()
    assert text.count("bound on all plans") == len(LOADS)


def test_bounds_do_not_see_when_reservations_are_asked_for():
    _, at_once = Stream((0.5, 0.0, 1.0), 0, HORIZON).bounded()
    _, before = Stream((0.5, 10.0, 1.0), 0, HORIZON).bounded()
    assert at_once == before


def test_without_proofs_there_are_no_bounds(tmp_path: Path):
    results = Results(("5.13",), 1, HORIZON, 1, proofs=0)
    assert results.bound("bound", 0.0) == []
    multistage.draw(results, ("5.13",), tmp_path, "note")
    assert "bound" not in (tmp_path / "fig-5.13-5.14.csv").read_text()


def test_verdicts_are_told_as_printed_and_under_other_choices():
    found = {
        name: Results(("5.13",), 1, HORIZON, 1, method=method)
        for name, method in multistage.VARIANTS.items()
    }
    choices = multistage.OTHERS["an early deadline is raised"]
    other = Results(("5.13",), 1, HORIZON, 1, choices=choices)
    lines = list(
        multistage.table(found, {"repaired": {"raised": other}, "as printed": {}}, ["5.13"])
    )
    assert lines[0] == (
        "| figure | claim | repaired | as printed | repaired: otherwise | as printed: otherwise |"
    )
    (row,) = lines[2:]
    assert row.startswith("| 5.13 | asked for at once") and row.endswith("| not simulated |")
    assert other.found != found["repaired"].found
