"""Every field of a bag of tasks that is wrong, and the text that tells it."""

import json
from fractions import Fraction

import pytest

from dlopt import io
from dlopt.errors import InvalidInstanceError
from dlopt.problems.bag import Instance, Machine, Placement, Task, faults

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


def put(data, path, value):
    """Return data with one value set; `...` drops the field."""
    data = json.loads(json.dumps(data))
    part = data
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    elif isinstance(part, list) and path[-1] == len(part):
        part.append(value)
    else:
        part[path[-1]] = value
    return data


def test_valid_data():
    assert faults(VALID) == faults(MATRIX) == ()
    assert Instance.from_data(VALID).tasks[1].work == Fraction(3, 2)


BAD_NUMBER = [None, "x", "1/0", True, [1], float("nan"), float("inf"), -1]
WRONG = [
    *((("tasks", 0, "work"), v, "tasks[0].work: ") for v in [0, *BAD_NUMBER]),
    *((("tasks", 0, "release"), v, "tasks[0].release: ") for v in BAD_NUMBER),
    *((("tasks", 0, "input"), v, "tasks[0].input: ") for v in BAD_NUMBER),
    *((("tasks", 0, "output"), v, "tasks[0].output: ") for v in BAD_NUMBER),
    *((("tasks", 0, "absolute_deadline"), v, "tasks[0].absolute_") for v in BAD_NUMBER[1:]),
    *((("tasks", 0, "site"), v, "tasks[0].site: ") for v in [-1, 0.5, "0", None, True, 2]),
    *((("tasks", 0, "priority"), v, "tasks[0].priority: ") for v in ["high", None, 1]),
    *((("tasks", 0, "id"), v, "tasks[0].id: ") for v in [..., 1, None, ""]),
    *((("machines", 1, "power"), v, "machines[1].power: ") for v in [0, *BAD_NUMBER]),
    *((("machines", 1, "ready"), v, "machines[1].ready: ") for v in BAD_NUMBER),
    *((("machines", 1, "site"), v, "machines[1].site: ") for v in [-1, 2, 1.0, None]),
    *((("machines", 1, "id"), v, "machines[1].id: ") for v in [..., 1, ""]),
    *((("links", 0, "bandwidth"), v, "links[0].bandwidth: ") for v in [0, ..., *BAD_NUMBER]),
    *((("links", 0, "latency"), v, "links[0].latency: ") for v in BAD_NUMBER),
    *((("links", 0, "between"), v, "links[0].between") for v in [..., None, 1, [0], [0, 1, 1]]),
    *((("links", 0, "between"), v, "links[0].between") for v in [[0, 0], [0, -1], [0, 2]]),
    *((("sites", 0, "id"), v, "sites[0].id: ") for v in [..., None, "", 3]),
    *((("ccr_thresholds",), v, "ccr_thresholds") for v in [[1], [1, 2, 3], [3, 1], [0, 1], None]),
    *((("tasks",), v, "tasks: ") for v in [None, {}, 3, []]),
    *((("machines",), v, "machines: ") for v in [None, {}, 3, []]),
    *((("sites",), v, "sites: ") for v in [None, {}, []]),
    *((("links",), v, "links: ") for v in [None, {}, 7]),
    (("color",), 1, "color: is not a field"),
    (("tasks", 0, "color"), 1, "tasks[0].color: is not a field"),
]


@pytest.mark.parametrize(("path", "value", "text"), WRONG, ids=str)
def test_what_an_instance_may_not_say(path, value, text):
    data = put(VALID, path, None if value is ... else value)
    if value is ...:
        data = put(VALID, path, ...)
    found = [str(fault) for fault in faults(data)]
    assert any(told.startswith(text) for told in found), found
    with pytest.raises(InvalidInstanceError):
        Instance.from_data(data)


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
            put(VALID, ("tasks", 1, "work"), ...),
            "tasks[1].work: must be given where there is no etc",
        ),
        (
            put(VALID, ("tasks", 0, "site"), 7),
            "tasks[0].site: must be one of the sites 0 to 1, got 7",
        ),
        ({}, "tasks: must not be empty where there is no etc"),
        ({"etc": []}, "etc: must not be empty"),
        ({"etc": [[]]}, "etc: must not be empty"),
        ({"etc": [[1, 2], [3]]}, "etc[1]: must have one entry for each of the 2 machines, got 1"),
        ({"etc": [[1], [None]]}, "etc[1]: must name a machine that can run the task"),
        ({"etc": [[0]]}, "etc[0][0]: must be positive"),
        ({"etc": [[-1]]}, "etc[0][0]: must be positive"),
        ({"etc": [["x"]]}, "etc[0][0]: must be a finite number"),
        ({"etc": [[float("inf")]]}, "etc[0][0]: must be"),
        ({"etc": 3}, "etc: must be"),
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
        ([], "must be an object"),
    ],
)
def test_rules_between_fields(data, text):
    found = [str(fault) for fault in faults(data)]
    assert any(text in told for told in found), found


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        (put(VALID, ("tasks", 0, "work"), 0), ["tasks[0].work"]),
        (put(VALID, ("machines", 1, "power"), 0), ["machines[1].power"]),
        (put(VALID, ("sites",), 3), ["sites"]),
        (put(VALID, ("links", 0, "bandwidth"), 0), ["links[0].bandwidth"]),
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


def test_all_faults_are_told_at_once():
    data = put(put(VALID, ("tasks", 0, "work"), -1), ("links", 0, "bandwidth"), 0)
    data = put(data, ("machines", 0, "speed"), 3)
    paths = {fault.path for fault in faults(data)}
    assert paths >= {"tasks[0].work", "links[0].bandwidth", "machines[0].speed"}


def test_a_file_tells_its_faults(tmp_path):
    path = tmp_path / "bag.json"
    data = {"problem": "bag", "version": 1, **put(VALID, ("tasks", 0, "work"), 0)}
    path.write_text(json.dumps(data))
    with pytest.raises(
        InvalidInstanceError, match=r"bag\.json: tasks\[0\]\.work: must be positive"
    ):
        io.read(path)


def test_parts_check_themselves():
    with pytest.raises(InvalidInstanceError, match="power: must be positive"):
        Machine("m", power=0)
    with pytest.raises(InvalidInstanceError, match="priority"):
        Task("t", 1, priority="urgent")
    assert Placement("t", -1, -5, -9).start == -5  # for `violations`
    with pytest.raises(InvalidInstanceError, match="start"):
        Placement("t", 0, float("nan"), 1)


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
