"""Matrices of Braun et al.: what is read, and every kind of malformed file."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.formats import etc
from dlopt.formats.etc import MOST_FAULTS, EtcMatrix, parse_etc, read
from tests.data import data_folder


def faults_of(*lines):
    with pytest.raises(InvalidInstanceError) as caught:
        parse_etc(lines)
    return caught.value.faults


def test_numbers_keep_their_kind():
    lines = ["", "2 2", "1 2.50", "", "3e1 7", ""]
    found = parse_etc(lines, name="two")
    assert found == EtcMatrix("two", ((1, 2.5), (30.0, 7)))
    assert [type(time) for row in found.times for time in row] == [int, float, float, int]
    exact = parse_etc(["1 2 0", "0.1", "1/3"], exact_numbers=True)
    assert exact.times == ((Fraction(1, 10), Fraction(1, 3)),)


@pytest.mark.property
@given(
    st.lists(st.lists(st.integers(1, 99), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(1, 7),
)
def test_lines_make_no_difference(rows, width):
    numbers = [str(time) for row in rows for time in row]
    lines = [" ".join(numbers[k : k + width]) for k in range(0, len(numbers), width)]
    found = parse_etc([f"{len(rows)} 3 0", *lines])
    assert found.times == tuple(map(tuple, rows))


HEADER = "must hold the numbers of tasks and machines, and no more but a 0"


@pytest.mark.parametrize(
    "line", ["512", "512 16 1", "512 16 0 0", "a b", "-1 2", "2.0 2", "1 x", "9999999999 1", "٣ 3"]
)
def test_the_first_line(line):
    assert faults_of("", line, "1") == (Fault("line 2", line, HEADER),)


@pytest.mark.parametrize("line", ["0 3", "3 0", "100000 100000"])
def test_sizes_that_make_no_sense(line):
    rule = "must tell of 1 to 100000000 times"
    assert faults_of(line, "1") == (Fault("line 1", line, rule),)


def test_an_empty_file():
    assert faults_of() == (Fault("", MISSING, f"{HEADER}; the file is empty"),)


def test_too_few_and_too_many():
    rule = "must be followed by 2 more times of 4; the file ends"
    assert faults_of("2 2 0", "1", "2") == (Fault("line 3", MISSING, rule),)
    rule = "must be followed by 1 more time of 1; the file ends"
    assert faults_of("1 1") == (Fault("line 1", MISSING, rule),)
    rule = "must not follow: all 2 times have been given"
    assert faults_of("1 2", "1 2", "3 4") == (Fault("line 3", "3", rule),)


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("x", "a time must be a number"),
        ("nan", "a time must be a number"),
        ("inf", "a time must be a number"),
        ("1,5", "a time must be a number"),
        ("1/0", "a time must be a number"),
        ("0", "a time must be positive and finite"),
        ("-3", "a time must be positive and finite"),
        ("0.0", "a time must be positive and finite"),
        ("1e999", "a time must be positive and finite"),
    ],
)
def test_a_wrong_time_is_told_with_its_line(word, rule):
    assert faults_of("1 3 0", "1", word, "2") == (Fault("line 3", word, rule),)


def test_every_wrong_time_is_told_up_to_a_number():
    assert len(faults_of("1 3", "x y", "z")) == 3
    many = faults_of("200 1", *["x"] * 200)
    assert len(many) == MOST_FAULTS


def test_files(tmp_path):
    path = tmp_path / "u_x.0"
    path.write_text("1 2 0\n3\n4\n")
    assert read(path) == EtcMatrix("u_x.0", ((3, 4),))
    path.write_text("1 2 0\n3\n")
    with pytest.raises(InvalidInstanceError, match=r"u_x\.0: line 2: must be followed by 1 more"):
        read(path)
    with pytest.raises(InvalidInstanceError, match="cannot be read: No such file"):
        read(tmp_path / "none")


def test_the_files_of_braun_et_al():
    for path in sorted(data_folder("etc_braun").glob("u_*")):
        times = etc.read(path).times
        assert (len(times), {len(row) for row in times}) == (512, {16})
        if path.name.startswith("u_c"):  # consistent: the machines are fast in the same order
            assert all(list(row) == sorted(row) for row in times)
