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
from dlopt.batch import Plan, Row, Trouble, read_rows, run_batch
from dlopt.batch.executors import Crew, solve_apart
from dlopt.batch.records import row_from_line
from dlopt.batch.runner import _handed_over, _Pace
from dlopt.batch.runs import Cell, Reply, load_module, solve_cell
from dlopt.batch.worker import Setting, Worker
from tests.batch.conftest import MODULE
from tests.batch.misbehaving_methods import GATE
from tests.gates import Gate

Plans = Callable[..., Plan]


def status_of(rows: tuple[Row, ...]) -> dict[str, str]:
    return {row.key.method: str(row.status) for row in rows}


def test_whatever_a_cell_does_is_a_row(plan_of: Plans, tmp_path: Path) -> None:
    plan = plan_of("opr leave abort wrong picky late chatty epr exact")
    file = tmp_path / "rows.jsonl"
    done = run_batch(plan, file, modules=[MODULE], workers=1)
    assert status_of(done.rows) == {
        "opr": "feasible",
        "leave": "died",
        "abort": "died",
        "wrong": "failed",
        "picky": "left-out",
        "late": "refuted",
        "chatty": "feasible",
        "epr": "feasible",
        "exact": "optimal",
    }
    found = {row.key.method: row for row in done.rows}
    assert found["leave"].reason == "the worker ended with code 3"
    assert found["abort"].reason == "the worker died of SIGABRT: terminate called"
    assert found["wrong"].reason == "wrong failed: ZeroDivisionError: by <nodes>"
    assert found["picky"].reason == "not today"
    assert found["opr"].value == Fraction(32, 5) and found["opr"].checked
    assert found["late"].answer["instance"]["name"] == "three-nodes"
    assert found["late"].answer["result"]["violations"] and not found["late"].checked
    assert found["exact"].solver and found["exact"].gap == 0
    assert {row.key: row for row in read_rows(file)} == {row.key: row for row in done.rows}


def test_a_cell_that_never_ends(plan_of: Plans, tmp_path: Path) -> None:
    plan = plan_of("hang", "three-nodes", "four-nodes", kill_after_s=0.2)
    done = run_batch(plan, tmp_path / "rows.jsonl", modules=[MODULE], workers=2)
    assert {row.status for row in done.rows} == {Trouble.OUT_OF_TIME}
    assert done.rows[0].reason == "ended after 0.2 s"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_cell_that_forks_and_dies(
    plan_of: Plans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv(GATE, str(gate.path))
    (row,) = run_batch(plan_of("forks"), tmp_path / "r.jsonl", modules=[MODULE], workers=1).rows
    assert (row.status, row.reason) == (Trouble.DIED, "the worker ended with code 3")
    assert gate.read() == b"!" and gate.read() == b""  # nothing of it is left
    monkeypatch.delenv(GATE)
    plan = plan_of("twice opr epr edf-iit-2 exact")
    rows = run_batch(plan, tmp_path / "rows.jsonl", modules=[MODULE], workers=1).rows
    assert [row.key.method for row in rows] == ["twice", "opr", "epr", "edf-iit-2", "exact"]
    assert rows[0].value == 9 and [str(row.value) for row in rows[1:3]] == ["32/5", "7"]


def test_a_cell_that_closes_its_pipes(plan_of: Plans, tmp_path: Path) -> None:
    (row,) = run_batch(plan_of("deaf"), tmp_path / "r.jsonl", modules=[MODULE], workers=1).rows
    assert (row.status, row.reason) == (Trouble.DIED, "the worker was killed by SIGKILL")


def test_what_a_method_says_is_bounded(plan_of: Plans, tmp_path: Path) -> None:
    plan, file = plan_of("quits wordy verbose mute"), tmp_path / "rows.jsonl"
    rows = run_batch(plan, file, modules=[MODULE], workers=1).rows
    quits, wordy, verbose, mute = [row.reason or "" for row in rows]
    assert [str(row.status) for row in rows] == ["failed", "failed", "feasible", "failed"]
    assert quits == "quits failed: it ends the program, with 0"
    assert wordy.startswith("wordy failed: ValueError: xxx") and len(wordy) <= 2000
    assert wordy.endswith("… (5,000,025 characters)")
    assert verbose.endswith("xxx… (5,000,000 characters)") and len(verbose) == 2000
    assert mute == "mute failed: UnspeakableError: its text cannot be told"
    assert file.stat().st_size < 12_000
    line = json.loads(rows[0].to_line()) | {"reason": "y" * 10_000}
    told = row_from_line(json.dumps(line).encode()).reason or ""
    assert told.endswith("y… (10,000 characters)") and len(told) == 2000


def test_a_cell_that_takes_all_memory(plan_of: Plans, tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="memory is limited on POSIX only")
    plan = plan_of("hungry abort opr")
    flags: dict[str, Any] = {"memory_mb": 2000, "modules": [MODULE], "workers": 1}
    done = run_batch(plan, tmp_path / "rows.jsonl", **flags)
    hungry, abort, opr = done.rows
    assert hungry.status is Trouble.OUT_OF_MEMORY and opr.status is Status.FEASIBLE
    assert abort.status is Trouble.OUT_OF_MEMORY  # so does a solver end that gets none
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
    assert len(read_rows(file)) == 5 and len(file.read_bytes().splitlines()) == 7


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
    assert [str(row.status) for row in done.rows] == 2 * ["feasible", "died", "feasible", "optimal"]


class Here(Executor):
    """Solves cells at once, without workers, and loses batches that hold a method."""

    def __init__(self, loses: str = "", error: Exception | None = None) -> None:
        self.batches: list[list[str]] = []
        self._loses, self._error = loses, error or OSError("gone")

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        assert fn is solve_apart
        cells: tuple[Cell, ...] = arguments[1]
        self.batches.append([cell.key.method for cell in cells])
        future: Future[Any] = Future()
        if any(cell.key.method == self._loses for cell in cells):
            future.set_exception(self._error)
        else:
            future.set_result([solve_cell(cell)._replace(elapsed_s=0.2) for cell in cells])
        return future


def test_cells_go_to_a_cluster_in_batches_of_half_a_second(plan_of: Plans) -> None:
    plan, executor = plan_of("opr", *["three-nodes"] * 1, seeds=range(20)), Here()
    crew = Crew(executor, 1, batch_s=0.5)
    replies = list(_handed_over(list(plan.cells), crew, Setting()))
    assert sorted(r.row.key.seed for r in replies) == list(range(20))
    sizes = [len(batch) for batch in executor.batches]
    assert sizes[:2] == [1, 1] and set(sizes[2:-1]) == {3}  # 0.2 s each


def test_what_a_batch_is_lost_over_is_found(plan_of: Plans) -> None:
    plan = plan_of("opr epr leave edf-iit-1", seeds=range(4))
    executor = Here("leave")
    replies = list(_handed_over(list(plan.cells), Crew(executor, 1, batch_s=0.7), Setting()))
    lost = {r.row.key.seed: r.row for r in replies if r.row.key.method == "leave"}
    assert len(replies) == 16 and {row.status for row in lost.values()} == {Trouble.DIED}
    assert lost[0].reason == "the executor lost it: OSError: gone"
    assert all(r.row.checked for r in replies if r.row.key.method != "leave")


def test_a_batch_that_was_lost_goes_cell_by_cell(plan_of: Plans) -> None:
    cells = plan_of("opr epr").cells
    pace = _Pace(9.0)
    for cell in cells:
        pace.learn(cell, 0.1)
    assert pace.batch(deque(cells), set()) == cells
    assert pace.batch(deque(cells), {cells[0]}) == cells[:1]
    assert pace.batch(deque(cells), {cells[1]}) == cells[:1]


def test_an_executor_that_breaks_down_ends_the_run_and_keeps_the_rows(
    plan_of: Plans, tmp_path: Path
) -> None:
    from concurrent.futures import BrokenExecutor

    file = tmp_path / "rows.jsonl"
    with pytest.raises(SolverError, match="broke down: no more"):
        run_batch(plan_of("opr epr"), file, executor=Here("epr", BrokenExecutor("no more")))
    assert [row.key.method for row in read_rows(file)] == ["opr"]
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(SolverError, match="broke down"):
        run_batch(plan_of("opr epr"), file, executor=closed)
    assert run_batch(plan_of("opr epr"), file, executor=Here()).solved == 1


def test_a_worker_that_dies_between_two_cells_costs_none(plan_of: Plans) -> None:
    first, second = plan_of("opr epr").cells
    worker = Worker(Setting())
    assert worker.ask(first).row.checked
    assert worker._process is not None
    os.kill(worker._process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker._process.pid, os.WEXITED | os.WNOWAIT)
    assert worker.ask(second).row.checked
    worker.close()
    assert worker.ask(first).row.reason == "the run was ended"


def test_a_worker_that_is_killed_over_a_cell(plan_of: Plans, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (cell,) = plan_of("gated").cells
    worker = Worker(Setting(modules=(MODULE,)))
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setenv("DLOPT_TEST_GATE", str(gate))
        asked = pool.submit(worker.ask, cell)
        with gate.open("rb") as told:
            assert told.read(1) == b"!"
            assert worker._process is not None
            os.kill(worker._process.pid, signal.SIGKILL)
            reply: Reply = asked.result()
    assert reply.row.reason == "the worker was killed by SIGKILL"
    worker.close()


def test_a_module_that_the_workers_lack(plan_of: Plans) -> None:
    (cell,) = plan_of("opr").cells
    worker = Worker(Setting(modules=("no_such_module",)))
    row = worker.ask(cell).row
    worker.close()
    assert row.status is Trouble.FAILED and "cannot import no_such_module" in (row.reason or "")


def test_a_worker_of_another_version(plan_of: Plans) -> None:
    (cell,) = plan_of("opr").cells
    row = solve_cell(replace(cell, key=replace(cell.key, dlopt="9.9"))).row
    assert row.status is Trouble.FAILED and "the run has 9.9" in (row.reason or "")


def test_files_that_register_methods(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import builtins\nbuiltins.loaded = getattr(builtins, 'loaded', 0) + 1\n")
    import builtins

    load_module(str(file))
    load_module(str(file))
    assert vars(builtins).pop("loaded") == 1
    file = tmp_path / "bad.py"
    file.write_text("1 / 0")
    for _ in range(2):  # a file that failed has not been loaded
        with pytest.raises(NotApplicableError, match=r"cannot import .*bad.py: division by zero"):
            load_module(str(file))


def test_what_cannot_be_run(plan_of: Plans, tmp_path: Path) -> None:
    plan, file = plan_of("opr"), tmp_path / "rows.jsonl"
    for flags, told in (
        ({"executor": "cloud"}, "no executor 'cloud'"),
        ({"executor": "dask://"}, "no executor 'dask://'"),
        ({"executor": "dask://a:1", "workers": 2}, "a cluster has the workers it has"),
        ({"workers": 0}, "workers must be positive"),
        ({"memory_mb": 0}, "memory must be positive"),
        ({"modules": ["no_such_module"]}, "cannot import no_such_module"),
    ):
        with pytest.raises(NotApplicableError, match=told):
            run_batch(plan, file, **flags)  # type: ignore[arg-type]


def test_an_empty_plan(tmp_path: Path) -> None:
    assert run_batch(Plan(()), tmp_path / "rows.jsonl").rows == ()


def test_pictures(plan_of: Plans, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plan = plan_of("opr leave", pictures=True, options={})
    folder = tmp_path / "drawn" / "here"
    flags: dict[str, Any] = {"modules": [MODULE], "workers": 1, "pictures": folder}
    opr, leave = run_batch(plan, tmp_path / "rows.jsonl", **flags).rows
    assert leave.picture is None and opr.picture is not None
    assert opr.picture.startswith("drawn/here/") and "_opr_completion_0_" in opr.picture
    assert b"<svg" in (tmp_path / opr.picture).read_bytes()
