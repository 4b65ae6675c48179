"""Time-indexed linear programs: never above an optimum, sharper than work, certified."""

import time
from math import inf

import numpy as np
import pytest

from dlopt import Limits, io, solve
from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.generation import generate
from dlopt.models.dag import program_steps, time_indexed_bound
from dlopt.models.dag.heads_and_tails import longest_path_heads_tails
from dlopt.models.dag.lower_bounds import compute_heads_tails, compute_lower_bounds
from dlopt.models.dag.scaled_instance import ScaledInstance, sequential_horizon
from dlopt.models.dag.time_indexed_bound import Probe, TimeIndexedLp, time_indexed_makespan_bound
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.result import Status
from tests import oracles_dag as oracle
from tests.models.dag.test_energetic_heads import drawn
from tests.test_battery import FOLDER


def bounded(instance, **fields):
    """Return the bounds without and with linear programs, in scaled units."""
    scaled = ScaledInstance.from_instance(instance)
    heads_tails = compute_heads_tails(scaled)
    least = compute_lower_bounds(scaled, heads_tails).makespan
    return (
        least,
        time_indexed_makespan_bound(
            scaled, heads_tails, least, sequential_horizon(scaled), **fields
        ),
        scaled,
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_plan_is_done_before(seed):
    instance = drawn(seed, machines=2 + seed % 2, transfer_times=3 * (seed % 3))
    least, found, scaled = bounded(instance)
    best = oracle.best(instance) * scaled.scale
    assert least <= found <= best
    trial = TimeIndexedLp(scaled, compute_heads_tails(scaled), int(best)).probe()
    assert not trial.infeasible and trial.load_factor < 1 + 1e-6


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "dag").glob("*.json")), ids=lambda path: path.stem
)
def test_no_known_plan_is_refuted(path):
    instance = io.read(path)
    found = solve(instance, "heft")
    scaled = ScaledInstance.from_instance(instance)
    value = int(found.value * scaled.scale)
    least, bound, _ = bounded(instance)
    assert least <= bound <= value
    best = solve(instance, objective="makespan").value * scaled.scale
    assert (
        bound <= best
        and not TimeIndexedLp(scaled, longest_path_heads_tails(scaled), int(best))
        .probe()
        .infeasible
    )


def test_sharper_than_work_and_mostly_met():
    met = 0
    for seed in range(4):
        least, found, scaled = bounded(
            generate("dag", "topcuoglu", tasks=10, machines=3, seed=seed)
        )
        best = solve(scaled.instance).value * scaled.scale
        assert least <= found <= best
        met += least < found == best
    assert met >= 2


@pytest.mark.parametrize("seed", range(6))
def test_no_multipliers_refute_what_can_be_done(seed):
    instance = drawn(seed, machines=3)
    scaled = ScaledInstance.from_instance(instance)
    program = TimeIndexedLp(
        scaled, compute_heads_tails(scaled), int(oracle.best(instance) * scaled.scale)
    )
    rows = program.machine_and_precedence_rows()
    rows.add_violated(program.machine_subset_rows(), [1.0] * program.columns)
    draw = np.random.default_rng(seed)
    for size in (1e-9, 1.0, 1e12):
        for share in (0.01, 0.5):
            prices = draw.random(rows.count) * (draw.random(rows.count) < share) * size
            assert not program.is_certified_infeasible(rows, prices)
            assert not program.is_certified_infeasible(rows, -prices)


@pytest.fixture
def close():
    """A program that only rows of two of three machines refute."""
    instance = generate("dag", "anywhere", tasks=12, machines=3, seed=4)
    scaled = ScaledInstance.from_instance(instance)
    return TimeIndexedLp(scaled, compute_heads_tails(scaled), 39)


def test_rows_of_several_machines_together(close):
    alone, point = close.solve_lp(close.machine_and_precedence_rows(), inf, 0)
    assert (alone.infeasible, close.probe().infeasible) == (False, True)
    assert close.machine_and_precedence_rows().add_violated(close.machine_subset_rows(), point)


def test_no_time_for_more_rows_leaves_what_was_found(close, monkeypatch):
    answers = [close.solve_lp(close.machine_and_precedence_rows(), inf, 0), (None, ())]
    monkeypatch.setattr(close, "solve_lp", lambda *_: answers.pop(0))
    trial = close.probe()
    assert trial is not None and not trial.infeasible and not answers


def test_a_job_that_fits_nowhere():
    graph = Graph("g", (Task("a", work=5), Task("b", work=5)), (Edge(0, 1, data=1),))
    scaled = ScaledInstance.from_instance(Instance((Machine("m"),), (graph,)))
    heads_tails, end = longest_path_heads_tails(scaled), int(10 * scaled.scale)
    assert TimeIndexedLp(scaled, heads_tails, end - 1).probe() == Probe(True, 1.0)
    assert not TimeIndexedLp(scaled, heads_tails, end).probe().infeasible


def test_no_time_and_too_large(monkeypatch):
    instance = generate("dag", "topcuoglu", tasks=10, machines=3, seed=0)
    least, found, _ = bounded(instance, stop=time.monotonic() - 1)
    assert found == least
    with monkeypatch.context() as patch:
        patch.setattr(LinearSolver, "solve", lambda _: LpSolution(Status.LIMIT))
        assert bounded(instance)[1] == least
    monkeypatch.setattr(time_indexed_bound, "MAX_TERMS", 10)
    assert bounded(instance)[1] == least


def test_where_to_try_next():
    assert time_indexed_bound.next_trial_makespan(101, 200, 200, 0.03, 0.0) == 103
    assert time_indexed_bound.next_trial_makespan(101, 200, 200, 0.9, 0.0) == 104  # not far beyond
    assert time_indexed_bound.next_trial_makespan(101, 102, 102, 0.9, 0.0) == 101
    assert time_indexed_bound.next_trial_makespan(101, 110, 200, 0.03, 0.01) == 107
    assert time_indexed_bound.next_trial_makespan(101, 110, 200, 0.0, 0.0) == 105
    assert time_indexed_bound.next_trial_makespan(101, 110, 200, 0.03, 0.0) == 109


def test_exact_plans_say_so(monkeypatch):
    monkeypatch.setattr(program_steps, "MAX_JOBS_WITHOUT_DECOMPOSITION", 5)
    instance = generate("dag", "topcuoglu", tasks=14, machines=3, seed=1)
    found = solve(instance, limits=Limits(work=1))
    assert (found.status, found.reason) == (
        Status.OPTIMAL,
        "source of the bound: time-indexed LP",
    )
    assert found.bound > solve(instance, "bound-work").bound
