"""What an instance is, in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dlopt
from dlopt.presentation.instance_summary import summary_text
from dlopt.problems.coreservation import Instance, Machine, Part, Request
from dlopt.problems.validated_record import Units

REQUEST = Request("a", 0, 2, 5, 1, (Part(1),))
TWO = Instance((Machine("m", 8), Machine("n", 8)), (REQUEST,), units=Units("s", cpu="processors"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("iit/three-nodes", "iit, 3 nodes"),
        ("bag/releases", "bag, 6 tasks, 3 machines"),
        ("admission/as-it-stands", "admission, 4 tasks, 2 nodes, arrivals from 0 to 6"),
    ],
)
def test_size_and_times(name: str, text: str) -> None:
    assert summary_text(dlopt.load(name)) == text


def test_the_capacity_that_all_machines_have_is_part_of_it() -> None:
    text = "coreservation, 1 request, 2 machines{}, windows from 2 to 5 s"
    assert summary_text(TWO) == text.format(" of 8 processors")
    other = replace(TWO, machines=(Machine("m", 8), Machine("n", 9)))
    assert summary_text(other) == text.format("")
    steps = ((0, 8), (1, 4))
    changing = replace(TWO, machines=(Machine("m", steps), Machine("n", steps)))
    assert summary_text(changing) == text.format("")


def test_units_may_be_absent() -> None:
    text = summary_text(replace(TWO, units=Units()))
    assert text == "coreservation, 1 request, 2 machines of 8, windows from 2 to 5"
