"""Relations between the fields of a stream of loads: every fault is reported, with its path.

What one field may hold by itself is tested in `test_wrong_values.py`.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import MISSING, InvalidInstanceError
from dlopt.problems import admission
from dlopt.problems.admission import Commitment, Instance, Task
from dlopt.problems.cluster import Cluster
from tests.problems.wrong_values import keys_of, put

F = Fraction


def data() -> dict[str, Any]:
    return {
        "name": "busy",
        "cluster": {"nodes": 3, "tau": [1, 2, 0], "chi": 2, "theta_cm": 1, "theta_cp": "1/2"},
        "tasks": [
            {"id": "a", "arrival": 1, "load": 6, "deadline": 30, "remaining": 2},
            {"id": "b", "arrival": "5/2", "load": 2, "deadline": 8},
            {"id": "c", "arrival": 4, "load": 3, "deadline": 12},
        ],
        "now": 3,
        "ready_times": [0, 5, 4],
        "channel_ready": 2,
        "committed": [{"task": "a", "node": 0, "start": 1, "load": 4, "end": 10}],
        "best_known": [{"objective": "accepted", "plan_class": "any", "value": 3}],
    }


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the data with one field set, or dropped if `value` is MISSING."""
    return put(data(), keys_of(path), value)


def told(found: Iterable[Any]) -> list[str]:
    return [str(fault) for fault in found]


def wrong_task(**fields: object) -> dict[str, object]:
    return {"id": "b", "arrival": 2, "load": 2, "deadline": 8, **fields}


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("tasks.1.id", "a", "tasks[1].id: must be given to one task only, got 'a'"),
        ("tasks.1.id", "", "tasks[1].id: must not be empty, got ''"),
        (
            "tasks.1.arrival",
            "1/2",
            "tasks[1].arrival: must not lie before the arrival of the task before, 1, got 1/2",
        ),
        (
            "tasks.2.arrival",
            2.25,
            "tasks[2].arrival: must not lie before the arrival of the task before, 5/2, got 2.25",
        ),
        (
            "tasks.0.remaining",
            7,
            "tasks[0].remaining: must not exceed the load, 6, got 7",
        ),
        (
            "tasks.2.remaining",
            1,
            "tasks[2].remaining: is for tasks that arrived before now only, got 1",
        ),
        (
            "tasks.1",
            wrong_task(arrival=3, remaining=1),
            "tasks[1].remaining: is for tasks that arrived before now only, got 1",
        ),
        ("ready_times", [0, 1], "ready_times: must have one entry for each of the 3 nodes, got 2"),
        ("committed.0.node", -1, "committed[0].node: must be one of the nodes 0 to 2, got -1"),
        ("committed.0.node", 3, "committed[0].node: must be one of the nodes 0 to 2, got 3"),
        ("committed.0.start", "16/5", "committed[0].start: must not lie after now, 3, got 16/5"),
        (
            "committed.0.start",
            0.5,
            "committed[0].start: must not lie before the task arrives, 1, got 0.5",
        ),
        ("committed.0.end", "1/2", "committed[0].end: must not lie before the start, got 1/2"),
        ("cluster.tau", [1, 2], "cluster.tau: must have one entry for each of the 3 nodes, got 2"),
    ],
)
def test_the_text_of_a_fault(path: str, value: object, text: str) -> None:
    assert told(admission.faults(changed(path, value))) == [text]
    with pytest.raises(InvalidInstanceError) as caught:
        Instance.from_data(changed(path, value))
    assert told(caught.value.faults) == [text]


def test_the_data_that_these_tests_change_is_fine() -> None:
    assert admission.faults(data()) == ()
    instance = Instance.from_data(data())
    assert instance == Instance(
        Cluster(3, (1, 2, 0), 2, 1, F(1, 2)),
        (Task("a", 1, 6, 30, remaining=2), Task("b", F(5, 2), 2, 8), Task("c", 4, 3, 12)),
        now=3,
        ready_times=(0, 5, 4),
        channel_ready=2,
        committed=(Commitment("a", 0, 1, 4, 10),),
    )
    assert instance.best_known[0].value == 3
    names = ("name", "ready_times", "channel_ready", "committed", "best_known", "tasks.0.remaining")
    for name in names:
        assert admission.faults(changed(name, MISSING)) == ()
    for name in ("ready_times", "committed"):
        assert admission.faults(changed(name, [])) == ()
    assert admission.faults(changed("tasks.0.remaining", None)) == ()
    assert admission.faults(changed("committed.0.task", "long gone")) == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tasks.1.arrival", 1),
        ("tasks.1.deadline", 0),
        ("tasks.0.remaining", 0),
        ("tasks.0.remaining", 6),
        ("committed.0.start", 1),
        ("committed.0.start", 3),
        ("committed.0.end", 1),
        ("committed.0.load", 0),
        ("committed.0.load", 6),
    ],
)
def test_what_is_just_right(path: str, value: object) -> None:
    assert admission.faults(changed(path, value)) == ()


def test_no_more_is_committed_than_there_is() -> None:
    assert told(admission.faults(changed("committed.0.load", 7))) == [
        "tasks[0].load: must not be less than what is committed of it, 7, got 6"
    ]


def test_without_now_it_is_the_beginning() -> None:
    """What only an instance with a past may say is told beside the default of `now` too."""
    assert told(admission.faults(changed("now", MISSING))) == [
        "tasks[0].remaining: is for tasks that arrived before now only, got 2",
        "committed[0].start: must not lie after now, 0, got 1",
    ]
    with pytest.raises(InvalidInstanceError, match="must not lie after now, 0, got 1"):
        Instance.from_data(changed("now", MISSING))


def test_a_now_that_is_wrong_says_nothing_of_the_rest() -> None:
    late = changed("now", -1)
    late["tasks"][2]["remaining"] = 1
    late["committed"][0]["start"] = 100
    assert [fault.path for fault in admission.faults(late)] == ["now", "committed[0].end"]


def test_now_is_told_in_full() -> None:
    late = changed("now", 1234567.25)
    late["committed"][0] |= {"start": 1234567.5, "end": 1234568}
    assert told(admission.faults(late)) == [
        "committed[0].start: must not lie after now, 1234567.25, got 1234567.5"
    ]


def test_an_identity_that_is_given_often() -> None:
    task = {"id": "a", "arrival": 1, "load": 6, "deadline": 30}
    whole = {**data(), "tasks": [task, task, {**task, "id": "b"}, task]}
    rule = "must be given to one task only, got 'a'"
    found = told(admission.faults(whole))
    assert found == [f"tasks[1].id: {rule}", f"tasks[3].id: {rule}"]


def test_arrivals_are_held_against_the_latest_before() -> None:
    whole = data()
    del whole["tasks"][0]["remaining"]
    whole["committed"] = []
    for task, arrival in zip(whole["tasks"], (5, 1, 4), strict=True):
        task["arrival"] = arrival
    rule = "must not lie before the arrival of the task before, 5, got"
    assert told(admission.faults(whole)) == [
        f"tasks[1].arrival: {rule} 1",
        f"tasks[2].arrival: {rule} 4",
    ]


def test_all_faults_between_fields_are_told_at_once() -> None:
    wrong = {
        "cluster": {"nodes": 2, "tau": 1, "chi": 1},
        "tasks": [
            {"id": "a", "arrival": 2, "load": 1, "deadline": 3},
            {"id": "a", "arrival": 1, "load": 2, "deadline": 3},
            {"id": "", "arrival": 5, "load": 2, "deadline": 3, "remaining": 1},
        ],
        "now": 4,
        "ready_times": [0],
        "committed": [
            {"task": "z", "node": 2, "start": 5, "load": 1, "end": 4},
            {"task": "a", "node": -1, "start": 0, "load": 1, "end": 4},
        ],
    }
    assert [fault.path for fault in admission.faults(wrong)] == [
        "tasks[1].id",
        "tasks[1].arrival",
        "tasks[2].id",
        "tasks[2].remaining",
        "ready_times",
        "committed[0].node",
        "committed[0].start",
        "committed[0].end",
        "committed[1].node",
        "committed[1].start",
    ]


def test_constructors_compare_fields_too() -> None:
    with pytest.raises(InvalidInstanceError, match="remaining: must not exceed the load, 3, got 4"):
        Task("a", 0, 3, 9, remaining=4)
    with pytest.raises(InvalidInstanceError) as caught:
        Instance(Cluster(1, 1, 1), (Task("a", 2, 1, 1), Task("a", 1, 1, 1)), now=-1)
    assert [fault.path for fault in caught.value.faults] == [
        "now",
        "tasks[1].id",
        "tasks[1].arrival",
    ]
    with pytest.raises(InvalidInstanceError, match="ready_times: must have one entry"):
        replace(Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 1),)), ready_times=(0, 1))
