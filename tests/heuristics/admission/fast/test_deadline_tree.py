"""Sums and minima of what waits: the tree and the compiled blocks against plain lists."""

import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast import deadline_blocks_numba, deadline_tree
from dlopt.heuristics.admission.fast.deadline_blocks_numba import Blocks
from dlopt.heuristics.admission.fast.deadline_tree import Tree
from dlopt.heuristics.admission.fast.dispatcher import Entry
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.fast.cores import waiting

steps = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(0, 40), st.integers(1, 9)),
        st.tuples(st.just("admit"), st.integers(0, 40), st.integers(1, 9)),
        st.tuples(st.just("first"), st.integers(0, 9), st.just(0)),
    ),
    max_size=60,
)


class Plain:
    """The same in lists."""

    def __init__(self):
        self.tasks = []

    def insert(self, entry, level):
        self.tasks.append((entry.task.key, entry, entry.rest, level))
        self.tasks.sort(key=lambda task: task[0])

    def sums(self):
        work = 0
        for key, entry, rest, level in self.tasks:
            work += rest
            yield key, entry, work, level

    def split(self, key):
        before = sum(rest for other, _, rest, _ in self.tasks if other < key)
        rooms = [level - (work - before) for other, _, work, level in self.sums() if other >= key]
        return before, min(rooms, default=None)

    def beyond(self, key, debt):
        return [
            (e, work)
            for other, e, work, level in self.sums()
            if other >= key and debt + work > level
        ]


def agree(store, plain, key, debt):
    before, room = store.split(key)
    assert (before, room) == plain.split(key)
    assert list(store.beyond(key, debt)) == plain.beyond(key, debt)
    assert list(store) == [entry for _, entry, _, _ in plain.tasks]
    assert len(store) == len(plain.tasks)
    assert store.first() is (plain.tasks[0][1] if plain.tasks else None)


def run(store, drawn, number):
    plain = Plain()
    for count, (what, due, load) in enumerate(drawn):
        if what == "first":
            if not plain.tasks:
                continue
            key, entry, _, level = plain.tasks.pop(0)
            entry.rest = number(due)
            store.change_first(number(due))
            if due:
                plain.tasks.insert(0, (key, entry, number(due), level))
        else:
            task = waiting(count, 0, load, due, number)
            entry, level, debt = Entry(task, task.load), task.deadline, number(load % 4)
            if what == "admit":
                before, room = plain.split(task.key)
                owed = debt + before + task.load
                fits = owed <= level and (room is None or owed <= room)
                assert store.admit(entry, level, debt) == fits
                if not fits:
                    continue
            else:
                store.insert(entry, level)
            plain.insert(entry, level)
        agree(store, plain, (number(20), 0), number(3))
        agree(store, plain, (number(due), count), number(9))


@pytest.mark.property
@pytest.mark.parametrize("most", [3, 48])
@given(steps)
def test_the_tree_is_the_lists(most, drawn):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline_tree, "_MOST", most)
        run(Tree(), drawn, Fraction)


@pytest.mark.property
@pytest.mark.parametrize("size", [3, 256])
@given(steps)
def test_the_blocks_are_the_lists(size, drawn):
    """Small numbers, so that floats are exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline_blocks_numba, "SIZE", size)
        patch.setattr(deadline_blocks_numba, "FOUND", 2 if size == 3 else 64)
        run(Blocks(), drawn, float)


@pytest.mark.parametrize(("store", "number"), [(Tree, Fraction), (Blocks, float)])
def test_more_tasks_than_a_leaf_and_an_answer_hold(store, number):
    """Task k brings work 1 and is due at 10 + k: a debt of 9 is not too much for any of them."""
    made, entries = store(), []
    for k in range(100):
        task = waiting(k, 0, 1, 10 + k, number)
        entries.append(Entry(task, task.load))
    for k in range(100):
        entry = entries[k * 37 % 100]
        made.insert(entry, entry.task.deadline)
    assert list(made) == entries
    assert list(made.beyond((number(0), 0), number(9))) == []
    everything = list(made.beyond((number(0), 0), number(10)))
    assert everything == [(entry, k + 1) for k, entry in enumerate(entries)]
    assert list(made.beyond(entries[30].task.key, number(10))) == everything[30:]


def test_blocks_grow_and_shrink():
    blocks, plain = Blocks(), Plain()
    for number in range(9000):
        task = waiting(number, 0, 1, (number * 7919) % 9001, float)
        blocks.insert(Entry(task, 1.0), task.deadline)
        plain.tasks.append((task.key, None, 1.0, task.deadline))
    plain.tasks.sort(key=lambda one: one[0])
    assert [entry.task.key for entry in blocks] == [key for key, *_ in plain.tasks]
    assert blocks.split((4500.0, 0)) == plain.split((4500.0, 0))
    for _ in range(8999):
        blocks.change_first(0)
    assert len(blocks) == 1
    assert blocks.split((0.0, 0))[0] == 0


def test_blocks_grow_as_tasks_are_admitted(monkeypatch):
    monkeypatch.setattr(deadline_blocks_numba, "SIZE", 2)
    blocks = Blocks()
    for number in range(100):
        task = waiting(number, 0, 1, 1000 + number, float)
        assert blocks.admit(Entry(task, 1.0), task.deadline, 0.0)
    assert [entry.task.key[1] for entry in blocks] == list(range(100))


def test_compiled_code_is_for_floats_and_needs_its_extra(monkeypatch):
    cluster = Cluster(2, tau=1, chi=1)
    with pytest.raises(NotApplicableError, match="for floats"):
        Admission(cluster, "fast-edf-iit", compiled=True)
    assert Admission(cluster, "fast-edf-iit", compiled=True, exact_numbers=False).waiting == ()
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "dlopt.heuristics.admission.fast.deadline_blocks_numba")
    with pytest.raises(MissingExtraError, match=r"dlopt\[fast\]"):
        Admission(cluster, "fast-edf-iit", compiled=True, exact_numbers=False)
