"""Instances, plans and methods that the tests of `dlopt.batch` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tests.batch.misbehaving_methods
from dlopt.batch import ExperimentPlan, plan_runs, read_item
from tests.method_table import MethodTable, withdraw

INSTANCES = Path(__file__).parents[2] / "instances" / "iit"
NAUGHTY = str(Path(tests.batch.misbehaving_methods.__file__))
MODULE = "tests.batch.misbehaving_methods"
# Other tests see the methods of dlopt alone.
_OWN = {("iit", name): withdraw("iit", name) for name in tests.batch.misbehaving_methods.METHODS}


@pytest.fixture(autouse=True)
def naughty(method_table: MethodTable) -> None:
    method_table.update(_OWN)


@pytest.fixture
def plan_of() -> Callable[..., ExperimentPlan]:
    """Return a function that plans methods on shipped instances."""

    def make(methods: str, *names: str, **options: object) -> ExperimentPlan:
        items = [read_item(INSTANCES / f"{name}.json") for name in names or ("three-nodes",)]
        return plan_runs(items, methods.split(), **options)  # type: ignore[arg-type]

    return make
