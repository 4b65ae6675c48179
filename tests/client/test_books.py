"""A remote book answers as the local one, in the same records and numbers."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import Any

import httpx
import pytest

from dlopt import Admission, CoReservation, MultiStage
from dlopt.client import (
    AsyncClient,
    AsyncJob,
    AsyncRemoteBook,
    Client,
    Job,
    RefusedRequestError,
    RemoteBook,
    RetryPolicy,
)
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request
from dlopt.problems.multistage import Reservation
from tests.client.fake_service import FakeService

URL = "http://service.test"
CLUSTER = Cluster(4, tau=1, chi=Fraction(10, 3))
MACHINES = [Machine("a", 70), Machine("b", ((0, 50), (20, 100)))]


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def client(service: FakeService) -> Any:
    with Client(URL, transport=service.transport) as client:
        yield client


def test_a_stream_of_tasks(client: Client) -> None:
    local = Admission(CLUSTER)
    remote = client.create("a/b", "admission", cluster=CLUSTER)
    first, rush = Task("scan", 0, 6, 20), Task("rush", 1, Fraction(25, 3), 17)
    assert remote.submit(first) == local.submit(first)
    assert remote.ask(rush) == local.ask(rush)
    assert not remote.ask(rush).accepted
    assert remote.why(rush) == local.why(rush)
    offers = remote.offer(rush, k=2)
    assert offers == local.offer(rush, k=2)
    assert any(isinstance(offer.value, Fraction) for offer in offers)
    assert remote.submit(offers[0].submission).accepted
    local.submit(offers[0].submission)
    assert remote.plan() == local.plan()
    assert remote.advance(Fraction(9, 2)) == Fraction(9, 2)
    local.advance(Fraction(9, 2))
    assert remote.resources(fail=[0]) == local.resources(fail=[0])
    late = Task("late", 5, 1, 90)
    assert remote.submit(late) == local.submit(late)
    assert remote.cancel("late") == local.cancel("late")
    assert remote.advance(100) == 100
    local.advance(100)
    assert remote.archive() == local.archive()
    assert Admission.restore(remote.snapshot()).snapshot() == local.snapshot()


def test_reservations_beside_tasks(client: Client) -> None:
    cluster = Cluster(4, tau=1, chi=3)
    local, remote = MultiStage(cluster), client.create("m", "multistage", cluster=cluster)
    demo = Reservation("demo", 0, 16, 24, nodes=3)
    assert remote.reserve(demo) == local.reserve(demo)
    assert remote.submit(Task("scan", 0, 6, 20)) == local.submit(Task("scan", 0, 6, 20))
    wide = Reservation("wide", 0, 17, 20, io_ratio=Fraction(1, 4), nodes=2)
    assert remote.offer(wide) == local.offer(wide)
    assert remote.change(Reservation("demo", 0, 16, 23, nodes=3)).accepted
    assert remote.plan().decisions == local.plan().decisions


def test_cpu_shares(client: Client) -> None:
    local = CoReservation(MACHINES)
    remote = client.create("shares", "coreservation", machines=MACHINES)
    first = Request("r", 0, 5, 15, 1, (Part(60), Part(40)))
    assert remote.submit(first) == local.submit([first])[0]
    second = Request("s", 0, 2, 12, 1, (Part(40),))
    assert remote.ask(second) == local.ask(second)
    assert remote.why(second) == local.why(second)
    assert remote.offer(second) == local.offer(second)
    assert remote.plan() == local.plan()
    assert remote.advance(10) == 10
    local.advance(10)
    assert remote.finished("r", 12) == local.finished("r", 12)


def test_requests_that_are_decided_together(client: Client) -> None:
    local = CoReservation(MACHINES)
    remote = client.create("shares", "coreservation", machines=MACHINES)
    batch = [Request(name, 0, 5, 15, 1, (Part(60),)) for name in "abc"]
    assert remote.ask_batch(batch, at=Fraction(3, 2)) == local.ask(batch, at=Fraction(3, 2))
    decisions = remote.submit_batch(batch, at=Fraction(3, 2), if_match=0)
    assert decisions == local.submit(batch, at=Fraction(3, 2))
    assert {decision.accepted for decision in decisions} == {True, False}
    assert remote.version == 1 and remote.plan() == local.plan()


@pytest.mark.parametrize(
    ("awaited", "blocking"), [(AsyncClient, Client), (AsyncRemoteBook, RemoteBook), (AsyncJob, Job)]
)
def test_both_clients_have_the_same_methods(awaited: type, blocking: type) -> None:
    def names(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    # What the awaited ones have as attributes of their objects are properties of the others.
    assert names(blocking) - names(awaited) <= {"name", "version", "id", "instance"}
    for name in names(awaited):
        assert getattr(blocking, name).__name__ == getattr(awaited, name).__name__


def test_a_hold_expires_unless_it_is_confirmed(client: Client, service: FakeService) -> None:
    book = client.create("shares", "coreservation", machines=MACHINES)
    held = book.hold(Request("r", 0, 5, 15, 1, (Part(60),)), ttl_s=10)
    assert held.decision.accepted and held.hold is not None
    assert (held.hold.id, held.hold.expires_at) == ("r", service.wall + 10)
    kept = book.hold(Request("k", 0, 5, 15, 1, (Part(50),)), ttl_s=10)
    assert kept.hold is not None and book.describe().holds == 2
    book.confirm("k")
    assert book.hold(Request("s", 0, 5, 15, 1, (Part(60),)), ttl_s=10).hold is None
    service.wall += 11
    assert book.ask(Request("t", 0, 5, 15, 1, (Part(60),))).accepted
    assert [share.request for share in book.plan().shares] == ["k"]
    with pytest.raises(RefusedRequestError) as error:
        book.confirm("r")
    assert error.value.status == 404


def test_faults_are_those_of_the_local_book(client: Client) -> None:
    book = client.create("a", "admission", cluster=CLUSTER)
    bad = {"task": {"id": "", "arrival": -1, "load": 0}}
    with pytest.raises(InvalidInstanceError) as error:
        book.submit(bad)
    with pytest.raises(InvalidInstanceError) as expected:
        Task.from_data(bad["task"])
    assert [(fault.path, fault.rule) for fault in error.value.faults] == [
        (f"task.{fault.path}", fault.rule) for fault in expected.value.faults
    ]
    with pytest.raises(NotApplicableError):
        book.cancel("nobody")
    with pytest.raises(RefusedRequestError, match="there is no"):
        client.book("b").plan()


def test_versions_and_keys(client: Client, service: FakeService) -> None:
    book = client.create("a", "admission", cluster=CLUSTER)
    book.submit(Task("a", 0, 1, 30))
    assert book.version == 1
    book.submit(Task("b", 0, 1, 30), if_match=1)
    with pytest.raises(RefusedRequestError) as error:
        book.submit(Task("c", 0, 1, 30), if_match=1)
    assert error.value.status == 412 and book.version == 2
    with pytest.raises(RefusedRequestError):
        book.submit(Task("c", 0, 1, 30), if_match=0)
    assert book.submit(Task("c", 0, 1, 30), idempotency_key="k").accepted
    assert book.submit(Task("c", 0, 1, 30), idempotency_key="k").accepted
    assert book.version == 3
    with pytest.raises(RefusedRequestError) as error:
        book.submit(Task("d", 0, 1, 30), idempotency_key="k")
    assert error.value.status == 409
    keys = [
        request.headers.get("idempotency-key")
        for request in service.requests
        if request.url.path.endswith("/submit")
    ]
    assert None not in keys and len(set(keys)) == len(keys) - 2


def test_an_option_that_does_not_exist_is_refused(client: Client) -> None:
    book = client.create("lab", "admission", cluster=Cluster(2, tau=1, chi=1))
    with pytest.raises(TypeError, match="'failed'"):
        book.resources(failed=[0])  # it is `fail`


def test_books_are_listed_and_deleted(client: Client) -> None:
    client.create("a", "admission", cluster=CLUSTER, algorithm="edf-iit-2", now=Fraction(1, 2))
    (found,) = client.books()
    assert (found.name, found.problem, found.now) == ("a", "admission", Fraction(1, 2))
    client.book("a").delete()
    assert client.books() == ()


def test_the_awaited_client_says_the_same(service: FakeService) -> None:
    async def talk() -> None:
        policy = RetryPolicy(first_pause_s=0.001)
        async with AsyncClient(URL, transport=service.transport, retry_policy=policy) as client:
            book = await client.create("a", "admission", cluster=CLUSTER)
            local = Admission(CLUSTER)
            first, rush = Task("scan", 0, 6, 20), Task("rush", 1, Fraction(25, 3), 17)
            assert await book.submit(first) == local.submit(first)
            assert await book.offer(rush) == local.offer(rush)
            assert await book.plan() == local.plan() and book.version == 1
            assert [one.name for one in await client.books()] == ["a"]
            with pytest.raises(InvalidInstanceError):
                await book.submit({"task": {"id": "x"}})

    asyncio.run(talk())


@pytest.mark.parametrize("url", ["ftp://a", "127.0.0.1:8321", "http://", "http://[::1"])
def test_an_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(NotApplicableError):
        Client(url)


def test_a_token_is_sent(service: FakeService) -> None:
    with Client(URL, token="secret", transport=service.transport) as client:
        client.books()
    assert isinstance(service.requests[0], httpx.Request)
    assert service.requests[0].headers["authorization"] == "Bearer secret"
