"""Every erratum of docs/errata.md, computed under the reading that is refuted and a sound one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dlopt import io, registry, solve
from dlopt.heuristics.iit.partition import OptimalPartition
from dlopt.result import Result, Status
from dlopt.simulation.feedback.admission import admits
from dlopt.simulation.feedback.jobs import Job
from dlopt.simulation.feedback.policy import Policy

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "errata.md"
TEXT = PAGE.read_text(encoding="utf-8")
BEFORE, READINGS, COMPUTED, AVERAGES = re.split(r"\n## (?=Pseudocode|Ways|Claims about)", TEXT)

PAIR = re.compile(r"\]\(([^)]*\.json)\)[^|`]*?,? `([^`]+)` against `([^`]+)`")
ROW = re.compile(r"^\| ([a-z]+-\d+) \|(.*)$", re.MULTILINE)


def pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield instances, the method that follows the refuted sentence, and the sound one."""
    yield from PAIR.findall(text)


def answer(path: str, method: str, objective: str | None = None) -> Result[Any]:
    instance = io.read(PAGE.parent / path, exact_numbers=True)
    if objective is None and instance.problem in ("bag", "admission"):
        objective = "accepted"
    return solve(instance, method, objective=objective)


def objective_of(path: str, method: str) -> str | None:
    """Return the objective of a method that has one only."""
    entry = registry.method(io.read(PAGE.parent / path).problem, method)
    return entry.objectives[0] if len(entry.objectives) == 1 else None


ALL = [*pairs(BEFORE), *pairs(COMPUTED)]


def test_the_page_has_pairs() -> None:
    assert len(ALL) == 20


@pytest.mark.parametrize(("path", "refuted", "sound"), ALL)
def test_one_reading_fails_where_the_other_does_not(path: str, refuted: str, sound: str) -> None:
    asked = objective_of(path, refuted)
    wrong, right = answer(path, refuted, asked), answer(path, sound, asked)
    assert right.violations == () and right.status is not Status.UNSOUND
    if wrong.status is Status.UNSOUND:
        assert wrong.violations
        return
    stem = io.read(PAGE.parent / path).problem
    goal = registry.problem(stem).module.OBJECTIVES[right.objective]
    assert right.value is not None
    assert wrong.value is None or goal.better(right.value, wrong.value)


@pytest.mark.parametrize("flaw", [f"F{k}" for k in range(1, 10)] + ["M1", "M2", "M3"])
def test_flaws_of_the_multi_stage_algorithm(flaw: str) -> None:
    path = f"../instances/multistage/counterexamples/multi-stage-literal-{flaw.lower()}.json"
    assert path in TEXT
    assert answer(path, f"multi-stage:literal-{flaw}").status is Status.UNSOUND
    assert answer(path, "multi-stage").violations == ()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((\.\./instances/[^)]+)\)", TEXT))))
def test_instances_of_the_page_are_there(path: str) -> None:
    assert (PAGE.parent / path).resolve().is_file()


def test_methods_of_the_page_are_registered_and_all_flawed_ones_are_there() -> None:
    known = {entry.name for entry in registry.methods()}
    told = set(re.findall(r"`([a-z0-9-]+:literal[a-zA-Z0-9-]*)`", TEXT))
    assert told <= known
    families = {name.split(":")[0] for name in told}
    flawed = {entry.name.split(":")[0] for entry in registry.methods() if ":literal-" in entry.name}
    assert flawed <= families | {"co-rsbf"}  # whose figures are those of co-rsbfr


# Errata that are computed, by the identifier of their row


def shares(
    load: int, tau: int, chi: int, theta_cm: int, theta_cp: int, nodes: int
) -> tuple[list[Fraction], Fraction]:
    """Return the shares and the execution time of (4.6) in Mamat 2011, and of (4.12) in Lin."""
    beta, phi = Fraction(chi, tau + chi), Fraction(theta_cm, load * (tau + chi))
    power = beta**nodes
    first = (1 - beta) / (1 - power) + nodes * phi / (1 - power) - phi / (1 - beta)
    parts = [first * beta**j - (1 - beta**j) / (1 - beta) * phi for j in range(nodes)]
    return parts, theta_cm + theta_cp + load * (tau + chi) * first


def test_lin_3_no_number_of_nodes_where_gamma_is_not_positive() -> None:
    gamma = 1 - Fraction(1 * 1, 1)
    with pytest.raises(ValueError, match=r"math domain error|positive"):
        math.log(gamma)
    times = [shares(1, 1, 1, 0, 0, nodes)[1] for nodes in range(1, 40)]
    assert min(times) > 1  # nor any that is enough, though A + D - s = 1 is positive


def test_lin_4_with_set_up_costs_of_computing_alone_the_time_falls_for_ever() -> None:
    times = [shares(3, 1, 2, 0, 7, nodes)[1] for nodes in range(1, 60)]
    assert all(later < earlier for earlier, later in pairwise(times))
    assert [float(time) for time in times[:2]] == [16.0, 12.4]
    of_sending = [shares(3, 1, 2, 1, 7, nodes)[1] for nodes in range(1, 60)]
    assert of_sending[-1] > min(of_sending)  # the sound reading: ST > 0, and enough nodes


def test_lin_5_the_proof_loses_a_constant_and_a_sign() -> None:
    """From n = C4 + C5 k and n = (e^k - C1) / C2."""
    beta, phi = 2 / 3, 0.25
    c1, c2, c3 = phi - (1 - beta) * math.log(beta), -phi * math.log(beta), phi
    c4, c5 = math.log(c3) / math.log(beta), -1 / math.log(beta)
    low, high = -5.0, 5.0
    for _ in range(200):  # the k at which both agree
        k = (low + high) / 2
        low, high = (low, k) if (math.exp(k) - c1) / c2 > c4 + c5 * k else (k, high)
    assert math.exp(k) == pytest.approx(c1 + c2 * c4 + phi * k)
    assert math.exp(k) != pytest.approx(c2 * c4 - phi * k, rel=0.01)
    load, sending, computing, setup = 1, 1, 1, 4
    assert Fraction(setup, load * (sending + computing)) == 2  # phi, said to be below 1


def test_lin_6_the_cost_is_not_least_in_the_order_of_derivatives() -> None:
    path = "../instances/admission/counterexamples/mcdf-cost-order.json"

    instance = io.read(PAGE.parent / path, exact_numbers=True)
    rule = OptimalPartition.of(instance.cluster)

    def cost(method: str) -> Fraction:
        found = answer(path, method)
        assert found.value == len(instance.tasks)
        counts = [sum(c.task == task.id for c in found.solution.chunks) for task in instance.tasks]
        pairs = zip(instance.tasks, counts, strict=True)
        return sum((rule.cost(task.load, nodes) for task, nodes in pairs), Fraction(0))

    assert (cost("mcdf:literal"), cost("edf-opr-mn:literal")) == (
        Fraction(180, 7),
        Fraction(176, 7),
    )


def test_mamat_4_the_formula_on_all_nodes_is_no_execution_time() -> None:
    parts, time = shares(1000, 1, 1000, 500, 500, 256)
    assert sum(part < 0 for part in parts) == 123 and sum(parts) == 1 and round(time) == 71_906
    parts, time = shares(1000, 1, 1000, 500, 500, 63)
    assert min(parts) > 0 and round(time) == 33_051
    assert min(shares(1000, 1, 1000, 500, 500, 64)[0]) < 0
    rule = OptimalPartition(1, 1000, 500, 500)
    assert round(rule.execution_time(1000, 63)) == 33_051


def test_mamat_6_each_flaw_of_one_task_has_an_instance_with_one_task() -> None:
    for flaw in ("f1", "f6", "f7", "f8"):
        name = f"multi-stage-literal-{flaw}.json"
        instance = io.read(ROOT / "instances" / "multistage" / "counterexamples" / name)
        assert len(instance.tasks) == 1


def test_mamat_8_a_task_that_is_due_later_holds_its_node() -> None:
    path = "../instances/admission/counterexamples/fast-edf-iit-literal-dispatched.json"
    plan = answer(path, "fast-edf-iit:literal-dispatched").solution
    first = min(plan.chunks, key=lambda chunk: chunk.transmission_start)
    assert (first.node, first.computation_end) == (0, 5)


def test_mamat_9_and_13_chunks_become_empty_at_the_deadline() -> None:
    tau, chi, deadline, margin = Fraction(1), Fraction(1), Fraction(8), 2
    now, left, sizes = Fraction(0), Fraction(3), []
    for _ in range(60):
        size = min((deadline - now) / (margin * (tau + chi)), left)
        sizes.append(size)
        now, left = now + size * (tau + chi), left - size
    assert left == 0 or all(later < earlier for earlier, later in pairwise(sizes))
    starved, left = Fraction(0), Fraction(100)
    for _ in range(60):
        size = min((deadline - starved) / (margin * (tau + chi)), left)
        starved, left = starved + size * (tau + chi), left - size
    assert left > 90 and 0 < deadline - starved < Fraction(1, 10**15)  # and no end to it
    assert (deadline - deadline) / (tau + chi) == 0  # the size of section 6.2.2 there


def test_mamat_11_the_cost_of_the_last_task_is_not_that_of_the_first() -> None:
    assert round(14_000 * 0.157 / 60) == 37


def test_mamat_12_what_cannot_be_met_is_below_every_bound() -> None:
    late = Job(0, 0.0, 3.0, 5.0, (1.0, 1.0), (1.0, 1.0))  # due at 5, looked at for 6
    assert admits(late, [], 6.0, 0.8, 2, Policy(overdue="printed"))
    assert not admits(late, [], 6.0, 0.8, 2, Policy(overdue="refuse"))


def test_liu_2_all_seven_tasks_fit() -> None:
    path = "../instances/bag/figure-5.json"
    assert answer(path, "gds-without-shuffle").value == 7
    instance = io.read(PAGE.parent / path)
    due = {task.id: task for task in instance.tasks}
    assert due["4"].absolute_deadline > due["5"].absolute_deadline
    assert due["4"].priority == due["5"].priority


def test_liu_3_shuffle_looks_at_every_slack() -> None:
    """Of n tasks the last may have to look past n - 1 others."""
    looks = [sum(range(1, tasks + 1)) for tasks in (10, 20, 40)]
    assert [later / earlier > 3 for earlier, later in pairwise(looks)] == [True, True]


def test_min_6_less_rejected_priority_is_not_more_benefit() -> None:
    instance = io.read(ROOT / "instances/coreservation/counterexamples/objectives-conflict.json")
    none_rejected = solve(instance, objective="rejected-priority-then-benefit").value
    most = solve(instance, objective="benefit").value
    assert none_rejected[0] == 0
    assert (round(float(none_rejected[1]), 3), round(float(most), 3)) == (0.318, 0.909)


def test_min_7_the_curve_is_flat_whatever_the_model() -> None:
    instance = io.read(ROOT / "instances/coreservation/counterexamples/objectives-conflict.json")
    louder = replace(
        instance,
        requests=tuple(replace(one, priority=7 * one.priority) for one in instance.requests),
        best_known=(),
    )
    assert solve(louder, objective="benefit").value == solve(instance, objective="benefit").value


def test_every_erratum_is_computed() -> None:
    rows = dict(ROW.findall(BEFORE))
    assert len(rows) == len(ROW.findall(BEFORE))
    tested = {
        f"{paper}-{number}"
        for name in globals()
        if name.startswith("test_")
        for paper in ("lin", "mamat", "liu", "min", "chen")
        for number in re.findall(r"\d+", name)
        if name.startswith(f"test_{paper}_")
    }
    by_pair = {row for row, text in rows.items() if PAIR.search(text)}
    told = {"mamat-5", "mamat-10"}  # twelve instances above; tests of `hybrid`
    assert {row for row in rows if not row.startswith("chen")} <= tested | by_pair | told
