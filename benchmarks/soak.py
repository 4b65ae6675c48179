"""Servers that are killed many times under load, and generated requests: what takes long.

    python -m benchmarks.soak [--kills 200] [--answers 400] [--job-kills 200] [--cases 300]
        [--seconds 600] [--seed 0]

Every kill is one of `tests.serve.faults.kills`, all on one store. Then servers and their workers
are killed in turn while jobs run (`tests.serve.faults.job_kills`). Then schemathesis sends requests
made from the OpenAPI document, valid and invalid ones and sequences of them, to a fresh server. The
exit code is 1 if a server lost, oversold or reordered something, did not answer, answered 5xx, or
otherwise than the document says.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.serve.faults.clients import DEFINITION, Connection
from tests.serve.faults.job_kills import kill_while_jobs_run
from tests.serve.faults.kills import MAX_ANSWERS, kill_under_load
from tests.serve.running_service import RunningService

ANSWER_S = 20
"""Seconds after which a request to a server counts as one that hangs."""
SCHEMATHESIS = [sys.executable, "-m", "schemathesis.cli"]
"""Its command."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
"""Of schemathesis, for every answer."""
BOOK = "a"
"""The book that requests about books name: requests about one that is not there test little."""
JOB = {
    "kind": "certificate",
    "method": "exact",
    "instance": {
        "problem": "iit",
        "version": 1,
        "name": "",
        "cluster": {"nodes": 3, "tau": 1, "chi": 3},
        "ready_times": [0, 1, 2],
        "load": 6,
    },
}
"""The job that requests about jobs name: it ends with a result, a plan and a proof."""
SETTINGS = """
[[operations]]
include-path-regex = "^/v1/books/[^/]+/"
parameters = {{ "path.name" = "{book}" }}

[[operations]]
include-path-regex = "^/v1/jobs/[^/]+"
parameters = {{ "path.id" = "{job}" }}
"""
"""Of schemathesis; whole books are made and deleted under other names."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what came of everything; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="of a server under load")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument(
        "--answers", type=int, default=MAX_ANSWERS, help="after which a server is killed, at most"
    )
    parser.add_argument("--job-kills", type=int, default=200, help="of servers or workers")
    parser.add_argument("--cases", type=int, default=300, help="of each operation")
    parser.add_argument("--seconds", type=int, default=600, help="of generated requests, at most")
    parser.add_argument("--seed", type=int, default=0, help="of the generated requests")
    asked = parser.parse_args(arguments)
    print(time.strftime("%Y-%m-%d"), flush=True)
    wrong = 0
    if asked.kills:
        wrong |= killed(asked.kills, asked.first_seed, asked.answers)
    if asked.job_kills:
        wrong |= killed_with_jobs(asked.job_kills, asked.first_seed)
    if asked.cases:
        wrong |= generated_requests(asked.cases, asked.seconds, asked.seed)
    return wrong


def killed(kills: int, first: int, answers: int) -> int:
    """Kill servers on one store, and print what came of it."""
    answered = acknowledged = unknown = records = wrong = 0
    with tempfile.TemporaryDirectory(prefix="dlopt-soak-") as folder:
        for seed in range(first, first + kills):
            done = kill_under_load(Path(folder), seed, answers)
            answered += done.answered
            acknowledged += done.acknowledged
            unknown += done.unknown
            records += done.records
            for fault in done.faults:
                wrong += 1
                print(f"seed {seed}: {fault}", flush=True)
            if seed % 10 == 9:
                print(f"  {seed + 1 - first} kills, {wrong} faults", flush=True)
    print(
        f"{'FAIL' if wrong else 'PASS'}  {kills} kills: {answered:,} answers, "
        f"{acknowledged:,} acknowledged changes, {unknown:,} calls without an answer, "
        f"{records:,} log records, {wrong} faults",
        flush=True,
    )
    return int(wrong > 0)


def killed_with_jobs(kills: int, first: int) -> int:
    """Kill servers, and workers of servers, while jobs run, and print what came of the jobs."""
    accepted = finished = wrong = 0
    with tempfile.TemporaryDirectory(prefix="dlopt-soak-") as folder:
        for seed in range(first, first + kills):
            done = kill_while_jobs_run(Path(folder), seed, worker=seed % 2 == 1)
            accepted, finished = accepted + done.accepted, finished + len(done.finished)
            for fault in done.faults:
                wrong += 1
                print(f"seed {seed}: {fault}", flush=True)
    print(
        f"{'FAIL' if wrong else 'PASS'}  {kills} kills of servers or workers: {accepted:,} jobs, "
        f"{finished:,} read as done before the kill, {wrong} faults",
        flush=True,
    )
    return int(wrong > 0)


def generated_requests(cases: int, seconds: int, seed: int) -> int:
    """Let schemathesis ask a server, and return 1 if an answer is wrong or does not come."""
    with (
        tempfile.TemporaryDirectory(prefix="dlopt-soak-") as folder,
        RunningService(Path(folder), "--time-limit", "2", "--queue", "50") as server,
    ):
        named = SETTINGS.format(book=BOOK, job=prepared_job(server.address))
        Path(folder, "schemathesis.toml").write_text(named)
        options = ["--checks", ",".join(CHECKS), "--continue-on-failure", "--no-color"]
        options += ["--max-examples", str(cases), "--max-time", str(seconds), "--seed", str(seed)]
        options += ["--request-timeout", str(ANSWER_S), "--suppress-health-check", "all"]
        options += ["--generation-database", "none"]
        asked = [*SCHEMATHESIS, "run", f"{server.address}/openapi.json", *options]
        code = subprocess.run(asked, cwd=folder, check=False).returncode
        stopped = server.stop()
    print(f"{'FAIL' if code or stopped else 'PASS'}  generated requests", flush=True)
    return int(bool(code or stopped))


def prepared_job(address: str) -> str:
    """Make the book that requests name, and a job, which ends soon; return the job."""
    connection = Connection(address)
    assert connection.ask("PUT", f"/v1/books/{BOOK}", DEFINITION)[0] == 201
    status, _, job = connection.ask("POST", "/v1/jobs", JOB)
    connection.close()
    assert status == 202, job
    name: str = job["id"]
    return name


if __name__ == "__main__":
    sys.exit(main())
