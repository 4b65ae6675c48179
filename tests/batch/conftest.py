"""Instances, plans and methods that the tests of `dlopt.batch` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tests.batch.misbehaving_methods
from dlopt import registry
from dlopt.batch import ExperimentPlan, plan_runs, read_item

INSTANCES = Path(__file__).parents[2] / "instances" / "iit"
NAUGHTY = str(Path(tests.batch.misbehaving_methods.__file__))
MODULE = "tests.batch.misbehaving_methods"
_OWN = {name: registry.method("iit", name) for name in tests.batch.misbehaving_methods.METHODS}
for _name in _OWN:
    del registry._METHODS["iit", _name]  # other tests see the methods of dlopt alone


@pytest.fixture(autouse=True)
def naughty(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {("iit", name): entry for name, entry in _OWN.items()}
    monkeypatch.setattr(registry, "_METHODS", registry._METHODS | own)


@pytest.fixture
def plan_of() -> Callable[..., ExperimentPlan]:
    """Return a function that plans methods on shipped instances."""

    def make(methods: str, *names: str, **options: object) -> ExperimentPlan:
        items = [read_item(INSTANCES / f"{name}.json") for name in names or ("three-nodes",)]
        return plan_runs(items, methods.split(), **options)  # type: ignore[arg-type]

    return make
