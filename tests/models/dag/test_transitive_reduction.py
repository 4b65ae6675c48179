"""Arcs that follow from others are left out of the models, and no others are."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from dlopt.models.common.transitive_reduction import MAX_JOBS, transitive_reduction
from dlopt.models.dag.proof_search import MAX_SIZE
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.registry import method
from dlopt.result import Limits

PAIRS = st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1])


@given(st.sets(PAIRS))
def test_it_is_that_of_networkx(arcs):
    expected = nx.transitive_reduction(nx.DiGraph(list(arcs)))
    assert set(transitive_reduction(arcs)) == set(expected.edges)


def test_a_graph_that_is_too_large_keeps_all_arcs():
    arcs = [(3, 4), (3, 4 + MAX_JOBS), (4, 4 + MAX_JOBS)]
    assert transitive_reduction(arcs) == arcs


def triangle(data):
    tasks = tuple(Task(f"t{k}", work=2) for k in range(3))
    edges = Edge(0, 1), Edge(1, 2), Edge(0, 2, data=data)
    return Instance((Machine("m"), Machine("n")), (Graph("g", tasks, edges),))


def test_arcs_along_which_data_is_sent_are_kept():
    sizes = [len(ScaledInstance.from_instance(triangle(data)).arcs) for data in (0, 5)]
    assert sizes == [2, 3]


def test_a_graph_of_many_arcs_that_follow_from_others_is_certified():
    tasks = tuple(Task(f"t{k}", work=k % 7 + 1) for k in range(150))
    edges = tuple(Edge(a, b) for a in range(150) for b in range(a + 1, 150))
    assert len(tasks) + len(edges) > MAX_SIZE
    graph = Graph("g", tasks, edges)
    found = method("dag", "exact").load()(
        Instance((Machine("m"), Machine("n")), (graph,)), limits=Limits(time_s=30)
    )
    assert (found.bound, found.certificate is None) == (sum(k % 7 + 1 for k in range(150)), False)
