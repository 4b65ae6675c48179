"""Comparisons and searches as text, as HTML and as frames."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import dlopt
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.result import Result, Status
from dlopt.verify import falsify

THREE = dlopt.load("iit/three-nodes")


def test_a_comparison_is_a_table_of_its_methods() -> None:
    lines = str(dlopt.compare(THREE, ["opr", "exact", "bound-fluid"])).splitlines()
    assert lines[0] == "three-nodes: completion, optimum 39/8 (4.875)"
    assert re.split(r"  +", lines[1].strip())[4:6] == ["gap to optimum", "proof"]
    assert re.match(r"opr +feasible +32/5 \(6.4\) +- +31.28% +- ", lines[2])
    values = r"39/8 \(4.875\) +39/8 \(4.875\) +0.00%"
    assert re.match(rf"exact +optimal +{values} +certificate ", lines[3])
    assert re.match(r"bound-fluid +bound +- +14/3 \(4.66667\) +- +certificate ", lines[4])
    assert lines[5] == "gap to optimum: |value - optimum| / |optimum|"


def test_methods_that_fail_or_do_not_apply_are_named(method_table: None) -> None:
    def wrong(instance, **rest):  # type: ignore[no-untyped-def]
        plan = earliest_plan(instance, nodes=[0], loads=[instance.load])
        return Result(Status.FEASIBLE, plan, value=1)

    dlopt.register("iit", "wrong", wrong, objectives=("completion",))
    dlopt.register("iit", "never", wrong, applies=lambda instance: "it never does")
    comparison = dlopt.compare(THREE, ["wrong", "never"])
    lines = str(comparison).splitlines()
    assert lines[0] == "three-nodes: completion"
    assert re.match(r"wrong +invalid +- ", lines[2])
    assert lines[3].startswith("wrong: INVALID: the result of wrong is invalid")
    assert lines[4] == "skipped: never"
    frame = comparison.to_frame()
    assert frame["failure"][0].startswith("INVALID")
    assert comparison.to_frame("skipped").to_dict("records") == [
        {"method": "never", "reason": "it never does"}
    ]
    ElementTree.fromstring(f"<div>{comparison._repr_html_()}</div>")


def test_a_search_says_what_it_found() -> None:
    search = falsify("admission", "edf-opr-mn:literal", examples=2000)
    text = str(search)
    assert "a violation of the claim sound of edf-opr-mn:literal (admission)" in text
    assert "channel-overlap on channel" in text
    assert "2 tasks, 2 nodes" in text and "shipped instances in" in text
    assert str(search.finding) in text
    assert search._repr_html_().count("<table>") >= 3
    nothing = falsify("admission", "edf-opr-mn", examples=20)
    assert str(nothing).splitlines()[0].strip() == "found: nothing"
    assert nothing._repr_html_().count("<table>") == 1


def test_a_search_for_gaps_names_the_gap() -> None:
    text = str(falsify("iit", "opr", target="gap", examples=40))
    assert "the largest gap of opr (iit)" in text and "gap to optimum: " in text
