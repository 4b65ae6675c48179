"""What an instance of CPU shares may hold: every fault is reported, with its path."""

import math
from copy import deepcopy
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.coreservation import Instance, Machine, Part, Request, faults
from dlopt.problems.validated_record import examine

NOT_NEGATIVE = "must not be negative"
POSITIVE = "must be positive"
FINITE = 'must be a finite number or a text "p/q"'
MISSING = object()
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
    ("machines", MISSING, "is missing"),
    ("machines", [], "must be a list of at least 1"),
    ("machines.0.id", 3, "must be a text"),
    ("machines.0.id", "", "must not be empty"),
    ("machines.1.id", "m", "must be given to one of the machines only"),
    ("machines.0.capacity", MISSING, "is missing"),
    ("machines.0.capacity", -1, NOT_NEGATIVE),
    ("machines.0.capacity", math.inf, FINITE),
    ("machines.1.capacity", [], "must not be empty"),
    ("machines.1.capacity.0", 3, "must be a list"),
    ("machines.1.capacity.0", [0], "must be a pair of an instant and the capacity from then on"),
    ("machines.1.capacity.0.0", 1, "must be 0: capacity is needed from then on"),
    ("machines.1.capacity.1.0", 0, "must lie after the instant before, 0"),
    ("machines.1.capacity.1.1", -1, NOT_NEGATIVE),
    ("batch", 5, "must be an object with named fields"),
    ("batch.interval", 0, POSITIVE),
    ("holdings.0.machine", 2, "must be one of the machines 0 to 1"),
    ("holdings.0.machine", -1, NOT_NEGATIVE),
    ("holdings.0.machine", True, "must be an integer"),
    ("holdings.0.start", -1, NOT_NEGATIVE),
    ("holdings.0.end", 1, "must lie after the start, 1"),
    ("holdings.0.cpu", -1, NOT_NEGATIVE),
    ("requests", [], "must be a list of at least 1"),
    ("requests.0.id", "", "must not be empty"),
    ("requests.1.id", "r", "must be given to one of the requests only"),
    ("requests.0.arrival", -1, NOT_NEGATIVE),
    ("requests.0.priority", 0, POSITIVE),
    ("requests.0.priority", -2, POSITIVE),
    ("requests.0.parts", [], "must be a list of at least 1"),
    ("requests.0.parts", MISSING, "is missing"),
    ("requests.0.end", 2, "must lie after the start, 2"),
    ("requests.1.arrival", 0, "must not lie before the arrival of the one before, 1"),
    ("requests.1.parts.0.cpu", 0, POSITIVE),
    ("requests.1.parts.0.cpu", MISSING, "is missing"),
    ("requests.1.parts.0.cpu_min", -1, NOT_NEGATIVE),
    ("requests.1.parts.0.cpu_min", 6, "must be at most cpu, 5"),
    ("requests.1.parts.0.machine", 2, "must be one of the machines 0 to 1"),
    ("requests.1.parts.0.machine", 1.5, "must be an integer"),
    ("requests.1.parts.0.benefit", [], "must have at least two points"),
    ("requests.1.parts.0.benefit", [[0, 0]], "must have at least two points"),
    ("requests.1.parts.0.benefit.1", [1], "must be a pair of a share and its benefit"),
    ("requests.1.parts.0.benefit.1.1", math.nan, FINITE),
    ("requests.1.parts.0.benefit.1.1", 2, "must be at most 1"),
    ("requests.1.parts.0.benefit.0", [0, 0.5], "must be the point of share 0 and benefit 0"),
    ("requests.1.parts.0.benefit.1.0", 0.5, "must be 1, the whole share"),
    ("colour", "red", "is not a field"),
    ("requests.1.parts.0.colour", "red", "is not a field"),
]


def changed(path, value):
    """Return the data with one field set, or dropped if `value` is MISSING."""
    whole = deepcopy(DATA)
    *above, last = (int(key) if key.isdigit() else key for key in path.split("."))
    part = whole
    for key in above:
        part = part[key]
    if value is MISSING:
        del part[last]
    else:
        part[last] = value
    return whole


def spelled(path):
    """Return ``requests[1].end`` for ``requests.1.end``."""
    first, *keys = path.split(".")
    return first + "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in keys)


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
    assert told[0][0].startswith(spelled(path)) and told[0][1].startswith(rule)


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


def test_all_faults_at_once_and_by_the_constructors():
    whole = changed("requests.0.priority", 0)
    whole["machines"][0]["capacity"] = -1
    assert [fault.path for fault in faults(whole)] == [
        "machines[0].capacity",
        "requests[0].priority",
    ]
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
