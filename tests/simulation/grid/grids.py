"""Small exact grids, with hazards as nasty as they come."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dlopt.problems.dag import Edge, Graph, Instance, Lan, Link, Machine, Network, Outage, Task
from dlopt.simulation.grid import EXTENSIONS, FailureModel, Policy

F = Fraction
SOME = st.builds(F, st.integers(0, 6), st.sampled_from([1, 1, 2]))
POSITIVE = st.builds(F, st.integers(1, 6), st.sampled_from([1, 2]))
NONE_OR_SOME = st.none() | SOME


@st.composite
def instances(draw: Any, most_graphs: int = 4) -> Instance:
    """Draw LANs, some of them empty, and graphs that arrive there."""
    lans = draw(st.integers(1, 3))
    machines = tuple(
        Machine(f"m{index}", draw(POSITIVE), draw(st.integers(0, lans - 1)), draw(SOME))
        for index in range(draw(st.integers(1, 4)))
    )
    pairs = [(a, b) for a in range(lans) for b in range(lans) if a != b]
    ways = draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True)) if pairs else []
    network = Network(
        "scheduler",
        draw(st.sampled_from(["counted", "counted", "zero"])),
        draw(POSITIVE),
        draw(SOME),
        tuple(Lan(f"l{lan}", draw(POSITIVE), draw(SOME)) for lan in range(lans)),
        tuple(Link(a, b, draw(POSITIVE), draw(SOME)) for a, b in ways),
    )
    graphs = tuple(
        _graph(draw, f"g{index}", len(machines), lans)
        for index in range(draw(st.integers(1, most_graphs)))
    )
    return Instance(machines, graphs, network)


def _graph(draw: Any, name: str, machines: int, lans: int) -> Graph:
    count = draw(st.integers(1, 5))
    tasks = []
    for index in range(count):
        # Every machine must be able to run something: the first task runs anywhere.
        if (name, index) == ("g0", 0) or draw(st.integers(0, 3)):
            tasks.append(Task(f"t{index}", work=draw(SOME)))
        else:
            row = [draw(NONE_OR_SOME) for _ in range(machines)]
            row[draw(st.integers(0, machines - 1))] = F(1)
            tasks.append(Task(f"t{index}", costs=tuple(row)))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=5, unique=True)) if pairs else []
    arrival, slack = draw(SOME), draw(NONE_OR_SOME)
    return Graph(
        name,
        tuple(tasks),
        tuple(Edge(a, b, draw(SOME)) for a, b in edges),
        arrival,
        None if slack is None else arrival + 4 * slack,
        draw(st.integers(0, lans - 1)),
        draw(SOME),
        draw(SOME),
    )


@st.composite
def failure_models(draw: Any, machines: int) -> FailureModel:
    """Draw failures that meet, that never end, and runs that take too long."""
    failures = []
    for _ in range(draw(st.integers(0, 5))):
        begin = draw(SOME) * draw(st.sampled_from([1, 4]))
        until = None if draw(st.integers(0, 5)) == 0 else begin + draw(SOME) * 3
        failures.append(Outage(draw(st.integers(0, machines - 1)), begin, until))
    return FailureModel(
        draw(st.sampled_from([0, 0, F(1, 10), F(1, 2), 1])),
        draw(st.sampled_from([(0, 0), (0, 3), (2, 40)])),
        draw(st.sampled_from([(1, 1), (1, 1), (1, 3), (F(1, 2), 8)])),
        tuple(failures),
    )


@st.composite
def policies(draw: Any, *, literal: bool = False) -> Policy:
    """Draw a policy; with `literal` any reading that breaks no rule, too."""
    slips = {}
    if literal:
        slips = {
            "full": draw(st.sampled_from(["skip", "stop"])),
            "response": draw(st.sampled_from(["elapsed", "added", "instant"])),
            "free_time": draw(st.sampled_from(["now", "execution", "not-advanced"])),
            "pull_back": draw(st.sampled_from(["restores", "keeps"])),
            "recovery": draw(st.sampled_from(["reported", "silent"])),
            "credibility": draw(st.sampled_from(["uncorrected", "corrected", "none"])),
        }
    extension = draw(st.sampled_from([{}, *EXTENSIONS.values()]))
    return Policy(
        queue_size=draw(st.integers(1, 4)),
        bidders=draw(st.integers(0, 3)),
        external_time=draw(st.sampled_from([0, F(1, 5)])),
        internal_time=draw(st.sampled_from([0, F(1, 7)])),
        trap=draw(st.sampled_from([1, 2])),
        attempts=draw(st.sampled_from([3, 20])),
        **slips,
        **extension,
    )
