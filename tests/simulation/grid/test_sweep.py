"""Sweeps: rows in order, kept in a file, gone on with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.simulation.grid import TOPOLOGIES, write_grid
from dlopt.simulation.grid.sweep import Case, Row, read_rows, sweep

SMALL = Case(lans=2, nodes=2, tasks=3, queue_size=1)
CASES = tuple(replace(SMALL, queue_size=size, seed=seed) for size in (1, 2) for seed in (0, 1))


def same(one: Row, other: Row) -> bool:
    return replace(one, seconds=0) == replace(other, seconds=0)


def test_rows_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    told: list[tuple[int, int]] = []
    first = sweep(CASES[:2], path=path)
    with path.open("a") as file:
        file.write('{"case": {"var')  # it was stopped here
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
    with pytest.raises(InvalidInstanceError, match="line 1: must be a JSON object"):
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


def test_a_grid_from_a_file_and_gateways(tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write_grid(TOPOLOGIES["mesh"](lans=2, nodes=2), path)
    row = Row.of(replace(SMALL, topology=str(path)))
    assert same(replace(row, case=SMALL), replace(Row.of(SMALL), response=row.response))
    one = replace(SMALL, lans=1, gateways=2)
    arrivals = [fate.arrival for fate in one.run().outcome.fates]
    assert arrivals == [fate.arrival for fate in SMALL.run().outcome.fates]
