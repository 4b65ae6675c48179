"""The papers' workloads: the distributions they state, and what they leave open as parameters."""

from __future__ import annotations

import inspect
import math
import random
from fractions import Fraction
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.paper_workloads import WORKLOADS, Workload, lin5, mamat4, waiting
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.admission import Commitment, Instance, Task
from dlopt.problems.cluster import Cluster

COSTS = (1.0, 1000.0, 500.0, 500.0)
RULE = OptimalPartition(*COSTS)
REDRAWN = 1 + math.exp(-0.5) / math.sqrt(2 * math.pi) / 0.8413447460685429
"""Mean of a normal number with mean and deviation 1, if it is positive."""
FOLDED = math.sqrt(2 / math.pi) * math.exp(-0.5) + 2 * 0.8413447460685429 - 1
"""Mean of its absolute value."""


def near(value: float, wanted: float, share: float) -> bool:
    return abs(value - wanted) <= share * wanted


# mamat4


def test_mamat4_has_the_arrivals_loads_and_deadlines_of_the_chapter() -> None:
    stream = mamat4(system_load=1, horizon=2e8, seed=5)
    interval = RULE.execution_time(1000.0, 1) / 256  # (4.12)
    assert near(len(stream), 2e8 / interval, 0.02)
    gaps = [b - a for a, b in zip((0.0, *stream.arrivals), stream.arrivals, strict=False)]
    assert near(mean(gap**2 for gap in gaps), 2 * interval**2, 0.05)  # exponential
    assert near(mean(stream.loads), 1000 * REDRAWN, 0.02)
    average = 2 * RULE.execution_time(1000.0, 256)  # (4.6) on all nodes, beyond n* = 63
    assert RULE.n_star(1000.0) == 63
    assert all(average / 2 <= due <= 3 * average / 2 for due in stream.deadlines)
    assert near(mean(stream.deadlines), average, 0.02)
    for load, due in zip(stream.loads, stream.deadlines, strict=True):
        assert due > RULE.execution_time(load, 256)
    assert stream.arrivals[-1] < stream.horizon == 2e8 and stream.begin == 0


@pytest.mark.parametrize(("rule", "wanted"), [("redraw", REDRAWN), ("absolute", FOLDED)])
def test_what_becomes_of_a_negative_load_is_a_parameter(rule: str, wanted: float) -> None:
    stream = mamat4(system_load=1, horizon=1e8, loads=rule, seed=1)
    assert min(stream.loads) > 0 and near(mean(stream.loads), 1000 * wanted, 0.02)
    share = 0.15866 / 0.84134  # of a normal number to be negative
    redrawn = stream.redrawn_loads / len(stream)
    assert near(redrawn, share, 0.1) if rule == "redraw" else redrawn < 0.01


def test_the_realised_load_is_that_of_the_tasks_drawn() -> None:
    stream = mamat4(system_load=0.7, horizon=1e8, seed=2)
    work = sum(RULE.execution_time(load, 1) for load in stream.loads)
    assert stream.realised_load == pytest.approx(work / (256 * 1e8))
    assert stream.realised_load is not None and near(stream.realised_load, 0.7 * REDRAWN, 0.03)
    assert stream.system_load == 0.7


TIGHT: dict[str, Any] = {"dc_ratio": 1, "theta_cm": 0, "theta_cp": 0, "horizon": 4e7, "seed": 3}


def test_deadlines_that_no_task_meets_are_drawn_again_by_the_rule_asked_for() -> None:
    simple = OptimalPartition(1.0, 1000.0)
    streams = {
        rule: mamat4(system_load=1, deadlines=rule, **TIGHT)
        for rule in ("redraw-deadline", "redraw-task", "raise")
    }
    arrivals = {stream.arrivals for stream in streams.values()}
    assert len(arrivals) == 1  # from a stream of their own
    most = 1.5 * simple.execution_time(1000.0, 256)
    for rule, stream in streams.items():
        for load, due in zip(stream.loads, stream.deadlines, strict=True):
            least = simple.execution_time(load, 256)
            assert due > least * (1 - 1e-12) if rule == "raise" else due > least
            assert due <= most or rule == "raise"
    # Only where all loads are kept can some be too large for any deadline.
    assert max(streams["raise"].loads) > 1500 > max(streams["redraw-deadline"].loads)
    means = {rule: mean(stream.loads) for rule, stream in streams.items()}
    assert means["raise"] > means["redraw-deadline"] > means["redraw-task"]
    assert streams["raise"].redrawn_deadlines == 0
    assert streams["redraw-task"].redrawn_loads > streams["raise"].redrawn_loads
    assert streams["redraw-deadline"].redrawn_deadlines > 0


def test_execution_times_can_be_those_of_the_best_number_of_nodes() -> None:
    stream = mamat4(system_load=1, horizon=1e7, reference="best", seed=1)
    average = 2 * RULE.execution_time(1000.0, 63)
    assert max(stream.deadlines) <= 1.5 * average < RULE.execution_time(1000.0, 256) * 1.5
    for load, due in zip(stream.loads, stream.deadlines, strict=True):
        assert due > RULE.execution_time(load, RULE.n_star(load, 256) or 256)
    free: dict[str, Any] = {"theta_cm": 0, "horizon": 1e7}
    assert mamat4(reference="best", **free) == mamat4(reference="all", **free)


# lin5


def test_lin5_comes_in_bursts_at_the_printed_interval() -> None:
    stream = lin5(system_load=0.5, horizon=2e7, seed=4)
    rule = OptimalPartition(10.0, 10.0)
    bursts = sorted(set(stream.arrivals))
    assert near(len(bursts), 2e7 / (rule.execution_time(100.0, 10) / 0.5), 0.03)
    sizes = [stream.arrivals.count(instant) for instant in bursts[:500]]
    assert set(sizes) == set(range(1, 11)) and near(mean(sizes), 5.5, 0.05)
    for load, due in zip(stream.loads, stream.deadlines, strict=True):
        assert rule.execution_time(load, 10) <= due * (1 + 1e-12)
        assert due <= rule.execution_time(load, 1) * (1 + 1e-12)
    least = sum(rule.execution_time(load, 10) for load in stream.loads)
    assert stream.realised_load == pytest.approx(least / 2e7)
    assert near(least / 2e7, 0.5 * 5.5 * REDRAWN, 0.03)  # what the printed interval amounts to


def test_lin5_by_the_definition_of_the_load_counts_the_size_of_bursts() -> None:
    stream = lin5(system_load=0.5, horizon=2e7, interval="definition", loads="absolute")
    assert stream.realised_load is not None and near(stream.realised_load, 0.5 * FOLDED, 0.04)


def test_lin5_takes_the_least_execution_time_on_the_best_number_of_nodes() -> None:
    stream = lin5(theta_cm=20_000, theta_cp=5, horizon=1e6)
    rule = OptimalPartition(10.0, 10.0, 20_000.0, 5.0)
    assert {rule.n_star(load, 10) for load in stream.loads} == {1}
    for load, due in zip(stream.loads, stream.deadlines, strict=True):
        assert due == pytest.approx(rule.execution_time(load, 1))


# waiting


def test_waiting_starts_with_a_task_that_keeps_all_nodes() -> None:
    stream = waiting(tasks=50, nodes=8, theta_cm=3, seed=1)
    rule = OptimalPartition(1.0, 1000.0, 3.0)
    assert len(stream) == 51 and stream.arrivals == tuple(map(float, range(51)))
    huge, due = stream.loads[0], stream.deadlines[0]
    assert rule.n_min(huge, due, 8) == 8 and rule.execution_time(huge, 8) > 100
    work = sum(rule.execution_time(load, 8) for load in stream.loads[1:])
    for arrival, deadline in zip(stream.arrivals[1:], stream.deadlines[1:], strict=True):
        assert due + 4 * work <= arrival + deadline + 1e-6 <= due + 8 * work + 1e-3


# what all share


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_seed_settles_everything(name: str) -> None:
    few: dict[str, Any] = {"tasks": 30} if name == "waiting" else {"horizon": 1e5}
    state = random.getstate()
    first = WORKLOADS[name](seed=3, **few)
    assert random.getstate() == state
    assert first == WORKLOADS[name](seed=3, **few) != WORKLOADS[name](seed=4, **few)
    assert first.name.startswith(name) and "seed 3" in first.origin
    instance = first.instance()
    assert len(instance.tasks) == len(first) > 3
    assert [task.load for task in instance.tasks] == list(first.loads)
    parameters = inspect.signature(WORKLOADS[name]).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters)


def test_equal_seeds_draw_equal_loads_whatever_the_system_load() -> None:
    light, heavy = (mamat4(system_load=load, horizon=1e6) for load in (0.3, 0.9))
    count = len(light)
    assert 0 < count < len(heavy)
    assert heavy.loads[:count] == light.loads and heavy.deadlines[:count] == light.deadlines
    for slow, fast in zip(light.arrivals, heavy.arrivals, strict=False):
        assert slow == pytest.approx(3 * fast)


@pytest.mark.property
@given(st.sampled_from(["mamat4", "lin5"]), st.integers(1, 300), st.integers(0, 99), st.data())
def test_every_stream_is_a_valid_instance(
    name: str, nodes: int, seed: int, data: st.DataObject
) -> None:
    amounts = st.sampled_from([0, 1, Fraction(1, 3), 20.5, 700])
    costs = {cost: data.draw(amounts) for cost in ("theta_cm", "theta_cp")}
    costs |= {"chi": data.draw(amounts.filter(bool)), "tau": data.draw(amounts)}
    rule = OptimalPartition(*(float(costs[c]) for c in ("tau", "chi", "theta_cm", "theta_cp")))
    horizon = 30 * rule.execution_time(9.0, 1)
    stream = WORKLOADS[name](nodes=nodes, seed=seed, average_load=9, horizon=horizon, **costs)
    if len(stream):
        assert stream.instance().tasks[-1].arrival < horizon


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("mamat4", {"system_load": 0}, "system_load must be a positive number, got 0"),
    ("mamat4", {"dc_ratio": float("inf")}, "dc_ratio must be a positive number, got inf"),
    ("mamat4", {"average_load": "big"}, "average_load must be a positive number, got big"),
    ("mamat4", {"horizon": 10**400}, "horizon must be a positive number"),
    ("mamat4", {"nodes": 0}, "nodes must be an integer from 1 to 1000000, got 0"),
    ("mamat4", {"nodes": True}, "nodes must be an integer"),
    ("mamat4", {"loads": "cut"}, "loads must be one of redraw, absolute, got 'cut'"),
    ("mamat4", {"deadlines": "none"}, "deadlines must be one of redraw-deadline"),
    ("mamat4", {"reference": "some"}, "reference must be one of all, best"),
    ("mamat4", {"horizon": 1e18}, "tasks, more than 10000000"),
    ("mamat4", {"dc_ratio": 1e-3}, "leaves no deadline that a task can meet"),
    ("mamat4", {"dc_ratio": 1e-6, "theta_cm": 0, "theta_cp": 0}, "leaves hardly a task in time"),
    ("lin5", {"interval": "short"}, "interval must be one of printed, definition"),
    ("lin5", {"loads": "cut"}, "loads must be one of"),
    ("lin5", {"system_load": -1}, "system_load must be a positive number"),
    ("lin5", {"horizon": 1e13}, "tasks, more than 10000000"),
    ("waiting", {"tasks": 0}, "tasks must be an integer from 1"),
    ("waiting", {"slack": 0}, "slack must be a positive number"),
]


@pytest.mark.parametrize(("name", "parameters", "told"), BAD)
def test_bad_parameters(name: str, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        WORKLOADS[name](**parameters)


def test_bad_costs_are_told_as_those_of_a_cluster() -> None:
    with pytest.raises(InvalidInstanceError, match="tau: must not be negative"):
        mamat4(tau=-1)


# workloads of one's own, and of instances

CLUSTER = Cluster(2, tau=1, chi=3)


def test_a_workload_of_one_s_own() -> None:
    own = Workload(CLUSTER, (1.0, 4.0), (2.0, 5.0), (30.0, 40.0), horizon=10.0, begin=1.0)
    assert len(own) == 2 and own.span == 9.0 and own.system_load is None
    assert own.tasks() == (Task("0", 1.0, 2.0, 30.0), Task("1", 4.0, 5.0, 40.0))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"loads": (1.0,)}, "equally many"),
        ({"cluster": Cluster(2, 1, (1, 2))}, "identical nodes"),
        ({"arrivals": (4.0, 1.0)}, "must ascend"),
        ({"horizon": 3.0}, "must ascend, from begin to horizon"),
        ({"begin": 2.0}, "must ascend"),
        ({"loads": (1.0, 0.0)}, "loads must be positive"),
        ({"deadlines": (1.0, -1.0)}, "deadlines not negative"),
        ({"deadlines": (1.0, math.inf)}, "finite"),
        ({"loads": (1.0, math.nan)}, "finite"),
        ({"ready": (0.0, math.inf)}, "finite"),
        ({"ready": (0.0,)}, "ready times and nodes must be equally many"),
        ({"ids": ("a",)}, "names and tasks must be equally many"),
        ({"promised": 3}, "no more tasks can be promised than there are"),
        ({"promised": 1}, "promised tasks arrived before begin"),
        ({"promised": 1, "begin": 5.0}, "must ascend, from begin"),
    ],
)
def test_bad_workloads(change: dict[str, Any], told: str) -> None:
    good = {
        "cluster": CLUSTER,
        "arrivals": (1.0, 4.0),
        "loads": (1.0, 1.0),
        "deadlines": (9.0, 9.0),
    }
    assert Workload(horizon=4.0, **good)  # type: ignore[arg-type]
    with pytest.raises(NotApplicableError, match=told):
        Workload(**({"horizon": 4.0} | good | change))  # type: ignore[arg-type]


def test_a_workload_of_an_instance() -> None:
    tasks = (Task("a", Fraction(1, 2), 3, 40), Task("b", 4, Fraction(1, 3), 9))
    stream = Workload.of(Instance(Cluster(2, 1, (3, 3)), tasks, name="two"))
    assert stream.arrivals == (0.5, 4.0) and stream.loads == (3.0, 1 / 3)
    assert stream.begin == 0.5 and stream.horizon == 4.0 and stream.name == "two"
    assert stream.realised_load == pytest.approx((10 / 3) * 4 / (2 * 3.5))
    assert Workload.of(Instance(CLUSTER, tasks[:1])).realised_load is None
    assert type(stream.cluster.tau) is float and stream.cluster.identical


def test_a_workload_of_an_instance_starts_as_its_cluster_stands() -> None:
    task = Task("a", 5, 1, 9)
    late = Workload.of(Instance(CLUSTER, (task,), ready_times=(0, 5), channel_ready=5))
    assert late.begin == 5 and late.idle and late.free_times == (5.0, 5.0)
    chunk = Commitment("z", 0, 0, 2, 8)
    for changes, ready, channel in (
        ({"ready_times": (0, 6)}, (0.0, 6.0), 0.0),
        ({"channel_ready": 6}, (0.0, 0.0), 6.0),
        ({"committed": (chunk,)}, (8.0, 0.0), 2.0),
        ({"now": 7}, (7.0, 7.0), 7.0),
    ):
        stream = Workload.of(Instance(CLUSTER, (task,), **changes))  # type: ignore[arg-type]
        assert (stream.ready, stream.channel, stream.idle) == (ready, channel, False)
        assert stream.begin == changes.get("now", 0) and stream.names == ("a",)
        assert stream.promised == ("now" in changes)
    sent = Task("sent", 0, 1, 9, remaining=0)
    part = Task("part", 0, 3, 9, remaining=Fraction(1, 2))
    stream = Workload.of(Instance(CLUSTER, (sent, part, task), now=1))
    assert (stream.names, stream.loads, stream.promised) == (("part", "a"), (0.5, 1.0), 1)
    assert (stream.begin, stream.horizon) == (1.0, 5.0)
    with pytest.raises(NotApplicableError, match="identical"):
        Workload.of(Instance(Cluster(2, 1, (1, 2)), (task,)))
