"""instances/BASELINES.csv, which `make baselines` writes, against the instances as they are."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from dlopt import SolverError, api, io, read, registry
from dlopt.batch.baselines import COLUMNS
from dlopt.result import PLAN_CLASSES, Value

SHIPPED = Path(__file__).parents[2] / "instances"
TABLE = SHIPPED / "BASELINES.csv"


def lines() -> list[dict[str, str]]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        assert tuple(table.fieldnames or ()) == COLUMNS
        return list(table)


def value_of(text: str) -> Value:
    levels = tuple(Fraction(level) for level in text.split())
    return levels if len(levels) > 1 else levels[0]


def by_hash() -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for line in lines():
        found.setdefault(line["hash"], []).append(line)
    return found


FILES = [pytest.param(file, id=file.stem) for file in sorted(SHIPPED.rglob("*.json"))]


@pytest.mark.parametrize("file", FILES)
def test_every_shipped_instance_has_its_baseline(file: Path) -> None:
    """The table is of the instances as they are; best known values and heuristics agree with it."""
    instance = read(file)
    goals = registry.problem(instance.problem).module.OBJECTIVES
    own = by_hash().get(io.instance_hash(instance), [])
    assert own, "not in the table: run `make baselines`"
    for known in instance.best_known:
        for line in own:
            if (line["objective"], line["plan_class"]) != (known.objective, known.plan_class):
                continue
            if known.value is not None and line["optimum"]:
                assert _equals_reference(_exactly(known.value), value_of(line["optimum"]))
    default = registry.problem(instance.problem).module.default_objective(instance)
    for line in own:
        goal = goals[line["objective"]]
        if line["value"] and line["bound"]:
            assert not goal.better(_eased(value_of(line["value"]), goal), value_of(line["bound"]))
        if line["objective"] == default and line["optimum"]:
            _no_heuristic_is_better(instance, line)


def _no_heuristic_is_better(instance: io.Header, line: dict[str, str]) -> None:
    goal = registry.problem(instance.problem).module.OBJECTIVES[line["objective"]]
    for name in registry.problem(instance.problem).hints:
        entry = registry.method(instance.problem, name)
        wider = PLAN_CLASSES.index(entry.plan_class) > PLAN_CLASSES.index(line["plan_class"])  # type: ignore[arg-type]
        if wider or entry.reason_against(instance, goal.name) is not None:
            continue
        try:
            found = api.solve(instance, name, objective=goal.name)
        except SolverError as error:
            pytest.fail(f"{name}: {error}")
        if found.value is not None:
            assert not goal.better(_eased(found.value, goal), value_of(line["optimum"]))


def _exactly(value: Value) -> Value:
    return tuple(map(Fraction, value)) if isinstance(value, tuple) else Fraction(value)


def _equals_reference(left: Value, right: Value) -> bool:
    pairs = zip(_levels(left), _levels(right), strict=True)
    return all(abs(a - b) <= Fraction(1, 10**6) * abs(a) for a, b in pairs)


def _levels(value: Value) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, value if isinstance(value, tuple) else (value,)))


def _eased(value: Value, goal: registry.Method) -> Value:
    """Return a value that is worse by a millionth, level by level."""
    levels = _levels(value)
    senses = goal.senses or (goal.sense,) * len(levels)
    eased = tuple(
        level + (1 if sense == "min" else -1) * Fraction(1, 10**6) * abs(level)
        for level, sense in zip(levels, senses, strict=True)
    )
    return eased if isinstance(value, tuple) else eased[0]
