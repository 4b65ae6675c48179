"""Summaries of results, and what notebooks show of them."""

from __future__ import annotations

import base64
import pickle
import re
import sys
from xml.etree import ElementTree

import pytest

import dlopt
from dlopt.presentation import results
from dlopt.presentation.layout import MAX_ROWS
from dlopt.presentation.violation_texts import violation_texts
from dlopt.problems.iit import Chunk, Solution
from dlopt.result import Result, Status, Violation
from tests.once import solve

METHODS = {
    "iit/three-nodes": "exact",
    "admission/as-it-stands": "edf-iit-2",
    "multistage/maintenance": "multi-stage",
    "coreservation/across-machines": "co-rspb",
    "dag/topcuoglu-10": "heft",
    "bag/small-grid": "gds",
}
PLANS = {
    "iit/three-nodes": "3 chunks",
    "admission/as-it-stands": "3 of 4 tasks accepted",
    "multistage/maintenance": "1 of 3 tasks accepted, 2 of 2 reservations accepted, 3 chunks",
    "coreservation/across-machines": "3 of 4 requests accepted, 5 shares",
    "dag/topcuoglu-10": "10 placements",
    "bag/small-grid": "4 placements",
}


def fields_of(text: str) -> dict[str, str]:
    """Return the labelled lines of a summary."""
    return dict(line.strip().split(": ", 1) for line in text.splitlines())


def images_of(html: str) -> list[bytes]:
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    return [base64.b64decode(data) for data in found]


@pytest.mark.parametrize("name", METHODS)
def test_a_summary_says_what_came_out(name: str) -> None:
    result = solve(dlopt.load(name), METHODS[name])
    lines = fields_of(str(result))
    proof = " (certified)" if METHODS[name] == "exact" else ""
    assert lines["status"] == f"{result.status}{proof}"
    assert lines["plan"].startswith(PLANS[name])
    assert lines["method"].split()[0] == METHODS[name]
    assert lines["verified"] == "exact"
    assert str(result.value if not isinstance(result.value, tuple) else "(") in str(result)
    assert len(str(result).splitlines()) < 15
    assert "Chunk(" not in str(result) and "Placement(" not in str(result)


def test_an_optimum_has_its_bound_gap_and_proof() -> None:
    lines = fields_of(str(solve(dlopt.load("iit/three-nodes"), "exact")))
    assert lines["completion"] == "39/8 (4.875)"
    assert lines["bound"] == ">= 39/8 (4.875)"
    assert (lines["gap"], lines["status"]) == ("0.000%", "optimal (certified)")
    assert "proof" not in lines  # the status says it
    stream = solve(dlopt.load("admission/two-of-three"), "exact")
    assert fields_of(str(stream))["bound"].startswith("<= ")


def test_what_is_absent_is_left_out() -> None:
    result = Result[object](Status.UNKNOWN, reason="no\x1b[31m reason")
    assert str(result) == "status: unknown\nreason: no\\x1b[31m reason"


def test_violations_are_named_and_counted() -> None:
    broken = tuple(Violation("deadline", f"node {node}") for node in range(5))
    plan = Solution((Chunk(0, 1, 0, 1, 1, 2),))
    lines = fields_of(str(Result(Status.UNSOUND, plan, value=2, violations=broken)))
    assert lines["violations"].startswith("5 (deadline on node 0; ")
    assert lines["violations"].endswith("; 2 more)")
    assert "verified" not in lines


def test_levels_have_their_own_signs() -> None:
    instance = dlopt.load("coreservation/four-shapes")
    goal = "benefit-then-rejections"
    result = Result[object](Status.BOUND, objective=goal, bound=(1, 2), instance=instance)
    assert fields_of(str(result))["bound"] == "(<= 1, >= 2)"


@pytest.mark.parametrize("name", METHODS)
def test_a_notebook_shows_summary_tables_and_chart(name: str) -> None:
    html = solve(dlopt.load(name), METHODS[name])._repr_html_()  # what notebooks look for
    tables = re.findall(r"<table>.*?</table>", html)
    assert len(tables) >= 2
    for table in tables:
        ElementTree.fromstring(table)
    (picture,) = images_of(html)
    assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_without_matplotlib_there_is_no_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve(dlopt.load("iit/three-nodes"), "exact")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    html = results.html_of(result)
    assert "39/8" in html and not images_of(html)


def test_a_large_plan_is_not_drawn_and_its_table_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    result = solve(dlopt.load("iit/snapshot-128"), "edf-iit-2")
    html = results.html_of(result)
    entries = len(result.to_frame())
    assert images_of(html) and f"... {entries - MAX_ROWS} more" in html
    monkeypatch.setattr(results, "MAX_DRAWN", entries - 1)
    assert not images_of(results.html_of(result))


def test_markup_in_names_is_escaped() -> None:
    task = {"id": "<script>", "arrival": 0, "load": 1, "deadline": 9}
    cluster = {"nodes": 1, "tau": 1, "chi": 1}
    from dlopt.problems.admission import Instance

    instance = Instance.from_data({"name": "<b>", "cluster": cluster, "tasks": [task]})
    html = results.html_of(dlopt.solve(instance, "edf-iit-2"))
    assert "<script>" not in html and "&lt;script&gt;" in html and "<b>" not in html


def test_a_result_knows_its_instance_and_can_be_pickled() -> None:
    instance = dlopt.load("iit/three-nodes")
    result = solve(instance, "opr")
    assert result.instance is not None and result.instance == instance
    assert "instance" not in repr(result)
    again = pickle.loads(pickle.dumps(result))
    assert again == result and str(again) == str(result)


@pytest.mark.parametrize(
    ("resource", "text"),
    [
        ("task 1 of graph 0", "task t1 of graph g"),
        ("graph 0", "graph g"),
        ("task 99 of graph 0", "task 99 of graph 0"),
        ("graph 7", "graph 7"),
        ("machine fast", "machine fast"),
        ("machine 1", "machine fast"),
        ("machine 9", "machine 9"),
    ],
)
def test_violations_of_task_graphs_have_names(resource: str, text: str) -> None:
    chain = dlopt.load("dag/chain")
    (shown,) = violation_texts(chain, [Violation("precedence", resource, 1, 2, 1)])
    assert shown == f"precedence on {text} in [1, 2] by 1"
    other = dlopt.load("bag/small-etc")
    (shown,) = violation_texts(other, [Violation("deadline", resource)])
    assert shown == f"deadline on {resource}"
