"""Every registered method on every shipped instance that it applies to."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dlopt import Limits, Status, io, registry, solve
from dlopt.arithmetic import exact
from dlopt.problems.bag import Instance as Bag
from dlopt.result import PLAN_CLASSES

FOLDER = Path(__file__).parents[1] / "instances"
FILES = sorted(FOLDER.glob("*/*.json")) + sorted(FOLDER.glob("*/counterexamples/*.json"))
LIMITS = Limits(time_s=120)
OPEN = Limits(work=2)
"""For instances that no one has solved: they come without best known values."""


@cache
def instance_of(file):
    return io.read(file, exact_numbers=True)


@cache
def answer(file, method, objective):
    instance = instance_of(file)
    if ignores_objective(instance, registry.method(instance.problem, method)):
        return _valued(instance, _solved(file, method, None), objective)
    if method == "feasibility" and _solved(file, method, None).status is Status.INFEASIBLE:
        return replace(_solved(file, method, None), objective=objective)
    return _solved(file, method, objective)


@cache
def _solved(file, method, objective):
    instance = instance_of(file)
    return solve(instance, method, objective=objective, limits=limits_of(instance))


def limits_of(instance):
    return OPEN if is_open(instance) else LIMITS


def _valued(instance, found, objective):
    """Return what a heuristic found, as an answer under another objective."""
    if found.objective == objective or found.solution is None:
        return replace(found, objective=objective)
    assert found.bound is None, "a heuristic that bounds an objective is solved under each"
    value = registry.problem_of(instance).module.objective(instance, found.solution, objective)
    return replace(found, objective=objective, value=value)


def is_open(instance):
    return instance.problem != "iit" and not instance.best_known


def decided_once(instance, entry):
    """Return whether a method is compared under the default objective alone."""
    literal = entry.literal and instance.problem != "iit"
    return literal or entry.name == "all-or-nothing"


def ignores_objective(instance, entry):
    """Return whether a method has one plan for all objectives, which is then valued under each."""
    chooses = entry.name in ("portfolio", "duplex", "list-plus", "local-search")
    return entry.kind == "heuristic" and instance.problem != "iit" and not chooses


def _fits(instance, goal):
    needs = registry.problem_of(instance).module.OBJECTIVES[goal].requires_field
    return needs is None or getattr(instance, needs) is not None


def objectives_of(instance):
    """Return the objectives that an instance has the fields for."""
    goals = registry.problem_of(instance).module.OBJECTIVES
    return [name for name in goals if _fits(instance, name)]


def goals_of(instance, entry):
    """Return the objectives that a method is compared under on an instance.

    Streams are decided in the same way under every objective, and so is what fits at all: literal
    variants and the test of feasibility are compared under the default alone.
    """
    module = registry.problem(instance.problem).module
    default = module.default_objective(instance)
    return [
        module.OBJECTIVES[name]
        for name in objectives_of(instance)
        if (name == default or not decided_once(instance, entry))
        and entry.reason_against(instance, name) is None
    ]


def place_of(file):
    return f"{instance_of(file).problem}/{file.stem}"


NAMED_FILES = [pytest.param(file, id=file.stem) for file in FILES]


def cases():
    """Yield each method on each instance."""
    for file in FILES:
        instance = instance_of(file)
        for entry in registry.methods(instance.problem):
            if goals_of(instance, entry):
                name = f"{place_of(file)}-{entry.name}"
                yield pytest.param(file, entry, id=name)


@pytest.mark.parametrize(("file", "entry"), list(cases()))
def test_method(file, entry):
    instance, plans = instance_of(file), []
    for goal in goals_of(instance, entry):
        found = answer(file, entry.name, goal.name)
        # A plan that is valued under other objectives is checked and written once.
        if found.solution is None or all(found.solution is not plan for plan in plans):
            _is_right(instance, found, entry, goal)
            plans.append(found.solution)
        if goal.name in registry.method(instance.problem, "exact").objectives:
            _is_right_beside_exact(file, entry, goal)


def _is_right(instance, found, entry, goal):
    module = registry.problem(instance.problem).module
    if entry.claim != "literal-unsound":
        assert found.violations == ()
        assert found.status is not Status.UNSOUND
    if found.solution is not None and found.status is not Status.UNSOUND:
        assert module.violations(instance, found.solution, found.tolerance) == ()
        assert found.value == module.objective(instance, found.solution, goal.name)
    _round_trip(instance, found)


def _is_right_beside_exact(file, entry, goal):
    instance = instance_of(file)
    found, optimum = answer(file, entry.name, goal.name), answer(file, "exact", goal.name)
    if entry.name == "feasibility" and found.status is Status.INFEASIBLE:
        plan = optimum.solution
        decided = (*plan.decisions, *getattr(plan, "grants", ()))
        assert any(not decision.accepted for decision in decided)
    else:
        _against_the_optimum(found, optimum, goal, is_open(instance))


def _against_the_optimum(found, optimum, goal, is_open):
    """No plan is better than the optimum, and the optimum is not better than any bound."""
    if optimum.status is Status.INFEASIBLE:
        assert found.solution is None
        return
    assert optimum.status is Status.OPTIMAL or is_open
    if found.status is Status.UNSOUND:
        return
    wider = PLAN_CLASSES.index(found.plan_class) > PLAN_CLASSES.index(optimum.plan_class)
    if found.value is not None and not wider:
        assert not goal.better(found.value, optimum.bound)
    if found.status is Status.OPTIMAL:
        assert found.value == optimum.value
        for value, bound in zip(_levels(found.value), _levels(found.bound), strict=True):
            assert abs(exact(value) - exact(bound)) <= 1e-6 * abs(exact(value))
    if found.bound is not None:
        assert not goal.better(_eased(optimum.value, goal), found.bound)
    if found.status is Status.INFEASIBLE:
        pytest.fail(f"{found.method} calls a feasible instance infeasible")


def _levels(value):
    return value if isinstance(value, tuple) else (value,)


def _eased(value, goal):
    """Return a value that is worse by a millionth, level by level."""
    levels = _levels(value)
    senses = goal.senses or (goal.sense,) * len(levels)
    eased = tuple(
        exact(level) + exact(1e-6) * abs(exact(level)) * (1 if sense == "min" else -1)
        for level, sense in zip(levels, senses, strict=True)
    )
    return eased if isinstance(value, tuple) else eased[0]


def _round_trip(instance, found):
    again = io.result_from_data(io.result_to_data(instance, found), instance)
    for name in ("status", "solution", "value", "bound", "objective", "method", "plan_class"):
        assert getattr(again, name) == getattr(found, name)


def smallest_files(stem, count):
    """Return the smallest files of a problem, whose methods take no time."""
    files = [file for file in FILES if instance_of(file).problem == stem]
    return sorted(files, key=lambda file: (file.stat().st_size, file.name))[:count]


BATCH = Bag(name="batch", etc=((1, 1),) * 4 + ((4, 4),))
"""Min-min has the smaller flowtime, max-min the smaller makespan."""
SMALL = [
    *(
        instance_of(file)
        for stem in registry.stems()
        if stem != "iit"
        for file in smallest_files(stem, 8)
    ),
    BATCH,
]


@pytest.mark.parametrize("instance", SMALL, ids=lambda instance: instance.name)
def test_a_heuristic_has_one_plan_for_all_objectives(instance):
    """So that `test_method` may solve an instance once, and value the plan under each of them."""
    for entry in registry.methods(instance.problem):
        if ignores_objective(instance, entry):
            found = [
                solve(instance, entry.name, objective=name)
                for name in objectives_of(instance)
                if entry.reason_against(instance, name) is None
            ]
            assert len({(one.solution, one.solution is None and one.status) for one in found}) < 2


@pytest.mark.parametrize("stem", ["admission", "multistage"])
def test_what_cannot_be_accepted_together_cannot_under_any_objective(stem):
    """So that `test_method` may decide once, and need not find the minimum lateness again."""
    infeasible = 0
    for file in smallest_files(stem, 8):
        instance, entry = instance_of(file), registry.method(stem, "feasibility")
        found = [
            solve(instance, "feasibility", objective=goal.name, limits=LIMITS)
            for goal in goals_of(instance, entry)
        ]
        assert len(found) >= 3
        statuses = {one.status for one in found}
        assert len(statuses) == 1
        assert len({(one.reason, one.plan_class, one.proof) for one in found}) == 1
        infeasible += statuses == {Status.INFEASIBLE}
    assert infeasible >= 3


@pytest.mark.parametrize("file", NAMED_FILES)
def test_determinism(file):
    instance = instance_of(file)
    for entry in registry.methods(instance.problem):
        goals = goals_of(instance, entry)
        if entry.kind == "heuristic" and goals:
            goal = None if ignores_objective(instance, entry) else goals[0].name
            again = solve(instance, entry.name, objective=goal, limits=limits_of(instance))
            assert again == _solved(file, entry.name, goal)


@pytest.mark.parametrize("file", NAMED_FILES)
def test_best_known_values_are_met(file):
    instance = instance_of(file)
    for best in instance.best_known:
        found = answer(file, best.method, best.objective)
        assert found.plan_class == best.plan_class
        assert found.value == best.value
        proven = [float(level) for level in _levels(best.bound)]
        assert [float(level) for level in _levels(found.bound)] == pytest.approx(proven, rel=1e-9)


def test_every_instance_says_where_it_comes_from():
    for file in FILES:
        instance = instance_of(file)
        assert instance.origin
        assert instance.name == file.stem


LITERAL = [entry for entry in registry.methods() if entry.claim == "literal-unsound"]


@pytest.mark.parametrize("entry", LITERAL, ids=lambda entry: f"{entry.stem}-{entry.name}")
def test_every_flawed_method_is_shown_unsound_by_a_stored_counterexample(entry):
    assert any(status is Status.UNSOUND for status in statuses_on_counterexamples(entry))


def statuses_on_counterexamples(entry):
    """Yield the status of what a method answers on each stored counterexample of its problem."""
    for file in sorted((FOLDER / entry.stem / "counterexamples").glob("*.json")):
        for instance in (instance_of(file), io.read(file)):  # some slips need floats
            for goal in entry.objectives:
                if entry.reason_against(instance, goal) is None and _fits(instance, goal):
                    yield solve(instance, entry.name, objective=goal).status
