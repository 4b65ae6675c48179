"""Look for the instance on which a method is farthest from the proven optimum."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, exact, shown, simplest
from dlopt.errors import NotApplicableError
from dlopt.registry import Method
from dlopt.result import PLAN_CLASSES, Objective, Result, Status, Value
from dlopt.verify.budget import Budget
from dlopt.verify.builders import Builder
from dlopt.verify.choice_sequence import Chance, Choices, Recorded
from dlopt.verify.counterexamples import Finding, Search
from dlopt.verify.method_under_test import Answer, ask, ask_named
from dlopt.verify.shrinking import shrink

STEPS = 400
"""Instances in one descent from hot to cold; then another one starts elsewhere."""

FRESH = 40
"""Instances by chance, the best of which a descent starts from."""

HOT, COLD = 0.3, 0.01
"""Temperatures, in units of the gap."""

WHOLE = Fraction(1)
"""Nothing of what is to be made large: no gap is larger."""

MOST_SHRINKING = 300
"""How often the exact method is asked while the instance is made smaller."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far an answer lies behind the optimum."""

    size: Fraction
    answer: Answer
    value: Value
    optimum: Result[Any]


def anneal(
    entry: Method,
    objective: str | None,
    budget: Budget,
    seed: int,
    build: Builder,
    options: Mapping[str, Any],
) -> Search:
    """Search by annealing over the choices that an instance is made by; see `falsify`."""
    if entry.kind != "heuristic":
        raise NotApplicableError(f"{entry.name} is no heuristic: its gap is what it proves")
    rng = random.Random(seed)
    hunt = _Annealing(entry, objective, budget, seed, build, options, rng)
    while not budget.spent and not hunt.done:
        hunt.descend()
    seconds = budget.elapsed
    if hunt.best is None:
        return Search(None, budget.tried, budget.left_out, seconds)
    found = hunt.finding(*hunt.best)
    return Search(found, budget.tried, budget.left_out, seconds, "annealing")


class _Annealing:
    def __init__(
        self,
        entry: Method,
        objective: str | None,
        budget: Budget,
        seed: int,
        build: Builder,
        options: Mapping[str, Any],
        rng: random.Random,
    ) -> None:
        self.entry, self.objective, self.budget = entry, objective, budget
        self.seed, self.rng = seed, rng
        self.build, self.options = build, options
        self.best: tuple[Any, Gap] | None = None

    @property
    def done(self) -> bool:
        """Whether no gap can be larger."""
        if self.best is None:
            return False
        gap = self.best[1]
        return gap.answer.objective.sense == "max" and gap.size >= WHOLE

    def descend(self) -> None:
        """Start from the best of some instances; change it, less and less for the worse."""
        record, gap = max((self._fresh() for _ in range(FRESH)), key=lambda pair: pair[1])
        for step in range(STEPS):
            if self.budget.spent or self.done:
                return
            temperature = HOT * (COLD / HOT) ** (step / STEPS)
            changed = self._mutated(record)
            choices = Choices(Recorded(changed))
            new = self._tried(self.build(choices))
            if new >= gap or self.rng.random() < math.exp((new - gap) / temperature):
                record, gap = choices.record, new

    def _fresh(self) -> tuple[list[int], float]:
        if self.budget.spent or self.done:
            return [], -1.0
        choices = Choices(Chance(self.rng))
        made = self.build(choices)
        return choices.record, self._tried(made)

    def _mutated(self, record: list[int]) -> list[int]:
        """Return choices of which some are other ones, one is left out, or one is put in."""
        rng, changed = self.rng, list(record)
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(changed)) if changed else 0
            kind = rng.random()
            if kind < 0.7 and changed:
                changed[at] = max(0, changed[at] + rng.choice((-2, -1, 1, 2, 4)))
            elif kind < 0.85 and changed:
                del changed[at]
            else:
                changed.insert(at, rng.randrange(6))
        return changed

    def _tried(self, instance: Any) -> float:
        """Return the gap of an instance; -1 where there is none to be had."""
        gap = self.gap(instance)
        self.budget.count(gap is not None)
        if gap is None:
            return -1.0
        if gap.size > 0 and (self.best is None or gap.size > self.best[1].size):
            self.best = instance, gap
        return float(gap.size)

    def gap(self, instance: Any) -> Gap | None:
        """Return how far the method lies behind the optimum; None if that cannot be said."""
        answer = ask(self.entry, instance, self.objective, self.seed, options=self.options)
        mine = None if answer is None else answer.valid
        if answer is None or mine is None or mine.value is None:
            return None
        proof = ask_named("exact", instance, answer.objective.name)
        best = None if proof is None else proof.valid
        if best is None or best.value is None or best.status is not Status.OPTIMAL:
            return None
        if not _comparable(mine, best):
            return None
        size = behind(answer.objective, mine.value, best.value)
        return None if size is None else Gap(size, answer, mine.value, best)

    def finding(self, instance: Any, gap: Gap) -> Finding:
        final, least = gap, gap.size

        def holds(smaller: Any) -> bool:
            nonlocal instance, final
            again = self.gap(smaller)
            if again is None or again.size < least:
                return False
            instance, final = smaller, again
            return True

        shrink(instance, holds, MOST_SHRINKING)
        value, best = final.value, final.optimum.value
        text = f"value {_told(value)}, the optimum is {_told(best)}: {float(final.size):.1%} behind"
        return Finding(
            self.entry.stem,
            self.entry.name,
            "gap",
            "gap",
            (text,),
            instance,
            final.answer.result,
            final.answer.objective,
            simplest(final.size),
            final.optimum,
            self.options,
        )


def behind(goal: Objective, value: Value, best: Value) -> Fraction | None:
    """Return how far a value lies behind the optimum, relative to it.

    Of levels, the first that differs counts. None where the optimum is 0 and the value is not.

    Examples
    --------
    >>> behind(Objective("makespan", "min"), 6, 4), behind(Objective("n", "max"), 0, 3)
    (Fraction(1, 2), Fraction(1, 1))
    """
    mine = value if isinstance(value, tuple) else (value,)
    theirs = best if isinstance(best, tuple) else (best,)
    if not goal.better(best, value):
        return Fraction(0)
    for one, other in zip(mine, theirs, strict=True):
        if one != other:
            return None if other == 0 else abs(exact(one) - exact(other)) / abs(exact(other))
    return Fraction(0)


def _comparable(mine: Result[Any], best: Result[Any]) -> bool:
    if mine.plan_class is None or best.plan_class is None:
        return True
    return PLAN_CLASSES.index(mine.plan_class) <= PLAN_CLASSES.index(best.plan_class)


def _told(value: Value | None) -> str:
    levels: tuple[Number | None, ...] = value if isinstance(value, tuple) else (value,)
    return ", ".join("none" if level is None else shown(level) for level in levels)
