"""Search for an instance that violates a claim about a method."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, cycle, islice
from typing import Literal, NamedTuple

from dlopt import aliases
from dlopt.arithmetic import integer_argument
from dlopt.errors import NotApplicableError, known_names
from dlopt.problems.validated_record import Header, floating
from dlopt.progress_reports import require_callbacks
from dlopt.registry import Method, problem
from dlopt.result import Status
from dlopt.result_checker import check
from dlopt.verify.budget import Progress, SearchBudget
from dlopt.verify.choice_sequence import Choices, RandomSource, instances_of_weight
from dlopt.verify.claim import CLAIM_KINDS, Claim, ClaimViolation, Trial
from dlopt.verify.claim_table import claim as claim_of
from dlopt.verify.found_counterexamples import SHIPPED, Finding, SearchResult
from dlopt.verify.gap_search import anneal
from dlopt.verify.instance_builders import SMALL, Builder, Size, builder
from dlopt.verify.method_under_test import (
    SEARCH_LIMITS,
    Answer,
    AnswerCache,
    AnyResult,
    Options,
    objective_for,
    resolve_method,
    run_method,
    run_registered,
)
from dlopt.verify.shipped_instances import shipped_instances
from dlopt.verify.shrinking import instance_size, shrink

INSTANCES_PER_ROUND = 400
"""Random instances in the first round; a quarter as many are drawn by Hypothesis. Chosen by hand:
small first rounds let each of the three generators start early."""

MAX_ENUMERATED = 5_000
"""Largest number of instances of one weight that are enumerated; chosen by hand."""

PROOF_SLOWDOWN = 10
"""Exact methods and bounds take about this many times longer per instance, so that their rounds are
shorter by this factor."""

SMALL_SIZES = ((2, 2, 6), (3, 2, 2))
"""Jobs and machines of the instances on which exact methods and bounds are tried first, and
how many of these for each one of full size."""

SHRINKING_TIME_RATIO = 0.5
"""Seconds for shrinking per second of the search, but at least `MIN_SHRINKING_S`."""
MIN_SHRINKING_S = 15.0
"""Shortest time limit for shrinking, in seconds; chosen by hand, so that findings of
the first second become small, too."""


def falsify(
    stem: str,
    method: str | Method | Callable[..., AnyResult],
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
    options: Options | None = None,
    progress: Progress | None = None,
    shipped: bool = True,
    stop: threading.Event | None = None,
) -> SearchResult:
    """Search for an instance that violates a method's claim, or has the largest gap to the optimum.

    The shipped instances are tried first, and stored counterexamples with them. Then instances are
    drawn at random, enumerated by weight, and drawn by Hypothesis, in turn. A counterexample is
    checked by the independent checker, shrunk, and compared with the proof of the exact method.

    Parameters
    ----------
    stem : str
        The problem.
    method : str or callable
        A registered name, or a function of your own with the same signature.
    claim : str, optional
        See `dlopt.verify.claim_table`; by default the claim in the registry: ``sound``, ``optimal``
        or ``bound``.
    kind : str, optional
        Search for this kind of violation only.
    target : {"claim", "gap"}
        With ``gap``, search by simulated annealing for the largest gap to the proven optimum.
    objective : str, optional
        By default that of the claim, or of the instance.
    seconds : float, default 60
        Time limit of the search; shrinking takes at most half as long again, or 15 seconds.
    examples : int, optional
        Limit on the number of instances that are drawn or enumerated, instead of time: the result
        is then the same everywhere.
    seed : int, default 0
        Equal seeds find equal instances, unless the time limit is reached before.
    size : Size, optional
        Largest size of an instance.
    floats : bool, default False
        Convert every number of the instances to a float.
    options : mapping, optional
        Options of the method, as `dlopt.solve` takes them; by default those of the claim.
    progress : callable, optional
        Called with the number of instances tried, now and then.
    shipped : bool, default True
        Whether the shipped instances to which the method applies are tried first; of exact methods
        and bounds, and where gaps to the optimum are searched, only small ones. They do not count
        in `examples`.
    stop : threading.Event, optional
        Once another thread sets it, the search ends with what is known: a counterexample that is
        not shrunk to the end, or nothing found so far.

    Returns
    -------
    SearchResult

    Raises
    ------
    NotApplicableError
        If there is no such method, claim or kind, or an argument is invalid.

    Examples
    --------
    >>> found = falsify("admission", "edf-opr-mn:literal", examples=2000).finding
    >>> found.kind, found.size, found.impossible
    ('channel-overlap', (2, 2), True)
    >>> falsify("admission", "edf-opr-mn", examples=200).finding is None
    True
    """
    entry = resolve_method(stem, method)
    if target not in ("claim", "gap"):
        raise NotApplicableError(f"target must be claim or gap, got {target!r}")
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise NotApplicableError(f"seconds must be positive, got {seconds!r}")
    examples = None if examples is None else integer_argument("examples", examples, 1)
    seed = integer_argument("seed", seed)
    if not isinstance(size, Size):
        raise NotApplicableError(f"a size is a Size, not a {type(size).__name__}")
    require_callbacks(progress, stop)
    objective = _known_objective(entry, objective)
    budget = SearchBudget(seconds, examples, progress, stop)
    read = None if options is None else entry.read_options(options)
    builds = [_builder(stem, one, floats) for one in _sizes(entry, size)]
    if target == "gap":
        if claim is not None or kind is not None:
            raise NotApplicableError("a search for gaps has no claim and no kind")
        first = shipped_instances(stem, floats, small=True) if shipped else ()
        return anneal(entry, objective, budget, seed, builds[-1], read or {}, first)
    wanted = claim_of(entry, claim)
    kind = None if kind is None else aliases.current_violation_kind(kind)
    kinds = (*problem(stem).module.KINDS, *CLAIM_KINDS)
    if kind not in (None, *kinds):
        raise NotApplicableError(f"{stem} has no violation {kind!r} ({known_names(kind, kinds)})")
    goal = objective or wanted.objective
    chosen = wanted.options if read is None else read
    first = shipped_instances(stem, floats, entry.kind != "heuristic") if shipped else ()
    search = _CounterexampleSearch(entry, wanted, kind, goal, budget, seed, builds, chosen, first)
    return search.run()


def _known_objective(entry: Method, objective: str | None) -> str | None:
    """Return an objective by its current name.

    Raises
    ------
    NotApplicableError
        If the method does not support it.
    """
    if objective is None:
        return None
    objective = aliases.current_objective(entry.stem, objective)
    if objective not in entry.objectives:
        known = known_names(objective, entry.objectives)
        raise NotApplicableError(f"{entry.name} has no objective {objective!r} ({known})")
    return objective


def _builder(stem: str, size: Size, floats: bool) -> Builder:
    exactly = builder(stem, size)
    return (lambda choices: floating(exactly(choices))) if floats else exactly


def _sizes(entry: Method, size: Size) -> list[Size]:
    """Return the sizes of instances, used in turn, the full one last."""
    if entry.kind == "heuristic":
        return [size]
    sizes = []
    for jobs, machines, often in SMALL_SIZES:
        smaller = replace(size, jobs=min(jobs, size.jobs), machines=min(machines, size.machines))
        sizes += [smaller] * often
    return [*sizes, size]


class _Counterexample(NamedTuple):
    """An instance, the answer that violates a claim, and the violation."""

    instance: Header
    answer: Answer
    violation: ClaimViolation


class _CounterexampleSearch:
    """One search for an instance that violates a claim."""

    def __init__(
        self,
        entry: Method,
        claim: Claim,
        kind: str | None,
        objective: str | None,
        budget: SearchBudget,
        seed: int,
        builds: list[Builder],
        options: Options,
        shipped: Sequence[Header] = (),
    ) -> None:
        self.entry, self.claim, self.kind = entry, claim, kind
        self.objective, self.budget, self.seed = objective, budget, seed
        self.builds, self.options, self.shipped = builds, options, shipped
        self.skipped: Counter[str] = Counter()
        self.found: _Counterexample | None = None

    def run(self) -> SearchResult:
        """Search until a counterexample is found or the budget is exhausted."""
        for phase, generate in self._phases():
            generate()
            if self.found is not None:
                searched = self._searched(phase)
                return replace(searched, finding=self._finding(self.found))
            if self.budget.exhausted:
                break
        return self._searched()

    def _searched(self, phase: str | None = None) -> SearchResult:
        budget, reasons = self.budget, tuple(self.skipped.most_common())
        return SearchResult(
            None,
            budget.tried,
            budget.not_applicable,
            budget.elapsed,
            phase,
            reasons,
            budget.shipped,
        )

    def _phases(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the generators of instances in turn; each round is twice as long as the last."""
        yield SHIPPED, partial(self._try_each, iter(self.shipped), shipped=True)
        rng = random.Random(self.seed)
        builds = cycle(self.builds)
        slowdown = 1 if len(self.builds) == 1 else PROOF_SLOWDOWN
        first = INSTANCES_PER_ROUND // slowdown
        for index in count():
            size = first << min(index, 6)
            drawn = (next(builds)(Choices(RandomSource(rng))) for _ in range(size))
            yield "random sampling", partial(self._try_each, drawn)
            pairs = islice(instances_of_weight(self.builds[-1], index), MAX_ENUMERATED)
            yield "enumeration", partial(self._try_each, (instance for instance, _ in pairs))
            examples = min(size // 4, 800)
            yield "hypothesis", partial(self._by_hypothesis, examples, index)

    def _try_each(self, instances: Iterator[Header], shipped: bool = False) -> None:
        for instance in instances:
            if self.budget.exhausted or self._is_counterexample(instance, shipped):
                return

    def _by_hypothesis(self, examples: int, index: int) -> None:
        from dlopt.verify import strategies

        def violates(instance: Header) -> bool:
            return not self.budget.exhausted and self._is_counterexample(instance)

        seed = self.seed * 1_000_003 + index
        strategies.find_by_hypothesis(self.builds[0], violates, examples=examples, seed=seed)

    def _is_counterexample(self, instance: Header, shipped: bool = False) -> bool:
        """Try an instance; keep the smallest counterexample."""
        trial = self._trial(instance, None if shipped else self.skipped)
        self.budget.count(trial is not None, shipped)
        example = None if trial is None else self._counterexample(trial)
        if example is None:
            return False
        if self.found is None or instance_size(instance) < instance_size(self.found.instance):
            self.found = example
        return True

    def _trial(self, instance: Header, reasons: Counter[str] | None = None) -> Trial | None:
        """Run the method; None if it does not apply, and the reason is counted."""
        goal = objective_for(self.entry, instance, self.objective)
        if goal is None:
            if reasons is not None:
                reasons["the objective does not suit the instance"] += 1
            return None
        answers = AnswerCache(instance, goal, self.seed)
        answer = run_method(
            self.entry,
            instance,
            goal.name,
            self.seed,
            options=self.options,
            hint=answers.hint() if self.entry.kind == "exact" else None,
            limits=SEARCH_LIMITS,
            reasons=reasons,
        )
        if answer is None:
            return None
        return Trial(self.entry, instance, answer, self.seed, self.options, answers)

    def _counterexample(self, trial: Trial) -> _Counterexample | None:
        """Return the counterexample of a trial, if it has a violation of the wanted kind."""
        kind = self.kind or (self.found.violation.kind if self.found else None)
        violations = self.claim.check(trial)
        wanted = [violation for violation in violations if kind in (None, violation.kind)]
        return _Counterexample(trial.instance, trial.answer, wanted[0]) if wanted else None

    def _finding(self, example: _Counterexample) -> Finding:
        until = time.perf_counter() + max(
            MIN_SHRINKING_S, SHRINKING_TIME_RATIO * self.budget.elapsed
        )

        def holds(smaller: Header) -> bool:
            nonlocal example
            if self.budget.stopped:
                return False
            if time.perf_counter() > until and self.budget.examples is None:
                return False
            trial = self._trial(smaller)
            again = None if trial is None else self._counterexample(trial)
            example = again or example
            return again is not None

        shrink(example.instance, holds)
        return Finding(
            self.entry.stem,
            self.entry.name,
            self.claim.name,
            example.violation.kind,
            _all_violations(*example),
            example.instance,
            example.answer.result,
            example.answer.objective,
            optimum=None if self.budget.stopped else _proof(example.instance, example.answer),
            options=self.options,
        )


def _all_violations(instance: Header, answer: Answer, violation: ClaimViolation) -> tuple[str, ...]:
    """Return the descriptions of the violation and of all that the independent checker reports."""
    result = answer.result
    if result is None or result.solution is None:
        return (violation.text,)
    checked = [str(one) for one in check(instance, result.solution, result.tolerance)]
    return tuple(dict.fromkeys([violation.text, *checked]))


def _proof(instance: Header, answer: Answer) -> AnyResult | None:
    """Return the result of the exact method for the instance, if it proves something."""
    proof = run_registered("exact", instance, answer.objective.name)
    if proof is None or proof.failure is not None or proof.result is None:
        return None
    proven = proof.result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return proof.result if proven else None
