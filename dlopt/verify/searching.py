"""Look for an instance that breaks what is claimed of a method."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any, Literal

from dlopt.errors import NotApplicableError
from dlopt.problems.records import floating
from dlopt.referee import check
from dlopt.registry import Method
from dlopt.result import Result, Status
from dlopt.verify.annealing import anneal
from dlopt.verify.budget import Budget, Progress
from dlopt.verify.builders import SMALL, Builder, Size, builder
from dlopt.verify.choices import Chance, Choices, light
from dlopt.verify.claiming import Broken, Case, Claim
from dlopt.verify.claiming import claim as claim_of
from dlopt.verify.findings import Finding, Search
from dlopt.verify.shrinking import extent, shrink
from dlopt.verify.subjects import Answer, ask, ask_named, subject

PER_ROUND = 400
"""Instances made by chance in the first round; as many of the grid, and a quarter by hypothesis."""

LIGHTEST = 5_000
"""Of all instances of one weight, so many are tried at the most."""

SHRINKING = 0.5
"""Seconds of shrinking for each second of the search, and not less than `LEAST_SHRINKING`."""
LEAST_SHRINKING = 15.0


def falsify(
    stem: str,
    method: str | Method | Callable[..., Result[Any]],
    *,
    claim: str | None = None,
    kind: str | None = None,
    target: Literal["claim", "gap"] = "claim",
    objective: str | None = None,
    seconds: float = 60.0,
    examples: int | None = None,
    seed: int = 0,
    size: Size = SMALL,
    floats: bool = False,
    progress: Progress | None = None,
) -> Search:
    """Search for an instance that breaks a method's claim, or on which it is far from the optimum.

    Instances are drawn by chance, enumerated from the lightest on, and drawn by hypothesis, by
    turns. What is found is held against the rules by the independent checker, made as small as
    can be, and compared with what the exact method proves of it.

    Parameters
    ----------
    stem : str
        The problem.
    method : str or callable
        A registered name, or a function of your own with the same signature.
    claim : str, optional
        See `dlopt.verify.claiming`; by default what the registry says: ``sound``, ``optimal`` or
        ``bound``.
    kind : str, optional
        Look for this kind of violation only.
    target : {"claim", "gap"}
        With ``gap``, anneal for the instance with the largest gap to the proven optimum.
    objective : str, optional
        By default that of the claim, or of the instance.
    seconds : float, default 60
        Time for the search; shrinking comes on top, with at most half of it or 15 seconds.
    examples : int, optional
        Stop after so many instances, whatever the time: the outcome is then the same everywhere.
    seed : int, default 0
        Equal seeds find equal instances, unless the time is up before.
    size : Size, optional
        How large an instance may be.
    floats : bool, default False
        Give the method the same instances with every number a float.
    progress : callable, optional
        Called with the number of instances tried, now and then.

    Returns
    -------
    Search

    Raises
    ------
    NotApplicableError
        If there is no such method or claim, or an argument makes no sense.

    Examples
    --------
    >>> found = falsify("admission", "edf-opr-mn:literal", examples=2000).finding
    >>> found.kind, found.size, found.impossible
    ('channel-overlap', (2, 2), True)
    >>> falsify("admission", "edf-opr-mn", examples=200).finding is None
    True
    """
    entry = subject(stem, method)
    if target not in ("claim", "gap"):
        raise NotApplicableError(f"target must be claim or gap, got {target!r}")
    if not seconds > 0 or (examples is not None and examples < 1):
        raise NotApplicableError("seconds and examples must be positive")
    if objective is not None and objective not in entry.objectives:
        known = ", ".join(entry.objectives)
        raise NotApplicableError(f"{entry.name} has no objective {objective!r} (known: {known})")
    budget = Budget(seconds, examples, progress)
    exactly = builder(stem, size)
    build = (lambda choices: floating(exactly(choices))) if floats else exactly
    if target == "gap":
        if claim is not None or kind is not None:
            raise NotApplicableError("a search for gaps has no claim and no kind")
        return anneal(entry, objective, budget, seed, build)
    wanted = claim_of(entry, claim)
    goal = objective or wanted.objective
    return _Hunt(entry, wanted, kind, goal, budget, seed, size, build).run()


class _Hunt:
    """One search for an instance that breaks a claim."""

    def __init__(
        self,
        entry: Method,
        claim: Claim,
        kind: str | None,
        objective: str | None,
        budget: Budget,
        seed: int,
        size: Size,
        build: Builder,
    ) -> None:
        self.entry, self.claim, self.kind = entry, claim, kind
        self.objective, self.budget, self.seed, self.size = objective, budget, seed, size
        self.build = build
        self.found: tuple[Any, Broken] | None = None

    def run(self) -> Search:
        for phase, trial in self._phases():
            trial()
            if self.found is not None:
                seconds = self.budget.elapsed
                finding = self._finding(*self.found)
                return Search(finding, self.budget.tried, self.budget.left_out, seconds, phase)
            if self.budget.spent:
                break
        return Search(None, self.budget.tried, self.budget.left_out, self.budget.elapsed)

    def _phases(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield what is tried, by turns; each round is twice as long as the one before."""
        rng = random.Random(self.seed)
        for index in count():
            much = PER_ROUND << min(index, 6)
            drawn = (self.build(Choices(Chance(rng))) for _ in range(much))
            yield "chance", lambda drawn=drawn: self._each(drawn)  # type: ignore[misc]
            grid = (made for made, _ in islice(light(self.build, index), LIGHTEST))
            yield "grid", lambda grid=grid: self._each(grid)  # type: ignore[misc]
            examples = min(much // 4, 800)
            yield "hypothesis", lambda n=examples, k=index: self._by_hypothesis(n, k)  # type: ignore[misc]

    def _each(self, instances: Iterator[Any]) -> None:
        for instance in instances:
            if self.budget.spent or self._breaks(instance):
                return

    def _by_hypothesis(self, examples: int, index: int) -> None:
        from dlopt.verify import strategies

        def breaks(instance: Any) -> bool:
            return not self.budget.spent and self._breaks(instance)

        seed = self.seed * 1_000_003 + index
        strategies.examine(self.build, breaks, examples=examples, seed=seed)

    def _breaks(self, instance: Any) -> bool:
        """Try an instance; keep the smallest that breaks the claim."""
        answer = ask(self.entry, instance, self.objective, self.seed)
        self.budget.count(answer is not None)
        if answer is None:
            return False
        broken = self._broken(instance, answer)
        if not broken:
            return False
        if self.found is None or extent(instance) < extent(self.found[0]):
            self.found = instance, broken[0]
        return True

    def _broken(self, instance: Any, answer: Answer) -> list[Broken]:
        """Return what is broken, of the kind that is looked for."""
        found = self.claim.breaks(Case(self.entry, instance, answer, self.seed))
        kind = self.kind or (self.found[1].kind if self.found else None)
        return [one for one in found if kind in (None, one.kind)]

    def _finding(self, instance: Any, broken: Broken) -> Finding:
        until = time.perf_counter() + max(LEAST_SHRINKING, SHRINKING * self.budget.elapsed)

        def holds(smaller: Any) -> bool:
            if time.perf_counter() > until and self.budget.examples is None:
                return False
            answer = ask(self.entry, smaller, self.objective, self.seed)
            return answer is not None and bool(self._broken(smaller, answer))

        instance = shrink(instance, holds)
        answer = ask(self.entry, instance, self.objective, self.seed)
        if answer is None:
            raise AssertionError("a method that applied does not apply any more")
        broken = self._broken(instance, answer)[0]
        return Finding(
            self.entry.stem,
            self.entry.name,
            self.claim.name,
            broken.kind,
            _confirmed(instance, answer, broken),
            instance,
            answer.result,
            answer.objective,
            optimum=_proof(instance, answer),
        )


def _confirmed(instance: Any, answer: Answer, broken: Broken) -> tuple[str, ...]:
    """Return all that is wrong, as the independent checker says once more."""
    found = answer.result
    if found is None or found.solution is None:
        return (broken.text,)
    again = [str(one) for one in check(instance, found.solution, found.tolerance)]
    return tuple(dict.fromkeys([broken.text, *again]))


def _proof(instance: Any, answer: Answer) -> Result[Any] | None:
    """Return what the exact method proves of the instance, if anything."""
    found = ask_named("exact", instance, answer.objective.name)
    if found is None or found.failure is not None or found.result is None:
        return None
    proven = found.result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return found.result if proven else None
