"""Speed and scale of the methods for one divisible load: ``python -m benchmarks.iit --help``."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import pulp

import dlopt
from benchmarks.direct_lp import DirectProgram
from benchmarks.families import FAMILIES, in_floats, papers_costs, set_up_costs
from benchmarks.timing import (
    Report,
    Timing,
    interleaved,
    once,
    run,
    solver_output_to_stderr,
    stopwatches,
)
from dlopt.backends import exact_lp
from dlopt.generation.iit import uniform
from dlopt.heuristics.iit.edf_iit_2 import minimum_completion
from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp
from dlopt.models.iit.methods import exact_plan
from dlopt.models.iit.prefix_milp import PrefixMilp, PrefixSearch
from dlopt.problems.iit import Instance, Solution, violations
from dlopt.result import Limits

FASTER = 300
"""Target, set by hand: how many times faster than the best LP the closed form is at 1000 nodes."""
MODEL_SECONDS = 30
"""Target, set by hand: seconds within which a model of 1000 nodes is solved."""
ORDER_SECONDS = 300
"""Target, set by hand: seconds within which the MILP over sequences of 12 nodes is solved."""


def closed_form_against_programs(report: Report) -> None:
    """Table 1."""
    columns = ["used", "closed ms", "HiGHS ms", "no presolve", "interior", "GLOP ms", "GLOP dual"]
    report.table(
        "1. Closed form against the linear program over its prefix (build and solve)",
        *("nodes, family", *columns, "best builds", "best solves", "ratio", "LP off", "exact off"),
        "exact s",
        "search",
    )
    ratios, searches, off_programs, off_exact = {}, {}, [], []
    cases = [
        (n, family, instances)
        for n in (10, 100, 1000, 5000)
        for family, instances in (*FAMILIES.items(), ("papers' costs", papers_costs))
        if n <= 1000 or not (report.quick or family == "snapshot")
    ]
    for n, family, instances in cases:
        instance = instances(n)
        ready = sorted(instance.ready_times)
        floating = in_floats(instance)
        first = sorted(floating.ready_times)
        closed = _closed(floating, first)
        completion, loads = closed()
        program = DirectProgram(floating.cluster, first[: len(loads)], float(floating.load))
        ways = program.ways()
        found = interleaved({"closed": closed, **ways}, rounds=9, budget=20)
        optima = {way: found[way].answer[2] for way in ways if found[way].answer[2] is not None}
        best = min(optima, key=lambda way: found[way].median)
        ratio = found[best].ratio(found["closed"])
        builds_and_solves = list(zip(*found[best].answers, strict=True))[:2]
        off = max(abs(optimum / completion - 1) for optimum in optima.values())
        off_programs.append(off)
        deviation, seconds = None, None
        if n <= 1000:
            truth = once(lambda i=instance, r=ready: minimum_completion(i.cluster, r, i.load))
            deviation, seconds = _off(completion, truth.answer[0]), truth.median
            off_exact.append(deviation)
        search = None
        if n == 1000:
            ratios[family] = ratio
            search = _search(floating, first, best) / found["closed"].median
            searches[family] = search
        report.row(
            f"{n}, {family}",
            len(loads),
            1e3 * found["closed"].median,
            *(1e3 * found[way].median if way in optima else "gives up" for way in ways),
            *(1e3 * median(parts) for parts in builds_and_solves),
            ratio,
            off,
            deviation,
            seconds,
            search,
        )
    for family, ratio in ratios.items():
        name = f"one LP, its prefix given away / closed form >= {FASTER} at 1000 nodes, {family}"
        report.target(name, f"{ratio:.0f}", ratio >= FASTER)
    for family, search in searches.items():
        name = f"LPs that find the prefix / closed form >= {FASTER} at 1000 nodes, {family}"
        report.target(name, f"{search:.0f}", search >= FASTER)
    report.target("LPs equal, 1e-6", f"{max(off_programs):.0e}", max(off_programs) <= 1e-6)
    report.target("exact numbers equal, 1e-12", f"{max(off_exact):.0e}", max(off_exact) <= 1e-12)


def _search(instance: Instance, ready: list[float], way: str) -> float:
    """Return how long the programs take that find the prefix, each solved once the best way.

    They are those that `exact` asks: prefixes of doubling length, then bisection.
    """
    prefixes = PrefixSearch(instance, Limits(), "HiGHS", 0)
    prefixes.longest_useful_prefix()
    total = 0.0
    for n in sorted({n for n, _ in prefixes.solved}):
        program = DirectProgram(instance.cluster, ready[:n], float(instance.load))
        total += once(program.ways()[way]).median
    return total


def growth(report: Report) -> None:
    """Table 2, and what the exact check costs at 100,000 nodes."""
    sizes = [25_000, 50_000, 100_000] + ([] if report.quick else [200_000])
    report.table(
        "2a. Growth of the closed form",
        *("nodes, family", "used", "sort ms", "closed ms", "together", "ratio sort"),
        *("ratio closed", "ratio both"),
    )
    longest = {}
    for family, instances in FAMILIES.items():
        tasks: dict[str, Callable[[], Any]] = {}
        for n in sizes:
            floating = in_floats(instances(n))
            times = list(floating.ready_times)
            random.Random(n).shuffle(times)
            tasks[f"sort {n}"] = lambda times=times: sorted(times)
            tasks[f"closed {n}"] = _closed(floating, sorted(times))
            tasks[f"both {n}"] = _closed(floating, times, by=sorted)
        found = interleaved(tasks, rounds=7)
        for n in sizes:
            names = ("sort", "closed", "both")
            rows = [found[f"{name} {n}"] for name in names]
            halves = [found.get(f"{name} {n // 2}") for name in names]
            growth = [half and row.ratio(half) for row, half in zip(rows, halves, strict=True)]
            medians = [1e3 * row.median for row in rows]
            report.row(f"{n}, {family}", len(rows[1].answer[1]), *medians, *growth)
        longest[family] = found["both 100000"].median
    worst = max(longest, key=longest.__getitem__)
    text = f"{longest[worst]:.2f} s at most ({worst})"
    report.target("sorting and closed form at 100,000 under 1 s", text, longest[worst] < 1)
    _whole_door(report)


def _whole_door(report: Report) -> None:
    report.table(
        '2b. dlopt.solve(instance, "edf-iit-2") at 100,000 nodes: seconds',
        *("family", "instance", "method", "check", "solve", "violations", "check share"),
    )
    for family, instances in FAMILIES.items():
        floating = in_floats(instances(100_000))
        plan = dlopt.solve(floating, "edf-iit-2").solution
        tasks = {
            "instance": lambda i=floating: replace(i, name="again"),
            "solve": lambda i=floating: dlopt.solve(i, "edf-iit-2"),
            "violations": lambda i=floating, p=plan: violations(i, p, 1e-9),
        }
        found = interleaved(tasks, rounds=3)
        solve = found["solve"]
        pairs = zip(solve.seconds, solve.answers, strict=True)
        method = Timing(tuple(answer.runtime_s for answer in solve.answers), ())
        check = Timing(tuple(whole - answer.runtime_s for whole, answer in pairs), ())
        report.row(
            family,
            found["instance"].median,
            method.median,
            check.median,
            solve.median,
            found["violations"].median,
            check.ratio(solve),
        )


def models(report: Report) -> None:
    """Table 3."""
    report.table(
        f"3. Exact models in ready order, set-up costs, {MODEL_SECONDS * 4} s limit: seconds",
        *("nodes, formulation", "status", "total", "programs", "state", "hand over", "HiGHS"),
        *("proof", "state/solve", "building/HiGHS"),
    )
    totals, shares = {}, {}
    for n in (100, 300, 1000):
        instance = set_up_costs(n)
        floating = in_floats(instance)
        hint = dlopt.solve(floating, "edf-iit-2").solution
        cases: dict[str, tuple[Instance, dict[str, Any]]] = {
            "sequence": (floating, {"formulation": "sequence", "hint": hint}),
            "sequence, no hint": (floating, {"formulation": "sequence"}),
            "sequence, exact": (instance, {"formulation": "sequence"}),
            "prefix": (floating, {"formulation": "prefix", "hint": hint}),
            "prefix, no hint": (floating, {"formulation": "prefix"}),
        }
        for name, (data, options) in cases.items():
            if report.quick and n == 1000 and name == "prefix, no hint":
                continue
            rounds = 1 if name.startswith("prefix") and n == 1000 else 3
            runs = [_watch_model(data, options) for _ in range(rounds)]
            total, spent, result = sorted(runs, key=lambda run: run[0])[rounds // 2]
            building = spent["state"] + spent["hand over"]
            report.row(
                f"{n}, {name}",
                str(result.status),
                total,
                int(spent["calls solve"]),
                spent["state"],
                spent["hand over"],
                spent["HiGHS"],
                spent.get("proof"),
                spent["state"] / spent["solve"],
                building / spent["HiGHS"],
            )
            if n == 1000:
                totals[name] = total if result.status == "optimal" else float("inf")
                shares[name] = building / spent["HiGHS"]
    for name, total in totals.items():
        target = f"{name} at 1000 nodes proven under {MODEL_SECONDS} s"
        report.target(target, f"{total:.1f} s", total < MODEL_SECONDS)
    most = max(shares, key=shares.__getitem__)
    text = f"building / HiGHS at most {shares[most]:.2f} ({most})"
    report.target("building never dominates at 1000 nodes", text, shares[most] < 1)


def _watch_model(instance: Instance, options: dict[str, Any]) -> tuple[float, Any, Any]:
    """Return total seconds, the seconds of the parts, and the result."""
    limits = Limits(time_s=4 * MODEL_SECONDS)
    places = [
        *((model, "__init__", "state") for model in (FixedSequenceLp, PrefixMilp)),
        *((model, "minimise_completion", "state") for model in (FixedSequenceLp, PrefixMilp)),
        (pulp.LpProblem, "solve", "solve"),
        (pulp.HiGHS, "buildSolverModel", "hand over"),
        (pulp.HiGHS, "callSolver", "HiGHS"),
        (exact_lp, "from_pulp", "proof"),
        (exact_lp, "certify", "proof"),
    ]
    with solver_output_to_stderr(), stopwatches(places) as spent:
        run = once(lambda: exact_plan(instance, limits=limits, **options))
    return run.median, spent, run.answer


def orders(report: Report) -> None:
    """Table 4."""
    report.table(
        f"4. Free order of nodes that differ, hint, 2 threads, {ORDER_SECONDS} s limit",
        *("nodes, costs, seed", "status", "seconds", "nodes used", "gap of equal-finish"),
    )
    limits = Limits(time_s=ORDER_SECONDS, threads=2)
    proven, slowest, count = 0, 0.0, 0
    for n in (6, 8) if report.quick else (6, 8, 10, 12):
        for costs, theta in (("no set-up", (0, 0)), ("set-up", (2, 5))):
            for seed in range(3):
                instance = uniform(
                    nodes=n, spread=3, theta_cm=theta[0], theta_cp=theta[1], seed=seed
                )
                simple = dlopt.solve(instance, "equal-finish")
                with solver_output_to_stderr():
                    run = once(lambda i=instance, h=simple.solution: _in_free_order(i, h, limits))
                result = run.answer
                gap = float(Fraction(simple.value) / Fraction(result.value) - 1)
                used = len({chunk.node for chunk in result.solution.chunks})
                label = f"{n}, {costs}, {seed}"
                report.row(label, str(result.status), run.median, used, f"{gap:.3%}")
                count += 1
                proven += result.status == "optimal"
                slowest = max(slowest, run.median)
    text = f"{proven} of {count}, the slowest in {slowest:.0f} s"
    report.target(f"free orders proven within {ORDER_SECONDS} s", text, proven == count)


def _in_free_order(instance: Instance, hint: Solution, limits: Limits) -> Any:
    return exact_plan(instance, formulation="order", hint=hint, limits=limits)


def certificates(report: Report) -> None:
    """Table 5."""
    report.table(
        "5. The rational certificate of a linear program, set against solving it in floats",
        *("nodes, family", "HiGHS s", "PuLP s", "convert s", "certify s", "certify/HiGHS"),
        "digits",
    )
    for n in (100, 300, 1000):
        for family in ("random", "set-up costs"):
            instance = FAMILIES[family](n)
            order = sorted(range(n), key=instance.ready_times.__getitem__)
            problem = FixedSequenceLp(instance, order).minimise_completion().problem
            highs: list[float] = []

            def solve(problem: Any = problem, highs: list[float] = highs) -> None:
                with stopwatches([(pulp.HiGHS, "callSolver", "HiGHS")]) as spent:
                    problem.solve(pulp.HiGHS(msg=False))
                highs.append(spent["HiGHS"])

            def certify(problem: Any = problem) -> tuple[float, Any]:
                begun = time.perf_counter()
                program = exact_lp.from_pulp(problem)
                converted = time.perf_counter() - begun
                statuses = exact_lp.basis_from_highs(problem.solverModel)
                return converted, exact_lp.certify(program, *statuses)

            found = interleaved({"solve": solve, "certify": certify}, rounds=3, budget=30)
            converted, certificate = found["certify"].answer
            if certificate is None:
                raise SystemExit(f"no certificate for {n} nodes, {family}")
            floats = Timing(tuple(highs[-len(found["solve"].seconds) :]), ())
            digits = int(certificate.value.denominator.bit_length() * 0.30103) + 1
            report.row(
                f"{n}, {family}",
                floats.median,
                found["solve"].median,
                converted,
                found["certify"].median - converted,
                found["certify"].ratio(floats),
                digits,
            )


def start(report: Report) -> None:
    """Table 6."""
    report.table(
        "6. Fresh processes: milliseconds of the whole process, and over a bare Python",
        *("command", "median ms", "over bare"),
    )
    script = Path(sys.executable).with_name("dlopt")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "dlopt"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import dlopt": [sys.executable, "-c", "import dlopt"],
        "import dlopt; dlopt.solve": [sys.executable, "-c", "import dlopt; dlopt.solve"],
        "dlopt --version": [*command, "--version"],
    }
    tasks = {name: lambda line=line: _run(line) for name, line in commands.items()}
    found = interleaved(tasks, rounds=10)
    bare = found["python -c pass"]
    for name, timing in found.items():
        report.row(name, 1e3 * timing.median, 1e3 * (timing.median - bare.median))
    seconds = found["import dlopt"].median
    report.target("import dlopt under 0.3 s", f"{seconds:.2f} s, whole process", seconds < 0.3)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _closed(
    instance: Instance, ready: list[Any], by: Callable[[list[Any]], list[Any]] = lambda r: r
) -> Callable[[], Any]:
    return lambda: minimum_completion(instance.cluster, by(ready), instance.load)


def _off(number: float, truth: Fraction) -> float:
    return float(abs(Fraction(number) - truth) / truth)


TABLES = {
    1: closed_form_against_programs,
    2: growth,
    3: models,
    4: orders,
    5: certificates,
    6: start,
}


if __name__ == "__main__":
    sys.exit(run("iit", TABLES))
