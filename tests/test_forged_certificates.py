"""Certificates written by hand that claim more than is true: both checkers refuse each of them.

Each forged one stands next to an honest one, which differs in little and which both accept.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.formats import vipr
from dlopt.problems import admission, bag, coreservation, dag, multistage
from dlopt.problems.cluster import Cluster
from tests.reference.vipr import RefusedError, follow, read
from tests.written_certificates import Written, accepted, refused, two_cases

# -- rows whose sides are too small by 1 ----------------------------------------------------------


def two_tasks(length: int, **more: Any) -> bag.Instance:
    tasks = tuple(bag.Task(name, length) for name in "ab")
    return bag.Instance(tasks, (bag.Machine("m", **more),))


def two_graphs(*lengths: int) -> dag.Instance:
    graph = dag.Graph("g", tuple(dag.Task(f"t{k}", work=w) for k, w in enumerate(lengths)))
    return dag.Instance((dag.Machine("m"),), (graph,))


IN_A_MACHINE = Written(
    two_tasks(2),
    "makespan",
    "unit: 1\norigin: 0\nmakespan: 3",
    "z_0_0_1 z_1_0_1",
    """
    assigned_0 G 1: 1 z_0_0_1
    assigned_1 G 1: 1 z_1_0_1
    capacity_0_0_3 L 3: 2 z_0_0_1 2 z_1_0_1
    """,
    "G 1: | lin 3 0 2 1 2 2 -1",
)
"""Two tasks of 2 units on one machine do not end by 3."""


def within(written: Written, last: int, side: int, start: int = 0) -> Written:
    """The same of another makespan, and another side of the capacity."""
    names = f"z_0_0_{last - 2} z_1_0_{last - 2}"
    rows = written.rows.replace("0_0_1", f"0_0_{last - 2}").replace("1_0_1", f"1_0_{last - 2}")
    rows = rows.replace("capacity_0_0_3 L 3", f"capacity_0_{start}_{last} L {side}")
    remarks = written.remarks.replace("makespan: 3", f"makespan: {last}")
    return replace(written, names=names, rows=rows, remarks=remarks)


def test_machines_do_as_much_as_the_time_they_have():
    accepted(IN_A_MACHINE, 4)
    refused(within(IN_A_MACHINE, 4, 3), "the machines may do more", "capacity_0_0_4 does not hold")
    late = replace(IN_A_MACHINE, instance=two_tasks(2, ready=1))
    _, second = within(late, 4, 3).verdicts()
    assert second.bound == (5,)  # the machine has no time before it is ready
    refused(within(late, 5, 3), "the machines may do more", "capacity_0_0_5 does not hold")


def test_groups_of_machines_do_as_much_as_the_time_they_have():
    graph = replace(
        IN_A_MACHINE,
        instance=two_graphs(2, 2),
        remarks=f"{IN_A_MACHINE.remarks}\nmachine groups: 0",
    )
    accepted(graph, 4)
    refused(within(graph, 4, 3), "the machines may do more", "capacity_0_0_4 does not hold")


TWO_LOADS = Written(
    admission.Instance(
        Cluster(1, tau=1, chi=1), (admission.Task("a", 0, 1, 4), admission.Task("b", 0, 1, 4))
    ),
    "accepted",
    """
    value of finished tasks: 0
    time: 0 is 0, 1 is 1/128
    load: 1 is 1/512
    instants: 0 512
    node groups: 0
    """,
    "z_0 z_1 c_0_0_0 w_0_0_0 c_1_0_0 w_1_0_0",
    """
    row0_L L 0: 1 c_0_0_0 -1 w_0_0_0
    row1_G G 0: 1 c_0_0_0 -1 z_0
    row2_L L 0: 1 c_1_0_0 -1 w_1_0_0
    row3_G G 0: 1 c_1_0_0 -1 z_1
    row5_L L 512: 128 c_0_0_0 128 w_0_0_0 128 c_1_0_0 128 w_1_0_0
    """,
    """
    L 2: 1 z_0 1 z_1 | rnd 5 0 1/2 1 -1 2 1/2 3 -1 4 1/256
    G -2: OBJ | lin 1 5 -1
    """,
    "range -2 inf",
    "-1 z_0 -1 z_1",
    "cw",
)
"""Two loads, of 2 units of time each, on a node that has 4."""


def claiming(written: Written, claim: int) -> Written:
    """Another number of tasks that are accepted at most."""
    steps = written.steps.replace("L 2:", f"L {claim}:").replace("G -2:", f"G {-claim}:")
    return replace(written, steps=steps, claim=f"range {-claim} inf")


def test_nodes_do_as_much_as_the_time_they_are_free():
    accepted(TWO_LOADS, 2)
    less = replace(claiming(TWO_LOADS, 1), rows=TWO_LOADS.rows.replace("L 512", "L 511"))
    refused(less, "row5_L is not a constraint", "row5_L does not hold")


def test_two_cases_leave_nothing_between_them():
    """If x is at least 1/2, it is not at least 2: x <= 0 and x >= 2 leave 1."""
    follow(read(two_cases()))
    assert vipr.parse(two_cases()).flaw() is None
    gap = two_cases(high="2")
    with pytest.raises(RefusedError, match="has not the cases"):
        follow(read(gap))
    assert "do not cover everything" in str(vipr.parse(gap).flaw())


# -- one thing under two names ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["z_0_0_00", "z_0_0_\u0661", "z_0_0_\u00b2", "z__0", "Z_0", "z_" + "9" * 20]
)
def test_nothing_has_two_names(name):
    with pytest.raises(RefusedError, match="no name of a variable"):
        read(two_cases().replace("VAR 1 x", f"VAR 1 {name}"))


def dated(*tasks: tuple[int, int | None]) -> bag.Instance:
    made = (bag.Task(f"t{k}", w, absolute_deadline=due) for k, (w, due) in enumerate(tasks))
    return bag.Instance(tuple(made), (bag.Machine("m"),))


ALIASED = Written(
    dated((2, 2)),
    "accepted",
    "unit: 1\norigin: 0",
    "z_0_0_0 z_0_0_00",
    """
    assigned_0 L 0: 5 z_0_0_0 -1 z_0_0_00
    z_0_0_00_L L 1: 1 z_0_0_00
    """,
    """
    L 1: 5 z_0_0_0 | lin 2 0 1 1 1
    L 0: 1 z_0_0_0 | rnd 1 2 1/5
    G 0: OBJ | lin 1 3 -1
    """,
    "range 0 inf",
    "-1 z_0_0_0",
)
"""5 z <= z' <= 1, where both are one variable: no task is on time."""

BEFORE_THE_ORIGIN = Written(
    bag.Instance((bag.Task("a", 1), bag.Task("b", 1, release=15)), (bag.Machine("m"),)),
    "flowtime",
    "unit: 1\norigin: 10\ntotal: 6",
    "z_1_0_13",
    """
    total L 5: 6 z_1_0_13
    assigned_1 G 1: 1 z_1_0_13
    """,
    "G 1: | lin 2 0 -1 1 6",
)
"""The second task ends at 6 after the origin, but the first one at -9."""

LAST_PLACE = Written(
    bag.Instance(tuple(bag.Task(name, 1) for name in "abc"), (bag.Machine("m"),)),
    "flowtime",
    "unit: 1\norigin: 0",
    "y_0_0_0 y_1_0_0 y_2_0_0",
    """
    task_0 G 1: 1 y_0_0_0
    task_1 G 1: 1 y_1_0_0
    task_2 G 1: 1 y_2_0_0
    place_0_0 L 1: 1 y_0_0_0 1 y_1_0_0 1 y_2_0_0
    """,
    "G 999: OBJ | lin 4 0 1 1 1 2 1 3 -1",
    "range 999 inf",
    "1 y_0_0_0 1 y_1_0_0 1 y_2_0_0",
)
"""The last position of a machine stands for all later ones: it is not of one task."""

LEFT_OUT = Written(
    dated((2, 2), (2, 2)),
    "makespan",
    IN_A_MACHINE.remarks,
    IN_A_MACHINE.names,
    IN_A_MACHINE.rows,
    IN_A_MACHINE.steps,
)
"""A task with a deadline need not be run."""

TINY = Written(
    two_graphs(1),
    "tardy-graphs",
    f"unit: 1/{10**60}\norigin: -1\nmachine groups: 0\ntardy: 99",
    "z_0_0_0",
    "tardy G 1:",
    "G 1: | lin 1 0 1",
)
"""No instant that has a name is so late."""

NODES_TWICE = Written(
    multistage.Instance(
        Cluster(1, tau=1, chi=1), (), (multistage.Reservation("r", 0, 0, 4, nodes=(0,)),)
    ),
    "accepted",
    TWO_LOADS.remarks.replace("1/512", "1"),
    "q_0 h_0_0",
    """
    row0_L L 512: 512 q_0 512 h_0_0
    row1_L L 0: 1 q_0 -1 h_0_0
    """,
    """
    L 0: 1 q_0 | rnd 2 0 1/1024 1 1/2
    G 0: OBJ | lin 1 2 -1
    """,
    "range 0 inf",
    "-1 q_0",
    "h",
)
"""The node that a reservation names counts as one that it gets, too."""

OUTSIDE_THE_SPAN = Written(
    admission.Instance(Cluster(1, tau=1, chi=1), (admission.Task("a", 0, 1, 8),), now=1),
    "accepted",
    """
    value of finished tasks: 0
    time: 1 is 1
    load: 1 is 1
    instants: 1 3/2
    node groups: 0
    """,
    "c_0_0_0",
    """
    row0_G G 1: 1 c_0_0_0
    row1_L L 1/2: 1 c_0_0_0
    """,
    "G 1: | lin 2 0 2 1 -2",
    real="c",
)
"""What the only interval has no room for is received later."""

NEARLY_THE_SPAN = Written(
    admission.Instance(Cluster(1, tau=1, chi=1), (admission.Task("a", 0, 1, 2),)),
    "accepted",
    OUTSIDE_THE_SPAN.remarks.replace("1 3/2", f"0 {2 - Fraction(1, 10**12)}"),
    "z_0 c_0_0_0 w_0_0_0",
    f"""
    row0_G G 0: 1 c_0_0_0 -1 z_0
    row1_G G 0: 1 w_0_0_0 -1 z_0
    row2_L L {2 - Fraction(1, 10**12)}: 1 c_0_0_0 1 w_0_0_0
    """,
    """
    L 0: 1 z_0 | rnd 3 0 -1/2 1 -1/2 2 1/2
    G 0: OBJ | lin 1 3 -1
    """,
    "range 0 inf",
    "-1 z_0",
    "cw",
)
"""All of the time is needed, and exact numbers have no tolerance."""


@pytest.mark.parametrize(
    ("forged", "first", "second"),
    [
        (ALIASED, "its columns are not those", "no name of a variable"),
        (BEFORE_THE_ORIGIN, "a task can start before the origin", "before the origin"),
        (LAST_PLACE, "place_0_0: it is no constraint", "does not hold for every assignment"),
        (LEFT_OUT, "tasks with deadlines may be left out", "may be left out"),
        (NODES_TWICE, "its columns are not those", "row0_L does not hold"),
        (OUTSIDE_THE_SPAN, "is not that of the instance", "the instants end before"),
        (NEARLY_THE_SPAN, "is not that of the instance", "the instants end before"),
        (TINY, "tardy: more graphs may be tardy", "the unit is too small"),
    ],
)
def test_forged_programs_are_refused(forged, first, second):
    refused(forged, first, second)


MACHINE_COSTS = Written(
    coreservation.Instance(
        (coreservation.Machine("m", 2),),
        (
            coreservation.Request(
                "r", 0, 0, 1, 1, (coreservation.Part(2, 1, coreservation.linear()),)
            ),
        ),
    ),
    "rejections-then-benefit",
    "unit: 1\ngroups: 0",
    "x_0 y_0_0_0_1_2 r_0_0_0_1_2 m_0",
    """
    accepted_0_0_L L 0: 1 y_0_0_0_1_2 -1 x_0
    piece_0_0_0_1_2_L L 0: 1 r_0_0_0_1_2 -1 y_0_0_0_1_2
    capacity_0_0_L L 0: 1 y_0_0_0_1_2 1 r_0_0_0_1_2 -2 m_0
    x_0_L L 1: 1 x_0
    """,
    "G -5/2: OBJ | lin 4 0 -1/2 1 -1/4 2 -1/4 3 -5/2",
    "range -5/2 inf",
    "-2 x_0 -1/2 y_0_0_0_1_2 -1/2 r_0_0_0_1_2 1/2 m_0",
    "r",
)
"""With all of the machine the benefit is 1, of which the price of the machine takes a half."""


def test_the_price_of_machines_is_no_benefit():
    first, second = MACHINE_COSTS.verdicts()
    assert first.reason == "program: a machine counts for more than 1"
    assert second.bound == (0, 1)


# -- the tolerance of floats -----------------------------------------------------------------------


NO_ROOM = Written(
    coreservation.Instance(
        (coreservation.Machine("m", 1.0),),
        (coreservation.Request("r", 0, 0, 1, 1, (coreservation.Part(1 + 1e-10),)),),
    ),
    "rejections",
    f"unit: 1/{10**10}\ngroups: 0",
    "x_0",
    "x_0_L L 0: 1 x_0",
    "G 0: OBJ | lin 1 0 -1",
    "range 0 inf",
    "-1 x_0",
)
"""The part takes more than is free, by less than a plan in floats may."""

A_LITTLE_LATE = Written(
    dated((2.0 + 1e-10, 2)),
    "accepted",
    f"unit: 1/{10**10}\norigin: 0",
    "z_0_0_0",
    "release_0 L 0: 1 z_0_0_0",
    "G 0: OBJ | lin 1 0 -1",
    "range 0 inf",
    "-1 z_0_0_0",
)
"""The task ends after its deadline, by less than a plan in floats may."""


@pytest.mark.parametrize(
    ("forged", "first", "second"),
    [
        (NO_ROOM, "may have more benefit", "a share of part 0 of request 0 has no column"),
        (A_LITTLE_LATE, "the task may have started", "release_0 does not hold"),
    ],
)
def test_what_the_check_of_plans_tolerates_is_not_excluded(forged, first, second):
    refused(forged, first, second)


@pytest.mark.parametrize(
    "remark", ["total: 5", "total: x", "tardy: 9", "makespan:3", "rejections: 1"]
)
def test_remarks_that_a_program_does_not_need_say_nothing(remark):
    accepted(replace(IN_A_MACHINE, remarks=f"{remark}\n{IN_A_MACHINE.remarks}"), 4)
    accepted(replace(TWO_LOADS, remarks=f"{remark}\n{TWO_LOADS.remarks}"), 2)


@pytest.mark.parametrize("remark", ["makespan: 4/3", "makespan: 1e1", "makespan:", "unit: 1/0"])
def test_the_last_remark_of_a_name_counts(remark):
    refused(replace(IN_A_MACHINE, remarks=f"{IN_A_MACHINE.remarks}\n{remark}"), "remarks", "")
