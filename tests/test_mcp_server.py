"""Assistants call books and jobs: through the protocol's own client, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema
from mcp.client import Client as Assistant

from dlopt import Admission
from dlopt.client import AsyncClient, Retries
from dlopt.client.operations import OPERATIONS
from dlopt.mcp_server import mcp_server
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.client.fake_service import FakeService

CLUSTER = Cluster(4, tau=1, chi=3)
TASK = {"id": "scan", "arrival": 0, "load": 6, "deadline": 20}


def converse(talk: Callable[[Assistant], Awaitable[None]]) -> FakeService:
    """Let an assistant talk to the tools of a service."""
    service = FakeService()

    async def run() -> None:
        once = Retries(attempts=1)
        async with (
            AsyncClient("http://service.test", transport=service.transport, retries=once) as client,
            Assistant(mcp_server(client)) as assistant,
        ):
            await talk(assistant)

    asyncio.run(run())
    return service


async def call(assistant: Assistant, name: str, **arguments: Any) -> Any:
    answer = await assistant.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


def test_every_operation_is_a_tool() -> None:
    async def talk(assistant: Assistant) -> None:
        tools = (await assistant.list_tools()).tools
        assert [tool.name for tool in tools] == list(OPERATIONS)
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.description and tool.annotations is not None
        read_only = {tool.name for tool in tools if tool.annotations.read_only_hint}  # type: ignore[union-attr]
        assert {"ask", "offer", "why", "plan", "books", "result", "validate"} <= read_only
        assert not read_only & {"submit", "hold", "cancel", "create", "run", "stop", "advance"}

    converse(talk)


def test_an_assistant_negotiates() -> None:
    async def talk(assistant: Assistant) -> None:
        local = Admission(CLUSTER)
        await call(assistant, "create", book="a", problem="admission", cluster=CLUSTER.to_data())
        assert (await call(assistant, "books"))["books"][0]["name"] == "a"
        done = await call(assistant, "submit", book="a", task=TASK)
        assert done["decision"] == local.submit(Task(**TASK)).to_data()  # type: ignore[arg-type]
        rush = {"id": "rush", "arrival": 1, "load": "25/3", "deadline": 17}
        assert not (await call(assistant, "ask", book="a", task=rush))["decision"]["accepted"]
        (offer, *_) = (await call(assistant, "offer", book="a", task=rush, k=1))["offers"]
        done = await call(assistant, "submit", book="a", **offer["submission"])
        assert done["decision"]["accepted"]

    service = converse(talk)
    assert service.books["a"].describe().body["promises"] == 2


def test_an_assistant_is_told_all_that_is_wrong() -> None:
    async def talk(assistant: Assistant) -> None:
        await call(assistant, "create", book="a", problem="admission", cluster=CLUSTER.to_data())
        wrong = {"id": "", "arrival": -1, "load": 0}
        answer = await assistant.call_tool("submit", {"book": "a", "task": wrong})
        assert answer.is_error
        paths = {fault["path"].rpartition(".")[2] for fault in answer.structured_content["faults"]}
        assert {"arrival", "load", "deadline"} <= paths
        answer = await assistant.call_tool("confirm", {"book": "a", "ids": "x"})
        assert answer.is_error
        paths = {fault["path"] for fault in answer.structured_content["faults"]}
        assert paths == {"id", "ids"}
        for name, arguments in [("plan", {"book": "b"}), ("solve_it", {}), ("log", {})]:
            answer = await assistant.call_tool(name, arguments)
            assert answer.is_error and answer.content[0].text  # type: ignore[union-attr]

    converse(talk)
