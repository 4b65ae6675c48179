"""Cross-check of the proofs of CP-SAT and HiGHS under other settings.

    python -m benchmarks.solver_claims [--stems dag,bag] [--seeds 3] [--seconds 2] [--data FOLDER]
                                       [--rows FILE.jsonl] [--table FILE.jsonl] [--models 10000]

Every model for which CP-SAT or HiGHS proves something while an instance is solved exactly is solved
again: by CP-SAT without presolve, with OR-Tools' defaults, without symmetries, with other linear
relaxations, from another seed; by HiGHS with presolve and without, and by SCIP. Where a problem has
a method for another engine, or the instance is small enough for brute force, the answers are
compared, too. A *disagreement* is a solution that another answer excludes. `--models` compares
CP-SAT's answers to random models (`random_models.py`) instead. The exit code is 1 if what the
library relies on (the settings of `dlopt.backends.cpsat`, HiGHS as it is called) is contradicted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import random_models, solver_instances
from benchmarks.other_engines import by_brute_force, by_other_methods
from benchmarks.rows import kept, plain
from benchmarks.solver_instances import SolverTask
from benchmarks.solver_settings import SAME, SolverAnswer, SolverClaim, watched
from benchmarks.timing import solver_output_to_stderr
from dlopt import DloptError, Limits, NotApplicableError, registry, solve
from dlopt.journal import read_rows

FORM = plain("answer")
METHODS = {"coreservation": ("exact", "cp-sat"), "dag": ("exact", "milp")}
"""Methods whose claims are collected; elsewhere of `exact` alone."""
STEMS = ("dag", "bag", "coreservation", "admission", "multistage", "iit")


def rows_of(case: SolverTask, seconds: float, most: int) -> Iterator[dict[str, Any]]:
    """Solve an instance and yield a row for every answer to every claim that was made meanwhile.

    Parameters
    ----------
    case : SolverTask
    seconds : float
        For each question; the instance itself gets four times as many.
    most : int
        Claims that are verified by solving again, evenly spread over all and with the last.
    """
    instance = solver_instances.valid(case)
    if instance is None:
        return
    identity = {"stem": case.stem, "source": case.source, "instance": case.name}
    for method in METHODS.get(case.stem, ("exact",)):
        with watched() as claims, solver_output_to_stderr():
            try:
                found = solve(
                    instance, method, objective=case.objective, limits=Limits(time_s=4 * seconds)
                )
            except NotApplicableError:
                continue
            except DloptError as error:
                yield {**identity, "method": method, "error": str(error)}
                continue
        for number, claim in _spread(claims, most):
            own = {**identity, "method": method, "solver": claim.solver, "model": number}
            for name, row in _asked(claim, seconds):
                yield {**own, "setting": name, **row}
        with solver_output_to_stderr():
            others = [*by_other_methods(case, instance, found, seconds)]
            others += by_brute_force(case, instance, found)
        for name, verdict, value in others:
            answer = {"setting": name, "verdict": verdict, "said": value}
            yield {**identity, "method": method, "solver": "result", **answer}


def _spread(claims: Sequence[SolverClaim], most: int) -> list[tuple[int, SolverClaim]]:
    step = max(1, -(-len(claims) // most))
    chosen = range(len(claims) - 1, -1, -step)
    return [(number, claims[number]) for number in reversed(chosen)]


def _asked(claim: SolverClaim, seconds: float) -> Iterator[tuple[str, dict[str, Any]]]:
    base: float | None = None
    for name, ask in claim.again.items():
        with solver_output_to_stderr():
            other = ask(seconds)
        base = other.seconds if name == SAME else base
        row: dict[str, Any] = {"verdict": claim.verdict(other), "seconds": other.seconds}
        if base:
            row["ratio"] = other.seconds / base
        if row["verdict"] == "disagree":
            row |= {"claimed": _shown(claim.claimed), "said": _shown(other)}
        yield name, row


def _shown(answer: SolverAnswer) -> str:
    return f"{answer.status}, value {answer.value}, bound {answer.bound}"


def summary(rows: Sequence[dict[str, Any]]) -> None:
    """Print a line for each stem, solver and setting."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if "verdict" in row:
            groups[row["stem"], row["solver"], row["setting"]].append(row)
    print(f"\n{'problem':14} {'solver':8} {'solved again with':20}", end="")
    print(" models   agree undecided disagree   time: median ratio")
    for key, own in groups.items():
        counts = Counter(row["verdict"] for row in own)
        ratios = [row["ratio"] for row in own if "ratio" in row]
        line = f"{key[0]:14} {key[1]:8} {key[2]:20} {len(own):6} {counts['agree']:7}"
        line += f" {counts['undecided']:9} {counts['disagree']:8}"
        print(line + (f" {median(ratios):14.2f}" if ratios else ""))
    failed = Counter(row["error"].partition(":")[0] for row in rows if "error" in row)
    print(f"not solved: {sum(failed.values())}", *(f"({text}: {n})" for text, n in failed.items()))
    for row in rows:
        if row.get("verdict") == "disagree":
            print(f"DISAGREE {json.dumps(row)}")


def main() -> int:
    """Run what the command line asks for; return 1 on a disagreement."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver_claims", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--stems", default=",".join(STEMS), help="which, with commas")
    parser.add_argument(
        "--sources", default="shipped,generated,drawn,data", help="which, with commas"
    )
    parser.add_argument("--seeds", type=int, default=3, help="of each generated family")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each question")
    parser.add_argument("--most", type=int, default=8, help="models of an instance")
    parser.add_argument("--data", type=Path, help="folder of public data sets (or DLOPT_DATA)")
    parser.add_argument("--sets", type=int, default=4, help="instances of each data set")
    parser.add_argument("--rows", type=Path, help="append every answer to this file")
    parser.add_argument("--models", type=int, default=0, help="made-up models of each kind instead")
    parser.add_argument("--table", type=Path, help="only print what such a file of rows says")
    wanted = parser.parse_args()
    if wanted.table:
        stored_rows = read_rows(wanted.table, FORM)
        summary(stored_rows)
        return 1 if any(row.get("verdict") == "disagree" for row in stored_rows) else 0
    if wanted.models:
        return random_models.compare(wanted.models, wanted.seeds)
    named = os.environ.get("DLOPT_DATA")
    folder = wanted.data or (Path(named) if named else None)
    rows: list[dict[str, Any]] = []
    begun = time.perf_counter()
    with kept(wanted.rows, FORM) as answers:
        for stem in wanted.stems.split(","):
            registry.problem(stem)
            cases: list[SolverTask] = []
            if "shipped" in wanted.sources:
                cases += solver_instances.shipped(stem)
            if "generated" in wanted.sources:
                cases += solver_instances.generated(stem, wanted.seeds)
            if "drawn" in wanted.sources:
                cases += solver_instances.drawn(stem, wanted.seeds)
            if "data" in wanted.sources and folder is not None:
                cases += solver_instances.data(stem, folder, wanted.sets)
            for case in cases:
                for row in rows_of(case, wanted.seconds, wanted.most):
                    rows.append(row)
                    answers.add(row)
            spent = time.perf_counter() - begun
            print(f"{stem}: {len(cases)} questions, {spent:.0f} s", flush=True)
    summary(rows)
    return 1 if any(row.get("verdict") == "disagree" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
