"""A failure breaks as few promises as it can: against the exact model, and against all plans."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt import Admission
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from tests.examples import share

F = Fraction
ALGORITHMS = ("edf-iit-2", "edf-opr-mn", "fifo-opr-mn", "mwf-opr-mn", "mcdf", "fast-edf-iit")


@st.composite
def heads(draw):
    """Return a head that has promised up to five tasks, and the algorithm's name."""
    name = draw(st.sampled_from(ALGORITHMS))
    cluster = Cluster(draw(st.integers(2, 3)), tau=1, chi=draw(st.integers(1, 4)))
    head = Admission(cluster, name)
    for number in range(5):
        load, slack = draw(st.integers(1, 5)), draw(st.integers(2, 8))
        head.submit(Task(f"t{number}", 0, F(load, 2), F(load * slack, 2)))
    return head, name, cluster


def tasks_of(head):
    """Return the tasks that a head has promised."""
    state = head.state()
    return () if state is None else state.instance.tasks


def can_keep(name, cluster, tasks):
    """Tell whether an algorithm accepts tasks, all of them known at once."""
    if not tasks:
        return True
    try:
        head = Admission.of(
            Instance(cluster, tuple(replace(task, arrival=0) for task in tasks), now=F(1, 10**6)),
            name,
        )
    except dlopt.NotApplicableError:
        return False
    return head is not None


@share(1 / 2)
@given(heads())
def test_no_algorithm_breaks_fewer_than_the_exact_model(made):
    """Nothing has begun: what is kept is what the exact model may accept on the nodes left."""
    head, _, cluster = made
    tasks = tasks_of(head)
    done = head.resources(fail=[0])
    if not tasks:
        assert done.broken == ()
        return
    left = Instance(replace(cluster, nodes=cluster.nodes - 1), tasks)
    found = dlopt.solve(left, "exact")
    assert found.bound is not None
    assert len(tasks) - len(done.broken) <= found.bound
    kept = {task.id for task in tasks_of(head)}
    assert kept | set(done.broken) == {task.id for task in tasks}
    assert not kept & set(done.broken)


def test_it_is_the_least_number_of_all_where_that_is_claimed():
    """On forty streams, the number is that of the exact model in most cases, and never less."""
    equal = broken = 0
    for number in range(40):
        cluster = Cluster(2, tau=1, chi=1 + number % 3)
        head = Admission(cluster, "edf-iit-2")
        for index in range(5):
            load = 1 + (number * 7 + index * 3) % 5
            head.submit(Task(f"t{index}", 0, load, load * (3 + (number + index) % 4)))
        tasks = tasks_of(head)
        done = head.resources(fail=[1])
        if not done.broken:
            continue
        broken += 1
        exact = dlopt.solve(Instance(Cluster(1, tau=1, chi=1 + number % 3), tasks), "exact")
        least = len(tasks) - exact.value
        assert len(done.broken) >= least
        equal += len(done.broken) == least
    assert broken > 10
    assert equal > broken / 2


@share(1 / 2)
@given(heads())
def test_least_means_that_no_selection_of_the_algorithm_keeps_more(made):
    head, name, cluster = made
    tasks = tasks_of(head)
    done = head.resources(fail=[0])
    if not done.broken or not done.least:
        return
    left = replace(cluster, nodes=cluster.nodes - 1)
    for count in range(len(done.broken)):
        for gone in combinations(tasks, count):
            rest = [task for task in tasks if task not in gone]
            assert not can_keep(name, left, rest)
