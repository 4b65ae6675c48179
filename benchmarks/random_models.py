"""Random small models for CP-SAT, with the kinds of constraints that the library uses, and more.

Each is solved under several settings. An answer is *refuted* by a solution that another setting
found and that it excludes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from ortools.sat.python import cp_model

from benchmarks.solver_settings import CP_SAT, SAME, SolverAnswer, SolverClaim, ask

SETTINGS = (SAME, "OR-Tools' own", "removing solutions", "disjunctive", "no presolve")
"""Those of `CP_SAT` that are compared."""
SECONDS = 5.0
"""Time limit of a solve."""


def linear(draw: random.Random) -> Any:
    """Return a model of Booleans in groups, and of linear rules that overlap each other."""
    return _linear(draw, gaps=False)


def gaps(draw: random.Random) -> Any:
    """Return such a model, some of whose sums may take values with gaps between them."""
    return _linear(draw, gaps=True)


def _linear(draw: random.Random, *, gaps: bool) -> Any:
    model = cp_model.CpModel()
    flags = [model.new_bool_var(f"b{i}") for i in range(draw.randint(5, 22))]
    numbers = [
        model.new_int_var(draw.randint(-3, 0), draw.randint(1, 12), f"x{i}")
        for i in range(draw.randint(0, 3))
    ]
    literals = [flag if draw.random() < 0.8 else ~flag for flag in flags]
    groups = []
    first = 0
    while first < len(literals):
        size = draw.randint(2, 6)
        groups.append(literals[first : first + size])
        first += size
    for group in list(groups):
        if draw.random() < 0.3 and len(group) > 1:
            groups.append(draw.sample(group, draw.randint(2, len(group))))
        if draw.random() < 0.3:
            groups.append([*group, *draw.sample(literals, 1)])
    for group in groups:
        _relate(model, draw, [*dict.fromkeys(group)])
    for _ in range(draw.randint(2, 9)):
        terms = [one for some in draw.sample(groups, min(2, len(groups))) for one in some]
        terms = [*dict.fromkeys(terms), *draw.sample(numbers, draw.randint(0, len(numbers)))]
        factors = [draw.choice((1, 1, 1, 2, 3, -1, -2)) for _ in terms]
        total = sum(factor * term for factor, term in zip(factors, terms, strict=True))
        ends = sum(f for f in factors if f < 0), sum(f for f in factors if f > 0)
        rule = _bounded(model, draw, total, ends, gaps)
        if draw.random() < 0.3:
            rule.only_enforce_if(draw.sample(literals, draw.randint(1, 2)))
    if draw.random() < 0.85:
        model.minimize(sum(draw.choice((0, 1, draw.randint(-9, 9))) * x for x in flags + numbers))
    return model


def _relate(model: Any, draw: random.Random, group: list[Any]) -> None:
    kind = draw.randrange(6)
    if kind == 0:
        model.add_at_most_one(group)
    elif kind == 1:
        model.add_exactly_one(group)
    elif kind == 2:
        model.add(sum(group) <= 1)
    elif kind == 3:
        model.add(sum(group) == 1)
    elif kind == 4:
        model.add_bool_or(group)
    else:
        model.add(sum(group) <= 2)


def _bounded(model: Any, draw: random.Random, total: Any, ends: Any, gaps: bool) -> Any:
    at, kind = draw.randint(*ends), draw.randrange(4)
    if kind == 0:
        return model.add(total <= at)
    if kind == 1:
        return model.add(total >= at)
    if kind == 2 or not gaps:
        return model.add_linear_constraint(total, at - draw.randint(0, 3), at)
    values = [draw.randint(*ends) for _ in range(4)]
    return model.add_linear_expression_in_domain(total, cp_model.Domain.from_values(values))


def intervals(draw: random.Random) -> Any:
    """Return a model of jobs that run on one machine, or on none, between what is reserved."""
    model = cp_model.CpModel()
    horizon, machines = draw.randint(6, 25), draw.randint(1, 3)
    rows: list[list[Any]] = [[] for _ in range(machines)]
    starts, ends, accepted, placed = [], [], [], []
    for job in range(draw.randint(2, 6)):
        start = model.new_int_var(draw.randint(0, 4), horizon, f"s{job}")
        end = model.new_int_var(0, horizon + 6, f"e{job}")
        taken = model.new_bool_var(f"a{job}")
        on = []
        for machine, row in enumerate(rows):
            here, length = model.new_bool_var(f"p{job}_{machine}"), draw.randint(1, 6)
            if draw.random() < 0.5:
                row.append(model.new_optional_fixed_size_interval_var(start, length, here, ""))
            else:
                row.append(model.new_optional_interval_var(start, length, end, here, ""))
            model.add(end >= start + length).only_enforce_if(here)
            on.append(here)
        if draw.random() < 0.4:
            model.add_exactly_one(on)
        else:
            model.add(sum(on) == taken)
        if draw.random() < 0.4:
            model.add(end <= draw.randint(4, horizon)).only_enforce_if(taken)
        starts.append(start)
        ends.append(end)
        accepted.append(taken)
        placed.append(on)
    for row in rows:
        reserved = [
            model.new_fixed_size_interval_var(draw.randint(0, horizon), draw.randint(1, 4), "")
            for _ in range(draw.randint(0, 2))
        ]
        held = [*row, *reserved]
        if draw.random() < 0.6:
            model.add_no_overlap(held)
        else:
            model.add_cumulative(held, [draw.randint(1, 3) for _ in held], draw.randint(3, 4))
    for _ in range(draw.randint(0, 4)):
        one, other = draw.sample(range(len(starts)), 2)
        rule = model.add(starts[other] >= ends[one] + draw.randint(0, 2))
        if draw.random() < 0.6:
            rule.only_enforce_if(draw.choice(placed[one]), draw.choice(placed[other]))
    kind = draw.randrange(4)
    if kind < 2:
        last = model.new_int_var(0, horizon + 6, "C")
        if kind:
            model.add_max_equality(last, ends)
        else:
            for end in ends:
                model.add(last >= end)
        model.minimize(last)
    elif kind == 2:
        model.minimize(sum(ends))
    else:
        model.maximize(sum(draw.randint(1, 9) * one for one in accepted))
    return model


KINDS: Mapping[str, Callable[[random.Random], Any]] = {
    "linear": linear,
    "linear with gaps": gaps,
    "intervals": intervals,
}


def compare(count: int, seed: int) -> int:
    """Solve so many models of each kind and print whose answers were refuted.

    Returns
    -------
    int
        1 if an answer was under the settings of the library, else 0.
    """
    print(f"{'models':18} {'how many':>8} {'solvable':>8}  refuted: " + ", ".join(SETTINGS))
    wrong = 0
    for kind, make in KINDS.items():
        refuted, solvable = dict.fromkeys(SETTINGS, 0), 0
        for number in range(count):
            model = make(random.Random(f"{seed} {number}"))
            answers = {name: ask(model, CP_SAT[name], SECONDS) for name in SETTINGS}
            solvable += any(answer.found for answer in answers.values())
            sign = 1 if model.has_objective() and model.proto.objective.scaling_factor < 0 else -1
            for name in refuted_by_others(answers, sign):
                refuted[name] += 1
        wrong += refuted[SAME]
        counts = ", ".join(str(many) for many in refuted.values())
        print(f"{kind:18} {count:8} {solvable:8}  {counts}", flush=True)
    return 1 if wrong else 0


def refuted_by_others(answers: Mapping[str, SolverAnswer], sign: int) -> list[str]:
    """Return the settings under which a solution is excluded that another one has found."""
    found = []
    for name, answer in answers.items():
        others = (
            SolverAnswer(other.status, other.found, other.value)  # its solution, not what it proves
            for own, other in answers.items()
            if own != name and other.found
        )
        claim = SolverClaim(
            "", SolverAnswer(answer.status, False, None, answer.bound), sign, 0.0, {}
        )
        if any(claim.verdict(other) == "disagree" for other in others):
            found.append(name)
    return found
