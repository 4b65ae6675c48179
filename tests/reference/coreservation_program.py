"""Whether the program of a certificate of `coreservation` holds for every plan of the instance.

`x_k` is 1 if request `k` is accepted, `y_k_p_g_l_h` if its part `p` is on machine group `g` with
`l` to `h` units of CPU, `r_k_p_g_l_h` how many of them are above `l`, `m_j` is 1 if machine `j` is
used, and `w` if both levels are as stated: the first one as good, the second one better.
A plan is a point of the program once each part is given a column that takes no more CPU and has no
less benefit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from tests.reference.coreservation_knapsacks import holds_for_knapsack
from tests.reference.numbers import integer_remark, is_exact, number, remark
from tests.reference.vipr import INDEX, File, RefusedError, Row, indices_of

NEARLY, ROUNDED = Fraction(1, 10**9), Fraction(1, 2**46)
"""Relative: by this and that a plan in floats may exceed a machine, or fall short of a share."""


@dataclass(frozen=True)
class Column:
    """The meaning of a variable; which fields are used depends on the kind, a letter."""

    kind: str
    request: int = -1
    part: int = -1
    group: int = -1
    low: int = 0
    high: int = 0

    @property
    def option(self) -> Column:
        """The column `y` that belongs to a column `r`, or itself."""
        return Column("y", self.request, self.part, self.group, self.low, self.high)


def _column(name: str) -> Column:
    letter, *words = name.split("_")
    counts = {"x": 1, "y": 5, "r": 5, "m": 1, "w": 0}
    if counts.get(letter) != len(words):
        raise RefusedError(f"the name {name} is not one of the program")
    return Column(letter, *map(int, words))


class Program:
    """The instance in units of CPU, and what the rows are checked against."""

    def __init__(self, data: dict[str, Any], objective: str, file: File) -> None:
        self.data, self.objective, self.file = data, objective, file
        self.levels = objective.split("-then-")
        self.unit, self.machines = remark(file, "unit"), data["machines"]
        if self.unit <= 0:
            raise RefusedError("the unit is not positive")
        self.rejections = integer_remark(file, "rejections")
        words = file.remarks.get("groups", "").split()
        if len(words) != len(self.machines) or not all(map(INDEX.fullmatch, words)):
            raise RefusedError("not each machine has a group")
        self.groups = [int(word) for word in words]
        self.requests = data["requests"]
        cpus = [number(part["cpu"]) for request in self.requests for part in request["parts"]]
        self.overload, self.shortfall = Fraction(0), Fraction(1)
        if not is_exact(data):
            self.overload = NEARLY * min(cpus) + ROUNDED * max(cpus)
            self.shortfall = 1 - NEARLY - ROUNDED
        self.columns = [_column(name) for name in file.variables]
        for column in self.columns:
            self._check_column(column)
        self.options: dict[tuple[int, int], list[Column]] = {}
        for column in self.columns:
            if column.kind == "y":
                self.options.setdefault((column.request, column.part), []).append(column)

    @cached_property
    def possible(self) -> list[int]:
        """Requests of which every part has room somewhere: no others can be accepted."""
        numbers = [(k, range(len(request["parts"]))) for k, request in enumerate(self.requests)]
        return [k for k, parts in numbers if all(any(self.shares(k, p)) for p in parts)]

    def _check_column(self, column: Column) -> None:
        known = True
        if column.kind in "xyr":
            known = column.request < len(self.requests)
        if column.kind in "yr":
            known = known and column.part < len(self.requests[column.request]["parts"])
            known = known and column.group in self.groups and column.low <= column.high
        if column.kind == "r":
            known = known and column.option in self.columns
        if column.kind == "m":
            known = column.request < len(self.machines)
        if not known:
            raise RefusedError("a variable has no meaning in this instance")

    # -- the instance -------------------------------------------------------------------------

    def instants(self) -> set[Fraction]:
        """When a request starts, or a machine has another capacity."""
        found = {Fraction(0)} | {number(request["start"]) for request in self.requests}
        for machine in self.machines:
            if isinstance(machine["capacity"], list):
                found |= {number(start) for start, _ in machine["capacity"]}
        for holding in self.data.get("holdings", ()):
            found |= {number(holding["start"]), number(holding["end"])}
        return found

    def free(self, machine: int, instant: Fraction) -> Fraction:
        """CPU that can be reserved at an instant, in units; of floats with the tolerance."""
        capacity = self.machines[machine]["capacity"]
        steps = capacity if isinstance(capacity, list) else [[0, capacity]]
        found = [number(value) for start, value in steps if number(start) <= instant][-1]
        for holding in self.data.get("holdings", ()):
            if holding["machine"] == machine and _contains(holding, instant):
                found -= number(holding["cpu"])
        return (max(Fraction(0), found) + self.overload) / self.shortfall / self.unit

    def room(self, request: dict[str, Any], machine: int) -> Fraction:
        """What is free on a machine in all of the window of a request."""
        start = number(request["start"])
        instants = {start} | {t for t in self.instants() if _contains(request, t)}
        return min(self.free(machine, instant) for instant in instants)

    def shares(self, k: int, p: int) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Yield each group that a part may be on, with the least and the largest share there."""
        part = self.requests[k]["parts"][p]
        cpu, least = number(part["cpu"]), part.get("cpu_min")
        low = cpu / self.unit if least is None else number(least) / self.unit
        for group in sorted(set(self.groups)):
            machines = [m for m, other in enumerate(self.groups) if other == group]
            if part.get("machine") is not None:
                machines = [m for m in machines if m == part["machine"]]
            most = max((self.room(self.requests[k], m) for m in machines), default=Fraction(-1))
            if most >= low:
                yield group, low, min(most, cpu / self.unit)

    def pieces(self, k: int, p: int) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Yield linear pieces of the benefit of a part: shares and benefits of both ends.

        The benefit is that part of the objective: weighted by the priority of its request.
        """
        parts = self.requests[k]["parts"]
        total = sum(number(request["priority"]) for request in self.requests)
        weight = number(self.requests[k]["priority"]) / total / len(parts)
        cpu = number(parts[p]["cpu"]) / self.unit
        points = parts[p].get("benefit", [[0, 0], [1, 0], [1, 1]])
        ends = [(number(share) * cpu, number(benefit) * weight) for share, benefit in points]
        for (left, below), (right, above) in pairwise(ends):
            yield left, right, below, above

    # -- rows ---------------------------------------------------------------------------------

    def check_row(self, row: Row) -> None:
        """Raise where a row might not hold for the point of a plan."""
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        sign = 1 if row.sense == "L" else -1
        terms = {self.columns[v]: sign * value for v, value in row.terms.items()}
        rules, most = (self.holds_for_part, self.holds_for_capacity), sign * row.rhs
        holds = any(rule(row, terms, most) for rule in (*rules, self.holds_for_level))
        if not holds and not holds_for_knapsack(self, terms, most):
            raise RefusedError(f"row {row.name} does not hold for every plan")

    def holds_for_part(self, _: Row, terms: dict[Column, Fraction], most: Fraction) -> bool:
        """By what one part may get; or whatever a single variable, 0 or 1, is."""
        if most < 0:
            return False
        if all(column.kind in "wm" or value <= 0 for column, value in terms.items()):
            return sum(value for value in terms.values() if value > 0) <= most
        parts = {(c.request, c.part) for c in terms if c.kind in "yr"}
        requests = {c.request for c in terms if c.kind in "xyr"}
        if len(parts) > 1 or len(requests) > 1 or any(c.kind in "wm" for c in terms):
            return False
        for k in requests:
            parts = parts or {(k, 0)}
        at_one = terms.get(Column("x", *requests), Fraction(0))
        for option in self.options.get(next(iter(parts), (-1, -1)), []):
            more = terms.get(Column("r", *_fields(option)), Fraction(0)) * (
                option.high - option.low
            )
            if at_one + terms.get(option, Fraction(0)) + max(more, Fraction(0)) > most:
                return False
        return True

    def holds_for_capacity(self, row: Row, terms: dict[Column, Fraction], most: Fraction) -> bool:
        """By what is free on a group at an instant; of `count`, of multiples of some units."""
        divisor = 0
        if row.name.startswith("count_"):
            divisor = next(iter(indices_of(row.name, 3)[2:]), 0)
        if all(column.kind != "r" for column in terms):
            divisor = divisor or 1
        groups = {c.group for c in terms if c.kind in "yr"}
        if len(groups) != 1 or any(c.kind in "xw" for c in terms):
            return False
        return any(
            self._fits(terms, most, *groups, instant, divisor) for instant in self.instants()
        )

    def _fits(
        self,
        terms: dict[Column, Fraction],
        most: Fraction,
        group: int,
        instant: Fraction,
        divisor: int,
    ) -> bool:
        """Whether a row holds at an instant; the divisor is 0 if shares need not be whole."""
        for column, value in terms.items():
            if column.kind in "yr":
                active = _contains(self.requests[column.request], instant)
                uses = column.low // divisor if divisor else column.low
                if column.kind == "r":
                    uses = 0 if divisor else 1
                if value > (uses if active else 0):
                    return False
            elif value > 0:
                return False
        least = min(column.low for column in terms if column.kind in "yr")
        for machine, other in enumerate(self.groups):
            free = self.free(machine, instant)
            if other == group and free >= least:  # others take none of the parts
                if divisor:
                    free = Fraction(free // divisor)
                used = terms.get(Column("m", machine))
                if used is None:
                    most -= free
                elif -used < free:
                    return False
        return most >= 0

    def holds_for_level(self, _: Row, terms: dict[Column, Fraction], most: Fraction) -> bool:
        """By what `w` says: the benefit is as large as claimed, and fewer requests rejected."""
        stated, claim = self.rejections, self.file.claim
        factor = terms.get(Column("w"), Fraction(0))
        if (
            self.objective != "benefit-then-rejections"
            or most < 0
            or stated is None
            or claim is None
        ):
            return False
        others = {column: -value for column, value in terms.items() if column.kind != "w"}
        if any(value < 0 for value in others.values()):
            return False
        if all(column.kind == "x" for column in others):
            counts = all(others.get(Column("x", k), 0) >= 1 for k in self.possible)
            return counts and factor <= len(self.requests) - stated + 1
        return factor <= -claim and self.counts_benefit(others)

    def is_active(self, column: Column, instant: Fraction) -> bool:
        """Whether a part may be somewhere at an instant."""
        return _contains(self.requests[column.request], instant)

    # -- objective ----------------------------------------------------------------------------

    def check_coverage(self, benefits: dict[Column, Fraction] | None) -> None:
        """Each share of each part has a column that takes no more, and counts no less."""
        for k in self.possible:
            for p in range(len(self.requests[k]["parts"])):
                for group, low, high in self.shares(k, p):
                    if not self._is_covered(k, p, group, (low, high), benefits):
                        raise RefusedError(f"a share of part {p} of request {k} has no column")

    def counts_benefit(self, benefits: dict[Column, Fraction]) -> bool:
        """Whether the coefficients count the benefit of every plan."""
        try:
            self.check_coverage(benefits)
        except RefusedError:
            return False
        return True

    def _is_covered(
        self,
        k: int,
        p: int,
        group: int,
        span: tuple[Fraction, Fraction],
        benefits: dict[Column, Fraction] | None,
    ) -> bool:
        options = [option for option in self.options.get((k, p), []) if option.group == group]
        if benefits is None:
            return any(option.low <= span[0] for option in options)
        for left, right, below, above in self.pieces(k, p):
            low, high = max(left, span[0]), min(right, span[1])
            if low > high or (left == right and low != left):
                continue
            slope = (above - below) / (right - left) if right > left else Fraction(0)
            if left == right:
                wanted = [(left, above)]
            else:
                wanted = [
                    (low, below + slope * (low - left)),
                    (high, below + slope * (high - left)),
                ]
            if not any(self._dominates(option, wanted, benefits) for option in options):
                return False
        return True

    def _dominates(
        self,
        option: Column,
        wanted: list[tuple[Fraction, Fraction]],
        benefits: dict[Column, Fraction],
    ) -> bool:
        """Whether an option takes no more, counts no less at both ends of a piece: so between."""
        base = benefits.get(option, Fraction(0))
        slope = max(Fraction(0), benefits.get(Column("r", *_fields(option)), Fraction(0)))
        return option.low <= wanted[0][0] and all(
            base + slope * (min(share, option.high) - option.low) >= benefit
            for share, benefit in wanted
        )

    def weights(self, level: str) -> list[Fraction]:
        """Of each request, what its rejection adds to a level."""
        if level == "rejections":
            return [Fraction(1) for _ in self.requests]
        return [number(request["priority"]) for request in self.requests]

    def bound(self) -> tuple[Fraction, ...]:
        """Return the bound that the claim is, one number for each level."""
        if self.file.claim is None:
            raise RefusedError("the claim is no bound")
        terms = {self.columns[v]: -value for v, value in self.file.objective.items()}
        shares = {c: value for c, value in terms.items() if c.kind in "yr"}
        if any(value < 0 for value in shares.values()):
            raise RefusedError("a share makes the objective worse")
        self.check_coverage(shares if "benefit" in self.levels else None)
        if self.levels[0] == "benefit":
            return self._bound_of_benefit(terms)
        return self._bound_of_rejections(terms)

    def _bound_of_benefit(self, terms: dict[Column, Fraction]) -> tuple[Fraction, ...]:
        claim = self.file.claim
        assert claim is not None
        if any(column.kind in "xm" and value < 0 for column, value in terms.items()):
            raise RefusedError("the objective of the program is not above the benefit")
        if len(self.levels) == 1:
            if terms.get(Column("w"), 0) < 0:
                raise RefusedError("the objective of the program is not above the benefit")
            return (-claim,)
        if self.rejections is None or terms.get(Column("w"), 0) <= 0:
            raise RefusedError("the second level is not part of the objective")
        return -claim, Fraction(self.rejections)

    def _bound_of_rejections(self, terms: dict[Column, Fraction]) -> tuple[Fraction, ...]:
        """Decode the weighted sum of accepted requests and the second level."""
        claim, weights = self.file.claim, self.weights(self.levels[0])
        assert claim is not None
        if any(column.kind == "w" for column in terms):
            raise RefusedError("both levels are in one objective")
        factors = [terms.get(Column("x", k), Fraction(0)) / weights[k] for k in self.possible]
        factor = min(factors, default=Fraction(1))
        if factor <= 0:
            raise RefusedError("a request is not in the objective")
        machines = [-terms.get(Column("m", m), Fraction(0)) for m in range(len(self.machines))]
        if any(value < 0 for value in machines):
            raise RefusedError("a machine that is used makes the objective better")
        step = _common_divisor(weights)
        most = (-claim + sum(machines)) / factor  # accepted weight, at most
        accepted = min(most // step * step, sum(weights, Fraction(0)))
        first = sum(weights, Fraction(0)) - accepted
        if len(self.levels) == 1:
            return (first,)
        if self.levels[1] == "benefit":
            return first, -claim - factor * accepted + sum(machines)
        each = max(machines)
        if each <= 0:
            return first, Fraction(0)
        return first, Fraction(max(0, math.ceil((factor * accepted + claim) / each)))


def _contains(window: dict[str, Any], instant: Fraction) -> bool:
    return number(window["start"]) <= instant < number(window["end"])


def _fields(option: Column) -> tuple[int, int, int, int, int]:
    return option.request, option.part, option.group, option.low, option.high


def _common_divisor(weights: list[Fraction]) -> Fraction:
    denominator = math.lcm(*(weight.denominator for weight in weights))
    return Fraction(math.gcd(*(int(weight * denominator) for weight in weights)), denominator)


def check(data: dict[str, Any], objective: str, file: File) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves."""
    program = Program(data, objective, file)
    if any(program.columns[variable].kind == "r" for variable in file.integral):
        raise RefusedError("shares need not be integers")
    for row in file.rows:
        program.check_row(row)
    return program.bound()
