"""The mapping rules: by hand, against the textbook, and on the matrices of Braun et al."""

import csv
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.errors import NotApplicableError
from dlopt.formats import etc
from dlopt.generation.bag import braun, instance_from_etc
from dlopt.heuristics.bag import batch_mode, batch_mode_numpy
from dlopt.heuristics.bag.immediate_mode import switching_algorithm
from dlopt.heuristics.bag.instance_arrays import InstanceArrays, PartialSchedule
from dlopt.problems.bag import Instance, Link, Machine, Site, Task
from dlopt.problems.validated_record import floating
from tests.data import data_folder
from tests.heuristics.bag.stored_instances import stored
from tests.oracles_bag import textbook
from tests.strategies_bag import bags, bags_in_floats

F = Fraction
CHOICES = ("min-min", "max-min", "sufferage")
choices = st.sampled_from(CHOICES)


def machines_of(instance, method, **options):
    """Return on which machine each task runs, in the order of the tasks."""
    found = solve(instance, method, **options)
    where = {one.task: one.machine for one in found.solution.placements}
    return [where.get(task.id) for task in instance.all_tasks]


# By hand: four tasks on three machines

ETC = Instance(etc=((3, 1, 4), (3, 1, 4), (6, 2, 4), (2, 8, 4)))


@pytest.mark.parametrize(
    ("method", "machines", "makespan"),
    [
        ("mct", [1, 1, 1, 0], 4),
        ("met", [1, 1, 1, 0], 4),
        ("olb", [0, 1, 2, 1], 9),
        ("min-min", [1, 1, 1, 0], 4),
        ("max-min", [0, 1, 1, 2], 4),
        ("sufferage", [1, 1, 1, 0], 4),
    ],
)
def test_by_hand(method, machines, makespan):
    assert machines_of(ETC, method) == machines
    assert solve(ETC, method).value == makespan


def test_of_equal_tasks_and_machines_the_first_is_taken():
    even = Instance(etc=((2, 2, 2),) * 4)
    for method in ("mct", "olb", "edf", "priority-edf", *CHOICES):
        assert machines_of(even, method) == [0, 1, 2, 0]
    assert machines_of(even, "met") == [0, 0, 0, 0]
    assert solve(even, "kpb", k=67).value == 4  # the first two machines
    assert machines_of(even, "kpb", k=67) == [0, 1, 0, 1]


def test_k_percent_best_lies_between_met_and_mct():
    instance = stored("braun-24")
    assert solve(instance, "kpb", k=100).solution == solve(instance, "mct").solution
    assert solve(instance, "kpb", k=1).solution == solve(instance, "met").solution
    assert machines_of(instance, "kpb", k=39) == machines_of(instance, "kpb", k=20)  # one of five
    assert machines_of(instance, "kpb", k=40) != machines_of(instance, "kpb", k=39)
    with pytest.raises(NotApplicableError, match="k must be a percentage from 1 to 100, got 101"):
        solve(instance, "kpb", k=101)
    with pytest.raises(NotApplicableError, match="option k takes at least 1"):
        solve(instance, "kpb", k=0)


@pytest.mark.parametrize(
    ("free", "machine"),
    [
        (((4, 5),), 1),  # 80 percent: even enough, the fastest machine
        (((39, 50),), 0),  # 78 percent: not yet, where it ends first
        (((4, 5), (2, 4)), 0),  # and then down to 50: where it ends first again
        (((4, 5), (21, 40)), 1),  # 52.5 percent: still even
        (((4, 5), (2, 4), (31, 40)), 0),  # 77.5 percent: it has to reach 80 again
    ],
)
def test_the_switching_algorithm_switches_at_its_very_thresholds(free, machine):
    partial = PartialSchedule(
        InstanceArrays(Instance(etc=((9, 9), (8, 7), (8, 7), (8, 7)))), run_late=False
    )
    rule = switching_algorithm(50, 80)
    for loads in free:
        partial.free = list(loads)
        chosen = rule(partial, 1, (0, 1))
    assert chosen == machine


def test_the_switching_algorithm_switches_to_and_fro():
    """MCT until both are equally busy, MET until one is free at 60 % of the other's time."""
    instance = Instance(etc=((10, 20), (30, 10), (4, 9), (4, 8), (3, 9), (5, 6)))
    # ends: m0 10; m1 10 (even: MET); m0 14 (71 %), m0 18 (56 %: MCT): 21 or 19; 23 or 25
    assert machines_of(instance, "switching") == [0, 1, 0, 0, 1, 0]
    # down to 40 %: MET goes on, and piles up on the first machine
    assert machines_of(instance, "switching", low=40) == [0, 1, 0, 0, 0, 0]
    assert machines_of(instance, "switching", high=100) == machines_of(instance, "switching")
    text = "low and high must be percentages in ascending order, got 90 and 90"
    with pytest.raises(NotApplicableError, match=text):
        solve(instance, "switching", low=90)


def test_tasks_come_as_they_arrive():
    tasks = (Task("a", 2, release=3), Task("b", 4))
    instance = Instance(tasks, (Machine("m", ready=1),))
    for method in ("mct", "met", "olb", "switching", "kpb"):
        placed = solve(instance, method).solution.placements
        assert [(one.task, one.start, one.end) for one in placed] == [("b", 1, 5), ("a", 5, 7)]
    # both would end at 5, and the first in the file is taken, though it comes later
    placed = solve(instance, "min-min").solution.placements
    assert [(one.task, one.start, one.end) for one in placed] == [("a", 3, 5), ("b", 5, 9)]


def test_input_is_waited_for_and_met_does_not_ask():
    sites, links = (Site("a"), Site("b")), (Link((0, 1), 1, latency=1),)
    machines = (Machine("slow", 0), Machine("fast", 1, 4))
    instance = Instance((Task("t", 8, input=6),), machines, sites, links)
    assert [(one.machine, one.end) for one in solve(instance, "mct").solution.placements] == [
        (0, 8)
    ]
    assert [(one.machine, one.end) for one in solve(instance, "met").solution.placements] == [
        (1, 9)
    ]
    assert machines_of(instance, "met", sites="home") == [0]


def test_a_task_that_must_be_run_may_have_to_leave():
    sites, links = (Site("a"), Site("b")), (Link((0, 1), 1),)
    instance = Instance((Task("t", 8),), (Machine("m", 1),), sites, links)
    for method in ("mct", "min-min", "duplex"):
        found = solve(instance, method, sites="home")
        assert found.status is Status.UNKNOWN
        assert found.reason == "task t must be run, and no machine at its site can"
        assert solve(instance, method).value == 8
    dropped = replace(instance, tasks=(Task("t", 8, absolute_deadline=9),))
    for method in ("edf", "sufferage"):
        assert solve(dropped, method, sites="home").reason == "dropped: 1 task (t)"


def test_late_tasks_are_dropped_or_run():
    """Run late, the long task makes the next one late, too."""
    tasks = (
        Task("a", 5, absolute_deadline=4),
        Task("b", 2, absolute_deadline=6),
        Task("c", 1, absolute_deadline=20),
    )
    instance = Instance(tasks, (Machine("m"),))
    for method in ("edf", "mct", "olb"):
        drop = solve(instance, method, objective="accepted")
        assert (drop.value, drop.reason) == (2, "dropped: 1 task (a)")
        run = solve(instance, method, objective="accepted", tardy="run")
        assert (run.value, run.reason) == (1, "late: 2 tasks (a, b)")
        assert [one.end for one in run.solution.placements] == [5, 7, 8]
    with pytest.raises(NotApplicableError, match="tardy takes reject or run"):
        solve(instance, "edf", tardy="later")


def test_priority_before_deadline():
    tasks = (
        Task("soft", 2, priority="soft", absolute_deadline=2),
        Task("firm", 2, absolute_deadline=3),
        Task("critical", 2, priority="critical", absolute_deadline=4),
    )
    instance = Instance(tasks, (Machine("m"),))
    assert solve(instance, "edf").value == (1, 2)
    assert solve(instance, "priority-edf").value == (1, 1)
    assert [one.task for one in solve(instance, "edf").solution.placements] == ["soft", "critical"]


def test_greedy_is_the_better_of_two():
    rows = Instance(etc=((2, 3), (2, 3), (2, 3), (6, 7)))
    low, high = solve(rows, "min-min").value, solve(rows, "max-min").value
    assert (low, high) == (10, 8)
    assert solve(rows, "duplex").value == 8
    many = stored("braun-24")
    assert solve(many, "duplex").value == min(solve(many, name).value for name in CHOICES[:2])


# The fast ways and the textbook


@pytest.mark.property
@given(bags(tasks=7, machines=4, sites=2), choices, st.booleans(), st.booleans())
def test_three_ways_one_order(instance, choice, late, home):
    arrays = InstanceArrays(instance, home_only=home)
    expected = list(textbook(arrays, choice, run_late=late))
    assert list(batch_mode.map_by_steps(arrays, choice, run_late=late)) == expected
    assert batch_mode_numpy.FloatArrays.from_arrays(arrays) is not None
    assert batch_mode.map_batch(arrays, choice, run_late=late) == expected


@pytest.mark.property
@given(bags_in_floats(tasks=8, machines=5), choices, st.booleans())
def test_three_ways_one_order_in_floats(instance, choice, late):
    arrays = InstanceArrays(instance)
    expected = list(textbook(arrays, choice, run_late=late))
    assert list(batch_mode.map_by_steps(arrays, choice, run_late=late)) == expected
    assert batch_mode.map_batch(arrays, choice, run_late=late) == expected


@pytest.mark.property
@given(
    st.sampled_from([(60, 3), (30, 12), (80, 5)]),
    st.sampled_from(["consistent", "inconsistent", "semi-consistent"]),
    choices,
    st.integers(0, 99),
    st.sampled_from(["float", "integer"]),
    st.sampled_from([4, 300]),
)
def test_the_fast_way_on_larger_matrices(size, consistency, choice, seed, numbers, most):
    """Small integers, so that there are many ties; and floats."""
    instance = braun(
        tasks=size[0],
        machines=size[1],
        consistency=consistency,
        task_heterogeneity=most,
        machine_heterogeneity=3,
        numbers=numbers,
        seed=seed,
    )
    arrays = InstanceArrays(instance)
    assert batch_mode.map_batch(arrays, choice, run_late=False) == list(
        batch_mode.map_by_steps(arrays, choice, run_late=False)
    )


@pytest.mark.parametrize(
    "etc",
    [
        ((2**60, 3), (5, 7)),
        ((F(1, 2**40), 3), (F(1, 3**20), 7)),
        ((2**51, 2**51), (2**51, 2**51), (2**51, 2**51)),
    ],
)
def test_numbers_that_floats_do_not_hold_go_the_plain_way(etc):
    arrays = InstanceArrays(Instance(etc=etc))
    assert batch_mode_numpy.FloatArrays.from_arrays(arrays) is None
    for choice in CHOICES:
        expected = list(textbook(arrays, choice))
        assert batch_mode.map_batch(arrays, choice, run_late=False) == expected


def test_one_tick_decides_however_large_the_numbers_are():
    """2^60 and 2^60 + 1 are one float."""
    instance = Instance(etc=((2**60 + 1, 2**60), (2**60 + 2, 2**60 + 1)))
    assert solve(instance, "min-min").value == 2**60 + 2
    assert machines_of(instance, "mct") == [1, 0]


def test_fractions_are_scaled():
    arrays = InstanceArrays(Instance(etc=((F(1, 3), F(1, 2)), (F(1, 4), None))))
    program = batch_mode_numpy.FloatArrays.from_arrays(arrays)
    assert program.durations.tolist() == [[4, 6], [3, float("inf")]]
    assert solve(arrays.instance, "sufferage").value == F(1, 2)


def test_one_float_makes_the_answer_one_of_floats():
    instance = Instance(etc=((F(1, 3), 2), (1, 0.5)))
    found = solve(instance, "mct")
    assert {type(one.end) for one in found.solution.placements} == {float}
    speeds = Instance(
        (Task("t", 1), Task("u", 2)), (Machine("m", power=3), Machine("n", ready=0.5))
    )
    (first, second) = solve(speeds, "olb").solution.placements
    assert {type(number) for one in (first, second) for number in (one.start, one.end)} == {float}


@pytest.mark.property
@given(bags(tasks=5), st.sampled_from(["mct", "met", "olb", "edf", "min-min", "gds"]))
def test_exact_and_floating_answers_agree_where_floats_are_exact(instance, method):
    """Powers of two: whatever is divided."""
    times = [2, 4, 1, 8, F(1, 2)]
    tasks = tuple(
        replace(task, work=times[k], input=0, release=k % 2)
        for k, task in enumerate(instance.all_tasks)
    )
    machines = tuple(replace(one, power=2, ready=0) for one in instance.all_machines)
    made = replace(instance, tasks=tasks, machines=machines, etc=None, links=instance.links)
    made = replace(made, links=tuple(Link(link.between, 2, 0) for link in made.links))
    exact, floats = solve(made, method), solve(floating(made), method)
    assert exact.value == floats.value
    assert exact.solution == floats.solution


# Known values


def matrix(name):
    return instance_from_etc(etc.read(data_folder("etc_braun") / name))


def known(name):
    with (data_folder("etc_braun") / "makespans.csv").open() as file:
        (row,) = [row for row in csv.DictReader(file) if row["file"] == name]
    return row


@pytest.mark.parametrize(
    "name",
    ["u_c_hihi.0", "u_c_lolo.0", "u_i_hilo.0", "u_i_lohi.0", "u_s_hihi.0", "u_s_lolo.0"],
)
def test_the_makespans_of_the_matrices_of_braun_et_al(name):
    instance, row = matrix(name), known(name)
    columns = {
        "min-min": "minmin_computed",
        "max-min": "maxmin_computed",
        "sufferage": "sufferage_computed",
        "mct": "mct_arrival_order_computed",
        "met": "met_computed",
    }
    for method, column in columns.items():
        value = solve(instance, method).value
        assert value == pytest.approx(float(row[column]), abs=0.051)
        assert value >= float(row["lp_lower_bound_computed"])


def test_min_min_on_the_first_matrix_to_the_last_digit_that_is_published():
    assert round(solve(matrix("u_c_hihi.0"), "min-min").value, 3) == 8460675.003
