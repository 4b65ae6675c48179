"""Mamat 2011: each row of docs/errata.md, computed as it is said and as it is right.

Tests are named after their rows; `test_errata.py` sees that no row is without one.
"""

from __future__ import annotations

import heapq
import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from dlopt import io, solve
from dlopt.generation.uncertain_times import mamat7
from dlopt.generation.workload import Workload
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Instance as Stream
from dlopt.problems.admission import Scenario
from dlopt.problems.admission import Task as AdmissionTask
from dlopt.problems.cluster import Cluster
from dlopt.result import Status
from dlopt.simulation.feedback import FeedbackRun, Policy, identify
from dlopt.simulation.feedback.admission_by_utilization import admits
from dlopt.simulation.feedback.entities import TaskState
from tests.errata_page import FLAWS, PAGE, ROOT, ROWS, answer, shares


def test_mamat_4_the_formula_on_all_nodes_is_no_execution_time() -> None:
    parts, time = shares(1000, 1, 1000, 500, 500, 256)
    assert sum(part < 0 for part in parts) == 123 and sum(parts) == 1 and round(time) == 71_906
    parts, time = shares(1000, 1, 1000, 500, 500, 63)
    assert min(parts) > 0 and round(time) == 33_051
    assert min(shares(1000, 1, 1000, 500, 500, 64)[0]) < 0
    rule = OptimalPartition(1, 1000, 500, 500)
    assert round(rule.execution_time(1000, 63)) == 33_051


@pytest.mark.parametrize("flaw", FLAWS)
def test_mamat_5_flaws_of_the_multi_stage_algorithm(flaw: str) -> None:
    path = f"../instances/multistage/counterexamples/multi-stage-literal-{flaw.lower()}.json"
    assert path in ROWS["mamat-5"]
    assert answer(path, f"multi-stage:literal-{flaw}").status is Status.UNSOUND
    assert answer(path, "multi-stage").violations == ()


def test_mamat_6_what_the_lemmas_need_and_nothing_asks_for() -> None:
    """One task each: the condition is broken, and so is the plan; several in M1 to M3."""

    def case(flaw: str) -> tuple[Any, Any, set[str]]:
        path = f"../instances/multistage/counterexamples/multi-stage-literal-{flaw.lower()}.json"
        assert answer(path, "multi-stage").violations == ()
        found = answer(path, f"multi-stage:literal-{flaw}")
        kinds = {violation.kind for violation in found.violations}
        return io.read(PAGE.parent / path, exact_numbers=True), found.solution, kinds

    instance, plan, kinds = case("F1")
    ((task,), (reservation,)) = instance.tasks, instance.reservations
    assert reservation.start >= task.arrival + task.deadline
    assert kinds == {"load-not-conserved"} and sum(c.load for c in plan.chunks) < task.load

    instance, plan, kinds = case("F6")
    assert len(instance.tasks) == 1 and min(c.load for c in plan.chunks) < 0
    assert "negative-load" in kinds

    instance, plan, kinds = case("F7")
    assert len(instance.tasks) == 1 and kinds == {"node-not-ready"}
    assert any(c.transmission_start < instance.ready_times[c.node] for c in plan.chunks)

    instance, plan, kinds = case("F8")
    first, second = sorted(instance.reservations, key=lambda one: one.start)
    assert len(instance.tasks) == 1 and kinds == {"reservation-node-overlap"}
    assert first.start < second.start < first.io_end  # within the stage of the first
    assert any(c.node in second.nodes and c.computation_end > second.start for c in plan.chunks)

    counts = [case(flaw)[0] for flaw in ("M1", "M2", "M3")]
    assert [len(instance.tasks) for instance in counts] == [2, 2, 1]
    assert len(counts[2].reservations) == 2


DISPATCHED = "../instances/admission/counterexamples/fast-edf-iit-literal-dispatched.json"


def test_mamat_8_a_task_that_is_due_later_holds_its_node() -> None:
    plan = answer(DISPATCHED, "fast-edf-iit:literal-dispatched").solution
    first = min(plan.chunks, key=lambda chunk: chunk.transmission_start)
    assert (first.node, first.computation_end) == (0, 5)


def test_mamat_9_a_task_has_a_rest_at_its_deadline_only_if_6_2_4_is_broken() -> None:
    instance = io.read(PAGE.parent / DISPATCHED, exact_numbers=True)
    tau, chi = instance.cluster.tau, instance.cluster.chi
    plan = answer(DISPATCHED, "fast-edf-iit:literal-dispatched").solution
    (late,) = [task for task in instance.tasks if task.id == "b"]
    due = late.arrival + late.deadline
    sent = [chunk for chunk in plan.chunks if chunk.task == "b"]
    rest = late.load - sum(chunk.load for chunk in sent)
    assert rest == Fraction(7, 27) and max(chunk.computation_end for chunk in sent) == due
    for _ in range(3):  # the size of section 6.2.2 at the deadline: nothing changes any more
        size = min((due - due) / Fraction(tau + chi), rest)
        rest -= size
        assert (size, rest) == (0, Fraction(7, 27))
    sound = answer(DISPATCHED, "fast-edf-iit").solution  # the promise is kept: no rest
    done = {chunk.task for chunk in sound.chunks}
    for task in instance.tasks:
        if task.id in done:
            assert sum(c.load for c in sound.chunks if c.task == task.id) == task.load


TABLE_63 = {300: 1.71, 1000: 16.25, 2000: 67.24, 3000: 157.0}
"""Milliseconds of a decision of FAST-EDF-IIT, with so many tasks in the queue."""


def test_mamat_11_neither_count_of_tasks_takes_37_minutes() -> None:
    assert round(14_000 * TABLE_63[3000] / 60_000) == 37  # each as if 3,000 waited
    linear = sum(TABLE_63[3000] * n / 3000 for n in range(3_000, 17_000)) / 60_000
    assert round(linear) == 122  # O(n), as claimed
    known = sorted(TABLE_63)

    def between(n: int) -> float:
        (low, high) = next((a, b) for a, b in pairwise(known) if a <= n <= b)
        part = (n - low) / (high - low)
        return TABLE_63[low] + part * (TABLE_63[high] - TABLE_63[low])

    whole = sum(between(n) for n in range(300, 1_700)) / 1000
    assert 25 < whole < 60  # seconds, for 1,400 whole tasks
    assert round(TABLE_63[3000] / TABLE_63[300]) == 92


def test_mamat_12_what_cannot_be_met_is_below_every_bound() -> None:
    late = TaskState(0, 0.0, 3.0, 5.0, (1.0, 1.0), (1.0, 1.0))  # due at 5, looked at for 6
    assert admits(late, [], 6.0, 0.8, 2, Policy(overdue="printed"))
    assert not admits(late, [], 6.0, 0.8, 2, Policy(overdue="refuse"))
    assert "`simulate feedback --set overdue=refuse`" in ROWS["mamat-12"]
    assert Policy().overdue == "refuse"


def cut(
    load: int, deadline: int, chi: int, margin: int, nodes: int, most: int
) -> tuple[list[Fraction], Fraction]:
    """Return the chunks of section 7.2.2, at most so many, and when the last was sent.

    Costs are as estimated, tau is 1, and the cluster is idle at 0.
    """
    free, channel, rest = [Fraction(0)] * nodes, Fraction(0), Fraction(load)
    sizes: list[Fraction] = []
    now = Fraction(0)
    while rest and len(sizes) < most:
        now = max(heapq.heappop(free), channel)
        sizes.append(min((deadline - now) / (margin * (1 + chi)), rest))
        channel, rest = now + sizes[-1], rest - sizes[-1]
        heapq.heappush(free, channel + sizes[-1] * chi)
    return sizes, now


def test_mamat_13_a_task_that_is_too_large_is_cut_for_ever() -> None:
    assert cut(3, 8, 1, 2, 1, 200)[0] == [2, 1]  # 8 / (1 + 1) = 4 can be done
    assert len(cut(200, 2600, 100, 2, 16, 200)[0]) == 17
    sizes, now = cut(4, 8, 1, 2, 1, 200)
    assert sizes[:3] == [2, 1, Fraction(1, 2)] and len(sizes) == 200
    assert sum(sizes) < 4 and 0 < 8 - now < Fraction(1, 2**190)  # all of them before 8
    sizes, now = cut(5, 8, 1, 2, 1, 200)  # beyond what the node can do: the same chunks
    assert len(sizes) == 200 and now < 8

    def chunks(load: float, least: float) -> int:
        work = Workload(Cluster(1, 1.0, 1.0), (0.0,), (load,), (8.0,), horizon=20.0)
        policy = Policy(least=least, late="drop")
        run = FeedbackRun(work, Scenario(), "no-feedback", policy=policy, period=20)
        assert run.accepted == (True,)
        return len(run.trace.chunks)

    assert [chunks(4.0, 10.0**-k) for k in (2, 4, 6)] == [8, 15, 21]  # one for each halving
    assert [chunks(3.0, 10.0**-k) for k in (2, 4, 6)] == [2, 2, 2]


# Slips and measurements


def test_mamat_14_the_last_task_does_not_say_when_the_next_can_start() -> None:
    """True costs known: as if on all nodes many miss, by its own chunks few, and few get in."""
    workload, scenario = mamat7(load_from=0.6, load_to=0.6, horizon=2_000_000, seed=1)
    missed, rejected = {}, {}
    for start in ("all-nodes", "last", "balance"):
        total = FeedbackRun(workload, scenario, "ideal", policy=Policy(start=start)).total
        missed[start] = total.missed / total.settled
        rejected[start] = total.rejected / total.decided
    assert missed["all-nodes"] > 0.02 > 0.002 > max(missed["last"], missed["balance"])
    assert rejected["last"] > 4 * rejected["balance"]
    results = (ROOT / "benchmarks" / "results" / "mamat-2011.md").read_text(encoding="utf-8")
    assert "24 of 28452 miss" in results and "24 of 28,452 miss" in ROWS["mamat-14"]
    assert "ideal 44.0 ± 1.7 %" in results and "6357 of 43344 miss" in results  # 44 %, 15 %


def test_mamat_15_an_execution_time_may_equal_the_slack_behind_it() -> None:
    """On one node with unit costs: a takes 2 of 4, and b the 2 that are left."""
    tasks = (AdmissionTask("a", 0, 1, 4), AdmissionTask("b", 0, 1, 2))
    found = solve(Stream(Cluster(1, 1, 1), tasks), "fast-edf-iit", objective="accepted")
    assert found.value == 2 and found.violations == ()
    tight = (AdmissionTask("a", 0, 1, Fraction(39, 10)), tasks[1])
    assert solve(Stream(Cluster(1, 1, 1), tight), "fast-edf-iit", objective="accepted").value == 1


def test_mamat_16_idle_time_without_weights_is_more_than_has_passed() -> None:
    nodes, tau, chi, passed = 4, Fraction(1), Fraction(4), Fraction(10)
    beta = chi / (tau + chi)
    whole = (1 - beta) / (1 - beta**nodes)  # of E: the time of a load on all nodes
    printed = whole * (nodes * passed / (tau + chi)) * (tau + chi)
    weighted = whole * sum(passed * beta**k for k in range(nodes))
    assert printed > passed == weighted


def test_mamat_17_the_worst_cost_is_twice_the_estimate() -> None:
    _, scenario = mamat7(horizon=1_000_000)
    factors = [factor.chi for factor in scenario.factors]
    assert Policy().worst == 2 >= max(factors)
    assert Policy().worst / min(factors) > 10  # of actual costs it is no twofold
    assert 2 / Fraction(1, 10) == 20


def test_mamat_18_without_a_constant_no_operating_point_can_be_held() -> None:
    """Misses that a bound of .5 sets to .05, and every .1 more raises by .01."""
    bounds = [0.4, 0.6, 0.5, 0.7, 0.5, 0.6, 0.4, 0.5]
    misses = [0.05, *(0.05 + 0.1 * (bound - 0.5) for bound in bounds[:-1])]
    model = identify(bounds, misses)
    assert model.b[0] == pytest.approx(0.1) and model.offset == pytest.approx(0)
    shifted = identify(bounds, [miss + 0.02 for miss in misses])
    assert shifted.b[0] == pytest.approx(0.1) and shifted.offset == pytest.approx(0.02)
    ratios = {(miss + 0.02) / bound for bound, miss in zip(bounds, misses[1:], strict=False)}
    assert len(ratios) > 1  # as (7.3) would need them equal, where nothing carries over


@pytest.mark.parametrize(
    ("row", "page", "said"),
    [
        ("mamat-19", "mamat-2011", "between -0.12 and 0.11, within two standard errors of 0"),
        ("mamat-20", "mamat-2011", "17 to 27 % miss"),
        ("liu-5", "liu-2007", "short of it in 23 of 77 proven runs"),
    ],
)
def test_mamat_19_and_20_and_liu_5_as_measured(row: str, page: str, said: str) -> None:
    numbers = re.findall(r"-?[\d.]+\d", said)
    results = (ROOT / "benchmarks" / "results" / f"{page}.md").read_text(encoding="utf-8")
    assert said in results and f"../benchmarks/results/{page}.md" in ROWS[row]
    assert all(number in ROWS[row] for number in numbers)
