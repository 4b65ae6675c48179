"""A real service on the loopback, in a thread of this process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from dlopt.serve.app import create_app
from dlopt.serve.settings import ServiceSettings


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        self.listening.set()


@contextlib.contextmanager
def running_service(folder: Path) -> Iterator[str]:
    """Run a service over a store in a folder; yields its URL."""
    app = create_app(ServiceSettings(store=f"sqlite:///{folder}/service.db"))
    server = _Server(
        uvicorn.Config(app, port=0, log_config=None, lifespan="on", timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.listening.wait(30)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
