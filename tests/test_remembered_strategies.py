"""Strategies that are made once draw what strategies draw that are made each time."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from tests import remembered_strategies
from tests.examples import share
from tests.remembered_strategies import remembering

UNREMEMBERED = {name: getattr(st, name).__wrapped__ for name in ("sampled_from", "permutations")}
VALUES = [0, 0, 1, Fraction(1, 2), None, "a", (1, 2)]


def drawn(sampled_from, permutations):
    """Return what a strategy draws that makes others while it draws."""
    found = []

    @st.composite
    def several(draw, most):
        first = draw(st.lists(sampled_from(VALUES), max_size=most))
        return first, draw(permutations(range(most))), draw(sampled_from([0.5, 1]))

    @seed(3)
    @share(2 / 3)
    @given(st.data())
    def property_of(data):
        found.append([data.draw(several(most)) for most in (2, 3, 2)])

    property_of()
    return found


def test_the_same_is_drawn() -> None:
    remembered = {
        name: remembering(make, copies=name == "sampled_from")
        for name, make in UNREMEMBERED.items()
    }
    assert drawn(**remembered) == drawn(**UNREMEMBERED)
    assert len(drawn(**remembered)) > 1


def test_conftest_has_them_remembered() -> None:
    @st.composite
    def one(draw, most):
        return draw(st.integers(0, most))

    assert st.sampled_from(VALUES) is st.sampled_from(VALUES)
    assert one(3) is one(3) and one(3) is not one(4) and one(1) is not one(True)
    assert one(most=3) is not one(3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0, 1], [0, True]),
        ([1], [1.0]),
        ([0.0], [-0.0]),
        ([Fraction(1)], [1]),
        ([(1, 0.0)], [(1, -0.0)]),
        ([1, 2], (1, 2)),
        ([1, 2], [2, 1]),
        (["1"], [1]),
    ],
)
def test_values_that_are_equal_and_differ_are_told_apart(one, other) -> None:
    chosen = remembering(UNREMEMBERED["sampled_from"], copies=True)
    assert chosen(one) is not chosen(other)
    assert chosen(one) is chosen(one)


def test_what_may_change_is_not_remembered() -> None:
    chosen = remembering(UNREMEMBERED["sampled_from"], copies=True)
    for values in ([[1], [2]], (1, [2]), {1: 2}.keys()):
        assert chosen(values) is not chosen(values)
    unknown = remembering(UNREMEMBERED["permutations"])
    assert unknown([1, 2]) is not unknown([1, 2])
    assert unknown(range(2)) is unknown(range(2)) and unknown((1, 2)) is unknown((1, 2))
    many = list(range(remembered_strategies.LONGEST + 1))
    assert chosen(many) is not chosen(many)


def test_not_more_than_a_number_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr(remembered_strategies, "MOST", 2)
    chosen = remembering(UNREMEMBERED["sampled_from"], copies=True)
    first = chosen([1])
    chosen([2])
    assert chosen([1]) is first
    chosen([3])
    assert chosen([1]) is not first
