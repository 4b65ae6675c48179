"""The shipped instances by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlopt
from dlopt import registry
from dlopt.problems.validated_record import floating

SHIPPED = Path(__file__).parents[1] / "instances"


def test_every_file_is_listed_and_can_be_loaded() -> None:
    listed = dlopt.list_instances()
    names = [
        path.relative_to(SHIPPED).with_suffix("").as_posix() for path in SHIPPED.rglob("*.json")
    ]
    assert [one.name for one in listed] == sorted(names)
    for shipped in listed:
        assert dlopt.load(shipped.name) == shipped.instance == dlopt.read(shipped.path)
        assert shipped.name.split("/")[0] == shipped.instance.problem
        assert sum(shipped.size.values()) > 0, shipped


@pytest.mark.parametrize("stem", registry.stems())
def test_those_of_a_problem_are_listed(stem: str) -> None:
    found = dlopt.list_instances(stem)
    assert found
    assert found == tuple(s for s in dlopt.list_instances() if s.instance.problem == stem)


def test_numbers_are_read_as_for_files() -> None:
    three = dlopt.load("iit/three-nodes")
    assert dlopt.load("iit/three-nodes", float_numbers=True) == floating(three)
    assert dlopt.load("iit/ramp-16", exact_numbers=True).exact
    with pytest.raises(dlopt.NotApplicableError, match="either as exact ones or as floats"):
        dlopt.load("iit/three-nodes", exact_numbers=True, float_numbers=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("iit/three-node", "did you mean iit/three-nodes"),
        ("three-nodes", "did you mean iit/three-nodes"),
        ("dag/braun-24", "did you mean bag/braun-24"),
        ("../README", "`dlopt instances` lists them"),
        ("iit/\x1b[31m", "no shipped instance 'iit/"),
    ],
)
def test_an_unknown_name_gives_similar_ones(name: str, text: str) -> None:
    with pytest.raises(dlopt.NotApplicableError) as raised:
        dlopt.load(name)
    assert text in str(raised.value)
    assert str(raised.value).isprintable()


def test_an_unknown_problem_is_refused() -> None:
    with pytest.raises(dlopt.NotApplicableError, match="no problem 'jobshop'"):
        dlopt.list_instances("jobshop")


def test_the_best_value_is_that_of_the_default_objective() -> None:
    listed = {shipped.name: shipped for shipped in dlopt.list_instances()}
    best = listed["iit/three-nodes"].best_known
    assert best is not None and (best.objective, best.value) == ("completion", best.bound)
    assert listed["iit/counterexamples/opr-literal-logarithm"].best_known is None
