"""Rows by which parts do not fit one machine together: honest ones, and some that are false."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import compress, product

from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems.coreservation import Instance, Machine, Part, Request
from dlopt.problems.coreservation.certified_knapsacks import largest_weights
from tests.reference.coreservation_knapsacks import heaviest
from tests.reference.coreservation_program import Column
from tests.written_certificates import Written, accepted, refused


def shares(capacity: int, *sizes: int, machines: int = 1, apart: bool = False) -> Instance:
    """Requests of one part each, at the same time or one after another."""
    requests = (
        Request(f"r{k}", 0, k if apart else 0, k + 1 if apart else 1, 1, (Part(size),))
        for k, size in enumerate(sizes)
    )
    return Instance(tuple(Machine(f"m{j}", capacity) for j in range(machines)), tuple(requests))


TWO_SHARES = Written(
    shares(5, 3, 3),
    "rejections",
    "unit: 1\ngroups: 0",
    "x_0 x_1 y_0_0_0_3_3 y_1_0_0_3_3",
    """
    accepted_0_0_G G 0: 1 y_0_0_0_3_3 -1 x_0
    accepted_1_0_G G 0: 1 y_1_0_0_3_3 -1 x_1
    knapsack_0_0_1 L 1: 1 y_0_0_0_3_3 1 y_1_0_0_3_3
    """,
    """
    L 1: 1 x_0 1 x_1 | lin 3 0 -1 1 -1 2 1
    G -1: OBJ | lin 1 3 -1
    """,
    "range -1 inf",
    "-1 x_0 -1 x_1",
)
"""Two shares of 3 do not fit a machine of 5."""

THREE_SHARES = Written(
    shares(6, 3, 3, 3, machines=2),
    "rejections-then-machines",
    "unit: 1\ngroups: 0 0",
    "x_0 x_1 x_2 y_0_0_0_3_3 y_1_0_0_3_3 y_2_0_0_3_3 m_0 m_1",
    """
    accepted_0_0_G G 0: 1 y_0_0_0_3_3 -1 x_0
    accepted_1_0_G G 0: 1 y_1_0_0_3_3 -1 x_1
    accepted_2_0_G G 0: 1 y_2_0_0_3_3 -1 x_2
    x_0_L L 1: 1 x_0
    x_1_L L 1: 1 x_1
    x_2_L L 1: 1 x_2
    knapsack_0_0_1 L 0: 1 y_0_0_0_3_3 1 y_1_0_0_3_3 1 y_2_0_0_3_3 -2 m_0 -2 m_1
    """,
    "G -7: OBJ | rnd 7 0 1/2 1 1/2 2 1/2 3 -5/2 4 -5/2 5 -5/2 6 -1/2",
    "range -7 inf",
    "-3 x_0 -3 x_1 -3 x_2 1 m_0 1 m_1",
)
"""Three shares of 3 need two machines of 6."""


def test_parts_that_fit_a_machine_together_are_not_excluded():
    accepted(TWO_SHARES, 1)
    roomy = replace(TWO_SHARES, instance=shares(6, 3, 3))
    refused(roomy, "the machines may hold more", "knapsack_0_0_1 does not hold")
    second = replace(
        TWO_SHARES, instance=shares(5, 3, 3, machines=2), remarks="unit: 1\ngroups: 0 0"
    )
    refused(second, "the machines may hold more", "knapsack_0_0_1 does not hold")


ITEMS = st.tuples(st.integers(1, 6), st.fractions(0, 4, max_denominator=3))


@given(st.lists(ITEMS, max_size=6), st.integers(0, 12), st.fractions(0, 1, max_denominator=3))
def test_both_checkers_find_the_heaviest_parts_that_fit(items, room, more):
    sets = [[*compress(items, chosen)] for chosen in product((False, True), repeat=len(items))]
    fits = [one for one in sets if sum(size for size, _ in one) <= room]
    expected = max(sum(weight for _, weight in one) for one in fits)
    assert largest_weights(items, room)[-1] == expected
    columns = [Column("y", k, low=size) for k, (size, _) in enumerate(items)]
    weights = {column: weight for column, (_, weight) in zip(columns, items, strict=True)}
    assert heaviest(columns, weights, room + more * Fraction(9, 10)) == expected


def test_parts_at_different_times_are_not_on_a_machine_together():
    apart = replace(TWO_SHARES, instance=shares(5, 3, 3, apart=True))
    refused(apart, "it counts what is not there", "knapsack_0_0_1 does not hold")


def test_a_row_without_weights_holds():
    rows = f"{TWO_SHARES.rows.rstrip()}\nknapsack_0_0_2 L 0: -1 y_0_0_0_3_3 -1 y_1_0_0_3_3"
    steps = TWO_SHARES.steps.replace("lin 1 3", "lin 1 4")
    accepted(replace(TWO_SHARES, rows=rows, steps=steps), 1)


def test_a_machine_that_is_used_holds_what_fits():
    accepted(THREE_SHARES, 0, 2)
    rows = THREE_SHARES.rows.replace("-2 m_0 -2 m_1", "-1 m_0 -1 m_1")
    steps = "G -6: OBJ | lin 7 0 1 1 1 2 1 3 -2 4 -2 5 -2 6 -1"
    three = replace(THREE_SHARES, rows=rows, steps=steps, claim="range -6 inf")
    refused(three, "a machine that is used may hold more", "knapsack_0_0_1 does not hold")


def test_what_needs_no_room_is_in_no_knapsack():
    names = TWO_SHARES.names.replace("_3_3", "_0_3")
    rows = TWO_SHARES.rows.replace("_3_3", "_0_3")
    free = replace(TWO_SHARES, names=names, rows=rows, instance=shares(6, 3, 3))
    refused(free, "it counts what needs no room", "knapsack_0_0_1 does not hold")


def test_a_row_whose_sums_would_take_too_long_is_refused():
    size = 10**15
    names, rows = (
        text.replace("_3_3", f"_{size}_{size}") for text in (TWO_SHARES.names, TWO_SHARES.rows)
    )
    huge = replace(TWO_SHARES, names=names, rows=rows, instance=shares(2 * size - 1, size, size))
    first, second = huge.verdicts()
    assert first.bound is None
    assert "the sums of its parts are too many" in first.reason
    assert second.bound == (1,)  # which forms them one by one


def test_a_weak_claim_says_that_no_number_is_negative():
    accepted(replace(THREE_SHARES, claim="range -20 inf"), 0, 0)
    one_level = replace(
        THREE_SHARES, objective="rejections", steps="G -3: OBJ | lin 3 3 -1 4 -1 5 -1"
    )
    accepted(replace(one_level, costs="-1 x_0 -1 x_1 -1 x_2", claim="range -5 inf"), 0)
    rows = THREE_SHARES.rows.replace("_0_G G", "_0_L L")
    steps = "G -7: OBJ | lin 6 0 -1/3 1 -1/3 2 -1/3 3 -7/3 4 -7/3 5 -7/3"
    costs = "-2 x_0 -2 x_1 -2 x_2 -1/3 y_0_0_0_3_3 -1/3 y_1_0_0_3_3 -1/3 y_2_0_0_3_3"
    goal, claim = "rejections-then-benefit", "range -20 inf"
    by_benefit = replace(
        THREE_SHARES, objective=goal, rows=rows, steps=steps, costs=costs, claim=claim
    )
    accepted(by_benefit, 0, 14)  # 20 less 2 for each request
