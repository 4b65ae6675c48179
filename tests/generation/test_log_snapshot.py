"""What a log leaves of a cluster at an instant, against recounts second by second."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dlopt import api
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.formats import swf
from dlopt.generation.log_snapshot import (
    RigidJob,
    first_come_first_served,
    remaining_times,
)
from dlopt.generation.log_snapshot import snapshot as snapshot_and_notes
from dlopt.heuristics.iit.methods import epr, opr
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import Units
from dlopt.result import Status
from tests.data import data_folder


class Line(NamedTuple):
    """What counts of a job in a log; -1 where it is not known."""

    submit: int
    wait: int
    run_time: int
    allocated: int
    requested: int
    status: int = 1


def log_of(*lines: Line, size: int | None = None) -> swf.SwfLog:
    texts = [] if size is None else [f"; MaxProcs: {size}"]
    for number, job in enumerate(lines, 1):
        texts.append(
            f"{number} {job.submit} {job.wait} {job.run_time} {job.allocated} -1 -1 "
            f"{job.requested} -1 -1 {job.status} 1 1 -1 -1 -1 -1 -1"
        )
    return swf.parse([*texts, "; End: of log"])


def snapshot(log: swf.SwfLog, **options: Any) -> Instance:
    return snapshot_and_notes(log, **options).instance


def processors(job: Line) -> int:
    return job.requested if job.allocated == -1 else job.allocated


def counts(job: Line) -> bool:
    """Tell whether a job ran for a known time on a known number, and is no burst of another."""
    return job.run_time > 0 and processors(job) > 0 and job.status not in (2, 3, 4)


def busy(lines: list[Line], at: int, second: int) -> int:
    """Count the processors that jobs running at one second hold in a later one."""
    total = 0
    for job in lines:
        start = job.submit + max(job.wait, 0)
        if counts(job) and start <= at and at <= second < start + job.run_time:
            total += processors(job)
    return total


lines = st.builds(
    Line,
    submit=st.integers(0, 20),
    wait=st.integers(-1, 6),
    run_time=st.integers(-1, 12),
    allocated=st.integers(-1, 4),
    requested=st.integers(-1, 4),
    status=st.sampled_from([-1, 0, 1, 1, 1, 2, 3, 4, 5]),
)


# snapshot


@pytest.mark.property
@given(st.lists(lines, min_size=1, max_size=8), st.integers(0, 32), st.integers(4, 16))
@example([Line(0, 0, 5, 4, 4, 2), Line(0, 0, 5, 3, 3)], 1, 4)
def test_snapshot_is_what_a_recount_finds(jobs: list[Line], at: int, size: int) -> None:
    log = log_of(*jobs, size=size)
    if busy(jobs, at, at) > size:
        with pytest.raises(NotApplicableError, match="--starts fcfs"):
            snapshot(log, at=at, load=1)
        return
    instance = snapshot(log, at=at, load=1)
    times = instance.ready_times
    assert len(times) == instance.cluster.nodes == size and list(times) == sorted(times)
    for later in range(60):
        assert sum(time > later for time in times) == busy(jobs, at, at + later)


def test_snapshot_by_hand() -> None:
    log = log_of(
        Line(0, -1, 10, 2, 2),  # 0 to 10 on two
        Line(1, 3, 10, -1, 1),  # 4 to 14 on one, as requested
        Line(5, 10, 10, 1, 1),  # not before 15
        size=5,
    )
    assert snapshot(log, at=5, load=9).ready_times == (0, 0, 5, 5, 9)
    assert snapshot(log, at=10, load=9).ready_times == (0, 0, 0, 0, 4)  # 10 is free again
    assert snapshot(log, at=14, load=9).ready_times == (0,) * 5
    assert snapshot(log, at=-3, load=9).ready_times == (0,) * 5
    half = snapshot(log, at=Fraction(9, 2), load=9)
    assert half.ready_times == (0, 0, Fraction(11, 2), Fraction(11, 2), Fraction(19, 2))


def test_what_a_snapshot_says_of_itself() -> None:
    log = swf.parse(["; Computer: Toy", "; MaxProcs: 2", *_texts(Line(0, 0, 9, 1, 1))])
    costs = {"tau": Fraction(1, 2), "chi": 3, "theta_cm": 1, "theta_cp": 2}
    instance = snapshot(log, at=4, load=7, deadline=100, **costs)
    assert instance.load == 7 and instance.absolute_deadline == 100
    assert {name: getattr(instance.cluster, name) for name in costs} == costs
    assert instance.name == "snapshot-2-at-4" and instance.units == Units("s")
    assert instance.origin == "occupancy of Toy at 4 s of its log"
    replayed = snapshot(log, at=4, load=7, starts="fcfs", name="mine")
    assert replayed.name == "mine" and replayed.origin.endswith("at 4 s of its log, fcfs starts")
    assert snapshot(log_of(size=3), at=0, load=1).origin.startswith("occupancy of a cluster at")


def _texts(*jobs: Line) -> list[str]:
    return [
        f"{n} {j.submit} {j.wait} {j.run_time} {j.allocated} -1 -1 {j.requested} -1 -1 {j.status}"
        " 1 1 -1 -1 -1 -1 -1"
        for n, j in enumerate(jobs, 1)
    ]


def test_starts_that_the_log_does_not_record_are_noted() -> None:
    unknown, recorded, idle = Line(0, -1, 9, 1, 1), Line(0, 0, 9, 1, 1), Line(0, -1, 0, 1, 1)
    log = log_of(unknown, recorded, idle, unknown, size=3)
    (note,) = snapshot_and_notes(log, at=0, load=1).notes
    assert note.startswith("2 jobs without wait time: their starts are their submissions")
    assert snapshot_and_notes(log, at=0, load=1, starts="fcfs").notes == ()
    assert snapshot_and_notes(log_of(recorded, idle, size=3), at=0, load=1).notes == ()


@pytest.mark.parametrize(
    "ignored",
    [
        Line(0, 0, -1, 1, 1),
        Line(0, 0, 0, 1, 1),
        Line(0, 0, 9, -1, -1),
        Line(0, 0, 9, 0, 1),
        Line(0, 0, 9, 1, 1, status=2),
        Line(0, 0, 9, 1, 1, status=3),
        Line(0, 0, 9, 1, 1, status=4),
        Line(-1, 0, 9, 1, 1, status=3),
    ],
    ids=["time unknown", "no time", "size unknown", "no size", "burst", "last", "killed", "later"],
)
@pytest.mark.parametrize("starts", ["recorded", "fcfs"])
def test_jobs_that_do_not_count(ignored: Line, starts: str) -> None:
    whole = Line(0, 0, 9, 2, 2)
    for jobs in ((ignored, whole), (whole, ignored)):
        instance = snapshot(log_of(*jobs, size=4), at=3, load=1, starts=starts)
        assert instance.ready_times == (0, 0, 6, 6)


def test_the_bursts_of_a_job_are_not_counted_beside_it() -> None:
    texts = [
        "1 0 0 10 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1",  # the whole job, on all four
        "1 0 0 4 4 -1 -1 4 -1 -1 2 1 1 -1 -1 -1 -1 -1",
        "1 -1 2 4 4 -1 -1 4 -1 -1 3 1 1 -1 -1 -1 -1 -1",
    ]
    log = swf.parse(["; MaxProcs: 4", *texts])
    assert snapshot(log, at=2, load=1).ready_times == (8, 8, 8, 8)


def test_the_size_of_the_machine() -> None:
    job = Line(0, 0, 9, 2, 2)
    with pytest.raises(NotApplicableError, match=r"does not say how many processors .* --machines"):
        snapshot(log_of(job), at=3, load=1)
    assert snapshot(log_of(job), at=3, load=1, machines=3).ready_times == (0, 6, 6)
    assert snapshot(log_of(job, size=9), at=3, load=1, machines=2).ready_times == (6, 6)
    for starts in ("recorded", "fcfs"):
        with pytest.raises(NotApplicableError, match="a job takes 2 processors, the machine has 1"):
            snapshot(log_of(job), at=99, load=1, machines=1, starts=starts)


def test_an_overfull_log_is_told_with_advice() -> None:
    log = log_of(Line(0, -1, 9, 3, 3), Line(1, -1, 9, 2, 2), size=4)
    assert snapshot(log, at=0, load=1).ready_times == (0, 9, 9, 9)
    with pytest.raises(NotApplicableError) as caught:
        snapshot(log, at=1, load=1)
    assert str(caught.value) == (
        "at 1 the jobs take 5 processors, the machine has 4; "
        "the log may lack wait times: --starts fcfs"
    )
    # the advice helps: the second waits until the first has ended
    assert snapshot(log, at=1, load=1, starts="fcfs").ready_times == (0, 8, 8, 8)
    assert snapshot(log, at=9, load=1, starts="fcfs").ready_times == (0, 0, 9, 9)


def test_bad_requests() -> None:
    log = log_of(Line(0, 0, 9, 1, 1), size=2)
    for at in (float("nan"), float("inf"), 10**5000):
        with pytest.raises(NotApplicableError, match="at must be a finite number"):
            snapshot(log, at=at, load=1)
    for changes in ({"load": 0}, {"tau": -1}, {"deadline": 0}):
        with pytest.raises(InvalidInstanceError):
            snapshot(log, **({"at": 3, "load": 1} | changes))


# first come, first served


def naive_starts(jobs: list[RigidJob], size: int) -> list[int]:
    """Serve the queue second by second; return the starts in the order of the queue."""
    queue = sorted(jobs, key=lambda job: job.submit)
    running: list[tuple[int, int]] = []
    starts: list[int] = []
    second = 0
    while len(starts) < len(queue):
        running = [(end, count) for end, count in running if end > second]
        while len(starts) < len(queue):
            job = queue[len(starts)]
            free = size - sum(count for _, count in running)
            if job.submit > second or job.processors > free:
                break
            starts.append(second)
            running.append((second + int(job.run_time), job.processors))
        second += 1
    return starts


rigid = st.builds(
    lambda submit, run_time, count: RigidJob(submit, submit, run_time, count),
    st.integers(0, 30),
    st.integers(1, 9),
    st.integers(1, 4),
)


@pytest.mark.property
@given(st.lists(rigid, max_size=12), st.integers(4, 7))
def test_first_come_first_served_is_what_a_naive_queue_does(
    jobs: list[RigidJob], size: int
) -> None:
    placed = first_come_first_served(jobs, size)
    assert [job.start for job in placed] == naive_starts(jobs, size)
    queue = sorted(jobs, key=lambda job: job.submit)
    kept = [(job.submit, job.run_time, job.processors) for job in placed]
    assert kept == [(job.submit, job.run_time, job.processors) for job in queue]


@pytest.mark.property
@given(st.lists(lines, min_size=1, max_size=10), st.integers(0, 80))
def test_replayed_logs_are_never_overfull(jobs: list[Line], at: int) -> None:
    ran = [RigidJob(j.submit, j.submit, j.run_time, processors(j)) for j in jobs if counts(j)]
    instance = snapshot(log_of(*jobs, size=4), at=at, load=1, starts="fcfs")
    ends = [
        (start + int(job.run_time) - at, job.processors)
        for start, job in zip(
            naive_starts(ran, 4), sorted(ran, key=lambda job: job.submit), strict=True
        )
        if start <= at < start + int(job.run_time)
    ]
    expected = sorted(left for left, count in ends for _ in range(count))
    assert list(instance.ready_times) == [0] * (4 - len(expected)) + expected


@pytest.mark.property
@given(st.lists(rigid, max_size=8), st.integers(0, 40), st.integers(-1, 2))
def test_remaining_fits_or_is_refused(jobs: list[RigidJob], at: int, spare: int) -> None:
    held = sum(j.processors for j in jobs if j.start <= at < j.start + j.run_time)
    size = held + spare
    assume(size >= 0)
    if spare < 0:
        with pytest.raises(NotApplicableError, match=f"take {held} processors"):
            remaining_times(jobs, size, at)
    else:
        times = remaining_times(jobs, size, at)
        assert len(times) == size and sum(time > 0 for time in times) == held


# a real log


@pytest.fixture(scope="module")
def nasa() -> swf.SwfLog:
    log = swf.read(data_folder("swf") / "NASA-iPSC-1993-3.1-cln.swf")
    assert log.machine_size == 128 and len(log.jobs) == 18_239
    return log


@pytest.fixture(scope="module")
def instants(nasa: swf.SwfLog) -> list[int]:
    """Return 60 instants, and one at which the log holds more than the machine has."""
    last = max(int(job.submit or 0) for job in nasa.jobs)
    draw = random.Random("instants")
    return [OVERFULL, *(draw.randint(0, last) for _ in range(60))]


OVERFULL = 3_010_500


def jobs_that_ran(log: swf.SwfLog) -> list[RigidJob]:
    return [
        RigidJob(job.submit, job.submit, job.run_time, job.processors)
        for job in log.jobs
        if job.submit is not None and job.run_time and job.processors
    ]


def test_a_real_log(nasa: swf.SwfLog, instants: list[int]) -> None:
    """Find what a plain count finds; the closed form is never worse than the papers' rules."""
    ran = jobs_that_ran(nasa)
    refused, better, sizes = [], 0, set()
    for index, at in enumerate(instants):
        held = sum(job.processors for job in ran if job.start <= at < job.start + job.run_time)
        if held > 128:
            with pytest.raises(NotApplicableError, match=f"take {held} processors.*--starts fcfs"):
                snapshot(nasa, at=at, load=600)
            refused.append(at)
            continue
        instance = snapshot(nasa, at=at, load=600)
        assert sum(time > 0 for time in instance.ready_times) == held <= 128
        sizes.add(held)
        best = api.solve(instance, "edf-iit-2")
        assert best.status is Status.OPTIMAL
        for rule in (opr, epr):
            other = rule(instance).value
            assert best.value <= other
            better += best.value < other
        if index % 12 == 1:
            bound = api.solve(instance, "bound-fluid").bound
            assert bound is not None and bound <= best.value
    assert refused == [OVERFULL]
    assert better > 80 and len(sizes) == 20


def test_a_real_log_served_again_fits_its_machine(nasa: swf.SwfLog, instants: list[int]) -> None:
    ran = jobs_that_ran(nasa)
    placed = first_come_first_served(ran, 128)
    assert len(placed) == len(ran) and all(job.start >= job.submit for job in placed)
    for at in instants:
        held = sum(job.processors for job in placed if job.start <= at < job.start + job.run_time)
        assert held <= 128
    instance = snapshot(nasa, at=OVERFULL, load=600, starts="fcfs")
    assert instance.cluster.nodes == 128 and max(instance.ready_times) > 0
