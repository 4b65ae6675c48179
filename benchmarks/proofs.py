"""How many proven optima have a certificate, its size, and the time of checking it.

    python -m benchmarks.proofs [--sets shipped,shares,loads,stg,comm,rgpos,packing,etc]
        [--every 40] [--rows FILE]

`shipped` are the instances of the package, each with all of its objectives, `shares` generated
ones of CPU shares, and `loads` random single loads with one chunk a node and with several, and the
shipped ones with two; the others are public sets in the folder that ``DLOPT_DATA`` names, of which
every so many are taken. Every certificate is
written to a file and checked against the instance. Times are CPU seconds. Exit code 1 if a check
fails.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import dlopt
from benchmarks import dag_exact
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.errors import NotApplicableError
from dlopt.formats import binpack
from dlopt.formats.etc import parse_etc
from dlopt.generation.bag import instance_from_etc
from dlopt.generation.bin_packing_requests import bin_packing_instance
from dlopt.generation.coreservation import small
from dlopt.instance_library import list_instances
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
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


def loads() -> Iterator[tuple[str, str, Header, int]]:
    """Yield single loads, and how many chunks a node may have: nodes of few and of many kinds."""
    for entry in list_instances("iit"):
        if entry.instance.cluster.nodes <= 4:
            yield "shipped, iit, two chunks a node", entry.name, entry.instance, 2
    draw = random.Random(3)
    for number in range(8):
        nodes = draw.choice((6, 7, 8))
        yield "loads, 6 to 8 nodes that differ", f"differ-{number}", _load(draw, nodes, nodes), 1
    draw = random.Random(11)
    for nodes, kinds in ((7, 2), (7, 3), (7, 7), (8, 2), (8, 3), (8, 8), (10, 2), (10, 2)):
        group = "loads, 7 to 10 nodes of 2, 3 or as many kinds"
        yield group, f"kinds-{nodes}-{kinds}", _load(draw, nodes, kinds), 1
    draw = random.Random(5)
    for nodes, chunks in ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)):
        for kinds in (1, 1, nodes, nodes):
            group = f"loads, {nodes} nodes with {chunks} chunks each"
            yield group, f"chunks-{nodes}-{chunks}-{kinds}", _load(draw, nodes, kinds), chunks


def _load(draw: random.Random, nodes: int, kinds: int) -> Instance:
    """Return a load on nodes of some kinds in turn, in tenths, ready at random times."""

    def tenths(least: int, most: int, count: int) -> list[Fraction]:
        return [Fraction(draw.randint(least, most), 10) for _ in range(count)]

    tau, chi, ready = tenths(5, 20, kinds), tenths(20, 80, kinds), tenths(0, 100, nodes)
    setup = draw.choice((Fraction(0), Fraction(1, 2)))
    costs = (tuple(cost[k % kinds] for k in range(nodes)) for cost in (tau, chi))
    return Instance(Cluster(nodes, *costs, setup, Fraction(1, 2)), tuple(ready), load=20)


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


def packings(every: int) -> Iterator[tuple[str, str, Header]]:
    """Yield every so many problems of bin packing, at one instant and over time."""
    folder = dag_exact.data() / "binpack"
    number = 0
    for path in sorted((folder / "orlib").glob("binpack*.txt")):
        for problem in binpack.read(path, "orlib"):
            if number % every == 0:
                group = f"bin packing, {problem.name.partition('_')[0]}"
                yield group, problem.name, bin_packing_instance(problem)
            number += 1
    for path in sorted((folder / "temporal").rglob("*_*.txt")):
        if number % every == 0:
            (problem,) = binpack.read(path, "temporal")
            name = path.relative_to(folder).with_suffix("").as_posix()
            group = f"temporal bin packing, {name.split('/')[1]}"
            yield group, name, bin_packing_instance(problem)
        number += 1


def matrices() -> Iterator[tuple[str, str, Header]]:
    """Yield the matrices of Braun et al., of 512 tasks and 16 machines."""
    folder = dag_exact.data() / "etc_braun"
    with (folder / "makespans.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            times = parse_etc((folder / line["file"]).read_text().splitlines(), name=line["file"])
            yield "etc, bounds", line["file"], instance_from_etc(times)


def measured(
    seconds: float, group: str, name: str, instance: Header, installments: int = 1
) -> Iterator[Measurement]:
    """Yield a measurement for every objective that an instance has; of public ones, the default."""
    options = {"installments": installments} if installments > 1 else {}
    goals = problem_of(instance).module.OBJECTIVES if group.startswith("shipped") else [None]
    if group.startswith("shares"):
        goals = ["benefit", "rejections"]
    if "bin packing" in group:
        goals = ["rejections-then-machines"]
    for goal in goals:
        method = "bound-lp" if group.startswith("etc") else "exact"
        begun = time.process_time()
        try:
            result = dlopt.solve(
                instance, method, objective=goal, limits=Limits(time_s=seconds), **options
            )
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
    parser.add_argument("--rows", type=Path, help="append each measurement to this file of CSV")
    given = parser.parse_args()
    rows: list[Measurement] = []
    for table in given.sets.split(","):
        instances: Iterable[tuple[Any, ...]] = (
            shipped()
            if table == "shipped"
            else shares()
            if table == "shares"
            else loads()
            if table == "loads"
            else matrices()
            if table == "etc"
            else packings(given.every)
            if table == "packing"
            else public(table, given.every)
        )
        for instance in instances:
            for row in measured(given.seconds, *instance):
                rows.append(row)
                if given.rows:
                    with given.rows.open("a", newline="") as file:
                        csv.writer(file).writerow(astuple(row))
    return int(summary(rows) > 0)


if __name__ == "__main__":
    sys.exit(main())
