"""A plain CP-SAT model of co-reservation, with which `exact` is compared.

It shares nothing with dlopt's models: a Boolean for each part and machine, a capacity constraint
for each machine and start, and segments of benefit functions. Its objective is rounded up where it
has no integer scaling, so that its bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, lcm
from typing import Any

from ortools.sat.python import cp_model

from dlopt.arithmetic import exact
from dlopt.problems.coreservation import Instance

LARGEST = 1 << 46
"""Largest value of the scaled objective."""


@dataclass(frozen=True, slots=True)
class ReferenceAnswer:
    """A value that is attained, and a bound; both None if nothing was found."""

    value: Fraction | None
    bound: Fraction | None
    proven: bool


def solve(instance: Instance, objective: str, seconds: float, seed: int = 0) -> ReferenceAnswer:
    """Solve one objective, ``benefit`` or ``rejections``, on one thread.

    Machines have one capacity, and there are no holdings.
    """
    model = cp_model.CpModel()
    unit = _common_unit(instance)
    priorities = [exact(request.priority) for request in instance.requests]
    rows: dict[tuple[int, Fraction], list[Any]] = {}
    starts = {exact(request.start) for request in instance.requests}
    terms: list[tuple[Fraction, Any]] = []
    for k, request in enumerate(instance.requests):
        accept = model.new_bool_var(f"accept{k}")
        weight = priorities[k] / sum(priorities) / len(request.parts)
        if objective == "rejections":
            terms.append((Fraction(1), accept))
        active = [t for t in starts if exact(request.start) <= t < exact(request.end)]
        for part in request.parts:
            cpu, least = int(exact(part.cpu) / unit), int(exact(part.least) / unit)
            amounts, choices = [], []
            for j in range(len(instance.machines)) if part.machine is None else [part.machine]:
                choices.append(model.new_bool_var(f"on{k},{j}"))
                amount: Any = cpu * choices[-1]
                if least < cpu:
                    amount = model.new_int_var(0, cpu, f"amount{k},{j}")
                    model.add(amount >= least * choices[-1])
                    model.add(amount <= cpu * choices[-1])
                amounts.append(amount)
                for t in active:
                    rows.setdefault((j, t), []).append(amount)
            model.add_exactly_one([*choices, accept.negated()])
            if objective == "benefit":
                terms += _benefit(model, part, cpu, weight, accept, sum(amounts))
    for (j, _), amounts in rows.items():
        model.add(sum(amounts) <= int(exact(instance.machines[j].steps[0][1]) / unit))
    factor = lcm(*(weight.denominator for weight, _ in terms))
    if factor * sum((weight for weight, _ in terms), Fraction(0)) > LARGEST:
        factor = LARGEST
    model.maximize(sum(ceil(weight * factor) * variable for weight, variable in terms))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return ReferenceAnswer(None, None, False)
    value = sum((weight * solver.value(variable) for weight, variable in terms), Fraction(0))
    bound = Fraction(ceil(solver.best_objective_bound - 1e-6)) / factor
    if objective == "rejections":
        count = len(instance.requests)
        value, bound = count - value, max(count - bound, Fraction(0))
    return ReferenceAnswer(value, bound, status == cp_model.OPTIMAL)


def _benefit(
    model: Any, part: Any, cpu: int, weight: Fraction, accept: Any, share: Any
) -> list[tuple[Fraction, Any]]:
    """Return the benefit of a part as terms: a segment is chosen, and a share above its low end."""
    points = [(int(exact(x) * cpu), exact(y)) for x, y in part.benefit]
    chosen: list[Any] = []
    terms: list[tuple[Fraction, Any]] = []
    shares: Any = 0
    for (low, base), (high, top) in pairwise([*points, points[-1]]):
        on = model.new_bool_var("segment")
        extra = model.new_int_var(0, high - low, "extra")
        model.add(extra <= (high - low) * on)
        shares += low * on + extra
        chosen.append(on)
        terms.append((weight * base, on))
        if high > low:
            terms.append((weight * (top - base) / (high - low), extra))
    model.add_exactly_one([*chosen, accept.negated()])
    model.add(share == shares)
    return terms


def _common_unit(instance: Instance) -> Fraction:
    """Return a CPU of which all ends of segments and capacities are multiples."""
    numbers = [exact(machine.steps[0][1]) for machine in instance.machines]
    for request in instance.requests:
        for part in request.parts:
            numbers += [exact(part.least), *(exact(x) * exact(part.cpu) for x, _ in part.benefit)]
    return Fraction(1, lcm(*(number.denominator for number in numbers)))
