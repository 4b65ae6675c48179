"""The best plan of a subproblem, from all patterns that could be part of a better one.

**Lemma.** Let prices of parts prove the bound ``b``, the sum over machines of what the dearest
pattern is worth less what it pays, and over requests of what accepting them pays, if that is
positive. A plan that is worth ``v`` has on every machine a pattern that is worth, less what it
pays, at most ``b - v`` less than the dearest there. *Proof.* The plan is worth what its patterns
are worth less what they pay, and what its requests pay; no term exceeds its share of ``b``, so none
lies below it by more than all do together. (Baldacci, Christofides, Mingozzi, Math. Program. 115,
2008, do so for routes.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.budget import Budget
from dlopt.models.coreservation.alone import Chosen
from dlopt.models.coreservation.patterns import Branch, Patterns
from dlopt.models.coreservation.pricing import Pricer
from dlopt.result import Status

_SHARE = 1 / 4
"""Of the time that is left, to choose among patterns."""
_EFFORT = 20.0
"""Deterministic time to choose among them, where there is no time limit."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The best plan of a subproblem.

    Parameters
    ----------
    bound : int
        No plan of it is worth more, or than what was known.
    held : dict or None
        A plan that is worth more than what was known, if one was found.
    """

    bound: int
    held: dict[int, tuple[int, int]] | None


def close(
    patterns: Patterns,
    branch: Branch,
    pricers: Sequence[Pricer],
    prices: Sequence[int],
    known: int,
    steps: int,
    budget: Budget,
    seed: int,
) -> Closed | None:
    """Find the best plan of a subproblem, or that none is worth more than what is known.

    Parameters
    ----------
    patterns : Patterns
    branch : Branch
    pricers : sequence of Pricer
        One a group, all of them with knapsacks.
    prices : sequence of int
        Of all parts.
    known : int
        What a plan is worth.
    steps : int
        Parts to decide about for all patterns of a group, at the most.
    budget : Budget
    seed : int

    Returns
    -------
    Closed or None
        None if there are too many patterns.
    """
    machines = [one.machine for one in pricers]
    most = [] if None in machines else [one.dearest(prices)[0] for one in pricers]
    if len(most) < len(machines):
        return None
    slack = sum(
        worth * len(group.machines) for worth, group in zip(most, patterns.groups, strict=True)
    )
    slack -= known + patterns.step
    for k, wish in enumerate(patterns.case.wishes):
        paid = patterns.worths[k] + sum(prices[i] for i in wish.jobs)
        decided = branch.wishes.get(k)
        slack += max(paid, 0) if decided is None else paid * decided
    found: list[list[Chosen]] = []
    for machine, worth in zip(machines, most, strict=True):
        assert machine is not None
        some = machine.within(prices, worth - slack, steps, budget.stop)
        if some is None:
            return None
        found.append(some)
    return _chosen(patterns, branch, pricers, found, known, budget, seed)


def _chosen(
    patterns: Patterns,
    branch: Branch,
    pricers: Sequence[Pricer],
    found: Sequence[Sequence[Chosen]],
    known: int,
    budget: Budget,
    seed: int,
) -> Closed | None:
    """Choose a pattern a machine such that each part of an accepted request is in one."""
    case, step, model = patterns.case, patterns.step, cpsat.new_model()
    accepted = [model.new_bool_var("") for _ in case.wishes]
    for k, decided in branch.wishes.items():
        model.add(accepted[k] == decided)
    covered: list[list[Any]] = [[] for _ in case.jobs]
    worth: Any = sum(w // step * x for w, x in zip(patterns.worths, accepted, strict=True) if w)
    counts: list[list[Any]] = []
    for group, own in zip(patterns.groups, found, strict=True):
        counts.append([model.new_bool_var("") for _ in own])
        for one, count in zip(own, counts[-1], strict=True):
            for i in one.jobs:
                covered[i].append(count)
        model.add(sum(counts[-1]) <= len(group.machines))
        worth += sum(one.worth // step * x for one, x in zip(own, counts[-1], strict=True))
    for i, job in enumerate(case.jobs):
        model.add(sum(covered[i]) == accepted[job.wish])
    model.add(worth >= known // step + 1)
    model.maximize(worth)
    limits = replace(budget.left(_SHARE), work=None)
    effort = _EFFORT if limits.time_s is None else None
    outcome = cpsat.optimise(model, limits, seed=seed, effort=effort)
    if outcome.status is Status.INFEASIBLE:
        return Closed(known, None)
    if outcome.value_of is None or outcome.bound is None:
        return None
    held: dict[int, tuple[int, int]] = {}
    for pricer, own, some in zip(pricers, found, counts, strict=True):
        free = list(pricer.group.machines)
        for one, count in zip(own, some, strict=True):
            if one.jobs and outcome.value_of(count):
                assert pricer.machine is not None
                machine = free.pop()
                shares = pricer.machine.shares(one.jobs)
                held |= {i: (machine, units) for i, (_, units) in shares.items()}
    return Closed(outcome.bound * step, held)
