"""Every row of docs/errata.md but those on Mamat 2011 and Chen 2001: what is refuted and right.

A row that names methods in pairs is computed by the pairs, every other one by a test of its own,
`test_PAPER_NUMBER_...`, here, in `test_errata_mamat.py` or in `test_errata_chen.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from dlopt import generate, io, registry, solve
from dlopt.heuristics.bag.gds import GdsScheduler, LiteralVariant
from dlopt.heuristics.bag.idle_intervals import IdleIntervals
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Instance as Stream
from dlopt.problems.admission import Task as AdmissionTask
from dlopt.problems.bag import Instance as Bag
from dlopt.problems.bag import Machine
from dlopt.problems.bag import Task as BagTask
from dlopt.problems.cluster import Cluster
from dlopt.result import Status
from tests.errata_page import FLAWS, PAGE, PAIR, ROOT, ROW, ROWS, TEXT, answer, shares


def pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield instances, the method that follows the refuted place, and the sound one."""
    yield from PAIR.findall(text)


def objective_of(path: str, method: str) -> str | None:
    """Return the objective of a method that has one only."""
    entry = registry.method(io.read(PAGE.parent / path).problem, method)
    return entry.objectives[0] if len(entry.objectives) == 1 else None


ALL = list(pairs(TEXT))


def test_every_pair_of_the_page_is_read() -> None:
    assert len(ALL) == TEXT.count("` against `") > 30


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


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((\.\./instances/[^)]+)\)", TEXT))))
def test_instances_of_the_page_are_there(path: str) -> None:
    assert (PAGE.parent / path).resolve().is_file()


def test_methods_of_the_page_are_registered_and_all_flawed_ones_are_there() -> None:
    """All that have one slip; of those as printed whole, each problem that has any."""
    known = {entry.name for entry in registry.methods()}
    told = set(re.findall(r"`([a-z0-9-]+:literal[a-zA-Z0-9-]*)`", TEXT))
    assert told <= known
    flaws = {f"multi-stage:literal-{flaw}" for flaw in FLAWS}
    assert "`multi-stage:literal-F1` and so on" in ROWS["mamat-5"]
    flawed = {name for name in known if ":literal-" in name} - flaws
    assert flawed <= told
    whole = {entry.name for entry in registry.methods() if entry.name.endswith(":literal")}
    admission = {entry.name for entry in registry.methods() if entry.stem == "admission"}
    assert whole - admission <= told | {"multi-stage:literal", "gds:literal"}


def test_names_that_are_historical_are_said_to_be() -> None:
    """Those of list 4 and their like, on the page and in the registry."""
    part = re.search(r"^## Ways.*?(?=^## )", TEXT, re.MULTILINE | re.DOTALL)
    assert part is not None
    named = set(re.findall(r"`([a-z0-9-]+:literal[a-z-]*)` against", part[0]))
    said = re.search(r"the name is historical: (.*?) are\s+printed in no paper", TEXT, re.DOTALL)
    assert said is not None
    historical = set(re.findall(r"`([^`]+)`", said[1]))
    assert len(named) == 5 and named <= historical
    marked = {entry.name for entry in registry.methods() if "not in a paper" in entry.summary}
    assert marked == historical
    assert not any(
        "as printed" in entry.summary for entry in registry.methods() if entry.name in historical
    )


# Rows that are computed, by their identifier: Lin


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
    """From n = C4 + C5 ln(C1 + C2 n), with k for the logarithm."""
    beta, phi = 2 / 3, 0.25
    c1, c2, c3 = phi - (1 - beta) * math.log(beta), -phi * math.log(beta), phi
    c4, c5 = math.log(c3) / math.log(beta), -1 / math.log(beta)
    low, high = 0.0, 100.0
    for _ in range(200):  # the n at which both sides agree
        n = (low + high) / 2
        low, high = (n, high) if n < c4 + c5 * math.log(c1 + c2 * n) else (low, n)
    k = math.log(c1 + c2 * n)
    slope = phi * (1 - beta**n) + (phi * n + 1 - beta) * beta**n * math.log(beta)
    assert slope == pytest.approx(0, abs=1e-9)  # where the derivative of B(n) vanishes
    left = (math.exp(k) - c1) / c2
    assert left == pytest.approx(n) == pytest.approx(c4 + c5 * k)
    assert left != pytest.approx(c4 - k, rel=0.01)  # the line before the last, as printed
    assert math.exp(k) == pytest.approx(c1 + c2 * c4 + phi * k)
    assert math.exp(k) != pytest.approx(c2 * c4 - phi * k, rel=0.01)  # the last line
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
    sound = [answer(path, method) for method in ("mcdf", "edf-opr-mn")]
    assert [found.value for found in sound] == [2, 3]
    assert [found.violations for found in sound] == [(), ()]


def test_lin_7_mcdf_and_edf_beat_each_other() -> None:
    path = "../instances/admission/counterexamples/mcdf-rejects-what-edf-accepts.json"
    assert path in ROWS["lin-7"]
    assert [answer(path, method).value for method in ("mcdf", "edf-opr-mn")] == [1, 2]
    numbers = ((6, 14), (1, 4), (6, 26), (2, 27))
    tasks = tuple(AdmissionTask(f"t{k}", 0, *both) for k, both in enumerate(numbers))
    other = Stream(Cluster(3, 1, 3), tasks)
    values = [solve(other, method, objective="accepted").value for method in ("mcdf", "edf-opr-mn")]
    assert values == [3, 2]


# Liu


def test_liu_2_shuffle_is_never_called_as_all_seven_tasks_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    shuffle = GdsScheduler.shuffle

    def counted(self: GdsScheduler, site: int) -> bool:
        calls.append(site)
        return shuffle(self, site)

    monkeypatch.setattr(GdsScheduler, "shuffle", counted)
    path = "../instances/bag/figure-5.json"
    assert answer(path, "gds").value == answer(path, "gds-without-shuffle").value == 7
    assert calls == []
    eighth = "../instances/bag/counterexamples/gds-literal-evict-all.json"  # and one task more
    assert answer(eighth, "gds").value == 7 and calls == [0]


@pytest.mark.parametrize("variants", [(), (LiteralVariant.EVICT_ALL,)])
def test_liu_3_slacks_that_shuffle_looks_past(
    monkeypatch: pytest.MonkeyPatch, variants: tuple[LiteralVariant, ...]
) -> None:
    """Firm tasks of 2 end at 3, 6, 9..., and critical ones, which go first, stand behind them.

    Each critical task looks past all slacks of 1 between the firm ones, from the first on, unless
    all tasks are taken out before.
    """
    looks: list[int] = []
    earliest = IdleIntervals.earliest

    def counted(self: IdleIntervals, start: Any, end: Any, length: Any) -> Any:
        found = earliest(self, start, end, length)
        looks.append(sum(found is None or low <= found[0] for low, _ in self))
        return found

    monkeypatch.setattr(IdleIntervals, "earliest", counted)
    for half in (5, 10, 20):
        last = 3 * half
        ends = range(1, half + 1)
        bag = tuple(
            BagTask(f"{word}{k}", 2, absolute_deadline=due, priority=word)
            for k in ends
            for word, due in (("firm", 3 * k), ("critical", last + 2 * k))
        )
        gds = GdsScheduler(InstanceArrays(Bag(bag, (Machine("m"),))), variants=variants)
        assert gds.schedule(0, gds.queues[0]) == []
        assert gds.shuffle(0)
        assert len(looks) == 2 * half
        assert sum(looks) == (2 * half if variants else half * (half + 2))
        looks.clear()


def test_liu_10_gds_and_edf_beat_each_other() -> None:
    path = "../instances/bag/counterexamples/gds-below-edf.json"
    assert path in ROWS["liu-10"]
    assert [answer(path, method).value for method in ("gds", "edf")] == [2, 3]
    tasks = (
        BagTask("short", 1, absolute_deadline=3, priority="critical"),
        BagTask("long", 2, absolute_deadline=2),
        BagTask("next", 1, absolute_deadline=4),
    )
    bag = Bag(tasks, (Machine("m"),))
    assert solve(bag, "gds", objective="accepted").value == 3


# Min


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


def test_min_5_best_fit_is_close_to_the_best_of_each_batch_and_far_from_that_of_all() -> None:
    results = (ROOT / "benchmarks" / "results" / "min-2001.md").read_text(encoding="utf-8")
    (row,) = re.finditer(r"^\| 5\.9 \| 1900 \| 1 \| (\d+ \|.*) \|$", results, re.MULTILINE)
    bound, _, best_fit, _, clairvoyant, batches = row[1].split(" | ")
    told = (best_fit, batches, clairvoyant, bound)
    assert told == ("503", "504", "225", "181")
    assert all(number in ROWS["min-5"] for number in (*told, "548"))
    assert "(548)" in results  # the mean of ten seeds


def test_min_11_refined_plans_reject_fewer_than_by_priority_and_more_than_best_fit() -> None:
    sums = dict.fromkeys(("co-rspb", "co-rsbfr", "co-rsbf"), 0)
    for seed in range(3):
        instance = generate("coreservation", "min-5", requests=100, seed=seed)
        for method in sums:
            sums[method] += solve(instance, method, objective="rejections").value
    assert sums["co-rspb"] > sums["co-rsbfr"] > 1.4 * sums["co-rsbf"]


# All rows, of this file and the others


def computed() -> dict[str, set[str]]:
    """Return rows that tests name, by file: `test_liu_2_...` is of liu-2, `2_and_3` of two."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").glob("test_errata*.py")):
        rows = found[path.name] = set()
        for name in re.findall(r"^def test_(\w+)\(", path.read_text("utf-8"), re.MULTILINE):
            paper = ""
            for word in name.split("_"):
                if word in ("lin", "mamat", "liu", "min", "chen"):
                    paper = word
                elif word.isdigit() and paper:
                    rows.add(f"{paper}-{word}")
                elif word != "and":
                    break
    return found


def test_every_row_is_computed() -> None:
    assert len(ROWS) == len(ROW.findall(TEXT))
    by_pair = {row for row, text in ROWS.items() if PAIR.search(text)}
    by_name = computed()
    assert set(by_name) == {"test_errata.py", "test_errata_chen.py", "test_errata_mamat.py"}
    named = set().union(*by_name.values())
    assert named <= set(ROWS)  # no test of a row that there is not
    assert set(ROWS) - by_pair - named == set()
    numbers: dict[str, list[int]] = {}
    for row in ROWS:
        paper, number = row.split("-")
        numbers.setdefault(paper, []).append(int(number))
    for paper, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), paper


def test_every_table_has_rows_with_identifiers() -> None:
    """No row of the page escapes the test above."""
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    heads = [line for line in rows if line.startswith("| id |")]
    assert len(rows) == len(ROWS) + len(heads)
