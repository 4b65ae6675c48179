"""`exact` is never worse than another method on the same instance."""

import pytest
from hypothesis import given

import dlopt
from dlopt import registry
from dlopt.result import Limits
from tests.examples import share
from tests.models.multistage.sample_instances import alone, mixed

LONG = Limits(time_s=30)
OTHERS = tuple(
    entry
    for entry in registry.methods("multistage")
    if entry.kind != "bound" and entry.claim != "literal-unsound" and entry.name != "exact"
)


def never_worse(instance):
    best = dlopt.solve(instance, "exact", limits=LONG, installments=2)
    for entry in OTHERS:
        if entry.reason_against(instance, "accepted") is None:
            found = dlopt.solve(instance, entry.name, objective="accepted", limits=LONG)
            if found.solution is not None and found.plan_class in ("single", "per-stage"):
                assert found.value <= best.value, entry.name
            if found.solution is not None:
                assert found.value <= dlopt.solve(instance, "bound-fluid").bound, entry.name


@pytest.mark.property
@share(1 / 2)
@given(alone(setup=True, identical=False))
def test_of_one_task(instance):
    never_worse(instance)


@pytest.mark.property
@share(1 / 2)
@given(mixed(most=2, tasks=2, wanted=1))
def test_of_streams(instance):
    never_worse(instance)
