"""Public sets of graphs whose optima, or bounds, are known: a few seconds of each."""

import csv

import pytest

from dlopt import io, solve
from dlopt.formats import detection, dot, stg, task_graph_tables
from dlopt.generation.task_graph_conversion import instance_of, machine_set
from dlopt.models.dag.bound_methods import bound_fernandez
from dlopt.result import Limits, Status
from tests.data import data_folder
from tests.test_battery import FOLDER

LIMITS = Limits(time_s=30)


def test_topcuoglu_is_proven():
    instance = io.read(FOLDER / "dag" / "topcuoglu-10.json")
    found = solve(instance)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 73, 73)
    assert solve(instance, "heft").value == 80 and solve(instance, "cpop").value == 86


def test_small_graphs_of_papers():
    folder = data_folder("heft") / "santiago_synthetic"
    with (folder / "optima_computed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    met = 0
    for row in rows:
        graph = task_graph_tables.read(folder / row["file"], exact_numbers=True)
        found = solve(instance_of(graph), limits=LIMITS)
        assert found.status is Status.OPTIMAL
        assert float(found.value) == pytest.approx(float(row["optimal_makespan_computed"]))
        met += 1
    assert met == len(rows) > 5


@pytest.mark.parametrize("machines", [2, 4, 6, 8, 10])
def test_rgpos(machines):
    path = data_folder("peer_set_rgpos") / f"rgpos100_p{machines}.txt"
    found = solve(instance_of(detection.read(path)), limits=LIMITS)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1000, 1000)


@pytest.mark.parametrize(("size", "every"), [(50, 30), (100, 90)])
def test_stg_bounds_are_no_worse_than_those_published(size, every):
    for path in sorted((data_folder("stg") / str(size)).glob("*.stg"))[::every]:
        graph = stg.read(path)
        for machines, (least, most) in stg.bounds(graph).items():
            found = bound_fernandez(instance_of(graph, machine_set(machines)))
            assert least <= found.bound <= most


def test_stg_is_proven():
    graph = stg.read(data_folder("stg") / "50" / "rand0000.stg")
    for machines, (least, most) in stg.bounds(graph).items():
        found = solve(instance_of(graph, machine_set(machines)), limits=LIMITS)
        assert found.status is Status.OPTIMAL
        assert least <= found.value <= most


def test_graphs_with_communication():
    folder = data_folder("dag_comm_optimal")
    with (folder / "optima.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["evidence"] == "exact_search_here"]
    met = 0
    for row in rows[::20]:
        path = folder / "graphs" / f"{row['instance']}.dot"
        if path.is_file():
            instance = instance_of(dot.read(path), machine_set(int(row["processors"])))
            found = solve(instance, limits=LIMITS)
            assert (found.status, found.value) == (Status.OPTIMAL, int(row["makespan"]))
            met += 1
    assert met > 5
