"""What an instance of one divisible load may hold: every fault is reported, with its path."""

import math
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems import iit
from dlopt.problems.cluster import MAX_NODES, Cluster
from dlopt.problems.iit import Chunk, Instance, Solution

F = Fraction
FINITE = 'must be a finite number or a text "p/q"'
POSITIVE = "must be positive"
NOT_NEGATIVE = "must not be negative"
INTEGER = "must be an integer"
OBJECT = "must be an object with named fields"
MISSING = object()


def data() -> dict[str, Any]:
    return {
        "name": "three",
        "cluster": {"nodes": 3, "tau": [1, 2, 0], "chi": 2, "theta_cm": 1, "theta_cp": "1/2"},
        "ready_times": [0, 1, 4],
        "load": 3,
        "absolute_deadline": 9,
        "best_known": [{"objective": "completion", "plan_class": "any", "value": 5}],
    }


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the data with one field set, or dropped if `value` is MISSING."""
    whole = data()
    *above, last = path.split(".")
    part: Any = whole
    for key in above:
        part = part[key]
    if value is MISSING:
        del part[last]
    else:
        part[last] = value
    return whole


def told(found: Iterable[Any]) -> list[str]:
    return [str(fault) for fault in found]


NO_NUMBERS = [None, True, "", "one", "1/0", "1e400", math.nan, math.inf, -math.inf, {}, 10**400]
WRONG: list[tuple[str, object, str]] = [
    ("cluster", MISSING, "is missing"),
    ("cluster", None, OBJECT),
    ("cluster", [1, 2, 3], OBJECT),
    ("cluster", 3, OBJECT),
    ("ready_times", MISSING, "is missing"),
    ("ready_times", None, "must be a list"),
    ("ready_times", 0, "must be a list"),
    ("ready_times", "0", "must be a list"),
    ("ready_times", {}, "must be a list"),
    ("ready_times", [], "must be a list of at least 1"),
    ("load", MISSING, "is missing"),
    ("load", 0, POSITIVE),
    ("load", 0.0, POSITIVE),
    ("load", "0/7", POSITIVE),
    ("load", -1, POSITIVE),
    ("load", "-1/3", POSITIVE),
    ("load", [3], FINITE),
    ("absolute_deadline", -1, NOT_NEGATIVE),
    ("absolute_deadline", [9], FINITE),
    ("name", 3, "must be a text"),
    ("origin", ["a"], "must be a text"),
    ("units", None, "must be a text"),
    ("best_known", {}, "must be a list"),
    ("cluster.nodes", MISSING, "is missing"),
    ("cluster.nodes", 0, "must be at least 1"),
    ("cluster.nodes", -1, "must be at least 1"),
    ("cluster.nodes", 10_000_000, f"must be at most {MAX_NODES}"),
    ("cluster.nodes", 10**5000, f"must be at most {MAX_NODES}"),
    *(("cluster.nodes", wrong, INTEGER) for wrong in (1.5, 3.0, True, "3", None, [3], F(3))),
    ("cluster.tau", MISSING, "is missing"),
    ("cluster.chi", MISSING, "is missing"),
    *(
        (f"cluster.{name}", wrong, NOT_NEGATIVE)
        for name in ("tau", "chi", "theta_cm", "theta_cp")
        for wrong in (-1, -0.5, "-1/2", -math.ulp(0))
    ),
    *(
        (path, wrong, FINITE)
        for path in ("load", "cluster.tau", "cluster.chi", "cluster.theta_cm", "cluster.theta_cp")
        for wrong in NO_NUMBERS
    ),
    *(("absolute_deadline", wrong, FINITE) for wrong in NO_NUMBERS[1:]),
    *((f"cluster.{name}", [1], FINITE) for name in ("theta_cm", "theta_cp")),
]


def label(value: object) -> str:
    if value is MISSING:
        return "missing"
    try:
        return repr(value)[:12]
    except ValueError:
        return "huge"


@pytest.mark.parametrize(("path", "value", "rule"), WRONG, ids=label)
def test_a_field_that_is_wrong(path: str, value: object, rule: str) -> None:
    (fault,) = iit.faults(changed(path, value))
    assert (fault.path, fault.rule) == (path, rule)
    if value is not MISSING:
        assert fault.value is value
        assert ", got " in str(fault)
    with pytest.raises(InvalidInstanceError) as caught:
        Instance.from_data(changed(path, value))
    assert caught.value.faults == (fault,)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("cluster.tau", [1, 2], "cluster.tau: must have one entry for each of the 3 nodes, got 2"),
        ("cluster.tau", [], "cluster.tau: must have one entry for each of the 3 nodes, got 0"),
        (
            "cluster.chi",
            [1, 2, 3, 4],
            "cluster.chi: must have one entry for each of the 3 nodes, got 4",
        ),
        ("cluster.tau", [1, -2, 1], "cluster.tau[1]: must not be negative, got -2"),
        ("cluster.tau", [1, 2, "x"], f"cluster.tau[2]: {FINITE}, got 'x'"),
        ("cluster.tau", [1, 2, [3]], f"cluster.tau[2]: {FINITE}, got [3]"),
        ("cluster.chi", [1, math.nan, 1], f"cluster.chi[1]: {FINITE}, got nan"),
        ("cluster.chi", [1, True, 1], f"cluster.chi[1]: {FINITE}, got True"),
        ("cluster.chi", 0, "cluster.chi: must be positive where tau[2] is 0, got 0"),
        ("cluster.chi", [1, 0, 0], "cluster.chi[2]: must be positive where tau[2] is 0, got 0"),
        ("ready_times", [0, 1], "ready_times: must have one entry for each of the 3 nodes, got 2"),
        ("ready_times", [0, 1, -4], "ready_times[2]: must not be negative, got -4"),
        ("ready_times", [0, None, 4], f"ready_times[1]: {FINITE}, got None"),
        ("ready_times", [0, math.inf, 4], f"ready_times[1]: {FINITE}, got inf"),
        (
            "ready_times",
            [9, 10, 11],
            "absolute_deadline: must lie after the first ready time, 9, got 9",
        ),
        (
            "absolute_deadline",
            0,
            "absolute_deadline: must lie after the first ready time, 0, got 0",
        ),
        ("absolute_deadline", "-1/2", "absolute_deadline: must not be negative, got '-1/2'"),
        ("best_known", [{"objective": "nodes"}], "best_known[0].plan_class: is missing"),
        (
            "speed",
            1,
            "speed: is not a field (known: name, origin, units, best_known, cluster, ready_times,"
            " load, absolute_deadline), got 1",
        ),
        (
            "cluster.speed",
            [1],
            "cluster.speed: is not a field (known: nodes, tau, chi, theta_cm, theta_cp), got [1]",
        ),
    ],
)  # fmt: skip
def test_the_text_of_a_fault(path: str, value: object, text: str) -> None:
    assert told(iit.faults(changed(path, value))) == [text]


def test_the_data_that_these_tests_change_is_fine() -> None:
    assert iit.faults(data()) == ()
    instance = Instance.from_data(data())
    assert instance == Instance(
        Cluster(3, (1, 2, 0), 2, 1, F(1, 2)), (0, 1, 4), 3, absolute_deadline=9
    )
    assert instance.best_known[0].value == 5
    for name in ("name", "absolute_deadline", "best_known", "cluster.theta_cm"):
        assert iit.faults(changed(name, MISSING)) == ()
    assert iit.faults(changed("absolute_deadline", None)) == ()


@pytest.mark.parametrize(
    ("cluster", "text"),
    [
        ({"tau": 0, "chi": 0}, "cluster.chi: must be positive where tau is 0, got 0"),
        ({"tau": "0/3", "chi": 0.0}, "cluster.chi: must be positive where tau is 0, got 0.0"),
        ({"tau": [0, 0, 1], "chi": [1, 0, 0]},
         "cluster.chi[1]: must be positive where tau[1] is 0, got 0"),
        ({"tau": 0, "chi": [1, 1, 0]}, "cluster.chi[2]: must be positive where tau[2] is 0, got 0"),
        ({"tau": [1, 0, 1], "chi": 0}, "cluster.chi: must be positive where tau[1] is 0, got 0"),
    ],
)  # fmt: skip
def test_a_node_that_takes_no_time(cluster: dict[str, object], text: str) -> None:
    wrong = {"cluster": {"nodes": 3, **cluster}, "ready_times": [0, 0, 0], "load": 1}
    assert told(iit.faults(wrong)) == [text]
    with pytest.raises(InvalidInstanceError):
        Cluster(3, **{name: tuple(c) if isinstance(c, list) else c for name, c in cluster.items()})


def test_all_faults_are_told_at_once() -> None:
    wrong = {
        "cluster": {"nodes": 3, "tau": [0, 1], "chi": [0, 1, -1], "theta_cm": "x", "speed": 1},
        "ready_times": [-1, 5],
        "load": 0,
        "absolute_deadline": -1,
        "best_known": [{}],
        "deadline": 3,
    }
    assert [fault.path for fault in iit.faults(wrong)] == [
        "best_known[0].objective",
        "best_known[0].plan_class",
        "cluster.chi[2]",
        "cluster.theta_cm",
        "cluster.speed",
        "cluster.tau",
        "ready_times[0]",
        "load",
        "absolute_deadline",
        "deadline",
    ]
    lengths = {
        "cluster": {"nodes": 2, "tau": [0, 1, 0], "chi": [0, 1, 0]},
        "ready_times": [5, 6, 7],
        "load": 1,
        "absolute_deadline": 5,
    }
    assert told(iit.faults(lengths)) == [
        "cluster.tau: must have one entry for each of the 2 nodes, got 3",
        "cluster.chi: must have one entry for each of the 2 nodes, got 3",
        "cluster.chi[0]: must be positive where tau[0] is 0, got 0",
        "cluster.chi[2]: must be positive where tau[2] is 0, got 0",
        "absolute_deadline: must lie after the first ready time, 5, got 5",
    ]
    two = {"cluster": {"nodes": 2, "tau": 1, "chi": 1}, "ready_times": [5], "load": 1}
    assert [fault.path for fault in iit.faults({**two, "absolute_deadline": 2})] == [
        "ready_times",
        "absolute_deadline",
    ]


@pytest.mark.parametrize("wrong", [None, [], "cluster", 3, [data()]])
def test_what_is_no_object_is_no_instance(wrong: object) -> None:
    (fault,) = iit.faults(wrong)
    assert (fault.path, fault.value, fault.rule) == ("", wrong, OBJECT)


def test_a_ready_time_of_thousands_of_digits_can_be_told() -> None:
    long = f"{10**4200 + 1}{'0' * 900}/{10**4200}{'0' * 899}"
    wrong = {**changed("ready_times", [long] * 3), "absolute_deadline": long}
    (text,) = told(iit.faults(wrong))
    assert text.startswith("absolute_deadline: must lie after the first ready time, 10, got ")


def test_constructors_check_too() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        Instance(Cluster(1, 1, 1), (0, -1), load=True, absolute_deadline=math.nan)
    assert [fault.path for fault in caught.value.faults] == [
        "ready_times[1]",
        "load",
        "absolute_deadline",
        "ready_times",
    ]
    with pytest.raises(InvalidInstanceError, match=r"^chi: is missing|^nodes: must be an integer"):
        Cluster(1.0, 1, 1)
    with pytest.raises(InvalidInstanceError, match="ready_times: must have one entry"):
        replace(Instance(Cluster(1, 1, 1), (0,), 1), ready_times=(0, 1))
    with pytest.raises(InvalidInstanceError) as caught:
        Chunk(0.5, "x", 0, True, math.inf, None)
    assert [fault.path for fault in caught.value.faults] == [
        "node",
        "load",
        "transmission_end",
        "computation_start",
        "computation_end",
    ]
    with pytest.raises(InvalidInstanceError, match=r"chunks\[0\]: must be an object"):
        Solution((1,))


def test_data_is_left_as_it_was() -> None:
    before = data()
    after = deepcopy(before)
    iit.faults(after)
    Instance.from_data(after)
    assert after == before


def test_a_deadline_is_compared_with_ready_times_as_the_decimals_that_they_print() -> None:
    with pytest.raises(InvalidInstanceError, match="must lie after the first ready time"):
        Instance(Cluster(1, 1, 1), (Fraction(1, 10),), load=1, absolute_deadline=0.1)
