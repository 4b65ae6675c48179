"""The client, the broker and the assistant's tools with the real service."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client as Assistant

import dlopt
from dlopt import Admission, CoReservation, MultiStage
from dlopt.client import AsyncClient, Client, RefusedRequestError
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request
from dlopt.problems.multistage import Reservation
from dlopt.serve.broker import Broker, BrokerLog
from dlopt.serve.store import Store
from tests.serve.broker.domains import wanting
from tests.serve.running_service import RunningService

CLUSTER = Cluster(4, tau=1, chi=Fraction(10, 3))
MACHINES = [Machine("a", 70), Machine("b", ((0, 50), (20, 100)))]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RunningService(tmp_path_factory.mktemp("service")) as service:
        yield service.address


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client


def test_a_stream_of_tasks(client: Client) -> None:
    local, remote = Admission(CLUSTER), client.create("tasks", "admission", cluster=CLUSTER)
    first, rush = Task("scan", 0, 6, 20), Task("rush", 1, Fraction(25, 3), 17)
    assert remote.submit(first) == local.submit(first)
    assert remote.ask(rush) == local.ask(rush)
    assert remote.why(rush) == local.why(rush)
    assert remote.offer(rush, k=2) == local.offer(rush, k=2)
    best = local.offer(rush)[0].submission
    assert remote.submit(best, if_match=1) == local.submit(best)
    assert remote.plan() == local.plan()
    assert remote.advance(Fraction(9, 2)) == Fraction(9, 2)
    local.advance(Fraction(9, 2))
    assert remote.resources(fail=[0]) == local.resources(fail=[0])
    late = Task("late", 5, 1, 90)
    assert remote.submit(late) == local.submit(late)
    state, expected = remote.state(), local.state()
    assert state is not None and expected is not None
    assert (state.instance, state.plan, state.nodes) == tuple(expected)
    assert remote.cancel("late") == local.cancel("late")
    assert remote.advance(100) == 100
    local.advance(100)
    assert remote.archive() == local.archive()
    assert Admission.restore(remote.snapshot()).snapshot() == local.snapshot()
    assert remote.version == len(remote.log()) == remote.describe().version
    with pytest.raises(RefusedRequestError) as error:
        remote.submit(Task("x", 100, 1, 9), if_match=1)
    assert error.value.status == 412 and error.value.request_id
    with pytest.raises(RefusedRequestError) as error:
        remote.delete(if_match=1)
    assert error.value.status == 412
    remote.delete(if_match=remote.version)
    with pytest.raises(RefusedRequestError):
        remote.describe()


def test_reservations_and_shares(client: Client) -> None:
    cluster = Cluster(4, tau=1, chi=3)
    local, remote = MultiStage(cluster), client.create("nodes", "multistage", cluster=cluster)
    demo = Reservation("demo", 0, 16, 24, nodes=3)
    assert remote.reserve(demo) == local.reserve(demo)
    wide = Reservation("wide", 0, 17, 20, io_ratio=Fraction(1, 4), nodes=2)
    assert remote.offer(wide) == local.offer(wide)
    assert remote.submit(Task("demo", 0, 6, 20)) == local.submit(Task("demo", 0, 6, 20))
    assert remote.cancel("demo", kind="task") == local.cancel("demo", kind="task")
    assert remote.advance(30) == 30
    local.advance(30)
    assert remote.archive() == local.archive()
    shares = client.create("shares", "coreservation", machines=MACHINES)
    own_shares, request = CoReservation(MACHINES), Request("r", 0, 5, 15, 1, (Part(60), Part(40)))
    assert shares.submit(request) == own_shares.submit([request])[0]
    assert shares.plan() == own_shares.plan()


def test_holds(client: Client) -> None:
    book = client.create("held", "coreservation", machines=MACHINES)
    held = book.hold(Request("r", 0, 5, 15, 1, (Part(60),)), ttl_s=30, idempotency_key="k")
    again = book.hold(Request("r", 0, 5, 15, 1, (Part(60),)), ttl_s=30, idempotency_key="k")
    assert held == again and held.hold is not None and held.hold.ttl_s == 30
    assert book.confirm("r") == held.hold
    assert book.hold(Request("s", 0, 5, 15, 1, (Part(40),)), ttl_s=30).decision.accepted
    book.release("s")
    with pytest.raises(RefusedRequestError) as error:
        book.confirm("s")
    assert error.value.status == 404
    assert [share.request for share in book.plan().shares] == ["r"]


def test_faults_are_those_of_the_service(client: Client) -> None:
    book = client.create("faults", "admission", cluster=CLUSTER)
    with pytest.raises(InvalidInstanceError) as error:
        book.submit({"task": {"id": "", "arrival": -1, "load": 0}})
    paths = {fault.path.removeprefix("task.") for fault in error.value.faults}
    assert {"arrival", "load", "deadline"} <= paths
    with pytest.raises(NotApplicableError):
        book.cancel("nobody")


def test_a_job_is_followed_to_its_result(client: Client) -> None:
    instance = dlopt.read("instances/iit/three-nodes.json", exact_numbers=True)
    job = client.solve(instance, limits=dlopt.Limits(time_s=20))
    events = list(job.events())
    assert [event.event for event in events[:2]] == ["queued", "started"]
    assert events[-1].event == "ended" and [event.id for event in events] == sorted(
        event.id for event in events
    )
    assert list(job.events(after=events[-2].id)) == events[-1:]
    status = job.wait()
    assert status.ended and status.state == "done" and status.progress is not None
    result = job.result()
    assert result.value == dlopt.solve(instance).value and isinstance(result.value, Fraction)
    assert dlopt.check(instance, result.solution) == ()  # type: ignore[arg-type]
    assert job.id in {one.id for one in client.jobs()}
    assert client.solve(instance, limits=dlopt.Limits(time_s=20)).id == job.id
    with pytest.raises(InvalidInstanceError):
        client.solve(instance, "no-such-method")
    with pytest.raises(RefusedRequestError):
        client.job("none", instance).status()


def test_a_job_is_stopped_and_methods_are_compared(client: Client) -> None:
    instance = dlopt.read("instances/iit/three-nodes.json", exact_numbers=True)
    compared = client.compare(instance, ["exact", "opr"])
    assert compared.wait().state == "done"
    assert {row["method"] for row in compared.data()["rows"]} == {"exact", "opr"}  # type: ignore[attr-defined]
    methods, options = ["exact", "edf-iit-2"], {"solver": "HiGHS"}
    certified = client.compare(instance, methods, certified=True, options=options)
    claimed = client.solve(instance, "edf-iit-2", certified=True)
    assert certified.wait().state == claimed.wait().state == "done"
    rows = certified.data()["rows"]  # type: ignore[attr-defined]
    found = {row["method"]: row["status"] for row in rows}
    assert found == {"exact": "optimal", "edf-iit-2": "feasible"}
    assert (claimed.result().status, claimed.result().bound) == (dlopt.Status.FEASIBLE, None)
    hard = dlopt.generate("bag", "braun", seed=1, tasks=200, machines=12)
    job = client.solve(hard, limits=dlopt.Limits(time_s=60))
    for event in job.events():
        if event.event == "progress":
            break
    assert job.cancel().state == "cancelled"
    result = job.result()
    assert result.solution is not None and dlopt.check(hard, result.solution) == ()


def test_the_awaited_client(url: str) -> None:
    instance = dlopt.read("instances/iit/three-nodes.json", exact_numbers=True)

    async def talk() -> None:
        async with AsyncClient(url) as client:
            book = await client.create("awaited", "admission", cluster=CLUSTER)
            tasks = [Task(f"t{number}", 0, 1, 40) for number in range(4)]
            await asyncio.gather(*map(book.submit, tasks))
            assert len((await book.plan()).decisions) == 4  # type: ignore[union-attr]
            assert (await book.ask(tasks[0])).accepted
            job = await client.solve(instance)
            assert [event.event async for event in job.events()][-1] == "ended"
            assert (await job.wait()).state == "done"
            assert (await job.result()).value == Fraction(39, 8)

    asyncio.run(talk())


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with (
        RunningService(tmp_path_factory.mktemp("far")) as service,
        Client(service.address) as client,
    ):
        yield client


@pytest.mark.parametrize("clock", ["caller", "wall"])
def test_the_broker_over_two_services(
    client: Client, far: Client, clock: str, tmp_path: Path
) -> None:
    start = int(time.time()) + 1000 if clock == "wall" else 10
    machines = [Machine("m", 100)]
    domains = {
        name: one.create(f"{name}-{clock}", "coreservation", machines=machines, clock=clock)
        for name, one in (("north", client), ("south", far))
    }
    wanted = [
        replace(
            wanting("north", "south", identity=f"r{number}"),
            start=start,
            end=start + 10,
            latest_start=start + 100,
        )
        for number in range(3)
    ]
    with Store(f"sqlite:///{tmp_path}/broker.db") as store:
        broker = Broker(domains, BrokerLog(store))
        decisions = [broker.reserve(one) for one in wanted]
        assert [decision.start for decision in decisions] == [start, start + 10, start + 20]
        assert broker.cancel("r1").reason == "it was cancelled"
    for domain in domains.values():
        assert domain.describe().promises == 2 and domain.describe().holds == 0


def test_an_assistant_starts_the_command(client: Client, url: str) -> None:
    client.create("assisted", "admission", cluster=CLUSTER)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "dlopt", "mcp", "--url", url]
    )

    async def talk() -> None:
        async with Assistant(stdio_client(command)) as assistant:
            task = {"id": "a", "arrival": 0, "load": 1, "deadline": 30}
            answer = await assistant.call_tool("book_submit", {"name": "assisted", "task": task})
            assert json.loads(answer.content[0].text)["decision"]["accepted"]  # type: ignore[union-attr]

    asyncio.run(talk())
