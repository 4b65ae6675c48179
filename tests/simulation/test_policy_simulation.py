"""Online policies of a user's own: simulated, solved, compared and falsified."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import dlopt
from dlopt.errors import NotApplicableError, SolverError
from dlopt.generation.paper_workloads import mamat4
from dlopt.heuristics.admission import online_policy
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.admission.online_policy import ClusterState, OnlinePolicy
from dlopt.problems.admission import Chunk, Instance, Scenario, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Status
from dlopt.simulation import PolicyRun, simulate_many
from dlopt.verify import Size, falsify

TIGHT = dlopt.load("admission/as-it-stands")
"""What it has promised needs both nodes."""
BUSY = Instance(
    Cluster(2, tau=1, chi=1),
    (Task("late", 0, 4, 30, remaining=2), Task("soon", 1, 1, 9), Task("new", 6, 1, 20)),
    now=2,
    ready_times=(3, 8),
    channel_ready=4,
)
STREAM = Instance(
    Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 5), Task("b", 0, 2, 6), Task("c", 1, 4, 6))
)


@OnlinePolicy
def first_free_node(state: ClusterState, task: Task) -> Sequence[Chunk] | None:
    node = state.free_times.index(min(state.free_times))
    (chunk,) = state.send(task, [node], [task.load])
    return [chunk] if chunk.computation_end <= task.absolute_deadline else None


@OnlinePolicy
def two_at_once(state: ClusterState, task: Task) -> Sequence[Chunk] | None:
    """Ignore that the channel is busy."""
    node = state.free_times.index(min(state.free_times))
    free = replace(state, channel_free=state.now)
    return free.send(task, [node], [task.load])


def test_what_a_run_measures() -> None:
    run = PolicyRun(STREAM, first_free_node)
    assert [(d.task, d.accepted, d.at) for d in run.solution.decisions] == [
        ("a", True, 0),
        ("b", True, 0),
        ("c", False, 1),
    ]
    assert [
        (c.task, c.node, c.transmission_start, c.computation_end) for c in run.solution.chunks
    ] == [("a", 0, 0, 4), ("b", 1, 2, 6)]
    outcome = run.outcome
    assert (outcome.method, outcome.nodes, outcome.tasks) == ("first-free-node", 2, 3)
    assert (outcome.accepted, outcome.rejected, outcome.misses) == (2, 1, 0)
    assert (outcome.longest_queue, outcome.mean_queue) == (1, pytest.approx(1 / 3))
    assert outcome.drain == 5 and run.violations == () and run.checked().violations == 0
    assert run.rejected() == [(1.0, 1)] and run.waiting() == [(0.0, 1), (2.0, 0)]


def test_a_policy_knows_nothing_of_later_tasks() -> None:
    seen: list[tuple[object, str, int]] = []

    def decide(state: ClusterState, task: Task) -> Sequence[Chunk] | None:
        seen.append((state.now, task.id, len(state.chunks)))
        return first_free_node.decide(state, task)  # type: ignore[return-value]

    PolicyRun(STREAM, OnlinePolicy(decide))
    assert seen == [(0, "a", 0), (0, "b", 1), (1, "c", 2)]


def test_chunks_that_are_over_are_not_in_the_state() -> None:
    state = ClusterState(STREAM.cluster, 0, (0, 0), 0)
    later = state.after(state.send(STREAM.tasks[0], [0], [2]))
    assert (later.free_times, later.channel_free, len(later.chunks)) == ((4, 0), 2, 1)
    over = later.at(4)
    assert (over.free_times, over.channel_free, over.chunks) == ((4, 4), 4, ())


def test_simulate_takes_a_policy_or_its_registered_name(method_table: object) -> None:
    dlopt.register("admission", "my-greedy", first_free_node)
    stream = mamat4(system_load=0.5, horizon=300_000, seed=1)
    named = dlopt.simulate(stream, "my-greedy", check=True)
    assert named.method == "my-greedy" and named.violations == 0 < named.rejected
    direct = dlopt.simulate(stream, first_free_node, check=True)
    assert replace(direct, method="my-greedy") == named


def test_solve_and_compare_check_its_plans(method_table: object) -> None:
    dlopt.register("admission", "my-greedy", first_free_node)
    result = dlopt.solve(STREAM, "my-greedy")
    assert (result.value, result.plan_class) == (2, "single")
    rows = {row.method.name: row.gap_to_best for row in dlopt.compare(STREAM).rows}
    assert rows["my-greedy"] == 0


def test_a_policy_that_breaks_a_rule_is_found_out() -> None:
    outcome = dlopt.simulate(STREAM, two_at_once, check=True)
    assert outcome.violations and outcome.misses == 1
    kinds = {violation.kind for violation in PolicyRun(STREAM, two_at_once).violations}
    assert kinds == {"channel-overlap", "deadline"}
    finding = falsify("admission", two_at_once, examples=300).finding
    assert finding is not None and finding.method == "two-at-once"


def test_nothing_breaks_the_documented_policy_even_on_busy_clusters() -> None:
    search = falsify("admission", first_free_node, examples=300, size=Size(busy=True))
    assert search.finding is None and search.tried == 300


def test_a_busy_cluster_is_planned_with_its_promises() -> None:
    run = PolicyRun(BUSY, first_free_node)
    assert run.violations == () and run.outcome.promised == 2
    assert [(c.task, c.node, c.load, c.transmission_start) for c in run.solution.chunks] == [
        ("soon", 0, 1, 4),
        ("late", 0, 2, 6),
        ("new", 1, 1, 8),
    ]


def test_a_promise_must_not_be_rejected(method_table: object) -> None:
    refuse = OnlinePolicy(lambda state, task: None, "refuse")
    with pytest.raises(PromiseError, match="refuse rejects soon, which is promised"):
        dlopt.simulate(BUSY, refuse)
    with pytest.raises(PromiseError, match="first-free-node rejects a, which is promised"):
        dlopt.simulate(TIGHT, first_free_node)
    dlopt.register("admission", "refuse", refuse)
    result = dlopt.solve(BUSY, "refuse")
    assert result.status is Status.UNKNOWN and "which is promised" in str(result.reason)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda state, task: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda state, task: True, "TypeError: 'bool' object is not iterable"),
        (lambda state, task: ["a"], "TypeError: decide must return chunks of task a, got 'a'"),
        (
            lambda state, task: state.send(replace(task, id="z"), [0], [task.load]),
            "TypeError: decide must return chunks of task a, got Chunk",
        ),
    ],
)
def test_a_policy_that_fails_is_named(answer: object, message: str) -> None:
    with pytest.raises(SolverError, match=f"mine failed: {message}"):
        dlopt.simulate(STREAM, OnlinePolicy(answer, "mine"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("exact", "exact is no online algorithm: it decides on all tasks at once"),
        ("edf-opr-mm", r"unknown algorithm 'edf-opr-mm' \(did you mean edf-opr-mn"),
        ("qqqqqqqq", "unknown algorithm 'qqqqqqqq' .`dlopt methods admission` lists"),
        (3, "an algorithm's name is needed, not a int"),
    ],
)
def test_what_is_no_online_algorithm(name: str, message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        dlopt.simulate(STREAM, name)


def test_failures_and_other_problems_are_refused() -> None:
    with pytest.raises(NotApplicableError, match="first-free-node cannot plan again"):
        dlopt.simulate(STREAM, first_free_node, scenario=Scenario())
    with pytest.raises(NotApplicableError, match="is an online policy for admission"):
        first_free_node(dlopt.load("iit/three-nodes"))


def test_worker_processes_load_the_policies(tmp_path: Path, method_table: object) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import dlopt\n"
        "policy = dlopt.OnlinePolicy(lambda state, task: None, 'reject-all')\n"
        "dlopt.register('admission', 'reject-all', policy)\n"
    )
    (point,) = simulate_many(
        "mamat4",
        "reject-all",
        loads=[0.5],
        seeds=[1, 2],
        processes=2,
        parameters={"horizon": 300_000},
        imports=[str(file)],
    )
    assert [outcome.reject_ratio for outcome in point.outcomes] == [1, 1]


@pytest.mark.parametrize("name", [one.name for one in dlopt.list_instances("admission")])
def test_no_shipped_instance_refutes_a_sound_policy(name: str, method_table: object) -> None:
    dlopt.register("admission", "my-greedy", first_free_node)
    result = dlopt.solve(dlopt.load(name), "my-greedy")
    assert result.violations == ()
    assert result.status is Status.FEASIBLE or "which is promised" in str(result.reason)


@OnlinePolicy
def endless(state: ClusterState, task: Task) -> Sequence[Chunk] | None:
    while task.load:
        pass
    return None


def test_a_policy_that_never_ends_is_given_up(method_table: object) -> None:
    text = "endless failed: it has not decided on the stream within 0.05 s"
    with pytest.raises(SolverError, match=text):
        dlopt.simulate(STREAM, endless, time_limit_s=0.05)
    run = {"seeds": [1], "parameters": {"horizon": 300_000}, "time_limit_s": 0.05}
    dlopt.register("admission", "endless", endless)
    with pytest.raises(SolverError, match=text):
        simulate_many("mamat4", ["endless"], **run)  # type: ignore[arg-type]
    assert dlopt.simulate(STREAM, first_free_node, time_limit_s=60).accepted == 2
    with pytest.raises(NotApplicableError, match=r"time_s .* must be a positive, finite number"):
        dlopt.simulate(STREAM, first_free_node, time_limit_s=0)


def test_the_chunks_of_a_task_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_policy, "MOST_CHUNKS", 100)

    def repeated(state: ClusterState, task: Task) -> Iterator[Chunk]:
        return itertools.repeat(state.send(task, [0], [task.load])[0])

    with pytest.raises(SolverError, match="decide returns more than 100 chunks of task a"):
        dlopt.simulate(STREAM, OnlinePolicy(repeated))
