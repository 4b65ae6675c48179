"""Of a test that passes, its parent process learns that, and of others everything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.worker_messages import fewer_messages, report_less


class WorkerInteractor:
    """Stands for the plugin of pytest-xdist, and notes what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def sendevent(self, name: str, **values: Any) -> None:
        self.sent.append((name, values))


def configuration(plugin: object, *, is_worker: bool = True, **options: object) -> Any:
    defaults = {"verbose": -1, "durations": None, "xmlpath": None, "record_slow": False}
    config = SimpleNamespace(
        option=SimpleNamespace(**defaults | options),
        pluginmanager=SimpleNamespace(get_plugins=lambda: {object(), plugin}),
    )
    if is_worker:
        config.workerinput = {}
    return config


def report(when: str, outcome: str = "passed", sections: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"when": when, "outcome": outcome, "sections": [*sections], "keywords": {"slow": 1}}


def messages_of(data: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return all messages about a test, whose phases are reported so."""
    return [
        ("logstart", {"nodeid": "a"}),
        *(("testreport", {"data": one}) for one in data),
        ("logfinish", {"nodeid": "a"}),
        ("runtest_protocol_complete", {"item_index": 0, "duration": 0.1}),
    ]


def sent(messages: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    plugin = WorkerInteractor()
    send = fewer_messages(plugin.sendevent)
    for name, values in messages:
        send(name, **values)
    return plugin.sent


def test_of_a_test_that_passes_two_messages_are_left() -> None:
    (name, values), last = sent(
        messages_of([report(when) for when in ("setup", "call", "teardown")])
    )
    assert (name, values["data"]["when"], values["data"]["outcome"]) == (
        "testreport",
        "call",
        "passed",
    )
    assert last == ("runtest_protocol_complete", {"item_index": 0, "duration": 0.1})


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_what_does_not_pass_is_reported_with_all_that_is_known(when: str, outcome: str) -> None:
    data = report(when, outcome)
    assert ("testreport", {"data": report(when, outcome)}) in sent(messages_of([data]))


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_what_fixtures_print_is_reported(when: str) -> None:
    section = (f"Captured stdout {when}", "text")
    (name, values), _ = sent(messages_of([report(when, sections=(section,))]))
    assert name == "testreport" and values["data"]["sections"] == [section]


@pytest.mark.parametrize("name", ["workerready", "collectionfinish", "warning_recorded"])
def test_other_messages_are_sent_as_they_are(name: str) -> None:
    assert sent([(name, {"nodeid": "a"})]) == [(name, {"nodeid": "a"})]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 2),
        ({"verbose": 1}, 6),
        ({"durations": 10}, 6),
        ({"xmlpath": "tests.xml"}, 6),
        ({"record_slow": True}, 6),
        ({"is_worker": False}, 6),
    ],
)
def test_what_options_read_is_reported(options: dict[str, Any], count: int) -> None:
    plugin = WorkerInteractor()
    report_less(configuration(plugin, **options))
    for name, values in messages_of([report(when) for when in ("setup", "call", "teardown")]):
        plugin.sendevent(name, **values)
    assert len(plugin.sent) == count
