"""Relations between the fields of a bag of tasks, and the text of faults.

What one field may hold by itself is tested in `test_wrong_values.py`.
"""

import json
from fractions import Fraction

import pytest

from dlopt import io
from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.problems.bag import Instance, Machine, Placement, Task, faults
from tests.problems.wrong_values import put

VALID = {
    "tasks": [
        {"id": "a", "work": 2, "site": 1, "input": 3, "absolute_deadline": 9},
        {"id": "b", "work": "3/2", "priority": "soft"},
    ],
    "machines": [{"id": "m"}, {"id": "n", "site": 1, "power": 2.5, "ready": 1}],
    "sites": [{"id": "x"}, {"id": "y"}],
    "links": [{"between": [0, 1], "bandwidth": 4, "latency": 0.5}],
    "ccr_thresholds": ["1/3", 3],
}
MATRIX = {"etc": [[1, 2], [None, 4]]}


def test_valid_data():
    assert faults(VALID) == faults(MATRIX) == ()
    assert Instance.from_data(VALID).tasks[1].work == Fraction(3, 2)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (("tasks", 0, "site"), 2, "tasks[0].site: must be one of the sites 0 to 1, got 2"),
        (("tasks", 0, "id"), "", "tasks[0].id: must not be empty, got ''"),
        (("machines", 1, "site"), 2, "machines[1].site: must be one of the sites 0 to 1, got 2"),
        (("machines", 1, "id"), "", "machines[1].id: must not be empty, got ''"),
        (("sites", 0, "id"), "", "sites[0].id: must not be empty, got ''"),
        (("links", 0, "between"), [0], "links[0].between: must name two sites, got 1"),
        (("links", 0, "between"), [0, 1, 1], "links[0].between: must name two sites, got 3"),
        (("links", 0, "between"), [0, 0], "links[0].between: must name two different sites, got 0"),
        (("links", 0, "between"), [0, 2], "links[0].between[1]: must be one of the sites 0 to 1"),
        *(
            (("ccr_thresholds",), wrong, "ccr_thresholds: must be two numbers in ascending order")
            for wrong in ([1], [1, 2, 3], [3, 1])
        ),
        (("tasks",), [], "tasks: must not be empty where there is no etc"),
        (("machines",), [], "machines: must not be empty where there is no etc"),
        (("sites",), [], "sites: must not be empty"),
    ],
    ids=str,
)
def test_the_text_of_a_fault(path, value, text):
    (fault,) = faults(put(VALID, path, value))
    assert str(fault).startswith(text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            put(VALID, ("tasks", 1, "id"), "a"),
            "tasks[1].id: must be given to one of the tasks only",
        ),
        (put(VALID, ("machines", 1, "id"), "m"), "machines[1].id: must be given to one of the"),
        (put(VALID, ("sites", 1, "id"), "x"), "sites[1].id: must be given to one of the sites"),
        (put(VALID, ("links",), []), "sites[1]: must be connected with site x by links, got 'y'"),
        (
            put(VALID, ("tasks", 1, "work"), MISSING),
            "tasks[1].work: must be given where there is no etc",
        ),
        ({}, "tasks: must not be empty where there is no etc"),
        ({"etc": []}, "etc: must not be empty"),
        ({"etc": [[]]}, "etc: must not be empty"),
        ({"etc": [[1, 2], [3]]}, "etc[1]: must have one entry for each of the 2 machines, got 1"),
        ({"etc": [[1], [None]]}, "etc[1]: must name a machine that can run the task"),
        (
            {"etc": [[1]], "tasks": [{"id": "a"}, {"id": "b"}]},
            "etc: must have one row for each of the 2 tasks, got 1",
        ),
        (
            {"etc": [[1, 2]], "machines": [{"id": "m"}]},
            "etc[0]: must have one entry for each of the 1 machines, got 2",
        ),
        (
            {"etc": [[1]], "tasks": [{"id": "a", "work": 3}]},
            "tasks[0].work: must not be given together with etc, got 3",
        ),
        (
            {"etc": [[1]], "machines": [{"id": "m", "power": 2}]},
            "machines[0].power: must not be given together with etc, got 2",
        ),
    ],
)
def test_rules_between_fields(data, text):
    found = [str(fault) for fault in faults(data)]
    assert any(text in told for told in found), found


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        ({"etc": [[0]]}, ["etc[0][0]"]),
        ({"etc": "x", "tasks": [{"id": "a"}]}, ["etc"]),
        ({"etc": [[1]], "tasks": 3}, ["tasks"]),
        ({}, ["tasks", "machines"]),
        (
            {"tasks": [{"id": "a"}], "machines": [{"id": "m", "site": 1}]},
            ["machines[0].site", "tasks[0].work"],
        ),
    ],
)
def test_what_is_wrong_by_itself_leads_to_no_other_fault(data, paths):
    assert [fault.path for fault in faults(data)] == paths
    with pytest.raises(InvalidInstanceError):
        Instance.from_data(data)


def test_a_file_tells_its_faults(tmp_path):
    path = tmp_path / "bag.json"
    data = {"problem": "bag", "version": 1, **put(VALID, ("tasks", 0, "work"), 0)}
    path.write_text(json.dumps(data))
    with pytest.raises(
        InvalidInstanceError, match=r"bag\.json: tasks\[0\]\.work: must be positive"
    ):
        io.read(path)


def test_a_placement_may_have_what_only_the_checker_reports():
    assert Placement("t", -1, -5, -9).start == -5


def test_names_that_only_a_matrix_gives():
    made = Instance(etc=((1, 2), (3, 4)))
    assert [task.id for task in made.all_tasks] == ["t0", "t1"]
    assert [machine.id for machine in made.all_machines] == ["m0", "m1"]
    assert made.duration(1, 0) == 3
    named = Instance(
        tasks=(Task("x"), Task("y")), machines=(Machine("p"), Machine("q")), etc=made.etc
    )
    assert [task.id for task in named.all_tasks] == ["x", "y"]
    assert [machine.id for machine in named.all_machines] == ["p", "q"]


def test_durations_are_exact_unless_a_float_is_among_them():
    made = Instance(
        (Task("a", 3), Task("b", 1.5)), (Machine("m", power=2), Machine("n", power=0.5))
    )
    assert made.duration(0, 0) == Fraction(3, 2) and isinstance(made.duration(0, 0), Fraction)
    assert made.duration(1, 0) == 0.75 and isinstance(made.duration(0, 1), float)
    assert not made.exact
    assert Instance(etc=((1, None),)).exact


def test_thresholds_are_compared_as_the_decimals_that_they_print():
    assert Instance(etc=((1,),), ccr_thresholds=(0.1, Fraction(1, 10))).exact is False
