"""From what the models hold to plans as the rules see them, and back."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dlopt.arithmetic import SOLVER, Number, exact, simplest
from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.worth import Held
from dlopt.problems.coreservation import (
    Decision,
    Instance,
    Share,
    Solution,
    batch_times,
    objective,
    violations,
)
from dlopt.result import Value

_WHY = "no plan that was found is better with it"
_HOPELESS = "some part fits on no machine, even alone"


def plan_of(case: Case, held: Held) -> Solution:
    """Return what is held as a plan; each request is decided with its batch."""
    shares = [
        (case.wishes[case.jobs[i].wish].request, case.jobs[i].part, machine, units * case.unit)
        for i, (machine, units) in held.items()
    ]
    return solution_of(
        case.instance, shares, {case.wishes[k].request for k in range(len(case.wishes))}
    )


def solution_of(
    instance: Instance,
    shares: Iterable[tuple[int, int, int, Fraction]],
    possible: Iterable[int] = (),
) -> Solution:
    """Return shares, as (request, part, machine, CPU), as a plan with its decisions."""
    held = sorted(shares)
    accepted, hopeful = {one[0] for one in held}, set(possible)
    decisions, exactly = [], instance.exact
    for k, (request, at) in enumerate(zip(instance.requests, batch_times(instance), strict=True)):
        yes = k in accepted
        why = None if yes else _WHY if k in hopeful else _HOPELESS
        decisions.append(Decision(request.id, yes, _number(exactly, at), why))
    return Solution(
        tuple(decisions),
        tuple(
            Share(instance.requests[k].id, part, machine, _number(exactly, cpu))
            for k, part, machine, cpu in held
        ),
    )


def held_of(case: Case, plan: Solution | None) -> dict[int, tuple[int, int]]:
    """Return what a plan holds, in whole units; nothing if it breaks the rules or is none."""
    instance = case.instance
    slack = exact(0 if instance.exact else SOLVER)
    if plan is None or violations(instance, plan, float(slack)):
        return {}
    places = {
        (instance.requests[case.wishes[job.wish].request].id, job.part): i
        for i, job in enumerate(case.jobs)
    }
    held = {}
    for share in plan.shares:
        i = places[share.request, share.part]
        units = int(exact(share.cpu) / case.unit + slack)
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


def _number(exactly: bool, value: Fraction) -> Number:
    return simplest(value) if exactly else float(value)


def worth_of(instance: Instance, plan: Solution, goal: str) -> Value:
    """Return what a plan is worth, in the kind of the instance's numbers."""
    value = objective(instance, plan, goal)
    if isinstance(value, tuple):
        return tuple(number_of(instance, exact(level)) for level in value)
    return number_of(instance, exact(value))


def number_of(instance: Instance, value: Fraction) -> Number:
    """Return a number in the kind of the instance's: exact, or a float, but for whole ones."""
    plain = simplest(value)
    return plain if instance.exact or isinstance(plain, int) else float(plain)
