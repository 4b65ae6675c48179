"""Certificates of single loads that claim more than is true: both checkers refuse each of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from tests.written_certificates import Written, accepted, refused

CHUNKS = Written(
    iit.Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3),
    "completion",
    "origin: 0\ngroups: 0 0",
    "t x_0_0 x_0_1 y_0 y_1",
    """
    load G 3: 1 x_0_0 1 x_0_1
    time_0 G 0: 1 y_0 -2 x_0_0
    time_1 G 0: 1 y_1 -2 x_0_1
    channel_0 G 0: 1 y_0 -1 y_1 -1 x_0_0
    ready_0 G 0: 1 t -1 y_0
    """,
    "G 4: 1 t | lin 5 0 4/3 1 1/3 2 2/3 3 2/3 4 1",
    "range 4 inf",
    "1 t",
    "txy",
    "single",
)
"""Loads of 2 and of 1 are complete at 4."""

FLOWS = Written(
    iit.Instance(Cluster(1, tau=1, chi=1), (0,), load=1),
    "completion",
    "origin: 0\ngroups: 0\ninstants: 0",
    "t a_0_0 b_0_0",
    """
    load G 1: 1 b_0_0
    received_0_0 G 0: 1 a_0_0 -1 b_0_0
    nodes_0_0_t G 0: 1 t -1 a_0_0 -1 b_0_0
    """,
    "G 2: 1 t | lin 3 0 2 1 1 2 1",
    "range 2 inf",
    "1 t",
    "tab",
)
"""A unit of load takes one unit of time to receive, and one to compute."""


def times(written: Written, factor: int, **changes: str) -> Written:
    """Claim a multiple, with the same multiple of the last step."""
    kind, count, *pairs = written.steps.partition(" | ")[2].split()
    more = " ".join(
        f"{row} {Fraction(value) * factor}"
        for row, value in zip(pairs[::2], pairs[1::2], strict=True)
    )
    claim = Fraction(written.claim.split()[1]) * factor
    head = f"G {claim}: {factor} t"
    steps = f"{head} | {kind} {count} {more}"
    return replace(written, steps=steps, claim=f"range {claim} inf", costs=f"{factor} t", **changes)


def larger(written: Written, old: str, new: str, claim: Fraction | int) -> Written:
    """Change a row, and claim what follows from it."""
    assert old in written.rows
    before = written.claim.split()[1]
    return replace(
        written,
        rows=written.rows.replace(old, new),
        steps=written.steps.replace(f"G {before}:", f"G {claim}:"),
        claim=f"range {claim} inf",
    )


def of(written: Written, **changes: Any) -> Written:
    """The same certificate of another instance."""
    return replace(written, instance=replace(written.instance, **changes))


THIRD_NODE = of(CHUNKS, cluster=Cluster(3, tau=1, chi=1), ready_times=(0, 0, 0))
TWO_KINDS = of(CHUNKS, cluster=Cluster(2, tau=(1, 1), chi=(1, 0)))
LATE_NODE = of(FLOWS, cluster=Cluster(2, tau=1, chi=1), ready_times=(0, 1))


def test_single_loads_take_their_time():
    accepted(CHUNKS, 4)
    accepted(replace(FLOWS, plan_class="single"), 2)
    accepted(FLOWS, 2)


@pytest.mark.parametrize(
    ("forged", "first", "second"),
    [
        (times(CHUNKS, 2), "costs are not those", "the objective counts too much"),
        (times(FLOWS, 2), "costs are not those", "the objective counts too much"),
        (larger(CHUNKS, "G 3:", "G 6:", 8), "load: it is no", "row load does not hold"),
        (larger(FLOWS, "load G 1:", "load G 2:", 4), "load: it is no", "row load does not hold"),
        (replace(CHUNKS, plan_class="any"), "all plans of the class any", "one chunk a node"),
        (replace(CHUNKS, remarks="origin: 1\ngroups: 0 0"), "do not state an origin", "origin"),
        (
            replace(CHUNKS, remarks="origin: 0\ngroups: 0 1"),
            "load: it is no",
            "row load does not hold",
        ),
        (replace(CHUNKS, remarks="origin: 0\ngroups: 0 2"), "do not state the group", "from 0"),
        (replace(CHUNKS, real="ty"), "integral that need not be", "need not be integers"),
        (replace(FLOWS, real="ta"), "columns are not those of flows", "or an integer"),
        (replace(THIRD_NODE, remarks="origin: 0\ngroups: 0 0 0"), "time_1: it", "row time_1 does"),
        (TWO_KINDS, "time_0: it is no constraint", "row time_0 does not hold"),
        (of(CHUNKS, load=2), "load: it is no constraint", "row load does not hold"),
        (
            replace(FLOWS, remarks="origin: 0\ngroups: 0\ninstants: 2"),
            "not in ascending order",
            "not in ascending order",
        ),
        (
            replace(FLOWS, remarks="origin: 0\ngroups: 0\ninstants: 1"),
            "ready before the first instant",
            "ready before the first instant",
        ),
        (
            replace(FLOWS, remarks="origin: 0\ngroups: 0\ninstants: 0 1"),
            "load: it is no constraint",
            "row load does not hold",
        ),
        (
            replace(LATE_NODE, remarks="origin: 0\ngroups: 0 0\ninstants: 0"),
            "nodes_0_0_t: it is no",
            "row nodes_0_0_t does not hold",
        ),
        (
            replace(FLOWS, objective="nodes"),
            "without a deadline there is always a plan",
            "there is no deadline",
        ),
        (
            replace(FLOWS, claim="infeas", costs=""),
            "the last step is not what is claimed",
            "the last step is not the claim",
        ),
        *(
            (
                replace(FLOWS, remarks=f"origin: 0\ngroups: 0\ninstants: {number}"),
                "do not state the instants",
                "something that is no number",
            )
            for number in ("1e999999999", "-1_0", "\u0660", "0/0")
        ),
    ],
)
def test_forged_programs_of_single_loads_are_refused(forged, first, second):
    refused(forged, first, second)
