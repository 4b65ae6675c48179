"""Jobs of a log as requests for processors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import NotApplicableError
from dlopt.formats import swf
from dlopt.formats.swf import SwfJob, SwfLog
from dlopt.generation.log_requests import LogRequests, requests_from_log
from dlopt.problems.coreservation import linear, step
from tests.data import data_folder

JOBS = (
    SwfJob(1, 100, 5, 50, 4, requested_time=80, user=1, queue=2),
    SwfJob(2, 90, None, 20, 9, requested_time=30, user=2, queue=2),
    SwfJob(3, 120, 0, 0, 4, user=1),
    SwfJob(4, 130, 0, 10, None),
    SwfJob(5, 200, 1, 7, 3, user=1),
)


def booked(*jobs: SwfJob, size: int | None = 8, **options: Any) -> LogRequests:
    header = (("MaxProcs", str(size)),) if size else ()
    return requests_from_log(SwfLog(header, jobs or JOBS), **options)


def test_a_job_wants_its_processors_while_it_ran() -> None:
    made = booked()
    found = [(one.id, one.arrival, one.start, one.end) for one in made.instance.requests]
    assert found == [("2", 0, 0, 20), ("1", 10, 15, 65), ("5", 110, 111, 118)]
    assert made.left_out == (("without run time", 1), ("without processors", 1))
    assert made.instance.machines[0].capacity == 8
    assert made.instance.exact
    assert made.instance.batch is None
    assert all(part.benefit == step() for one in made.instance.requests for part in one.parts)


def test_windows_by_submission_and_by_request() -> None:
    made = booked(starts="submitted", durations="requested").instance
    assert [(one.id, one.start, one.end) for one in made.requests] == [("2", 0, 30), ("1", 10, 90)]


def test_what_is_wider_than_a_machine_has_several_parts() -> None:
    made = booked(SwfJob(1, 0, 0, 5, 7), SwfJob(2, 0, 0, 5, 3), machines=3).instance
    assert [machine.capacity for machine in made.machines] == [3, 3, 3]
    assert [[part.cpu for part in one.parts] for one in made.requests] == [[3, 2, 2], [3]]
    given = booked(SwfJob(1, 0, 0, 5, 7), size=None, machines=2, machine_size=8).instance
    assert [part.cpu for part in given.requests[0].parts] == [7]


def test_machines_of_a_size_are_as_many_as_the_log_has_processors_for() -> None:
    made = booked(machine_size=3).instance
    assert [machine.capacity for machine in made.machines] == [3, 3, 3]
    assert [[part.cpu for part in one.parts] for one in made.requests] == [[3, 3, 3], [2, 2], [3]]
    made = booked(size=None, machine_size=4).instance  # the widest job has 9
    assert len(made.machines) == 3
    assert len(booked(machine_size=100).instance.machines) == 1
    assert len(booked(machine_size=3, machines=2).instance.machines) == 2


def test_a_total_other_than_that_of_the_log_is_noted() -> None:
    assert booked(machine_size=3).notes[-1] == "3 machines of 3 have 9 processors, the log has 8"
    assert booked(machines=3).notes[-1] == "3 machines of 3 have 9 processors, the log has 8"
    for fitting in (booked(machine_size=4), booked(machines=2), booked(size=None, machine_size=5)):
        assert not any("processors" in note for note in fitting.notes)


def test_jobs_without_a_recorded_start_are_noted() -> None:
    job, waiting = SwfJob(1, 0, None, 5, 7), SwfJob(2, 0, 4, 5, 7)
    assert booked(job, waiting).notes == ("1 job without wait time: its start is its submission",)
    some = booked(job, waiting).instance.origin
    assert "starts as recorded (of 1 of 2 jobs as submitted), run" in some
    assert "starts as submitted, run" in booked(job).instance.origin
    assert "starts as recorded, run" in booked(waiting).instance.origin
    assert booked(waiting).notes == booked(job, starts="submitted").notes == ()


def test_the_time_of_the_log_that_is_0_is_noted() -> None:
    assert booked(SwfJob(1, 30, 0, 5, 7)).notes == ("time 0 is 30 s of the log",)
    assert booked(SwfJob(1, 30, 0, 5, 7), at=20).notes == ("time 0 is 20 s of the log",)


def test_priorities() -> None:
    def of(rule: str) -> list[Any]:
        return [one.priority for one in booked(priority=rule).instance.requests]

    assert of("equal") == [1, 1, 1]
    assert of("user") == [1, Fraction(1, 2), Fraction(1, 2)]
    assert of("queue") == [Fraction(1, 2), Fraction(1, 2), 1]


def test_soft_jobs() -> None:
    made = booked(least=Fraction(1, 4), batch=60).instance
    assert [one.parts[0].cpu_min for one in made.requests] == [Fraction(5, 4), 1, Fraction(3, 4)]
    assert made.requests[0].parts[0].benefit == linear()
    assert made.batch is not None
    assert made.batch.interval == 60
    floating = booked(least=0.3).instance.requests[1].parts[0]
    assert floating.cpu_min == 0.3 * 4


def test_a_stretch_of_the_log() -> None:
    made = booked(at=95, span=10, name="some").instance
    assert [(one.id, one.arrival) for one in made.requests] == [("1", 5)]
    assert made.name == "some"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"size": None}, "does not say how many processors"),
        ({"machine_size": 0}, "machine_size must be an integer from 1"),
        ({"machines": 0}, "machines must be an integer from 1"),
        ({"at": 1000}, "no job of the log is left: none in that time"),
        ({"at": 125, "span": 10}, "no job of the log is left: 1 without processors"),
        ({"at": float("nan")}, "at must be a finite number"),
        ({"span": 0}, "span must be a positive number"),
        ({"least": 2}, "least must be above 0 and at most 1, got 2"),
        ({"starts": "fcfs"}, "starts must be one of recorded, submitted"),
        ({"durations": "x"}, "durations must be one of run, requested"),
        ({"priority": "x"}, "priority must be one of equal, user, queue"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        booked(**options)


def test_bursts_are_no_jobs() -> None:
    with pytest.raises(NotApplicableError, match="no job of the log is left"):
        booked(SwfJob(1, 0, 0, 5, 7, status=3))


def test_a_real_log() -> None:
    log = swf.read(data_folder("swf") / "lublin_256.swf")
    made = requests_from_log(log, machines=4, span=500_000, least=Fraction(1, 2), batch=600)
    assert {machine.capacity for machine in made.instance.machines} == {64}
    wanted = {str(job.number): job for job in log.jobs}
    for one in made.instance.requests:
        job = wanted[one.id]
        assert sum(part.cpu for part in one.parts) == job.processors
        assert one.end - one.start == job.run_time
    assert len(made.instance.requests) > 100


def test_the_windows_of_a_log_have_different_names() -> None:
    names = [booked(at=at).instance.name for at in (None, 90, 100)]
    assert names == ["booked-1x8", "booked-1x8-at-90", "booked-1x8-at-100"]
