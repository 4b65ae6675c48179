"""Faults that are planted in the simulator are found in what it tells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dlopt.generation import generate
from dlopt.problems.dag import Instance, Outage
from dlopt.simulation.grid import FailureModel, Policy, simulate_grid
from dlopt.simulation.grid.execution_state import AttemptState
from dlopt.simulation.grid.grid import GridSimulation
from dlopt.simulation.grid.internal_scheduler import InternalScheduler
from dlopt.simulation.grid.machines import Machines
from dlopt.simulation.grid.node_selection import NodeSelector

Plant = Callable[[pytest.MonkeyPatch], None]
HAZARDS = FailureModel(
    failure_rate=Fraction(1, 10),
    failures=(Outage(0, 700, 3000), Outage(1, 2000, 5000), Outage(2, 900, 4000)),
)


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate("dag", "chen", lans=2, nodes=2, tasks=6, fewest=4, most=9, seed=5)


def last_first(patch: pytest.MonkeyPatch) -> None:
    start = Machines.start_next

    def planted(self: Machines, node: Any) -> None:
        there = [attempt for attempt in node.queue if attempt.state == AttemptState.QUEUED]
        if there:
            node.queue.remove(there[-1])
            node.queue.appendleft(there[-1])
        start(self, node)

    patch.setattr(Machines, "start_next", planted)


def survives(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Machines, "fail_node", lambda self, node, until: node_is_down(self, node, until))


def node_is_down(machines: Machines, node: Any, until: Any) -> None:
    if node.up:
        node.up, node.back_at, node.down_since = False, until, machines.grid.now


def one_more(patch: pytest.MonkeyPatch) -> None:
    mapping = InternalScheduler.map

    def planted(self: InternalScheduler) -> None:
        self.policy = Policy(queue_size=self.grid.policy.queue_size + 1)
        mapping(self)

    patch.setattr(InternalScheduler, "map", planted)


def at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NodeSelector, "arrival", lambda self, subtask, node, now: now)


def over_the_wan_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GridSimulation, "wan", lambda self, source, target, data: self.number(0))


def done_twice(patch: pytest.MonkeyPatch) -> None:
    delivered = InternalScheduler.delivered

    def planted(self: InternalScheduler, attempt: Any) -> None:
        delivered(self, attempt)
        attempt.fate = "done"

    patch.setattr(InternalScheduler, "delivered", planted)


def to_the_dead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NodeSelector, "alive", lambda self: self._lan_nodes.nodes)


def half_is_left(patch: pytest.MonkeyPatch) -> None:
    take = InternalScheduler.take_back

    def planted(self: InternalScheduler, attempts: list[Any]) -> None:
        take(self, attempts[:1])
        if attempts:
            attempts[0].node.assigned += attempts[1:]

    patch.setattr(InternalScheduler, "take_back", planted)


def not_for_strays(patch: pytest.MonkeyPatch) -> None:
    delivered = InternalScheduler.delivered

    def planted(self: InternalScheduler, attempt: Any) -> None:
        is_duplicate = attempt.is_duplicate
        delivered(self, attempt)
        if is_duplicate:
            attempt.fate = "ignored"

    patch.setattr(InternalScheduler, "delivered", planted)


def no_failures(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Machines, "begin", lambda self: None)


SLOW = FailureModel(slowdown=(1, 6))
PLANTED: dict[str, tuple[Plant, str, FailureModel]] = {
    "the last goes first": (last_first, "not-first-in-first-out", FailureModel()),
    "what runs on a machine that fails goes on": (survives, "continues-through-failure", HAZARDS),
    "a queue is longer than it may be": (one_more, "queue-overflow", FailureModel()),
    "data does not travel": (at_once, "starts-before-data", FailureModel()),
    "nor to another LAN": (over_the_wan_at_once, "received-before-input", FailureModel()),
    "nor home": (over_the_wan_at_once, "returned-before-results", FailureModel()),
    "done twice": (done_twice, "completed-twice", SLOW),
    "sent to who is believed dead": (to_the_dead, "sent-to-suspected-machine", HAZARDS),
    "left with who is believed dead": (half_is_left, "left-on-suspected-machine", HAZARDS),
    "the first result is thrown away": (not_for_strays, "task-missing", SLOW),
    "machines do not fail": (no_failures, "failure-missing", HAZARDS),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(
    name: str, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, kind, failure_model = PLANTED[name]
    policy = Policy(queue_size=2, bidders=0, trap=1)

    def kinds() -> set[str]:
        run = simulate_grid(
            instance, policy=policy, failure_model=failure_model, exact_numbers=True
        )
        return {violation.kind for violation in run.check()}

    assert kinds() == set()
    plant(monkeypatch)
    assert kind in kinds()
