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


SEVERAL = Written(
    iit.Instance(Cluster(1, tau=1, chi=1), (0,), load=3),
    "completion",
    "origin: 0\ngroups: 0\nchunks: 2",
    "t z_0_0 z_0_1 x_0_0 x_0_1 y_0 y_1",
    """
    load G 3: 1 x_0_0 1 x_0_1
    busy_0_0 G 0: 1 t -2 x_0_0 -2 x_0_1
    """,
    "G 6: 1 t | lin 2 0 2 1 1",
    "range 6 inf",
    "1 t",
    "txy",
    "k",
    2,
)
"""Two chunks on one node take it as long as one."""

TWO_NODES = Written(
    iit.Instance(Cluster(2, tau=1, chi=1), (0, 1), load=3, absolute_deadline=9),
    "nodes",
    "origin: 0\ngroups: 0 1\nchunks: 2",
    "t z_0_0 z_1_0 z_0_1 z_1_1 z_0_2 z_1_2 z_0_3 z_1_3 u_0 u_1 y_0 y_1 y_2 y_3",
    """
    first G 1: 1 z_0_0 1 z_1_0
    used_0_0 G 0: 1 u_0 -1 z_0_0
    used_1_0 G 0: 1 u_1 -1 z_1_0
    equal_0_1_0 L 0: 1 z_1_0
    """,
    "G 1: 1 u_0 1 u_1 | lin 3 0 1 1 1 2 1",
    "range 1 inf",
    "1 u_0 1 u_1",
    "ty",
    "k",
    2,
)
"""Some node has a chunk, and it is the first one."""


def stating(written: Written, rows: str, steps: str, claim: int) -> Written:
    """State other rows, from which another claim follows."""
    return replace(written, rows=rows, steps=steps, claim=f"range {claim} inf")


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


NEXT = "next_0_0_1 L {0}: 1 y_1 -1 y_0 2 x_0_0 {0} z_0_1"
"""The load of the first chunk is at most 3, and takes as long to compute."""
THIRD_NODE = of(CHUNKS, cluster=Cluster(3, tau=1, chi=1), ready_times=(0, 0, 0))
TWO_KINDS = of(CHUNKS, cluster=Cluster(2, tau=(1, 1), chi=(1, 0)))
LATE_NODE = of(FLOWS, cluster=Cluster(2, tau=1, chi=1), ready_times=(0, 1))


def test_single_loads_take_their_time():
    accepted(CHUNKS, 4)
    accepted(replace(FLOWS, plan_class="single"), 2)
    accepted(FLOWS, 2)
    accepted(SEVERAL, 6)
    accepted(replace(SEVERAL, plan_class="single", installments=None), 6)
    accepted(TWO_NODES, 1)
    accepted(stating(SEVERAL, SEVERAL.rows + NEXT.format(3), SEVERAL.steps, 6), 6)


@pytest.mark.parametrize(
    ("forged", "first", "second"),
    [
        (times(CHUNKS, 2), "costs are not those", "the objective counts too much"),
        (times(FLOWS, 2), "costs are not those", "the objective counts too much"),
        (larger(CHUNKS, "G 3:", "G 6:", 8), "load: it is no", "row load does not hold"),
        (larger(FLOWS, "load G 1:", "load G 2:", 4), "load: it is no", "row load does not hold"),
        (replace(CHUNKS, plan_class="any"), "all plans of the class any", "so many chunks"),
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
        (
            replace(SEVERAL, installments=3),
            "all plans of the class k",
            "so many chunks",
        ),
        (replace(SEVERAL, plan_class="any"), "all plans of the class any", "so many chunks"),
        (
            replace(SEVERAL, remarks="origin: 0\ngroups: 0\nchunks: 1e9"),
            "all plans of the class k",
            "something that is no number",
        ),
        (
            of(SEVERAL, cluster=Cluster(2, tau=1, chi=1), ready_times=(0, 0)),
            "do not state the group",
            "no remark with the group",
        ),
        (
            replace(
                of(SEVERAL, cluster=Cluster(2, tau=1, chi=1), ready_times=(0, 0)),
                remarks="origin: 0\ngroups: 0 0\nchunks: 2",
            ),
            "busy_0_0: it is no constraint",
            "row busy_0_0 does not hold",
        ),
        (
            stating(SEVERAL, SEVERAL.rows.replace("-2", "-3"), "G 9: 1 t | lin 2 0 3 1 1", 9),
            "busy_0_0: it is no constraint",
            "row busy_0_0 does not hold",
        ),
        (
            stating(
                of(SEVERAL, ready_times=(1,)),
                SEVERAL.rows.replace("1 t", "1 t -2 z_0_0") + "first G 1: 1 z_0_0",
                "G 8: 1 t | lin 3 0 2 1 1 2 2",
                8,
            ),
            "busy_0_0: it is no constraint",
            "row busy_0_0 does not hold",
        ),
        (
            stating(SEVERAL, SEVERAL.rows + NEXT.format(2), SEVERAL.steps, 6),
            "next_0_0_1: it is no constraint",
            "row next_0_0_1 does not hold",
        ),
        (
            larger(TWO_NODES, "first G 1:", "first G 2:", 2),
            "first: it is no constraint",
            "row first does not hold",
        ),
        (
            replace(
                TWO_NODES,
                rows=TWO_NODES.rows.replace("equal_0_1_0 L 0: 1 z_1_0", "equal_1_0_0 L 0: 1 z_0_0"),
            ),
            "equal_1_0_0: it is no constraint",
            "row equal_1_0_0 does not hold",
        ),
        (
            of(TWO_NODES, cluster=Cluster(2, tau=(1, 2), chi=1)),
            "equal_0_1_0: it is no constraint",
            "row equal_0_1_0 does not hold",
        ),
        (
            of(TWO_NODES, ready_times=(2, 1)),
            "equal_0_1_0: it is no constraint",
            "row equal_0_1_0 does not hold",
        ),
        (
            replace(TWO_NODES, costs="1 z_0_0 1 z_1_0", steps="G 1: OBJ | lin 1 0 1"),
            "costs are not those",
            "the objective counts too much",
        ),
        (
            replace(TWO_NODES, remarks="origin: 0\ngroups: 0 1\nchunks: 3"),
            "leaves out chunks",
            "a chunk stands for later ones on other nodes",
        ),
        (
            replace(TWO_NODES, remarks="origin: 0\ngroups: 0 0\nchunks: 2"),
            "used_1_0: it is no constraint",
            "row used_1_0 does not hold",
        ),
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
