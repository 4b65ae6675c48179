"""Work that overruns its time is given up, and what is known without it is the answer."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dlopt import Limits, interruption, method_run, registry, solve, temporary_files
from dlopt.errors import NotApplicableError
from dlopt.interruption import still_working, within
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Result, Status

THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
SOON = 0.05
PATIENCE_S = 30


def for_ever() -> None:
    while True:
        pass


def test_the_answer_and_the_errors_of_work_are_the_callers() -> None:
    assert within(PATIENCE_S, lambda: "answer") == "answer"

    def fails() -> None:
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        within(PATIENCE_S, fails)

    def leaves() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        within(PATIENCE_S, leaves)


def test_the_context_of_the_caller_is_that_of_the_work() -> None:
    here: contextvars.ContextVar[int] = contextvars.ContextVar("here")
    here.set(7)
    assert within(PATIENCE_S, here.get) == 7


def test_work_that_is_given_up_ends() -> None:
    workers = []

    def work() -> None:
        workers.append(threading.current_thread())
        try:
            for_ever()
        except Exception:  # what tries again whatever happens is ended, too
            for_ever()

    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"):
        within(SOON, work)
    workers[0].join(PATIENCE_S)
    assert not workers[0].is_alive()


def test_only_what_ends_the_work_is_not_reported_in_finalizers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported: list[type[BaseException] | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: reported.append(one.exc_type))
    given_up = threading.Event()

    class Endless:
        def __del__(self) -> None:
            try:
                for_ever()
            finally:
                given_up.set()

    class Failing:
        def __del__(self) -> None:
            raise KeyError("its own")

    def work() -> None:
        Endless()
        Failing()
        for_ever()

    with pytest.raises(TimeoutError):
        within(SOON, work)
    assert given_up.wait(PATIENCE_S) and not still_working(PATIENCE_S)
    assert reported == [KeyError]


def test_work_within_work_is_given_up_with_it() -> None:
    inner = []

    def work() -> None:
        inner.append(threading.current_thread())
        for_ever()

    with pytest.raises(TimeoutError):
        within(4 * SOON, lambda: within(SOON, work))
    inner[0].join(PATIENCE_S)
    assert not inner[0].is_alive()


def test_a_call_that_cannot_be_broken_off_is_not_waited_for() -> None:
    gate = threading.Lock()
    gate.acquire()
    with pytest.raises(TimeoutError):
        within(SOON, gate.acquire)
    assert still_working()
    gate.release()
    stop = time.monotonic() + PATIENCE_S
    while still_working() and time.monotonic() < stop:
        time.sleep(SOON)
    assert not still_working()


TRACED = """
import sys, threading
from dlopt.interruption import still_working, within

threading.settrace(lambda *_: None)
sys.settrace(lambda *_: None)
gate = threading.Lock()
gate.acquire()
try:
    within(0.05, gate.acquire)
except TimeoutError as error:
    print(error)
gate.release()
while still_working():
    pass
"""


def test_a_debugger_does_not_stand_still_while_a_call_cannot_be_broken_off() -> None:
    line = [sys.executable, "-c", TRACED]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("no answer within 0.05 s\n", "")


def test_many_that_end_as_they_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them is ended twice, or in Python's own code, which would be told."""
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", told.append)

    def busy(seconds: float) -> int:
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            sum(range(50))
        return 1

    def many(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(60):
            seconds = draw.uniform(0.0005, 0.01)
            work = partial(busy, seconds * draw.choice((0.5, 0.95, 1, 1.05, 3)))
            with contextlib.suppress(TimeoutError):
                assert within(seconds, work) == 1

    threads = [threading.Thread(target=many, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop = time.monotonic() + PATIENCE_S
    while still_working() and time.monotonic() < stop:
        time.sleep(SOON)
    assert not still_working() and not told


def test_an_interrupt_of_the_caller_gives_the_work_up(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = []

    def interrupted(thread: threading.Thread, _seconds: float) -> None:
        workers.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(interruption.WorkThread, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        within(PATIENCE_S, for_ever)
    workers[0].join(PATIENCE_S)
    assert not workers[0].is_alive()


def test_a_module_is_imported_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["import threading", "GATE.wait()", "number = sum(range(300_000))"]
    (tmp_path / "slow_to_import.py").write_text("\n".join(["from builtins import GATE", *lines]))
    gate = threading.Event()
    monkeypatch.setattr("builtins.GATE", gate, raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def work() -> None:
        import slow_to_import  # type: ignore[import-not-found]  # noqa: F401

        for_ever()

    with pytest.raises(TimeoutError):
        within(SOON, work)
    gate.set()
    stop = time.monotonic() + PATIENCE_S
    while still_working() and time.monotonic() < stop:
        time.sleep(SOON)
    assert not still_working()
    assert sys.modules.pop("slow_to_import").number == sum(range(300_000))


# methods


def register(name: str, function: Any, **fields: Any) -> None:
    registry.register("iit", name, function, objectives=("completion",), **fields)


def endless(instance: Instance, **_: Any) -> Result[Any]:
    for_ever()
    raise AssertionError


@pytest.mark.usefixtures("method_table")
def test_an_exact_method_that_overruns_answers_with_its_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(method_run, "HINT_TIME_SHARE", 1)  # enough for the heuristic when busy
    register("endless", endless, kind="exact", claim="optimal")
    result = solve(THREE, "endless", limits=Limits(time_s=SOON))
    best = solve(THREE)
    assert result.status is Status.FEASIBLE and result.value == best.value and result.bound is None
    assert result.tolerance == 0 and result.method == "endless" and not result.violations
    assert result.reason == (
        "given up: endless overran its limit of 0.05 s; the plan is that of edf-iit-2"
    )
    alone = solve(THREE, "opr").solution
    result = solve(THREE, "endless", hint=alone, limits=Limits(time_s=SOON))
    assert result.status is Status.FEASIBLE and result.solution == alone
    assert result.value == solve(THREE, "opr").value
    assert result.reason == "given up: endless overran its limit of 0.05 s"


@pytest.mark.usefixtures("method_table")
def test_a_heuristic_that_overruns_gives_no_plan() -> None:
    register("endless", endless)
    result = solve(THREE, "endless", limits=Limits(time_s=SOON))
    assert result.status is Status.LIMIT and result.solution is None and result.value is None
    assert result.reason == "given up: endless overran its limit of 0.05 s"


@pytest.mark.usefixtures("method_table")
def test_where_a_hint_overruns_the_best_one_before_it_is_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register("endless", endless)
    problem = registry.problem("iit")
    names = ("opr", "epr", "endless", "edf-iit-2")
    hinted = registry.Problem(problem.stem, problem.summary, problem.certified, names)
    monkeypatch.setattr(registry, "problem_of", lambda _: hinted)
    result = solve(THREE, limits=Limits(time_s=SOON))
    assert result.value == min(solve(THREE, "opr").value, solve(THREE, "epr").value)
    assert result.reason == ("given up: exact overran its limit of 0.05 s; the plan is that of opr")


@pytest.mark.usefixtures("method_table")
def test_the_time_of_an_exact_method_has_that_of_the_heuristics_it_starts_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(*args: Any, **options: Any) -> Any:
        time.sleep(SOON)
        return solve(THREE, "opr")

    def quick(instance: Any, *, hint: Any, **options: Any) -> Any:
        return replace(solve(THREE, "opr"), solution=hint, runtime_s=None)

    register("slow", slow)
    register("quick", quick, kind="exact")
    problem = registry.problem("iit")
    hinted = registry.Problem(problem.stem, problem.summary, problem.certified, ("slow",))
    monkeypatch.setattr(registry, "problem_of", lambda _: hinted)
    found = solve(THREE, "quick")
    assert found.value == solve(THREE, "opr").value
    assert found.runtime_s is not None and found.runtime_s >= SOON


def test_what_a_method_refuses_is_refused_under_a_limit_too() -> None:
    unlike = Instance(Cluster(2, tau=(1, 2), chi=2), (0, 1), load=3)
    with pytest.raises(NotApplicableError, match="does not apply"):
        solve(unlike, "edf-iit-2", limits=Limits(time_s=60))


def test_python_ends_while_a_solver_goes_on() -> None:
    code = """
import time
from dlopt.interruption import within
try:
    within(0.05, lambda: time.sleep(1))
except TimeoutError:
    print("given up")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up\n", "")


def test_work_is_not_broken_off_in_code_that_holds_locks() -> None:
    """A lock of coverage that is never released stops every thread whose lines are measured."""
    here = sys._getframe()
    assert interruption.can_be_broken_off(here) and interruption.can_be_broken_off(None)
    inside: list[bool] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            here = sys._getframe()
            inside.extend(map(interruption.can_be_broken_off, (here.f_back, here)))

    logger = logging.Logger("some")
    logger.addHandler(Handler())
    logger.warning("anything")
    assert inside == [False, False]  # what is called with the lock, too


def test_a_temporary_folder_is_removed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What made the block end is raised again and again, and must not end its clean-up."""
    remove, entered, begun = shutil.rmtree, threading.Event(), threading.Event()

    def slow(path: Path, **options: Any) -> None:
        begun.set()
        stop = time.monotonic() + 10 * SOON
        while time.monotonic() < stop:
            pass
        remove(path, **options)

    def work() -> None:
        with temporary_files.temporary_folder():
            entered.set()
            for_ever()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "rmtree", slow)
    with pytest.raises(TimeoutError):
        within(PATIENCE_S, work, entered.is_set)
    assert begun.wait(PATIENCE_S) and not still_working(PATIENCE_S)
    assert list(tmp_path.iterdir()) == []


def test_a_block_is_left_before_the_work_is_broken_off_again() -> None:
    @contextlib.contextmanager
    def block() -> Iterator[None]:
        inside.append(interruption.can_be_broken_off(sys._getframe().f_back))
        yield
        inside.append(interruption.can_be_broken_off(sys._getframe().f_back))

    inside: list[bool] = []
    with block():
        inside.append(interruption.can_be_broken_off(sys._getframe()))
    assert inside == [False, True, False]
