"""Files with numbers that are none, and steps that prove themselves: both checkers refuse them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dlopt.problems import bag
from tests.written_certificates import Written


def complete_by(last: int) -> Written:
    """Claim that two tasks of 2 units on one machine do not end by a date: true of 3, not of 4."""
    start = last - 2
    return Written(
        bag.Instance((bag.Task("a", 2), bag.Task("b", 2)), (bag.Machine("m"),)),
        "makespan",
        f"unit: 1\norigin: 0\nmakespan: {last}",
        f"z_0_0_{start} z_1_0_{start}",
        f"""
        assigned_0 G 1: 1 z_0_0_{start}
        assigned_1 G 1: 1 z_1_0_{start}
        capacity_0_0_{last} L {last}: 2 z_0_0_{start} 2 z_1_0_{start}
        """,
        "G 1: | lin 3 0 2 1 2 2 -1",
    )


HONEST, FEASIBLE = complete_by(3), complete_by(4)

NO_NUMBERS = (
    *("1/0", "0/0", "-1e9", "1e999999999", "NaN", "nan", "inf", "-inf", "-\u0661", "\u00b2"),
    *("-1_0", "0x0", "--1", "+-1", "-.5", "", "-1/-1", "-1 /2", "-1\u2028", "\x001", "9" * 5000),
)


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_what_is_no_number_is_refused_in_one_line(number):
    places = (
        FEASIBLE.text.replace("capacity_0_0_4 L 4 2", f"capacity_0_0_4 L {number} 2"),
        FEASIBLE.text.replace("0 2 1 2\n", f"0 2 1 {number}\n", 1),
        FEASIBLE.text.replace("1 2 2 -1 }", f"1 {number} 2 -1 }}"),
        FEASIBLE.text.replace("RTP infeas", f"RTP range {number} inf"),
        *(re.sub(rf"% {name}: .*", f"% {name}: {number}", FEASIBLE.text) for name in UNITS),
    )
    for text in places:
        assert text != FEASIBLE.text
        for verdict in FEASIBLE.verdicts(text):
            assert verdict.bound is None
            assert verdict.reason
            assert "\n" not in verdict.reason


UNITS = ("unit", "origin", "makespan")


@pytest.mark.parametrize(
    "steps",
    [
        "G 1: | lin 1 3 1",
        "G 1: | lin 1 4 1\nG 1: | lin 1 3 1",
        "G 1: | lin 1 -1 1",
        "G 1: | asm",
        "G 1: | asm\nG 1: | lin 1 3 1",
        "G 1: | asm\nL 0: 1 z_0_0_2 | asm\nG 1: 1 z_0_0_2 | asm\nG 1: | uns 3 4 3 5",
        "L -1: | asm\nG 0: | asm\nG 1: | uns 3 3 3 4",
        "L -1: | asm\nG 0: | asm\nG 1: | uns 3 3 4 4",
        "L 0: 1 z_0_0_2 | asm\nG 1: 1 z_0_0_2 | asm\nG 1: | uns 3 3 4 4",
        "L 0: 1 z_0_0_2 | asm\nG 1: | lin 2 3 -1 0 1\nG 1: | uns 4 3 4 3",
        "G 1: | lin 0",
        "G 1: | lin 1 0 0",
        "G 1: | lin 3 0 -2 1 -2 2 1",
        "G 1: | rnd 1 0 1/2",
        "E 1: | lin 3 0 2 1 2 2 -1",
        "G 0: | lin 0\nG 1: | rnd 1 3 1",
        "G 1: | sol",
        "G 1: | lin",
        "G 1: OBJ | lin 3 0 2 1 2 2 -1",
    ],
)
def test_no_step_proves_itself(steps):
    for verdict in replace(FEASIBLE, steps=steps).verdicts():
        assert verdict.bound is None
        assert "\n" not in verdict.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SOL 0", "SOL 1 best 2 0 1 1 9"),
        ("SOL 0", "SOL 1 best OBJ"),
        ("VER 1.0", "% instance: 'another'\n% hash: 0\nVER 1.0"),
        ("VER 1.0", f"% {'x' * 10**6}\nVER 1.0"),
        ("VER 1.0", "% remark: \u2028DER 0\nVER 1.0"),
    ],
)
def test_points_and_remarks_prove_nothing(old, new):
    """They neither help a forged certificate nor harm an honest one."""
    for written, bound in ((HONEST, (4,)), (FEASIBLE, None)):
        assert [one.bound for one in written.verdicts(written.text.replace(old, new))] == [
            bound
        ] * 2
