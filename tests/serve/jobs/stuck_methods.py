"""Methods that no other thread of their process can end: they are ended from outside."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import tests.batch.misbehaving_methods
from dlopt import registry
from dlopt.incumbents import offer
from dlopt.problems.iit import Instance, Solution
from dlopt.result import Result
from tests.batch.misbehaving_methods import GATE, all_on_one

GO_ON = "DLOPT_TEST_GO_ON"
"""Names a pipe from which `offers_and_sticks` reads when it is to get stuck."""


def sticks(instance: Instance, **_: Any) -> Result[Solution]:
    """Hold the lock of the interpreter for ever."""
    ctypes.PyDLL(None).sleep(10_000)
    return all_on_one(instance)


def offers_and_sticks(
    instance: Instance, *, objective: str = "completion", **_: Any
) -> Result[Solution]:
    """Offer a plan; once that was reported, get stuck."""
    offer(instance, objective, "offers-and-sticks", lambda: all_on_one(instance))
    with open(os.environ[GO_ON], "rb") as pipe:
        pipe.read(1)
    gate = os.open(os.environ[GATE], os.O_WRONLY)
    os.write(gate, b"!")
    return sticks(instance)


OWN = {"sticks": sticks, "offers-and-sticks": offers_and_sticks}
METHODS = tests.batch.misbehaving_methods.METHODS | OWN


def register_own() -> None:
    """Register the methods of this module: those of the other one register themselves."""
    for name, function in OWN.items():
        registry.register("iit", name, function, objectives=("completion",))
