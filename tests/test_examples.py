"""Counts of examples come from the profile."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings

from tests.examples import share

TESTS = Path(__file__).parent
OWN = {TESTS / name for name in ("conftest.py", "examples.py", "test_examples.py")}


@pytest.mark.parametrize(("examples", "count"), [(60, 15), (3000, 750), (1, 1)])
def test_a_share_follows_the_profile(examples, count):
    loaded = settings.get_current_profile_name()
    settings.register_profile("made-up", max_examples=examples)
    try:
        settings.load_profile("made-up")
        assert share(1 / 4).max_examples == count
    finally:
        settings.load_profile(loaded)


def test_every_share_is_whole_in_the_ordinary_profile():
    """What is written in the files says exactly how many examples are tried."""
    written = re.compile(r"\bshare\((\d+) / (\d+)\)")
    shares = [
        Fraction(int(above), int(below))
        for file in TESTS.rglob("*.py")
        if file not in OWN
        for above, below in written.findall(file.read_text())
    ]
    assert shares
    assert all((60 * one).denominator == 1 for one in shares)


def test_no_test_fixes_its_number_of_examples():
    fixed = [
        file.relative_to(TESTS).as_posix()
        for file in sorted(TESTS.rglob("*.py"))
        if file not in OWN and re.search(r"max_examples\s*=", file.read_text())
    ]
    assert fixed == []
