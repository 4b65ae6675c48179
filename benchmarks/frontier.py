"""Better bounds and plans of public instances: ``python -m benchmarks.frontier --help``.

Every case is a public instance whose best known value and bound differ. Where `exact` has a better
value or a better bound, the case gets a row in instances/RECORDS.csv, a plan, and the certificate
of the bound if there is one. A record is replaced by a better one only, and cases that are closed
are not run again, so that interrupted runs resume. ``--check`` checks every record again.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from dlopt import Limits, check, io, solve
from dlopt.certificate_files import certificate_text, check_certificate
from dlopt.formats import stg
from dlopt.formats.etc import parse_etc
from dlopt.generation.bag import instance_from_etc
from dlopt.generation.task_graph_conversion import instance_of, machine_set
from dlopt.result import Result

INSTANCES = Path(__file__).parents[1] / "instances"
STG_SIZES = (50, 100, 300, 500, 750, 1000)


@dataclass(frozen=True, slots=True)
class PublicCase:
    """A public instance and what is published of it.

    Parameters
    ----------
    set, file : str
        The folder of the set, and the file in it.
    machines : int
        How many there are.
    lower, upper : float or None
        A published bound, and a published value.
    """

    set: str
    file: str
    machines: int
    lower: float | None
    upper: float

    @property
    def name(self) -> str:
        """The name of the files of a record."""
        stem = self.file.replace("/", "-").removesuffix(".stg")
        return f"{self.set}-{stem}-{self.machines}"

    @property
    def rounding(self) -> float:
        """By how much a published value may be rounded: makespans of ETC have one decimal place."""
        return 0.1 if self.set == "etc_braun" else 0.0

    def instance(self, data: Path) -> Any:
        """Read the instance from the folder of public sets."""
        path = data / self.set / self.file
        if self.set == "stg":
            return instance_of(stg.read(path), machine_set(self.machines))
        return instance_from_etc(parse_etc(path.read_text().splitlines(), name=path.name))


@dataclass(frozen=True, slots=True)
class Record:
    """A better value or bound than published; a row of the table.

    Numbers are as texts, exact. `proof` is that of the bound: ``certificate``, ``exact`` (computed
    without rounding, but by dlopt alone) or ``solver``. `sha256` is that of the public file.
    """

    set: str
    file: str
    sha256: str
    machines: int
    objective: str
    published_lower: str
    published_upper: str
    value: str
    bound: str
    proof: str
    plan: str
    certificate: str

    @property
    def case(self) -> PublicCase:
        """The case that it is about."""
        lower = float(self.published_lower) if self.published_lower else None
        return PublicCase(self.set, self.file, self.machines, lower, float(self.published_upper))

    @property
    def is_closed(self) -> bool:
        """Whether the value is proven to be optimal."""
        return Fraction(self.value) == Fraction(self.bound)


def data_folder() -> Path:
    """Return the folder of the public data sets."""
    named = os.environ.get("DLOPT_DATA")
    return Path(named) if named else Path(__file__).parents[2] / "shared" / "data"


def cases(data: Path, sets: Sequence[str] = ("stg", "etc_braun")) -> Iterator[PublicCase]:
    """Yield the public instances whose published value and bound differ."""
    for size in STG_SIZES if "stg" in sets else ():
        for path in sorted((data / "stg" / str(size)).glob("*.stg")):
            for machines, (least, most) in stg.bounds(stg.read(path)).items():
                if least < most:
                    yield PublicCase("stg", f"{size}/{path.name}", machines, least, most)
    table = data / "etc_braun" / "makespans.csv"
    if "etc_braun" in sets and table.is_file():
        with table.open(newline="") as file:
            for row in csv.DictReader(file):
                known = float(row["best_known_solution_verified"])
                yield PublicCase("etc_braun", row["file"], int(row["machines"]), None, known)


def read_records(folder: Path = INSTANCES) -> list[Record]:
    """Return the rows of the table."""
    path = folder / "RECORDS.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Record(**{**row, "machines": int(row["machines"])}) for row in csv.DictReader(file)]


def write_records(records: Sequence[Record], folder: Path = INSTANCES) -> None:
    """Replace the table as a whole."""
    path = folder / "RECORDS.csv"
    with path.with_suffix(".new").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Record)], lineterminator="\n")
        writer.writeheader()
        for record in sorted(records, key=lambda one: (one.set, _natural(one.file), one.machines)):
            writer.writerow(asdict(record))
    path.with_suffix(".new").replace(path)


def _natural(file: str) -> tuple[int, str]:
    """Return a key by which files of fewer tasks come first."""
    size = file.split("/")[0]
    return int(size) if size.isdigit() else 0, file


def is_better(case: PublicCase, found: Result[Any]) -> bool:
    """Tell whether a value or a bound is better than what is published."""
    bound_is_better = found.bound is not None and case.lower is not None
    return found.value is not None and bool(
        found.value < case.upper - case.rounding or (bound_is_better and found.bound > case.lower)
    )


def record_of(case: PublicCase, found: Result[Any], data: Path, folder: Path) -> Record:
    """Write plan and certificate of a result, and return the row."""
    plan, certificate = f"records/{case.name}.json.gz", ""
    _write(folder / plan, _plan_text(found))
    if found.certificate is not None:
        certificate = f"records/{case.name}.vipr.gz"
        _write(folder / certificate, certificate_text(found))
    return Record(
        case.set,
        case.file,
        hashlib.sha256((data / case.set / case.file).read_bytes()).hexdigest(),
        case.machines,
        found.objective,
        "" if case.lower is None else f"{case.lower:.10g}",
        f"{case.upper:.10g}",
        str(found.value),
        str(found.bound),
        found.proof or "",
        plan,
        certificate,
    )


def _plan_text(found: Result[Any]) -> str:
    """Return a result as `dlopt solve --out` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        io.write(found, path)
        return path.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def check_record(record: Record, data: Path, folder: Path = INSTANCES) -> list[str]:
    """Return what is wrong with a record: its file, its plan, or the proof of its bound."""
    case = record.case
    public = data / case.set / case.file
    if not public.is_file():
        return [f"{case.name}: no public file {case.file}, set DLOPT_DATA"]
    if hashlib.sha256(public.read_bytes()).hexdigest() != record.sha256:
        return [f"{case.name}: the public file is another one"]
    instance, wrong = case.instance(data), []
    with tempfile.TemporaryDirectory() as scratch:
        plan, proof = Path(scratch) / "plan.json", Path(scratch) / "proof.vipr"
        plan.write_bytes(gzip.decompress((folder / record.plan).read_bytes()))
        found = io.read_plan(plan, instance)
        wrong += [str(one) for one in check(instance, found)]
        wrong += (
            []
            if (str(found.value), str(found.bound)) == (record.value, record.bound)
            else ["the plan file states another value or bound"]
        )
        if not is_better(case, found):
            wrong.append("it is no better than what is published")
        if record.certificate:
            proof.write_bytes(gzip.decompress((folder / record.certificate).read_bytes()))
            wrong += [str(one) for one in check_certificate(instance, found, proof)]
    return [f"{case.name}: {text}" for text in wrong]


def _improve(
    case: PublicCase, old: Record | None, limits: Limits, data: Path, folder: Path
) -> tuple[Result[Any], Record | None]:
    """Solve a case; return the result, and the record that is better than the old one."""
    found: Any = solve(case.instance(data), limits=limits)
    if not is_better(case, found):
        return found, None
    if old is not None:
        change = Fraction(old.value) - found.value, found.bound - Fraction(old.bound)
        proven = old.certificate == "" and found.certificate is not None
        if min(change) < 0 or (max(change) == 0 and not proven):
            return found, None
    return found, record_of(case, found, data, folder)


def run(wanted: argparse.Namespace, data: Path, folder: Path) -> None:
    """Solve the cases that are not closed, and write what is better."""
    known = {record.case.name: record for record in read_records(folder)}
    limits = Limits(time_s=wanted.seconds, threads=wanted.threads)
    for case in cases(data, wanted.sets.split(",")):
        if wanted.only not in case.name:
            continue
        old = known.get(case.name)
        if old is not None and old.is_closed and old.certificate:
            continue
        begun = time.perf_counter()
        found, new = _improve(case, old, limits, data, folder)
        if new is not None:
            known[case.name] = new
            write_records(list(known.values()), folder)
        published = f"[{case.lower}, {case.upper}]"
        spent = f"{time.perf_counter() - begun:.1f} s"
        value, bound = float(found.value or 0), float(found.bound or 0)
        print(
            case.name, published, f"{value:.10g}", f"{bound:.10g}",
            str(found.status), found.proof, spent, "record" if new else "-", flush=True,
        )  # fmt: skip


def main() -> int:
    """Run what the command line asks for; return 1 if a record is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--sets", default="stg,etc_braun", help="which, with commas")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has this")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each case")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="check the records, and solve nothing")
    wanted = parser.parse_args()
    data = data_folder()
    if not wanted.check:
        run(wanted, data, INSTANCES)
    records = [one for one in read_records() if wanted.only in one.case.name]
    wrong = [text for record in records for text in check_record(record, data)]
    closed = sum(record.is_closed for record in records)
    certified = sum(bool(record.certificate) for record in records)
    print(f"{len(records)} records, {closed} closed, {certified} with certificates")
    print("\n".join(wrong) or "all records are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
