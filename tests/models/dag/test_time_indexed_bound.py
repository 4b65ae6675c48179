"""Slices of time: never above an optimum, sharper than work, and no more than integers prove."""

import time
from math import inf

import numpy as np
import pytest

from dlopt import Limits, io, solve
from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.generation import generate
from dlopt.models.dag import search, time_indexed_bound
from dlopt.models.dag.heads_and_tails import windows_of
from dlopt.models.dag.lower_bounds import floors_of, windows_for
from dlopt.models.dag.scaled_instance import Case, horizon_of
from dlopt.models.dag.time_indexed_bound import Slices, Trial, sliced_bound
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.result import Status
from tests import oracles_dag as oracle
from tests.models.dag.test_energetic_heads import drawn
from tests.test_battery import FOLDER


def bounded(instance, **fields):
    """Return the bounds without and with slices, and the windows, in units of the case."""
    case = Case.of(instance)
    windows = windows_for(case)
    least = floors_of(case, windows).everything
    return least, sliced_bound(case, windows, least, horizon_of(case), **fields), case


@pytest.mark.parametrize("seed", range(12))
def test_no_plan_is_done_before(seed):
    instance = drawn(seed, machines=2 + seed % 2, sends=3 * (seed % 3))
    least, found, case = bounded(instance)
    best = oracle.best(instance) * case.scale
    assert least <= found <= best
    trial = Slices(case, windows_for(case), int(best)).tried()
    assert not trial.refuted and trial.stretch < 1 + 1e-6


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "dag").glob("*.json")), ids=lambda path: path.stem
)
def test_no_known_plan_is_refuted(path):
    instance = io.read(path)
    found = solve(instance, "heft")
    case = Case.of(instance)
    value = int(found.value * case.scale)
    least, bound, _ = bounded(instance)
    assert least <= bound <= value
    best = solve(instance, objective="makespan").value * case.scale
    assert bound <= best and not Slices(case, windows_of(case), int(best)).tried().refuted


def test_sharper_than_work_and_mostly_met():
    met = 0
    for seed in range(4):
        least, found, case = bounded(generate("dag", "topcuoglu", tasks=10, machines=3, seed=seed))
        best = solve(case.instance).value * case.scale
        assert least <= found <= best
        met += least < found == best
    assert met >= 2


@pytest.mark.parametrize("seed", range(6))
def test_no_multipliers_refute_what_can_be_done(seed):
    instance = drawn(seed, machines=3)
    case = Case.of(instance)
    slices = Slices(case, windows_for(case), int(oracle.best(instance) * case.scale))
    rows = slices._rows()
    rows.take(slices._subsets(), [1.0] * slices.columns)
    draw = np.random.default_rng(seed)
    for size in (1e-9, 1.0, 1e12):
        for share in (0.01, 0.5):
            prices = draw.random(rows.count) * (draw.random(rows.count) < share) * size
            assert not slices._refuted(rows, prices)
            assert not slices._refuted(rows, -prices)


@pytest.fixture
def close():
    """A program that only rows of two of three machines refute."""
    instance = generate("dag", "anywhere", tasks=12, machines=3, seed=4)
    case = Case.of(instance)
    return Slices(case, windows_for(case), 39)


def test_rows_of_several_machines_together(close):
    alone, point = close._solved(close._rows(), inf, 0)
    assert (alone.refuted, close.tried().refuted) == (False, True)
    assert close._rows().take(close._subsets(), point)


def test_no_time_for_more_rows_leaves_what_was_found(close, monkeypatch):
    answers = [close._solved(close._rows(), inf, 0), (None, ())]
    monkeypatch.setattr(close, "_solved", lambda *_: answers.pop(0))
    trial = close.tried()
    assert trial is not None and not trial.refuted and not answers


def test_a_job_that_fits_nowhere():
    graph = Graph("g", (Task("a", work=5), Task("b", work=5)), (Edge(0, 1, data=1),))
    case = Case.of(Instance((Machine("m"),), (graph,)))
    windows, end = windows_of(case), int(10 * case.scale)
    assert Slices(case, windows, end - 1).tried() == Trial(True, 1.0)
    assert not Slices(case, windows, end).tried().refuted


def test_no_time_and_too_large(monkeypatch):
    instance = generate("dag", "topcuoglu", tasks=10, machines=3, seed=0)
    least, found, _ = bounded(instance, stop=time.monotonic() - 1)
    assert found == least
    with monkeypatch.context() as patch:
        patch.setattr(LinearSolver, "solve", lambda _: LpSolution(Status.LIMIT))
        assert bounded(instance)[1] == least
    monkeypatch.setattr(time_indexed_bound, "_LARGE", 10)
    assert bounded(instance)[1] == least


def test_where_to_try_next():
    assert time_indexed_bound._next(101, 200, 200, 0.03, 0.0) == 103
    assert time_indexed_bound._next(101, 200, 200, 0.9, 0.0) == 104  # not far beyond
    assert time_indexed_bound._next(101, 102, 102, 0.9, 0.0) == 101
    assert time_indexed_bound._next(101, 110, 200, 0.03, 0.01) == 107
    assert time_indexed_bound._next(101, 110, 200, 0.0, 0.0) == 105
    assert time_indexed_bound._next(101, 110, 200, 0.03, 0.0) == 109


def test_exact_plans_say_so(monkeypatch):
    monkeypatch.setattr(search, "_HARD", 5)
    instance = generate("dag", "topcuoglu", tasks=14, machines=3, seed=1)
    found = solve(instance, limits=Limits(work=1))
    assert (found.status, found.reason) == (Status.OPTIMAL, "bound by slices of time")
    assert found.bound > solve(instance, "bound-work").bound
