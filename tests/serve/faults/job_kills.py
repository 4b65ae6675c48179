"""A server, or a worker of it, that is killed while jobs run, and what is known of them then."""

from __future__ import annotations

import http.client
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dlopt
from dlopt import generate, io
from tests.gates import PATIENCE
from tests.serve.faults.clients import Connection
from tests.serve.running_service import RunningService

SHORT, LONG = 4, 2
"""Jobs of a round that end at once, and of those after them that search until their time limit."""
LONGEST_S = 2.5
"""Seconds after which something is killed, at the latest; by then most jobs have ended."""
ENDED = frozenset({"done", "failed", "cancelled", "interrupted"})


@dataclass
class JobKillRound:
    """What came of a kill.

    Attributes
    ----------
    accepted : int
        Jobs that the server acknowledged.
    finished : dict of str to object
        What was read of the results of jobs before the kill.
    faults : list of str
    """

    accepted: int = 0
    finished: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def request(seed: int, number: int) -> dict[str, Any]:
    """Return a request that no other one equals."""
    draw = random.Random(f"{seed} {number}")
    if number >= SHORT:
        instance = generate("dag", "layered", tasks=60, seed=draw.randrange(10**9))
        limits = {"time_s": draw.choice((0.5, 1.0))}
    else:
        instance = generate("dag", "layered", tasks=draw.randint(5, 8), seed=draw.randrange(10**9))
        limits = {"time_s": 20.0}
    return {"instance": io.instance_to_data(instance), "method": "exact", "limits": limits}


def kill_while_jobs_run(folder: Path, seed: int, *, worker: bool) -> JobKillRound:
    """Kill a server, or one of its workers, at a random moment, and look at all jobs afterwards."""
    found, requests = JobKillRound(), [request(seed, number) for number in range(SHORT + LONG)]
    jobs: dict[str, dict[str, Any]] = {}
    with RunningService(folder) as server:
        connection = Connection(server.address)
        end = time.monotonic() + random.Random(seed).uniform(0, LONGEST_S)
        for asked in requests:
            status, _, body = connection.ask("POST", "/v1/jobs", asked)
            if status != 202:
                found.faults.append(f"a job is refused: {body}")
            else:
                jobs[body["id"]] = asked
        while time.monotonic() < end:
            _read_results(connection, jobs, found.finished)
            time.sleep(0.02)
        if worker:
            _kill_a_worker(server.process_id)
            _judge(connection, jobs, found)
        else:
            server.kill()
        connection.close()
    if not worker:
        with RunningService(folder) as server:
            connection = Connection(server.address)
            _judge(connection, jobs, found)
            connection.close()
    found.accepted = len(jobs)
    return found


def _read_results(
    connection: Connection, jobs: dict[str, dict[str, Any]], results: dict[str, Any]
) -> None:
    for job in jobs:
        if job not in results and connection.ask("GET", f"/v1/jobs/{job}")[2]["state"] == "done":
            results[job] = connection.ask("GET", f"/v1/jobs/{job}/result")[2]


def _kill_a_worker(server: int) -> None:
    """Kill a process that the server has started, if there is one."""
    threads = Path(f"/proc/{server}/task").glob("*/children")
    for child in " ".join(file.read_text() for file in threads).split():
        os.kill(int(child), signal.SIGKILL)
        return


def _judge(connection: Connection, jobs: dict[str, dict[str, Any]], found: JobKillRound) -> None:
    """Wait for all jobs, and add what is lost, or wrong."""
    for job, asked in jobs.items():
        status = _ended(connection, job)
        if status["state"] not in ENDED:
            found.faults.append(f"job {job} does not end: {status}")
            continue
        code, _, result = connection.ask("GET", f"/v1/jobs/{job}/result")
        if job in found.finished and (status["state"], result) != ("done", found.finished[job]):
            found.faults.append(f"job {job} had another result")
        if code == 200:
            instance = io.instance_from_data(asked["instance"])
            answer = io.result_from_data(result, instance)
            wrong = () if answer.solution is None else dlopt.check(instance, answer)
            found.faults += [f"job {job}: {violation}" for violation in wrong]
        elif status["state"] == "done":
            found.faults.append(f"job {job} is done without a result")


def _ended(connection: Connection, job: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while True:
        code, _, status = connection.ask("GET", f"/v1/jobs/{job}")
        if code != http.client.OK:
            return {"state": f"{code}: {status}"}
        if status["state"] in ENDED or time.monotonic() > end:
            found: dict[str, Any] = status
            return found
        time.sleep(0.02)
