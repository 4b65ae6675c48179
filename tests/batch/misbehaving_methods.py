"""Methods that do to a worker all that a method can do to it. `dlopt batch --import` reads this."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from typing import Any

from dlopt import NotApplicableError, registry
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution, objective
from dlopt.result import Result, Status

GATE = "DLOPT_TEST_GATE"
"""Names a pipe in which `gated` says that it has begun; then it never ends."""


def all_on_one(instance: Instance) -> Result[Solution]:
    plan = earliest_plan(instance, [0], [instance.load])
    value = objective(instance, plan, "completion")
    return Result(Status.FEASIBLE, solution=plan, value=value, plan_class="single")


def gated(instance: Instance, **_: Any) -> Result[Solution]:
    if GATE in os.environ:
        gate = os.open(os.environ[GATE], os.O_WRONLY)
        os.write(gate, b"!")
        threading.Event().wait()
    return all_on_one(instance)


def hang(instance: Instance, **_: Any) -> Result[Solution]:
    threading.Event().wait()
    return all_on_one(instance)


def abort(instance: Instance, **_: Any) -> Result[Solution]:
    os.write(2, b"terminate called\n")
    os.abort()


def leave(instance: Instance, **_: Any) -> Result[Solution]:
    os._exit(3)


def hungry(instance: Instance, **_: Any) -> Result[Solution]:
    bytearray(2**40)
    return all_on_one(instance)


def wrong(instance: Instance, **_: Any) -> Result[Solution]:
    raise ZeroDivisionError("by <nodes>")


def picky(instance: Instance, **_: Any) -> Result[Solution]:
    raise NotApplicableError("not today")


def late(instance: Instance, **_: Any) -> Result[Solution]:
    """Answer that all of the load is done at once."""
    chunk = Chunk(0, instance.load, 0, 0, 0, 1)
    return Result(Status.FEASIBLE, solution=Solution((chunk,)), value=1, plan_class="single")


def chatty(instance: Instance, **_: Any) -> Result[Solution]:
    sys.stdout.write("no answer of mine\n")
    os.write(1, b"no answer of mine" * 1000)
    return all_on_one(instance)


def forks(instance: Instance, **_: Any) -> Result[Solution]:
    """Leave a process behind that holds all pipes open, and die."""
    begun, tell = os.pipe()
    if not os.fork():
        gate = os.open(os.environ[GATE], os.O_WRONLY)
        os.write(gate, b"!")
        os.write(tell, b"!")
        threading.Event().wait()
    os.read(begun, 1)
    os._exit(3)


def twice(instance: Instance, **_: Any) -> Result[Solution]:
    """Answer from two processes."""
    os.fork()
    return all_on_one(instance)


def deaf(instance: Instance, **_: Any) -> Result[Solution]:
    """Close all pipes, and never end."""
    os.closerange(3, 64)
    threading.Event().wait()
    return all_on_one(instance)


def quits(instance: Instance, **_: Any) -> Result[Solution]:
    sys.exit(0)


def wordy(instance: Instance, **_: Any) -> Result[Solution]:
    raise ValueError("\n".join(["x" * 999] * 5000))


def verbose(instance: Instance, **_: Any) -> Result[Solution]:
    return replace(all_on_one(instance), reason="x" * 5_000_000)


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def mute(instance: Instance, **_: Any) -> Result[Solution]:
    raise UnspeakableError


METHODS = {
    "forks": forks,
    "twice": twice,
    "deaf": deaf,
    "quits": quits,
    "wordy": wordy,
    "verbose": verbose,
    "mute": mute,
    "gated": gated,
    "hang": hang,
    "abort": abort,
    "leave": leave,
    "hungry": hungry,
    "wrong": wrong,
    "picky": picky,
    "late": late,
    "chatty": chatty,
}
for name, function in METHODS.items():
    registry.register("iit", name, function, objectives=("completion",))
