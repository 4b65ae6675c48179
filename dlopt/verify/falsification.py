"""Look for an instance that breaks what is claimed of a method."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count, cycle, islice
from typing import Any, Literal, NamedTuple

from dlopt.errors import NotApplicableError
from dlopt.problems.validated_record import floating
from dlopt.registry import Method
from dlopt.result import Result, Status
from dlopt.result_checker import check
from dlopt.verify.budget import Budget, Progress
from dlopt.verify.builders import SMALL, Builder, Size, builder
from dlopt.verify.choice_sequence import Chance, Choices, light
from dlopt.verify.claim import Broken, Case, Claim
from dlopt.verify.claim_table import claim as claim_of
from dlopt.verify.counterexamples import Finding, Search
from dlopt.verify.gap_search import anneal
from dlopt.verify.method_under_test import (
    QUICK_LIMITS,
    Answer,
    Panel,
    ask,
    ask_named,
    goal_of,
    subject,
)
from dlopt.verify.shrinking import extent, shrink

PER_ROUND = 400
"""Instances made by chance in the first round; as many of the grid, and a quarter by hypothesis."""

LIGHTEST = 5_000
"""Of all instances of one weight, so many are tried at the most."""

SLOWER = 10
"""Methods that prove something answer so much more slowly: their rounds are so much shorter."""

SMALLER = ((2, 2, 6), (3, 2, 2))
"""Jobs and machines of the instances that they are tried on, and how many for one of full size."""

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
    options: Mapping[str, Any] | None = None,
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
        See `dlopt.verify.claim_table`; by default what the registry says: ``sound``, ``optimal`` or
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
    options : mapping, optional
        The method's own, as `dlopt.solve` takes them; by default those of the claim.
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
    read = None if options is None else entry.read_options(options)
    builds = [_builder(stem, one, floats) for one in _sizes(entry, size)]
    if target == "gap":
        if claim is not None or kind is not None:
            raise NotApplicableError("a search for gaps has no claim and no kind")
        return anneal(entry, objective, budget, seed, builds[-1], read or {})
    wanted = claim_of(entry, claim)
    goal = objective or wanted.objective
    chosen = wanted.options if read is None else read
    return _Hunt(entry, wanted, kind, goal, budget, seed, builds, chosen).run()


def _builder(stem: str, size: Size, floats: bool) -> Builder:
    exactly = builder(stem, size)
    return (lambda choices: floating(exactly(choices))) if floats else exactly


def _sizes(entry: Method, size: Size) -> list[Size]:
    """Return the sizes that instances have by turns, the full one last."""
    if entry.kind == "heuristic":
        return [size]
    sizes = []
    for jobs, machines, often in SMALLER:
        smaller = Size(min(jobs, size.jobs), min(machines, size.machines), size.busy)
        sizes += [smaller] * often
    return [*sizes, size]


class _Held(NamedTuple):
    """An instance, the answer that breaks a claim, and how."""

    instance: Any
    answer: Answer
    broken: Broken


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
        builds: list[Builder],
        options: Mapping[str, Any],
    ) -> None:
        self.entry, self.claim, self.kind = entry, claim, kind
        self.objective, self.budget, self.seed = objective, budget, seed
        self.builds, self.options = builds, options
        self.found: _Held | None = None

    def run(self) -> Search:
        for phase, trial in self._phases():
            trial()
            if self.found is not None:
                seconds = self.budget.elapsed
                finding = self._finding(self.found)
                return Search(finding, self.budget.tried, self.budget.left_out, seconds, phase)
            if self.budget.spent:
                break
        return Search(None, self.budget.tried, self.budget.left_out, self.budget.elapsed)

    def _phases(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield what is tried, by turns; each round is twice as long as the one before."""
        rng = random.Random(self.seed)
        builds = cycle(self.builds)
        first = PER_ROUND if len(self.builds) == 1 else PER_ROUND // SLOWER
        for index in count():
            much = first << min(index, 6)
            drawn = (next(builds)(Choices(Chance(rng))) for _ in range(much))
            yield "chance", lambda drawn=drawn: self._each(drawn)  # type: ignore[misc]
            grid = (made for made, _ in islice(light(self.builds[-1], index), LIGHTEST))
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
        strategies.examine(self.builds[0], breaks, examples=examples, seed=seed)

    def _breaks(self, instance: Any) -> bool:
        """Try an instance; keep the smallest that breaks the claim."""
        case = self._case(instance)
        self.budget.count(case is not None)
        held = None if case is None else self._held(case)
        if held is None:
            return False
        if self.found is None or extent(instance) < extent(self.found.instance):
            self.found = held
        return True

    def _case(self, instance: Any) -> Case | None:
        """Ask the method; None if it does not apply."""
        goal = goal_of(self.entry, instance, self.objective)
        if goal is None:
            return None
        panel = Panel(instance, goal, self.seed)
        answer = ask(
            self.entry,
            instance,
            goal.name,
            self.seed,
            options=self.options,
            hint=panel.hint() if self.entry.kind == "exact" else None,
            limits=QUICK_LIMITS,
        )
        if answer is None:
            return None
        return Case(self.entry, instance, answer, self.seed, self.options, panel)

    def _held(self, case: Case) -> _Held | None:
        """Return what breaks the claim, of the kind that is looked for."""
        kind = self.kind or (self.found.broken.kind if self.found else None)
        broken = [one for one in self.claim.breaks(case) if kind in (None, one.kind)]
        return _Held(case.instance, case.answer, broken[0]) if broken else None

    def _finding(self, held: _Held) -> Finding:
        until = time.perf_counter() + max(LEAST_SHRINKING, SHRINKING * self.budget.elapsed)

        def holds(smaller: Any) -> bool:
            nonlocal held
            if time.perf_counter() > until and self.budget.examples is None:
                return False
            case = self._case(smaller)
            again = None if case is None else self._held(case)
            held = again or held
            return again is not None

        shrink(held.instance, holds)
        return Finding(
            self.entry.stem,
            self.entry.name,
            self.claim.name,
            held.broken.kind,
            _confirmed(*held),
            held.instance,
            held.answer.result,
            held.answer.objective,
            optimum=_proof(held.instance, held.answer),
            options=self.options,
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
