"""Relations between the fields of an instance of one divisible load, and the text of faults.

What one field may hold by itself is tested in `test_wrong_values.py`.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from tests.problems.wrong_values import keys_of, put

F = Fraction


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
    return put(data(), keys_of(path), value)


def told(found: Iterable[Any]) -> list[str]:
    return [str(fault) for fault in found]


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
        ("cluster.chi", 0, "cluster.chi: must be positive where tau[2] is 0, got 0"),
        ("cluster.chi", [1, 0, 0], "cluster.chi[2]: must be positive where tau[2] is 0, got 0"),
        ("ready_times", [0, 1], "ready_times: must have one entry for each of the 3 nodes, got 2"),
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
        (
            "cluster.speed",
            [1],
            "cluster.speed: is not a field (known: nodes, tau, chi, theta_cm, theta_cp, "
            "node_names), got [1]",
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


def test_numbers_of_thousands_of_digits_can_be_told() -> None:
    (text,) = told(iit.faults(changed("cluster.nodes", 10**5000)))
    assert text.startswith("cluster.nodes: must be at most 1000000, got ")
    long = f"{10**4200 + 1}{'0' * 900}/{10**4200}{'0' * 899}"
    wrong = {**changed("ready_times", [long] * 3), "absolute_deadline": long}
    (text,) = told(iit.faults(wrong))
    assert text.startswith("absolute_deadline: must lie after the first ready time, 10, got ")


def test_constructors_compare_fields_too() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        Instance(Cluster(1, 1, 1), (0, -1), load=True, absolute_deadline=math.nan)
    assert [fault.path for fault in caught.value.faults] == [
        "ready_times[1]",
        "load",
        "absolute_deadline",
        "ready_times",
    ]
    with pytest.raises(InvalidInstanceError, match="ready_times: must have one entry"):
        replace(Instance(Cluster(1, 1, 1), (0,), 1), ready_times=(0, 1))


def test_a_deadline_is_compared_with_ready_times_as_the_decimals_that_they_print() -> None:
    with pytest.raises(InvalidInstanceError, match="must lie after the first ready time"):
        Instance(Cluster(1, 1, 1), (Fraction(1, 10),), load=1, absolute_deadline=0.1)
