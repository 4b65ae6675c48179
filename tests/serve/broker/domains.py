"""Two domains over CPU shares, a clock for all, and messages that get lost or end the broker."""

from __future__ import annotations

from typing import Any

import httpx

from dlopt import check
from dlopt.arithmetic import Number
from dlopt.client import Client, RetryPolicy
from dlopt.problems.coreservation import Machine, Part, Request
from dlopt.serve.broker import (
    Alternative,
    Broker,
    BrokerLog,
    JointPart,
    JointRequest,
    UnplacedRequest,
)
from dlopt.serve.store import Store
from dlopt.service_api.book_records import StateAnswer
from dlopt.service_api.json_data import read_record
from tests.client.fake_service import FakeService

TTL_S = 20.0
MESSAGE_S = 0.125
"""How long a message takes by the clock of the tests."""


class Stopped(BaseException):
    """The process of the broker has ended here."""


class Grid:
    """The domains, and what is to go wrong at which of the points between two messages.

    Every message and every record of the log has two points: before it, and after it was done but
    before the broker knows.
    """

    def __init__(self, *names: str) -> None:
        self.now = 5000.0
        self.point = 0
        self.stop_at: int | None = None
        self.lose: frozenset[int] = frozenset()
        self.unreachable: set[str] = set()
        self.proxy_status: int | None = None
        self.services = {name: FakeService() for name in names}
        self.domains = {}
        self.clients = []
        for name, service in self.services.items():
            transport = _Wire(self, name, service)
            once = RetryPolicy(attempts=1)
            client = Client(f"http://{name}.test", transport=transport, retry_policy=once)
            self.clients.append(client)
            self.domains[name] = client.create(name, "coreservation", machines=[Machine("m", 100)])
        self.point = 0

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def pass_point(self) -> bool:
        """Count a point; end the broker there, or tell whether a message is lost there."""
        self.point += 1
        if self.point - 1 == self.stop_at:
            self.stop_at = None
            raise Stopped
        return self.point - 1 in self.lose

    def confirmed(self) -> list[str]:
        """Return the domains that have promised, and for good, what a broker asked for."""
        found = []
        for name, service in self.services.items():
            service.wall = self.now
            service.books[name].expire_holds(self.now)
            shares = service.call(name, "plan")["plan"]["shares"]
            asked = {share["request"] for share in shares if "/" in share["request"]}
            found += [name] if len(asked) > self.held(name) else []
        return found

    def held(self, name: str) -> int:
        """Return how many holds a domain has."""
        return int(self.services[name].books[name].describe().body["holds"])

    def assert_nothing_is_held(self) -> None:
        assert [self.held(name) for name in self.services] == [0] * len(self.services)

    def assert_nothing_is_oversold(self) -> None:
        for name, service in self.services.items():
            state = read_record(StateAnswer, service.call(name, "state")).state
            assert state is None or check(state.instance, state.plan) == ()

    def busy(self, name: str, start: Number, end: Number, cpu: Number = 100) -> None:
        """Let a domain promise something to somebody else."""
        identity = f"other-{start}-{end}-{cpu}".replace("/", ":")
        wanted = Request(identity, 0, start, end, 1, (Part(cpu),))
        answer = self.services[name].call(name, "submit", request=wanted.to_data())
        assert answer["decision"]["accepted"]


class _Wire(httpx.BaseTransport):
    def __init__(self, grid: Grid, name: str, service: FakeService) -> None:
        self._grid, self._name, self._service = grid, name, service

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        grid = self._grid
        grid.now += MESSAGE_S
        lost = grid.pass_point()
        if lost or self._name in grid.unreachable:
            if grid.proxy_status is not None:
                page = "<html><title>Not found</title></html>"
                return httpx.Response(grid.proxy_status, html=page)
            raise httpx.ConnectError("there is no connection")
        self._service.wall = grid.now
        response = self._service.handle(request)
        if grid.pass_point():
            raise httpx.ReadTimeout("no answer came")
        return response


class _Log(BrokerLog):
    def __init__(self, store: Store, grid: Grid) -> None:
        super().__init__(store)
        self._grid = grid

    def append(self, *step: Any) -> None:
        self._grid.pass_point()
        super().append(*step)
        self._grid.pass_point()


def broker(grid: Grid, store: Store) -> Broker:
    """Start a broker over what its log says."""
    return Broker(
        grid.domains,
        _Log(store, grid),
        ttl_s=TTL_S,
        clock=lambda: grid.now,
        pause=grid.pause,
    )


def wanting(*parts: Any, identity: str = "r", latest: float | None = 200, cpu: Any = 60) -> Any:
    """Return a request for [10, 20) of parts, each a domain or several alternatives."""
    unplaced = UnplacedRequest(1, (Part(cpu),))
    names = [part if isinstance(part, tuple) else (part,) for part in parts]
    return JointRequest(
        identity,
        start=10,
        end=20,
        latest_start=latest,
        parts=tuple(
            JointPart(tuple(Alternative(name, unplaced) for name in part)) for part in names
        ),
    )
