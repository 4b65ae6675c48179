"""The page of errata: its rows, and what methods answer on the instances that it names."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from dlopt import io, solve
from dlopt.result import Result

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "errata.md"
TEXT = PAGE.read_text(encoding="utf-8")
PAIR = re.compile(r"\]\(([^)]*\.json)\)[^|`(\[]*`([^`]+)` against `([^`]+)`")
ROW = re.compile(r"^\| ([a-z]+-\d+) \|(.*)$", re.MULTILINE)
ROWS = dict(ROW.findall(TEXT))
FLAWS = [f"F{k}" for k in range(1, 10)] + ["M1", "M2", "M3"]
"""Of the multi-stage algorithm as it is printed."""


def answer(path: str, method: str, objective: str | None = None) -> Result[Any]:
    """Return what a method says of an instance that the page links to."""
    instance = io.read(PAGE.parent / path, exact_numbers=True)
    if objective is None and instance.problem in ("bag", "admission"):
        objective = "accepted"
    return solve(instance, method, objective=objective)


def shares(
    load: int, tau: int, chi: int, theta_cm: int, theta_cp: int, nodes: int
) -> tuple[list[Fraction], Fraction]:
    """Return the shares and the execution time of (4.6) in Mamat 2011, and of (4.12) in Lin."""
    beta, phi = Fraction(chi, tau + chi), Fraction(theta_cm, load * (tau + chi))
    power = beta**nodes
    first = (1 - beta) / (1 - power) + nodes * phi / (1 - power) - phi / (1 - beta)
    parts = [first * beta**j - (1 - beta**j) / (1 - beta) * phi for j in range(nodes)]
    return parts, theta_cm + theta_cp + load * (tau + chi) * first
