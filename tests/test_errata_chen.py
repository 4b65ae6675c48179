"""Chen 2001: each row of docs/errata.md, computed as it is said and as it is right.

Tests are named after their rows; `test_errata.py` sees that no row is without one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from statistics import mean

import pytest

from benchmarks.papers.grid_experiments import LOAD, RATES, SETTINGS
from dlopt.heuristics.dag.levels import compute_levels
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Machine,
    Network,
    Task,
    violations_executed,
)
from dlopt.simulation.grid import (
    TOPOLOGIES,
    FailureModel,
    Grid,
    LanSite,
    Node,
    Policy,
    Router,
    WanLink,
    Workload,
    simulate_grid,
    variant,
)

F = Fraction

# chen-1: table 1 ------------------------------------------------------------

TABLE = {
    "N1": (0, 36, 5),
    "N2": (8, 19, 4),
    "N3": (6, 18, 2),
    "N4": (14, 12, 2),
    "N5": (16, 11, 3),
    "N6": (14, 22, 8),
    "N7": (11, 11, 6),
    "N8": (26, 7, 7),
    "N9": (29, 1, 1),
}
"""t-level, b-level and weight, as printed."""
EDGES = {
    ("N1", "N2"): 3,
    ("N1", "N3"): 1,
    ("N1", "N6"): 9,
    ("N2", "N4"): 2,
    ("N2", "N5"): 4,
    ("N3", "N7"): 3,
    ("N3", "N5"): 5,
    ("N1", "N7"): 6,
    ("N4", "N8"): 3,
    ("N5", "N8"): 1,
    ("N7", "N9"): 4,
    ("N1", "N9"): 24,
}
REPAIRS = {
    "N6": ({"N6": (14, 19, 8), "N1": (0, 33, 5)}, 4),
    "N8": ({"N8": (29, 7, 7)}, 7),
}
"""What else a table could have, and what then goes from N6 to N8."""


def longest(table: dict[str, tuple[int, int, int]]) -> tuple[int, int]:
    """Return the longest path, as the entry says, and as the exits say."""
    ends = {name for name, (_, b, weight) in table.items() if b == weight}
    entry = max(b for t, b, _ in table.values() if t == 0)
    return entry, max(table[name][0] + table[name][2] for name in ends)


def test_chen_1_no_graph_has_the_levels_of_the_table() -> None:
    """Whatever the edges: a longest path ends at an exit, whose b-level is its own weight."""
    assert {name for name, (_, b, weight) in TABLE.items() if b == weight} == {"N8", "N9"}
    assert longest(TABLE) == (36, 33)
    assert max(t + b for t, b, _ in TABLE.values()) == TABLE["N6"][0] + TABLE["N6"][1] == 36


@pytest.mark.parametrize("name", REPAIRS)
def test_chen_1_a_graph_has_the_levels_of_a_repaired_table(name: str) -> None:
    """N2 is the parent of N4 and N5, N1 the entry, N8 and N9 the exits."""
    changes, data = REPAIRS[name]
    table = {**TABLE, **changes}
    assert len(set(longest(table))) == 1
    names = list(table)
    edges = {**EDGES, ("N6", "N8"): data}
    graph = Graph(
        "figure 1",
        tuple(Task(one, table[one][2]) for one in names),
        tuple(Edge(names.index(a), names.index(b), data) for (a, b), data in edges.items()),
    )
    found = compute_levels(Instance((Machine("m"), Machine("n")), (graph,), Network(bandwidth=1)))
    for level, place in (("t-level", 0), ("b-level", 1)):
        assert list(found[level]) == [table[one][place] for one in names]


# chen-2: when a machine has failed ------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "turned", "right"),
    [(100, 250, False, True), (100, 40, True, False), (100, float("inf"), False, True)],
)
def test_chen_2_what_a_failure_is(
    expected: float, actual: float, turned: bool, right: bool
) -> None:
    """Turned round, what is back early has failed, and what never comes has not."""
    assert (expected > 2 * actual) is turned
    assert (actual > 2 * expected) is right
    if actual < float("inf"):
        assert (_traps(F(int(actual), int(expected))) > 0) is right


def _traps(factor: Fraction) -> int:
    instance = Instance(
        (Machine("m", lan=0),),
        (Graph("g", (Task("t", 100),), lan=0),),
        Network("scheduler", "counted", lans=(Lan("l"),)),
    )
    failure_model = FailureModel(slowdown=(factor, factor))
    policy = Policy(attempts=2)
    return simulate_grid(instance, failure_model=failure_model, policy=policy).outcome.traps


# chen-3: .05 % ------------------------------------------------------------


def test_chen_3_the_first_failure_rate() -> None:
    """The step is said to be from 0 to .5 %, which is beyond all rates of table 5."""
    said, in_the_table = F(5, 1000), F(5, 10000)
    rates = [F(str(rate)) for rate in RATES]
    assert rates == [0, F(5, 10000), F(1, 1000), F(15, 10000), F(2, 1000)]
    assert in_the_table == rates[1] and said not in rates and said > max(rates)


# chen-4: equation 7 ------------------------------------------------------------

BANDWIDTHS = {("a", "r"): F(10), ("r", "s"): F(20), ("s", "b"): F(5), ("b", "x"): F(10)}
DELAYS = {"r": F(2), "s": F(3)}
WAY = ["a", "r", "s", "b", "x"]


def carried(way: list[str], size: Fraction, wires: int) -> Fraction:
    """Return the sum of equation 7 over so many wires from the start, with the delays between."""
    pairs = list(pairwise(way))[:wires]
    delays = sum((DELAYS[source] for source, _ in pairs[1:] if source in DELAYS), F(0))
    return sum((size / BANDWIDTHS[pair] for pair in pairs), F(0)) + delays


def test_chen_4_both_cases_have_one_condition() -> None:
    """Of the neighbours s and b both apply: 20 s by the first; 30, with the wire from b to x."""
    neighbours, size = WAY[2:], F(100)
    first, second = size / BANDWIDTHS["s", "b"], carried(neighbours, size, 2)
    assert (first, second) == (20, 30)
    assert carried(neighbours, size, 1) == first  # up to the wire before the end they agree


def test_chen_4_the_sum_goes_one_wire_too_far() -> None:
    """From a to b: 10 + 2 + 5 + 3 + 20 s for 100 KB; as printed 10 more, for a wire beyond b."""
    size = F(100)
    right, printed = carried(WAY, size, 3), carried(WAY, size, 4)
    assert (right, printed) == (40, 50)
    sites = tuple(LanSite(name, (Node(),)) for name in ("a", "b", "x"))
    wires = tuple(WanLink(ends, bandwidth) for ends, bandwidth in BANDWIDTHS.items())
    routers = tuple(Router(name, delay) for name, delay in DELAYS.items())
    (link, *_) = Grid(sites, routers, wires).built().network.wan_links
    assert (link.source, link.target) == (0, 1)
    assert link.latency + size / link.bandwidth == right


# chen-5: actual times ------------------------------------------------------------


def test_chen_5_a_loaded_machine_takes_longer() -> None:
    """Half of a CPU is free: twice the estimate, which is that of a machine that is all free."""
    instance = Instance(
        (Machine("m", F(1, 2), lan=0),),
        (Graph("g", (Task("t", 10),), lan=0),),
        Network("scheduler", "counted", lans=(Lan("l"),)),
    )
    free = F(1, 2)
    failure_model = FailureModel(slowdown=(1 / free, 1 / free))
    run = simulate_grid(
        instance, failure_model=failure_model, policy=Policy(trap=9), exact_numbers=True
    )
    assert run.trace is not None
    (one,) = run.trace.runs
    estimate, actual = F(10) / F(1, 2), one.end - one.start
    assert (estimate, actual) == (20, 40)
    as_said = violations_executed(instance, run.trace, slowdown=(F(1, 10**9), 1))
    assert {violation.kind for violation in as_said} == {"duration"}
    assert violations_executed(instance, run.trace, slowdown=(1, 10**9)) == ()


def test_chen_5_the_reference_has_both_sides_and_a_setting_the_sound_one() -> None:
    assert LOAD[0] < 1 < LOAD[1] < 2
    (sound,) = [setting for setting in SETTINGS if setting.name.startswith("load 1")]
    assert dict(sound.changes)["slowdown"] == (1, LOAD[1])


# chen-6: how many nodes ------------------------------------------------------------


def test_chen_6_how_many_nodes_there_are() -> None:
    """100 LANs of 10 nodes and 10 routers are 1,010; with a gateway for each LAN 1,110."""
    grid = TOPOLOGIES["tiers"]()
    nodes = sum(len(site.nodes) for site in grid.lans) + len(grid.routers)
    assert nodes == 1010
    assert 1100 not in (nodes, nodes + len(grid.lans))


# chen-7: milliseconds ------------------------------------------------------------


def test_chen_7_the_interval_is_in_seconds() -> None:
    """In milliseconds hundreds of times the capacity arrive, in seconds .3 to 1.6 times."""
    works = [sum(task.work or 0 for task in g.tasks) for g in Workload(tasks=400).graphs(100)]
    capacity = 10 * mean((0.3, 1.0))  # of a LAN, in work a second
    loads = {interval: mean(works) / capacity / interval for interval in (1000, 5000)}
    assert 0.28 < loads[5000] < 0.34 and 1.4 < loads[1000] < 1.7
    assert min(1000 * load for load in loads.values()) > 280


# chen-8 to chen-10: rules that are sound as printed, and poor ------------------------------------


def chosen(
    powers: tuple[int, ...], *graphs: Graph, name: str = "corrected", queue_size: int = 3
) -> tuple[list[int], Fraction]:
    """Return the machines of the runs on a LAN, and when the last graph is back."""
    machines = tuple(Machine(f"m{k}", power, lan=0) for k, power in enumerate(powers))
    instance = Instance(machines, graphs, Network("scheduler", "counted", lans=(Lan("l"),)))
    policy = variant(name, Policy(external_time=0, internal_time=0, queue_size=queue_size))
    run = simulate_grid(instance, policy=policy, exact_numbers=True)
    assert run.trace is not None and run.check() == ()  # what is printed is sound
    back = [F(course.returned) for course in run.trace.courses if course.returned is not None]
    assert len(back) == len(graphs)
    return [one.machine for one in run.trace.runs], max(back)


def single(name: str, work: int, data: int = 0) -> Graph:
    return Graph(name, (Task("t", work),), lan=0, input=data)


def test_chen_8_a_full_machine_stops_the_mapping() -> None:
    """As printed the slower machine is never asked, and the tasks take 13/4 instead of 20/7."""
    graph = Graph("g", tuple(Task(f"t{k}", work) for k, work in enumerate((30, 20, 15))), lan=0)
    printed = chosen((20, 7), graph, name="literal-head-of-line", queue_size=1)
    assert printed == ([0, 0, 0], F(13, 4))
    assert chosen((20, 7), graph, queue_size=1) == ([0, 1, 0], F(20, 7))


def test_chen_9_transfers_are_added_to_what_they_overlap() -> None:
    """Free at 4, data at 3, 2 to run: 6 and not 9; the slow machine ends at 8."""
    graphs = single("first", 20), single("next", 10, data=3)
    assert chosen((5, 2), *graphs) == ([0, 0], 6)
    assert chosen((5, 2), *graphs, name="literal-eq5") == ([0, 1], 8)


def test_chen_10_a_machine_that_waits_for_data_is_not_free() -> None:
    """Data until 10 and work until 14, and yet it seems to be free at 4, and gets the next too."""
    graphs = single("first", 20, data=10), single("next", 20)
    assert chosen((5, 2), *graphs) == ([0, 1], 14)
    machines, back = chosen((5, 2), *graphs, name="literal-eq6")
    assert machines[:2] == [0, 0] and back == 18  # a third run is tried as the second is overdue
