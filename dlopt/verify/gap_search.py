"""Simulated annealing for the instance with the largest gap between a method and the optimum."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.plan_classes import is_in_class_of
from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.result import Objective, Status, Value, shown_value
from dlopt.verify.budget import SearchBudget
from dlopt.verify.choice_sequence import Choices, RandomSource, RecordedSource
from dlopt.verify.found_counterexamples import METHOD_DOES_NOT_APPLY, SHIPPED, Finding, SearchResult
from dlopt.verify.instance_builders import Builder
from dlopt.verify.method_under_test import Answer, AnyResult, Options, run_method, run_registered
from dlopt.verify.shrinking import shrink

STEPS_PER_DESCENT = 400
"""Instances in one cooling from `INITIAL_TEMPERATURE` to `FINAL_TEMPERATURE`, before a
restart; like the constants below, chosen by hand."""

RANDOM_STARTS = 40
"""Random instances, of which the one with the largest gap is the start of a descent."""

INITIAL_TEMPERATURE = 0.3
"""In units of the relative gap: a gap smaller by 0.3 is accepted with probability 1/e."""

FINAL_TEMPERATURE = 0.01
"""In units of the relative gap."""

MAX_RELATIVE_GAP = Fraction(1)
"""Value 0 where the optimum is positive, in a maximisation: no relative gap is larger."""

MAX_SHRINKING_RUNS = 300
"""Runs of the exact method while the instance is shrunk."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The relative gap of an answer to the optimum."""

    size: Fraction
    answer: Answer
    value: Value
    optimum: AnyResult


def anneal(
    entry: Method,
    objective: str | None,
    budget: SearchBudget,
    seed: int,
    build: Builder,
    options: Options,
    shipped: Sequence[Header] = (),
) -> SearchResult:
    """Try shipped instances, then anneal over the choices of an instance; see `falsify`."""
    if entry.kind != "heuristic":
        raise NotApplicableError(f"{entry.name} is no heuristic: it proves its own gap")
    rng = random.Random(seed)
    annealing = _Annealing(entry, objective, budget, seed, build, options, rng)
    annealing.try_each(shipped)
    of_shipped = annealing.best
    while not budget.exhausted and not annealing.done:
        annealing.descend()
    seconds, phase = budget.elapsed, None
    if annealing.best is not None:
        phase = SHIPPED if annealing.best is of_shipped else "annealing"
    return SearchResult(
        None if annealing.best is None else annealing.finding(*annealing.best),
        budget.tried,
        budget.not_applicable,
        seconds,
        phase,
        tuple(annealing.skipped.most_common()),
        budget.shipped,
    )


class _Annealing:
    def __init__(
        self,
        entry: Method,
        objective: str | None,
        budget: SearchBudget,
        seed: int,
        build: Builder,
        options: Options,
        rng: random.Random,
    ) -> None:
        self.entry, self.objective, self.budget = entry, objective, budget
        self.seed, self.rng = seed, rng
        self.build, self.options = build, options
        self.best: tuple[Header, Gap] | None = None
        self.skipped: Counter[str] = Counter()

    @property
    def done(self) -> bool:
        """Whether no gap can be larger."""
        if self.best is None:
            return False
        gap = self.best[1]
        return gap.answer.objective.sense == "max" and gap.size >= MAX_RELATIVE_GAP

    def try_each(self, instances: Iterable[Header]) -> None:
        """Evaluate shipped instances, which do not count in the number of examples."""
        for instance in instances:
            if self.budget.exhausted or self.done:
                return
            self._evaluate(instance, shipped=True)

    def descend(self) -> None:
        """Anneal from the best of some random instances, until it has cooled down."""
        record, gap = max(
            (self._random_start() for _ in range(RANDOM_STARTS)), key=lambda pair: pair[1]
        )
        for step in range(STEPS_PER_DESCENT):
            if self.budget.exhausted or self.done:
                return
            cooling = (FINAL_TEMPERATURE / INITIAL_TEMPERATURE) ** (step / STEPS_PER_DESCENT)
            temperature = INITIAL_TEMPERATURE * cooling
            changed = self._mutate(record)
            choices = Choices(RecordedSource(changed))
            new = self._evaluate(self.build(choices))
            if new >= gap or self.rng.random() < math.exp((new - gap) / temperature):
                record, gap = choices.record, new

    def _random_start(self) -> tuple[list[int], float]:
        if self.budget.exhausted or self.done:
            return [], -1.0
        choices = Choices(RandomSource(self.rng))
        instance = self.build(choices)
        return choices.record, self._evaluate(instance)

    def _mutate(self, record: list[int]) -> list[int]:
        """Return choices with some of them changed, one deleted, or one inserted."""
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

    def _evaluate(self, instance: Header, shipped: bool = False) -> float:
        """Return the gap of an instance; -1 if it has none."""
        gap = self.gap(instance)
        self.budget.count(isinstance(gap, Gap), shipped)
        if isinstance(gap, str):
            if not shipped:
                self.skipped[gap] += 1
            return -1.0
        if gap.size > 0 and (self.best is None or gap.size > self.best[1].size):
            self.best = instance, gap
        return float(gap.size)

    def gap(self, instance: Header) -> Gap | str:
        """Return the gap of the method to the optimum, or why there is none."""
        answer = run_method(self.entry, instance, self.objective, self.seed, options=self.options)
        if answer is None:
            return METHOD_DOES_NOT_APPLY
        mine = answer.valid
        if mine is None or mine.value is None:
            return "the method has no valid schedule"
        proof = run_registered("exact", instance, answer.objective.name)
        best = None if proof is None else proof.valid
        if best is None or best.value is None or best.status is not Status.OPTIMAL:
            return "no optimum is proven"
        if not is_in_class_of(mine, best):
            return f"no optimum is proven for plans of class {mine.plan_class}"
        size = relative_gap(answer.objective, mine.value, best.value)
        if size is None:
            return "the optimum is 0"
        return Gap(size, answer, mine.value, best)

    def finding(self, instance: Header, gap: Gap) -> Finding:
        """Return the instance shrunk while its gap does not decrease."""
        final, least = gap, gap.size

        def holds(smaller: Header) -> bool:
            nonlocal instance, final
            if self.budget.stopped:
                return False
            again = self.gap(smaller)
            if isinstance(again, str) or again.size < least:
                return False
            instance, final = smaller, again
            return True

        shrink(instance, holds, MAX_SHRINKING_RUNS)
        value, best = final.value, final.optimum.value
        values = f"value {shown_value(value)}, optimum {shown_value(best)}"
        text = f"{values}: relative gap {float(final.size):.1%}"
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


def relative_gap(goal: Objective, value: Value, best: Value) -> Fraction | None:
    """Return the gap between a value and the optimum, relative to the optimum.

    Of lexicographic levels, the first that differs counts. None if the optimum is 0 and the value
    is not.

    Examples
    --------
    >>> makespan, accepted = Objective("makespan", "min"), Objective("accepted", "max")
    >>> relative_gap(makespan, 6, 4), relative_gap(accepted, 0, 3)
    (Fraction(1, 2), Fraction(1, 1))
    """
    mine = value if isinstance(value, tuple) else (value,)
    theirs = best if isinstance(best, tuple) else (best,)
    if not goal.better(best, value):
        return Fraction(0)
    for level, optimum in zip(mine, theirs, strict=True):
        if level != optimum:
            difference = abs(exact(level) - exact(optimum))
            return None if optimum == 0 else difference / abs(exact(optimum))
    return Fraction(0)
