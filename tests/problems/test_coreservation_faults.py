"""Relations between the fields of an instance of CPU shares: each is reported with its path.

What one field may hold by itself is tested in `test_wrong_values.py`.
"""

from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.coreservation import Instance, Machine, Part, Request, faults
from dlopt.problems.validated_record import examine
from tests.problems.wrong_values import keys_of, put, spelled

DATA = {
    "name": "two",
    "machines": [{"id": "m", "capacity": 9}, {"id": "n", "capacity": [[0, 5], ["7/2", 7]]}],
    "batch": {"interval": 5},
    "holdings": [{"machine": 0, "start": 1, "end": 2, "cpu": 1}],
    "requests": [
        {"id": "r", "arrival": 1, "start": 2, "end": 6, "priority": 1, "parts": [{"cpu": 5}]},
        {
            "id": "s",
            "arrival": 4,
            "start": 4,
            "end": "9/2",
            "priority": 0.5,
            "parts": [
                {"cpu": 5, "cpu_min": "5/4", "benefit": [[0, 0], [1, 1]], "machine": 1},
                {"cpu": 200},
            ],
        },
    ],
}
CASES = [
    ("machines.0.id", "", "must not be empty"),
    ("machines.1.id", "m", "must be given to one of the machines only"),
    ("machines.1.capacity", [], "must not be empty"),
    ("machines.1.capacity.0", [0], "must be a pair of an instant and the capacity from then on"),
    ("machines.1.capacity.0.0", 1, "must be 0: capacity is needed from then on"),
    ("machines.1.capacity.1.0", 0, "must lie after the instant before, 0"),
    ("holdings.0.machine", 2, "must be one of the machines 0 to 1"),
    ("holdings.0.end", 1, "must lie after the start, 1"),
    ("requests.0.id", "", "must not be empty"),
    ("requests.1.id", "r", "must be given to one of the requests only"),
    ("requests.0.end", 2, "must lie after the start, 2"),
    ("requests.1.arrival", 0, "must not lie before the arrival of the one before, 1"),
    ("requests.1.parts.0.cpu_min", 6, "must be at most cpu, 5"),
    ("requests.1.parts.0.machine", 2, "must be one of the machines 0 to 1"),
    ("requests.1.parts.0.benefit", [], "must have at least two points"),
    ("requests.1.parts.0.benefit", [[0, 0]], "must have at least two points"),
    ("requests.1.parts.0.benefit.1", [1], "must be a pair of a share and its benefit"),
    ("requests.1.parts.0.benefit.1.1", 2, "must be at most 1"),
    ("requests.1.parts.0.benefit.0", [0, 0.5], "must be the point of share 0 and benefit 0"),
    ("requests.1.parts.0.benefit.1.0", 0.5, "must be 1, the whole share"),
]


def changed(path, value):
    """Return the data with one field set."""
    return put(DATA, keys_of(path), value)


def test_the_data_is_good():
    assert faults(DATA) == ()
    made = Instance(**examine(Instance, DATA)[0])
    assert made.requests[0].parts[0].hard and made.requests[0].parts[0].least == 5
    assert made.requests[1].parts[0].least == Fraction(5, 4)
    assert made.machines[1].steps == ((0, 5), (Fraction(7, 2), 7))
    assert not made.exact


@pytest.mark.parametrize(("path", "value", "rule"), CASES)
def test_each_fault_is_told_with_its_path(path, value, rule):
    told = [(fault.path, fault.rule) for fault in faults(changed(path, value))]
    assert len(told) == 1, told
    assert told[0][0].startswith(spelled(keys_of(path))) and told[0][1].startswith(rule)


@pytest.mark.parametrize(
    ("points", "path", "rule"),
    [
        ([[0, 0], [0.6, 0], [0.5, 1], [1, 1]], "[2][0]", "must not lie before that of the point"),
        ([[0, 0], [0.5, 1], [1, 0.5]], "[2][1]", "must not fall below that of the point before"),
        ([[0, 0], [1, 0], [1, 0.5], [1, 1]], "[3][0]", "must not be a third point of one share"),
    ],
)
def test_points_that_fall_or_go_back(points, path, rule):
    (fault,) = faults(changed("requests.1.parts.0.benefit", points))
    assert fault.path == f"requests[1].parts[0].benefit{path}" and fault.rule.startswith(rule)


def test_a_start_before_the_arrival_is_told_of_the_start():
    (fault,) = faults(changed("requests.0.arrival", 3))
    assert fault.path == "requests[0].start" and fault.value == 2


def test_constructors_compare_fields_too():
    with pytest.raises(InvalidInstanceError, match="cpu_min: must be at most cpu, 1, got 2"):
        Part(1, 2)
    with pytest.raises(InvalidInstanceError, match="capacity: must not be empty"):
        Machine("m", ())


def test_a_part_may_accept_nothing_unless_its_benefit_jumps_there():
    """Else nothing would be worth something, for of a jump the upper value counts."""
    path = "requests.1.parts.0.cpu_min"
    for nothing in (0, 0.0, "0/1"):
        assert faults(changed(path, nothing)) == ()
    assert Part(5, 0).least == 0 and not Part(5, 0).hard
    whole = changed(path, 0)
    part = whole["requests"][1]["parts"][0]
    for points in ([[0, 0], [0, 0], [1, 1]], [[0, 0], [0.5, 0], [0.5, 1], [1, 1]]):
        part["benefit"] = points
        assert faults(whole) == ()
    for points in ([[0, 0], [0, 0.5], [1, 1]], [[0, 0], ["0/1", "1/9"], [1, 1]]):
        part["benefit"] = points
        (fault,) = faults(whole)
        assert fault.path == "requests[1].parts[0].cpu_min" and fault.value == 0
        assert fault.rule == "must be positive, for the benefit jumps at 0"
    part["benefit"] = [[0, 0], [0, 0.5]]
    assert [fault.path for fault in faults(whole)] == ["requests[1].parts[0].benefit[1][0]"]
    part["benefit"] = [[0, 0.5]]
    assert [fault.path for fault in faults(whole)] == ["requests[1].parts[0].benefit"]


def test_a_share_above_every_capacity_is_no_fault():
    assert faults(changed("requests.0.parts.0.cpu", 10**9)) == ()


def test_numbers_are_compared_as_what_they_stand_for():
    """As it is stored the float is larger than a tenth."""
    tenth = Fraction(1, 10)
    assert tenth < 0.1
    assert Request("r", 0.1, tenth, 0.2, 1, (Part(tenth, 0.1),)).parts[0].hard
    assert Part(1, tenth, ((0, 0), (0.1, 0.1), (tenth, tenth), (1, 1))).least == tenth
    with pytest.raises(InvalidInstanceError, match="must lie after the start"):
        Request("r", 0, tenth, 0.1, 1, (Part(1),))
    with pytest.raises(InvalidInstanceError, match="must be at most cpu"):
        Part(tenth - Fraction(1, 10**30), 0.1)
    with pytest.raises(InvalidInstanceError, match="must lie after the instant before"):
        Machine("m", ((0, 1), (tenth, 2), (0.1, 3)))
    with pytest.raises(InvalidInstanceError, match="third point of one share"):
        Part(1, benefit=((0, 0), (0.1, 0), (tenth, 0.5), (0.1, 0.6), (1, 1)))
