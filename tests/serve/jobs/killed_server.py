"""A server that runs one job and lets two wait, says so, and is then killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.serve.jobs.services import hard, service_on, submitted, three_nodes, until


async def serve(folder: Path) -> None:
    async with service_on(folder) as service:
        running = await submitted(service, {"instance": hard("dag")})
        await until(service, running, "progress")
        waiting = [
            await submitted(service, three_nodes(method), "Ann") for method in ("opr", "epr")
        ]
        sys.stdout.write(" ".join([running, *waiting]) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
