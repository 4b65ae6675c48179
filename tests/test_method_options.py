"""Options for many methods at once: each goes to the methods that have it, or to one of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt import registry
from dlopt.aliases import RenamedWarning
from dlopt.errors import NotApplicableError
from dlopt.method_options import MethodOptions, options_of_problems, refuse_unused
from tests.once import solve

THREE = dlopt.load("iit/three-nodes")
IIT = {entry.name: entry for entry in registry.methods("iit")}
DECLARED = sorted({option.name for entry in IIT.values() for option in entry.options})


@given(
    plain=st.dictionaries(st.sampled_from(DECLARED), st.integers()),
    of_methods=st.dictionaries(
        st.tuples(st.sampled_from(sorted(IIT)), st.sampled_from(DECLARED)), st.integers()
    ),
)
def test_each_method_gets_the_options_that_it_has_its_own_before_those_of_all(
    plain: dict[str, int], of_methods: dict[tuple[str, str], int]
) -> None:
    own = {f"{method}.{name}": value for (method, name), value in of_methods.items()}
    for both in (plain | own, own | plain):  # in any order
        options = MethodOptions("iit", both)
        for entry in IIT.values():
            names = {option.name for option in entry.options}
            wanted = {name: value for name, value in plain.items() if name in names}
            wanted |= {
                name: value
                for (method, name), value in of_methods.items()
                if method == entry.name and name in names
            }
            assert options.of(entry) == wanted
        has = {(entry.name, one.name) for entry in IIT.values() for one in entry.options}
        expected = {*plain, *(f"{m}.{n}" for m, n in of_methods if (m, n) in has)}
        assert options.used == expected
        assert options.current(options.used) == {name: both[name] for name in expected}


@pytest.mark.parametrize(
    ("given_options", "methods", "message"),
    [
        ({"instalments": 2}, None, r"no method has the option 'instalments' \(did you mean insta"),
        ({"instalments": 2}, ["exact"], "known: formulation, installments, solver"),
        ({"assignment": "all"}, ["exact"], "'assignment'; opr and epr have it"),
        ({"installments": 2}, ["opr"], "the option 'installments'; exact has it"),
        ({"exact.instalments": 2}, None, r"exact has no option 'instalments' \(did you mean insta"),
        ({"opr.solver": 2}, None, r"opr has no option 'solver' \(known: assignment"),
        ({"exakt.installments": 2}, None, r"no method 'exakt' \(did you mean exact\?"),
        ({".installments": 2}, None, "no method ''"),
        ({"opr.assignment": "all"}, ["exact"], "opr is not among the methods that are run"),
        ({"gap": 0.1}, None, r"limits are in limits=Limits\(time_s"),
        ({"installments": "two"}, None, "installments takes a value of type int, got 'two'"),
        ({"opr.assignment": "most"}, None, "assignment takes best or all, got 'most'"),
        ({3: 2}, None, "options are given by their names, got 3"),
        (["solver"], None, "options are a mapping, not a list"),
    ],
)
def test_what_is_wrong_with_options_of_a_comparison(
    given_options: Any, methods: list[str] | None, message: str
) -> None:
    with pytest.raises(NotApplicableError, match=message):
        dlopt.compare(THREE, methods, options=given_options)


def test_options_of_a_comparison_are_those_of_its_methods() -> None:
    options = {"assignment": "best", "opr.assignment": "all", "exact.installments": "2"}
    compared = dlopt.compare(THREE, ["opr", "epr", "exact"], options=options)
    every, best, two = (row.result for row in compared.rows)
    assert every == solve(THREE, "opr", assignment="all")
    assert best == solve(THREE, "epr", assignment="best")
    assert two == solve(THREE, "exact", installments=2) and two.installments == 2


def test_an_option_must_be_one_of_some_method_of_several_problems() -> None:
    found = options_of_problems(["iit", "dag"], {"installments": 2, "heft.insertion": "false"})
    assert found == {"iit": {"installments": 2}, "dag": {"heft.insertion": "false"}}
    assert options_of_problems(["iit"], {}, ["no-such-method"]) == {"iit": {}}  # is found later
    with pytest.raises(NotApplicableError, match="iit has no method 'heft'"):
        options_of_problems(["dag", "iit"], {"insertion": "true"}, ["heft"])
    with pytest.raises(NotApplicableError, match="no method has the option 'speed'"):
        options_of_problems(["iit", "dag"], {"speed": 2})


def test_former_names_of_methods_and_options() -> None:
    with pytest.warns(RenamedWarning, match="option slots=append is called insertion=false now"):
        options = MethodOptions("dag", {"heft.slots": "append"})
    assert options.of(registry.method("dag", "heft")) == {"insertion": False}
    assert options.current(options.used) == {"heft.insertion": False}
    with pytest.raises(NotApplicableError, match="switching has no option 'k'"):
        refuse_unused(["sa.k"], [], [registry.method("bag", "switching")])
