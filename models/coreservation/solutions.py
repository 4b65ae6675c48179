"""From what the models hold to plans as the rules see them, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from dlopt.arithmetic import FLOATING, ROUNDING, SOLVER, Number, exact, is_exact, simplest
from dlopt.models.coreservation.objective import Held, signed
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.problems.coreservation.batches import batch_times
from dlopt.problems.coreservation.claims import claimed_value
from dlopt.problems.coreservation.data import Decision, Instance, Share, Solution
from dlopt.result import Value

_WHY = "no plan that was found is better with it"
_HOPELESS = "some part fits on no machine, even alone"


def plan_of(case: Case, held: Held) -> Solution:
    """Return what is held as a plan; each request is decided with its batch."""
    return solution_of(case.instance, _shares(case, held), _possible(case))


def solution_of(
    instance: Instance,
    shares: Iterable[tuple[int, int, int, Fraction]],
    possible: Iterable[int] = (),
    *,
    rounded: bool = True,
) -> Solution:
    """Return shares, as (request, part, machine, CPU), as a plan with its decisions.

    Where CPU is given in floats, shares are the next floats from above, if they may be `rounded`.
    """
    held = sorted(shares)
    accepted, hopeful = {one[0] for one in held}, set(possible)
    decisions, exactly = [], not rounded or cpu_is_exact(instance)
    for k, (request, at) in enumerate(zip(instance.requests, batch_times(instance), strict=True)):
        yes = k in accepted
        why = None if yes else _WHY if k in hopeful else _HOPELESS
        instant = simplest(at) if instance.exact else float(at)
        decisions.append(Decision(request.id, yes, instant, why))
    return Solution(
        tuple(decisions),
        tuple(
            Share(instance.requests[k].id, part, machine, simplest(cpu) if exactly else ceiled(cpu))
            for k, part, machine, cpu in held
        ),
    )


def _shares(case: Case, held: Held) -> list[tuple[int, int, int, Fraction]]:
    return [
        (case.wishes[case.jobs[i].wish].request, case.jobs[i].part, machine, units * case.unit)
        for i, (machine, units) in held.items()
    ]


def _possible(case: Case) -> set[int]:
    return {wish.request for wish in case.wishes}


def cpu_is_exact(instance: Instance) -> bool:
    """Tell whether no amount of CPU is a float, so that shares need not be floats.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> cpu_is_exact(Instance((Machine("m", 5),), (Request("r", 0, 0.5, 1.5, 1, (Part(3),)),)))
    True
    """
    amounts = [value for machine in instance.machines for _, value in machine.steps]
    amounts += [one.cpu for one in instance.holdings]
    for request in instance.requests:
        for part in request.parts:
            amounts += [part.cpu, part.least, *(share for share, _ in part.benefit)]
    return is_exact(amounts)


def ceiled(number: Fraction) -> float:
    """Return the least float that stands for at least so much.

    Rounded down, a share could fall below a jump of its benefit, or below the least one.

    Examples
    --------
    >>> ceiled(Fraction(7, 5)), exact(ceiled(Fraction(2, 3))) > Fraction(2, 3)
    (1.4, True)
    """
    near = float(number)
    return near if exact(near) >= number else math.nextafter(near, math.inf)


def floored(number: Fraction) -> float:
    """Return the largest float that stands for at most so much.

    Examples
    --------
    >>> floored(Fraction(7, 5)), exact(floored(Fraction(1, 3))) < Fraction(1, 3)
    (1.4, True)
    """
    return -ceiled(-number)


def valid_plan(case: Case, held: Held) -> Solution | None:
    """Return what is held as a plan that `check` accepts, if that needs no other choices.

    Where units are finer than what `check` allows, machines may hold more than is free. Then shares
    fall as far as they can: on their pieces or, if only acceptance counts, below the least CPU, as
    far as that is allowed; then there is always a plan.
    """
    if not case.spare:
        return plan_of(case, held)
    steps = {i: [p.low for p in case.jobs[i].pieces if p.low <= n] for i, (_, n) in held.items()}
    lower = {i: (j, max(steps[i][-1], units - case.spare)) for i, (j, units) in held.items()}
    for units in (held, lower):
        plan = plan_of(case, units)
        if not overloads(case.instance, plan):
            return plan
    if "benefit" in case.levels:
        return None
    short = 1 - exact(FLOATING) - ROUNDING
    least = {i: (j, case.jobs[i].least) for i, (j, _) in held.items()}
    return solution_of(
        case.instance,
        [(k, part, j, cpu * short) for k, part, j, cpu in _shares(case, least)],
        _possible(case),
        rounded=False,
    )


def overloads(instance: Instance, plan: Solution) -> bool:
    """Tell whether a plan in floats takes more of a machine than is free, by more than may be.

    That is FLOATING times the least CPU that any part asks for, and 64 units in the last place of
    the most. Where holdings exceed a capacity, nothing is free. Complexity: O(n log n).
    """
    asked = [exact(part.cpu) for request in instance.requests for part in request.parts]
    allowed = exact(FLOATING) * min(asked) + ROUNDING * max(asked)
    windows = {one.id: (exact(one.start), exact(one.end)) for one in instance.requests}
    turns: list[dict[Fraction, list[Fraction]]] = [{} for _ in instance.machines]

    def turn(machine: int, instant: Fraction, kind: int, by: Fraction) -> None:
        turns[machine].setdefault(instant, [Fraction(0)] * 3)[kind] += by

    for j, machine in enumerate(instance.machines):
        before = Fraction(0)
        for at, value in machine.steps:
            turn(j, exact(at), 0, exact(value) - before)
            before = exact(value)
    for one in instance.holdings:
        turn(one.machine, exact(one.start), 1, exact(one.cpu))
        turn(one.machine, exact(one.end), 1, -exact(one.cpu))
    for share in plan.shares:
        start, end = windows[share.request]
        turn(share.machine, start, 2, exact(share.cpu))
        turn(share.machine, end, 2, -exact(share.cpu))
    for own in turns:
        capacity = held = taken = Fraction(0)
        for _, (more, holding, sharing) in sorted(own.items()):
            capacity, held, taken = capacity + more, held + holding, taken + sharing
            if taken - max(capacity - held, Fraction(0)) > allowed:
                return True
    return False


def held_of(case: Case, plan: Solution | None) -> dict[int, tuple[int, int]]:
    """Return what a plan holds, in whole units; nothing if there is no room for it or no plan."""
    instance = case.instance
    slack = exact(0 if instance.exact else SOLVER)
    if plan is None:
        return {}
    places = {
        (instance.requests[case.wishes[job.wish].request].id, job.part): i
        for i, job in enumerate(case.jobs)
    }
    held = {}
    for share in plan.shares:
        i = places.get((share.request, share.part))
        if i is None or i in held:
            return {}
        most = instance.requests[case.wishes[case.jobs[i].wish].request].parts[share.part].cpu
        units = int(min(exact(share.cpu) / case.unit + slack, exact(most) / case.unit))
        held[i] = share.machine, max(units, case.jobs[i].least)
    return held if fits(case, held) else {}


def fits(case: Case, held: Held) -> bool:
    """Tell whether what is held is a plan: all of a request or nothing, and room for it."""
    free = [list(one) for one in case.free]
    for i, (machine, units) in held.items():
        job = case.jobs[i]
        if machine not in job.machines or units < job.least:
            return False
        for t in range(job.start, job.end):
            free[machine][t] -= units
    whole = all(
        all(i in held for i in case.wishes[k].jobs) for k in {case.jobs[i].wish for i in held}
    )
    return whole and min(map(min, free)) >= 0


def worth_of(instance: Instance, plan: Solution, goal: str) -> Value:
    """Return what a plan is worth, in the kind of the instance's numbers."""
    value = claimed_value(instance, plan, goal)
    if isinstance(value, tuple):
        return tuple(number_of(instance, exact(level)) for level in value)
    return number_of(instance, exact(value))


def number_of(instance: Instance, value: Fraction) -> Number:
    """Return a number in the kind of the instance's: exact, or a float, but for whole ones."""
    plain = simplest(value)
    return plain if instance.exact or isinstance(plain, int) else float(plain)


def bound_of(case: Case, level: str, bound: Fraction) -> Number:
    """Return the bound of a level, given one such that more is better.

    A float is rounded such that the bound holds. What `check` allows of the benefit is added
    where it is more than the tolerance of an answer in floats.
    """
    instance = case.instance
    if level == "benefit" and case.allowance > exact(SOLVER) * bound:
        bound += case.allowance
    plain = simplest(signed(level, bound))
    if instance.exact or isinstance(plain, int):
        return plain
    return ceiled(exact(plain)) if level == "benefit" else floored(exact(plain))
