"""Public sets of task graphs: the counts and critical paths that are published with them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlopt.formats import dax, detection, dot, stg, task_graph_tables, wfformat
from dlopt.formats.task_graph import TaskGraph
from tests.data import data_folder


def rows_of(folder: Path, table: str, column: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the rows of a table whose file is there; files may be named in several rows."""
    with (folder / table).open(newline="") as file:
        for row in csv.DictReader(file):
            path = folder / row[column]
            if path.is_file():
                yield path, row


def counts(graph: TaskGraph) -> tuple[int, int]:
    return len(graph.tasks), len(graph.edges)


def work(graph: TaskGraph) -> float:
    return math.fsum(task.work or 0 for task in graph.tasks)


@pytest.mark.parametrize(("size", "every"), [(50, 8), (100, 12), (500, 6), (1000, 3)])
def test_stg(size: int, every: int) -> None:
    folder = data_folder("stg")
    with (folder / "optima_random.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["size"] == str(size)]
    paths = sorted((folder / str(size)).glob("*.stg"))[::every]
    assert paths
    for path in paths:
        graph = stg.read(path)
        own = [row for row in rows if row["file"] == path.name]
        assert len(graph.tasks) == size and len(own) == 4
        published = int(own[0]["critical_path"])
        assert graph.critical_path() == published == int(graph.fact("CP Length") or 0)
        assert work(graph) == int(own[0]["total_work"])
        assert len(stg.read(path, dummies=True).edges) == int(own[0]["edges_incl_dummy"])
        assert stg.bounds(graph) == {
            int(row["processors"]): (int(row["lower_bound"]), int(row["best_known"])) for row in own
        }


def test_an_stg_application() -> None:
    graph = stg.read(data_folder("stg") / "app" / "robot.stg")
    assert counts(graph) == (88, 131) and graph.critical_path() == 569
    assert graph.fact("CP Length") == "569"


def test_graphs_with_communication_in_dot() -> None:
    folder = data_folder("dag_comm_optimal")
    with (folder / "optima.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    met = 0
    for row in rows[::4]:
        path = folder / "graphs" / f"{row['instance']}.dot"
        if path.is_file():
            graph = dot.read(path)
            assert counts(graph) == (int(row["tasks"]), int(row["edges"]))
            assert graph.critical_path() == int(row["critical_path_no_comm"])
            assert work(graph) == int(row["sequential_time"]) and graph.unit == "time"
            met += 1
    assert met > 40


def test_simdag() -> None:
    graph = dot.read(data_folder("dax") / "simdag_basic_graph.dot")
    assert counts(graph) == (10, 13) and graph.unit == "amount"


def test_dax() -> None:
    met = 0
    for path, row in rows_of(data_folder("dax"), "summary.csv", "file"):
        graph = detection.read(path)
        assert counts(graph) == (int(row["jobs"]), int(row["edges"]))
        assert work(graph) == pytest.approx(float(row["total_runtime"]))
        assert graph.critical_path() == pytest.approx(float(row["critical_path_runtime"]))
        assert sum(edge.data for edge in graph.edges) == int(row["bytes_on_edges"])
        met += 1
    assert met > 10


def test_pegasus_dag_says_what_dax_says() -> None:
    folder = data_folder("dax")
    for name in ("CyberShake_30", "CyberShake_50", "Montage_25"):
        lines = dax.read_dag(folder / "pegasus_dag" / f"{name}.dag")
        xml = dax.read(folder / f"{name}.xml")
        assert {t.id for t in lines.tasks} == {t.id for t in xml.tasks}
        ends = [{(e.source, e.target) for e in graph.edges} for graph in (lines, xml)]
        assert ends[0] == ends[1]
        # the .dag files round some run times to two digits
        assert lines.critical_path() == pytest.approx(float(xml.critical_path()), abs=0.1)


@pytest.mark.parametrize(("sub", "schema"), [("", "1.5"), ("old_schema", "1.4")])
def test_wfformat(sub: str, schema: str) -> None:
    folder = data_folder("wfcommons")
    with (folder / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    met = 0
    for row in rows:
        path = folder / sub / row["file"]
        if path.is_file():
            graph = wfformat.read(path)
            assert graph.fact("schemaVersion") == schema
            assert counts(graph) == (int(row["tasks"]), int(row["edges"]))
            assert work(graph) == pytest.approx(float(row["total_runtime_s"]))
            assert graph.critical_path() == pytest.approx(float(row["critical_path_s"]), abs=1e-3)
            met += 1
    assert met > 1


def test_topcuoglu() -> None:
    folder = data_folder("heft") / "canonical_csv"
    times = folder / "canonicalgraph_task_exe_time.csv"
    graph = task_graph_tables.read(times, edges=folder / "canonicalgraph_task_connectivity.csv")
    assert counts(graph) == (10, 15) and graph.machines == ("P_0", "P_1", "P_2")
    assert graph.tasks[3].costs == (13, 8, 17)
    with (folder.parent / "topcuoglu2002_edges.csv").open(newline="") as file:
        paper = [
            (f"T_{int(r['from']) - 1}", f"T_{int(r['to']) - 1}", int(r["comm"]))
            for r in csv.DictReader(file)
        ]
    assert [(edge.source, edge.target, edge.data) for edge in graph.edges] == paper


def test_small_graphs_of_papers() -> None:
    met = 0
    for path in sorted((data_folder("heft") / "santiago_synthetic").glob("*.txt")):
        name, machines, tasks = path.stem.split("-")
        graph = detection.read(path)
        assert (len(graph.machines), len(graph.tasks)) == (int(machines), int(tasks)), name
        met += 1
    assert met > 5


def test_large_heterogeneous_graphs() -> None:
    met = 0
    for path, row in rows_of(data_folder("hetero_dag"), "summary.csv", "file"):
        graph = task_graph_tables.read(path)
        assert counts(graph) == (int(row["tasks"]), int(row["edges"]))
        assert len(graph.machines) == int(row["machines_or_resource_types"])
        if path.parent.name == "santiago":
            published = float(row["critical_path_min_cost"])
            assert graph.critical_path() == pytest.approx(published, abs=1e-3)
        met += 1
    assert met > 20


@pytest.mark.parametrize("machines", [2, 4, 6, 8, 10])
def test_rgpos(machines: int) -> None:
    graph = detection.read(data_folder("peer_set_rgpos") / f"rgpos100_p{machines}.txt")
    assert counts(graph) == (100, 150) and len(graph.machines) == machines
    assert work(graph) == 1000 * machines and graph.critical_path() <= 1000
