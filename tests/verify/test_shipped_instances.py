"""Shipped instances are tried first; heuristics that ignore a feature are refuted in any case."""

import math

import pytest

from dlopt import Result, Status
from dlopt.instance_library import list_instances
from dlopt.problems import bag
from dlopt.problems.dag import Placement
from dlopt.problems.dag import Solution as Schedule
from dlopt.problems.dag import objective as makespan
from dlopt.verify import SearchResult, falsify
from dlopt.verify.shipped_instances import MAX_PROOF_SIZE, shipped_instances
from dlopt.verify.shrinking import instance_size


def test_the_shipped_instances_come_first():
    """Small ones first; they are no part of the limit on instances."""
    search = falsify("bag", "gds:literal-duplicate", examples=1)
    assert search.phase == "shipped instances"
    assert search.shipped >= 1
    assert search.tried == 0
    assert search.not_applicable == 0
    nothing = falsify("dag", "heft", examples=5)
    assert nothing.finding is None
    assert nothing.shipped == len(list_instances("dag"))
    assert nothing.tried == 5
    assert falsify("dag", "heft", examples=5, shipped=False).shipped == 0


def test_exact_methods_get_small_shipped_instances_only():
    small = shipped_instances("bag", small=True)
    assert 0 < len(small) < len(shipped_instances("bag"))
    assert max(math.prod(instance_size(one)[:2]) for one in small) <= MAX_PROOF_SIZE
    assert all(one.exact for one in shipped_instances("admission"))
    assert not any(one.exact for one in shipped_instances("admission", floats=True))


def test_a_stream_on_a_busy_cluster_comes_last():
    assert [one.name for one in shipped_instances("admission")][-2:] == [
        "hybrid-literal-busy-channel",
        "as-it-stands",
    ]


def in_file_order(instance, *, objective, limits, hint, seed):
    """Place the tasks in the order of their numbers, each where it ends first."""
    paths, free = instance.paths, [0] * len(instance.machines)
    ends, placed = {}, []
    for g, graph in enumerate(instance.graphs):
        for t in range(len(graph.tasks)):
            options = []
            for m, at in enumerate(free):
                into = [edge for edge in graph.edges if edge.target == t]
                ready = [graph.arrival, at]
                for edge in into:
                    end, machine = ends[g, edge.source]
                    ready.append(end + paths.transfer(edge.data, machine, m))
                cost = instance.cost(g, t, m)
                if cost is not None:
                    options.append((max(ready) + cost, max(ready), m))
            end, start, m = min(options)
            free[m], ends[g, t] = end, (end, m)
            placed.append(Placement(g, t, m, start))
    plan = Schedule(tuple(placed))
    return Result(Status.FEASIBLE, plan, value=makespan(instance, plan, objective))


def without_eligibility(instance, *, objective, limits, hint, seed):
    """Run every task on the first machine, one after the other in a topological order."""
    placed, time = [], 0
    for g, graph in enumerate(instance.graphs):
        time = max(time, graph.arrival)
        for task in graph.order:
            placed.append(Placement(g, task, 0, time))
            time += instance.cost(g, task, 0)
    plan = Schedule(tuple(placed))
    return Result(Status.FEASIBLE, plan, value=makespan(instance, plan, objective))


@pytest.mark.parametrize("shipped", [True, False])
@pytest.mark.parametrize(
    ("method", "text", "size"),
    [(in_file_order, "KeyError: (0, 1)", (2, 1)), (without_eligibility, "TypeError", (2, 2))],
)
def test_a_heuristic_that_ignores_a_feature_is_refuted(method, text, size, shipped):
    found = falsify(
        "dag", method, objective="makespan", kind="failed", examples=400, shipped=shipped
    ).finding
    assert text in found.texts[0]
    assert found.size == size


@pytest.mark.parametrize(
    ("stem", "method", "objective", "reasons"),
    [
        ("bag", "gds", "accepted", {"the objective does not suit the instance"}),
        ("multistage", "multi-stage", None, {"there are set-up costs", "the nodes differ"}),
    ],
)
def test_the_reasons_for_which_a_method_is_skipped_are_counted(stem, method, objective, reasons):
    search = falsify(stem, method, objective=objective, examples=60, shipped=False)
    assert {reason for reason, _ in search.skip_reasons} == reasons
    assert sum(count for _, count in search.skip_reasons) == search.not_applicable > 0
    assert search.skip_reason.startswith(search.skip_reasons[0][0])


def test_few_reasons_are_named_in_a_line():
    reasons = tuple((f"reason {n}", 9 - n) for n in range(6))
    search = SearchResult(None, 1, 39, 1.0, skip_reasons=reasons)
    assert search.skip_reason.startswith("reason 0 (9); reason 1 (8); ")
    assert search.skip_reason.endswith("reason 3 (6); other reasons (9)")


def test_a_search_for_gaps_begins_with_small_shipped_instances(monkeypatch):
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 0)
    search = falsify("bag", "olb", target="gap", examples=1)
    small = shipped_instances("bag", small=True)
    assert 0 < search.shipped <= len(small)
    assert search.tried + search.not_applicable == 1
    assert search.phase == "shipped instances"
    assert search.finding.gap > 0 and search.finding.instance in small
    drawn = falsify("bag", "olb", target="gap", examples=1, shipped=False)
    assert drawn.shipped == 0 and drawn.phase != "shipped instances"


def test_a_gap_that_cannot_be_larger_ends_the_search_among_shipped_instances(monkeypatch):
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 0)
    search = falsify("bag", rejects_all, target="gap", objective="accepted", examples=50)
    assert (search.finding.gap, search.shipped, search.tried) == (1, 1, 0)


def rejects_all(instance, *, objective, limits, hint, seed):
    """Run nothing."""
    return Result(Status.FEASIBLE, bag.Solution(()), value=0, plan_class="any")
