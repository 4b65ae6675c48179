"""Entries of solutions as rows: names, indices and end times belong together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import dlopt
from dlopt.presentation.schedule_remarks import schedule_remarks
from dlopt.presentation.schedule_rows import schedule_rows, schedule_to_data
from dlopt.problems import admission, bag, coreservation, dag
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Header
from dlopt.result import Result, Status
from tests.once import solve

CASES = [
    ("dag", "heft"),
    ("bag", "min-min"),
    ("coreservation", "co-rspb"),
    ("admission", "edf-iit-2"),
    ("multistage", "multi-stage"),
]


def shipped_of(stem: str) -> list[Header]:
    found = [shipped.instance for shipped in dlopt.list_instances(stem)]
    return [one for one in found if "counterexamples" not in one.name]


@pytest.mark.parametrize(("stem", "method"), CASES)
def test_fields_of_files_are_kept(stem: str, method: str) -> None:
    """Tables only ever have more than what a file of the solution has."""
    for instance in shipped_of(stem)[:6]:
        result = solve(instance, method)
        tables = schedule_rows(instance, result.solution)
        for name, rows in tables.items():
            if name == "dropped":  # of what is not in the solution
                continue
            entries = getattr(result.solution, name)
            assert len(rows) == len(entries)
            for row, entry in zip(rows, entries, strict=True):
                assert {key: row[key] for key in type(entry).__slots__} == {
                    key: getattr(entry, key) for key in type(entry).__slots__
                }


def test_the_end_of_a_placement_is_that_of_the_makespan() -> None:
    for shipped in dlopt.list_instances("dag"):
        instance = shipped.instance
        result = solve(instance, "heft")
        rows = schedule_rows(instance, result.solution)["placements"]
        if not any(graph.output for graph in instance.graphs):  # type: ignore[attr-defined]
            assert max(row["end"] for row in rows) == result.value  # type: ignore[type-var]
        for row in rows:
            graph = next(g for g in instance.graphs if g.id == row["graph_id"])  # type: ignore[attr-defined]
            assert graph.tasks[row["task"]].id == row["task_id"]
            assert instance.machines[row["machine"]].id == row["machine_id"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "method"),
    [("admission/as-it-stands", "exact"), ("multistage/maintenance", "multi-stage")],
)
def test_the_end_of_a_task_is_that_of_its_last_chunk(name: str, method: str) -> None:
    result = solve(dlopt.load(name), method)
    tables = schedule_rows(result.instance, result.solution)
    for row in tables["decisions"]:
        ends = [one["computation_end"] for one in tables["chunks"] if one["task"] == row["task"]]
        assert row["end"] == max(ends, default=None)
        assert (row["reason"] is None) == row["accepted"]


def test_a_task_that_was_sent_before_has_an_end() -> None:
    cluster = Cluster(1, tau=1, chi=1)
    sent = admission.Commitment("a", 0, 0, 2, 4)
    tasks = [admission.Task("a", 0, 2, 9)]
    instance = admission.Instance(cluster, tasks, now=1, committed=[sent])
    solution = admission.Solution([admission.Decision("a", True, 0)], [])
    (row,) = schedule_rows(instance, solution)["decisions"]
    assert row["end"] == 4


def test_shares_and_grants_have_their_windows() -> None:
    result = solve(dlopt.load("coreservation/across-machines"), "co-rspb")
    windows = {one.id: (one.start, one.end) for one in result.instance.requests}
    tables = schedule_rows(result.instance, result.solution)
    for row in tables["shares"]:
        assert (row["start"], row["end"]) == windows[row["request"]]
        assert row["machine_id"] == result.instance.machines[row["machine"]].id
    mixed = solve(dlopt.load("multistage/maintenance"), "multi-stage")
    for row in schedule_rows(mixed.instance, mixed.solution)["grants"]:
        known = next(one for one in mixed.instance.reservations if one.id == row["reservation"])
        assert (row["start"], row["end"]) == (known.start, known.end)


def test_a_site_is_named_where_there_are_several() -> None:
    result = solve(dlopt.load("bag/small-grid"), "gds")
    for row in schedule_rows(result.instance, result.solution)["placements"]:
        machine = result.instance.machines[row["machine"]]
        assert row["site_id"] == result.instance.sites[machine.site].id


def test_what_there_is_not_has_no_name() -> None:
    """An unsound plan may name machines and tasks that do not exist."""
    graphs = dlopt.load("dag/chain")
    placed = dag.Solution((dag.Placement(7, 0, 0, 0), dag.Placement(0, 0, 99, 0)))
    first, second = schedule_rows(graphs, placed)["placements"]
    assert (first["graph_id"], first["task_id"], first["end"]) == (None, None, None)
    assert (second["machine_id"], second["end"]) == (None, None)
    machines = bag.Instance(etc=((1,),))
    (row,) = schedule_rows(machines, bag.Solution((bag.Placement("t0", -1, 0, 1),)))["placements"]
    assert row["machine_id"] is None
    requests = dlopt.load("coreservation/one-by-one")
    share = coreservation.Share("nobody", 0, 99, 1)
    (row,) = schedule_rows(requests, coreservation.Solution((), (share,)))["shares"]
    assert row["machine_id"] is None and "start" not in row


def test_ends_are_exact_or_floats_as_the_numbers_are() -> None:
    task = dag.Task("a", costs=(Fraction(1, 3),))
    instance = dag.Instance((dag.Machine("m"),), (dag.Graph("g", (task,)),))
    for start, end in ((1, Fraction(4, 3)), (0.5, 5 / 6)):
        solution = dag.Solution((dag.Placement(0, 0, 0, start),))
        (row,) = schedule_rows(instance, solution)["placements"]
        assert row["end"] == pytest.approx(end) and type(row["end"]) is type(end)


def test_tasks_that_are_dropped_have_a_table_message_and_data() -> None:
    """Of every method: the exact one does not name them in its reason."""
    tasks = tuple(bag.Task(f"t{i}", 2, absolute_deadline=2) for i in range(9))
    instance = bag.Instance(tasks, (bag.Machine("m"),))
    one = bag.Solution((bag.Placement("t1", 0, 0, 2),))
    names = ["t0", *(f"t{i}" for i in range(2, 9))]
    assert [row["dropped"] for row in schedule_rows(instance, one)["dropped"]] == names
    row = {"dropped": "t0", "priority": "firm", "absolute_deadline": 2}
    assert schedule_to_data(instance, one)["dropped"][0] == row
    text = "dropped: 8 tasks (t0, t2, t3, t4, t5 and 3 more)"
    result = Result(Status.FEASIBLE, one, instance=instance, reason="a bound")
    assert list(schedule_remarks(instance, result)) == [text]
    assert list(schedule_remarks(instance, replace(result, reason=f"{text}; a bound"))) == []
    assert "dropped: 8 tasks (t0, t2, t3, t4, t5 and 3 more)" in str(result)
    assert str(replace(result, reason=text)).count("8 tasks") == 1
    everything = bag.Solution(tuple(bag.Placement(task.id, 0, 0, 2) for task in tasks))
    assert list(schedule_remarks(instance, replace(result, solution=everything))) == []
    assert schedule_rows(instance, everything)["dropped"] == []
    assert list(schedule_remarks(None, result)) == []


def test_tasks_without_a_promise_that_end_late_are_named() -> None:
    """The number of accepted tasks leaves them out, although their decisions are positive."""
    cluster = Cluster(1, tau=1, chi=1)
    tasks = tuple(admission.Task(name, 0, 2, 5) for name in "abc")
    instance = admission.Instance(cluster, tasks)
    plan = dlopt.solve(instance, "fifo-anna")
    assert plan.value == 1 and plan.solution is not None
    remark = "late, not counted as accepted: 2 tasks (b, c)"
    assert list(schedule_remarks(instance, plan)) == [remark]
    assert remark in str(plan)
    late = {row["task"]: row["late"] for row in schedule_rows(instance, plan.solution)["decisions"]}
    assert late == {"a": False, "b": True, "c": True}
    promised = dlopt.solve(instance, "edf-iit-2")
    rows = schedule_rows(instance, promised.solution)["decisions"]
    assert not any("late" in row for row in rows)
    assert list(schedule_remarks(instance, promised)) == []


def test_a_task_is_late_in_a_table_if_it_is_for_the_value() -> None:
    """As floats the arrival and the deadline add up to the end, which is after their sum."""
    instance = admission.Instance(
        Cluster(1, tau=0.0, chi=1.0), (admission.Task("a", 0.1, 0.2, 0.2),)
    )
    end = 0.1 + 0.2
    assert instance.tasks[0].absolute_deadline == end > 0.3
    plan = admission.Solution(
        (admission.Decision("a", True, 0.1, promised=False),),
        (admission.Chunk("a", 0, 0.2, 0.1, 0.1, 0.1, end),),
    )
    assert admission.objective(instance, plan) == 0
    assert [row["late"] for row in schedule_rows(instance, plan)["decisions"]] == [True]
