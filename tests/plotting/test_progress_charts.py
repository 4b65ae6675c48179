"""Incumbent and bound over time."""

from __future__ import annotations

import numpy as np
import pytest

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.plotting import plot_progress
from dlopt.result import Result, Status


def steps(figure) -> dict[str, list[tuple[float, float]]]:
    return {
        str(line.get_label()): np.column_stack(line.get_data()).tolist()
        for line in figure.axes[0].lines
    }


def test_values_and_bounds_are_steps_over_the_seconds() -> None:
    found = [
        Result(Status.FEASIBLE, value=9, objective="makespan", method="exact", runtime_s=1.0),
        Result(Status.FEASIBLE, value=9, bound=4, objective="makespan", runtime_s=2.0),
        Result(Status.OPTIMAL, value=7, bound=7, objective="makespan", method="cp", runtime_s=10.0),
    ]
    figure = plot_progress(found)
    assert steps(figure) == {
        "incumbent": [[1, 9], [2, 9], [10, 7], [10.3, 7]],
        "bound": [[2, 4], [10, 7], [10.3, 7]],
    }
    assert [text.get_text() for text in figure.texts] == ["cp", "optimal"]
    assert figure.axes[0].get_ylabel() == "makespan"
    assert figure.axes[0].get_xlim()[0] == 0


def test_of_several_levels_the_first_is_drawn() -> None:
    found = [Result(Status.FEASIBLE, value=(3, 80), bound=(2, 0), runtime_s=1.0)]
    assert steps(plot_progress(found)) == {
        "incumbent": [[1, 3], [1.03, 3]],
        "bound": [[1, 2], [1.03, 2]],
    }


def test_a_search_can_be_drawn() -> None:
    reports: list[Result[object]] = []
    dlopt.solve(dlopt.load("iit/three-nodes"), progress=reports.append)
    assert steps(plot_progress(reports))["incumbent"][-1][1] == 39 / 8


def test_without_values_there_is_nothing_to_draw() -> None:
    with pytest.raises(NotApplicableError, match="no progress to draw"):
        plot_progress([Result(Status.UNKNOWN)])
