"""Batch after batch, each decided optimally: what an exact method does without foresight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import exact, least, simplest
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.construction import greedy
from dlopt.models.coreservation.objective import Held, key_of
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.search import Found, by_spans
from dlopt.models.coreservation.solutions import (
    ceiled,
    cpu_is_exact,
    fits,
    held_of,
    plan_of,
    solution_of,
    worth_of,
)
from dlopt.problems.coreservation.batches import batches
from dlopt.problems.coreservation.data import Holding, Instance, Request, Share, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES
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
    hint : Solution, optional
        What it has of a batch is a plan to start from. If some batch is left open by a limit, and
        the hint is worth more than what came of it, then the hint is returned.
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
    Guarantee: each batch that is proven has an optimal plan of its own; among those of one batch it
    is not looked ahead. At a limit the plan is no worse than a valid hint, which `dlopt.api.solve`
    takes from the heuristics; a hint that was made with foresight brings foresight in. Plan class
    ``any``. Complexity: exponential in the size of a batch. Source: Min 2001, section 4.2, with an
    exact method in the place of a heuristic.

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
    proven, possible, exactly = 0, set[int](), cpu_is_exact(instance)
    decided = batches(instance)
    budget, waiting = Budget(limits), len(instance.requests)
    given = {(share.request, share.part): share for share in hint.shares} if hint else {}
    for _, members in decided:
        wanted = tuple(instance.requests[k] for k in members)
        batch = replace(instance, requests=wanted, holdings=_near(table, wanted))
        case = Case.of(batch, goal, widened=False)
        start = max(greedy(case), _part_of(case, given), key=lambda held: key_of(case, held))
        found, wide = _batch(case, start, budget, len(members) / waiting, seed)
        waiting -= len(members)
        proven += found.proven == len(case.levels)
        possible |= {members[one.request] for one in case.wishes}
        for i, (machine, units) in found.held.items():
            k, part, cpu = members[wide[i]], case.jobs[i].part, units * case.unit
            shares.append((k, part, machine, cpu))
            table.append(_holding(exactly, instance.requests[k], machine, cpu))
    plan = solution_of(instance, shares, possible)
    reason = f"{proven} of {len(decided)} batches are proven optimal by themselves"
    whole = _whole(instance, hint, goal) if given and proven < len(decided) else None
    if whole is not None and _worse(instance, plan, whole, goal):
        plan, reason = whole, f"{reason}; the plan that was given is worth more"
    return Result(
        Status.FEASIBLE,
        solution=plan,
        objective=goal,
        value=worth_of(instance, plan, goal),
        reason=reason,
        method="rolling-exact",
        seed=seed,
        plan_class="any",
        solver="CP-SAT+HiGHS",
    )


def _batch(
    case: Case, start: Held, budget: Budget, share: float, seed: int
) -> tuple[Found, list[int]]:
    """Decide one batch, and return of each job whose it is, by its place in the batch."""
    owners = [case.wishes[job.wish].request for job in case.jobs]
    try:
        limits = budget.left(min(1.0, share))
    except TimeoutError:
        limits = replace(budget.limits, time_s=1e-6)
    chosen = "milp" if case.too_fine else "cp-sat"
    fine = case.too_fine is None
    found = by_spans(case, start, limits, seed, formulation=chosen, neighbours=fine)
    return found, owners


def _whole(instance: Instance, hint: Solution | None, goal: str) -> Solution | None:
    """Return what a hint holds as a plan; None if there is no room for all of it."""
    case = Case.of(instance, goal, widened=False)
    held = held_of(case, hint)
    return plan_of(case, held) if held else None


def _part_of(case: Case, given: Mapping[tuple[str, int], Share]) -> dict[int, tuple[int, int]]:
    """Return what shares make of a batch; nothing if other plans of earlier ones are in the way."""
    held = {}
    for i, job in enumerate(case.jobs):
        request = case.instance.requests[case.wishes[job.wish].request]
        share = given.get((request.id, job.part))
        if share is not None:
            held[i] = share.machine, max(int(exact(share.cpu) / case.unit), job.least)
    return held if fits(case, held) else {}


def _worse(instance: Instance, plan: Solution, other: Solution, goal: str) -> bool:
    return OBJECTIVES[goal].better(worth_of(instance, other, goal), worth_of(instance, plan, goal))


def _near(table: Iterable[Holding], wanted: Sequence[Request]) -> tuple[Holding, ...]:
    """Return what is held at some time between the first start and the last end of requests."""
    first = least([one.start for one in wanted])
    last = max((one.end for one in wanted), key=exact)
    return tuple(one for one in table if one.start < last and first < one.end)


def _holding(exactly: bool, request: Request, machine: int, cpu: Fraction) -> Holding:
    number = simplest(cpu) if exactly else ceiled(cpu)
    return Holding(machine, request.start, request.end, number)
