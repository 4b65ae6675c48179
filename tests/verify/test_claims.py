"""The claims, held against stored instances; what cannot make an instance harder."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from dlopt import io, registry, solve
from dlopt.problems.bag import Instance as Bag
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Objective, Status
from dlopt.verify.choice_sequence import Choices, RandomSource, RecordedSource
from dlopt.verify.claim_table import Trial, claim
from dlopt.verify.easier_instances import relaxations
from dlopt.verify.gap_search import relative_gap
from dlopt.verify.instance_builders import Size, builder, stems
from dlopt.verify.method_under_test import AnswerCache, resolve_method, run_method

FOLDER = Path(__file__).parents[2] / "instances"

STORED = [
    ("iit", "opr-literal-logarithm", "opr:literal-logarithm", "fewest-nodes"),
    ("iit", "opr-literal-binary-search", "opr:literal-binary-search", "fewest-nodes"),
    ("admission", "mcdf-cost-order", "mcdf:literal", "minimises-cost"),
    ("admission", "mcdf-rejects-what-edf-accepts", "mcdf", "accepts-what-edf-accepts"),
    ("coreservation", "largest-first", "co-rsbf", "near-bound"),
    ("coreservation", "early-stop", "co-rspb:literal-stop", "stopping-costs-nothing"),
    ("coreservation", "early-stop-unbalanced", "rspb:literal-stop", "stopping-costs-nothing"),
    ("coreservation", "inclusive-slot", "rb:literal-slots", "slots-cost-nothing"),
    ("bag", "gds-below-edf", "gds", "meets-what-edf-meets"),
    ("bag", "gds-shuffle-harms", "gds", "shuffle-helps"),
    ("bag", "gds-without-shuffle", "gds-without-shuffle", "as-good-as-repaired"),
    ("bag", "gds-literal-endless-loop", "gds:literal-endless-loop", "as-good-as-repaired"),
    ("bag", "gds-literal-evict-all", "gds:literal-evict-all", "as-good-as-repaired"),
]


def broken(instance, name, what):
    entry = registry.method(instance.problem, name)
    held = claim(entry, what)
    answer = run_method(entry, instance, held.objective)
    return held.check(Trial(entry, instance, answer))


@pytest.mark.parametrize(("stem", "file", "name", "what"), STORED)
def test_stored_instances_break_what_is_claimed(stem, file, name, what):
    instance = io.read(FOLDER / stem / "counterexamples" / f"{file}.json", exact_numbers=True)
    [one] = broken(instance, name, what)
    assert one.kind == "worse-than-claimed"
    assert one.text


@pytest.mark.parametrize(("stem", "file", "name", "what"), STORED)
def test_the_simplest_instance_breaks_none_of_them(stem, file, name, what):
    assert broken(builder(stem)(Choices(RecordedSource([]))), name, what) == ()


def test_an_answer_without_a_plan_is_worse_than_one_with_a_plan():
    instance = Instance(Cluster(2, 1, 1, 2), (0, 0), 1, absolute_deadline=4)
    assert solve(instance, "opr", objective="nodes").value == 1
    [one] = broken(instance, "opr:literal-binary-search", "fewest-nodes")
    assert one.text == "no solution, but opr has a solution of value 1"


def made(stem, count):
    build, rng = builder(stem, Size(2, 2)), random.Random(7)
    return [build(Choices(RandomSource(rng))) for _ in range(count)]


@pytest.mark.parametrize("stem", stems())
def test_relaxations_are_no_harder(stem):
    module = registry.problem(stem).module
    seen = 0
    for instance in made(stem, 3):
        optimum = solve(instance)
        goal = module.OBJECTIVES[optimum.objective]
        for words, easier in relaxations(instance):
            seen += 1
            assert easier != instance, words
            found = solve(easier, objective=goal.name)
            if optimum.value is not None:
                assert not goal.better(optimum.value, found.value), words
    assert seen > 2


@pytest.mark.parametrize("stem", stems())
def test_every_problem_has_relaxations_of_large_instances(stem):
    words = {text.split(" ")[1] for one in made(stem, 60) for text, _ in relaxations(one)}
    assert (
        words
        == {
            "iit": {"another", "a"},
            "admission": {"another", "task"},
            "multistage": {"another", "task"},
            "coreservation": {"1"},
            "dag": {"machine", "the"},
            "bag": {"machine", "task"},
        }[stem]
    )


def test_a_gap_of_levels_is_that_of_the_first_that_differs():
    goal = Objective("late-then-long", "min", ("late", "long"))
    assert relative_gap(goal, (1, 9), (1, 6)) == 0.5
    assert relative_gap(goal, (1, 6), (1, 6)) == 0
    assert relative_gap(goal, (1, 6), (0, 6)) is None  # relative to nothing
    assert relative_gap(goal, (0, 5), (0, 6)) == 0  # better than the optimum, of a narrower class


def test_nobody_else_is_asked_once_an_exact_method_proves_the_same(monkeypatch):
    instance = io.read(FOLDER / "bag" / "small-etc.json", exact_numbers=True)
    entry = registry.method("bag", "exact")
    answer = run_method(entry, instance, "makespan")
    seen = {}
    answered = AnswerCache.answer
    monkeypatch.setattr(
        AnswerCache,
        "answer",
        lambda self, name: seen.setdefault(name, True) and answered(self, name),
    )
    assert claim(entry).check(Trial(entry, instance, answer)) == ()
    assert list(seen) == [*registry.problem("bag").hints, "milp"]  # and not lns


def test_methods_are_asked_once_for_an_instance():
    instance = builder("dag")(Choices(RecordedSource([])))
    goal = registry.problem("dag").module.OBJECTIVES["makespan"]
    answers = AnswerCache(instance, goal, 0)
    assert answers.answer("heft") is answers.answer("heft")
    assert answers.hint() == answers.answer("heft").result.solution
    nothing = AnswerCache(instance, registry.problem("bag").module.OBJECTIVES["accepted"], 0)
    assert nothing.hint() is None


def test_a_limit_of_an_exact_method_is_no_harder_instance(monkeypatch):
    """What is only feasible may be worse on an easier instance."""
    instance = builder("bag")(Choices(RecordedSource([])))
    instance = replace(instance, tasks=(replace(instance.tasks[0], absolute_deadline=9),))
    entry = registry.method("bag", "exact")
    answer = run_method(entry, instance, "accepted")
    assert answer.result.value == 1
    for status, found in ((Status.FEASIBLE, ()), (Status.OPTIMAL, ("worse-than-claimed",))):
        worse = replace(answer, result=replace(answer.result, value=0, status=status))
        monkeypatch.setattr(
            "dlopt.verify.claim_checks.run_method", lambda *a, worse=worse, **k: worse
        )
        broken = claim(entry, "monotone").check(Trial(entry, instance, answer))
        assert tuple(one.kind for one in broken) == found


def test_an_objective_that_makes_no_sense_here_is_not_asked_for():
    entry = resolve_method("bag", "edf")
    bag = Bag(etc=((1, 2),))
    assert run_method(entry, bag, "accepted") is None
    assert run_method(entry, bag).objective.name == "makespan"
    assert (
        run_method(
            registry.method("iit", "bound-fluid"), Instance(Cluster(1, 1, 1), (0,), 1), "nodes"
        )
        is None
    )
    assert resolve_method("bag", entry) is entry
