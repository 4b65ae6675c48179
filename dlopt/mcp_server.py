"""A server of the Model Context Protocol: assistants call the operations of a service as tools.

The tools are made from the table `dlopt.service_api.operations`: one for each operation on books
and jobs, with the schema of its arguments. What is answered is the data of the service's answer;
what is wrong is said in words, with every fault, so that a call can be put right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from dlopt.client import AsyncClient
from dlopt.errors import DloptError, InvalidInstanceError, MissingExtraError
from dlopt.problems.validated_record import plain
from dlopt.service_api.input_schemas import TOOL_OPERATIONS, input_schema
from dlopt.service_api.operations import Operation, Permission
from dlopt.version import __version__

try:
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext
    from mcp.server.stdio import stdio_server
except ImportError as error:  # pragma: no cover - the extra is installed where this is tested
    raise MissingExtraError("mcp", "mcp") from error

_Request: TypeAlias = ServerRequestContext[dict[str, object]]

INSTRUCTIONS = """Books decide on tasks, reservations and requests for CPU shares, and keep \
what they promise; jobs solve scheduling problems. `list_books` lists the books. Ask before you \
submit: `book_ask` changes nothing, `book_offer` says what would be accepted instead, `book_why` \
what stands in the way. Numbers may be fractions as texts, such as "39/8". A job is begun by \
`submit_job`; `job_status` tells its value and bound, `job_result` what it found."""
"""What an assistant reads about the tools."""

_DESTRUCTIVE = frozenset(
    f"book_{verb}" for verb in ("release", "cancel", "change", "finished", "resources", "archive")
)
"""Operations that may take back or break what was promised, or forget it; deletions do, too."""


def tool_of(operation: Operation) -> types.Tool:
    """Return the tool that calls an operation.

    Examples
    --------
    >>> tool = tool_of(TOOL_OPERATIONS["book_confirm"])
    >>> tool.name, tool.input_schema["required"], tool.annotations.read_only_hint
    ('book_confirm', ['name', 'id'], False)
    """
    is_safe = operation.scope is Permission.READ
    return types.Tool(
        name=operation.name,
        description=f"{operation.summary}. {operation.description}".strip(),
        input_schema=input_schema(operation.name),
        annotations=types.ToolAnnotations(
            read_only_hint=is_safe,
            destructive_hint=operation.method == "DELETE" or operation.name in _DESTRUCTIVE,
            idempotent_hint=is_safe or operation.method != "POST",
            open_world_hint=False,
        ),
    )


def mcp_server(client: AsyncClient) -> Server[dict[str, object]]:
    """Return a server whose tools call a service.

    Parameters
    ----------
    client : AsyncClient
        Of the service.
    """

    async def list_tools(
        _request: _Request, _parameters: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool_of(one) for one in TOOL_OPERATIONS.values()])

    async def call_tool(
        _request: _Request, parameters: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            answer = await client.call(parameters.name, parameters.arguments or {})
        except InvalidInstanceError as error:
            faults = [
                {"path": fault.path, "rule": fault.rule, "text": str(fault)}
                for fault in error.faults
            ]
            return _result({"faults": faults}, str(error), failed=True)
        except DloptError as error:
            return _result(None, str(error), failed=True)
        if isinstance(answer, Mapping):
            return _result(dict(answer), json.dumps(plain(answer)))
        return _result(None, str(answer))

    return Server(
        "dlopt",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _result(
    data: dict[str, object] | None, text: str, *, failed: bool = False
) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=data, is_error=failed)


async def serve_standard_streams(client: AsyncClient) -> None:
    """Answer on standard input and output until the input ends."""
    server = mcp_server(client)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
