"""The command that offers a service to assistants, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dlopt.cli.bearer_token import read_token
from dlopt.cli.help_texts import option
from dlopt.errors import MissingExtraError


def mcp(
    url: Annotated[str, option("--url URL", "Of the service.")] = "http://127.0.0.1:8321",
    token: Annotated[
        Path | None, option("--token FILE", "A file with the token of the service.")
    ] = None,
) -> None:
    """Offer a service to assistants (Model Context Protocol).

    It answers on standard input and output; an assistant starts it.
    """
    import asyncio

    try:
        from dlopt.client import AsyncClient
        from dlopt.mcp_server import serve_standard_streams
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "mcp") from error

    async def answer() -> None:
        async with AsyncClient(url, token=read_token(token)) as client:
            await serve_standard_streams(client)

    asyncio.run(answer())
