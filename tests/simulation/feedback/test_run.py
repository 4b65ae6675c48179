"""The simulated cluster: by hand, and whatever the options against the checker of traces."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import fields
from itertools import product
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.uncertain_times import mamat7, outage
from dlopt.generation.workload import Workload
from dlopt.problems.admission import Factor, Failure, Scenario, missed, violations_executed
from dlopt.problems.cluster import Cluster
from dlopt.simulation.feedback import (
    STRATEGIES,
    Controller,
    FeedbackRun,
    Gains,
    Policy,
    Strategy,
    merged_periods,
)

ONE, TWO = Cluster(1, 1.0, 1.0), Cluster(2, 1.0, 1.0)
WORDS = {name: get_args(hint) for name, hint in get_type_hints(Policy).items() if get_args(hint)}


def stream(cluster: Cluster, tasks: Iterable[tuple[float, float, float]], end: float) -> Workload:
    columns = tuple(zip(*tasks, strict=True))
    return Workload(cluster, *columns, horizon=end)


def chunks(run: FeedbackRun) -> list[tuple[Any, ...]]:
    return [
        (c.task, c.node, c.load, c.transmission_start, c.computation_end, c.lost)
        for c in run.trace.chunks
    ]


def random_case(seed: int, nodes: int) -> tuple[Workload, Scenario]:
    draw = random.Random(seed)
    tasks = sorted(
        (draw.uniform(0, 100), draw.uniform(0.5, 6), draw.uniform(4, 60)) for _ in range(25)
    )
    workload = stream(Cluster(nodes, draw.choice([0.0, 0.5, 1.0]), 8.0), tasks, 120.0)
    factors = [
        Factor(name, draw.uniform(0.1, 2), draw.uniform(0.1, 2)) for name in workload.names[5:]
    ]
    failures = []
    for node in range(nodes):
        begin = draw.uniform(5, 80)
        if draw.random() < 0.5:
            failures.append(Failure(node, begin, begin + draw.uniform(1, 40)))
        elif draw.random() < 0.3:
            failures.append(Failure(node, begin))
    return workload, Scenario(tuple(factors), tuple(failures))


# --- by hand --------------------------------------------------------------------------------


def test_chunks_are_cut_by_the_margin_until_the_rest_is_small() -> None:
    """One node, deadline 16, margin 2: 16/4, then what is left of 16 - 8 by 4, then the rest."""
    run = FeedbackRun(stream(ONE, [(0, 6.5, 16)], 20), Scenario(), "no-feedback", period=20)
    assert chunks(run) == [
        ("0", 0, 4.0, 0.0, 8.0, None),
        ("0", 0, 2.0, 8.0, 12.0, None),
        ("0", 0, 0.5, 12.0, 13.0, None),
    ]
    total = run.total
    assert (total.decided, total.rejected, total.settled, total.missed) == (1, 0, 1, 0)
    assert total.utilization == 13 / 20 and total.bound == 1


def test_true_costs_decide_how_long_a_chunk_takes() -> None:
    slow = Scenario((Factor("0", tau=2, chi=0.5),))
    run = FeedbackRun(stream(ONE, [(0, 4, 16)], 20), slow, "no-feedback", period=20)
    (only,) = run.trace.chunks
    assert (only.transmission_end, only.computation_end) == (8.0, 10.0)
    known = FeedbackRun(stream(ONE, [(0, 6, 15)], 20), slow, "ideal", period=20)
    assert [c.load for c in known.trace.chunks] == [6.0]  # 15 / 2.5: the whole load, margin 1
    assert known.total.missed == 0 and known.trace.chunks[0].computation_end == 15.0
    worst = FeedbackRun(stream(ONE, [(0, 3, 16)], 20), slow, "worst-case", period=20)
    assert [c.load for c in worst.trace.chunks] == [3.0]  # 16 / 4 is more
    refused = FeedbackRun(stream(ONE, [(0, 4.5, 16)], 20), slow, "worst-case", period=20)
    assert refused.accepted == (False,)


def test_nodes_take_turns_on_the_channel_and_an_earlier_deadline_comes_first() -> None:
    tasks = [(0.0, 4.0, 16.0), (1.0, 0.5, 8.0)]
    run = FeedbackRun(stream(TWO, tasks, 20), Scenario(), "no-feedback", period=20)
    assert chunks(run) == [
        ("0", 0, 4.0, 0.0, 8.0, None),  # the channel is free at 4
        ("1", 1, 0.5, 4.0, 5.0, None),
    ]
    tasks = [(0.0, 5.0, 16.0), (1.0, 0.5, 6.0)]
    run = FeedbackRun(stream(TWO, tasks, 20), Scenario(), "no-feedback", period=20)
    assert [entry[0] for entry in chunks(run)] == ["0", "1", "0"]


def test_a_late_task_is_finished_in_equal_parts_or_given_up() -> None:
    slow = Scenario((Factor("0", 4, 4),))
    tasks = [(0.0, 4.0, 9.0)]
    late = FeedbackRun(stream(TWO, tasks, 20), slow, "no-feedback", period=20)
    sent = [(node, load, start) for _, node, load, start, _, _ in chunks(late)]
    # 9/4 takes node 0 until 18 and the channel until 9, when half of the rest goes to node 1.
    assert sent[:4] == [(0, 2.25, 0.0), (1, 0.875, 9.0), (1, 0.4375, 16.0), (0, 0.21875, 18.0)]
    assert late.total.missed == 1 and late.violations == ()
    drop = FeedbackRun(
        stream(TWO, tasks, 20), slow, "no-feedback", policy=Policy(late="drop"), period=20
    )
    assert drop.trace.chunks[0].load == 2.25
    assert drop.total.missed == 1 and drop.violations == ()
    (part,) = drop.trace.dropped
    assert part.at == pytest.approx(9.0)
    assert part.load + sum(chunk.load for chunk in drop.trace.chunks) == pytest.approx(4.0)


def test_without_a_least_share_chunks_would_be_endless() -> None:
    fast = Scenario((Factor("0", 0.1, 0.1),))
    work = stream(ONE, [(0, 8, 16)], 20)
    some = FeedbackRun(work, fast, "no-feedback", policy=Policy(least=0.1), period=20)
    many = FeedbackRun(work, fast, "no-feedback", policy=Policy(least=0.001), period=20)
    assert len(some.trace.chunks) <= len(many.trace.chunks)
    assert all(chunk.load >= 0.8 - 1e-9 for chunk in some.trace.chunks[:-1])


@pytest.mark.parametrize(
    ("lost", "loads", "misses"),
    [("requeue", [2.0, 1.5, 1.0, 0.5], 0), ("gone", [2.0, 1.5, 0.5], 1)],
)
def test_what_a_failing_node_holds_is_sent_again_or_gone(
    lost: Any, loads: list[float], misses: int
) -> None:
    failing = Scenario(failures=(Failure(1, 3.0, 10.0),))
    work = stream(TWO, [(0, 4, 8)], 20)
    run = FeedbackRun(work, failing, "no-feedback", policy=Policy(lost=lost), period=20)
    assert [chunk.load for chunk in run.trace.chunks][: len(loads)] == loads
    (hit,) = [chunk for chunk in run.trace.chunks if chunk.lost is not None]
    assert (hit.node, hit.lost) == (1, 3.0)
    assert run.total.missed == misses == len(missed(work.instance(), run.trace))
    assert (run.trace.dropped != ()) is (lost == "gone")
    assert run.violations == ()


def test_the_channel_is_free_of_what_a_failing_node_received() -> None:
    failing = Scenario(failures=(Failure(0, 1.0),))
    run = FeedbackRun(stream(TWO, [(0, 4, 16)], 20), failing, "no-feedback", period=20)
    assert chunks(run)[:2] == [("0", 0, 4.0, 0.0, 8.0, 1.0), ("0", 1, 3.75, 1.0, 8.5, None)]


def test_what_is_left_when_no_node_comes_back_is_given_up() -> None:
    dead = Scenario(failures=(Failure(0, 3.0),))
    for policy in (Policy(), Policy(late="drop")):
        run = FeedbackRun(
            stream(ONE, [(0, 4, 16), (5, 1, 9)], 20), dead, "no-feedback", policy=policy, period=20
        )
        assert run.accepted == (True, True)
        assert run.total.missed == 2 and {part.task for part in run.trace.dropped} == {"0", "1"}
        assert run.violations == () and run.total.utilization == 1.0


def test_a_lost_chunk_of_a_task_that_was_given_up_is_given_up_too() -> None:
    slow = Scenario((Factor("0", 9, 9),), (Failure(0, 20.0),))
    run = FeedbackRun(
        stream(ONE, [(0, 4, 9)], 30), slow, "no-feedback", policy=Policy(late="drop"), period=30
    )
    assert [(part.load, part.at) for part in run.trace.dropped] == [
        (1.75, pytest.approx(9.0)),
        (2.25, 20.0),
    ]
    assert run.violations == ()


def test_an_aware_test_counts_the_nodes_that_are_up() -> None:
    failing = Scenario(failures=(Failure(1, 1.0),))
    work = stream(TWO, [(2, 3, 4.5)], 20)  # E is 4 on two nodes, 6 on one
    assert FeedbackRun(work, failing, "no-feedback", period=20).accepted == (True,)
    aware = Policy(aware=True)
    assert FeedbackRun(work, failing, "no-feedback", policy=aware, period=20).accepted == (False,)
    dead = Scenario(failures=(Failure(0, 1.0), Failure(1, 1.0)))
    run = FeedbackRun(work, dead, "no-feedback", policy=aware, period=1)
    assert run.accepted == (False,)
    assert run.periods[5].utilization is None and run.periods[5].available == 0


# --- periods and control --------------------------------------------------------------------


def test_periods_count_what_becomes_known_in_them() -> None:
    tasks = [(0.0, 2.0, 9.0), (11.0, 9.0, 9.0), (15.0, 1.0, 20.0)]
    run = FeedbackRun(stream(ONE, tasks, 20.0), Scenario(), "no-feedback", period=10)
    assert [(p.decided, p.rejected, p.settled, p.missed) for p in run.periods] == [
        (1, 0, 1, 0),
        (2, 1, 1, 0),
    ]
    assert [p.busy for p in run.periods] == [4.0, 2.0]
    assert [(p.miss_ratio, p.reject_ratio, p.utilization) for p in run.periods] == [
        (0.0, 0.0, 0.4),
        (0.0, 0.5, 0.2),
    ]
    assert run.outputs == [0.0, 0.0] and run.inputs == [1.0, 1.0]
    assert run.total == merged_periods(run.periods)
    with pytest.raises(NotApplicableError, match="no period lies between 0 and"):
        run.between(0, 0.1)


def test_what_happens_after_the_last_period_is_not_counted() -> None:
    run = FeedbackRun(stream(ONE, [(8.0, 8.0, 30.0)], 10.0), Scenario(), "no-feedback", period=10)
    (period,) = run.periods
    assert (period.decided, period.settled, period.busy) == (1, 0, 2.0)
    assert period.miss_ratio is None
    at_end = stream(ONE, [(0.0, 1.0, 9.0), (10.0, 1.0, 9.0)], 10.0)
    assert [p.decided for p in FeedbackRun(at_end, Scenario(), "ideal", period=10).periods] == [
        1,
        1,
    ]


def test_the_controller_sets_the_bound_from_what_was_measured() -> None:
    workload, scenario = mamat7(load_from=1.4, load_to=1.4, horizon=1_000_000)
    gains = Gains(0.5, 1.0)
    run = FeedbackRun(workload, scenario, controller=Controller(gains, 0.05, bound=0.9))
    again = Controller(gains, 0.05, bound=0.9)
    assert run.inputs == [0.9, *(again.next(ratio) for ratio in run.outputs[1:])]
    assert len(set(run.inputs)) > 5


def test_given_bounds_take_the_place_of_a_controller() -> None:
    workload, scenario = mamat7(horizon=500_000)
    run = FeedbackRun(workload, scenario, bounds=[0.5, 0.25])
    assert run.inputs == [0.5, 0.25, 0.5, 0.25, 0.5]
    closed = FeedbackRun(workload, scenario, bounds=[1e-9])
    assert closed.total.rejected == closed.total.decided > 0 and closed.total.busy == 0


def test_equal_input_gives_equal_runs() -> None:
    first, second = (
        FeedbackRun(*mamat7(load_from=1, horizon=500_000, seed=2), "no-feedback") for _ in range(2)
    )
    assert first.periods == second.periods and first.trace == second.trace


def test_a_stream_without_tasks() -> None:
    run = FeedbackRun(Workload(ONE, (), (), (), horizon=5.0), Scenario(), "ideal", period=5)
    assert run.violations == () and run.total.reject_ratio is None


# --- whatever the options -------------------------------------------------------------------


@st.composite
def policies(draw: Any) -> Policy:
    words = {name: draw(st.sampled_from(choices)) for name, choices in WORDS.items()}
    margin = draw(st.sampled_from([0.7, 1.0, 2.0, 5.0]))
    least = draw(st.sampled_from([0.005, 0.1, 2.0]))
    return Policy(margin=margin, least=least, aware=draw(st.booleans()), **words)


@pytest.mark.property
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    policies(),
    st.sampled_from(list(STRATEGIES)),
    st.sampled_from([0.3, 1.0, 4.0]),
)
def test_every_trace_can_have_happened(
    seed: int, nodes: int, policy: Policy, name: str, bound: float
) -> None:
    workload, scenario = random_case(seed, nodes)
    bounds = [bound] if name == "feedback" else None
    run = FeedbackRun(workload, scenario, name, policy=policy, period=10_000, bounds=bounds)
    instance = workload.instance()
    assert violations_executed(instance, scenario, run.trace, 1e-9) == ()
    assert run.total.missed == len(missed(instance, run.trace, 0.75e-9))
    assert run.total.settled == sum(run.accepted)
    assert run.total.busy == pytest.approx(
        sum(
            (c.computation_end if c.lost is None else c.lost) - c.transmission_start
            for c in run.trace.chunks
        )
    )


@pytest.mark.parametrize(("late", "lost"), list(product(WORDS["late"], WORDS["lost"])))
def test_the_papers_workload_can_have_happened(late: Any, lost: Any) -> None:
    workload, scenario = mamat7(load_from=1, horizon=600_000, seed=4)
    scenario = Scenario(scenario.factors, outage(16, 300_000, 450_000))
    policy = Policy(late=late, lost=lost)
    run = FeedbackRun(workload, scenario, "no-feedback", policy=policy)
    assert run.violations == () and any(chunk.lost is not None for chunk in run.trace.chunks)
    assert run.periods[4].available == pytest.approx(16e5 - 6 * 5e4)


@pytest.mark.parametrize("factor", [1, 0.3, 1.7])
def test_who_knows_the_true_costs_misses_nothing_where_they_are_equal(factor: float) -> None:
    drawn = mamat7(
        load_from=1, load_to=2, horizon=3_000_000, least_factor=factor, most_factor=factor
    )
    run = FeedbackRun(*drawn, "ideal")
    assert run.total.missed == 0 < run.total.rejected
    printed = FeedbackRun(*drawn, "ideal", policy=Policy(start="all-nodes"))
    assert printed.total.missed > 0


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "options", "told"),
    [
        (stream(ONE, [(0, 1, 9)], 9.0), {}, "feedback needs a controller"),
        (stream(ONE, [(0, 1, 9)], 9.0), {"strategy": "none"}, "no strategy 'none'"),
        (stream(ONE, [(0, 1, 9)], 9.0), {"period": 0}, "sampling period must be a positive number"),
        (stream(ONE, [(0, 1, 9)], 9.0), {"period": 1e-9}, "1 to 1000000 sampling periods"),
        (stream(Cluster(1, 1, 1, 1), [(0, 1, 9)], 9.0), {}, "no set-up costs"),
        (
            Workload(ONE, (1.0,), (1.0,), (9.0,), horizon=9.0, begin=0.5, ready=(3.0,)),
            {},
            "must be idle at first",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(given: Workload, options: Any, told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        FeedbackRun(given, Scenario(), **options)


def test_a_scenario_of_another_stream_is_refused() -> None:
    with pytest.raises(InvalidInstanceError, match="must be a task of the instance"):
        FeedbackRun(stream(ONE, [(0, 1, 9)], 9.0), Scenario((Factor("x"),)), "ideal")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"margin": 0}, "margin must be a positive number, got 0"),
        ({"least": True}, "least must be a positive number, got True"),
        ({"worst": float("nan")}, "worst must be a positive number, got nan"),
        ({"start": "soon"}, "start must be one of balance, last, all-nodes, got 'soon'"),
        ({"aware": 1}, "aware must be true or false, got 1"),
    ],
)
def test_a_policy_tells_what_is_wrong(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        Policy(**options)


def test_every_option_of_a_policy_is_told() -> None:
    assert Policy.__doc__ is not None
    assert all(f"    {item.name} : " in Policy.__doc__ for item in fields(Policy))


def test_a_strategy_of_ones_own() -> None:
    own = Strategy("wary", "worst", controlled=True)
    run = FeedbackRun(stream(ONE, [(0, 1, 9)], 9.0), Scenario(), own, bounds=[0.5], period=9)
    assert run.accepted == (True,)
