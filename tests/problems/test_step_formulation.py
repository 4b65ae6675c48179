"""A row that the step formulation accepts holds in every schedule; and what rows it refuses."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.problems.step_formulation import StepProgram, TaskTimes
from tests.examples import share

LAST = 3
"""Schedules end by this instant."""


@st.composite
def small_times(draw):
    """Return two or three tasks on one or two groups, a precedence, and whether all run."""
    tasks, sizes = (
        draw(st.integers(2, 3)),
        draw(st.lists(st.integers(1, 2), min_size=1, max_size=2)),
    )
    groups = range(len(sizes))
    costs = [
        tuple(draw(st.sampled_from([0, 1, 2, 2, 3, None])) for _ in groups) for _ in range(tasks)
    ]
    releases = [tuple(draw(st.sampled_from([0, 0, 1])) for _ in groups) for _ in range(tasks)]
    latest = [tuple(None if c is None else LAST - c for c in row) for row in costs]
    moves = [[draw(st.integers(0, 1)) for _ in groups] for _ in groups]
    arc = draw(st.booleans())
    return TaskTimes(
        tuple(costs),
        tuple(releases),
        tuple(latest),
        tuple(sizes),
        all_run=draw(st.booleans()),
        transfers=lambda i, j: moves if arc and (i, j) == (0, 1) else None,
    )


def schedules(times):
    """Yield every schedule as a list of (group, start), None for a task that does not run."""
    options = []
    for task in range(len(times.costs)):
        of_task = [] if times.all_run else [None]
        for group in range(len(times.sizes)):
            window = times.window(task, group)
            if window is not None:
                of_task += [(group, start) for start in range(window[1], window[2] + 1)]
        options.append(of_task)
    return [plan for plan in product(*options) if _is_feasible(times, plan)]


def _is_feasible(times, plan):
    for group, size in enumerate(times.sizes):
        for instant in range(LAST):
            running = sum(
                place is not None
                and place[0] == group
                and place[1] <= instant < place[1] + times.costs[task][group]
                for task, place in enumerate(plan)
            )
            if running > size:
                return False
    transfers = times.transfers(0, 1)
    if transfers is not None and plan[1] is not None:
        if plan[0] is None:
            return False
        (g, start), (h, begun) = plan[:2]
        return begun >= start + times.costs[0][g] + transfers[g][h]
    return True


@st.composite
def rows(draw, times):
    """Return a named row over random columns, near to those of a family."""
    family = draw(
        st.sampled_from(["assigned", "release", "monotone", "precedence", "capacity", "conflict"])
    )
    tasks, groups = range(len(times.costs)), range(len(times.sizes))
    instants = st.integers(0, LAST)
    if family == "capacity":
        group, start, end = draw(st.sampled_from(groups)), draw(instants), draw(instants)
        keys = draw(
            st.lists(st.tuples(st.sampled_from(tasks), st.just(group), instants), max_size=4)
        )
        terms = {key: Fraction(draw(st.integers(-3, 3))) for key in keys}
        side = times.sizes[group] * (end - start)
        return (
            f"capacity_{group}_{start}_{end}",
            terms,
            -1,
            side + draw(st.sampled_from([0, 0, -1])),
        )
    if family == "conflict":
        group = draw(st.sampled_from(groups))
        terms = {(task, group, draw(instants)): 1 for task in (0, 1)}
        for task in (0, 1):
            if draw(st.booleans()):
                terms.setdefault((task, group, draw(instants)), -1)
        return "conflict_0", terms, -1, draw(st.sampled_from([1, 1, 1, 0]))
    if family == "precedence":
        terms = {(1, h, draw(instants)): 1 for h in groups if draw(st.booleans())}
        terms |= {(0, g, draw(instants)): -1 for g in groups if draw(st.booleans())}
        return "precedence_0_1", terms, -1, draw(st.sampled_from([0, 0, 0, 1, -1]))
    task, group = draw(st.sampled_from(tasks)), draw(st.sampled_from(groups))
    if family == "assigned":
        terms = {(task, g, draw(instants)): 1 for g in groups if draw(st.booleans())}
        sign = draw(st.sampled_from([1, -1]))
        return f"assigned_{task}", terms, sign, draw(st.sampled_from([1, 1, 0, 2]))
    one, other = draw(instants), draw(instants)
    terms = {(task, group, one): 1}
    if family == "monotone":
        terms = {(task, group, one): 1, (task, group, other): draw(st.sampled_from([-1, -1, -2]))}
    return family, terms, -1, draw(st.sampled_from([0, 0, -1]))


def stated(times, name, terms, sign, side):
    """Return the program of one row."""
    columns = list(terms)
    names = tuple(f"z_{j}_{g}_{t}" for j, g, t in columns)
    known = {k: Fraction(terms[key]) for k, key in enumerate(columns) if terms[key]}
    row = Constraint(known, sign, Fraction(side))
    return StepProgram(times, Certificate(names, frozenset(), {}, ((name, row),), None, ()))


def value(plan, terms):
    """Return the left side of a row in a schedule."""
    return sum(
        a
        for (task, group, instant), a in terms.items()
        if plan[task] is not None and plan[task][0] == group and plan[task][1] <= instant
    )


@pytest.mark.property
@share(2 / 3)
@given(st.data())
def test_rows_that_are_accepted_hold_in_every_schedule(data):
    times = data.draw(small_times())
    every = schedules(times)
    for _ in range(8):
        name, terms, sign, side = data.draw(rows(times))
        if stated(times, name, terms, sign, side).flaw() is None:
            assert all(sign * value(plan, terms) >= sign * side for plan in every), name


@st.composite
def symmetric_times(draw):
    """Return three tasks on two or three groups that may all be exchanged, and their order."""
    groups = draw(st.integers(2, 3))
    costs = [draw(st.sampled_from([1, 2, None])) for _ in range(3)]
    near, far = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    moves = [[near if g == h else far for h in range(groups)] for g in range(groups)]
    return TaskTimes(
        tuple((cost,) * groups for cost in costs),
        ((0,) * groups,) * 3,
        tuple((None if cost is None else LAST - cost,) * groups for cost in costs),
        (1,) * groups,
        all_run=False,
        transfers=lambda i, j: moves if (i, j) == (0, 1) else None,
        exchangeable=lambda g, h: True,
        order=tuple(draw(st.permutations(range(3)))),
    )


@st.composite
def symmetry_rows(draw, groups):
    """Return a row: a task on a group, and some on the group before."""
    instants, group = st.integers(0, LAST), draw(st.integers(0, groups - 1))
    terms = {(draw(st.integers(0, 2)), group, draw(instants)): 1}
    for task in range(3):
        if draw(st.booleans()):
            place = draw(st.sampled_from([max(group - 1, 0)] * 9 + [group]))
            terms.setdefault((task, place, draw(st.sampled_from([1, 2, 2, 3]))), -1)
    return "symmetry_0", terms, -1, draw(st.sampled_from([0, 0, 0, -1, 1]))


@pytest.mark.property
@share(1 / 2)
@given(st.data())
def test_every_schedule_satisfies_the_rows_of_symmetry_with_some_exchange_of_machines(data):
    times = data.draw(symmetric_times())
    groups = len(times.sizes)
    made = [data.draw(symmetry_rows(groups)) for _ in range(8)]
    accepted = [row for row in made if stated(times, *row).flaw() is None]
    for plan in schedules(times):
        assert any(
            all(value(other, terms) <= side for _, terms, _, side in accepted)
            for swap in permutations(range(groups))
            for other in [[None if at is None else (swap[at[0]], at[1]) for at in plan]]
        ), accepted


TWINS = TaskTimes(
    ((2, 2, 2), (1, 1, 1), (1, None, 1)),
    ((0, 0, 0),) * 3,
    ((1, 1, 1), (2, 2, 2), (2, None, 2)),
    (1, 1, 1),
    all_run=True,
    exchangeable=lambda g, h: (g, h) == (0, 1),
    order=(0, 1, 2),
)


@pytest.mark.parametrize(
    ("terms", "side", "flaw"),
    [
        ({(0, 1, 1): 1}, 0, None),
        ({(1, 1, 2): 1, (0, 0, 1): -1}, 0, None),
        ({(2, 1, 2): 1, (0, 0, 1): -1, (1, 0, 2): -1}, 1, None),
        ({(1, 1, 2): 1, (0, 0, 0): -1}, 0, "may start later"),
        ({(2, 1, 2): 1, (1, 0, 2): -1}, 0, "may start later"),
        ({(1, 1, 2): 1, (0, 0, 1): -1}, -1, "needed for one task"),
        ({(1, 1, 2): 2, (0, 0, 1): -1}, 0, "needed for one task"),
        ({(0, 1, 1): 1, (1, 1, 1): 1}, 0, "needed for one task"),
        ({(0, 0, 1): 1}, 0, "may not be exchanged"),
        ({(0, 2, 1): 1}, 0, "may not be exchanged"),
        ({(1, 1, 2): 1, (0, 2, 1): -1}, 0, "not about the group before"),
        ({(1, 1, 2): 1, (0, 0, 1): -2}, 0, "not about the group before"),
        ({(1, 1, 2): 1, (0, 0, 1): -1, (0, 0, 0): -1}, 0, "not about the group before"),
    ],
)
def test_rows_of_groups_that_may_be_exchanged(terms, side, flaw):
    found = stated(TWINS, "symmetry_0", terms, -1, side).flaw()
    assert found is None if flaw is None else flaw in (found or "")
    unordered = stated(replace(TWINS, order=()), "symmetry_0", terms, -1, side).flaw()
    assert "needed for one task" in (unordered or "")


ONE_EACH = TaskTimes(
    ((2, None), (2, 3)),
    ((0, 0), (1, 0)),
    ((2, None), (2, 1)),
    (1, 2),
    all_run=True,
    transfers=lambda i, j: [[0, 1], [1, 0]] if (i, j) == (0, 1) else None,
)


@pytest.mark.parametrize(
    ("name", "terms", "sign", "side", "flaw"),
    [
        ("assigned_0_G", {(0, 0, 2): 1}, 1, 1, None),
        ("assigned_0_G", {(0, 0, 1): 1}, 1, 1, "may start later"),
        ("assigned_1_G", {(1, 0, 2): 1}, 1, 1, "may start later"),
        ("assigned_1", {(1, 0, 2): 1, (1, 1, 1): 1}, 1, 2, "may not start"),
        ("assigned_1", {(1, 0, 2): 1, (1, 0, 1): 1}, -1, 1, "a group is in it twice"),
        ("assigned_1", {(1, 0, 2): 1, (0, 0, 1): 1}, -1, 1, "not about one task"),
        ("assigned", {(1, 0, 2): 1}, -1, 1, "not about one task"),
        ("assigned_2", {}, 1, 1, "not about one task"),
        ("assigned_-1", {}, 1, 1, "not about one task"),
        ("assigned_1", {}, 1, 1, "may start later"),
        ("assigned_1", {(1, 0, 2): 2}, -1, 1, "a coefficient is not 1"),
        ("assigned_1", {(1, 0, 2): 1}, -1, 0, "may start once"),
        ("assigned_1", {(1, 0, 2): 1}, 0, 1, "wrong direction"),
        ("release_1", {(1, 0, 0): 1}, -1, 0, None),
        ("release_0", {(0, 1, 9): 1}, -1, 0, None),
        ("release_1", {(1, 0, 1): 1}, -1, 0, "may have started"),
        ("release_1", {(1, 0, 0): -1}, -1, 0, "does not say"),
        ("release_1", {}, -1, -1, "does not say"),
        ("monotone", {(1, 0, 0): 1, (1, 0, 1): -1}, -1, 0, None),
        ("monotone", {}, -1, -1, "does not compare"),
        ("monotone", {(1, 0, 1): 1, (1, 0, 0): -1}, -1, 0, "does not compare"),
        ("monotone", {(1, 0, 1): 1, (1, 1, 2): -1}, -1, 0, "not about one task"),
        ("precedence_0_1", {(1, 0, 2): 1, (0, 0, 0): -1}, -1, 0, None),
        ("precedence_0_1", {(1, 1, 1): 1}, -1, 0, None),
        ("precedence_0_1", {(1, 0, 2): 1}, -1, 0, "the predecessor may start later"),
        ("precedence_0_1", {(1, 0, 1): 1}, -1, -1, "right-hand side is negative"),
        ("precedence_0_1", {}, -1, -1, "right-hand side is negative"),
        ("precedence_0_-1", {}, -1, 0, "needs no data"),
        ("precedence_0_1", {(1, 0, 2): 2, (0, 0, 0): -1}, -1, 0, "not about its two tasks"),
        ("precedence_1_0", {(1, 0, 2): 1}, -1, 0, "needs no data"),
        ("precedence_0_7", {(1, 0, 2): 1}, -1, 0, "needs no data"),
        ("precedence_0", {(1, 0, 2): 1}, -1, 0, "does not name two tasks"),
        ("capacity_0_0_4", {(0, 0, 2): 2, (1, 0, 2): 2}, -1, 4, None),
        ("capacity_0_0_3", {(0, 0, 2): 1, (1, 0, 2): 2}, -1, 3, "for more than it occupies"),
        ("capacity_1_0_4", {(1, 1, 1): 3}, -1, 4, "the machines may do more"),
        ("capacity_1_0_4", {(1, 0, 1): 2}, -1, 8, "not about one group"),
        ("capacity_2_0_4", {}, -1, 8, "no such group"),
        ("capacity_0_4_0", {}, -1, 8, "no such group or interval"),
        ("capacity_0_0_4", {}, -1, 3, "the machines may do more"),
        ("capacity_-1_0_4", {}, -1, 8, "no such group"),
        ("capacity_0", {}, -1, 8, "names no group"),
        ("capacity_x_0_4", {}, -1, 8, "no constraint of the step"),
        ("conflict_0", {(0, 0, 2): 1, (1, 0, 2): 1}, -1, 1, "one after the other"),
        ("conflict_0", {(0, 0, 1): 1, (1, 0, 1): 1}, -1, 1, None),
        ("conflict_0", {(0, 0, 2): 1, (1, 0, 2): 1, (0, 0, 0): -1}, -1, 1, None),
        ("conflict_0", {(0, 0, 2): 1, (1, 0, 2): 1, (0, 0, 0): -2}, -1, 1, "not about two windows"),
        ("conflict_0", {(0, 0, 1): 1, (1, 0, 1): 1}, -1, 0, "two tasks may run at a time"),
        ("conflict_0", {(0, 1, 1): 1, (1, 1, 1): 1}, -1, 1, "two tasks may run at a time"),
        ("conflict_0", {(0, 0, 1): 1, (1, 1, 1): 1}, -1, 1, "not about two tasks on one group"),
        ("conflict_0", {(0, 0, 1): 1, (0, 0, 2): 1}, -1, 1, "not about two windows"),
        ("conflict_0", {(0, 0, 1): 1}, -1, 1, "not about two tasks on one group"),
        ("conflict_0", {}, -1, -1, "not about two tasks on one group"),
        ("cut_0", {}, -1, 8, "no constraint of the step"),
        ("z_0_0_2_L", {(0, 0, 2): 1}, -1, 1, None),
        ("z_0_0_2_L", {(0, 0, 2): 1}, -1, 0, "may be smaller or larger"),
        ("z_0_0_2_G", {}, 1, 1, "no bound of a variable"),
        ("z_0_0_2_G", {(0, 0, 2): 1, (1, 0, 2): 1}, 1, 0, "no bound of a variable"),
    ],
)
def test_rows_of_a_small_instance(name, terms, sign, side, flaw):
    found = stated(ONE_EACH, name, terms, sign, side).flaw()
    assert found is None if flaw is None else flaw in found


def test_tasks_that_take_no_time_or_cannot_run_are_in_no_conflict():
    for cost, flaw in ((0, "one after the other"), (None, "cannot run there")):
        times = TaskTimes(
            ((2,), (cost,)),
            ((0,), (0,)),
            ((2,), (None if cost is None else 2,)),
            (1,),
            all_run=True,
        )
        terms = {(0, 0, 1): 1, (1, 0, 1): 1}
        assert flaw in stated(times, "conflict_0", terms, -1, 1).flaw()


def test_tasks_that_may_be_left_out_need_not_start():
    optional = TaskTimes(((2,),), ((0,),), ((2,),), (1,), all_run=False)
    assert "may not start" in stated(optional, "assigned_0", {(0, 0, 2): 1}, 1, 1).flaw()


@pytest.mark.parametrize("name", ["z_2_0_0", "z_0_2_0", "z_0_0_-1", "z_00_0_1", "y_0_0_0", "z_0_0"])
def test_columns_of_another_instance_are_none(name):
    program = Certificate((name,), frozenset(), {}, (), None, ())
    assert StepProgram(ONE_EACH, program).flaw() == "its columns are not those of the instance"
