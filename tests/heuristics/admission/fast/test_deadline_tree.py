"""Sums and minima of what waits: the tree and the compiled blocks against plain lists."""

import random
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast import deadline_blocks_numba, deadline_tree
from dlopt.heuristics.admission.fast.deadline_blocks_numba import DeadlineBlocks
from dlopt.heuristics.admission.fast.deadline_tree import DeadlineTree
from dlopt.heuristics.admission.fast.dispatcher import QueueEntry
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.fast.planners import waiting

steps = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 40), st.integers(1, 9)),
        st.tuples(st.just("admit"), st.integers(0, 40), st.integers(1, 9)),
        st.tuples(st.just("first"), st.integers(0, 9), st.just(0)),
    ),
    max_size=60,
)


class LinearTest:
    """The same in lists."""

    def __init__(self):
        self.tasks = []

    def insert(self, entry, supply):
        self.tasks.append((entry.task.key, entry, entry.remaining, supply))
        self.tasks.sort(key=lambda task: task[0])

    def sums(self):
        work = 0
        for key, entry, remaining, supply in self.tasks:
            work += remaining
            yield key, entry, work, supply

    def split(self, key):
        before = sum(remaining for other, _, remaining, _ in self.tasks if other < key)
        slacks = [
            supply - (work - before) for other, _, work, supply in self.sums() if other >= key
        ]
        return before, min(slacks, default=None)

    def overloaded_after(self, key, deficit):
        return [
            (e, work)
            for other, e, work, supply in self.sums()
            if other >= key and deficit + work > supply
        ]


def assert_equal_answers(store, reference, key, deficit):
    before, slack = store.split(key)
    assert (before, slack) == reference.split(key)
    assert list(store.overloaded_after(key, deficit)) == reference.overloaded_after(key, deficit)
    assert list(store) == [entry for _, entry, _, _ in reference.tasks]
    assert len(store) == len(reference.tasks)
    assert store.first() is (reference.tasks[0][1] if reference.tasks else None)


def assert_equal_to_lists(store, drawn, number):
    reference = LinearTest()
    for count, (what, due, load) in enumerate(drawn):
        if what == "first":
            if not reference.tasks:
                continue
            key, entry, _, supply = reference.tasks.pop(0)
            entry.remaining = number(due)
            store.reduce_first(number(due))
            if due:
                reference.tasks.insert(0, (key, entry, number(due), supply))
        else:
            task = waiting(count, 0, load, due, number)
            entry, supply, deficit = QueueEntry(task, task.load), task.deadline, number(load % 4)
            if what == "admit":
                before, slack = reference.split(task.key)
                owed = deficit + before + task.load
                fits = owed <= supply and (slack is None or owed <= slack)
                assert store.admit(entry, supply, deficit) == fits
                if not fits:
                    continue
            else:
                store.insert(entry, supply)
            reference.insert(entry, supply)
        assert_equal_answers(store, reference, (number(20), 0), number(3))
        assert_equal_answers(store, reference, (number(due), count), number(9))


@pytest.mark.property
@pytest.mark.parametrize("most", [3, 48])
@given(steps)
def test_the_tree_is_the_lists(most, drawn):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline_tree, "MAX_ITEMS", most)
        assert_equal_to_lists(DeadlineTree(), drawn, Fraction)


@pytest.mark.property
@pytest.mark.parametrize("size", [pytest.param(3, marks=pytest.mark.compiles), 256])
@given(steps)
def test_the_blocks_are_the_lists(size, drawn):
    """Small numbers, so that floats are exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline_blocks_numba, "BLOCK_SIZE", size)
        patch.setattr(deadline_blocks_numba, "OVERLOADED_BATCH", 2 if size == 3 else 64)
        assert_equal_to_lists(DeadlineBlocks(), drawn, float)


@pytest.mark.parametrize("store", [DeadlineTree, DeadlineBlocks])
def test_what_is_put_back_is_grouped_as_before(monkeypatch, store):
    """Sums of floats depend on the groups, so that equal sums tell equal groups."""
    monkeypatch.setattr(deadline_tree, "MAX_ITEMS", 4)
    monkeypatch.setattr(deadline_blocks_numba, "BLOCK_SIZE", 3)
    for seed in range(40):
        draw, made, keys = random.Random(seed), store(), []
        for k in range(draw.randint(1, 60)):
            task = waiting(k, 0, draw.uniform(0.1, 3), draw.uniform(1, 99), float)
            made.insert(QueueEntry(task, task.load), task.deadline)
            keys.append(task.key)
        made.commit()
        before = [made.split(key) for key in keys], list(made)
        removed = []
        for _ in range(draw.randint(1, len(keys))):
            if draw.random() < 0.6:
                removed.append(made.first())
                made.reduce_first(0.0)
            else:
                key = draw.choice([entry.task.key for entry in made])
                removed.append(made.remove(key))
        for entry in reversed(removed):
            made.put_back(entry, entry.task.deadline)
        assert ([made.split(key) for key in keys], list(made)) == before


@pytest.mark.parametrize(("store", "number"), [(DeadlineTree, Fraction), (DeadlineBlocks, float)])
def test_more_tasks_than_a_leaf_and_an_answer_hold(store, number):
    """Task k brings work 1 and is due at 10 + k: a debt of 9 is not too much for any of them."""
    made, entries = store(), []
    for k in range(100):
        task = waiting(k, 0, 1, 10 + k, number)
        entries.append(QueueEntry(task, task.load))
    for k in range(100):
        entry = entries[k * 37 % 100]
        made.insert(entry, entry.task.deadline)
    assert list(made) == entries
    assert list(made.overloaded_after((number(0), 0), number(9))) == []
    everything = list(made.overloaded_after((number(0), 0), number(10)))
    assert everything == [(entry, k + 1) for k, entry in enumerate(entries)]
    assert list(made.overloaded_after(entries[30].task.key, number(10))) == everything[30:]


def test_blocks_grow_and_shrink():
    blocks, reference = DeadlineBlocks(), LinearTest()
    for number in range(9000):
        task = waiting(number, 0, 1, (number * 7919) % 9001, float)
        blocks.insert(QueueEntry(task, 1.0), task.deadline)
        reference.tasks.append((task.key, None, 1.0, task.deadline))
    reference.tasks.sort(key=lambda one: one[0])
    assert [entry.task.key for entry in blocks] == [key for key, *_ in reference.tasks]
    assert blocks.split((4500.0, 0)) == reference.split((4500.0, 0))
    for _ in range(8999):
        blocks.reduce_first(0)
    assert len(blocks) == 1
    assert blocks.split((0.0, 0))[0] == 0


def test_blocks_grow_as_tasks_are_admitted(monkeypatch):
    monkeypatch.setattr(deadline_blocks_numba, "BLOCK_SIZE", 2)
    blocks = DeadlineBlocks()
    for number in range(100):
        task = waiting(number, 0, 1, 1000 + number, float)
        assert blocks.admit(QueueEntry(task, 1.0), task.deadline, 0.0)
    assert [entry.task.key[1] for entry in blocks] == list(range(100))


def test_compiled_code_is_for_floats_and_needs_its_extra(monkeypatch):
    cluster = Cluster(2, tau=1, chi=1)
    with pytest.raises(NotApplicableError, match="for floats"):
        Admission(cluster, "fast-edf-iit", compiled=True)
    assert Admission(cluster, "fast-edf-iit", compiled=True, exact_numbers=False).waiting == ()
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in ("deadline_blocks_numba", "deadline_arrays_numba"):
        monkeypatch.delitem(sys.modules, f"dlopt.heuristics.admission.fast.{name}")
    with pytest.raises(MissingExtraError, match=r"dlopt\[fast\]"):
        Admission(cluster, "fast-edf-iit", compiled=True, exact_numbers=False)
