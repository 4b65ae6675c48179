"""The narrowest class of a plan."""

from __future__ import annotations

import dlopt
from dlopt.problems import admission, iit
from dlopt.problems.narrowest_plan_class import class_of_plan


def test_several_chunks_of_a_node() -> None:
    chunks = [iit.Chunk(node, 1, 0, 1, 1, 2) for node in (0, 1, 1, 1, 0)]
    assert class_of_plan(iit.Solution(tuple(chunks))) == ("k", 3)
    assert class_of_plan(iit.Solution(tuple(chunks[:2]))) == ("single", None)
    assert class_of_plan(iit.Solution(())) == ("single", None)


def test_chunks_of_different_tasks_count_apart() -> None:
    chunks = [admission.Chunk(task, 0, 1, 0, 1, 1, 2) for task in ("a", "b", "a")]
    assert class_of_plan(admission.Solution((), tuple(chunks))) == ("k", 2)
    assert class_of_plan(admission.Solution((), tuple(chunks[:2]))) == ("single", None)


def test_plans_without_chunks_are_of_any_class() -> None:
    assert class_of_plan(dlopt.solve(dlopt.load("dag/topcuoglu-10"), "heft").solution) == (
        "any",
        None,
    )
