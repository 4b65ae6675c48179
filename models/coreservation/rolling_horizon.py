"""Rolling horizon: each batch in turn is solved to optimality, without foresight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import exact, least, simplest
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.objective import objective_key
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import solve_by_components
from dlopt.models.coreservation.solutions import (
    build_solution,
    cpu_is_exact,
    is_feasible,
    objective_value,
    original_request,
    round_up_to_float,
    to_assignment,
    to_solution,
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
    """Solve batch after batch to optimality, each given what earlier ones left.

    Parameters
    ----------
    instance : Instance
    objective : str
        Any but that which counts machines; by default ``benefit``.
    limits : Limits, optional
        The time is shared by the batches, in proportion to their requests.
    hint : Solution, optional
        What it has of a batch is a schedule to start from. If a limit leaves some batch without
        proof, and the hint has a better value than the result, then the hint is returned.
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
    Guarantee: each batch that is proven has an optimal schedule of its own; the choice among those
    of one batch does not look ahead. At a limit the schedule is no worse than a valid hint, which
    `dlopt.api.solve` takes from the heuristics; a hint that was made with foresight brings
    foresight in. Plan class ``any``. Complexity: exponential in the size of a batch. Source: Min
    2001, section 4.2, with an exact method in the place of a heuristic.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> first = Request("a", 0, 2, 5, 1, (Part(3),))
    >>> second = Request("b", 1, 2, 5, 9, (Part(3),))
    >>> exact_per_batch(Instance((Machine("m", 5),), (first, second))).value
    Fraction(1, 10)
    """
    goal = objective or "benefit"
    reserved = list(instance.holdings)
    shares: list[tuple[int, int, int, Fraction]] = []
    proven, possible, as_exact = 0, set[int](), cpu_is_exact(instance)
    all_batches = batches(instance)
    budget, waiting = Budget(limits), len(instance.requests)
    hinted = {(share.request, share.part): share for share in hint.shares} if hint else {}
    for _, members in all_batches:
        requests = tuple(instance.requests[k] for k in members)
        batch = replace(
            instance, requests=requests, holdings=_overlapping_holdings(reserved, requests)
        )
        scaled = ScaledInstance.from_instance(batch, goal, widened=False)
        start = max(
            greedy_assignment(scaled),
            _hinted_assignment(scaled, hinted),
            key=lambda assignment: objective_key(scaled, assignment),
        )
        limits_of_batch = budget.left_or_minimum(min(1.0, len(members) / waiting))
        found = solve_by_components(scaled, start, limits_of_batch, seed)
        waiting -= len(members)
        proven += found.proven_levels == len(scaled.levels)
        possible |= {members[request.index] for request in scaled.requests}
        for i, (machine, units) in found.incumbent.items():
            k, cpu = members[original_request(scaled, i)], units * scaled.unit
            shares.append((k, scaled.parts[i].index, machine, cpu))
            reserved.append(_to_holding(instance.requests[k], machine, cpu, as_exact=as_exact))
    solution = build_solution(instance, shares, possible)
    reason = f"{proven} of {len(all_batches)} batches proven optimal on their own"
    if hinted and proven < len(all_batches):
        hint_solution = _feasible_hint(instance, hint, goal)
        if hint_solution is not None and _is_better(instance, hint_solution, solution, goal):
            solution, reason = hint_solution, f"{reason}; the initial schedule has a better value"
    return Result(
        Status.FEASIBLE,
        solution=solution,
        objective=goal,
        value=objective_value(instance, solution, goal),
        reason=reason,
        plan_class="any",
        solver="CP-SAT+HiGHS",
    )


def _feasible_hint(instance: Instance, hint: Solution | None, goal: str) -> Solution | None:
    """Return a hint as a solution; None if there is no room for all of it."""
    scaled = ScaledInstance.from_instance(instance, goal, widened=False)
    assignment = to_assignment(scaled, hint)
    return to_solution(scaled, assignment) if assignment else None


def _hinted_assignment(
    scaled: ScaledInstance, hinted: Mapping[tuple[str, int], Share]
) -> dict[int, tuple[int, int]]:
    """Return the hint's assignment of a batch; empty if it does not fit after earlier batches."""
    assignment = {}
    for i, part in enumerate(scaled.parts):
        request = scaled.instance.requests[original_request(scaled, i)]
        share = hinted.get((request.id, part.index))
        if share is not None:
            units = max(int(exact(share.cpu) / scaled.unit), part.minimum)
            assignment[i] = share.machine, units
    return assignment if is_feasible(scaled, assignment) else {}


def _is_better(instance: Instance, solution: Solution, other: Solution, goal: str) -> bool:
    return OBJECTIVES[goal].better(
        objective_value(instance, solution, goal), objective_value(instance, other, goal)
    )


def _overlapping_holdings(
    holdings: Iterable[Holding], requests: Sequence[Request]
) -> tuple[Holding, ...]:
    """Return the holdings between the first start and the last end of some requests."""
    first = least([request.start for request in requests])
    last = max((request.end for request in requests), key=exact)
    return tuple(one for one in holdings if one.start < last and first < one.end)


def _to_holding(request: Request, machine: int, cpu: Fraction, *, as_exact: bool) -> Holding:
    number = simplest(cpu) if as_exact else round_up_to_float(cpu)
    return Holding(machine, request.start, request.end, number)
