"""What on an instance breaks a claim: a rule, a better plan, an easier instance done worse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlopt import registry
from dlopt.arithmetic import exact, shown
from dlopt.registry import Method
from dlopt.result import PLAN_CLASSES, Objective, Result, Status, Value
from dlopt.verify.claim import Breaks, Broken, Case
from dlopt.verify.easier_instances import relaxations
from dlopt.verify.method_under_test import Answer, ask


def unsound(case: Case) -> tuple[Broken, ...]:
    """Return what refutes an answer: a broken rule, a wrong value, a failure."""
    found, failure = case.answer.result, case.answer.failure
    if found is None:
        return (Broken("failed", failure or "no answer"),)
    broken = tuple(Broken(one.kind, str(one)) for one in found.violations)
    if broken:
        return broken
    if failure is not None:
        return (Broken("refuted", failure),)
    if found.status is Status.UNSOUND:
        return (Broken("value", f"the value is not {_told(found.value)}"),)
    return ()


def beaten(case: Case) -> tuple[Broken, ...]:
    """Return what refutes a proof: a valid plan that is better than a bound or optimum."""
    broken = unsound(case)
    found, goal = case.answer.result, case.answer.objective
    if broken or found is None:
        return broken
    proven = found.bound is not None or found.status is Status.INFEASIBLE
    for rival in _rivals(case) if proven else ():
        answer = case.asked(rival.name)
        other = None if answer is None else answer.valid
        if answer is not None and _agrees(rival, answer, case):
            return ()
        if other is None or other.value is None or not _within(other, found, case.entry):
            continue
        if case.entry.name == _FEASIBILITY and not _accepts_all(other.solution):
            continue
        what = f"{rival.name} has a plan of value {_told(other.value)}"
        if found.status is Status.INFEASIBLE:
            return (Broken("beaten", f"{what}, {case.entry.name} says that there is none"),)
        if found.bound is not None and goal.better(other.value, _eased(found.bound, goal)):
            return (Broken("beaten", f"{what}, beyond the bound {_told(found.bound)}"),)
    return ()


_FEASIBILITY = "feasibility"
"""The exact method whose plans accept everything: what rejects something is no rival to it."""


def _accepts_all(plan: Any) -> bool:
    decided = (*getattr(plan, "decisions", ()), *getattr(plan, "grants", ()))
    return all(decision.accepted for decision in decided)


def _agrees(rival: Method, answer: Answer, case: Case) -> bool:
    """Tell whether an exact method proves the same, so that nobody needs to be asked any more."""
    mine, theirs = case.answer.result, answer.result
    if rival.kind != "exact" or answer.failure is not None or mine is None or theirs is None:
        return False
    wider = PLAN_CLASSES.index(theirs.plan_class or rival.plan_class)
    if wider < PLAN_CLASSES.index(mine.plan_class or case.entry.plan_class):
        return False
    if theirs.status is Status.INFEASIBLE:
        return mine.status is Status.INFEASIBLE and rival.name != _FEASIBILITY
    return theirs.status is Status.OPTIMAL and theirs.value == mine.value


def _rivals(case: Case) -> Iterator[Method]:
    """Yield the methods whose plans could be better than what is proven, the exact ones last."""
    stem, mine = case.entry.stem, case.entry.name
    for name in registry.problem(stem).hints:
        if name != mine:
            yield registry.method(stem, name)
    yield from (one for one in registry.methods(stem) if one.kind == "exact" and one.name != mine)


def _within(other: Result[Any], found: Result[Any], entry: Method) -> bool:
    """Tell whether a plan is of the class that something was proven of."""
    plan, proven = other.plan_class or "any", found.plan_class or entry.plan_class
    return PLAN_CLASSES.index(plan) <= PLAN_CLASSES.index(proven)


def _eased(bound: Value, goal: Objective) -> Value:
    """Return a bound that is weaker by a millionth, for solvers compute in floats."""
    levels = bound if isinstance(bound, tuple) else (bound,)
    senses = goal.senses or (goal.sense,) * len(levels)
    eased = tuple(
        exact(level) + abs(exact(level)) / 10**6 * (1 if sense == "max" else -1)
        for level, sense in zip(levels, senses, strict=True)
    )
    return eased if isinstance(bound, tuple) else eased[0]


def as_good_as(other: str) -> Breaks:
    """Return the test that a method is never worse than another one."""

    def breaks(case: Case) -> tuple[Broken, ...]:
        mine, theirs = case.answer.valid, case.other(other)
        if theirs is None or theirs.value is None:
            return ()
        better = f"{other} has a plan of value {_told(theirs.value)}"
        if mine is None or mine.value is None:
            refuted = case.answer.failure is not None or case.answer.result is None
            answered = refuted or (case.answer.result is not None and case.answer.result.violations)
            return () if answered else (Broken("worse", f"no plan, and {better}"),)
        if case.answer.objective.better(theirs.value, mine.value):
            return (Broken("worse", f"its value is {_told(mine.value)}, and {better}"),)
        return ()

    return breaks


def cheaper(other: str) -> Breaks:
    """Return the test that a method accepts what another one does at no higher cost."""

    def breaks(case: Case) -> tuple[Broken, ...]:
        answer = case.asked(other)
        plans = [
            one.result.solution if one and one.result else None for one in (answer, case.answer)
        ]
        if None in plans or not all(map(_accepts_all, plans)):
            return ()
        theirs, mine = (_node_time(plan) for plan in plans)
        if mine <= theirs:
            return ()
        return (Broken("worse", f"it costs {shown(mine)}, the plan of {other} {shown(theirs)}"),)

    return breaks


def _node_time(plan: Any) -> Any:
    """Return how long the tasks hold their nodes, in the model where a task begins on all."""
    held: Any = 0
    for task in {chunk.task for chunk in plan.chunks}:
        mine = [chunk for chunk in plan.chunks if chunk.task == task]
        start = min(chunk.transmission_start for chunk in mine)
        held += len(mine) * (max(chunk.computation_end for chunk in mine) - start)
    return held


def near_bound(case: Case) -> tuple[Broken, ...]:
    """Return what breaks: over twice the rejections of the optimum, and two more."""
    mine = case.answer.valid
    if mine is None or isinstance(mine.value, tuple) or mine.value is None or mine.value < 3:
        return ()
    best = case.other("exact")
    if best is None or best.status is not Status.OPTIMAL or isinstance(best.value, tuple):
        return ()
    if best.value is None or mine.value <= 2 * max(best.value, 1):
        return ()
    text = f"it rejects {_told(mine.value)} requests, the optimum {_told(best.value)}"
    return (Broken("worse", text),)


def monotone(case: Case) -> tuple[Broken, ...]:
    """Return where an easier instance gets a worse answer."""
    mine, goal = case.answer.valid, case.answer.objective
    if mine is None or mine.value is None:
        return ()
    for words, easier in relaxations(case.instance):
        answer = ask(case.entry, easier, goal.name, case.seed, options=case.options)
        if answer is None or answer.failure is not None or answer.result is None:
            continue
        if case.entry.kind == "exact" and answer.result.status is Status.FEASIBLE:
            continue  # a limit was reached
        value = answer.result.value
        if answer.result.violations or (value is None and answer.result.status is Status.LIMIT):
            continue
        if value is None or goal.better(mine.value, value):
            worse = "no plan" if value is None else _told(value)
            return (Broken("worse", f"{_told(mine.value)}, but {worse} {words}"),)
    return ()


def _told(value: Value | None) -> str:
    if value is None:
        return "none"
    levels = value if isinstance(value, tuple) else (value,)
    return ", ".join(shown(level) for level in levels)
