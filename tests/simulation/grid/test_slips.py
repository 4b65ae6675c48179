"""What each printed slip does, on the smallest grid that shows it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.errors import NotApplicableError
from dlopt.problems.dag import Graph, Instance, Lan, Machine, Network, Outage, Run, Task
from dlopt.simulation.grid import (
    LITERAL,
    SLIPS,
    Credibility,
    GridRun,
    Hazards,
    Policy,
    simulate_grid,
    variant,
)

F = Fraction
QUICK = Policy(external_time=0, internal_time=0)
NETWORK = Network("scheduler", "counted", lans=(Lan("l"),))


def grid(*powers: Fraction | int, delay: int = 0) -> tuple[Machine, ...]:
    return tuple(Machine(f"m{k}", power, 0, delay) for k, power in enumerate(powers))


def job(*works: int, arrival: int = 0, name: str = "g", due: int | None = None) -> Graph:
    tasks = tuple(Task(f"t{k}", work) for k, work in enumerate(works))
    return Graph(name, tasks, arrival=arrival, absolute_deadline=due, lan=0)


def run(machines: tuple[Machine, ...], *graphs: Graph, slip: str = "", **options) -> GridRun:
    policy = replace(QUICK, **options.pop("policy", {}))
    policy = variant(f"literal-{slip}", policy) if slip else policy
    hazards = Hazards(failures=options.pop("failures", ()))
    return simulate_grid(
        Instance(machines, graphs, NETWORK),
        policy=policy,
        hazards=hazards,
        exact_numbers=True,
        **options,
    )


def runs(of: GridRun) -> tuple[Run, ...]:
    assert of.trace is not None
    return of.trace.runs


def returned(of: GridRun) -> list[float | None]:
    return [fate.returned for fate in of.outcome.fates]


def test_head_of_line() -> None:
    """The fast node is full: as printed, the slow one is never asked."""
    machines, graph = grid(10, 1), job(30, 20, 15)
    options = {"policy": {"queue_size": 1}}
    printed = run(machines, graph, slip="head-of-line", **options)
    assert [one.machine for one in runs(printed)] == [0, 0, 0]
    corrected = run(machines, graph, **options)
    assert {one.machine for one in runs(corrected)} == {0, 1}
    assert printed.check() == corrected.check() == ()
    wide = run(machines, graph, slip="head-of-line", policy={"queue_size": 3})
    assert runs(wide) == runs(run(machines, graph, policy={"queue_size": 3}))


def test_instants_and_durations() -> None:
    """At 1000 both nodes are idle; as printed the slow one looks better: 100 s against 130."""
    machines = grid(F(3, 10), 1)
    first = job(100, name="first")
    late = job(30, arrival=1000, name="late")
    slips = "eq5+eq6"
    printed, corrected = run(machines, first, late, slip=slips), run(machines, first, late)
    assert [one.machine for one in runs(printed)] == [1, 0]
    assert [one.machine for one in runs(corrected)] == [1, 1]
    assert (returned(printed)[1], returned(corrected)[1]) == (1100, 1030)
    assert printed.check() == corrected.check() == ()


def test_what_is_pulled_back_still_counts() -> None:
    """A node that is back looks busy with what was taken off it."""
    machines = grid(10, 9)
    options = {"failures": (Outage(0, 1, 2),), "policy": {"queue_size": 3}}
    graphs = job(600, name="lost"), job(10, arrival=3, name="next")
    kept = run(machines, *graphs, slip="pull-back", **options)
    assert kept.check() == ()
    restored = run(machines, *graphs, **options)
    assert [one.machine for one in runs(restored)][:2] == [0, 0]
    assert [one.machine for one in runs(kept)][:2] == [0, 1]


def test_never_marked_dead_breaks_the_rules() -> None:
    machines, options = grid(10, 1), {"failures": (Outage(0, 1),), "policy": {"attempts": 4}}
    printed = run(machines, job(100), slip="never-dead", **options)
    wanted = {"sent-to-presumed-dead", "freed-without-cause"}  # nobody is presumed dead twice
    assert wanted == {found.kind for found in printed.check()}
    assert printed.outcome.fates[0].reason == "t0 was sent 4 times in vain"
    corrected = run(machines, job(100), **options)
    assert corrected.check() == ()
    assert [one.fate for one in runs(corrected)] == ["lost", "done"]
    assert corrected.outcome.traps == 1 and corrected.outcome.false_alarms == 0


def test_without_recovery_a_lan_waits_for_ever() -> None:
    machines, options = grid(10), {"failures": (Outage(0, 1, 2),)}
    silent = run(machines, job(100), slip="no-recovery", **options)
    reason = "t0 is ready and waits for a node of LAN 0: 1 of 1 presumed dead"
    assert silent.outcome.fates[0].reason == reason
    assert silent.check() == ()
    told = run(machines, job(100), **options)
    assert returned(told) == [12]


def test_the_printed_credibility_learns_the_root() -> None:
    learnt = {}
    for name in ("corrected", "literal-eq3"):
        table = Credibility(variant(name), float)
        for _ in range(4000):
            table.learn(3, 4.0, table.held_against(3, 1.0))
        learnt[name] = table.of(3)
    assert learnt["corrected"] == pytest.approx(4)
    assert learnt["literal-eq3"] == pytest.approx(2)
    table = Credibility(Policy(credibility="none"), float)
    table.learn(3, 4.0, 1.0)
    assert table.of(3) == 1


def test_a_slow_node_is_heard_of_when_it_delivers() -> None:
    """Presumed dead though up: what it ran counts if it comes first; the other run is withdrawn."""
    slow = simulate_grid(
        Instance(grid(2, 1), (job(8),), NETWORK),
        policy=replace(QUICK, trap=1),
        hazards=Hazards(slowdown=(F(3, 2), F(3, 2))),
        exact_numbers=True,
    )
    assert slow.check() == ()
    assert slow.outcome.false_alarms == slow.outcome.traps == 1
    assert returned(slow) == [6]
    first, second = runs(slow)
    assert (first.machine, first.freed, first.known, first.fate) == (0, 4, 6, "done")
    assert (second.machine, second.start, second.end, second.fate) == (1, 4, 6, "withdrawn")


def test_variants_are_told_by_name() -> None:
    assert variant("literal") == LITERAL
    assert variant("corrected") == Policy()
    assert set(SLIPS) == {
        "head-of-line",
        "eq5",
        "eq6",
        "pull-back",
        "never-dead",
        "no-recovery",
        "eq3",
    }
    for name in ("printed", "literal-eq7", "corrected-eq3"):
        with pytest.raises(NotApplicableError, match="no variant"):
            variant(name)
