"""The file of searches: what is in it is not searched again, and a torn line is cut off."""

from pathlib import Path

import pytest

from benchmarks.falsification_log import (
    FORM,
    SearchLog,
    SearchTarget,
    rows_of,
    searches,
    table,
    variants,
)
from benchmarks.rows import kept
from dlopt import registry
from dlopt.verify import SearchResult, falsify

OPR = SearchTarget(registry.method("iit", "opr"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make every search take 4 seconds of CPU time; return the seconds that it was given."""
    given: list[float] = []

    def search(self: SearchTarget, seed: int, seconds: float) -> SearchResult:
        given.append(seconds)
        found = falsify("iit", "opr:literal-timeline", examples=5).finding if seed == 7 else None
        return SearchResult(found, 10, 2, 5.0)

    monkeypatch.setattr(SearchTarget, "search", search)
    ticks = iter(range(0, 10**6, 4))
    monkeypatch.setattr(
        "benchmarks.falsification_log.time.process_time", lambda: float(next(ticks))
    )
    return given


def test_a_search_goes_on_where_it_was_left(clock: list[float], tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"

    def made() -> int:
        with kept(file, FORM) as rows:
            return len(list(searches(OPR, SearchLog(rows), 8.0)))

    assert made() == 2
    assert clock == [8.0, 4.0]
    assert made() == 0
    file.write_bytes(file.read_bytes()[:-5])  # killed while it wrote the second
    assert [row.seed for row in rows_of(file)] == [0]
    assert made() == 1
    assert clock[2:] == [4.0]
    assert [row.seed for row in rows_of(file)] == [0, 1]
    assert table(rows_of(file)).splitlines()[2:] == [
        "| iit `opr` | sound | 10 | 8 | 20 | 4 | nothing |"
    ]


def test_a_finding_ends_it(clock: list[float]) -> None:
    with kept(None, FORM) as rows:
        log = SearchLog(rows)
        assert len(list(searches(OPR, log, 100.0))) == 8
    assert log.rows[-1].found == "transmission-duration"


def test_variants_are_all_other_ways_to_ask() -> None:
    asked = [subject.asked for subject in variants(registry.method("iit", "exact"))]
    assert asked[:3] == ["completion", "nodes", "formulation=sequence"]
    assert asked[-1] == "installments=2"
    assert [one.asked for one in variants(OPR.entry)] == ["assignment=all"]
    assert OPR.asked == "" and SearchTarget(OPR.entry, floats=True).asked == "floats"
    for stem in registry.stems():
        for entry in registry.methods(stem):
            for subject in variants(entry):
                entry.read_options(subject.options)
