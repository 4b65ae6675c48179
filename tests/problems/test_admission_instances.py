"""The shipped streams of loads: what their files state is true, in exact numbers.

That no plan is better than the best known one is for the exact method to prove, in the battery.
"""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dlopt.problems.admission import (
    OBJECTIVES,
    Chunk,
    Decision,
    Instance,
    Solution,
    objective,
    violations,
)

F = Fraction
FOLDER = Path(__file__).parents[2] / "instances" / "admission"
FILES = sorted(FOLDER.glob("**/*.json"))

PLANS = {
    "as-it-stands": ["b1 1, a0 3, a1 1, d1 2, d0 1"],
    "between-grid-points": [
        "a1 1, a2 9/5, a0 11/5, c1 3, d2 38/15, d0 73/30, d1 31/30, b2 37/15, b1 59/30, b0 47/30"
    ],
    "bursts-6": ["a0 1/2, a1 1/2, c0 2, d1 1/2, d0 5/2", "b1 1, c0 2, f0 3, f1 2"],
    "edf-iit-2-literal-channel": ["a0 1, a1 1"],
    "edf-opr-an-literal-channel": ["a0 1"],
    "edf-opr-mn-literal-channel": ["b0 1"],
    "fast-edf-iit-literal-chunk": ["a0 9/5, a1 6/5, c0 3/5, c1 2/5, b0 1"],
    "fast-edf-iit-literal-chunk-running": ["a0 2/5, a1 8/5, b0 1, c0 57/50, c1 43/50"],
    "fast-edf-iit-literal-dispatched": ["b1 11/19, b2 8/19, a0 18/19, a1 12/19, a2 8/19"],
    "fast-edf-iit-literal-dispatched-two-nodes": ["a0 8/7, a1 6/7"],
    "fast-edf-iit-literal-edf": ["a0 1"],
    "fast-edf-iit-literal-waiting": ["a0 1"],
    "hybrid-literal-busy-channel": ["b0 2"],
    "idle-for-what-comes": ["b0 1, a0 2"],
    "later-deadline-first": ["b1 5, b0 5, a1 2"],
    "mcdf-cost-order": ["b0 1, a2 1, a1 1, c0 3"],
    "mcdf-rejects-what-edf-accepts": ["a0 3/5, a1 2/5, b0 6/5, b1 4/5"],
    "nodes-that-differ": [
        "a2 1, a1 5/2, a0 1/2, b2 2, b1 7/2, b0 1/2",
        "a2 34/37, a1 104/37, d2 84/37, a0 10/37, d0 91/37, d1 121/37",
    ],
    "setup-costs": ["b0 4, c1 1, d0 2, d1 1", "b0 4, a1 2, d0 2, d1 1"],
    "small-tasks-behind-a-large-one": ["b0 1, c1 1, d1 1, a0 6"],
    "two-of-three": ["c0 1, b1 2, b0 1"],
    "two-tasks-one-channel": ["a0 1"],
    "weights-that-differ": [
        "a0 2, c1 3, d0 7/3, d1 2/3",
        "b1 53/25, b0 47/25, d1 9/5, d0 6/5",
    ],
}
"""Plans as good as the best known: task, node and load of each chunk, as they are sent."""


def load(name: str) -> Instance:
    (path,) = (path for path in FILES if path.stem == name)
    data = json.loads(path.read_text())
    assert (data.pop("problem"), data.pop("version")) == ("admission", 1)
    return Instance.from_data(data)


def plan_of(instance: Instance, text: str) -> Solution:
    """Return the plan that sends each chunk as early as channel and node allow."""
    cluster, tasks = instance.cluster, {task.id: task for task in instance.tasks}
    channel, free, chunks = instance.channel_free, list(instance.free_times), []
    for part in text.split(", "):
        where, amount = part.split()
        task, node, amount = where[0], int(where[1:]), F(amount)
        start = max(tasks[task].arrival, channel, free[node])
        channel = start + cluster.theta_cm + amount * cluster.tau_of(node)
        free[node] = channel + cluster.theta_cp + amount * cluster.chi_of(node)
        chunks.append(Chunk(task, node, amount, start, channel, channel, free[node]))
    served = {chunk.task for chunk in chunks}
    decisions = (Decision(task.id, task.id in served, task.arrival) for task in instance.tasks)
    return Solution(tuple(decisions), tuple(chunks))


def execution_time(instance: Instance, load: Fraction, nodes: int) -> Fraction:
    """Return how long a load takes on so many free nodes, without set-up costs."""
    tau, chi = F(instance.cluster.tau), F(instance.cluster.chi)
    return load * tau / (1 - (chi / (tau + chi)) ** nodes)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_instances_say_what_they_are(path: Path) -> None:
    instance = load(path.stem)
    assert instance.name == path.stem
    assert instance.origin.startswith(("made for dlopt, ", "worked by hand: "))
    assert instance.exact is (path.stem != "random-30")
    assert {best.objective for best in instance.best_known} <= set(OBJECTIVES)
    assert bool(instance.best_known) is (path.stem in PLANS)


@pytest.mark.parametrize("name", PLANS)
def test_best_known_values_are_reached(name: str) -> None:
    instance = load(name)
    plans = [plan_of(instance, text) for text in PLANS[name]]
    for plan in plans:
        assert violations(instance, plan) == ()
        assert set(Counter((chunk.task, chunk.node) for chunk in plan.chunks).values()) == {1}
    for best in instance.best_known:
        assert best.plan_class == "single"
        assert max(objective(instance, plan, best.objective) for plan in plans) == best.value
        assert best.bound == best.value


def test_mcdf_does_not_find_the_order_that_costs_least() -> None:
    instance = load("mcdf-cost-order")

    def cost(index: int, nodes: int) -> Fraction:
        return nodes * execution_time(instance, instance.tasks[index].load, nodes)

    assert [execution_time(instance, F(1), n) for n in (1, 2)] == [4, F(16, 7)]
    fewest = (2, 1, 1)  # at 0: 8 > 6 >= 32/7, 4 <= 8, 12 <= 16
    derivatives = [cost(index, n + 1) - cost(index, n) for index, n in enumerate(fewest)]
    assert sorted(range(3), key=lambda index: -derivatives[index]) == [2, 0, 1]
    # c on one node until 12, a on two until 32/7; b has 24/7 < 4 left then, and needs both
    assert execution_time(instance, F(1), 2) <= 8 - F(32, 7) < 4
    assert cost(2, 1) + cost(0, 2) + cost(1, 2) == F(180, 7)
    # a on two nodes, b on one until 4, and c, which ends at 16, just in time, on that one
    assert 4 + execution_time(instance, F(3), 1) == 16
    assert cost(0, 2) + cost(1, 1) + cost(2, 1) == F(176, 7)


def test_mcdf_rejects_what_edf_accepts() -> None:
    instance = load("mcdf-rejects-what-edf-accepts")
    times = {(load, n): execution_time(instance, F(load), n) for load in (1, 2) for n in (1, 2, 3)}
    assert times[1, 1] == 3 > 2 >= times[1, 2] == F(9, 5)  # a needs both nodes at 0
    assert times[2, 1] == 6  # b needs one
    derivatives = 3 * times[1, 3] - 2 * times[1, 2], 2 * times[2, 2] - times[2, 1]
    assert derivatives[0] < derivatives[1]  # b goes first, and a finds one node
    plan = plan_of(instance, PLANS[instance.name][0])
    ends = {chunk.task: chunk.computation_end for chunk in plan.chunks}
    assert ends == {"a": F(9, 5), "b": F(27, 5)}


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("edf-opr-mn-literal-channel", (0, 1)),
        ("edf-opr-an-literal-channel", (0, 3)),
        ("edf-iit-2-literal-channel", (1, 2)),
    ],
)
def test_nodes_alone_would_do_what_the_channel_cannot(name: str, shared: tuple[int, int]) -> None:
    instance = load(name)
    chunks = []
    for node, task in enumerate(instance.tasks):
        sent = task.arrival + instance.cluster.theta_cm + task.load
        chunks.append(Chunk(task.id, node, task.load, task.arrival, sent, sent, sent + task.load))
    decisions = tuple(Decision(task.id, True, task.arrival) for task in instance.tasks)
    (found,) = violations(instance, Solution(decisions, tuple(chunks)))
    assert (found.kind, found.start, found.end) == ("channel-overlap", *shared)


def test_behind_the_other_the_larger_task_gets_too_little() -> None:
    instance = load("later-deadline-first")
    plan = plan_of(instance, "a0 2, b1 13/2, b0 13/4")
    (found,) = violations(instance, plan)
    assert (found.kind, found.amount) == ("load-not-conserved", 10 - F(39, 4))
    assert {chunk.computation_end for chunk in plan.chunks if chunk.task == "b"} == {15}


def test_every_task_of_the_large_stream_would_fit_alone() -> None:
    instance = load("random-30")
    assert (len(instance.tasks), instance.cluster.nodes) == (30, 8)
    for task in instance.tasks:
        least = execution_time(instance, F(task.load), 8)
        assert least < task.deadline < 4.1 * least
