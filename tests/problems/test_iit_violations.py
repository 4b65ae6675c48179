"""What a plan of one divisible load may not do: the smallest bad plans, and corrupted ones."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Violation
from tests.problems.chunk_edits import SMALLEST, SMALLEST_PLAN, TIMES, moved, send_of, some_chunk
from tests.problems.corruptions import CORRUPTIONS, Corruption
from tests.problems.test_earliest_schedule import orders

F = Fraction

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
    "node-not-ready": (
        SMALLEST,
        (Chunk(0, 6, 4, 13, 14, 30),),
        (Violation("node-not-ready", "node 0", 4, 5, 1),),
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

SUMMED_UP = "earlier-than-possible"
"""What is allowed once, but not again and again: see `test_iit_timeline.py`."""


@pytest.mark.parametrize("kind", SMALLEST_BROKEN)
def test_the_smallest_plan_of_each_kind(kind: str) -> None:
    instance, chunks, expected = SMALLEST_BROKEN[kind]
    found = iit.violations(instance, Solution(chunks))
    assert found == expected
    assert {violation.kind for violation in found} == {kind}


def test_every_kind_has_a_smallest_plan_and_a_corruption() -> None:
    assert {*SMALLEST_BROKEN, SUMMED_UP} == set(iit.KINDS)
    assert {k for corruption in CORRUPTIONS for k in corruption.kinds} == set(SMALLEST_BROKEN)
    assert len(set(iit.KINDS)) == len(iit.KINDS)


def test_huge_numbers_are_told() -> None:
    instance = Instance(Cluster(1, tau=1e100, chi=1e100), (0,), load=1e100)
    found = iit.violations(instance, Solution((Chunk(0, 1e100, 0, 1, 1, 2),)))
    assert [str(violation) for violation in found] == [
        "transmission-duration on node 0 in [0, 1] by 1e+200",
        "computation-duration on node 0 in [1, 2] by 1e+200",
    ]


# --- the checker by mutation ---------------------------------------------------------------


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
            field = data.draw(st.sampled_from(TIMES))
            chunks[index] = replace(chunk, **{field: getattr(chunk, field) + by})
    assert (iit.violations(instance, Solution(tuple(chunks))) == ()) is obeys(instance, chunks)
