"""Runs that end in spite of what their cells do; how they share out the work."""

from __future__ import annotations

import json
import os
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlopt import NotApplicableError, SolverError, Status
from dlopt.batch import ExperimentPlan, Failure, Record, read_records, run_batch
from dlopt.batch.executors import WorkerPool, solve_in_worker
from dlopt.batch.record_reading import record_from_line
from dlopt.batch.runner import BatchSizer, execute_runs
from dlopt.batch.runs import Reply, Run, solve_run
from dlopt.batch.worker import Worker, WorkerSettings
from tests.batch.conftest import MODULE
from tests.batch.misbehaving_methods import GATE
from tests.gates import Gate

Plans = Callable[..., ExperimentPlan]


def status_of(records: tuple[Record, ...]) -> dict[str, str]:
    return {record.key.method: str(record.status) for record in records}


def test_whatever_a_cell_does_is_a_row(plan_of: Plans, tmp_path: Path) -> None:
    plan = plan_of("opr leave abort wrong picky late chatty epr exact")
    file = tmp_path / "rows.jsonl"
    done = run_batch(plan, file, modules=[MODULE], workers=1)
    assert status_of(done.records) == {
        "opr": "feasible",
        "leave": "crashed",
        "abort": "crashed",
        "wrong": "failed",
        "picky": "not-applicable",
        "late": "invalid",
        "chatty": "feasible",
        "epr": "feasible",
        "exact": "optimal",
    }
    found = {record.key.method: record for record in done.records}
    assert found["leave"].reason == "the worker ended with code 3"
    assert found["abort"].reason == "the worker was killed by SIGABRT: terminate called"
    assert found["wrong"].reason == "wrong failed: ZeroDivisionError: by <nodes>"
    assert found["picky"].reason == "not today"
    assert found["opr"].value == Fraction(32, 5) and found["opr"].checked
    assert found["late"].answer["instance"]["name"] == "three-nodes"
    assert found["late"].answer["result"]["violations"] and not found["late"].checked
    assert found["exact"].solver and found["exact"].gap == 0
    assert {record.key: record for record in read_records(file)} == {
        record.key: record for record in done.records
    }


def test_a_cell_that_never_ends(plan_of: Plans, tmp_path: Path) -> None:
    plan = plan_of("hang", "three-nodes", "four-nodes", hard_timeout_s=0.2)
    done = run_batch(plan, tmp_path / "rows.jsonl", modules=[MODULE], workers=2)
    assert {record.status for record in done.records} == {Failure.TIMEOUT}
    assert done.records[0].reason == "ended after 0.2 s"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_cell_that_forks_and_dies(
    plan_of: Plans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv(GATE, str(gate.path))
    (record,) = run_batch(
        plan_of("forks"), tmp_path / "r.jsonl", modules=[MODULE], workers=1
    ).records
    assert (record.status, record.reason) == (Failure.CRASHED, "the worker ended with code 3")
    assert gate.read() == b"!" and gate.read() == b""  # nothing of it is left
    monkeypatch.delenv(GATE)
    plan = plan_of("twice opr epr edf-iit-2 exact")
    records = run_batch(plan, tmp_path / "rows.jsonl", modules=[MODULE], workers=1).records
    assert [record.key.method for record in records] == [
        "twice",
        "opr",
        "epr",
        "edf-iit-2",
        "exact",
    ]
    assert records[0].value == 9 and [str(record.value) for record in records[1:3]] == ["32/5", "7"]


def test_a_cell_that_closes_its_pipes(plan_of: Plans, tmp_path: Path) -> None:
    (record,) = run_batch(
        plan_of("deaf"), tmp_path / "r.jsonl", modules=[MODULE], workers=1
    ).records
    assert (record.status, record.reason) == (Failure.CRASHED, "the worker was killed by SIGKILL")


def test_what_a_method_says_is_bounded(plan_of: Plans, tmp_path: Path) -> None:
    plan, file = plan_of("quits wordy verbose mute"), tmp_path / "rows.jsonl"
    records = run_batch(plan, file, modules=[MODULE], workers=1).records
    quits, wordy, verbose, mute = [record.reason or "" for record in records]
    assert [str(record.status) for record in records] == ["failed", "failed", "feasible", "failed"]
    assert quits == "quits failed: it ends the program, with 0"
    assert wordy.startswith("wordy failed: ValueError: xxx") and len(wordy) <= 2000
    assert wordy.endswith("… (5,000,025 characters)")
    assert verbose.endswith("xxx… (5,000,000 characters)") and len(verbose) == 2000
    assert mute == "mute failed: UnspeakableError: its text cannot be shown"
    assert file.stat().st_size < 12_000
    line = json.loads(records[0].to_line()) | {"reason": "y" * 10_000}
    told = record_from_line(json.dumps(line).encode()).reason or ""
    assert told.endswith("y… (10,000 characters)") and len(told) == 2000


def test_a_cell_that_takes_all_memory(plan_of: Plans, tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="memory is limited on POSIX only")
    plan = plan_of("hungry abort opr")
    flags: dict[str, Any] = {"memory_mb": 2000, "modules": [MODULE], "workers": 1}
    done = run_batch(plan, tmp_path / "rows.jsonl", **flags)
    hungry, abort, opr = done.records
    assert hungry.status is Failure.OUT_OF_MEMORY and opr.status is Status.FEASIBLE
    assert abort.status is Failure.OUT_OF_MEMORY  # so does a solver end that gets none
    assert abort.reason == "out of memory, of 2000 MB: terminate called"


def test_retry_solves_troubles_again_and_nothing_else(
    plan_of: Plans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, file = plan_of("opr wrong leave picky late"), tmp_path / "rows.jsonl"
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    assert run_batch(plan, file, modules=[MODULE], progress=progress).solved == 5
    assert seen == [(done, 5) for done in range(6)]
    before = file.read_bytes()
    assert run_batch(plan, file, modules=[MODULE]).solved == 0
    assert file.read_bytes() == before
    again = run_batch(plan, file, modules=[MODULE], retry=True)
    assert again.solved == 2 and file.read_bytes().startswith(before)
    assert len(read_records(file)) == 5 and len(file.read_bytes().splitlines()) == 7


def test_rows_of_other_plans_stay(plan_of: Plans, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    run_batch(plan_of("opr"), file)
    more = run_batch(plan_of("opr epr", "three-nodes", "four-nodes"), file)
    assert (more.solved, more.others) == (3, 0)
    less = run_batch(plan_of("epr"), file)
    assert (less.solved, less.others) == (0, 3)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor(plan_of: Plans, tmp_path: Path, kind: Callable[..., Executor]) -> None:
    import multiprocessing

    spawned = {"mp_context": multiprocessing.get_context("spawn")}
    plan = plan_of("opr leave epr edf-iit-2", "three-nodes", "late-node")
    with kind(2, **(spawned if kind is ProcessPoolExecutor else {})) as executor:
        flags: dict[str, Any] = {"executor": executor, "workers": 2, "modules": [MODULE]}
        done = run_batch(plan, tmp_path / "rows.jsonl", **flags)
        assert executor.submit(abs, -1).result() == 1  # it stays open
    assert [str(record.status) for record in done.records] == 2 * [
        "feasible",
        "crashed",
        "feasible",
        "optimal",
    ]


class Here(Executor):
    """Solves cells at once, without workers, and loses batches that hold a method."""

    def __init__(self, loses: str = "", error: Exception | None = None) -> None:
        self.batches: list[list[str]] = []
        self._loses, self._error = loses, error or OSError("gone")

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        assert fn is solve_in_worker
        runs: tuple[Run, ...] = arguments[1]
        self.batches.append([run.key.method for run in runs])
        future: Future[Any] = Future()
        if any(run.key.method == self._loses for run in runs):
            future.set_exception(self._error)
        else:
            future.set_result([solve_run(run)._replace(elapsed_s=0.2) for run in runs])
        return future


def test_cells_go_to_a_cluster_in_batches_of_half_a_second(plan_of: Plans) -> None:
    plan, executor = plan_of("opr", *["three-nodes"] * 1, seeds=range(20)), Here()
    pool = WorkerPool(executor, 1, batch_s=0.5)
    replies = list(execute_runs(list(plan.runs), pool, WorkerSettings()))
    assert sorted(r.record.key.seed for r in replies) == list(range(20))
    sizes = [len(batch) for batch in executor.batches]
    assert sizes[:2] == [1, 1] and set(sizes[2:-1]) == {3}  # 0.2 s each


def test_what_a_batch_is_lost_over_is_found(plan_of: Plans) -> None:
    plan = plan_of("opr epr leave edf-iit-1", seeds=range(4))
    executor = Here("leave")
    replies = list(
        execute_runs(list(plan.runs), WorkerPool(executor, 1, batch_s=0.7), WorkerSettings())
    )
    lost = {r.record.key.seed: r.record for r in replies if r.record.key.method == "leave"}
    assert len(replies) == 16 and {record.status for record in lost.values()} == {Failure.CRASHED}
    assert lost[0].reason == "the executor lost it: OSError: gone"
    assert all(r.record.checked for r in replies if r.record.key.method != "leave")


def test_a_batch_that_was_lost_goes_cell_by_cell(plan_of: Plans) -> None:
    runs = plan_of("opr epr").runs
    pace = BatchSizer(9.0)
    for run in runs:
        pace.learn(run, 0.1)
    assert pace.batch(deque(runs), set()) == runs
    assert pace.batch(deque(runs), {runs[0]}) == runs[:1]
    assert pace.batch(deque(runs), {runs[1]}) == runs[:1]


def test_an_executor_that_breaks_down_ends_the_run_and_keeps_the_rows(
    plan_of: Plans, tmp_path: Path
) -> None:
    from concurrent.futures import BrokenExecutor

    file = tmp_path / "rows.jsonl"
    with pytest.raises(SolverError, match="broke down: no more"):
        run_batch(plan_of("opr epr"), file, executor=Here("epr", BrokenExecutor("no more")))
    assert [record.key.method for record in read_records(file)] == ["opr"]
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(SolverError, match="broke down"):
        run_batch(plan_of("opr epr"), file, executor=closed)
    assert run_batch(plan_of("opr epr"), file, executor=Here()).solved == 1


def test_a_worker_that_dies_between_two_cells_costs_none(plan_of: Plans) -> None:
    first, second = plan_of("opr epr").runs
    worker = Worker(WorkerSettings())
    assert worker.ask(first).record.checked
    assert worker.process is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker.process.pid, os.WEXITED | os.WNOWAIT)
    assert worker.ask(second).record.checked
    worker.close()
    assert worker.ask(first).record.reason == "cancelled: the batch was ended"


def test_a_worker_that_is_killed_over_a_cell(plan_of: Plans, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (run,) = plan_of("gated").runs
    worker = Worker(WorkerSettings(modules=(MODULE,)))
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setenv("DLOPT_TEST_GATE", str(gate))
        request = pool.submit(worker.ask, run)
        with gate.open("rb") as told:
            assert told.read(1) == b"!"
            assert worker.process is not None
            os.kill(worker.process.pid, signal.SIGKILL)
            reply: Reply = request.result()
    assert reply.record.reason == "the worker was killed by SIGKILL"
    worker.close()


def test_a_module_that_the_workers_lack(plan_of: Plans) -> None:
    (run,) = plan_of("opr").runs
    worker = Worker(WorkerSettings(modules=("no_such_module",)))
    record = worker.ask(run).record
    worker.close()
    assert record.status is Failure.FAILED and "cannot import no_such_module" in (
        record.reason or ""
    )


def test_a_worker_of_another_version(plan_of: Plans) -> None:
    (run,) = plan_of("opr").runs
    record = solve_run(replace(run, key=replace(run.key, dlopt="9.9"))).record
    assert record.status is Failure.FAILED and "the run has 9.9" in (record.reason or "")


def test_what_cannot_be_run(plan_of: Plans, tmp_path: Path) -> None:
    plan, file = plan_of("opr"), tmp_path / "rows.jsonl"
    for flags, told in (
        ({"executor": "cloud"}, "no executor 'cloud'"),
        ({"executor": "dask://"}, "no executor 'dask://'"),
        ({"executor": "dask://a:1", "workers": 2}, "a cluster has the workers it has"),
        ({"workers": 0}, "workers must be an integer from 1 on"),
        ({"memory_mb": 0}, "memory must be an integer from 1 on"),
        ({"modules": ["no_such_module"]}, "cannot import no_such_module"),
    ):
        with pytest.raises(NotApplicableError, match=told):
            run_batch(plan, file, **flags)  # type: ignore[arg-type]
        assert not file.exists()
    file.touch()
    with pytest.raises(NotApplicableError, match="no executor"):
        run_batch(plan, file, executor="cloud")
    assert file.exists()  # as it was there before


def test_an_empty_plan(tmp_path: Path) -> None:
    assert run_batch(ExperimentPlan(()), tmp_path / "rows.jsonl").records == ()


def test_pictures(plan_of: Plans, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plan = plan_of("opr leave", pictures=True, options={})
    folder = tmp_path / "drawn" / "here"
    flags: dict[str, Any] = {"modules": [MODULE], "workers": 1, "pictures": folder}
    opr, leave = run_batch(plan, tmp_path / "rows.jsonl", **flags).records
    assert leave.picture is None and opr.picture is not None
    assert opr.picture.startswith("drawn/here/") and "_opr_completion_0_" in opr.picture
    assert b"<svg" in (tmp_path / opr.picture).read_bytes()
