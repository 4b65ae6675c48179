"""Bin packing files: what they say, and what is wrong with malformed ones."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.formats import binpack
from dlopt.formats.binpack import FORMATS, MOST_FAULTS, parse_bpplib, parse_orlib, parse_temporal
from tests.data import data_folder

TWO = ["2", " u_0 ", " 10 2 1", "4", "6", "", " u 1", " 1.5 1 1", "1.5"]


def faults_of(form: str, *lines: str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInstanceError) as caught:
        FORMATS[form](lines)
    return caught.value.faults


def test_several_problems_of_a_file_keep_their_names() -> None:
    first, second = parse_orlib(TWO)
    assert (first.name, first.capacity, first.best_known, first.temporal) == ("u_0", 10, 1, False)
    assert [(item.id, item.size) for item in first.items] == [("0", 4), ("1", 6)]
    assert (second.name, second.capacity, second.items[0].size) == ("u 1", 1.5, Fraction(3, 2))


def test_decimals_are_exact() -> None:
    (one,) = parse_orlib(["1", "t", "100.0 3 1", "36.6", "26.8", "36.6"])
    assert sum(item.size for item in one.items) == 100
    assert type(one.capacity) is int
    assert type(one.items[0].size) is Fraction


def test_the_file_names_what_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "N1.txt").write_text("1\n9\n5\n")
    (one,) = binpack.read(tmp_path / "N1.txt", "bpplib")
    assert (one.name, one.capacity, one.items[0].size, one.best_known) == ("N1", 9, 5, None)
    (tmp_path / "t.txt").write_text("1 9 0 0\r\n7\t1\t4\t5\r\n")
    (one,) = binpack.read(tmp_path / "t.txt", "temporal")
    assert one.temporal
    assert (one.items[0].id, one.items[0].start, one.items[0].end) == ("7", 1, 4)


@pytest.mark.parametrize(
    ("form", "lines", "told"),
    [
        ("orlib", (), Fault("", MISSING, "must be followed by the number of problems")),
        ("orlib", ("x",), Fault("line 1", "x", "the number of problems must be an integer")),
        ("orlib", ("0",), Fault("line 1", "0", "the number of problems must be from 1 to")),
        ("orlib", ("1 2",), Fault("line 1", "1 2", "must hold <number of problems>")),
        ("orlib", ("1",), Fault("line 1", MISSING, "must be followed by the name of a problem")),
        ("orlib", ("1", "a", "5 1"), Fault("line 3", "5 1", "must hold <capacity> <number of")),
        ("orlib", ("1", "a", "0 1 1", "1"), Fault("line 3", "0", "the capacity must be positive")),
        ("orlib", ("1", "a", "5 1 x"), Fault("line 3", "x", "the number of bins must be an")),
        ("orlib", ("1", "a", "5 2 1", "3"), Fault("line 4", MISSING, "must be followed by the s")),
        ("orlib", ("1", "a", "5 1 1", "6"), Fault("line 4", "6", "a size must be at most the")),
        ("orlib", ("1", "a", "5 1 1", "3", "4"), Fault("line 5", "4", "must not follow: all")),
        ("bpplib", ("9999999999",), Fault("line 1", "9999999999", "the number of items must be")),
        ("bpplib", ("1", "5", "-1"), Fault("line 3", "-1", "a size must be positive")),
        ("bpplib", ("1", "5", "2 7"), Fault("line 3", "2 7", "must hold <size of item 0>")),
        ("bpplib", ("1", "5", "nan"), Fault("line 3", "nan", "a size must be a number")),
        ("temporal", ("1 5",), Fault("line 1", "1 5", "must hold <number of items> <capacity>")),
        ("temporal", ("1 5 0 0", "0 4 4 1"), Fault("line 2", "4", "the end must lie after the")),
        ("temporal", ("1 5 0 0", "0 -4 4 1"), Fault("line 2", "-4", "the start must not be neg")),
        (
            "temporal",
            ("2 5 0 0", "0 1 4 1", "0 1 4 1"),
            Fault("line 3", "0", "an index must be given to one item only"),
        ),
    ],
)
def test_a_fault_has_its_line(form: str, lines: tuple[str, ...], told: Fault) -> None:
    (found,) = faults_of(form, *lines)
    assert (found.path, found.value) == (told.path, told.value)
    assert found.rule.startswith(told.rule)


def test_all_faults_are_told_up_to_a_number() -> None:
    assert [fault.path for fault in faults_of("bpplib", "3", "x", "y", "0", "1")] == [
        "line 2",
        "line 3",
        "line 4",
    ]
    assert len(faults_of("bpplib", "500", "9", *["x"] * 500)) == MOST_FAULTS


def test_a_file_is_named_in_its_faults(tmp_path: Path) -> None:
    with pytest.raises(InvalidInstanceError, match=r"none\.txt: cannot be read"):
        binpack.read(tmp_path / "none.txt", "orlib")
    (tmp_path / "a.txt").write_text("1\n5\nx\n")
    with pytest.raises(InvalidInstanceError, match=r"a\.txt: line 3: a size must be a number"):
        binpack.read(tmp_path / "a.txt", "bpplib")


def test_bpplib_and_temporal_without_a_file() -> None:
    assert parse_bpplib(["1", "5", "5"])[0].name == ""
    assert parse_temporal(["1 5 0 0", "0 0 1/2 5"])[0].items[0].end == Fraction(1, 2)


def test_the_published_files() -> None:
    folder = data_folder("binpack")
    with (folder / "orlib" / "optima.csv").open() as file:
        rows = {(row["file"], row["instance"]): row for row in csv.DictReader(file)}
    seen = 0
    for path in sorted((folder / "orlib").glob("binpack[15].txt")):
        for one in binpack.read(path, "orlib"):
            row = rows[path.name, one.name]
            assert len(one.items) == int(row["items"])
            assert one.best_known == int(row["best_known_in_file"])
            total = sum(Fraction(item.size) for item in one.items)
            assert -(-total // Fraction(one.capacity)) <= int(row["proven_optimum_bpplib"])
            seen += 1
    assert seen == 40
    with (folder / "temporal" / "bounds_computed.csv").open() as file:
        jobs = {row["file"]: int(row["jobs"]) for row in csv.DictReader(file)}
    found = sorted((folder / "temporal").glob("*/*/*.txt"))[:20]
    assert found
    for path in found:
        (one,) = binpack.read(path, "temporal")
        assert len(one.items) == jobs[path.relative_to(folder / "temporal").as_posix()]
