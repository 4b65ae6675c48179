"""What the service does in a second, and how late it is.

    python -m benchmarks.serve [--seconds 10] [--cancels 100] [--limits 40] [--records 50000]

A real ``dlopt serve`` on the loopback, on a store in a temporary folder (``TMPDIR``), with clients
on the same machine. The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dlopt
from benchmarks.http_load import (
    ANSWER_S,
    Load,
    ServerProcess,
    ask,
    connect,
    request_bytes,
    run_load,
    serving,
)
from benchmarks.timing import Report
from dlopt import io

CLIENTS = 64
"""Clients that ask at the same time; each waits for its answer."""
ARCHIVED_AFTER = 50
"""Decisions between two calls of `archive`, which keep the book small."""
ROUNDS = 3
"""Measurements of decisions, each on a book of its own; the median one counts."""
WARM_UP_S = 2.0
"""Seconds of decisions before those that count."""
DECISIONS_PER_S = 4_000
"""Target: durable decisions a second."""
DECISION_P99_MS = 25.0
"""Target: milliseconds in which 99 of 100 decisions are answered."""
CANCEL_S = 1.0
"""Target: seconds in which each cancelled job is answered with its best plan."""
OVERRUN_S = 1.0
"""Target: seconds by which a time limit may be exceeded, or by `OVERRUN_SHARE`."""
OVERRUN_SHARE = 0.05
"""Target: the same as a share of the limit."""
TIME_LIMITS_S = (0.5, 1.0, 2.0, 4.0)
"""Time limits of jobs, in turn."""
BOOK = {
    "problem": "admission",
    "cluster": {"nodes": 16, "tau": 0.0001, "chi": 0.003},
    "algorithm": "fast-edf-iit",
    "clock": "wall",
    "exact_numbers": False,
}
"""A cluster on which a task of load 1 takes 0.2 to 3 ms: about as many tasks come as it can do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and the targets; return 1 if one is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of decisions in a round")
    parser.add_argument("--cancels", type=int, default=100, help="jobs that are cancelled")
    parser.add_argument("--limits", type=int, default=40, help="jobs with a time limit")
    parser.add_argument("--records", type=int, default=50_000, help="the longest log to start on")
    parser.add_argument("--tables", default="1234", help="which ones, e.g. 12")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write them as a page, too")
    wanted = parser.parse_args(arguments)
    report = Report(quick=False)
    tables: dict[str, Callable[[Path], None]] = {
        "1": lambda folder: decisions(report, folder, wanted.seconds),
        "2": lambda folder: cancelled_jobs(report, folder, wanted.cancels),
        "3": lambda folder: time_limits(report, folder, wanted.limits),
        "4": lambda folder: restarts(report, folder, wanted.records),
    }
    for number, table in tables.items():
        if number in wanted.tables:
            with tempfile.TemporaryDirectory(prefix="dlopt-serve-") as folder:
                table(Path(folder))
    if wanted.markdown:
        command = " ".join([parser.prog, *(arguments or sys.argv[1:])])
        report.write_markdown(wanted.markdown, command)
    return int(not all(target["passed"] for target in report.targets))


def decisions(report: Report, folder: Path, seconds: float) -> None:
    """Measure durable decisions of many clients."""
    report.table(
        f"1. Durable decisions of FAST-EDF-IIT, {CLIENTS} clients",
        "round",
        "decisions",
        "a second",
        "p50, ms",
        "p99, ms",
        "longest, ms",
        "accepted",
    )
    loads = []
    with serving(folder / "a.db") as server:
        for number in range(ROUNDS):
            name = f"book-{number}"
            _done(server, "PUT", f"/v1/books/{name}", BOOK, status=201)
            run_load(server, CLIENTS, submissions(name, seconds=WARM_UP_S))
            before = _accepted(server)
            load = run_load(server, CLIENTS, submissions(name, seconds=seconds))
            if load.refused:
                raise SystemExit(f"a submission was refused: {load.refused[0]}")
            loads.append(load)
            accepted = (_accepted(server) - before) / len(load.latencies_s)
            report.row(
                str(number + 1),
                len(load.latencies_s),
                load.rate_per_s,
                *(load.percentile_ms(share) for share in (0.5, 0.99, 1.0)),
                f"{accepted:.0%}",
            )
    median = sorted(loads, key=_rate)[ROUNDS // 2]
    rate, p99 = median.rate_per_s, median.percentile_ms(0.99)
    report.target(f"at least {DECISIONS_PER_S:,} a second", f"{rate:,.0f}", rate >= DECISIONS_PER_S)
    report.target(f"p99 at most {DECISION_P99_MS:g} ms", f"{p99:.1f}", p99 <= DECISION_P99_MS)


def _rate(load: Load) -> float:
    return load.rate_per_s


def submissions(
    book: str, *, seconds: float = float("inf"), count: float = float("inf")
) -> Callable[[], bytes | None]:
    """Return what makes the next request to a book, for some seconds or so many times."""
    draw, until = random.Random(book), time.perf_counter() + seconds
    stem, made = f"{time.monotonic_ns():x}", 0

    def next_request() -> bytes | None:
        nonlocal made
        if time.perf_counter() > until or made >= count:
            return None
        made += 1
        if made % ARCHIVED_AFTER == 0:
            return request_bytes("POST", f"/v1/books/{book}/archive", {})
        task = {
            "id": f"{stem}-{made}",
            "load": draw.uniform(0.5, 1.5),
            "deadline": draw.uniform(0.005, 0.05),
        }
        return request_bytes("POST", f"/v1/books/{book}/submit", {"task": task})

    return next_request


def _accepted(server: ServerProcess) -> float:
    """Return how many decisions of a server have accepted something, by its metrics."""
    with urllib.request.urlopen(f"{server.address}/metrics", timeout=ANSWER_S) as answer:
        text = answer.read().decode()
    line = text[text.index('dlopt_decisions_total{accepted="true"}') :].split("\n")[0]
    return float(line.split()[-1])


def cancelled_jobs(report: Report, folder: Path, count: int) -> None:
    """Cancel running jobs as soon as they have a plan, and check what they answer."""
    columns = ("problem", "jobs", "solved before", "p50, s", "longest, s")
    report.table("2. Running jobs that are cancelled", *columns)
    latencies: dict[str, list[float]] = {}
    solved: Counter[str] = Counter()
    wrong = []
    with serving(folder / "a.db") as server:
        for number in range(count):
            stem, question = hard_question(number)
            job, progress = _running(server, question)
            draw = random.Random(number)
            time.sleep(draw.uniform(0, 0.5))  # at any moment of the search
            begun = time.perf_counter()
            ended = _done(server, "DELETE", f"/v1/jobs/{job}")
            latencies.setdefault(stem, []).append(time.perf_counter() - begun)
            solved[stem] += ended["state"] == "done"
            wrong += [f"job {job}: {text}" for text in _faults_of(question, ended, progress)]
    for stem, found in latencies.items():
        report.row(stem, len(found), solved[stem], sorted(found)[len(found) // 2], max(found))
    slowest = max(max(found) for found in latencies.values())
    report.target(
        f"each of {count} answered within {CANCEL_S:g} s", f"{slowest:.2f} s", slowest <= CANCEL_S
    )
    report.target("with the best checked plan", f"{len(wrong)} not{wrong[:3]}", not wrong)


def hard_question(number: int) -> tuple[str, dict[str, Any]]:
    """Return a problem and a question of a number about it; nearly all take minutes."""
    families: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("dag", "layered", {"tasks": 60}),
        ("bag", "braun", {"tasks": 60, "machines": 8}),
        ("coreservation", "overloaded", {}),
    )
    stem, family, settings = families[number % len(families)]
    instance = dlopt.generate(stem, family, seed=number, **settings)
    return stem, {"kind": "solve", "instance": io.instance_to_data(instance)}


def _running(server: ServerProcess, question: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Submit a question, and return the name of its job and its first progress."""
    job = _done(server, "POST", "/v1/jobs", question, status=202)["id"]
    watcher = http.client.HTTPConnection(server.host, server.port, timeout=ANSWER_S)
    watcher.request("GET", f"/v1/jobs/{job}/events")
    for event, data in _events(watcher.getresponse()):
        if event == "progress" and data["value"] is not None:
            watcher.close()
            return job, data
        if event == "ended":
            raise SystemExit(f"job {job} was to be hard, and has ended: {data}")
    raise SystemExit(f"the events of job {job} have ended before the job")


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    event = ""
    for line in response:
        name, _, text = line.decode().rstrip().partition(": ")
        if name == "event":
            event = text
        elif name == "data":
            yield event, json.loads(text)


def _faults_of(
    question: dict[str, Any], ended: dict[str, Any], progress: dict[str, Any]
) -> list[str]:
    """Return what is wrong with the end of a job that was cancelled when it had a plan.

    It may have been solved before it was cancelled.
    """
    is_solved = ended["state"] == "done" and ended["result"]["status"] == "optimal"
    if ended["state"] != "cancelled" and not is_solved:
        return [f"its state is {ended['state']}"]
    if ended["result"] is None or ended["result"].get("solution") is None:
        return ["it has no plan"]
    instance = io.instance_from_data(question["instance"])
    result = io.result_from_data(ended["result"], instance)
    return [str(one) for one in dlopt.check(instance, result)]


def time_limits(report: Report, folder: Path, count: int) -> None:
    """Let jobs run into their time limits."""
    report.table("3. Jobs with time limits", "limit, s", "jobs", "p50 of overrun, s", "longest, s")
    overruns: dict[float, list[float]] = {}
    excess = []
    with serving(folder / "a.db") as server:
        for number in range(count):
            _, question = hard_question(number)
            limit = TIME_LIMITS_S[number % len(TIME_LIMITS_S)]
            job = _done(
                server,
                "POST",
                "/v1/jobs",
                question | {"limits": {"time_s": limit}},
                status=202,
            )["id"]
            watcher = http.client.HTTPConnection(server.host, server.port, timeout=ANSWER_S)
            watcher.request("GET", f"/v1/jobs/{job}/events")
            *_, (_, ended) = _events(watcher.getresponse())
            watcher.close()
            overrun = ended["ended_at"] - ended["started_at"] - limit
            overruns.setdefault(limit, []).append(overrun)
            excess.append(overrun - max(OVERRUN_S, OVERRUN_SHARE * limit))
    for limit, found in overruns.items():
        report.row(str(limit), len(found), sorted(found)[len(found) // 2], max(found))
    p99 = sorted(excess)[min(len(excess) - 1, int(0.99 * len(excess)))]
    longest = max(max(found) for found in overruns.values())
    report.target(
        f"p99 of the overrun at most {OVERRUN_S:g} s or {OVERRUN_SHARE:.0%}",
        f"longest {longest:.2f} s",
        p99 <= 0,
    )


def restarts(report: Report, folder: Path, most: int) -> None:
    """Kill servers whose books have logs of several lengths, and start others on their stores."""
    report.table(
        "4. Start after SIGKILL", "log records", "until it answers, s", "store, MB", "version kept"
    )
    store = folder / "a.db"
    lengths = sorted({0, 1_000, 4_990, most // 5, most})
    server, count = ServerProcess(store), 0
    try:
        _done(server, "PUT", "/v1/books/a", BOOK, status=201)
        for length in lengths:
            run_load(server, CLIENTS, submissions("a", count=length - count))
            version = _done(server, "GET", "/v1/books/a")["version"]
            server.kill()
            server, count = ServerProcess(store), length
            kept = _done(server, "GET", "/v1/books/a")["version"]
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            report.row(f"{version:,}", server.start_s, size, "yes" if kept == version else "no")
    finally:
        server.kill()


def _done(
    server: ServerProcess, method: str, path: str, body: object = None, *, status: int = 200
) -> Any:
    """Return the body of an answer that has a certain status."""
    with connect(server) as connection:
        found, answer = ask(connection, request_bytes(method, path, body))
    if found != status:
        raise SystemExit(f"{method} {path} was answered with {found}: {answer}")
    return answer


if __name__ == "__main__":
    sys.exit(main())
