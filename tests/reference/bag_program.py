"""Whether the program of a certificate of `bag` holds for every schedule of the instance.

A variable `z_j_k_t` is 1 if task `j` runs on machine `k`, on time, and has started by instant `t`;
`y_j_k_q` is 1 if it runs there and `q` others run there after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.numbers import (
    integer_remark,
    is_exact,
    latest,
    number,
    remark,
    units,
)
from tests.reference.vipr import File, RefusedError, Row, Terms, indices_of

PRIORITIES = ("critical", "firm", "soft")
NEVER = 10**40

Steps = dict[tuple[int, int], Fraction]
"""Coefficients by machine and instant (or position)."""


class Program:
    """The instance in units since the origin. `heads` and `durations` are by task and machine."""

    def __init__(self, data: dict[str, Any], objective: str, file: File) -> None:
        self.data, self.objective = data, objective
        self.unit, self.origin = remark(file, "unit"), remark(file, "origin")
        if self.unit <= 0:
            raise RefusedError("the unit is not positive")
        self.makespan = integer_remark(file, "makespan") if objective == "makespan" else None
        self.total = integer_remark(file, "total") if objective == "flowtime" else None
        etc = data.get("etc")
        self.machines = data.get("machines") or [{} for _ in etc[0]]
        self.jobs = data.get("tasks") or [{} for _ in etc]
        self.durations = [self._durations(j) for j in range(len(self.jobs))]
        self.heads = [[self._head(job, m) for m in self.machines] for job in self.jobs]
        if any(begin < 0 for j in range(len(self.jobs)) for begin in self._begins(j)):
            raise RefusedError("a task can start before the origin")
        has_dates = any(job.get("absolute_deadline") is not None for job in self.jobs)
        if has_dates and objective in ("makespan", "flowtime"):
            raise RefusedError("tasks with deadlines may be left out")
        self.lasts = [self._lasts(j) for j in range(len(self.jobs))]

    def in_units(self, time: Fraction) -> int:
        """Rounded down: what takes less time leaves more schedules."""
        return units(time, self.unit)

    def _durations(self, j: int) -> list[int | None]:
        if self.data.get("etc") is not None:
            return [None if x is None else self.in_units(number(x)) for x in self.data["etc"][j]]
        work = number(self.jobs[j]["work"])
        return [self.in_units(work / number(m.get("power", 1))) for m in self.machines]

    def _head(self, job: dict[str, Any], machine: dict[str, Any]) -> int:
        """When the machine is ready, and the input there."""
        sent = number(job.get("release", 0)) - self.origin
        arrived = sent + self._transfer(job, machine.get("site", 0))
        return max(
            self.in_units(arrived), self.in_units(number(machine.get("ready", 0)) - self.origin)
        )

    def _transfer(self, job: dict[str, Any], target: int) -> Fraction:
        """The shortest time in which the input gets to a site, over any number of links."""
        data, home = number(job.get("input", 0)), job.get("site", 0)
        reached = {home: Fraction(0)}
        for _ in self.data.get("sites", ()):
            for link in self.data.get("links", ()):
                takes = number(link.get("latency", 0)) + data / number(link["bandwidth"])
                for one, other in (link["between"], link["between"][::-1]):
                    if one in reached:
                        time = reached[one] + takes
                        reached[other] = min(time, reached.get(other, time))
        return reached[target]

    def _lasts(self, j: int) -> list[int]:
        """The latest start of a task on each machine that the claim, or its deadline, allows."""
        return [self._latest_end(j) - d if d is not None else -1 for d in self.durations[j]]

    def _latest_end(self, j: int) -> int:
        if self.makespan is not None:
            return self.makespan
        if self.total is not None:
            others = [min(self._ends(i)) for i in range(len(self.jobs)) if i != j]
            return self.total - 1 - sum(others)
        deadline = self.jobs[j].get("absolute_deadline")
        if deadline is None:
            return NEVER
        date = number(deadline)
        if not is_exact(self.data):
            date = latest(date, number(self.jobs[j].get("release", 0)), len(self.jobs))
        return self.in_units(date - self.origin)

    def _begins(self, j: int) -> Iterator[int]:
        pairs = zip(self.heads[j], self.durations[j], strict=True)
        return (head for head, duration in pairs if duration is not None)

    def _ends(self, j: int) -> Iterator[int]:
        pairs = zip(self.heads[j], self.durations[j], strict=True)
        return (head + duration for head, duration in pairs if duration is not None)

    def values(self, j: int, steps: Steps) -> Iterator[tuple[int, int, int, Fraction]]:
        """Yield machine, first and last start, and the value of a row for these starts."""
        for k, duration in enumerate(self.durations[j]):
            first, last = self.heads[j][k], self.lasts[j][k]
            if duration is None or last < first:
                continue
            cuts = sorted({t for m, t in steps if m == k and first <= t < last} | {first - 1, last})
            for before, until in pairwise(cuts):
                found = (c for (m, t), c in steps.items() if m == k and t > before)
                yield k, before + 1, until, sum(found, Fraction(0))

    @property
    def must_run(self) -> bool:
        return self.makespan is not None or self.total is not None

    # -- rows of starts -----------------------------------------------------------------------

    def check_row(self, row: Row, steps: dict[int, Steps], most: Fraction) -> None:
        rules = (self.holds_for_task, self.holds_for_work, self.holds_for_total)
        if not any(holds(row, steps, most) for holds in rules):
            raise RefusedError(f"row {row.name} does not hold for every schedule")

    def holds_for_task(self, _: Row, steps: dict[int, Steps], most: Fraction) -> bool:
        """By what one task may do; where it need not run, the row is 0 if it does not."""
        if not steps:  # nothing holds of a task that must run, and cannot
            everybody = range(len(self.jobs))
            return most >= 0 or (
                self.must_run and not all(any(self.values(j, {})) for j in everybody)
            )
        if len(steps) != 1:
            return False
        [(j, terms)] = steps.items()
        if most < 0 and not self.must_run:
            return False
        return all(value <= most for _, _, _, value in self.values(j, terms))

    def holds_for_work(self, row: Row, steps: dict[int, Steps], most: Fraction) -> bool:
        """By the time of a machine between two instants, which the name of the row has."""
        span = indices_of(row.name, 3)
        if not row.name.startswith("capacity_") or not span:
            return False
        machine, start, end = span
        if start >= end or machine >= len(self.machines):
            return False
        ready = self.in_units(number(self.machines[machine].get("ready", 0)) - self.origin)
        if most < max(0, end - max(start, ready)):
            return False
        return all(
            value <= self._work(j, k, machine, (first, last), (start, end))
            for j, terms in steps.items()
            for k, first, last, value in self.values(j, terms)
        )

    def _work(
        self, j: int, k: int, machine: int, starts: tuple[int, int], span: tuple[int, int]
    ) -> int:
        """The least time of a span in which a task with such a start keeps a machine busy."""
        duration = self.durations[j][k]
        if k != machine or duration is None:
            return 0
        return min(max(0, min(span[1], s + duration) - max(span[0], s)) for s in starts)

    def holds_for_total(self, _: Row, steps: dict[int, Steps], most: Fraction) -> bool:
        """By the total of completions, which is less than the claim says."""
        if self.total is None or most < self.total - 1:
            return False
        return all(
            value <= first + (self.durations[j][k] or 0)
            for j, terms in steps.items()
            for k, first, _, value in self.values(j, terms)
        )

    # -- rows of positions --------------------------------------------------------------------

    def check_position_row(self, row: Row, steps: dict[int, Steps], last: dict[int, int]) -> None:
        """`last` has the last position of each machine; rows are as in the file."""
        coefficients = {c for terms in steps.values() for c in terms.values()}
        places = {place for terms in steps.values() for place in terms}
        single = len(steps) == 1 and coefficients <= {1}
        if row.sense == "G" and row.rhs <= 0 and all(c >= 0 for c in coefficients):
            return
        if row.sense == "G" and row.rhs <= 1 and single and places >= self._places(*steps, last):
            return  # the task runs somewhere
        if row.sense == "L" and row.rhs >= 1 and coefficients <= {1}:
            if single or not places:
                return  # a task has one place
            [(machine, place), *others] = places
            if not others and (place < last[machine] or place >= len(self.jobs) - 1):
                return  # a place has one task, unless it stands for later ones
        raise RefusedError(f"row {row.name} does not hold for every assignment to positions")

    def _places(self, j: int, last: dict[int, int]) -> set[tuple[int, int]]:
        can_run = (k for k, duration in enumerate(self.durations[j]) if duration is not None)
        return {(k, q) for k in can_run for q in range(last.get(k, -1) + 1)} | {
            (k, 0) for k, duration in enumerate(self.durations[j]) if duration is not None
        }

    def check_position_costs(self, costs: dict[int, Steps]) -> None:
        """The cost of a task at a position is at most what it adds to the total of completions."""
        for j, terms in costs.items():
            for (k, q), cost in terms.items():
                duration = self.durations[j][k]
                assert duration is not None
                if cost > self._begin(k) + (q + 1) * duration:
                    raise RefusedError(f"the cost of task {j} on machine {k} is too large")

    def _begin(self, machine: int) -> int:
        """When the first task on a machine starts at the earliest."""
        able = (j for j in range(len(self.jobs)) if self.durations[j][machine] is not None)
        return min(self.heads[j][machine] for j in able)

    # -- claim --------------------------------------------------------------------------------

    def weights(self) -> list[int]:
        """What a task on time counts; levels are the digits of a number to the base tasks + 1."""
        base, priorities = len(self.jobs) + 1, [job.get("priority", "firm") for job in self.jobs]
        if self.objective == "accepted":
            return [1 for _ in priorities]
        if self.objective == "critical-then-all":
            return [base + 1 if p == "critical" else 1 for p in priorities]
        if self.objective == "by-priority":
            return [base ** (2 - PRIORITIES.index(p)) for p in priorities]
        raise RefusedError(f"no numbers of tasks on time are a bound on {self.objective}")

    def levels(self, value: Fraction) -> tuple[Fraction, ...]:
        """Return the digits of a combined value."""
        count = {"accepted": 1, "critical-then-all": 2, "by-priority": 3}[self.objective]
        rest, base, found = int(value // 1), len(self.jobs) + 1, []
        for level in reversed(range(count)):
            digit, rest = divmod(rest, base**level) if level else (rest, 0)
            found.append(Fraction(digit))
        return tuple(found)

    def check_objective(self, objective: dict[int, Steps]) -> None:
        """Each task on time takes at least its weight from the objective of the program."""
        for j, weight in enumerate(self.weights()):
            has_deadline = self.jobs[j].get("absolute_deadline") is not None
            for _, _, _, value in self.values(j, objective.get(j, {})):
                if value > (-weight if has_deadline else 0):
                    raise RefusedError(f"the objective leaves out task {j}")

    def released(self) -> Fraction:
        return sum((number(job.get("release", 0)) - self.origin for job in self.jobs), Fraction(0))


def check(data: dict[str, Any], objective: str, file: File) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves."""
    program = Program(data, objective, file)
    if any(name.startswith("y_") for name in file.variables):
        return _check_positions(program, file)
    for row in file.rows:
        sign = 1 if row.sense == "L" else -1
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        program.check_row(row, _by_task(row.terms, file, program, "z", sign), sign * row.rhs)
    if program.must_run:
        return _bound_of_infeasible(program, file)
    program.check_objective(_by_task(file.objective, file, program, "z", 1))
    if file.claim is None:
        raise RefusedError("the claim is no bound")
    always = zip(program.jobs, program.weights(), strict=True)
    constant = sum(weight for job, weight in always if job.get("absolute_deadline") is None)
    return program.levels(-file.claim + constant)


def _bound_of_infeasible(program: Program, file: File) -> tuple[Fraction, ...]:
    if file.claim is not None:
        raise RefusedError("the claim is not that the program is infeasible")
    if program.makespan is not None:
        return (program.origin + program.unit * (program.makespan + 1),)
    assert program.total is not None
    return (program.unit * program.total - program.released(),)


def _check_positions(program: Program, file: File) -> tuple[Fraction, ...]:
    if program.objective != "flowtime" or file.claim is None or program.must_run:
        raise RefusedError(f"positions are no bound on {program.objective}")
    all_terms = {index: Fraction(1) for index in range(len(file.variables))}
    last: dict[int, int] = {}
    for terms in _by_task(all_terms, file, program, "y", 1).values():
        for k, q in terms:
            last[k] = max(q, last.get(k, 0))
    for row in file.rows:
        program.check_position_row(row, _by_task(row.terms, file, program, "y", 1), last)
    program.check_position_costs(_by_task(file.objective, file, program, "y", 1))
    return (program.unit * file.claim - program.released(),)


def _by_task(
    terms: Terms, file: File, program: Program, letter: str, sign: int
) -> dict[int, Steps]:
    found: dict[int, Steps] = {}
    for variable, value in terms.items():
        words = file.variables[variable].split("_")
        if len(words) != 4 or words[0] != letter:
            raise RefusedError(f"the name {file.variables[variable]} is not one of the program")
        j, k, t = map(int, words[1:])
        if j >= len(program.jobs) or k >= len(program.machines) or program.durations[j][k] is None:
            raise RefusedError(
                f"there is no task or machine of variable {file.variables[variable]}"
            )
        found.setdefault(j, {})[k, t] = sign * value
    return found
