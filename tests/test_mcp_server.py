"""Assistants call books and jobs: through the protocol's own client, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema
from mcp.client import Client as Assistant

from dlopt import Admission
from dlopt.client import AsyncClient, RetryPolicy
from dlopt.mcp_server import mcp_server
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.service_api.input_schemas import TOOL_OPERATIONS
from tests.client.fake_service import FakeService

URL = "http://service.test"
CLUSTER = Cluster(4, tau=1, chi=3)
TASK = {"id": "scan", "arrival": 0, "load": 6, "deadline": 20}


def converse(talk: Callable[[Assistant], Awaitable[None]]) -> FakeService:
    """Let an assistant talk to the tools of a service."""
    service = FakeService()

    async def run() -> None:
        once = RetryPolicy(attempts=1)
        async with (
            AsyncClient(URL, transport=service.transport, retry_policy=once) as client,
            Assistant(mcp_server(client)) as assistant,
        ):
            await talk(assistant)

    asyncio.run(run())
    return service


async def call(assistant: Assistant, tool: str, /, **arguments: Any) -> Any:
    answer = await assistant.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


def test_every_operation_is_a_tool() -> None:
    async def talk(assistant: Assistant) -> None:
        tools = (await assistant.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOL_OPERATIONS)
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.description and tool.annotations is not None
        read_only = {tool.name for tool in tools if tool.annotations.read_only_hint}  # type: ignore[union-attr]
        assert {"book_ask", "book_offer", "book_plan", "list_books", "job_result"} <= read_only
        changing = {"book_submit", "book_hold", "book_cancel", "create_book", "submit_job"}
        assert not read_only & (changing | {"cancel_job", "book_advance", "delete_book"})
        lossy = {tool.name for tool in tools if tool.annotations.destructive_hint}  # type: ignore[union-attr]
        assert {"book_cancel", "delete_book"} <= lossy and "book_submit" not in lossy
        idempotent = {tool.name for tool in tools if tool.annotations.idempotent_hint}  # type: ignore[union-attr]
        assert read_only | {"create_book", "delete_book", "cancel_job"} == idempotent

    converse(talk)


def test_an_assistant_negotiates() -> None:
    async def talk(assistant: Assistant) -> None:
        local = Admission(CLUSTER)
        await call(
            assistant, "create_book", name="a", problem="admission", cluster=CLUSTER.to_data()
        )
        assert (await call(assistant, "list_books"))["books"][0]["name"] == "a"
        done = await call(assistant, "book_submit", name="a", task=TASK)
        assert done["decision"] == local.submit(Task(**TASK)).to_data()  # type: ignore[arg-type]
        rush = {"id": "rush", "arrival": 1, "load": "25/3", "deadline": 17}
        assert not (await call(assistant, "book_ask", name="a", task=rush))["decision"]["accepted"]
        (offer, *_) = (await call(assistant, "book_offer", name="a", task=rush, k=1))["offers"]
        done = await call(assistant, "book_submit", name="a", **offer["submission"])
        assert done["decision"]["accepted"]

    service = converse(talk)
    assert service.books["a"].describe().body["promises"] == 2


def test_an_assistant_submits_a_batch() -> None:
    async def talk(assistant: Assistant) -> None:
        machines = [{"id": "m", "capacity": 100}]
        await call(assistant, "create_book", name="a", problem="coreservation", machines=machines)
        window = {"arrival": 0, "start": 5, "end": 15, "priority": 1, "parts": [{"cpu": 60}]}
        batch = [{"id": name, **window} for name in "ab"]
        done = await call(assistant, "book_submit", name="a", requests=batch, at="3/2")
        assert [(one["accepted"], one["at"]) for one in done["decisions"]] == [
            (True, "3/2"),
            (False, "3/2"),
        ]

    converse(talk)


def test_an_assistant_gets_every_fault() -> None:
    async def talk(assistant: Assistant) -> None:
        await call(
            assistant, "create_book", name="a", problem="admission", cluster=CLUSTER.to_data()
        )
        wrong = {"id": "", "arrival": -1, "load": 0}
        answer = await assistant.call_tool("book_submit", {"name": "a", "task": wrong})
        assert answer.is_error
        paths = {fault["path"].rpartition(".")[2] for fault in answer.structured_content["faults"]}
        assert {"arrival", "load", "deadline"} <= paths
        answer = await assistant.call_tool("book_confirm", {"name": None, "ids": "x"})
        assert answer.is_error
        paths = {fault["path"] for fault in answer.structured_content["faults"]}
        assert paths == {"name", "id", "ids"}
        for name, arguments in [("book_plan", {"name": "b"}), ("solve_it", {}), ("book_log", {})]:
            answer = await assistant.call_tool(name, arguments)
            assert answer.is_error and answer.content[0].text  # type: ignore[union-attr]

    converse(talk)
