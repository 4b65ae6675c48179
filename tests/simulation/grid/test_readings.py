"""What is printed, and what other readings would do, on the smallest grid that shows it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.errors import NotApplicableError
from dlopt.problems.dag import Graph, Instance, Lan, Machine, Network, Outage, Run, Task
from dlopt.simulation.grid import (
    LITERAL,
    PRINTED,
    READINGS,
    Credibility,
    FailureModel,
    GridRun,
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


def run(
    machines: tuple[Machine, ...], *graphs: Graph, name: str = "corrected", **options
) -> GridRun:
    policy = replace(QUICK, **options.pop("policy", {}))
    policy = variant(name, policy)
    failure_model = FailureModel(failures=options.pop("failures", ()))
    return simulate_grid(
        Instance(machines, graphs, NETWORK),
        policy=policy,
        failure_model=failure_model,
        exact_numbers=True,
        **options,
    )


def runs(of: GridRun) -> tuple[Run, ...]:
    assert of.trace is not None
    return of.trace.runs


def returned(of: GridRun) -> list[float | None]:
    return [fate.returned for fate in of.outcome.job_outcomes]


def test_head_of_line() -> None:
    """The fast node is full: as printed, the slow one is never asked."""
    machines, graph = grid(10, 1), job(30, 20, 15)
    options = {"policy": {"queue_size": 1}}
    printed = run(machines, graph, name="literal-head-of-line", **options)
    assert [one.machine for one in runs(printed)] == [0, 0, 0]
    corrected = run(machines, graph, **options)
    assert {one.machine for one in runs(corrected)} == {0, 1}
    assert printed.check() == corrected.check() == ()
    wide = run(machines, graph, name="literal-head-of-line", policy={"queue_size": 3})
    assert runs(wide) == runs(run(machines, graph, policy={"queue_size": 3}))


def test_instants_and_durations() -> None:
    """At 1000 both nodes are idle; if equation 5 adds durations to instants, and equation 6 nothing
    but durations, the slow one looks better: 100 s against 130. Counted from now, as the response
    is defined, both equations choose right.
    """
    machines = grid(F(3, 10), 1)
    first = job(100, name="first")
    late = job(30, arrival=1000, name="late")
    instants = run(machines, first, late, name="corrected+eq5-instant+eq6-not-advanced")
    assert [one.machine for one in runs(instants)] == [1, 0] and returned(instants)[1] == 1100
    for name in ("corrected", "literal", "literal-eq5", "literal-eq6"):
        sound = run(machines, first, late, name=name)
        assert [one.machine for one in runs(sound)] == [1, 1] and returned(sound)[1] == 1030
        assert sound.check() == instants.check() == ()


def test_what_equation_5_adds_up() -> None:
    """The fast node is free at 4, and data takes 3: 4 + 3 + 2 as printed, where 4 + 2 is enough.
    The slow one promises 3 + 5.
    """
    machines = grid(5, 2)
    graphs = job(20, name="first"), replace(job(10, name="next"), input=3)
    assert [one.machine for one in runs(run(machines, *graphs))] == [0, 0]
    added = run(machines, *graphs, name="literal-eq5")
    assert [one.machine for one in runs(added)] == [0, 1]
    assert added.check() == ()


def test_what_equation_6_leaves_out() -> None:
    """Node 0 gets data until 10, and works until 14; as printed it looks free at 4."""
    machines = grid(5, 2)
    graphs = replace(job(20, name="first"), input=10), job(20, name="next")
    later, printed = (run(machines, *graphs, name=name) for name in ("corrected", "literal-eq6"))
    assert [one.machine for one in runs(later)] == [0, 1]
    assert [one.machine for one in runs(printed)][:2] == [0, 0]
    assert later.check() == printed.check() == ()


def test_what_is_pulled_back_still_counts() -> None:
    """A node that is back looks busy with what was taken off it."""
    machines = grid(10, 9)
    options = {"failures": (Outage(0, 1, 2),), "policy": {"queue_size": 3}}
    graphs = job(600, name="lost"), job(10, arrival=3, name="next")
    kept = run(machines, *graphs, name="corrected+pull-back-keeps", **options)
    assert kept.check() == ()
    restored = run(machines, *graphs, **options)
    assert [one.machine for one in runs(restored)][:2] == [0, 0]
    assert [one.machine for one in runs(kept)][:2] == [0, 1]


def test_never_marked_dead_breaks_the_rules() -> None:
    machines, options = grid(10, 1), {"failures": (Outage(0, 1),), "policy": {"attempts": 4}}
    printed = run(machines, job(100), name="corrected+never-dead", **options)
    wanted = {
        "sent-to-suspected-machine",
        "left-queue-without-cause",
    }  # nobody is presumed dead twice
    assert wanted == {found.kind for found in printed.check()}
    assert printed.outcome.job_outcomes[0].reason == "t0 failed in all 4 attempts"
    corrected = run(machines, job(100), **options)
    assert corrected.check() == ()
    assert [one.fate for one in runs(corrected)] == ["lost", "done"]
    assert corrected.outcome.traps == 1 and corrected.outcome.false_alarms == 0


def test_without_recovery_a_lan_waits_for_ever() -> None:
    machines, options = grid(10), {"failures": (Outage(0, 1, 2),)}
    silent = run(machines, job(100), name="corrected+no-recovery", **options)
    reason = "t0 is ready and waits for a node of LAN 0: 1 of 1 suspected failed"
    assert silent.outcome.job_outcomes[0].reason == reason
    assert silent.check() == ()
    told = run(machines, job(100), **options)
    assert returned(told) == [12]


def test_a_credibility_that_corrects_itself_learns_the_root() -> None:
    learnt = {}
    for name in ("corrected", "corrected+eq3-corrected"):
        table = Credibility(variant(name), float)
        for _ in range(4000):
            table.learn(3, 4.0, table.reference_estimate(3, 1.0))
        learnt[name] = table.of(3)
    assert learnt["corrected"] == pytest.approx(4)
    assert learnt["corrected+eq3-corrected"] == pytest.approx(2)
    table = Credibility(Policy(credibility="none"), float)
    table.learn(3, 4.0, 1.0)
    assert table.of(3) == 1


def test_a_slow_node_is_heard_of_when_it_delivers() -> None:
    """Presumed dead though up: what it ran counts if it comes first; the other run is withdrawn."""
    slow = simulate_grid(
        Instance(grid(2, 1), (job(8),), NETWORK),
        policy=replace(QUICK, trap=1),
        failure_model=FailureModel(slowdown=(F(3, 2), F(3, 2))),
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
    assert set(PRINTED) == {"head-of-line", "eq5", "eq6"}
    assert not {*PRINTED} & {*READINGS}
    assert variant("literal-eq5+eq6+head-of-line") == LITERAL
    printed = {name: getattr(LITERAL, name) for one in PRINTED.values() for name in one}
    assert replace(Policy(), **printed) == LITERAL  # no other reading is called printed
    for name in ("printed", "literal-eq7", "literal-no-recovery", "corrected+eq7"):
        with pytest.raises(NotApplicableError, match="no variant"):
            variant(name)
