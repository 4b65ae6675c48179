"""Conversion between assignments of the models and solutions of the problem.

Examples
--------
>>> from dlopt.problems.coreservation import Machine, Part, Request
>>> instance = Instance((Machine("m", 5),), (Request("a", 0, 1, 2, 1, (Part(3),)),))
>>> scaled = ScaledInstance.from_instance(instance)
>>> solution = to_solution(scaled, {0: (0, scaled.parts[0].minimum)})
>>> solution.shares
(Share(request='a', part=0, machine=0, cpu=3),)
>>> to_assignment(scaled, solution) == {0: (0, scaled.parts[0].minimum)}
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from dlopt.arithmetic import SOLVER, Number, exact, is_exact, simplest
from dlopt.models.common.objective_levels import match_number_type
from dlopt.models.coreservation.objective import Assignment, maximised
from dlopt.models.coreservation.scaled_instance import (
    SHARE_ALLOWED,
    ScaledInstance,
    allowed_overload,
)
from dlopt.problems.coreservation.batches import batch_times
from dlopt.problems.coreservation.claimed_values import claimed_value
from dlopt.problems.coreservation.data import Decision, Instance, Share, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES
from dlopt.result import Value

NOT_SELECTED = "no schedule found is better with it"
FITS_NOWHERE = "some part fits on no machine, even if it is alone"


def to_solution(scaled: ScaledInstance, assignment: Assignment) -> Solution:
    """Return an assignment as a solution; each request is decided with its batch."""
    return build_solution(scaled.instance, _shares(scaled, assignment), _possible(scaled))


def build_solution(
    instance: Instance,
    shares: Iterable[tuple[int, int, int, Fraction]],
    possible: Iterable[int] = (),
    *,
    rounded: bool = True,
) -> Solution:
    """Return the solution of some shares, given as (request, part, machine, CPU).

    Where CPU is given in floats, shares are rounded up to floats, if they may be `rounded`.
    Requests that are not `possible` are rejected because they fit nowhere.
    """
    ordered = sorted(shares)
    accepted, eligible = {share[0] for share in ordered}, set(possible)
    decisions, as_exact = [], not rounded or cpu_is_exact(instance)
    exact_instants = instance.exact  # looks at all numbers: once, not for each request
    for k, (request, at) in enumerate(zip(instance.requests, batch_times(instance), strict=True)):
        reason = None if k in accepted else NOT_SELECTED if k in eligible else FITS_NOWHERE
        instant = simplest(at) if exact_instants else float(at)
        decisions.append(Decision(request.id, k in accepted, instant, reason))
    to_number = simplest if as_exact else round_up_to_float
    return Solution(
        tuple(decisions),
        tuple(
            Share(instance.requests[k].id, part, machine, to_number(cpu))
            for k, part, machine, cpu in ordered
        ),
    )


def _shares(scaled: ScaledInstance, assignment: Assignment) -> list[tuple[int, int, int, Fraction]]:
    return [
        (original_request(scaled, i), scaled.parts[i].index, machine, units * scaled.unit)
        for i, (machine, units) in assignment.items()
    ]


def original_request(scaled: ScaledInstance, i: int) -> int:
    """Return the position in the instance of the request that a part belongs to."""
    return scaled.requests[scaled.parts[i].request].index


def _possible(scaled: ScaledInstance) -> set[int]:
    return {request.index for request in scaled.requests}


def cpu_is_exact(instance: Instance) -> bool:
    """Tell whether no amount of CPU is a float, so that shares need not be floats.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> cpu_is_exact(Instance((Machine("m", 5),), (Request("r", 0, 0.5, 1.5, 1, (Part(3),)),)))
    True
    """
    amounts = [value for machine in instance.machines for _, value in machine.steps]
    amounts += [holding.cpu for holding in instance.holdings]
    for request in instance.requests:
        for part in request.parts:
            amounts += [part.cpu, part.least, *(share for share, _ in part.benefit)]
    return is_exact(amounts)


def round_up_to_float(number: Fraction) -> float:
    """Return the least float that stands for at least `number`.

    Rounded down, a share could fall below a jump of its benefit, or below the minimum share.

    Examples
    --------
    >>> round_up_to_float(Fraction(7, 5))
    1.4
    >>> exact(round_up_to_float(Fraction(2, 3))) > Fraction(2, 3)
    True
    """
    near = float(number)
    return near if exact(near) >= number else math.nextafter(near, math.inf)


def round_down_to_float(number: Fraction) -> float:
    """Return the largest float that stands for at most `number`.

    Examples
    --------
    >>> round_down_to_float(Fraction(7, 5))
    1.4
    >>> exact(round_down_to_float(Fraction(1, 3))) < Fraction(1, 3)
    True
    """
    return -round_up_to_float(-number)


def to_feasible_solution(scaled: ScaledInstance, assignment: Assignment) -> Solution | None:
    """Return an assignment as a solution that `check` accepts, if no choice must be changed.

    Where units are finer than what `check` allows, an assignment may overload machines by more.
    Then shares fall as far as they can: on their segments or, if only acceptance counts, below the
    least CPU, as far as that is allowed; in the latter case there is always a solution.
    """
    if not scaled.capacity_allowance:
        return to_solution(scaled, assignment)
    low_ends = {
        i: [segment.low for segment in scaled.parts[i].segments if segment.low <= units]
        for i, (_, units) in assignment.items()
    }
    lowered = {
        i: (j, max(low_ends[i][-1], units - scaled.capacity_allowance))
        for i, (j, units) in assignment.items()
    }
    for candidate in (assignment, lowered):
        solution = to_solution(scaled, candidate)
        if not is_overloaded(scaled.instance, solution):
            return solution
    if "benefit" in scaled.levels:
        return None
    minimum = {i: (j, scaled.parts[i].minimum) for i, (j, _) in assignment.items()}
    return build_solution(
        scaled.instance,
        [(k, part, j, cpu * SHARE_ALLOWED) for k, part, j, cpu in _shares(scaled, minimum)],
        _possible(scaled),
        rounded=False,
    )


def better_of_hint(scaled: ScaledInstance, solution: Solution, hint: Assignment) -> Solution:
    """Return a solution, or that of a hint if it is better.

    It can be where an assignment overloads machines by more than `check` allows, and shares in
    floats are lowered for that.
    """
    instance, goal = scaled.instance, scaled.objective
    if not hint or not scaled.capacity_allowance:
        return solution
    given = to_solution(scaled, hint)
    if is_overloaded(instance, given):
        return solution
    values = [objective_value(instance, one, goal) for one in (given, solution)]
    return given if OBJECTIVES[goal].better(*values) else solution


def is_overloaded(instance: Instance, solution: Solution) -> bool:
    """Tell whether a solution in floats overloads a machine by more than `check` allows.

    Where holdings exceed a capacity, nothing is free. Complexity: O(n log n).
    """
    allowed = allowed_overload(instance)
    windows = {
        request.id: (exact(request.start), exact(request.end)) for request in instance.requests
    }
    changes: list[dict[Fraction, list[Fraction]]] = [{} for _ in instance.machines]

    def change(machine: int, instant: Fraction, kind: int, by: Fraction) -> None:
        changes[machine].setdefault(instant, [Fraction(0)] * 3)[kind] += by

    for j, machine in enumerate(instance.machines):
        before = Fraction(0)
        for at, value in machine.steps:
            change(j, exact(at), 0, exact(value) - before)
            before = exact(value)
    for holding in instance.holdings:
        change(holding.machine, exact(holding.start), 1, exact(holding.cpu))
        change(holding.machine, exact(holding.end), 1, -exact(holding.cpu))
    for share in solution.shares:
        start, end = windows[share.request]
        change(share.machine, start, 2, exact(share.cpu))
        change(share.machine, end, 2, -exact(share.cpu))
    for timeline in changes:
        capacity = reserved = allocated = Fraction(0)
        for _, (of_capacity, of_holdings, of_shares) in sorted(timeline.items()):
            capacity, reserved = capacity + of_capacity, reserved + of_holdings
            allocated += of_shares
            if allocated - max(capacity - reserved, Fraction(0)) > allowed:
                return True
    return False


def to_assignment(scaled: ScaledInstance, solution: Solution | None) -> dict[int, tuple[int, int]]:
    """Return a solution as an assignment in units; empty if it is infeasible or there is none."""
    instance = scaled.instance
    slack = exact(0 if instance.exact else SOLVER)
    if solution is None:
        return {}
    by_name = {
        (instance.requests[original_request(scaled, i)].id, part.index): i
        for i, part in enumerate(scaled.parts)
    }
    assignment = {}
    for share in solution.shares:
        i = by_name.get((share.request, share.part))
        if i is None or i in assignment:
            return {}
        asked = instance.requests[original_request(scaled, i)].parts[share.part].cpu
        units = int(min(exact(share.cpu) / scaled.unit + slack, exact(asked) / scaled.unit))
        assignment[i] = share.machine, max(units, scaled.parts[i].minimum)
    return assignment if is_feasible(scaled, assignment) else {}


def is_feasible(scaled: ScaledInstance, assignment: Assignment) -> bool:
    """Tell whether an assignment has all parts of a request or none, and observes capacities."""
    free = [list(row) for row in scaled.free]
    for i, (machine, units) in assignment.items():
        part = scaled.parts[i]
        if machine not in part.machines or units < part.minimum:
            return False
        for t in range(part.start, part.end):
            free[machine][t] -= units
    complete = all(
        all(i in assignment for i in scaled.requests[k].parts)
        for k in {scaled.parts[i].request for i in assignment}
    )
    return complete and min(map(min, free)) >= 0


def objective_value(instance: Instance, solution: Solution, goal: str) -> Value:
    """Return the objective value of a solution, in the instance's type of numbers."""
    return match_number_type(claimed_value(instance, solution, goal), is_exact=instance.exact)


def to_objective_bound(scaled: ScaledInstance, level: str, bound: Fraction) -> Number:
    """Return the bound of a level, given one of the maximised level.

    A float is rounded such that the bound holds. What `check` allows of the benefit is added
    where it is more than the tolerance of an answer in floats.
    """
    instance = scaled.instance
    if level == "benefit" and scaled.benefit_allowance > exact(SOLVER) * bound:
        bound += scaled.benefit_allowance
    plain = simplest(maximised(level, bound))
    if instance.exact or isinstance(plain, int):
        return plain
    if level == "benefit":
        return round_up_to_float(exact(plain))
    return round_down_to_float(exact(plain))
