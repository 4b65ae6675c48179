"""A real scheduler with two workers, as processes of their own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dlopt import SolverError
from dlopt.batch import ExperimentPlan, run_batch
from tests.batch.conftest import MODULE

distributed = pytest.importorskip("distributed", reason="needs dlopt[dask]")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with (
        warnings.catch_warnings(action="ignore"),  # of the cluster's own, as it starts and ends
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster.scheduler_address.removeprefix("tcp://")


@pytest.mark.filterwarnings("ignore")
def test_cells_are_solved_on_a_cluster(
    plan_of: Callable[..., ExperimentPlan], address: str, tmp_path: Path
) -> None:
    plan = plan_of("opr leave epr exact", "three-nodes", "late-node", seeds=range(5))
    file = tmp_path / "rows.jsonl"
    first = run_batch(plan, file, executor=f"dask://{address}", modules=[MODULE])
    assert first.solved == 40
    statuses = {record.key.method: set() for record in first.records}
    for record in first.records:
        statuses[record.key.method].add(str(record.status))
    assert statuses == {
        "opr": {"feasible"},
        "leave": {"crashed"},
        "epr": {"feasible"},
        "exact": {"optimal"},
    }
    again = run_batch(plan, file, executor=f"dask://{address}", modules=[MODULE])
    assert again.solved == 0 and again.records == first.records


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_does_not_answer(
    plan_of: Callable[..., ExperimentPlan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlopt.batch.executors.CONNECT_S", 1)
    with pytest.raises(SolverError, match="no Dask scheduler answers at"):
        run_batch(plan_of("opr"), tmp_path / "rows.jsonl", executor="dask://127.0.0.1:1")
