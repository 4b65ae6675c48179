"""Certificates that tests write by hand, and what two checkers say of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchmarks.second_checker import Verdict, first_verdict, second_verdict
from dlopt.result import Result, Status


def two_cases(low: str = "0", high: str = "1") -> str:
    """The file of a proof that an integer of 1/2 or more is `high` or more, not `low` or less."""
    return f"""VER 1.0
VAR 1 x
INT 1 0
OBJ min 1 0 1
CON 1 0
half G 1/2 1 0 1
RTP range {high} inf
SOL 0
DER 4
low L {low} 1 0 1 {{ asm }} -1
none G 1 0 {{ lin 2 0 2 1 -2 }} -1
high G {high} 1 0 1 {{ asm }} -1
last G {high} 1 0 1 {{ uns 2 1 3 3 }} -1
"""


@dataclass(frozen=True)
class Written:
    """An instance, an objective, and what a certificate of it says.

    A row is `name sense side: terms`, where terms are such as `2 z_0 -1 z_1`; a step
    `sense side: terms | reason`. Columns of the letters `real` are no integers.
    """

    instance: Any
    objective: str
    remarks: str
    names: str
    rows: str
    steps: str
    claim: str = "infeas"
    costs: str = ""
    real: str = ""
    plan_class: str = "any"
    installments: int | None = None

    @property
    def text(self) -> str:
        """The file."""
        names, rows, steps = self.names.split(), _lines(self.rows), _lines(self.steps)
        whole = [str(k) for k, name in enumerate(names) if name[0] not in self.real]
        lines = [f"% {remark}" for remark in _lines(self.remarks)]
        lines += ["VER 1.0", f"VAR {len(names)}", self.names, f"INT {len(whole)}", " ".join(whole)]
        lines += ["OBJ min", self._vector(self.costs), f"CON {len(rows)} 0"]
        for row in rows:
            head, _, terms = row.partition(":")
            lines.append(f"{head} {self._vector(terms)}")
        lines += [f"RTP {self.claim}", "SOL 0", f"DER {len(steps)}"]
        for step in steps:
            row, _, reason = step.partition(" | ")
            head, _, terms = row.partition(":")
            lines.append(f"d {head} {self._vector(terms)} {{ {reason} }} -1")
        return "\n".join(lines)

    def _vector(self, terms: str) -> str:
        if terms.strip() == "OBJ":
            return "OBJ"
        values, names = terms.split()[::2], terms.split()[1::2]
        pairs = zip(map(self.names.split().index, names), values, strict=True)
        return " ".join([str(len(values)), *(f"{k} {value}" for k, value in pairs)])

    def verdicts(self, text: str | None = None) -> tuple[Verdict, Verdict]:
        """What dlopt and the second checker say, of another text if there is one."""
        text = self.text if text is None else text
        result: Result[Any] = Result(
            Status.BOUND,
            bound=0,
            objective=self.objective,
            method="exact",
            plan_class=self.plan_class,
            installments=self.installments,
        )
        return (
            first_verdict(self.instance, result, text),
            second_verdict(self.instance, result, text),
        )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def refused(written: Written, first: str, second: str) -> None:
    """Both checkers refuse a certificate for the reason that is expected."""
    one, other = written.verdicts()
    assert (one.bound, other.bound) == (None, None)
    assert first in one.reason
    assert second in other.reason


def accepted(written: Written, *bound: Fraction | int) -> None:
    """Both checkers accept a certificate, of the same bound."""
    assert [verdict.bound for verdict in written.verdicts()] == [bound, bound]
