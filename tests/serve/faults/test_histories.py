"""Histories that no sequential engine explains are found, one small change each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.serve.faults.clients import DEFINITION, ConcurrentClients, Connection, whole_log
from tests.serve.faults.histories import SeenCall, history_faults
from tests.serve.running_service import RunningService


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory):
    """Return what eight clients saw of a book, and its log."""
    with RunningService(tmp_path_factory.mktemp("history")) as server:
        connection = Connection(server.address)
        connection.ask("PUT", "/v1/books/a", DEFINITION)
        clients = ConcurrentClients(server.address, "a", 0)
        clients.run_until(300, lambda: None)
        records = whole_log(connection, "a")
        connection.close()
    return clients.calls, records


def test_what_happened_is_linearizable(history) -> None:
    calls, records = history
    assert history_faults(DEFINITION, calls, records) == []
    assert {call.status for call in calls} >= {200, 422}
    assert {call.verb for call in calls if call.status == 200} >= {"submit", "ask", "advance"}


def changed(calls: list[SeenCall], call: SeenCall, **fields: object) -> list[SeenCall]:
    return [replace(one, **fields) if one is call else one for one in calls]


def _acknowledged(calls: list[SeenCall], verb: str) -> SeenCall:
    found = [call for call in calls if call.verb == verb and call.status == 200]
    return found[len(found) // 2]  # many calls began after it, and many had ended before


def test_a_lost_change(history) -> None:
    calls, records = history
    found = history_faults(DEFINITION, calls, records[:-10])
    assert any("was acknowledged, and is lost" in fault for fault in found)


def test_changes_that_nobody_sent_or_that_were_refused(history) -> None:
    calls, records = history
    call = _acknowledged(calls, "submit")
    found = history_faults(DEFINITION, [one for one in calls if one is not call], records)
    assert f"{call.key} is in the log, and nobody sent it" in found
    found = history_faults(DEFINITION, changed(calls, call, status=503), records)
    assert f"{call.key} was answered with 503, and is in the log" in found


def test_another_answer(history) -> None:
    calls, records = history
    for verb in ("submit", "ask"):
        call = _acknowledged(calls, verb)
        assert call.answer is not None
        decision = call.answer["decision"]
        answer = {"decision": decision | {"accepted": not decision["accepted"]}}
        assert len(history_faults(DEFINITION, changed(calls, call, answer=answer), records)) == 1


def test_a_log_that_answers_otherwise_than_the_engine(history) -> None:
    calls, records = history
    call = _acknowledged(calls, "submit")
    assert call.answer is not None
    decision = call.answer["decision"]
    answer = {"decision": decision | {"accepted": not decision["accepted"]}}
    wrong = [
        record | {"answer": answer} if record["idempotency_key"] == call.key else record
        for record in records
    ]
    found = history_faults(DEFINITION, changed(calls, call, answer=answer), wrong)
    assert any(fault.startswith("the engine answers") for fault in found)


def test_an_answer_out_of_date_and_one_before_its_time(history) -> None:
    calls, records = history
    call = _acknowledged(calls, "ask")
    assert call.version is not None
    for other in (call.version - 40, call.version + 40):
        found = history_faults(DEFINITION, changed(calls, call, version=other), records)
        assert any(fault.startswith(f"{call.key} is at {other}") for fault in found)


def test_a_change_that_stands_before_what_had_ended(history) -> None:
    calls, records = history
    call = _acknowledged(calls, "submit")
    late = calls[-1].ended + 1
    found = history_faults(DEFINITION, changed(calls, call, begun=late, ended=late + 1), records)
    assert any(fault.startswith(f"{call.key} is at") for fault in found)


def test_a_refusal_without_a_reason(history) -> None:
    calls, records = history
    call = _acknowledged(calls, "ask")
    late = {"task": call.arguments["task"] | {"arrival": 10_000}}  # no clock is ever past it
    other = changed(calls, call, arguments=late, status=422, version=None, answer=None)
    assert f"{call.key} was refused for no reason" in history_faults(DEFINITION, other, records)
