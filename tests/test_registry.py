"""The registry: what is registered can be used, and names come before code."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dlopt
from dlopt import api, registry
from dlopt.errors import NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit import Instance, Solution, violations
from dlopt.registry import Method, Option
from dlopt.registry.method_entries import COMMON
from dlopt.result import PLAN_CLASSES, Result, Status
from tests.method_table import own_method_table

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(:literal(-[A-Za-z0-9]+)*)?")
THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
HEAVY = ("pulp", "highspy", "ortools", "matplotlib", "pandas", "scipy", "numpy")


def named(method: Method) -> str:
    return f"{method.stem}-{method.name}"


# what ships


def test_stems_and_problems() -> None:
    assert "iit" in registry.stems()
    for stem in registry.stems():
        problem = registry.problem(stem)
        assert problem.stem == stem and problem.summary
        assert problem.module.Instance.problem == stem
        for hint in problem.hints:
            method = registry.method(stem, hint)
            assert method.kind == "heuristic" and method.claim in ("sound", "optimal")
    for strange in ("xyz", "", None, 3, ["iit"]):
        with pytest.raises(NotApplicableError, match="known: iit"):
            registry.problem(strange)


def test_every_problem_has_an_exact_method_of_that_name() -> None:
    for stem in registry.stems():
        exact = registry.method(stem, "exact")
        assert exact.kind == "exact" and exact.claim == "optimal"


def test_names_are_kebab_case_and_unique() -> None:
    names = [(m.stem, m.name) for m in registry.methods()]
    assert len(set(names)) == len(names) > 0
    for _, name in names:
        assert NAME.fullmatch(name), name
    assert not NAME.fullmatch("Edf_IIT") and NAME.fullmatch("fast-edf-iit:literal-F1")


@pytest.mark.parametrize("method", registry.methods(), ids=named)
def test_entries(method: Method) -> None:
    problem = registry.problem(method.stem).module
    function = method.load()
    assert isinstance(method.target, str) and callable(function)
    assert method.source and method.summary
    assert method.kind in ("heuristic", "exact", "bound")
    assert method.claim in ("optimal", "sound", "literal-unsound", "none")
    assert method.plan_class in PLAN_CLASSES
    assert method.objectives and set(method.objectives) <= set(problem.OBJECTIVES)
    # a claim that is known to be false stands under a literal name, and only there
    assert (method.claim in ("literal-unsound", "none")) == method.literal
    assert method.literal == (":literal" in method.name)
    if method.applies is not None:
        assert isinstance(method.applies, str)
        module, _, name = method.applies.partition(":")
        assert callable(getattr(importlib.import_module(module), name))
    # the common arguments that it uses, in their order, and an argument for every option
    arguments = inspect.signature(function).parameters
    used = [name for name in COMMON if name in arguments]
    assert [*arguments] == ["instance", *used, *(option.name for option in method.options)]
    assert all(arguments[name].kind is inspect.Parameter.KEYWORD_ONLY for name in [*arguments][1:])


@pytest.mark.parametrize("method", registry.methods(), ids=named)
def test_options_are_typed_and_their_defaults_are_the_functions_own(method: Method) -> None:
    arguments = inspect.signature(method.load()).parameters
    for option in method.options:
        assert option.help and option.type in ("bool", "int", "float", "str")
        assert option.read(option.default) == option.default == arguments[option.name].default
        assert not option.choices or option.default in option.choices


def test_methods_of_one_problem_and_of_all() -> None:
    assert set(registry.methods("iit")) <= set(registry.methods())
    assert {m.stem for m in registry.methods("iit")} == {"iit"}
    with pytest.raises(NotApplicableError, match="no problem 'xyz'"):
        registry.methods("xyz")


def test_a_name_misspelt_is_told_what_is_close() -> None:
    with pytest.raises(NotApplicableError, match=r"no method 'edf-itt-2' .did you mean edf-iit-2"):
        registry.method("iit", "edf-itt-2")
    with pytest.raises(NotApplicableError, match=r"known: .*exact"):
        registry.method("iit", "zzzzzzzz")
    with pytest.raises(NotApplicableError, match="no problem"):
        registry.method("xyz", "exact")


# options


@pytest.mark.parametrize(
    ("option", "given", "read"),
    [
        (Option("k", "int", 1, "", least=1), "3", 3),
        (Option("k", "int", 1, "", least=1), 3, 3),
        (Option("x", "float", 1.0, ""), "2.5", 2.5),
        (Option("x", "float", 1.0, ""), 2, 2.0),
        (Option("w", "str", "a", "", choices=("a", "b")), "b", "b"),
    ],
)
def test_good_options(option: Option, given: object, read: object) -> None:
    got = option.read(given)
    assert got == read and type(got) is type(read)


@pytest.mark.parametrize(
    ("option", "given", "rule"),
    [
        (Option("k", "int", 1, "", least=1), "0", "at least 1"),
        (Option("k", "int", 1, ""), "two", "of type int"),
        (Option("k", "int", 1, ""), 2.0, "of type int"),
        (Option("k", "int", 1, ""), True, "of type int"),
        (Option("k", "int", 1, ""), None, "of type int"),
        (Option("x", "float", 1.0, "", least=0), "nan", "at least 0"),
        (Option("x", "float", 1.0, ""), "wide", "of type float"),
        (Option("w", "str", "a", "", choices=("a", "b")), "c", "a or b"),
        (Option("w", "str", "a", ""), 3, "of type str"),
    ],
)
def test_bad_options(option: Option, given: object, rule: str) -> None:
    with pytest.raises(NotApplicableError, match=f"option {option.name} takes .*{rule}"):
        option.read(given)


def test_unknown_options_are_refused_by_name() -> None:
    with pytest.raises(
        NotApplicableError, match=r"opr has no option .speed. \(known: assignment\)"
    ):
        registry.method("iit", "opr").read_options({"speed": 1})
    with pytest.raises(NotApplicableError, match=r"known: none"):
        registry.method("iit", "edf-iit-2").read_options({"speed": 1})


# methods of a user's own


def first_node(instance: Instance, *, factor: int = 1, **_: Any) -> Result[Solution]:
    """Give all of the load to the node that is ready first."""
    plan = earliest_plan(instance, [0], [Fraction(instance.load) * factor])
    return Result(
        Status.FEASIBLE, solution=plan, value=last_result(plan), plan_class="single", method="?"
    )


def test_methods_that_a_test_registers_go_with_it() -> None:
    before = registry.methods("iit")
    with pytest.MonkeyPatch.context() as patch:
        table = own_method_table(patch)
        table["iit", "mine"] = table["iit", "opr"]
        assert registry.method("iit", "mine") is registry.method("iit", "opr")
    assert registry.methods("iit") == before


@pytest.mark.usefixtures("method_table")
def test_a_method_of_ones_own_is_solved_and_compared() -> None:
    entry = dlopt.register("iit", "first-node", first_node, plan_class="single", summary="one")
    assert registry.method("iit", "first-node") is entry
    assert entry.objectives == ("completion", "nodes") and entry.kind == "heuristic"
    result = dlopt.solve(THREE, "first-node", seed=3)
    assert result.value == 9 and result.method == "first-node" and result.tolerance == 0
    assert result.objective == "completion" and result.seed == 3 and result.bound is None
    assert violations(THREE, result.solution) == ()
    rows = {row.method.name: row for row in dlopt.compare(THREE).rows}
    assert rows["first-node"].gap_to_best == pytest.approx(9 / (39 / 8) - 1)


@pytest.mark.usefixtures("method_table")
def test_a_method_gets_those_arguments_that_it_names() -> None:
    def of_the_seed(instance: Instance, *, seed: int) -> Result[Solution]:
        return first_node(instance, factor=seed)

    def of_anything(instance: Instance, **arguments: Any) -> Result[Solution]:
        assert [*arguments] == [*COMMON]
        return first_node(instance)

    for function in (of_the_seed, of_anything):
        name = function.__name__.replace("_", "-")
        registry.register("iit", name, function, objectives=("completion",))
        assert api.solve(THREE, name, seed=1).value == 9


@pytest.mark.usefixtures("method_table")
def test_a_bad_method_of_ones_own_is_refuted() -> None:
    option = Option("factor", "int", 2, "how often")
    registry.register("iit", "too-much", first_node, options=(option,))
    assert api.solve(THREE, "too-much", factor="1").value == 9
    with pytest.raises(api.InvalidResultError, match="load-not-conserved on load by -3"):
        api.solve(THREE, "too-much", factor=2)
    with pytest.raises(NotApplicableError, match="option factor"):
        api.solve(THREE, "too-much", factor="x")


@pytest.mark.usefixtures("method_table")
def test_where_it_does_not_apply_it_is_left_out() -> None:
    registry.register(
        "iit",
        "first-node",
        first_node,
        objectives=("completion",),
        applies=lambda instance: "too many nodes" if instance.cluster.nodes > 2 else None,
    )
    compared = api.compare(THREE, ["first-node", "opr"])
    assert compared.skipped == (("first-node", "too many nodes"),)
    assert [row.method.name for row in compared.rows] == ["opr"]
    with pytest.raises(NotApplicableError, match="too many nodes"):
        api.solve(THREE, "first-node")
    entry = registry.method("iit", "first-node")
    assert entry.reason_against(THREE, "nodes") == "does not support objective 'nodes'"


@pytest.mark.usefixtures("method_table")
def test_a_name_is_taken_once() -> None:
    registry.register("iit", "first-node", first_node)
    changed = registry.register("iit", "first-node", first_node, summary="the same again")
    assert registry.method("iit", "first-node") is changed
    with pytest.raises(NotApplicableError, match="already has a method 'first-node'"):
        registry.register("iit", "first-node", lambda instance, **_: Result(Status.UNKNOWN))
    with pytest.raises(NotApplicableError, match="already has a method 'exact'"):
        registry.register("iit", "exact", first_node)
    with pytest.raises(NotApplicableError, match="no problem 'xyz'"):
        registry.register("xyz", "first-node", first_node)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"objectives": ("speed",)}, "iit has no objective 'speed' .known: completion, nodes"),
        ({"objectives": ()}, "objectives must name one at least"),
        ({"objectives": "completion"}, "objectives must be a tuple of names, got 'completion'"),
        ({"objectives": (1,)}, "objectives must be a tuple of names"),
        ({"objectives": ("nodes", "nodes")}, "objectives must not name 'nodes' twice"),
        ({"options": (Option("k", "int", 1, ""),) * 2}, "options must not name 'k' twice"),
        ({"kind": "exakt"}, "kind must be one of heuristic, exact, bound, got 'exakt'"),
        ({"claim": "true"}, "claim must be one of optimal, sound, "),
        ({"plan_class": "two"}, "plan_class must be one of single, per-stage, k, any"),
        ({"function": None}, "a method is a function, not a NoneType"),
        ({"name": "First_Node"}, "method names are kebab-case, got 'First_Node'"),
        ({"name": None}, "method names are kebab-case, got None"),
        ({"stem": "xyz"}, "no problem 'xyz' .known: iit"),
    ],
)
def test_what_cannot_be_registered(entry: dict[str, Any], told: str) -> None:
    before = registry.methods()
    with pytest.raises(NotApplicableError, match=told):
        registry.register(**{"stem": "iit", "name": "own", "function": first_node} | entry)
    assert before == registry.methods()


# names first, code on use


def loaded_after(code: str) -> set[str]:
    """Return the modules that are loaded at the end of a program."""
    print_error = "\nimport sys\nsys.stderr.write(' '.join(sys.modules))\n"
    root = Path(dlopt.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code + print_error],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import dlopt, dlopt.registry, dlopt.api, dlopt.io\ndlopt.solve, dlopt.Limits, dlopt.read",
        "import sys, dlopt.cli\nsys.argv = ['dlopt', 'methods']\n"
        "try:\n    dlopt.cli.main()\nexcept SystemExit as end:\n    assert not end.code",
        "import dlopt\ni = dlopt.generate('iit', 'ramp', nodes=4)\ndlopt.solve(i, 'edf-iit-2')",
    ],
    ids=["import", "list methods", "a heuristic"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    loaded = loaded_after(code)
    assert "dlopt.registry" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_listing_methods_imports_none_of_their_code() -> None:
    loaded = loaded_after("import dlopt.registry\nfor m in dlopt.registry.methods(): str(m)")
    assert not any(name.startswith(("dlopt.heuristics", "dlopt.models")) for name in loaded)
