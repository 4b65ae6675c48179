"""Whether the program of a certificate of `dag` holds for every schedule of the instance.

A variable `z_j_g_t` is 1 if task `j` has started by instant `t` on machine group `g`. A row is a
sum of step functions, one for each task, of the group where it runs and of its start.
It is accepted if it holds for all groups and starts that one rule of the problem leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.reference.dag_network import Network, cost_of
from tests.reference.numbers import (
    integer_remark,
    is_exact,
    latest,
    number,
    order_of,
    remark,
    sets_of,
    units,
)
from tests.reference.vipr import File, RefusedError, Row, indices_of

NEVER = 10**40
"""An instant after all others, in units."""


@dataclass(frozen=True)
class Choice:
    """A task runs on a group and starts from `first` to `last`: what it adds to a row."""

    group: int
    first: int
    last: int
    value: Fraction


@dataclass
class Task:
    """Durations (None: not there) and `heads`, the earliest starts, are those on each group."""

    graph: int
    durations: list[int | None]
    heads: list[int]
    tails: list[int]
    """What follows on a group at least after its end, until the graph is complete."""
    after: dict[int, list[list[int]]]
    """Of each predecessor the transfer times, by its group and the group of this task."""


class Program:
    """The instance in units since the origin, and what the rows are checked against."""

    def __init__(self, data: dict[str, Any], objective: str, file: File) -> None:
        self.data, self.network = data, Network(data)
        self.unit, self.origin = remark(file, "unit"), remark(file, "origin")
        if self.unit <= 0:
            raise RefusedError("the unit is not positive")
        of_one = len(data["graphs"]) == 1 and objective == "total-response-time"
        has_makespan = objective == "makespan" or of_one
        self.makespan = integer_remark(file, "makespan") if has_makespan else None
        self.tardy = integer_remark(file, "tardy")
        self.total = integer_remark(file, "total")
        self.groups = self._machine_groups(file)
        self.tasks = self._tasks()
        self.real = len(self.tasks)
        self.order = order_of(file, self.real)
        self.deadlines = [self._deadline(graph) for graph in data["graphs"]]
        if self.makespan is None:
            self.tasks += [self._completion(index) for index in range(len(data["graphs"]))]

    @property
    def flag(self) -> int:
        """The number of the task that has started if fewer graphs are tardy than stated."""
        return len(self.tasks)

    def in_units(self, time: Fraction) -> int:
        """Rounded down: what takes less time leaves more schedules."""
        return units(time, self.unit)

    def _machine_groups(self, file: File) -> list[list[int]]:
        groups = sets_of(file, "machine groups")
        if sorted(m for group in groups for m in group) != list(range(len(self.network.machines))):
            raise RefusedError("the machine groups do not have each machine once")
        if any(not self._exchangeable(one, other) for g in groups for one, other in pairwise(g)):
            raise RefusedError("machines of one group differ")
        return groups

    def _exchangeable(self, one: int, other: int) -> bool:
        """Whether two machines may change places in every schedule."""
        swap, machines = {one: other, other: one}, range(len(self.network.machines))
        network, tasks = self.network, [t for g in self.data["graphs"] for t in g["tasks"]]
        homes = {graph.get("lan") for graph in self.data["graphs"]}
        return (
            network.lan(one) == network.lan(other)
            and all(cost_of(t, one, self.data) == cost_of(t, other, self.data) for t in tasks)
            and all(network.gateway(h, one) == network.gateway(h, other) for h in homes)
            and all(
                network.between(a, b) == network.between(swap.get(a, a), swap.get(b, b))
                for a in machines
                for b in machines
            )
        )

    def _deadline(self, graph: dict[str, Any]) -> int | None:
        deadline = graph.get("absolute_deadline")
        if deadline is None:
            return None
        date = number(deadline)
        if not is_exact(self.data):
            date = latest(date, number(graph.get("arrival", 0)), self.real)
        return self.in_units(date - self.origin)

    def _tasks(self) -> list[Task]:
        found: list[Task] = []
        for index, graph in enumerate(self.data["graphs"]):
            offset = len(found)
            edges = graph.get("edges", ())
            targets = {edge["target"] for edge in edges}
            sources = {edge["source"] for edge in edges}
            for position, task in enumerate(graph["tasks"]):
                at_start, at_end = position not in targets, position not in sources
                found.append(
                    Task(
                        index,
                        self._durations(task),
                        self._heads(graph, at_start),
                        self._tails(graph, at_end),
                        {},
                    )
                )
            for edge in edges:
                transfer = self._transfers(number(edge.get("data", 0)))
                found[offset + edge["target"]].after[offset + edge["source"]] = transfer
        return found

    def _durations(self, task: dict[str, Any]) -> list[int | None]:
        costs = [cost_of(task, group[0], self.data) for group in self.groups]
        return [None if cost is None else self.in_units(cost) for cost in costs]

    def _heads(self, graph: dict[str, Any], at_start: bool) -> list[int]:
        arrival = self.in_units(number(graph.get("arrival", 0)) - self.origin)
        through = self._gateway_times(graph, "input") if at_start else [0] * len(self.groups)
        return [arrival + time for time in through]

    def _tails(self, graph: dict[str, Any], at_end: bool) -> list[int]:
        return self._gateway_times(graph, "output") if at_end else [0] * len(self.groups)

    def _gateway_times(self, graph: dict[str, Any], what: str) -> list[int]:
        speeds = [self.network.gateway(graph.get("lan"), group[0]) for group in self.groups]
        data = number(graph.get(what, 0))
        return [self.in_units(latency + data * unit) for latency, unit in speeds]

    def _transfers(self, data: Fraction) -> list[list[int]]:
        """The shortest from a machine of one group to a machine of another, or of the same."""
        return [[self._shortest(data, one, other) for other in self.groups] for one in self.groups]

    def _shortest(self, data: Fraction, one: list[int], other: list[int]) -> int:
        speeds = [self.network.between(m, n) for m in one for n in other]
        return min(self.in_units(latency + data * unit) for latency, unit in speeds)

    def _completion(self, index: int) -> Task:
        """The completion of a graph: a task of no length, in a group of its own."""
        arrival = self.in_units(number(self.data["graphs"][index].get("arrival", 0)) - self.origin)
        group = len(self.groups)
        after = {
            j: [[time] * (group + 1) for time in task.tails]
            for j, task in enumerate(self.tasks[: self.real])
            if task.graph == index
        }
        return Task(index, [None] * group + [0], [arrival] * (group + 1), [0] * (group + 1), after)

    # -- rows ---------------------------------------------------------------------------------

    def check_row(self, row: Row, variables: list[str]) -> None:
        """Raise where a row might not hold for a schedule."""
        sign = 1 if row.sense == "L" else -1
        if row.sense == "E":
            raise RefusedError(f"row {row.name} is an equation")
        terms: dict[int, dict[tuple[int, int], Fraction]] = {}
        for variable, value in row.terms.items():
            j, g, t = _step_of(variables[variable], self)
            terms.setdefault(j, {})[g, t] = sign * value
        if not any(holds(row, terms, sign * row.rhs) for holds in self._rules()):
            raise RefusedError(f"row {row.name} does not hold for every schedule")

    def _rules(self) -> tuple[Any, ...]:
        return (
            self.holds_for_pairs,
            self.holds_for_energy,
            self.holds_for_order,
            self.holds_for_graphs,
        )

    def choices(self, j: int, terms: dict[tuple[int, int], Fraction]) -> Iterator[Choice]:
        """Yield where and when a task may run, cut where the value of the row changes."""
        task = self.tasks[j]
        for group, duration in enumerate(task.durations):
            if duration is None:
                continue
            first, last = task.heads[group], NEVER
            if self.makespan is not None:
                last = self.makespan - duration - task.tails[group]
            if last < first:
                continue
            cuts = sorted(
                {t for g, t in terms if g == group and first <= t < last} | {first - 1, last}
            )
            for before, until in pairwise(cuts):
                value = sum(
                    (c for (g, t), c in terms.items() if g == group and t > before), Fraction(0)
                )
                yield Choice(group, before + 1, until, value)

    def holds_for_pairs(self, row: Row, terms: Any, most: Fraction) -> bool:
        """By what one task may do, or two that follow each other or share a machine."""
        if len(terms) > 2 or self.flag in terms:
            return False
        if not terms:  # nothing holds of a task that can run nowhere
            return most >= 0 or not all(any(self.choices(j, {})) for j in range(len(self.tasks)))
        if len(terms) == 2:
            return self._holds_for_pair(*terms, terms, most)
        [j] = terms
        if all(choice.value <= most for choice in self.choices(j, terms[j])):
            return True
        near = {*self.tasks[j].after, *(k for k, task in enumerate(self.tasks) if j in task.after)}
        return any(self._holds_for_pair(j, k, terms, most) for k in near)

    def _holds_for_pair(self, j: int, k: int, terms: Any, most: Fraction) -> bool:
        if j in self.tasks[k].after:
            j, k = k, j  # j comes after k, if one comes after the other
        others = list(self.choices(k, terms.get(k, {})))
        return not any(
            one.value + other.value > most and self._are_possible(j, one, k, other)
            for one in self.choices(j, terms.get(j, {}))
            for other in others
        )

    def _are_possible(self, j: int, one: Choice, k: int, other: Choice) -> bool:
        length, length_k = self.tasks[j].durations[one.group], self.tasks[k].durations[other.group]
        assert length is not None and length_k is not None
        if k in self.tasks[j].after:
            transfer = self.tasks[j].after[k][other.group][one.group]
            return other.first + length_k + transfer <= one.last
        alone = one.group < len(self.groups) and len(self.groups[one.group]) == 1
        if one.group != other.group or not alone or 0 in (length, length_k):
            return True
        return one.first + length <= other.last or other.first + length_k <= one.last

    def holds_for_energy(self, row: Row, terms: Any, most: Fraction) -> bool:
        """By the work that a group can do between two instants, which the name of the row has."""
        span = indices_of(row.name, 3)
        if not row.name.startswith("capacity_") or not span:
            return False
        group, start, end = span
        if (
            group >= len(self.groups)
            or start >= end
            or most < len(self.groups[group]) * (end - start)
        ):
            return False
        if self.flag in terms or any(g != group for steps in terms.values() for g, _ in steps):
            return False
        return all(
            choice.value <= self._work(j, choice, start, end)
            for j, steps in terms.items()
            for choice in self.choices(j, steps)
            if choice.group == group
        )

    def _work(self, j: int, choice: Choice, start: int, end: int) -> int:
        """The least time between two instants in which a task keeps a machine busy."""
        duration = self.tasks[j].durations[choice.group]
        assert duration is not None
        starts = choice.first, choice.last  # in between it is no less
        return min(max(0, min(end, s + duration) - max(start, s)) for s in starts)

    def holds_for_order(self, row: Row, terms: Any, most: Fraction) -> bool:
        """By the numbers of machines that may be exchanged: by their first tasks, in the order.

        On the machine before that of a task there is an earlier task of the order.
        """
        if most < 0 or any(j >= self.real for j in terms):
            return False
        return any(self._holds_for_last(j, terms, most) for j in terms if j in self.order)

    def _holds_for_last(self, j: int, terms: Any, most: Fraction) -> bool:
        others = (c for k in terms if k != j for c in self.choices(k, terms[k]))
        if any(choice.value > 0 for choice in others):
            return False
        earlier = self.order[: self.order.index(j)]
        return all(
            choice.value <= most
            or self._holds_on(choice.group, earlier, terms, most - choice.value)
            for choice in self.choices(j, terms[j])
        )

    def _holds_on(self, group: int, earlier: list[int], terms: Any, most: Fraction) -> bool:
        """Whether a row holds if a task is on a machine, by what is on the machine before."""
        if len(self.groups[group]) > 1:
            return False
        [machine] = self.groups[group]
        before = [m for m in range(machine) if self._exchangeable(m, machine)]
        if not before or len(before) > len(earlier):
            return bool(before)  # there are too few earlier tasks for all of these machines
        last = self.groups.index([before[-1]]) if [before[-1]] in self.groups else None
        return last is not None and all(
            choice.value <= most
            for k in earlier
            for choice in self.choices(k, terms.get(k, {}))
            if choice.group == last
        )

    def holds_for_graphs(self, row: Row, terms: Any, most: Fraction) -> bool:
        """By the numbers of tardy graphs and the total of completions that the claim speaks of."""
        if self.makespan is not None or any(j < self.real for j in terms):
            return False
        if_fewer = sum(terms.get(self.flag, {}).values(), Fraction(0))
        for (late, value), total in self._least_totals(terms).items():
            within = self.total is None or total <= self.total
            if value > most and within and (self.tardy is None or late <= self.tardy):
                return False
            fewer = self.tardy is not None and self.total is not None and late < self.tardy
            if value + if_fewer > most and fewer:
                return False
        return True

    def _least_totals(self, terms: Any) -> dict[tuple[int, Fraction], int]:
        """By the number of tardy graphs and the value of the row the least total of completions."""
        found = {(0, Fraction(0)): 0}
        for index, deadline in enumerate(self.deadlines):
            j = self.real + index
            steps = dict(terms.get(j, {}))
            if deadline is not None:
                steps.setdefault((len(self.groups), deadline), Fraction(0))
            longer: dict[tuple[int, Fraction], int] = {}
            for (late, value), total in found.items():
                for choice in self.choices(j, steps):
                    is_late = deadline is not None and choice.first > deadline
                    key = (late + is_late, value + choice.value)
                    longer[key] = min(longer.get(key, NEVER), total + choice.first)
            found = longer
        return found

    # -- claim --------------------------------------------------------------------------------

    def proven(self, objective: str) -> tuple[Fraction, ...]:
        """Return the bound that the claim is, one number for each level."""
        arrivals = [number(graph.get("arrival", 0)) for graph in self.data["graphs"]]
        if self.makespan is not None:
            least = self.origin + self.unit * (self.makespan + 1)
            if objective == "makespan":
                return (least,)
            if objective == "total-response-time" and len(arrivals) == 1:
                return (least - arrivals[0],)
        elif objective == "tardy-graphs" and self.tardy is not None and self.total is None:
            return (Fraction(self.tardy + 1),)
        elif self.total is not None:
            least = self.origin * len(arrivals) + self.unit * (self.total + 1) - sum(arrivals)
            if objective == "total-response-time" and self.tardy is None:
                return (least,)
            if objective == "tardy-then-response-time" and self.tardy is not None:
                return (Fraction(self.tardy), least)
        raise RefusedError(f"the claim is none about {objective}")


def _step_of(name: str, program: Program) -> tuple[int, int, int]:
    words = name.split("_")
    if len(words) != 4 or words[0] != "z":
        raise RefusedError(f"{name} is no variable of a step")
    j, g, t = map(int, words[1:])
    extra = program.makespan is None
    known = j < len(program.tasks) and g < len(program.tasks[j].durations)
    if extra and j == program.flag and g == len(program.groups):
        return j, g, t
    if not known or program.tasks[j].durations[g] is None:
        raise RefusedError(f"there is no task or group of variable {name}")
    return j, g, t


def check(data: dict[str, Any], objective: str, file: File) -> tuple[Fraction, ...]:
    """Return the bound that a certificate proves."""
    program = Program(data, objective, file)
    if file.claim is not None:
        raise RefusedError("the claim is not that the program is infeasible")
    for row in file.rows:
        program.check_row(row, file.variables)
    return program.proven(objective)
