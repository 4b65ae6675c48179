"""Checks of claims on a trial: feasibility, optimality and bounds, dominance, monotonicity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlopt import registry
from dlopt.arithmetic import Number, exact, shown
from dlopt.query import recomputed_value
from dlopt.registry import Method
from dlopt.result import PLAN_CLASSES, Objective, Status, Value, shown_value
from dlopt.value_texts import wrong_value_text
from dlopt.verify.claim import ClaimCheck, ClaimViolation, Trial
from dlopt.verify.easier_instances import relaxations
from dlopt.verify.method_under_test import Answer, AnyResult, run_method


def check_soundness(trial: Trial) -> tuple[ClaimViolation, ...]:
    """Check an answer: violated constraints, a wrong objective value, a failure."""
    result, failure = trial.answer.result, trial.answer.failure
    if result is None:
        return (ClaimViolation("failed", failure or "no answer"),)
    violations = tuple(ClaimViolation(one.kind, str(one)) for one in result.violations)
    if violations:
        return violations
    if failure is not None:
        return (ClaimViolation("failed-verification", failure),)
    if result.status is Status.UNSOUND:
        module = registry.problem(trial.entry.stem).module
        goal = trial.answer.objective.name
        actual = recomputed_value(module, trial.instance, result.solution, goal)
        text = wrong_value_text(
            module, trial.instance, result.solution, goal, reported=result.value, actual=actual
        )
        return (ClaimViolation("value", text),)
    return ()


def check_bound(trial: Trial) -> tuple[ClaimViolation, ...]:
    """Check a bound, an optimum or a proof of infeasibility against the solutions of others."""
    violations = check_soundness(trial)
    proof, objective = trial.answer.result, trial.answer.objective
    if violations or proof is None:
        return violations
    proven = proof.bound is not None or proof.status is Status.INFEASIBLE
    for rival in _rivals(trial) if proven else ():
        answer = trial.answer_of(rival.name)
        other = None if answer is None else answer.valid
        if answer is not None and _confirms(rival, answer, trial):
            return ()
        if other is None or other.value is None or not _is_covered(other, proof, trial.entry):
            continue
        if trial.entry.name == _FEASIBILITY_METHOD and not _accepts_all(other.solution):
            continue
        better = f"{rival.name} has a solution of value {shown_value(other.value)}"
        if proof.status is Status.INFEASIBLE:
            text = f"{better}, but {trial.entry.name} reports infeasible"
            return (ClaimViolation("bound-violated", text),)
        if proof.bound is None:
            continue
        if objective.better(other.value, _relaxed_bound(proof.bound, objective)):
            text = f"{better}, better than the bound {shown_value(proof.bound)}"
            return (ClaimViolation("bound-violated", text),)
    return ()


_FEASIBILITY_METHOD = "feasibility"
"""The exact method whose solutions accept everything: only such solutions refute its proofs."""


def _accepts_all(solution: Any) -> bool:
    decisions = (*getattr(solution, "decisions", ()), *getattr(solution, "grants", ()))
    return all(decision.accepted for decision in decisions)


def _confirms(rival: Method, answer: Answer, trial: Trial) -> bool:
    """Return whether an exact method proves the same, so that no other needs to be run."""
    mine, theirs = trial.answer.result, answer.result
    if rival.kind != "exact" or answer.failure is not None or mine is None or theirs is None:
        return False
    wider = PLAN_CLASSES.index(theirs.plan_class or rival.plan_class)
    if wider < PLAN_CLASSES.index(mine.plan_class or trial.entry.plan_class):
        return False
    if theirs.status is Status.INFEASIBLE:
        return mine.status is Status.INFEASIBLE and rival.name != _FEASIBILITY_METHOD
    return theirs.status is Status.OPTIMAL and theirs.value == mine.value


def _rivals(trial: Trial) -> Iterator[Method]:
    """Yield the methods whose solutions could refute a proof, the exact ones last."""
    stem, mine = trial.entry.stem, trial.entry.name
    for name in registry.problem(stem).hints:
        if name != mine:
            yield registry.method(stem, name)
    yield from (one for one in registry.methods(stem) if one.kind == "exact" and one.name != mine)


def _is_covered(other: AnyResult, proof: AnyResult, entry: Method) -> bool:
    """Return whether a solution is of the plan class for which a proof was given."""
    plan, proven = other.plan_class or "any", proof.plan_class or entry.plan_class
    return PLAN_CLASSES.index(plan) <= PLAN_CLASSES.index(proven)


def _relaxed_bound(bound: Value, objective: Objective) -> Value:
    """Return a bound weakened by a relative 1e-6, the tolerance of floating-point solvers."""
    levels = bound if isinstance(bound, tuple) else (bound,)
    senses = objective.senses or (objective.sense,) * len(levels)
    relaxed = tuple(
        exact(level) + abs(exact(level)) / 10**6 * (1 if sense == "max" else -1)
        for level, sense in zip(levels, senses, strict=True)
    )
    return relaxed if isinstance(bound, tuple) else relaxed[0]


def no_worse_than(other: str) -> ClaimCheck:
    """Return the check that a method is never worse than another one."""

    def check(trial: Trial) -> tuple[ClaimViolation, ...]:
        mine, theirs = trial.answer.valid, trial.valid_result_of(other)
        if theirs is None or theirs.value is None:
            return ()
        better = f"{other} has a solution of value {shown_value(theirs.value)}"
        if mine is None or mine.value is None:
            result = trial.answer.result
            if trial.answer.failure is not None or result is None or result.violations:
                return ()  # a violation of soundness, not of this claim
            return (ClaimViolation("worse-than-claimed", f"no solution, but {better}"),)
        if trial.answer.objective.better(theirs.value, mine.value):
            text = f"its value is {shown_value(mine.value)}, but {better}"
            return (ClaimViolation("worse-than-claimed", text),)
        return ()

    return check


def no_costlier_than(other: str) -> ClaimCheck:
    """Return the check that a method uses no more node time than another, where both accept all."""

    def check(trial: Trial) -> tuple[ClaimViolation, ...]:
        answers = trial.answer_of(other), trial.answer
        solutions = [
            answer.result.solution if answer and answer.result else None for answer in answers
        ]
        if None in solutions or not all(map(_accepts_all, solutions)):
            return ()
        theirs, mine = (_node_time(solution) for solution in solutions)
        if mine <= theirs:
            return ()
        text = f"its cost is {shown(mine)}, that of {other} {shown(theirs)}"
        return (ClaimViolation("worse-than-claimed", text),)

    return check


def _node_time(solution: Any) -> Number:
    """Return the node time that the tasks occupy, from their first start to their last end."""
    total: Number = 0
    for task in {chunk.task for chunk in solution.chunks}:
        chunks = [chunk for chunk in solution.chunks if chunk.task == task]
        start = min(chunk.transmission_start for chunk in chunks)
        total += len(chunks) * (max(chunk.computation_end for chunk in chunks) - start)
    return total


def check_rejection_ratio(trial: Trial) -> tuple[ClaimViolation, ...]:
    """Check that a method rejects at most twice as many requests as the optimum (or 2)."""
    mine = trial.answer.valid
    if mine is None or isinstance(mine.value, tuple) or mine.value is None or mine.value < 3:
        return ()
    best = trial.valid_result_of("exact")
    if best is None or best.status is not Status.OPTIMAL or isinstance(best.value, tuple):
        return ()
    if best.value is None or mine.value <= 2 * max(best.value, 1):
        return ()
    text = f"it rejects {shown_value(mine.value)} requests, the optimum {shown_value(best.value)}"
    return (ClaimViolation("worse-than-claimed", text),)


def check_monotonicity(trial: Trial) -> tuple[ClaimViolation, ...]:
    """Check that no relaxation of the instance gets a worse answer."""
    mine, objective = trial.answer.valid, trial.answer.objective
    if mine is None or mine.value is None:
        return ()
    for change, easier in relaxations(trial.instance):
        answer = run_method(trial.entry, easier, objective.name, trial.seed, options=trial.options)
        if answer is None or answer.failure is not None or answer.result is None:
            continue
        if trial.entry.kind == "exact" and answer.result.status is Status.FEASIBLE:
            continue  # a limit was reached
        value = answer.result.value
        if answer.result.violations or (value is None and answer.result.status is Status.LIMIT):
            continue
        if value is None or objective.better(mine.value, value):
            worse = "no solution" if value is None else shown_value(value)
            return (
                ClaimViolation(
                    "worse-than-claimed", f"{shown_value(mine.value)}, but {worse} {change}"
                ),
            )
    return ()
