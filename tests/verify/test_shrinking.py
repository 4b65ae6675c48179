"""Smaller instances: fewest jobs first, then fewest machines, then the simplest numbers."""

from fractions import Fraction

import pytest

from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.verify import shrink
from dlopt.verify.plainer_instances import unusual_features
from dlopt.verify.shrinking import instance_size

F = Fraction


def stream(**changed):
    tasks = (admission.Task("a", 0, 3, 9), admission.Task("b", 2, F(5, 2), 7))
    cluster = Cluster(3, (1, 2, 3), (4, 5, 6), 1, 1)
    given = {"cluster": cluster, "tasks": tasks, "ready_times": (1, 2, 3), "channel_ready": 2}
    return admission.Instance(**(given | changed))


def test_nothing_is_left_that_is_not_needed():
    small = shrink(stream(), lambda instance: True)
    assert small == admission.Instance(Cluster(1, (0,), (1,)), (admission.Task("a", 0, 1, 0),))
    alike = shrink(
        stream(cluster=Cluster(3, (1, 2, 2), (1, 3, 3))), lambda one: one.cluster.nodes > 1
    )
    assert alike.cluster == Cluster(2, 0, 1)


def test_what_must_stay_stays():
    small = shrink(stream(), lambda one: any(task.load >= F(5, 2) for task in one.tasks))
    assert [task.load for task in small.tasks] == [3]
    small = shrink(
        stream(), lambda one: any(task.load < F(4, 5) for task in one.tasks) or one == stream()
    )
    assert small == stream() or any(task.load == F(1, 2) for task in small.tasks)


def test_the_machines_that_are_left_are_told_apart():
    small = shrink(
        stream(), lambda one: any(one.cluster.chi_of(j) >= 6 for j in range(one.cluster.nodes))
    )
    assert small.cluster.nodes == 1
    assert small.cluster.chi_of(0) == 6


def test_fewer_jobs_come_before_fewer_machines():
    instance = stream()
    assert instance_size(instance)[:2] == (2, 3)

    def holds(one):
        return (len(one.tasks), one.cluster.nodes) in {(2, 3), (2, 1), (1, 3)}

    assert instance_size(shrink(instance, holds))[:2] in {(1, 3), (2, 1)}


def test_commitments_and_reservations_follow_their_nodes():
    sent = (admission.Commitment("old", 0, 0, 1, 2), admission.Commitment("old", 2, 0, 1, 2))
    wanted = (
        multistage.Reservation("r", 3, 4, 6, nodes=(0, 2)),
        multistage.Reservation("s", 3, 4, 6, nodes=3),
        multistage.Reservation("t", 3, 4, 6, nodes=(1,)),
    )
    instance = multistage.Instance(
        Cluster(3, 1, 1), reservations=wanted, now=2, committed=sent, ready_times=(2, 2, 2)
    )
    small = shrink(
        instance,
        lambda one: len({sent.node for sent in one.committed}) == 2 and len(one.reservations) == 2,
    )
    assert small.cluster.nodes == 2
    assert [one.node for one in small.committed] == [0, 1]


def test_cpu_shares():
    part = coreservation.Part(8, 3, machine=2)
    request = coreservation.Request("r", 1, 2, 5, 3, (part, part))
    held = (coreservation.Holding(1, 0, 2, 3), coreservation.Holding(2, 0, 2, 3))
    machines = tuple(coreservation.Machine(f"m{j}", 9 + j) for j in range(3))
    instance = coreservation.Instance(machines, (request,), coreservation.Batch(2), held)
    small = shrink(
        instance, lambda one: bool(one.holdings) and one.requests[0].parts[0].machine is not None
    )
    assert instance_size(small)[:2] == (1, 1)
    assert small.holdings[0].machine == 0
    assert small.batch is None


def test_task_graphs():
    tasks = tuple(dag.Task(f"t{k}", costs=(1, 2, 3)) for k in range(3))
    graph = dag.Graph("g", tasks, (dag.Edge(0, 1, 4), dag.Edge(1, 2, 5)), 1, 9)
    links = (dag.Link(0, 2, 3), dag.Link(0, 1, 2))
    machines = tuple(dag.Machine(f"m{k}") for k in range(3))
    instance = dag.Instance(machines, (graph,), dag.Network(links=links))
    small = shrink(instance, lambda one: bool(one.graphs[0].edges) and bool(one.network.links))
    assert instance_size(small)[:2] == (2, 2)
    assert {(link.source, link.target) for link in small.network.links} <= {(0, 1), (1, 0)}
    assert shrink(small, lambda one: True).graphs[0].tasks[0].costs in {(0,), (0, None)}


def test_bags_with_a_matrix():
    small = shrink(bag.Instance(etc=((4, 2), (3, None), (5, 5))), lambda one: len(one.etc) >= 2)
    assert instance_size(small)[:2] == (2, 1)


def test_floats_stay_floats():
    instance = iit.Instance(Cluster(2, 1.5, 2.5), (0.25, 7.5), 3.75)
    small = shrink(instance, lambda one: one.load > 2.25)
    assert small.load == 3
    assert isinstance(small.load, float)


@pytest.mark.parametrize("most", [0, 1, 5])
def test_it_asks_no_more_often_than_it_may(most):
    asked = []
    shrink(stream(), lambda one: bool(asked.append(one)) or True, most)
    assert len(asked) == most


def unusual_graphs():
    """Return graphs with edges against the numbering, missing times, LANs and links."""
    tasks = dag.Task("a", costs=(1, None)), dag.Task("b", costs=(None, 2)), dag.Task("c", work=1)
    edges = dag.Edge(2, 0, 1), dag.Edge(0, 1, 1)
    graph = dag.Graph("g", tasks, edges, lan=0, output=2)
    staying = dag.Graph("h", (dag.Task("d", work=1),), one_lan=True)
    machines = dag.Machine("m", lan=0, delay=1), dag.Machine("n", lan=0)
    network = dag.Network(
        same_machine="counted", lans=(dag.Lan(), dag.Lan()), wan_links=(dag.Link(0, 1, 2),)
    )
    return dag.Instance(machines, (graph, staying), network)


def test_unusual_features_are_removed():
    small = shrink(unusual_graphs(), lambda one: True)
    assert instance_size(small) == (1, 1, 1)
    assert small.network == dag.Network()
    assert small.graphs[0] in [
        dag.Graph("h", (dag.Task("d", work=0),)),
        dag.Graph("g", (dag.Task("a", costs=(0,)),)),
    ]
    many = shrink(unusual_graphs(), lambda one: len(one.graphs[0].tasks) > 2)
    assert all(None not in (task.costs or ()) for task in many.graphs[0].tasks)


def test_tasks_are_renumbered_where_the_numbering_does_not_matter():
    def joined(one):
        return len(one.graphs[0].edges) > 1 and len(one.graphs[0].tasks) == 3

    small = shrink(unusual_graphs(), joined)
    assert all(edge.source < edge.target for edge in small.graphs[0].edges)

    def against(one):
        return any(edge.source > edge.target for edge in one.graphs[0].edges)

    [edge] = shrink(unusual_graphs(), against).graphs[0].edges
    assert (edge.source, edge.target, edge.data) == (1, 0, 0)


def test_what_cannot_run_stays_where_it_matters():
    def restricted(one):
        return any(None in (task.costs or ()) for task in one.graphs[0].tasks)

    small = shrink(unusual_graphs(), restricted)
    assert sum(unusual_features(small)) == 1
    matrix = bag.Instance(etc=((1, None, 4), (None, 2, 2)))
    assert shrink(matrix, lambda one: len(one.all_machines) == 3).etc == ((1, 1, 1),)
