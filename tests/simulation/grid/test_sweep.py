"""Sweeps: rows in order, kept in a file, gone on with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.journal import Journal
from dlopt.simulation.grid import TOPOLOGIES, write_grid
from dlopt.simulation.grid.sweep import SWEEP, GridExperiment, SweepRow, read_rows, sweep

SMALL = GridExperiment(lans=2, nodes=2, tasks=3, queue_size=1)
CASES = tuple(replace(SMALL, queue_size=size, seed=seed) for size in (1, 2) for seed in (0, 1))


def same(one: SweepRow, other: SweepRow) -> bool:
    return replace(one, seconds=0) == replace(other, seconds=0)


def test_rows_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    told: list[tuple[int, int]] = []
    first = sweep(CASES[:2], path=path)
    with path.open("a") as file:
        file.write('{"sweep": 1, "case": {"var')  # it was stopped here
    rows = sweep(CASES, path=path, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 4), (3, 4), (4, 4)]
    assert rows[:2] == first == read_rows(path)[:2]
    assert read_rows(path) == rows
    assert [row.case for row in rows] == list(CASES)
    assert sweep(CASES, path=path) == rows
    assert all(map(same, sweep(CASES), rows))
    assert sweep([CASES[0], CASES[0]]) != ()


def test_processes_give_the_same_rows(tmp_path: Path) -> None:
    assert all(map(same, sweep(CASES[:2], processes=2), sweep(CASES[:2])))


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("nothing\n")
    with pytest.raises(InvalidInstanceError, match="line 1: is not valid JSON"):
        read_rows(path)
    path.write_text(json.dumps({"case": {"tasks": 0}}) + "\n")
    with pytest.raises(InvalidInstanceError, match="tasks"):
        read_rows(path)
    with pytest.raises(InvalidInstanceError, match="cannot be read"):
        read_rows(tmp_path)
    with pytest.raises(NotApplicableError, match="cannot write"):
        sweep(CASES[:1], path=tmp_path / "none" / "rows.jsonl")
    with pytest.raises(NotApplicableError, match="processes must be positive"):
        sweep(CASES, processes=0)
    for processes in (1, 2):
        with pytest.raises(NotApplicableError, match="no topology 'ring'"):
            sweep([replace(case, topology="ring") for case in CASES[:2]], processes=processes)


@pytest.mark.parametrize(
    "foreign",
    [
        '{"a": 1}',
        "a key",
        "[",
        "[" * 10**5,
        "one\ntwo",
        '{"case": {"id": 7}, "verdict": "guilty"}',
        '{"sweep": 1, "case": {"id": 7}}',
        '{"sweep": 1, "case": {"var',
        '{"cas',
        "\0\0\0",
    ],
)
def test_files_of_others_are_left_as_they_are(foreign: str, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text(foreign)
    for use in (lambda: sweep(CASES[:1], path=path), lambda: read_rows(path)):
        with pytest.raises(InvalidInstanceError):
            use()
    assert path.read_text() == foreign


def test_a_line_says_what_it_is_a_row_of(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    (row,) = sweep(CASES[:1], path=path)
    line = path.read_text()
    assert line.startswith('{"sweep": 1, "case": {')
    for other in ("2", "1.0", "true", "null"):
        path.write_text(line.replace('"sweep": 1', f'"sweep": {other}'))
        with pytest.raises(InvalidInstanceError, match="line 1, sweep: must be 1, got"):
            read_rows(path)
    path.write_text("[]\n")
    with pytest.raises(InvalidInstanceError, match="line 1: must be an object"):
        read_rows(path)

    path.write_text(line.replace('"sweep": 1, ', "") + '{"case": {"var')  # of an older release
    assert read_rows(path) == (row,)
    assert sweep(CASES[:2], path=path)[0] == row
    assert [json.loads(line).get("sweep") for line in path.read_text().splitlines()] == [None, 1]


@pytest.mark.parametrize("value", [-1, 10**400, 1.5])
@pytest.mark.parametrize(
    "field", ["returned", "met_ratio", "remote", "resent", "failures", "traps", "events"]
)
def test_numbers_that_no_simulation_has(field: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    data = SweepRow.of(SMALL).to_data() | {field: value}
    path.write_text(json.dumps(data) + "\n")
    with pytest.raises(InvalidInstanceError, match=f"line 1, {field}: must "):
        sweep([SMALL], path=path)


def test_one_run_at_a_time_writes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with (
        Journal(path, SWEEP),
        pytest.raises(NotApplicableError, match="another run is writing to it"),
    ):
        sweep(CASES[:1], path=path)
    assert len(sweep(CASES[:1], path=path)) == 1


def test_a_grid_from_a_file_and_gateways(tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write_grid(TOPOLOGIES["mesh"](lans=2, nodes=2), path)
    row = SweepRow.of(replace(SMALL, topology=str(path)))
    assert same(replace(row, case=SMALL), replace(SweepRow.of(SMALL), response=row.response))
    one = replace(SMALL, lans=1, gateways=2)
    arrivals = [fate.arrival for fate in one.run().outcome.job_outcomes]
    assert arrivals == [fate.arrival for fate in SMALL.run().outcome.job_outcomes]
