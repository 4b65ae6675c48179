"""Machines that fail, and data that stays where it was made: small grids worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Outage, Task
from dlopt.simulation.grid import FailureModel, GridRun, Policy, simulate_grid, variant

QUICK = Policy(external_time=0, internal_time=0)
COUNTED = Network("scheduler", "counted", lans=(Lan("l", latency=1),))
ZERO = replace(COUNTED, same_machine="zero")
PAIR = Graph("g", (Task("s", 4), Task("t", 4)), (Edge(0, 1, data=3),), lan=0)


def run(network: Network, *graphs: Graph, machines: int = 1, **options: object) -> GridRun:
    made = tuple(Machine(f"m{k}", 1, 0) for k in range(machines))
    policy = options.pop("policy", QUICK)
    done = simulate_grid(
        Instance(made, graphs, network), policy=policy, exact_numbers=True, **options
    )
    assert done.check() == ()
    return done


def starts(done: GridRun) -> list[object]:
    assert done.trace is not None
    return [one.start for one in done.trace.runs]


@pytest.mark.parametrize(
    ("network", "second"), [(COUNTED, 1 + 4 + 1 + 3 + 1 + 3), (ZERO, 1 + 4 + 1 + 3)]
)
def test_what_was_made_on_a_machine_need_not_come_back(network: Network, second: int) -> None:
    """s is there at 1, runs to 5, and its result is known at 9; t gets it at once, or at 13."""
    assert starts(run(network, PAIR)) == [1, second]


def test_the_machine_that_has_the_data_is_preferred() -> None:
    done = run(ZERO, PAIR, machines=2)
    assert done.trace is not None
    assert {one.machine for one in done.trace.runs} == {0}
    printed = run(ZERO, PAIR, machines=2, policy=variant("literal-eq5+eq5-instant", QUICK))
    assert printed.outcome.returned == 1


def test_a_machine_that_fails_while_it_is_down_comes_back_with_the_last() -> None:
    graph = Graph("g", (Task("t", 10),), lan=0)
    failures = (Outage(0, 2, 6), Outage(0, 4, 20), Outage(0, 5, 7))
    done = run(COUNTED, graph, failure_model=FailureModel(failures=failures))
    assert starts(done) == [1, 21]
    assert done.trace is not None and done.trace.down == (Outage(0, 2, 20),)
    for_ever = run(COUNTED, graph, failure_model=FailureModel(failures=(*failures, Outage(0, 6))))
    assert for_ever.outcome.job_outcomes[0].reason


def test_a_machine_that_is_presumed_dead_and_fails_then() -> None:
    """t takes three times its estimate: a trap at 2 x 6; the machine fails at 20 with it."""
    graph = Graph("g", (Task("t", 4),), lan=0)
    failure_model = FailureModel(slowdown=(9, 9), failures=(Outage(0, 20, 30),))
    done = run(COUNTED, graph, failure_model=failure_model, policy=replace(QUICK, attempts=2))
    assert done.trace is not None
    first = done.trace.runs[0]
    assert (first.fate, first.freed, first.end) == ("lost", 12, 20)
