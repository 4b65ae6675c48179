"""What operators see: metrics for Prometheus, logs in JSON, and whether the service is healthy."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dlopt.errors import described, printable
from dlopt.serve.errors import ServiceError
from dlopt.serve.services import Services
from dlopt.serve.store import Store

HEALTH_TIME_S = 2.0
"""Seconds in which a part must answer to be healthy; probes of Kubernetes wait as long or less."""
HEALTH_INTERVAL_S = 1.0
"""Seconds in which the store is looked at once, however often its health is asked for."""
_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_CONTEXT = ("request_id", "operation", "status", "seconds", "client")


class Metrics(Collector):
    """Counts of what the service does, and of what its parts count themselves.

    Parameters
    ----------
    services : callable
        Returns the parts of the service, or None while it does not run.
    """

    def __init__(self, services: Callable[[], Services | None]) -> None:
        self._services = services
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._requests = Counter(
            "dlopt_requests", "Requests.", ["operation", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "dlopt_request_seconds",
            "Time from the first byte of a request to its answer.",
            ["operation"],
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        self._decisions = Counter(
            "dlopt_decisions", "Decisions of books.", ["accepted"], registry=self._registry
        )
        # A child of a metric takes a lock and a search to find; a hot path keeps it.
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._accepted = {
            accepted: self._decisions.labels(str(accepted).lower()) for accepted in (False, True)
        }

    def count_request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        known = self._known.get((operation, status))
        if known is None:
            known = (
                self._requests.labels(operation, str(status)),
                self._seconds.labels(operation),
            )
            self._known[operation, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def count_decision(self, decision: object) -> None:
        """Count a decision of a book, as it stands in an answer."""
        if isinstance(decision, Mapping):
            self._accepted[decision.get("accepted") is True].inc()

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield what the parts of the service count, whenever the metrics are asked for."""
        services = self._services()
        if services is None:
            return
        counts = services.books.counts()
        yield GaugeMetricFamily("dlopt_books", "Books.", value=counts["books"])
        for name, text in (("commits", "Commits of books."), ("records", "Their log records.")):
            yield CounterMetricFamily(f"dlopt_{name}", text, value=counts[name])
        jobs = GaugeMetricFamily("dlopt_jobs", "Jobs that have not ended.", labels=["state"])
        for state, count in services.jobs.counts().items():
            jobs.add_metric([state], count)
        yield jobs


class HealthMonitor:
    """Tells whether the parts of a service work.

    It looks at the store once a second at the most, in a thread of its own: anyone may ask, however
    often, and neither other work nor a store that does not answer delays what it tells.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "dlopt-health")
        self._check: asyncio.Future[str] | None = None
        self._checked_at = 0.0

    async def parts(self, services: Services) -> dict[str, str]:
        """Return each part of the service with ``ok``, or what is wrong with it."""
        return {
            "store": await self._store_state(services.store),
            "books": "ok" if services.books.is_alive else "changes cannot be stored",
            "jobs": services.jobs.trouble or "ok",
        }

    async def _store_state(self, store: Store) -> str:
        now = time.monotonic()
        is_current = now - self._checked_at < HEALTH_INTERVAL_S
        if self._check is None or (self._check.done() and not is_current):
            loop = asyncio.get_running_loop()
            self._check = loop.run_in_executor(self._thread, _state_of, store)
            self._checked_at = now
        done, _ = await asyncio.wait([self._check], timeout=HEALTH_TIME_S)
        return done.pop().result() if done else f"no answer within {HEALTH_TIME_S:g} s"


def _state_of(store: Store) -> str:
    try:
        store.check()
    except Exception as error:
        return str(error) if isinstance(error, ServiceError) else described(error)
    return "ok"


class JsonLines(logging.Formatter):
    """Writes a record of the log as one line of JSON.

    Examples
    --------
    >>> record = logging.LogRecord("dlopt.serve", logging.INFO, "", 0, "listening", (), None)
    >>> record.created = 0.0
    >>> json.loads(JsonLines().format(record))["time"]
    '1970-01-01T00:00:00.000Z'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "time": f"{at}.{int(record.created % 1 * 1000):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": printable(record.getMessage(), lines=True),
        }
        line |= {name: vars(record)[name] for name in _CONTEXT if name in vars(record)}
        if record.exc_info is not None and record.exc_info[1] is not None:
            line["error"] = described(record.exc_info[1])
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_to_standard_error(level: int) -> None:
    """Let everything that the service logs be written on standard error, a line of JSON each.

    Parameters
    ----------
    level : int
        Of `logging`; with ``DEBUG`` there is a line for each request.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("dlopt", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level if name == "dlopt" else max(level, logging.WARNING))
