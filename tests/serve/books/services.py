"""Books of a service to call in tests, and clocks that do not move by themselves."""

import contextlib
from fractions import Fraction

from dlopt.serve.books.book_service import BookService
from dlopt.serve.books.limits import DEFAULT_LIMITS
from dlopt.serve.store import Store

CLUSTER = {"nodes": 4, "tau": 1, "chi": 3}
DEFINITIONS = {
    "admission": {"problem": "admission", "cluster": CLUSTER},
    "multistage": {"problem": "multistage", "cluster": CLUSTER},
    "coreservation": {
        "problem": "coreservation",
        "machines": [{"id": "a", "capacity": 70}, {"id": "b", "capacity": 50}],
    },
}
"""A small book of each problem, in exact numbers."""


class ManualClock:
    """A wall clock that a test sets."""

    def __init__(self, time: float = 1_000.0) -> None:
        self.time = time

    def __call__(self) -> float:
        return self.time


@contextlib.asynccontextmanager
async def running(store, clock=None, limits=DEFAULT_LIMITS):
    """Yield a service that has started on a store or the URL of one, and stop it."""
    with contextlib.ExitStack() as opened:
        if isinstance(store, str):
            store = opened.enter_context(Store(store))
        service = BookService(store, limits=limits, wall_clock=clock or ManualClock())
        await service.start()
        try:
            yield service
        finally:
            await service.stop()


async def snapshot(service, name):
    """Return the engine of a book as plain data."""
    return (await service.call(name, "snapshot", {})).body["snapshot"]


def task(name, arrival=0, load=2, deadline=9):
    """Return a task as a request has it."""
    fields = {"arrival": arrival, "load": load, "deadline": deadline}
    return {"task": {"id": name} | {key: as_json(value) for key, value in fields.items()}}


def as_json(value):
    """Return a number as JSON has it."""
    if not isinstance(value, Fraction):
        return value
    return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
