"""Families of bags of tasks: what is drawn, and what parameters may be."""

from collections import Counter
from fractions import Fraction

import pytest

from dlopt.errors import NotApplicableError
from dlopt.formats.etc import EtcMatrix
from dlopt.generation import described, generate
from dlopt.generation.bag import FAMILIES, braun, gds, instance_from_etc, small
from dlopt.heuristics.bag.gds_ranking import SiteNetwork, TaskIntensity
from dlopt.heuristics.bag.instance_arrays import InstanceArrays


@pytest.mark.parametrize("family", FAMILIES)
def test_the_seed_decides(family):
    size = {"sites": 4, "fewest": 1, "most": 3, "tasks": 20} if family == "gds" else {}
    one = generate("bag", family, seed=1, **size)
    assert one == generate("bag", family, seed=1, **size) != generate("bag", family, seed=2, **size)
    assert one.origin == f"dlopt generate bag --family {family}, seed 1"
    assert one.name


def test_every_parameter_is_told():
    for family in described("bag"):
        assert all(parameter.help for parameter in family.parameters), family.name


def test_a_matrix_as_an_instance():
    made = instance_from_etc(EtcMatrix("u.0", ((1, 2), (3, 4))))
    assert (made.name, made.origin) == ("u.0", "ETC matrix u.0")
    assert len(made.all_tasks) == 2 and made.without_deadlines


def test_the_three_consistencies():
    wild = braun(tasks=40, machines=6, seed=3)
    for kind in ("consistent", "semi-consistent"):
        made = braun(tasks=40, machines=6, consistency=kind, seed=3)
        for row, base in zip(made.etc, wild.etc, strict=True):
            assert sorted(row) == sorted(base)
            if kind == "consistent":
                assert list(row) == sorted(base)
            else:
                assert (list(row[::2]), row[1::2]) == (sorted(base[::2]), base[1::2])
    assert any(list(row) != sorted(row) for row in wild.etc)


def test_the_ranges():
    made = braun(
        tasks=200, machines=4, task_heterogeneity=100, machine_heterogeneity=10, numbers="integer"
    )
    times = [time for row in made.etc for time in row]
    assert all(type(time) is int and 1 <= time <= 1000 for time in times)
    assert max(times) > 700
    floats = [time for row in braun(tasks=50, machines=4).etc for time in row]
    assert all(type(time) is float and 1 <= time <= 3_000_000 for time in floats)


def test_the_grid_of_the_paper():
    made = gds(tasks=400, seed=2)
    assert len(made.sites) == 17
    per_site = Counter(machine.site for machine in made.machines)
    assert len(per_site) == 17 and all(20 <= count <= 50 for count in per_site.values())
    assert len(made.links) == 17 * 4 // 2
    grid = SiteNetwork(InstanceArrays(made))
    ratios = [grid.ccr(task) for task in range(400)]
    assert 0.05 <= min(ratios) < 0.1 and 10 < max(ratios) <= 20
    assert {grid.intensity(task) for task in range(400)} == set(TaskIntensity)
    classes = Counter(task.priority for task in made.tasks)
    assert 80 < classes["critical"] < 160 and 120 < classes["firm"] < 200
    mean = sum(machine.power for machine in made.machines) / len(made.machines)
    for task in made.tasks:
        assert 50 <= task.work <= 150
        assert task.absolute_deadline >= 2 * task.work / mean * (1 - 1e-12)
        assert task.input == pytest.approx(task.output)


def test_more_load_is_less_time():
    spans = [
        max(task.absolute_deadline for task in gds(tasks=2000, load=load, sites=3).tasks)
        for load in (0.5, 1, 2)
    ]
    assert spans[0] == pytest.approx(2 * spans[1], rel=0.01)
    assert spans[1] > spans[2]


def test_a_grid_of_one_site():
    made = gds(sites=1, fewest=1, most=2, tasks=5, input_share=1)
    assert made.links == () and all(task.input == task.output == 0 for task in made.tasks)


def test_a_grid_cannot_have_more_links_than_pairs():
    assert len(gds(sites=4, fewest=1, most=1, tasks=1, degree=99).links) == 6
    assert len(gds(sites=4, fewest=1, most=1, tasks=1, degree=1).links) == 3


def test_small_ones_are_exact():
    for seed in range(20):
        made = small(seed=seed, span=4, parts=3, sites=3)
        assert made.exact
        powers = [machine.power for machine in made.machines]
        for task in made.tasks:
            assert 0 < task.work <= 6 and 0 <= task.release <= 4
            assert task.absolute_deadline - task.release >= Fraction(task.work) / max(powers)
    assert small(deadlines="none").without_deadlines
    some = [task.absolute_deadline is None for task in small(tasks=40, deadlines="some").tasks]
    assert {True, False} == set(some)


@pytest.mark.parametrize(
    ("family", "parameters", "text"),
    [
        ("braun", {"tasks": 0}, "tasks must be an integer from 1 to 100000, got 0"),
        ("braun", {"machines": 2.5}, "machines must be an integer"),
        ("braun", {"consistency": "some"}, "consistency must be one of consistent, inconsistent"),
        ("braun", {"numbers": "complex"}, "numbers must be one of float, integer"),
        ("braun", {"task_heterogeneity": 1}, "task_heterogeneity must be above 1, got 1"),
        ("braun", {"machine_heterogeneity": -1}, "machine_heterogeneity must be a positive"),
        ("gds", {"sites": 0}, "sites must be an integer"),
        ("gds", {"tasks": "many"}, "tasks must be an integer"),
        ("gds", {"fewest": 9, "most": 8}, "fewest and most must be in ascending order"),
        ("gds", {"least_ccr": 0}, "least_ccr must be a positive number"),
        ("gds", {"least_ccr": 30}, "least_ccr and largest_ccr must be in ascending order"),
        ("gds", {"slowest": 30}, "slowest and fastest must be in ascending order"),
        ("gds", {"input_share": 2}, "input_share must be a share from 0 to 1, got 2"),
        ("gds", {"critical": -1}, "critical must be a share from 0 to 1, got -1"),
        ("gds", {"critical": 0.8, "firm": 0.8}, "critical and firm must be at most 1, got 1.6"),
        ("gds", {"bandwidth": 0}, "bandwidth must be a positive number"),
        ("gds", {"latency": -1}, "latency: must not be negative"),
        ("gds", {"load": 0}, "load must be a positive number"),
        ("gds", {"degree": "four"}, "degree must be an integer"),
        ("gds", {"degree": 0}, "degree must be an integer from 1 to 100000, got 0"),
        ("small", {"tasks": 1001}, "tasks must be an integer from 1 to 1000"),
        ("small", {"largest": 0}, "largest must be an integer"),
        ("small", {"data": -1}, "data must be an integer from 0, got -1"),
        ("small", {"span": 1.5}, "span must be an integer from 0, got 1.5"),
        ("small", {"tightness": 0.5}, "tightness must be at least 1, got 0.5"),
        ("small", {"deadlines": "few"}, "deadlines must be one of all, none, some"),
        ("small", {"speed": 1}, "family small has no parameter 'speed'"),
    ],
)
def test_what_parameters_may_not_be(family, parameters, text):
    with pytest.raises(ValueError) as caught:
        generate("bag", family, **parameters)
    assert text in str(caught.value)
    assert not isinstance(caught.value, NotApplicableError) or "does not fit: Type" not in text
