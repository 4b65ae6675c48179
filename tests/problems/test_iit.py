"""The rules of one divisible load: what an instance may hold, and what a plan may not do."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems import iit, records
from dlopt.problems.cluster import MOST_NODES, Cluster
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.problems.records import HEADER_FIELDS
from dlopt.problems.timeline import earliest_plan
from dlopt.result import Violation
from tests.problems.test_timeline import orders

F = Fraction
FINITE = 'must be a finite number or a text "p/q"'
POSITIVE = "must be positive"
NOT_NEGATIVE = "must not be negative"
INTEGER = "must be an integer"
OBJECT = "must be an object with named fields"
MISSING = object()

# --- what an instance may hold -------------------------------------------------------------


def data() -> dict[str, Any]:
    return {
        "name": "three",
        "cluster": {"nodes": 3, "tau": [1, 2, 0], "chi": 2, "theta_cm": 1, "theta_cp": "1/2"},
        "ready_times": [0, 1, 4],
        "load": 3,
        "absolute_deadline": 9,
        "best_known": [{"objective": "completion", "plan_class": "any", "value": 5}],
    }


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the data with one field set, or dropped if `value` is MISSING."""
    whole = data()
    *above, last = path.split(".")
    part: Any = whole
    for key in above:
        part = part[key]
    if value is MISSING:
        del part[last]
    else:
        part[last] = value
    return whole


def told(found: Iterable[Any]) -> list[str]:
    return [str(fault) for fault in found]


NO_NUMBERS = [None, True, "", "one", "1/0", "1e400", math.nan, math.inf, -math.inf, {}, 10**400]
WRONG: list[tuple[str, object, str]] = [
    ("cluster", MISSING, "is missing"),
    ("cluster", None, OBJECT),
    ("cluster", [1, 2, 3], OBJECT),
    ("cluster", 3, OBJECT),
    ("ready_times", MISSING, "is missing"),
    ("ready_times", None, "must be a list"),
    ("ready_times", 0, "must be a list"),
    ("ready_times", "0", "must be a list"),
    ("ready_times", {}, "must be a list"),
    ("ready_times", [], "must be a list of at least 1"),
    ("load", MISSING, "is missing"),
    ("load", 0, POSITIVE),
    ("load", 0.0, POSITIVE),
    ("load", "0/7", POSITIVE),
    ("load", -1, POSITIVE),
    ("load", "-1/3", POSITIVE),
    ("load", [3], FINITE),
    ("absolute_deadline", -1, NOT_NEGATIVE),
    ("absolute_deadline", [9], FINITE),
    ("name", 3, "must be a text"),
    ("origin", ["a"], "must be a text"),
    ("units", None, "must be a text"),
    ("best_known", {}, "must be a list"),
    ("cluster.nodes", MISSING, "is missing"),
    ("cluster.nodes", 0, "must be at least 1"),
    ("cluster.nodes", -1, "must be at least 1"),
    ("cluster.nodes", 10_000_000, f"must be at most {MOST_NODES}"),
    ("cluster.nodes", 10**5000, f"must be at most {MOST_NODES}"),
    *(("cluster.nodes", wrong, INTEGER) for wrong in (1.5, 3.0, True, "3", None, [3], F(3))),
    ("cluster.tau", MISSING, "is missing"),
    ("cluster.chi", MISSING, "is missing"),
    *(
        (f"cluster.{name}", wrong, NOT_NEGATIVE)
        for name in ("tau", "chi", "theta_cm", "theta_cp")
        for wrong in (-1, -0.5, "-1/2", -math.ulp(0))
    ),
    *(
        (path, wrong, FINITE)
        for path in ("load", "cluster.tau", "cluster.chi", "cluster.theta_cm", "cluster.theta_cp")
        for wrong in NO_NUMBERS
    ),
    *(("absolute_deadline", wrong, FINITE) for wrong in NO_NUMBERS[1:]),
    *((f"cluster.{name}", [1], FINITE) for name in ("theta_cm", "theta_cp")),
]


def label(value: object) -> str:
    if value is MISSING:
        return "missing"
    try:
        return repr(value)[:12]
    except ValueError:
        return "huge"


@pytest.mark.parametrize(("path", "value", "rule"), WRONG, ids=label)
def test_a_field_that_is_wrong(path: str, value: object, rule: str) -> None:
    (fault,) = iit.faults(changed(path, value))
    assert (fault.path, fault.rule) == (path, rule)
    if value is not MISSING:
        assert fault.value is value
        assert ", got " in str(fault)
    with pytest.raises(InvalidInstanceError) as caught:
        Instance.from_data(changed(path, value))
    assert caught.value.faults == (fault,)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("cluster.tau", [1, 2], "cluster.tau: must have one entry for each of the 3 nodes, got 2"),
        ("cluster.tau", [], "cluster.tau: must have one entry for each of the 3 nodes, got 0"),
        (
            "cluster.chi",
            [1, 2, 3, 4],
            "cluster.chi: must have one entry for each of the 3 nodes, got 4",
        ),
        ("cluster.tau", [1, -2, 1], "cluster.tau[1]: must not be negative, got -2"),
        ("cluster.tau", [1, 2, "x"], f"cluster.tau[2]: {FINITE}, got 'x'"),
        ("cluster.tau", [1, 2, [3]], f"cluster.tau[2]: {FINITE}, got [3]"),
        ("cluster.chi", [1, math.nan, 1], f"cluster.chi[1]: {FINITE}, got nan"),
        ("cluster.chi", [1, True, 1], f"cluster.chi[1]: {FINITE}, got True"),
        ("cluster.chi", 0, "cluster.chi: must be positive where tau[2] is 0, got 0"),
        ("cluster.chi", [1, 0, 0], "cluster.chi[2]: must be positive where tau[2] is 0, got 0"),
        ("ready_times", [0, 1], "ready_times: must have one entry for each of the 3 nodes, got 2"),
        ("ready_times", [0, 1, -4], "ready_times[2]: must not be negative, got -4"),
        ("ready_times", [0, None, 4], f"ready_times[1]: {FINITE}, got None"),
        ("ready_times", [0, math.inf, 4], f"ready_times[1]: {FINITE}, got inf"),
        (
            "ready_times",
            [9, 10, 11],
            "absolute_deadline: must lie after the first ready time, 9, got 9",
        ),
        (
            "absolute_deadline",
            0,
            "absolute_deadline: must lie after the first ready time, 0, got 0",
        ),
        ("absolute_deadline", "-1/2", "absolute_deadline: must not be negative, got '-1/2'"),
        ("best_known", [{"objective": "nodes"}], "best_known[0].plan_class: is missing"),
        (
            "speed",
            1,
            "speed: is not a field (known: name, origin, units, best_known, cluster, ready_times,"
            " load, absolute_deadline), got 1",
        ),
        (
            "cluster.speed",
            [1],
            "cluster.speed: is not a field (known: nodes, tau, chi, theta_cm, theta_cp), got [1]",
        ),
    ],
)  # fmt: skip
def test_the_text_of_a_fault(path: str, value: object, text: str) -> None:
    assert told(iit.faults(changed(path, value))) == [text]


def test_the_data_that_these_tests_change_is_fine() -> None:
    assert iit.faults(data()) == ()
    instance = Instance.from_data(data())
    assert instance == Instance(
        Cluster(3, (1, 2, 0), 2, 1, F(1, 2)), (0, 1, 4), 3, absolute_deadline=9
    )
    assert instance.best_known[0].value == 5
    for name in ("name", "absolute_deadline", "best_known", "cluster.theta_cm"):
        assert iit.faults(changed(name, MISSING)) == ()
    assert iit.faults(changed("absolute_deadline", None)) == ()


@pytest.mark.parametrize(
    ("cluster", "text"),
    [
        ({"tau": 0, "chi": 0}, "cluster.chi: must be positive where tau is 0, got 0"),
        ({"tau": "0/3", "chi": 0.0}, "cluster.chi: must be positive where tau is 0, got 0.0"),
        ({"tau": [0, 0, 1], "chi": [1, 0, 0]},
         "cluster.chi[1]: must be positive where tau[1] is 0, got 0"),
        ({"tau": 0, "chi": [1, 1, 0]}, "cluster.chi[2]: must be positive where tau[2] is 0, got 0"),
        ({"tau": [1, 0, 1], "chi": 0}, "cluster.chi: must be positive where tau[1] is 0, got 0"),
    ],
)  # fmt: skip
def test_a_node_that_takes_no_time(cluster: dict[str, object], text: str) -> None:
    wrong = {"cluster": {"nodes": 3, **cluster}, "ready_times": [0, 0, 0], "load": 1}
    assert told(iit.faults(wrong)) == [text]
    with pytest.raises(InvalidInstanceError):
        Cluster(3, **{name: tuple(c) if isinstance(c, list) else c for name, c in cluster.items()})


def test_all_faults_are_told_at_once() -> None:
    wrong = {
        "cluster": {"nodes": 3, "tau": [0, 1], "chi": [0, 1, -1], "theta_cm": "x", "speed": 1},
        "ready_times": [-1, 5],
        "load": 0,
        "absolute_deadline": -1,
        "best_known": [{}],
        "deadline": 3,
    }
    assert [fault.path for fault in iit.faults(wrong)] == [
        "best_known[0].objective",
        "best_known[0].plan_class",
        "cluster.chi[2]",
        "cluster.theta_cm",
        "cluster.speed",
        "cluster.tau",
        "ready_times[0]",
        "load",
        "absolute_deadline",
        "deadline",
    ]
    lengths = {
        "cluster": {"nodes": 2, "tau": [0, 1, 0], "chi": [0, 1, 0]},
        "ready_times": [5, 6, 7],
        "load": 1,
        "absolute_deadline": 5,
    }
    assert told(iit.faults(lengths)) == [
        "cluster.tau: must have one entry for each of the 2 nodes, got 3",
        "cluster.chi: must have one entry for each of the 2 nodes, got 3",
        "cluster.chi[0]: must be positive where tau[0] is 0, got 0",
        "cluster.chi[2]: must be positive where tau[2] is 0, got 0",
        "absolute_deadline: must lie after the first ready time, 5, got 5",
    ]
    two = {"cluster": {"nodes": 2, "tau": 1, "chi": 1}, "ready_times": [5], "load": 1}
    assert [fault.path for fault in iit.faults({**two, "absolute_deadline": 2})] == [
        "ready_times",
        "absolute_deadline",
    ]


@pytest.mark.parametrize("wrong", [None, [], "cluster", 3, [data()]])
def test_what_is_no_object_is_no_instance(wrong: object) -> None:
    (fault,) = iit.faults(wrong)
    assert (fault.path, fault.value, fault.rule) == ("", wrong, OBJECT)


def test_a_ready_time_of_thousands_of_digits_can_be_told() -> None:
    long = f"{10**4200 + 1}{'0' * 900}/{10**4200}{'0' * 899}"
    wrong = {**changed("ready_times", [long] * 3), "absolute_deadline": long}
    (text,) = told(iit.faults(wrong))
    assert text.startswith("absolute_deadline: must lie after the first ready time, 10, got ")


def test_constructors_check_too() -> None:
    with pytest.raises(InvalidInstanceError) as caught:
        Instance(Cluster(1, 1, 1), (0, -1), load=True, absolute_deadline=math.nan)
    assert [fault.path for fault in caught.value.faults] == [
        "ready_times[1]",
        "load",
        "absolute_deadline",
    ]
    with pytest.raises(InvalidInstanceError, match=r"^chi: is missing|^nodes: must be an integer"):
        Cluster(1.0, 1, 1)
    with pytest.raises(InvalidInstanceError, match="ready_times: must have one entry"):
        replace(Instance(Cluster(1, 1, 1), (0,), 1), ready_times=(0, 1))
    with pytest.raises(InvalidInstanceError) as caught:
        Chunk(0.5, "x", 0, True, math.inf, None)
    assert [fault.path for fault in caught.value.faults] == [
        "node",
        "load",
        "transmission_end",
        "computation_start",
        "computation_end",
    ]
    with pytest.raises(InvalidInstanceError, match=r"chunks\[0\]: must be an object"):
        Solution((1,))


def test_a_plan_may_say_what_breaks_the_rules() -> None:
    """Negative loads and strange nodes are for the checker, not for the constructor."""
    assert Chunk(-1, -2, 5, 4, 3, 2).node == -1


@pytest.mark.parametrize(
    ("cluster", "identical", "setup"),
    [
        (Cluster(2, 1, 2), True, False),
        (Cluster(2, (1, 1), (2, 2.0)), True, False),
        (Cluster(2, (1, 2), 2), False, False),
        (Cluster(2, 1, (1, 2), theta_cm=1), False, True),
        (Cluster(2, 1, 1, theta_cp=F(1, 9)), True, True),
    ],
)
def test_clusters(cluster: Cluster, identical: bool, setup: bool) -> None:
    assert (cluster.identical, cluster.has_setup_costs) == (identical, setup)


def test_costs_of_a_node() -> None:
    cluster = Cluster(2, (1, 3), 2)
    assert [cluster.tau_of(node) for node in (0, 1)] == [1, 3]
    assert [cluster.chi_of(node) for node in (0, 1)] == [2, 2]
    assert [Cluster(2, 1, (5, 7)).chi_of(node) for node in (0, 1)] == [5, 7]


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": Cluster(2, 1.0, 1)},
        {"cluster": Cluster(2, 1, (1, 1.0))},
        {"cluster": Cluster(2, 1, 1, 0.5)},
        {"cluster": Cluster(2, 1, 1, 0, 0.5)},
        {"ready_times": (0, 1.0)},
        {"load": 2.0},
        {"absolute_deadline": 9.0},
    ],
)
def test_one_float_makes_an_instance_inexact(change: dict[str, object]) -> None:
    instance = Instance(Cluster(2, 1, (1, F(1, 2))), (0, F(1, 3)), 2, absolute_deadline=9)
    assert instance.exact
    assert replace(instance, absolute_deadline=None).exact
    assert not replace(instance, **change).exact


# --- what a plan is worth ------------------------------------------------------------------

SMALLEST = Instance(Cluster(1, tau=1, chi=2, theta_cm=3, theta_cp=4), (5,), load=6)
SMALLEST_PLAN = Solution((Chunk(0, 6, 5, 14, 14, 30),))


def test_a_smallest_valid_plan() -> None:
    assert iit.violations(SMALLEST, SMALLEST_PLAN) == ()
    assert iit.objective(SMALLEST, SMALLEST_PLAN) == 30
    assert iit.objective(SMALLEST, SMALLEST_PLAN, "nodes") == 1
    assert iit.violations(replace(SMALLEST, absolute_deadline=30), SMALLEST_PLAN) == ()


def test_objectives() -> None:
    plan = Solution(
        (Chunk(2, 1, 0, 1, 1, 0.1), Chunk(0, 1, 1, 2, 2, F(1, 20)), Chunk(2, 1, 0, 0, 0, 0))
    )
    completion = iit.objective(SMALLEST, plan, "completion")
    assert completion == F(0.1)
    assert type(completion) is F
    assert iit.objective(SMALLEST, plan, "nodes") == 2
    assert iit.default_objective(SMALLEST) == "completion"
    assert {key: goal.name for key, goal in iit.OBJECTIVES.items()} == {
        "completion": "completion",
        "nodes": "nodes",
    }
    assert {goal.sense for goal in iit.OBJECTIVES.values()} == {"min"}
    assert iit.OBJECTIVES["nodes"].needs == "absolute_deadline"
    with pytest.raises(NotApplicableError, match="no objective 'makespan': completion, nodes"):
        iit.objective(SMALLEST, plan, "makespan")


def test_an_empty_plan_is_told_apart_by_its_load_only() -> None:
    empty = Solution(())
    assert iit.violations(SMALLEST, empty) == (Violation("load-not-conserved", "load", amount=6),)
    assert iit.objective(SMALLEST, empty) == 0
    assert iit.objective(SMALLEST, empty, "nodes") == 0


# --- what a plan may not do: one smallest plan for every kind -------------------------------

PAIR = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=2)

SMALLEST_BROKEN: dict[str, tuple[Instance, tuple[Chunk, ...], tuple[Violation, ...]]] = {
    "unknown-node": (
        PAIR,
        (Chunk(0, 2, 0, 2, 2, 4), Chunk(2, 1, 2, 3, 3, 4)),
        (Violation("unknown-node", "node 2", amount=1),),
    ),
    "channel-overlap": (
        PAIR,
        (Chunk(0, 1, 0, 1, 1, 2), Chunk(1, 1, F(1, 3), F(4, 3), F(4, 3), F(7, 3))),
        (Violation("channel-overlap", "channel", F(1, 3), 1, F(2, 3)),),
    ),
    "node-overlap": (
        PAIR,
        (Chunk(0, 1, 0, 1, 1, 2), Chunk(0, 1, 1, 2, 2, 3)),
        (Violation("node-overlap", "node 0", 1, 2, 1),),
    ),
    "not-ready": (
        SMALLEST,
        (Chunk(0, 6, 4, 13, 14, 30),),
        (Violation("not-ready", "node 0", 4, 5, 1),),
    ),
    "computes-before-received": (
        SMALLEST,
        (Chunk(0, 6, 5, 14, 12, 28),),
        (Violation("computes-before-received", "node 0", 12, 14, 2),),
    ),
    "transmission-duration": (
        SMALLEST,
        (Chunk(0, 6, 5, 11, 14, 30),),
        (Violation("transmission-duration", "node 0", 5, 11, 3),),
    ),
    "computation-duration": (
        SMALLEST,
        (Chunk(0, 6, 5, 14, 14, 34),),
        (Violation("computation-duration", "node 0", 14, 34, 4),),
    ),
    "negative-load": (
        PAIR,
        (Chunk(0, 3, 0, 3, 3, 6), Chunk(1, -1, 3, 2, 3, 2)),
        (Violation("negative-load", "node 1", 3, 2, 1),),
    ),
    "load-not-conserved": (
        PAIR,
        (Chunk(0, F(5, 3), 0, F(5, 3), F(5, 3), F(10, 3)),),
        (Violation("load-not-conserved", "load", amount=F(1, 3)),),
    ),
    "deadline": (
        replace(SMALLEST, absolute_deadline=28),
        SMALLEST_PLAN.chunks,
        (Violation("deadline", "node 0", 28, 30, 2),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", iit.KINDS)
def test_the_smallest_plan_of_each_kind(kind: str) -> None:
    instance, chunks, expected = SMALLEST_BROKEN[kind]
    found = iit.violations(instance, Solution(chunks))
    assert found == expected
    assert {violation.kind for violation in found} == {kind}


def test_every_kind_has_a_smallest_plan_and_a_corruption() -> None:
    assert set(SMALLEST_BROKEN) == set(iit.KINDS)
    assert {kind for corruption in CORRUPTIONS for kind in corruption.kinds} == set(iit.KINDS)
    assert len(set(iit.KINDS)) == len(iit.KINDS)


# --- the checker by mutation ---------------------------------------------------------------

amounts = st.fractions(F(1, 60), 5, max_denominator=60)


@dataclass(frozen=True)
class Corrupted:
    """A plan that was valid, and what must be found in it now.

    `expected` must be among the violations; `alone` says that there must be no other.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    expected: tuple[Violation, ...]
    alone: bool = True


Corrupt = Callable[[Any, Instance, tuple[Chunk, ...]], Corrupted]


@dataclass(frozen=True)
class Corruption:
    name: str
    kinds: tuple[str, ...]
    corrupt: Corrupt


CORRUPTIONS: list[Corruption] = []


def corruption(*kinds: str) -> Callable[[Corrupt], Corrupt]:
    def register(function: Corrupt) -> Corrupt:
        CORRUPTIONS.append(Corruption(function.__name__, kinds, function))
        return function

    return register


def moved(chunk: Chunk, by: Fraction) -> Chunk:
    """Return the chunk, sent and computed later by so much."""
    return replace(
        chunk,
        transmission_start=chunk.transmission_start + by,
        transmission_end=chunk.transmission_end + by,
        computation_start=chunk.computation_start + by,
        computation_end=chunk.computation_end + by,
    )


def with_chunk(chunks: tuple[Chunk, ...], index: int, chunk: Chunk) -> tuple[Chunk, ...]:
    return (*chunks[:index], chunk, *chunks[index + 1 :])


def some_chunk(draw: Any, chunks: tuple[Chunk, ...]) -> tuple[int, Chunk]:
    index = draw(st.integers(0, len(chunks) - 1))
    return index, chunks[index]


def share(draw: Any, most: Fraction) -> Fraction:
    """Return a part of `most`: above 0, at most all of it."""
    return most * draw(st.fractions(F(1, 8), 1, max_denominator=8))


def send_of(chunk: Chunk) -> Fraction:
    return chunk.transmission_end - chunk.transmission_start


def costs_of(cluster: Cluster, node: int) -> tuple[object, object]:
    return cluster.tau_of(node), cluster.chi_of(node)


def name(chunk: Chunk) -> str:
    return f"node {chunk.node}"


@corruption("not-ready")
def sent_before_it_is_ready(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    first, early = chunks[0], draw(amounts)  # the first chunk is sent when its node is ready
    ready = instance.ready_times[first.node]
    expected = Violation("not-ready", name(first), ready - early, ready, early)
    return Corrupted(instance, (moved(first, -early), *chunks[1:]), (expected,))


@corruption("channel-overlap")
def two_sends_at_once(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    sends = [index for index, chunk in enumerate(chunks) if send_of(chunk) > 0]
    assume(len(sends) > 1)
    place = draw(st.integers(1, len(sends) - 1))
    before, after = chunks[sends[place - 1]], chunks[sends[place]]
    shared = share(draw, min(send_of(before), send_of(after)))
    end = before.transmission_end
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("channel-overlap", "channel", end - shared, end, shared)
    return Corrupted(instance, with_chunk(chunks, sends[place], early), (expected,), alone=False)


@corruption("node-overlap")
def two_chunks_on_a_node(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    pairs = [
        (i, j)
        for i, j in combinations(range(len(chunks)), 2)
        if chunks[i].node == chunks[j].node
        and all(chunk.node != chunks[i].node for chunk in chunks[i + 1 : j])
    ]
    assume(pairs)
    i, j = draw(st.sampled_from(pairs))
    before, after = chunks[i], chunks[j]
    end = before.computation_end
    most = min(c.computation_end - c.transmission_start for c in (before, after))
    shared = share(draw, most)
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("node-overlap", name(before), end - shared, end, shared)
    return Corrupted(instance, with_chunk(chunks, j, early), (expected,), alone=False)


@corruption("load-not-conserved")
def dropped(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    rest = (*chunks[:index], *chunks[index + 1 :])
    return Corrupted(instance, rest, (Violation("load-not-conserved", "load", amount=chunk.load),))


@corruption("load-not-conserved", "node-overlap", "channel-overlap")
def doubled(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    _, chunk = some_chunk(draw, chunks)
    start, received, done = chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    channel = (Violation("channel-overlap", "channel", start, received, received - start),)
    return Corrupted(
        instance,
        (*chunks, chunk),
        (
            *(channel if received > start else ()),
            Violation("node-overlap", name(chunk), start, done, done - start),
            Violation("load-not-conserved", "load", amount=-chunk.load),
        ),
    )


@corruption("transmission-duration", "computation-duration")
def swapped(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    """Two chunks swap their nodes, which take other times."""
    cluster = instance.cluster
    pairs = [
        (i, j)
        for i, j in combinations(range(len(chunks)), 2)
        if costs_of(cluster, chunks[i].node) != costs_of(cluster, chunks[j].node)
    ]
    assume(pairs)
    i, j = draw(st.sampled_from(pairs))
    one, two = chunks[i], chunks[j]
    sends = abs(cluster.tau_of(one.node) - cluster.tau_of(two.node))
    computes = abs(cluster.chi_of(one.node) - cluster.chi_of(two.node))
    new = (replace(one, node=two.node), replace(two, node=one.node))
    expected = []
    for c in new:
        if sends:
            amount = c.load * sends
            times = (c.transmission_start, c.transmission_end)
            expected.append(Violation("transmission-duration", name(c), *times, amount))
        if computes:
            amount = c.load * computes
            times = (c.computation_start, c.computation_end)
            expected.append(Violation("computation-duration", name(c), *times, amount))
    both = with_chunk(with_chunk(chunks, i, new[0]), j, new[1])
    return Corrupted(instance, both, tuple(expected), alone=False)


@corruption("transmission-duration")
def shorter_send(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, start = draw(amounts), chunk.transmission_start
    short = replace(chunk, transmission_end=chunk.transmission_end - off)
    expected = Violation("transmission-duration", name(chunk), start, short.transmission_end, off)
    return Corrupted(instance, with_chunk(chunks, index, short), (expected,))


@corruption("transmission-duration", "computes-before-received")
def longer_send(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    chunk, off = chunks[-1], draw(amounts)  # the last one, so that no other is in its way
    start, begun = chunk.transmission_start, chunk.computation_start
    end = chunk.transmission_end + off
    return Corrupted(
        instance,
        (*chunks[:-1], replace(chunk, transmission_end=end)),
        (
            Violation("transmission-duration", name(chunk), start, end, off),
            Violation("computes-before-received", name(chunk), begun, end, off),
        ),
    )


@corruption("computation-duration")
def shorter_computation(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, begun = draw(amounts), chunk.computation_start
    short = replace(chunk, computation_end=chunk.computation_end - off)
    expected = Violation("computation-duration", name(chunk), begun, short.computation_end, off)
    return Corrupted(instance, with_chunk(chunks, index, short), (expected,))


@corruption("computation-duration")
def longer_computation(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    chunk, off = chunks[-1], draw(amounts)
    begun, end = chunk.computation_start, chunk.computation_end + off
    expected = Violation("computation-duration", name(chunk), begun, end, off)
    return Corrupted(instance, (*chunks[:-1], replace(chunk, computation_end=end)), (expected,))


@corruption("computes-before-received")
def computed_before_received(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    off, received = draw(amounts), chunk.transmission_end
    early = replace(
        chunk,
        computation_start=chunk.computation_start - off,
        computation_end=chunk.computation_end - off,
    )
    expected = Violation("computes-before-received", name(chunk), received - off, received, off)
    return Corrupted(instance, with_chunk(chunks, index, early), (expected,))


@corruption("negative-load", "load-not-conserved")
def negative(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    times, owed = (chunk.transmission_start, chunk.transmission_end), draw(amounts)
    expected = (
        Violation("negative-load", name(chunk), *times, owed),
        Violation("load-not-conserved", "load", amount=chunk.load + owed),
    )
    new = with_chunk(chunks, index, replace(chunk, load=-owed))
    return Corrupted(instance, new, expected, alone=False)


@corruption("load-not-conserved", "transmission-duration", "computation-duration")
def leak(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    cluster = instance.cluster
    index, chunk = some_chunk(draw, chunks)
    lost = share(draw, F(chunk.load)) * draw(st.sampled_from([1, -1]))
    send = abs(lost) * cluster.tau_of(chunk.node)
    compute = abs(lost) * cluster.chi_of(chunk.node)
    sent = (chunk.transmission_start, chunk.transmission_end)
    computed = (chunk.computation_start, chunk.computation_end)
    expected = [
        Violation("transmission-duration", name(chunk), *sent, send),
        Violation("computation-duration", name(chunk), *computed, compute),
        Violation("load-not-conserved", "load", amount=lost),
    ]
    new = with_chunk(chunks, index, replace(chunk, load=chunk.load - lost))
    return Corrupted(instance, new, tuple(v for v in expected if v.amount))


@corruption("unknown-node", "load-not-conserved")
def strange_node(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    index, chunk = some_chunk(draw, chunks)
    node = draw(st.sampled_from([-1, instance.cluster.nodes, 10**30]))
    return Corrupted(
        instance,
        with_chunk(chunks, index, replace(chunk, node=node)),
        (
            Violation("unknown-node", f"node {node}", amount=chunk.load),
            Violation("load-not-conserved", "load", amount=chunk.load),
        ),
    )


@corruption("deadline")
def too_late(draw: Any, instance: Instance, chunks: tuple[Chunk, ...]) -> Corrupted:
    first = min(instance.ready_times)
    end = max(chunk.computation_end for chunk in chunks)
    deadline = first + (end - first) * draw(st.fractions(F(1, 8), F(7, 8), max_denominator=8))
    expected = tuple(
        Violation(
            "deadline", name(chunk), deadline, chunk.computation_end,
            chunk.computation_end - deadline,
        )
        for chunk in chunks
        if chunk.computation_end > deadline
    )  # fmt: skip
    assert expected
    return Corrupted(replace(instance, absolute_deadline=deadline), chunks, expected)


@pytest.mark.parametrize("case", CORRUPTIONS, ids=lambda case: case.name)
@pytest.mark.property
@given(st.data())
def test_a_corrupted_plan_is_caught(case: Corruption, data: st.DataObject) -> None:
    instance, nodes, loads = data.draw(orders(least=2))
    plan = earliest_plan(instance, nodes, loads)
    assert iit.violations(instance, plan) == ()
    broken = case.corrupt(data.draw, instance, plan.chunks)
    found = iit.violations(broken.instance, Solution(broken.chunks))
    missing = Counter(broken.expected) - Counter(found)
    assert not missing
    if broken.alone:
        assert not Counter(found) - Counter(broken.expected)
    assert {violation.kind for violation in broken.expected} <= set(case.kinds)


@pytest.mark.property
@given(st.data())
def test_the_order_of_the_chunks_does_not_matter(data: st.DataObject) -> None:
    instance, nodes, loads = data.draw(orders())
    chunks = earliest_plan(instance, nodes, loads).chunks
    broken = data.draw(st.sampled_from(CORRUPTIONS)).corrupt(data.draw, instance, chunks)
    shuffled = data.draw(st.permutations(broken.chunks))
    before = iit.violations(broken.instance, Solution(broken.chunks))
    after = iit.violations(broken.instance, Solution(tuple(shuffled)))
    assert Counter(v.kind for v in after) == Counter(v.kind for v in before)


def obeys(instance: Instance, chunks: Iterable[Chunk]) -> bool:
    """Tell whether a plan is valid: every rule by itself, every pair of chunks by itself."""
    chunks, cluster = list(chunks), instance.cluster
    for chunk in chunks:
        if chunk.node not in range(cluster.nodes) or chunk.load < 0:
            return False
        tau, chi = cluster.tau_of(chunk.node), cluster.chi_of(chunk.node)
        until = instance.absolute_deadline
        if (
            chunk.transmission_start < instance.ready_times[chunk.node]
            or send_of(chunk) != cluster.theta_cm + chunk.load * tau
            or chunk.computation_start < chunk.transmission_end
            or chunk.computation_end - chunk.computation_start
            != cluster.theta_cp + chunk.load * chi
            or (until is not None and chunk.computation_end > until)
        ):
            return False
    for one, two in combinations(chunks, 2):
        send = max(one.transmission_start, two.transmission_start)
        if send < min(one.transmission_end, two.transmission_end) and send_of(one) and send_of(two):
            return False
        if one.node == two.node and send < min(one.computation_end, two.computation_end):
            return False
    return sum(chunk.load for chunk in chunks) == instance.load


FIELDS = ("transmission_start", "transmission_end", "computation_start", "computation_end")


@pytest.mark.property
@given(st.data())
def test_the_checker_agrees_with_one_that_looks_at_all_pairs(data: st.DataObject) -> None:
    """Whole chunks move and single times change, so that some plans stay valid."""
    instance, nodes, loads = data.draw(orders())
    chunks = list(earliest_plan(instance, nodes, loads).chunks)
    until = max(chunk.computation_end for chunk in chunks)
    later = data.draw(st.none() | st.sampled_from([-1, 0, 1]))
    if later is not None and until + later > min(instance.ready_times):
        instance = replace(instance, absolute_deadline=until + later)
    steps = st.sampled_from([F(-1), F(-1, 2), F(0), F(1, 2), F(1)])
    for _ in range(data.draw(st.integers(0, 2))):
        index, chunk = some_chunk(data.draw, tuple(chunks))
        by = data.draw(steps)
        if data.draw(st.booleans()):
            chunks[index] = moved(chunk, by)
        else:
            field = data.draw(st.sampled_from(FIELDS))
            chunks[index] = replace(chunk, **{field: getattr(chunk, field) + by})
    assert (iit.violations(instance, Solution(tuple(chunks))) == ()) is obeys(instance, chunks)


# --- tolerance -----------------------------------------------------------------------------

STANDS_LATE = Instance(
    Cluster(2, tau=1, chi=1), (0, 100), load=10, absolute_deadline=20
)  # one node alone is done after 20, the span
OFF = F(1, 10)
WITHIN = F(1, 200)  # of the span: OFF
LOST = F(1, 20)  # WITHIN of the load


def halves(**second: Fraction | int) -> Solution:
    """Return a valid plan of two chunks on node 0, the second changed."""
    chunk = Chunk(0, 5, 10, 15, 15, 20)
    return Solution((Chunk(0, 5, 0, 5, 5, 10), replace(chunk, **second)))


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        (
            "not-ready",
            lambda more: Solution(
                (
                    Chunk(0, 5, -(OFF + more), 5 - OFF - more, 5 - OFF - more, 10 - OFF - more),
                    Chunk(0, 5, 10, 15, 15, 20),
                )
            ),
        ),
        ("transmission-duration", lambda more: halves(transmission_end=15 - OFF - more)),
        ("computation-duration", lambda more: halves(computation_end=20 - OFF - more)),
        (
            "computes-before-received",
            lambda more: halves(
                computation_start=15 - OFF - more, computation_end=20 - OFF - more
            ),
        ),
        (
            "deadline",
            lambda more: halves(computation_start=15 + OFF + more, computation_end=20 + OFF + more),
        ),
        (
            "node-overlap",
            lambda more: halves(
                transmission_start=10 - OFF - more,
                transmission_end=15 - OFF - more,
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_times_may_be_off_by_the_tolerance_of_the_span(
    kind: str, plan: Callable[[Fraction], Solution]
) -> None:
    assert iit.violations(STANDS_LATE, plan(F(0)), WITHIN) == ()
    assert iit.violations(STANDS_LATE, plan(-F(1, 10**9)), WITHIN) == ()
    (found,) = iit.violations(STANDS_LATE, plan(F(1, 10**9)), WITHIN)
    assert found.kind == kind
    assert found.amount == OFF + F(1, 10**9)
    assert kind in {v.kind for v in iit.violations(STANDS_LATE, plan(F(0)))}


def test_sends_may_overlap_by_the_tolerance_of_the_span() -> None:
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=10)

    def plan(shared: Fraction) -> Solution:
        chunks = (Chunk(0, 5, 0, 5, 5, 10), Chunk(1, 5, 5 - shared, 10 - shared, 95, 100))
        return Solution(chunks)

    assert iit.violations(instance, plan(OFF), WITHIN) == ()
    (found,) = iit.violations(instance, plan(OFF + F(1, 10**9)), WITHIN)
    assert (found.kind, found.amount) == ("channel-overlap", OFF + F(1, 10**9))


@pytest.mark.parametrize("sign", [1, -1])
def test_loads_may_be_off_by_the_tolerance_of_the_load(sign: int) -> None:
    def plan(off: Fraction) -> Solution:
        return halves(load=5 + sign * off)

    assert iit.violations(STANDS_LATE, plan(LOST), WITHIN) == ()
    (found,) = iit.violations(STANDS_LATE, plan(LOST + F(1, 10**9)), WITHIN)
    assert (found.kind, found.amount) == ("load-not-conserved", -sign * (LOST + F(1, 10**9)))


def test_a_load_may_be_negative_by_the_tolerance_of_the_load() -> None:
    def plan(owed: Fraction) -> Solution:
        return Solution(
            (Chunk(0, 10, 0, 10, 10, 20), Chunk(1, -owed, 100, 100 - owed, 100, 100 - owed))
        )

    late = replace(STANDS_LATE, absolute_deadline=None)
    assert iit.violations(late, plan(LOST), WITHIN) == ()
    found = iit.violations(late, plan(LOST + F(1, 10**9)), WITHIN)
    assert [violation.kind for violation in found] == ["negative-load", "load-not-conserved"]
    assert found[0].amount == LOST + F(1, 10**9)


EPOCH = 1.7e9
QUICK = Chunk(0, 1.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("instance", "chunks"),
    [
        (Instance(Cluster(2, 0.25, 0.25), (EPOCH, EPOCH), 1.0), (moved(QUICK, EPOCH),)),
        (Instance(Cluster(2, 1.0, 1.0), (0.0, 1e9), 1.0), (QUICK,)),
        (
            Instance(Cluster(1, 1.0, 1.0), (0.0,), 1.0),
            (QUICK, Chunk(0, 0.0, 1e12, 1e12, 1e12, 1e12)),
        ),
    ],
    ids=["seconds since 1970", "a node that is ready late", "an empty chunk far away"],
)
def test_nothing_stretches_the_tolerance(instance: Instance, chunks: tuple[Chunk, ...]) -> None:
    """Load that is sent and computed in no time at all is seen, whatever the clock says."""
    kinds = {violation.kind for violation in iit.violations(instance, Solution(chunks), 1e-9)}
    assert kinds == {"transmission-duration", "computation-duration"}


def test_the_span_of_different_nodes_is_that_of_the_best_alone() -> None:
    """Node 1 is ready at 4 and done with 2 units at 4 + 2 (1 + 2) = 10; node 0 not before 20."""
    instance = Instance(Cluster(2, tau=(4, 1), chi=(6, 2)), (0, 4), load=2)

    def plan(off: Fraction) -> Solution:
        return Solution((Chunk(1, 2, 4, 6, 6, 10 - off),))

    assert iit.violations(instance, plan(F(1)), F(1, 10)) == ()
    (found,) = iit.violations(instance, plan(F(1) + F(1, 10**9)), F(1, 10))
    assert found.kind == "computation-duration"


def test_floats_may_be_off_by_units_in_the_last_place() -> None:
    """At 1.7e9 a float is 2.4e-7 wide, more than 1e-9 of a second."""
    instance = Instance(Cluster(1, tau=0.3, chi=0.4), (EPOCH,), load=1.0)
    chunk = Chunk(0, 1.0, EPOCH, EPOCH + 0.3, EPOCH + 0.3, EPOCH + 0.7)
    assert iit.violations(instance, Solution((chunk,)), 1e-9) == ()
    assert iit.violations(instance, Solution((chunk,))) != ()
    late = replace(chunk, computation_end=EPOCH + 0.7001)
    assert iit.violations(instance, Solution((late,)), 1e-9) != ()


def test_a_strange_node_is_all_that_is_wrong_with_it() -> None:
    strange = Chunk(7, 0, 10**6, 10**6, 10**6, 10**6)
    plan = Solution((*halves(computation_end=F(39, 2)).chunks, strange))
    kinds = [violation.kind for violation in iit.violations(STANDS_LATE, plan, WITHIN)]
    assert kinds == ["unknown-node", "computation-duration"]


def test_floats_are_decided_as_the_rationals_that_they_are() -> None:
    instance = Instance(Cluster(1, tau=0.1, chi=0.2), (0.3,), load=3)
    end = 0.3 + 3 * 0.1
    plan = Solution((Chunk(0, 3, 0.3, end, end, end + 3 * 0.2),))
    found = iit.violations(instance, plan)
    assert {violation.kind for violation in found} <= {
        "transmission-duration",
        "computation-duration",
    }
    assert found
    assert all(0 < violation.amount < 1e-15 for violation in found)
    assert iit.violations(instance, plan, 1e-9) == ()


def test_the_tolerance_of_short_plans_is_short_too() -> None:
    tiny = F(1, 10**6)
    instance = Instance(Cluster(1, tau=1, chi=1), (0,), load=tiny)
    chunk = Chunk(0, tiny, 0, tiny, tiny, 2 * tiny)
    late = replace(chunk, computation_end=3 * tiny)
    assert iit.violations(instance, Solution((chunk,)), F(1, 10)) == ()
    kinds = [violation.kind for violation in iit.violations(instance, Solution((late,)), F(1, 10))]
    assert kinds == ["computation-duration"]


@pytest.mark.property
@given(st.data(), st.sampled_from([0.0, 1e-17, 1e-16, 0.1, 0.3]))
def test_floats_break_what_the_rationals_that_they_are_break(
    data: st.DataObject, tolerance: float
) -> None:
    """No difference of floats is rounded away on the way to a violation."""
    instance, nodes, loads = data.draw(orders(least=2))
    chunks = earliest_plan(instance, nodes, loads).chunks
    broken = data.draw(st.sampled_from(CORRUPTIONS)).corrupt(data.draw, instance, chunks)
    third = data.draw(st.sampled_from([F(1), F(1, 3), F(1, 7)]))
    chunks = tuple(
        replace(chunk, **{name: getattr(chunk, name) * third for name in FIELDS})
        for chunk in broken.chunks
    )
    last = max((chunk.computation_end for chunk in chunks), default=F(0))
    ready = tuple(time * third for time in instance.ready_times)
    until = max(min(ready) + F(1, 9), last - F(1, 9))
    instance = replace(instance, ready_times=ready, absolute_deadline=until)
    rounded, plan = records.floating(instance), records.floating(Solution(chunks))
    twin, twin_plan = rational(rounded), rational(plan)
    assert rounded == twin
    found = iit.violations(rounded, plan, tolerance)
    assert found == iit.violations(twin, twin_plan, F(tolerance))
    for v in found:
        if v.kind != "unknown-node":  # its amount is the load as it was given
            assert {type(number) for number in (v.amount, v.start, v.end)} <= {F, type(None)}


def rational(value: Any) -> Any:
    """Return a record with all its floats as the rationals that they are."""
    if isinstance(value, records.Record):
        names = [field.name for field in fields(value) if field.name not in HEADER_FIELDS]
        return replace(value, **{name: rational(getattr(value, name)) for name in names})
    if isinstance(value, tuple):
        return tuple(map(rational, value))
    return F(value) if isinstance(value, float) else value


@pytest.mark.parametrize(
    "record",
    [SMALLEST, SMALLEST.cluster, SMALLEST_PLAN, *SMALLEST_PLAN.chunks],
    ids=lambda record: type(record).__name__,
)
def test_records_are_frozen_and_slotted(record: Any) -> None:
    assert not hasattr(record, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 1)
    assert hash(record) == hash(replace(record))


@pytest.mark.parametrize(
    ("tolerance", "size"), [(0.1, 30), (0.1, 0.7), (0.3, 0.1), (1e-9, 1e9), (1e-6, 0.3)]
)
def test_tolerances_are_decided_as_the_rationals_that_they_are(
    tolerance: float, size: float
) -> None:
    """Slack is a product of two floats, not that product as a float, and 64 last places."""
    lost, more = F(tolerance) * F(size), 1 + F(1, 10**20)
    most = lost + F(size) / 2**46
    instance = Instance(Cluster(1, tau=1, chi=0), (0,), load=size)

    def kinds(plan: Solution) -> list[str]:
        return [violation.kind for violation in iit.violations(instance, plan, tolerance)]

    def ends(off: Fraction) -> Solution:
        return Solution((Chunk(0, size, off, size, size, size),))

    def loads(off: Fraction) -> Solution:
        load = F(size) - off
        return Solution((Chunk(0, load, 0, load, load, load), Chunk(0, 0, size, size, size, size)))

    assert kinds(ends(most)) == []
    assert kinds(ends(most * more)) == ["transmission-duration"]
    assert kinds(loads(lost)) == []
    assert kinds(loads(lost * more)) == ["load-not-conserved"]


def test_huge_numbers_are_told() -> None:
    instance = Instance(Cluster(1, tau=1e100, chi=1e100), (0,), load=1e100)
    found = iit.violations(instance, Solution((Chunk(0, 1e100, 0, 1, 1, 2),)))
    assert told(found) == [
        "transmission-duration on node 0 in [0, 1] by 1e+200",
        "computation-duration on node 0 in [1, 2] by 1e+200",
    ]


def test_data_is_left_as_it_was() -> None:
    before = data()
    after = deepcopy(before)
    iit.faults(after)
    Instance.from_data(after)
    assert after == before
