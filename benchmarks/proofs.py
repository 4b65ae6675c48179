"""How many proven optima have a certificate, its size, and the time of checking it.

    python -m benchmarks.proofs [--sets shipped,shares,stg,comm,rgpos,etc] [--every 40]

`shipped` are the instances of the package, each with all of its objectives, and `shares` generated
ones of CPU shares; the others are public sets in the folder that ``DLOPT_DATA`` names, of which
every so many are taken. Every certificate is
written to a file and checked against the instance. Times are CPU seconds. Exit code 1 if a check
fails.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import dlopt
from benchmarks import dag_exact
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.errors import NotApplicableError
from dlopt.formats.etc import parse_etc
from dlopt.generation.bag import instance_from_etc
from dlopt.generation.coreservation import small
from dlopt.instance_library import list_instances
from dlopt.problems.validated_record import Header
from dlopt.registry import problem_of
from dlopt.result import Limits, Status


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured of an instance and an objective.

    `size` is that of the certificate in bytes, None if there is none.
    """

    group: str
    name: str
    objective: str
    status: Status
    proof: str | None
    solving: float
    size: int | None = None
    checking: float = 0.0
    accepted: bool = False


def shipped() -> Iterator[tuple[str, str, Header]]:
    """Yield the shipped instances of the problems whose proofs are steps of a program."""
    for stem in ("iit", "dag", "bag", "coreservation"):
        for entry in list_instances(stem):
            yield f"shipped, {stem}", entry.name, entry.instance


def shares() -> Iterator[tuple[str, str, Header]]:
    """Yield generated instances of CPU shares, three of each size, and two of other families."""
    for requests, machines in ((8, 2), (16, 2), (16, 4), (40, 4)):
        for seed in range(3):
            instance = small(
                requests=requests, span=8, machines=machines, capacity=10, seed=seed, batch=8
            )
            name = f"small-{requests}-{machines}-{seed}"
            yield f"shares, small, {requests} requests, {machines} machines", name, instance
    for family in ("triplets", "near-equal", "knapsacks", "intervals"):
        for seed in range(2):
            instance = dlopt.generate("coreservation", family, seed=seed)
            yield f"shares, {family}", f"{family}-{seed}", instance


def public(table: str, every: int) -> Iterator[tuple[str, str, Header]]:
    """Yield every so many instances of a public set."""
    cases = {
        "stg": lambda: dag_exact.standard((50, 100)),
        "comm": dag_exact.communicating,
        "rgpos": dag_exact.rgpos,
    }[table]()
    for number, case in enumerate(cases):
        if number % every == 0 or table == "rgpos":
            yield f"{table}, {case.group}", case.name, case.make()


def matrices() -> Iterator[tuple[str, str, Header]]:
    """Yield the matrices of Braun et al., of 512 tasks and 16 machines."""
    folder = dag_exact.data() / "etc_braun"
    with (folder / "makespans.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            times = parse_etc((folder / line["file"]).read_text().splitlines(), name=line["file"])
            yield "etc, bounds", line["file"], instance_from_etc(times)


def measured(group: str, name: str, instance: Header, seconds: float) -> Iterator[Measurement]:
    """Yield a measurement for every objective that an instance has; of public ones, the default."""
    goals = problem_of(instance).module.OBJECTIVES if group.startswith("shipped") else [None]
    if group.startswith("shares"):
        goals = ["benefit", "rejections"]
    for goal in goals:
        method = "bound-lp" if group.startswith("etc") else "exact"
        begun = time.process_time()
        try:
            result = dlopt.solve(instance, method, objective=goal, limits=Limits(time_s=seconds))
        except NotApplicableError:
            continue
        solving = time.process_time() - begun
        about = group, name, result.objective, result.status, result.proof, solving
        if result.certificate is None:
            yield Measurement(*about)
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "proof.vipr")
            write_certificate(result, path)
            begun = time.process_time()
            found = check_certificate(instance, result, path)
            checking = time.process_time() - begun
            yield Measurement(*about, path.stat().st_size, checking, not found)


def summary(rows: list[Measurement]) -> int:
    """Print a line for each group; return how many certificates were refused."""
    print(
        "| cases | proven | certified | share | size, kB: median | largest | check, s: median",
        end="",
    )
    print(
        " | largest | check by solve: median | largest |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for group in dict.fromkeys(row.group for row in rows):
        own = [row for row in rows if row.group == group]
        proven = [row for row in own if row.status in (Status.OPTIMAL, Status.BOUND)]
        files = [row for row in proven if row.size is not None]
        sizes = [row.size / 1000 for row in files if row.size is not None] or [0.0]
        checks = [row.checking for row in files] or [0.0]
        ratios = [row.checking / max(row.solving, 1e-3) for row in files] or [0.0]
        share = len(files) / max(len(proven), 1)
        print(
            f"| {group} ({len(own)}) | {len(proven)} | {len(files)} | {share:.1%} |"
            f" {median(sizes):.1f} | {max(sizes):.1f} | {median(checks):.3f} | {max(checks):.3f} |"
            f" {median(ratios):.2f} | {max(ratios):.2f} |"
        )
    for row in rows:
        if row.status is Status.OPTIMAL and row.size is None:
            print(f"without: {row.group} {row.name} {row.objective} ({row.proof})")
    refused = [row for row in rows if row.size is not None and not row.accepted]
    for row in refused:
        print(f"REFUSED: {row.name} {row.objective}")
    return len(refused)


def main() -> int:
    """Measure; 1 if a certificate is refused."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", default="shipped", help="which, with commas")
    parser.add_argument("--every", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    rows: list[Measurement] = []
    for table in given.sets.split(","):
        instances: Iterable[tuple[str, str, Header]] = (
            shipped()
            if table == "shipped"
            else shares()
            if table == "shares"
            else matrices()
            if table == "etc"
            else public(table, given.every)
        )
        for instance in instances:
            rows += measured(*instance, given.seconds)
    return int(summary(rows) > 0)


if __name__ == "__main__":
    sys.exit(main())
