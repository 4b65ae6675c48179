"""Two checkers of certificates, held against each other: dlopt's, and that of `tests/reference`.

    python -m benchmarks.second_checker [--count N] [--seed N] [--records FILE ...]

The second one is written from `docs/proofs.md` and imports nothing of dlopt. Both get the
certificates of `benchmarks.certified_instances`, and altered ones: those of
`benchmarks.altered_certificates`, and in a third of the cases those of this module, in which a
remark, the name of a column or of a row is changed, a claim is moved to another number with its
last steps, or a false row is added from which the claim follows at once. With `--records`, they get
the certificates that `dlopt batch instances/STEM --certificates FOLDER --out FILE` wrote, too.

Prints how many certificates both accept, with the same bound, which must not be better than the
optimum, and both refuse. The second checker accepts some that dlopt refuses: rows that hold, in a
form that the documentation does not list (`form`). Everything else is printed with the alteration:
an exit code of 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks import altered_certificates as altered
from benchmarks.certified_instances import SUBJECTS, CertifiedInstance, is_true
from dlopt import DloptError, Status, read
from dlopt.arithmetic import exact
from dlopt.formats import vipr
from dlopt.io import instance_hash, instance_to_data
from dlopt.registry import problem_of
from dlopt.result import Objective, Result, levels_of
from tests.reference.certificates import proven_bound
from tests.reference.vipr import RefusedError

_INSTANCES = Path(__file__).parent.parent / "instances"
_ROW = re.compile(r"(\S+) ([GL]) (-?\d+(?:/\d+)?) (.*)")
_FALSE_NAMES = (
    *("capacity_0_0_9", "assigned_0", "tardy_0", "total_0", "precedence_0_1_0_3", "symmetry_0"),
    *("conflict_0_3", "monotone_0_0_1_2", "task_0", "place_0_0", "count_0_0_1", "level_0"),
    *("load", "first", "channel_0", "limit_0", "ready_0", "later_1", "nodes_0_0", "received_0_0"),
    *("pair_0_1", "both_0_1", "order_0_1", "window_0", "equal_0_1", "due_0", "promised_0"),
    *("q_0", "h_0_0", "reserved_0", "full_0", "chunks_0_0_0_1", "sending_0", "busy_0_0"),
    *("accepted_0_0", "piece_0_0_0_1_2", "row0", "cut0", "x_0", "z_0"),
)
"""What rows are called, in all problems."""


@dataclass(frozen=True)
class Verdict:
    """What a checker says: the proven levels, None if it refuses, and why."""

    bound: tuple[Fraction, ...] | None
    reason: str = ""


def first_verdict(instance: Any, result: Result[Any], text: str) -> Verdict:
    """Return what dlopt says of a certificate."""
    try:
        certificate = vipr.parse(text)
    except DloptError as error:
        return Verdict(None, f"file: {error}")
    flaw = certificate.flaw()
    if flaw is not None:
        return Verdict(None, f"proof: {flaw}")
    judge = problem_of(instance).load_certified()
    value, flaw = judge(instance, result, certificate)
    if flaw is not None:
        return Verdict(None, f"program: {flaw}")
    return Verdict(() if value is None else tuple(map(exact, levels_of(value))))


def second_verdict(instance: Any, result: Result[Any], text: str) -> Verdict:
    """Return what the second checker says."""
    classes = {"single": 1, "per-stage": 1, "k": result.installments}
    chunks = classes.get(result.plan_class or "any")
    data = instance_to_data(instance)
    try:
        return Verdict(proven_bound(data, str(result.objective), text, chunks))
    except RefusedError as error:
        return Verdict(None, str(error))


def agreement(
    first: Verdict, second: Verdict, optimum: tuple[Fraction, ...], goal: Objective
) -> str:
    """Return `accepted`, `refused` or `form`, how the checkers disagree, or that both are wrong.

    Parameters
    ----------
    first, second : Verdict
    optimum : tuple of Fraction
        No true bound is better. Empty if there is no schedule.
    goal : Objective
    """
    if first.bound is None and second.bound is None:
        return "refused"
    if second.bound is None:
        return "only dlopt accepts"
    holds = is_true(second.bound, optimum, goal)
    if first.bound is not None:
        if first.bound != second.bound:
            return "two bounds"
        return "accepted" if holds else "both accept what is false"
    return "form" if holds and first.reason.startswith("program") else "only the second accepts"


def compared(subject: CertifiedInstance, text: str) -> tuple[str, Verdict, Verdict]:
    """Return how far two checkers agree on a certificate of an instance, and what they say."""
    first = first_verdict(subject.instance, subject.result, text)
    second = second_verdict(subject.instance, subject.result, text)
    return agreement(first, second, subject.optimum, subject.goal), first, second


def one(draw: random.Random, subject: CertifiedInstance) -> tuple[str, str]:
    """Alter the certificate of an instance; return how, and the text."""
    if draw.random() < 1 / 3:
        change = draw.choice(_CHANGES)
        lines = subject.text.splitlines()
        change(lines, draw)
        return change.__name__.strip("_"), "\n".join(lines) + "\n"
    if draw.random() < 0.5:
        return "text", altered.altered_text(subject, draw)
    return "forged", altered.forged(subject, draw)


def _remark(lines: list[str], draw: random.Random) -> None:
    """Change a number of a remark, or leave the remark out."""
    at = draw.choice([k for k, line in enumerate(lines) if line.startswith("%")])
    found = list(re.finditer(r"(?<![\w.])-?\d+(?:/\d+)?(?![\w.])", lines[at]))
    if not found or draw.random() < 0.1:
        del lines[at]
        return
    number = draw.choice(found)
    value = Fraction(number.group())
    other = draw.choice((value + 1, value - 1, value * 2, value / 2, -value, Fraction(0)))
    lines[at] = f"{lines[at][: number.start()]}{other}{lines[at][number.end() :]}"


def _other_index(name: str, draw: random.Random) -> str:
    words = name.split("_")
    places = [k for k, word in enumerate(words) if word.isdigit()]
    if places:
        at = draw.choice(places)
        words[at] = str(max(0, int(words[at]) + draw.choice((-1, 1))))
    return "_".join(words)


def _column(lines: list[str], draw: random.Random) -> None:
    """Give a column the name of its neighbour, and that one the name of this."""
    at = next(k for k, line in enumerate(lines) if line.startswith("VAR ")) + 1
    names = lines[at].split()
    if names:
        one = draw.randrange(len(names))
        other = _other_index(names[one], draw)
        names = [{names[one]: other, other: names[one]}.get(name, name) for name in names]
        lines[at] = " ".join(names)


def _row_name(lines: list[str], draw: random.Random) -> None:
    """Give a row another name."""
    at = draw.choice([k for k, line in enumerate(lines) if _ROW.fullmatch(line)])
    name, rest = lines[at].split(" ", 1)
    lines[at] = f"{_other_index(name, draw)} {rest}"


def _claim(lines: list[str], draw: random.Random) -> None:
    """Claim another number, in the last steps as well."""
    at = next(k for k, line in enumerate(lines) if line.startswith("RTP "))
    words = lines[at].split()
    if words[1] != "range":
        return
    moved = Fraction(words[2]) + draw.choice((1, -1, Fraction(1, 2), Fraction(-1, 7)))
    lines[at] = f"RTP range {moved} inf"
    for k in range(at, len(lines)):
        found = _ROW.fullmatch(lines[k])
        if found and found[2] == "G" and found[3] == words[2]:
            lines[k] = f"{found[1]} G {moved} {found[4]}"


def _false_row(lines: list[str], draw: random.Random) -> None:
    """Add a row that nothing satisfies, or a larger claim itself, and derive the claim of it."""
    at = next(k for k, line in enumerate(lines) if line.startswith("RTP "))
    start = next(k for k, line in enumerate(lines) if line.startswith("CON "))
    count = int(lines[start].split()[1])
    words = lines[at].split()
    row, claim = "G 1 0", "G 1 0"
    if words[1] == "range" and draw.random() < 0.7:
        claim = f"G {Fraction(words[2]) + 1} OBJ"
        row, words[2] = claim, str(Fraction(words[2]) + 1)
    name = draw.choice(_FALSE_NAMES) + draw.choice(("", "_G", "_L"))
    lines[start] = f"CON {count + 1} 0"
    lines[at:] = [f"{name} {row}", " ".join(words), "SOL 0", "DER 1"]
    lines.append(f"last {claim} {{ lin 1 {count} 1 }} -1")


_CHANGES: tuple[Callable[[list[str], random.Random], None], ...] = (
    _remark,
    _remark,
    _column,
    _row_name,
    _claim,
    _false_row,
)


def certificates_of_batch(records: Path) -> Iterator[tuple[str, str, str, Verdict, Verdict]]:
    """Yield problem, name, agreement and verdicts of the certificates that a batch wrote."""
    instances = {instance_hash(one): one for one in map(read, _INSTANCES.glob("*/**/*.json"))}
    for line in records.read_text().splitlines():
        record = json.loads(line)
        if record["certificate"] is None:
            continue
        instance, bound = instances[record["hash"]], record["bound"]
        stated = bound if isinstance(bound, list) else [] if bound is None else [bound]
        levels = tuple(exact(_number(x)) for x in stated)
        result: Result[Any] = Result(
            Status(record["status"]),
            objective=record["objective"],
            method=record["method"],
            plan_class=record["plan_class"],
            installments=record["installments"],
        )
        text = (records.parent / record["certificate"]).read_text()
        verdicts = first_verdict(instance, result, text), second_verdict(instance, result, text)
        goal = problem_of(instance).module.OBJECTIVES[record["objective"]]
        how = agreement(*verdicts, levels, goal)
        yield record["problem"], f"{record['instance']} {record['objective']}", how, *verdicts


def _number(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


def main() -> int:
    """Compare the checkers; print the counts and every disagreement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    counts, draw = Counter[tuple[str, str, str]](), random.Random(given.seed)
    for records in given.records:
        for stem, name, how, first, second in certificates_of_batch(records):
            counts[stem, "shipped", how] += 1
            if how != "accepted":
                print(f"{stem} {name}: {how}\n  dlopt: {first}\n  second: {second}", flush=True)
    for _ in range(given.count):
        subject = draw.choice(SUBJECTS[draw.choice(sorted(SUBJECTS))])
        change, text = one(draw, subject)
        how, first, second = compared(subject, text)
        counts[subject.stem, "unchanged" if text == subject.text else change, how] += 1
        if how not in ("accepted", "refused", "form"):
            print(f"{subject.stem} {subject.objective}, {change}: {how}", flush=True)
            print(f"  dlopt: {first}\n  second: {second}", flush=True)
    for (stem, change, how), count in sorted(counts.items()):
        print(f"{stem:14} {change:12} {how:24} {count:6}")
    return int(any(how not in ("accepted", "refused", "form") for _, _, how in counts))


if __name__ == "__main__":
    sys.exit(main())
