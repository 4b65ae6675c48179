"""Batch after batch, each decided optimally: what an exact method does without foresight."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import simplest
from dlopt.backends.budget import Budget
from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.plans import solution_of, worth_of
from dlopt.models.coreservation.search import Found, by_spans
from dlopt.problems.coreservation import Holding, Instance, Request, Solution, batches
from dlopt.result import NO_LIMITS, Limits, Result, Status

Answer = Result[Solution]


def exact_per_batch(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Decide batch after batch, each optimally, given what earlier ones left.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any but that which counts machines; by default ``benefit``.
    limits : Limits, optional
        The time is shared by the batches, in proportion to their requests.
    hint
        Not used: later batches are not known.
    seed : int

    Returns
    -------
    Result
        ``FEASIBLE``: a clairvoyant may do better. `reason` says how many batches are proven.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: each batch that is proven has an optimal plan of its own; among those of one batch
    it is not looked ahead. Plan class ``any``. Complexity: exponential in the size of a batch.
    Source: Min 2001, section 4.2, with an exact method in the place of a heuristic.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> first = Request("a", 0, 2, 5, 1, (Part(3),))
    >>> second = Request("b", 1, 2, 5, 9, (Part(3),))
    >>> exact_per_batch(Instance((Machine("m", 5),), (first, second))).value
    Fraction(1, 10)
    """
    goal = objective or "benefit"
    table = list(instance.holdings)
    shares: list[tuple[int, int, int, Fraction]] = []
    proven, possible, exactly = 0, set[int](), instance.exact
    decided = batches(instance)
    budget, waiting = Budget(limits), len(instance.requests)
    for _, members in decided:
        wanted = tuple(instance.requests[k] for k in members)
        case = Case.of(replace(instance, requests=wanted, holdings=tuple(table)), goal)
        found, wide = _batch(case, budget, len(members) / waiting, seed)
        waiting -= len(members)
        proven += found.proven == len(case.levels)
        possible |= {members[one.request] for one in case.wishes}
        for i, (machine, units) in found.held.items():
            k, part, cpu = members[wide[i]], case.jobs[i].part, units * case.unit
            shares.append((k, part, machine, cpu))
            table.append(_holding(exactly, instance.requests[k], machine, cpu))
    plan = solution_of(instance, shares, possible)
    return Result(
        Status.FEASIBLE,
        solution=plan,
        objective=goal,
        value=worth_of(instance, plan, goal),
        reason=f"{proven} of {len(decided)} batches are proven optimal by themselves",
        method="exact-per-batch",
        seed=seed,
        plan_class="any",
        solver="CP-SAT+HiGHS",
    )


def _batch(case: Case, budget: Budget, share: float, seed: int) -> tuple[Found, list[int]]:
    """Decide one batch, and return of each job whose it is, by its place in the batch."""
    owners = [case.wishes[job.wish].request for job in case.jobs]
    try:
        limits = budget.left(min(1.0, share))
    except TimeoutError:
        limits = replace(budget.limits, time_s=1e-6)
    chosen = "milp" if case.too_fine else "cp-sat"
    fine = case.too_fine is None
    found = by_spans(case, {}, limits, seed, formulation=chosen, neighbours=fine)
    return found, owners


def _holding(exactly: bool, request: Request, machine: int, cpu: Fraction) -> Holding:
    number = simplest(cpu) if exactly else float(cpu)
    return Holding(machine, request.start, request.end, number)
