"""Builders: the instances that they make, and errors that name the element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dlopt
from dlopt.builders import (
    AdmissionBuilder,
    BagBuilder,
    CoReservationBuilder,
    DagBuilder,
    IitBuilder,
    MultiStageBuilder,
)
from dlopt.errors import InvalidInstanceError
from dlopt.io import instance_hash
from dlopt.presentation.schedule_rows import schedule_rows
from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import Units


def lab() -> DagBuilder:
    """Two machines in two LANs."""
    builder = DagBuilder("lab", origin="by hand", units="s", bandwidth=10, latency=1)
    builder.add_lan("here", bandwidth=100).add_lan("there", bandwidth=50, latency=2)
    return builder.add_machine("cpu", lan="here").add_machine("gpu", power=4, lan="there", delay=1)


def test_dag() -> None:
    builder = lab().add_wan_link("here", "there", bandwidth=5)
    builder.add_link("gpu", "cpu", bandwidth=7, latency=3)
    builder.add_graph("nightly", arrival=2, absolute_deadline=90, lan="there", input_data=4)
    builder.add_task("load", work=2).add_task("train", costs={"gpu": Fraction(5, 2)})
    builder.add_edge("load", "train", data=8)
    builder.add_graph("report", output_data=0, one_lan=True).add_task("load", work=1)
    tasks = (dag.Task("load", work=2), dag.Task("train", costs=(None, Fraction(5, 2))))
    network = dag.Network(
        bandwidth=10,
        latency=1,
        lans=(dag.Lan("here", 100), dag.Lan("there", 50, 2)),
        wan_links=(dag.Link(0, 1, 5),),
        links=(dag.Link(1, 0, 7, 3),),
    )
    made = builder.build()
    assert made == dag.Instance(
        (dag.Machine("cpu", 1, 0), dag.Machine("gpu", 4, 1, 1)),
        (
            dag.Graph("nightly", tasks, (dag.Edge(0, 1, 8),), 2, 90, 1, 4),
            dag.Graph("report", (dag.Task("load", work=1),), one_lan=True),
        ),
        network,
    )
    assert (made.name, made.origin, made.units) == ("lab", "by hand", Units("s"))


def test_a_dag_with_one_graph_needs_no_name_for_it() -> None:
    builder = DagBuilder().add_task("a", costs={"new": 1}).add_task("b", costs={"old": 2})
    (graph,) = builder.add_machine("old").add_machine("new").build().graphs
    assert graph.id == "graph" and [task.costs for task in graph.tasks] == [(None, 1), (2, None)]


def test_what_is_refused_changes_nothing() -> None:
    builder = lab().add_task("a", work=1)
    before = builder.build()
    for refused in (
        lambda: builder.add_machine("cpu"),
        lambda: builder.add_machine("old", power=-1),
        lambda: builder.add_lan("here"),
        lambda: builder.add_task("a", work=2),
        lambda: builder.add_edge("a", "z"),
        lambda: builder.add_graph("graph"),
    ):
        with pytest.raises(InvalidInstanceError):
            refused()
    assert builder.build() == before
    assert builder.add_machine("old", lan="here").build().machines[-1].id == "old"


def test_bag() -> None:
    builder = BagBuilder("sites", origin="o", units="h").add_site("east").add_site("west")
    builder.add_link("east", "west", bandwidth=3, latency=1)
    builder.add_machine("slow", site="west", ready=2).add_machine("fast", power=9)
    builder.add_task("a", work=4, site="west", release=1, input_data=2, output_data=3)
    builder.add_task("b", work=5, priority="critical", absolute_deadline=8)
    made = builder.build()
    assert made == bag.Instance(
        (
            bag.Task("a", 4, 1, 1, 2, 3),
            bag.Task("b", 5, priority="critical", absolute_deadline=8),
        ),
        (bag.Machine("slow", 1, ready=2), bag.Machine("fast", 0, 9)),
        (bag.Site("east"), bag.Site("west")),
        (bag.Link((0, 1), 3, 1),),
    )
    assert (made.name, made.origin, made.units) == ("sites", "o", Units("h"))


def test_coreservation() -> None:
    builder = CoReservationBuilder("shares", units="s", batch_interval=4)
    builder.add_machine("lab", 100).add_machine("night", [(0, 50), (9, 0)])
    builder.add_holding("night", 1, 2, cpu=5)
    builder.add_request("second", arrival=3, start=5, end=9, priority=2).add_part(60, on="night")
    builder.add_request("first", arrival=1, start=5, end=9)
    builder.add_part(40, least=10, benefit=[(0, 0), (1, 1)]).add_part(7)
    shape = ((0, 0), (1, 1))
    assert builder.build() == coreservation.Instance(
        (coreservation.Machine("lab", 100), coreservation.Machine("night", ((0, 50), (9, 0)))),
        (
            coreservation.Request(
                "first",
                1,
                5,
                9,
                1,
                (coreservation.Part(40, 10, benefit=shape), coreservation.Part(7)),
            ),
            coreservation.Request("second", 3, 5, 9, 2, (coreservation.Part(60, machine=1),)),
        ),
        coreservation.Batch(4),
        (coreservation.Holding(1, 1, 2, 5),),
    )


def test_a_holding_of_all_that_there_is() -> None:
    builder = CoReservationBuilder().add_machine("night", [(0, 50), (9, 0), (12, 60)])
    for start, end, cpu in ((0, 9, 50), (8, 12, 50), (9, 12, 0), (10, 13, 60), (20, 21, 60)):
        builder.add_holding("night", start, end, cpu=cpu)
    instance = builder.add_request("r", arrival=0, start=1, end=2).add_part(1).build()
    assert [holding.cpu for holding in instance.holdings] == [50, 50, 0, 60, 60]


def test_divisible_loads() -> None:
    nodes = {"tau": 1, "chi": 2, "theta_cm": 3, "theta_cp": 4}
    one = IitBuilder("one", **nodes).add_node("a", ready_time=5).add_node("b")
    plain = Cluster(2, 1, 2, 3, 4)
    assert one.build(load=6, absolute_deadline=90) == iit.Instance(plain, (5, 0), 6, 90)
    stream = AdmissionBuilder(**nodes).add_node("a", tau=9).add_node("b", ready_time=1, chi=7)
    stream.add_task("late", arrival=4, load=2, deadline=30, weight=3)
    stream.add_task("early", arrival=0, load=1, deadline=20)
    tasks = (admission.Task("early", 0, 1, 20), admission.Task("late", 4, 2, 30, weight=3))
    uneven = Cluster(2, (9, 1), (2, 7), 3, 4)
    assert stream.build() == admission.Instance(uneven, tasks, ready_times=(0, 1))
    mixed = MultiStageBuilder(**nodes).add_node("a").add_node("b")
    mixed.add_reservation("late", arrival=2, start=3, end=9, nodes=2, io_ratio=Fraction(1, 2))
    mixed.add_reservation("early", arrival=1, start=3, end=9, nodes=["b"], mandatory=True)
    mixed.add_task("early", arrival=0, load=1, deadline=20)
    reservations = (
        multistage.Reservation("early", 1, 3, 9, nodes=(1,), mandatory=True),
        multistage.Reservation("late", 2, 3, 9, io_ratio=Fraction(1, 2), nodes=2),
    )
    assert mixed.build(task_weight=2) == multistage.Instance(
        plain, tasks[:1], reservations, ready_times=(0, 0), task_weight=2
    )


def named_nodes() -> tuple[iit.Instance, admission.Instance, multistage.Instance]:
    one, two, three = (
        kind("named", tau=1, chi=2).add_node("left").add_node("right")
        for kind in (IitBuilder, AdmissionBuilder, MultiStageBuilder)
    )
    for stream in (two, three):
        assert isinstance(stream, AdmissionBuilder | MultiStageBuilder)
        stream.add_task("a", arrival=0, load=4, deadline=9)
    return one.build(load=4), two.build(), three.build()


@pytest.mark.parametrize("instance", named_nodes(), ids=lambda instance: instance.problem)
def test_names_of_nodes_are_shown_and_change_nothing(instance: Any) -> None:
    cluster = instance.cluster
    assert cluster.node_names == ("left", "right")
    plain = replace(instance, cluster=replace(cluster, node_names=None))
    assert instance == plain and instance_hash(instance) == instance_hash(plain)
    assert Cluster.from_data(cluster.to_data()).node_names == ("left", "right")
    result = dlopt.solve(instance)
    rows = schedule_rows(instance, result.solution)["chunks"]
    assert {(row["node"], row["node_id"]) for row in rows} == {(0, "left"), (1, "right")}
    assert "node_id" not in schedule_rows(plain, result.solution)["chunks"][0]
    labels = [label.get_text() for label in dlopt.plot(instance, result).axes[0].get_yticklabels()]
    assert labels[-2:] == ["left", "right"]
    channel = {text.get_text() for text in dlopt.plot(instance, result).axes[0].texts}
    assert ({"left", "right"} < channel) is (instance.problem == "iit")
    assert "node 0" in str(dlopt.plot(plain, result).axes[0].get_yticklabels())


def test_a_book_with_names_of_nodes_survives_a_failing_one() -> None:
    cluster = Cluster(2, tau=1, chi=2, node_names=("left", "right"))
    for book in (dlopt.Admission(cluster), dlopt.MultiStage(cluster)):
        book.resources(fail=[0])
        book.submit(admission.Task("a", arrival=0, load=1, deadline=9))
        state = book.state()
        assert state is not None and state.instance.cluster == Cluster(1, tau=1, chi=2)


@pytest.mark.parametrize("names", [("left",), ("left", "left"), ("left", 2), "lr"])
def test_each_node_has_a_name_of_its_own(names: Any) -> None:
    with pytest.raises(InvalidInstanceError, match="node_names"):
        Cluster(2, tau=1, chi=2, node_names=names)


def test_a_built_instance_is_solved_with_its_names() -> None:
    builder = lab().add_task("load", work=2).add_task("train", costs={"gpu": 5})
    result = dlopt.solve(builder.add_edge("load", "train").build())
    assert result.value == 5 + Fraction(2, 4) and "gpu" in result._repr_html_()


FAULTS: dict[str, tuple[Callable[[], object], str]] = {
    "a number": (lambda: lab().add_machine("old", power=0), "machine old: power: must be positive"),
    "a name twice": (
        lambda: lab().add_machine("cpu"),
        "machine cpu: machine: must be added once, got 'cpu'",
    ),
    "no name": (lambda: lab().add_task("", work=1), "task : task: must have a name, got ''"),
    "a LAN": (
        lambda: lab().add_machine("old", lan="hear"),
        "machine old: LAN: is not known; did you mean here?, got 'hear'",
    ),
    "a link": (
        lambda: lab().add_link("cpu", "qqq", bandwidth=1),
        "link cpu -> qqq: machine: is not known, got 'qqq'",
    ),
    "an edge before any task": (
        lambda: lab().add_edge("a", "b"),
        "edge a -> b: task: is not known, got 'a'",
    ),
    "costs": (
        lambda: lab().add_task("a", costs={"gpx": 1}).build(),
        "task a: machine: is not known; did you mean gpu?, got 'gpx'",
    ),
    "work and costs": (
        lambda: lab().add_task("a", work=1, costs={"gpu": 1}),
        "task a: costs: must not be given together with work",
    ),
    "an edge to its own task": (
        lambda: lab().add_task("a", work=1).add_edge("a", "a"),
        "edge a -> a: target: must differ from the source, got 'a'",
    ),
    "an edge twice": (
        lambda: (
            lab().add_task("a", work=1).add_task("b", work=1).add_edge("a", "b").add_edge("a", "b")
        ),
        "edge a -> b: must be added once",
    ),
    "a link twice": (
        lambda: lab().add_link("cpu", "gpu", bandwidth=1).add_link("cpu", "gpu", bandwidth=2),
        "link cpu -> gpu: must be added once",
    ),
    "a connection of two sites twice": (
        lambda: (
            BagBuilder()
            .add_site("here")
            .add_site("there")
            .add_link("here", "there", bandwidth=1)
            .add_link("there", "here", bandwidth=2)
        ),
        "link there - here: must be added once: it is a connection in both directions",
    ),
    "a holding of more than there is": (
        lambda: CoReservationBuilder().add_machine("m", 5).add_holding("m", 0, 1, cpu=6),
        "holding on m: cpu: must not be more than the capacity of the machine then, 5, got 6",
    ),
    "a holding of more than there is then": (
        lambda: (
            CoReservationBuilder()
            .add_machine("m", [(0, 9), (2, 3), (4, 5), (6, 9)])
            .add_holding("m", 3, 6, cpu=6)
        ),
        "holding on m: cpu: must not be more than the capacity of the machine then, 5, got 6",
    ),
    "a reservation of more than there is": (
        lambda: (
            MultiStageBuilder(tau=1, chi=1)
            .add_node("n")
            .add_reservation("r", arrival=0, start=1, end=2, nodes=2)
            .build()
        ),
        "reservation r: nodes: must not be more than the number of nodes, 1, got 2",
    ),
    "a link of LANs within one": (
        lambda: lab().add_wan_link("here", "here", bandwidth=1),
        "link here -> here: target: must differ from the source, got 'here'",
    ),
    "no costs": (
        lambda: BagBuilder().add_machine("m").add_task("a", costs={}),
        "task a: costs: must name a machine at least",
    ),
    "a cycle": (
        lambda: (
            lab()
            .add_task("a", work=1)
            .add_task("b", work=1)
            .add_edge("a", "b")
            .add_edge("b", "a")
            .build()
        ),
        "graph graph: edges: must not run in a cycle, got 'a -> b -> a'",
    ),
    "a deadline": (
        lambda: DagBuilder().add_graph("g", arrival=3, absolute_deadline=2),
        "graph g: absolute_deadline: must not lie before the arrival, 3, got 2",
    ),
    "one kind of tasks": (
        lambda: (
            BagBuilder()
            .add_machine("m")
            .add_task("a", work=1)
            .add_task("b", costs={"m": 1})
            .build()
        ),
        "task a: costs: must be given, as for other tasks, got None",
    ),
    "neither work nor costs": (
        lambda: BagBuilder().add_task("a"),
        "task a: work: must be given, or else costs, got None",
    ),
    "a site": (
        lambda: BagBuilder().add_machine("m", site="x"),
        "machine m: site: is not known, got 'x'",
    ),
    "a part of nothing": (
        lambda: CoReservationBuilder().add_part(3),
        "part: must follow a request, got 3",
    ),
    "a part": (
        lambda: CoReservationBuilder().add_request("r", arrival=0, start=1, end=2).add_part(0),
        "part 0 of request r: cpu: must be positive, got 0",
    ),
    "no part": (
        lambda: (
            CoReservationBuilder()
            .add_machine("m", 1)
            .add_request("r", arrival=0, start=1, end=2)
            .build()
        ),
        "request r: parts: must be a list of at least 1, got ()",
    ),
    "a node": (
        lambda: IitBuilder(tau=1, chi=1).add_node("n", tau=-1),
        "node n: tau: must not be negative, got -1",
    ),
    "no node": (lambda: IitBuilder(tau=1, chi=1).build(load=3), "nodes: must be"),
    "a task": (
        lambda: AdmissionBuilder(tau=1, chi=1).add_task("a", arrival=0, load=0, deadline=1),
        "task a: load: must be positive, got 0",
    ),
    "a reservation": (
        lambda: (
            MultiStageBuilder(tau=1, chi=1)
            .add_node("n")
            .add_reservation("r", arrival=0, start=1, end=2, nodes=["m"])
        ),
        "reservation r: node: is not known, got 'm'",
    ),
    "a number for a name": (
        lambda: (
            MultiStageBuilder(tau=1, chi=1)
            .add_node("n")
            .add_reservation("r", arrival=0, start=1, end=2, nodes=[0])
        ),
        "reservation r: node: must be a name, as added, got 0",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_is_wrong_names_the_element(case: str) -> None:
    make, text = FAULTS[case]
    with pytest.raises(InvalidInstanceError) as raised:
        make()
    assert str(raised.value).startswith(text)
