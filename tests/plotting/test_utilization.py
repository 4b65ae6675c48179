"""Solutions with too many bars are drawn as the utilization of resources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlopt.plotting import Page, plot
from dlopt.plotting.gantt import MOST_BARS, Gantt
from dlopt.plotting.style import ChartRow
from dlopt.plotting.utilization import PERIODS, Usage, draw_utilization, occupied
from dlopt.problems import admission, bag, coreservation, dag, multistage
from dlopt.problems.cluster import Cluster
from tests.plotting.test_coreservation import many

COUNT = 1000
"""Of each of two machines, more bars than they have room for."""


def labels(figure) -> list[str]:
    return [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]


def heights(figure, panel: int) -> np.ndarray:
    (line,) = figure.axes[panel].lines
    return np.asarray(line.get_ydata(), dtype=float)


def test_utilization_is_the_mean_over_each_period() -> None:
    usage = Usage(
        {
            "nodes": occupied([(0, 6), (0, 12), (6, 12)], 4.0),
            "CPU": ([(0, 12, 3.0)], [(0, 6, 6.0), (6, 12, 3.0)]),
            "nothing": occupied([]),
        },
        {"rejected": [0.0, 11.9]},
    )
    figure = draw_utilization(Page(), usage, (0, 24), "title", "note", "s")
    assert labels(figure) == ["nodes (%)", "CPU (%)", "rejected"]
    quarter = PERIODS // 4
    assert heights(figure, 0)[:-1] == pytest.approx([50] * 2 * quarter + [0] * 2 * quarter)
    assert heights(figure, 1)[:-1] == pytest.approx(
        [50] * quarter + [100] * quarter + [0] * 2 * quarter
    )
    assert heights(figure, 2).tolist() == [1] * (PERIODS // 2) + [2] * (PERIODS // 2 + 1)
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert [text.get_text() for text in figure.texts] == ["title", "note"]


def test_bars_are_drawn_while_they_have_room() -> None:
    chart = Gantt([ChartRow(f"row {index}") for index in range(10)], (0, 1))
    assert not chart.is_crowded(500) and chart.is_crowded(1500)
    tall = Gantt([ChartRow("")] * 1000, (0, 1))
    assert not tall.is_crowded(MOST_BARS) and tall.is_crowded(MOST_BARS + 1)


def test_ten_thousand_requests_are_a_small_file(tmp_path: Path) -> None:
    figure = plot(*many(10_000), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size < 100_000
    assert labels(figure) == ["requests rejected, by start"]
    assert heights(figure, 0)[-1] == 10_000


def streams() -> tuple[list[admission.Decision], list[admission.Chunk]]:
    decisions = [admission.Decision(f"t{k}", k % 2 == 0, 2 * k) for k in range(COUNT)]
    chunks = [
        admission.Chunk(f"t{k}", 0, 1, 2 * k, 2 * k + 1, 2 * k + 1, 2 * k + 3)
        for k in range(0, COUNT, 2)
    ]
    return decisions, chunks


def test_streams_show_nodes_channel_and_rejections(tmp_path: Path) -> None:
    decisions, chunks = streams()
    tasks = tuple(admission.Task(f"t{k}", 2 * k, 1, 9) for k in range(COUNT))
    cluster = Cluster(2, tau=1, chi=2)
    plan = admission.Solution(tuple(decisions), tuple(chunks))
    figure = plot(admission.Instance(cluster, tasks), plan, tmp_path / "a.svg")
    expected = ["nodes computing (%)", "nodes receiving (%)", "channel sending (%)"]
    assert labels(figure) == [*expected, "tasks rejected"]
    assert heights(figure, 0)[5] == pytest.approx(25, rel=0.1)
    assert heights(figure, 2)[5] == pytest.approx(25, rel=0.1)
    assert heights(figure, 3)[-1] == COUNT / 2
    assert (tmp_path / "a.svg").stat().st_size < 150_000
    mixed = multistage.Instance(
        cluster, tasks, (multistage.Reservation("r", 0, 0, 1000, io_end=0),)
    )
    grant = multistage.Grant("r", True, 0, (1,))
    both = multistage.Solution(plan.decisions, (grant,), plan.chunks)
    figure = plot(mixed, both)
    assert labels(figure)[3] == "nodes reserved (%)"
    assert heights(figure, 3)[5] == pytest.approx(50) and heights(figure, 3)[-1] == 0


def test_tasks_show_the_machines_and_priorities(tmp_path: Path) -> None:
    tasks = tuple(
        bag.Task(f"t{k}", 1, absolute_deadline=10**6, priority=("critical", "soft")[k % 2])
        for k in range(COUNT)
    )
    placed = tuple(bag.Placement(f"t{k}", k % 2, k // 2, k // 2 + 1) for k in range(COUNT))
    instance = bag.Instance(tasks, (bag.Machine("m"), bag.Machine("n")))
    figure = plot(instance, bag.Solution(placed), tmp_path / "a.svg")
    assert labels(figure) == ["machines, critical tasks (%)", "machines, soft tasks (%)"]
    assert heights(figure, 0)[3] == pytest.approx(50)
    assert (tmp_path / "a.svg").stat().st_size < 100_000


def test_graphs_show_the_machines() -> None:
    tasks = tuple(dag.Task(f"t{k}", 1) for k in range(COUNT))
    placed = tuple(dag.Placement(0, k, 0, k) for k in range(COUNT))
    instance = dag.Instance((dag.Machine("m"), dag.Machine("n")), (dag.Graph("g", tasks),))
    figure = plot(instance, dag.Solution(placed))
    assert labels(figure) == ["machines (%)"] and heights(figure, 0)[3] == pytest.approx(50)


def test_shares_are_those_of_all_capacities() -> None:
    part = (coreservation.Part(4),)
    requests = tuple(coreservation.Request(f"r{k}", 0, k, k + 2, 1, part) for k in range(COUNT))
    decisions = tuple(coreservation.Decision(one.id, True, 0) for one in requests)
    shares = tuple(coreservation.Share(one.id, 0, 0, 4) for one in requests)
    machines = (coreservation.Machine("m", 8), coreservation.Machine("n", 8))
    figure = plot(
        coreservation.Instance(machines, requests), coreservation.Solution(decisions, shares)
    )
    assert labels(figure)[0] == "CPU in use (%)" and heights(figure, 0)[5] == pytest.approx(50)
