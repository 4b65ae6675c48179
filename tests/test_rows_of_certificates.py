"""No checker of certificates accepts a row that a schedule violates.

Rows have random terms, and a side that some schedule of a tiny instance exceeds by a half; all of
its schedules with integral starts are enumerated.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.io import instance_to_data
from dlopt.problems import bag, dag
from dlopt.registry import problem_of
from dlopt.result import Result, Status
from tests.examples import share
from tests.reference import bag_program, dag_program
from tests.reference.vipr import File, RefusedError, Row

Schedule = tuple[tuple[int, int, int], ...]
"""Machine, start and end of each task."""

MANY = 200
"""Schedules."""


@dataclass(frozen=True)
class Tiny:
    """An instance, the remarks of a certificate, and the points of its schedules by column."""

    instance: Any
    objective: str
    remarks: dict[str, str]
    columns: list[str]
    points: list[list[int]]
    costs: dict[int, Fraction]
    claim: Fraction | None
    ends: dict[int, Fraction] = field(default_factory=dict)
    """Terms whose sum is the total of completions; or, of graphs, what rows of totals are about."""

    def accepts(self, name: str, terms: dict[int, Fraction], side: Fraction) -> tuple[bool, bool]:
        """Whether dlopt and the second checker accept that terms are at most a side."""
        rows = ((name, Constraint(terms, -1, side)),)
        whole = frozenset(range(len(self.columns)))
        certificate = Certificate(
            tuple(self.columns), whole, self.costs, rows, self.claim, (), self.remarks
        )
        result: Result[Any] = Result(Status.BOUND, objective=self.objective, bound=0)
        judge = problem_of(self.instance).load_certified()
        first = judge(self.instance, result, certificate)[1] is None
        own = [Row(name, "L", side, terms)]
        file = File(self.remarks, self.columns, set(whole), self.costs, own, self.claim)
        check = {"bag": bag_program, "dag": dag_program}[self.instance.problem].check
        try:
            check(instance_to_data(self.instance), self.objective, file)
        except RefusedError:
            return first, False
        return first, True


def schedules(
    durations: Sequence[Sequence[int]],
    releases: Sequence[int],
    edges: dict[tuple[int, int], int],
    last: int,
) -> Iterator[Schedule]:
    """Yield all schedules that end by an instant; edges have times between two machines."""
    choices = [
        [(m, s, s + d) for m, d in enumerate(row) for s in range(release, last - d + 1)]
        for row, release in zip(durations, releases, strict=True)
    ]
    for one in product(*choices):
        apart = (a[0] != b[0] or a[2] <= b[1] or b[2] <= a[1] for a, b in combinations(one, 2))
        in_order = (
            one[i][2] + (time if one[i][0] != one[j][0] else 0) <= one[j][1]
            for (i, j), time in edges.items()
        )
        if all(apart) and all(in_order):
            yield one


def sample(draw: random.Random, found: list[Any]) -> list[Any]:
    return draw.sample(found, MANY) if len(found) > MANY else found


def starts(tasks: int, machines: int, last: int) -> list[str]:
    return [f"z_{j}_{k}_{t}" for j in range(tasks) for k in range(machines) for t in range(last)]


def started(schedule: Schedule, name: str) -> int:
    j, k, t = map(int, name.split("_")[1:])
    machine, start, _ = schedule[j]
    return int(machine == k and start <= t)


def bag_of(draw: random.Random) -> Tiny:
    tasks, machines = draw.choice((2, 2, 3)), draw.choice((1, 2))
    works = [draw.choice((1, 2, 3) if tasks == 2 else (1, 2, 2)) for _ in range(tasks)]
    releases = [draw.choice((0, 0, 1)) for _ in range(tasks)]
    instance = bag.Instance(
        tuple(bag.Task(f"t{j}", works[j], release=releases[j]) for j in range(tasks)),
        tuple(bag.Machine(f"m{k}") for k in range(machines)),
    )
    durations = [[work] * machines for work in works]
    found, remarks = list(schedules(durations, releases, {}, 7)), {"unit": "1", "origin": "0"}
    kind = draw.choice(("makespan", "total", "total", "positions"))
    if kind == "positions":
        return positions_of(draw, instance, remarks, works, min(releases), sample(draw, found))
    if kind == "makespan":
        objective, last = "makespan", max(one[2] for one in draw.choice(found))
        remarks["makespan"] = str(last)
        found = [one for one in found if max(end for *_, end in one) <= last]
    else:
        objective, total = "flowtime", sum(end for *_, end in draw.choice(found))
        remarks["total"] = str(total + 1)
        found = [one for one in found if sum(end for *_, end in one) <= total]
    columns = starts(tasks, machines, 6)
    points = [[started(one, name) for name in columns] for one in sample(draw, found)]
    ends = {}
    for column, name in enumerate(columns):
        j, _, t = map(int, name.split("_")[1:])
        ends[column] = Fraction(t + works[j] if t == 5 else -1)  # s + works[j] from start s on
    return Tiny(instance, objective, remarks, columns, points, {}, None, ends)


def positions_of(
    draw: random.Random,
    instance: bag.Instance,
    remarks: dict[str, str],
    works: list[int],
    first: int,
    found: list[Schedule],
) -> Tiny:
    deepest = [draw.randint(0, len(works)) for _ in instance.machines]
    places = [
        (j, k, q) for j in range(len(works)) for k, d in enumerate(deepest) for q in range(d + 1)
    ]
    points = []
    for one in found:
        after = [sum(m == k and s > start for m, s, _ in one) for k, start, _ in one]
        held = {(j, k, min(after[j], deepest[k])) for j, (k, *_) in enumerate(one)}
        points.append([int(place in held) for place in places])
    costs = {
        column: Fraction(first + (q + 1) * works[j]) for column, (j, _, q) in enumerate(places)
    }
    columns = [f"y_{j}_{k}_{q}" for j, k, q in places]
    return Tiny(instance, "flowtime", remarks, columns, points, costs, Fraction(0))


def graphs_of(draw: random.Random) -> Tiny:
    machines, sizes = draw.choice((1, 2)), draw.choice(((2,), (3,), (1, 1), (2, 1)))
    works = [[draw.choice((1, 2, 2)) for _ in range(size)] for size in sizes]
    times = {
        (g, i, i + 1): draw.choice((0, 1, 2))
        for g, size in enumerate(sizes)
        for i, _ in pairwise(range(size))
        if draw.random() < 0.7
    }
    dues = [draw.choice((2, 3, 4)) for _ in sizes]
    instance = dag.Instance(
        tuple(dag.Machine(f"m{k}") for k in range(machines)),
        tuple(
            dag.Graph(
                f"g{g}",
                tuple(dag.Task(f"t{j}", work=work) for j, work in enumerate(works[g])),
                tuple(dag.Edge(i, j, time) for (h, i, j), time in times.items() if h == g),
                absolute_deadline=dues[g],
            )
            for g in range(len(sizes))
        ),
    )
    flat = [(g, j) for g, size in enumerate(sizes) for j in range(size)]
    edges = {(flat.index((g, i)), flat.index((g, j))): time for (g, i, j), time in times.items()}
    durations = [[works[g][j]] * machines for g, j in flat]
    found = list(schedules(durations, [0] * len(flat), edges, 6))
    remarks = {"unit": "1", "origin": "0", "machine groups": "; ".join(map(str, range(machines)))}
    columns = starts(len(flat), machines, 5)
    if draw.random() < 0.5:
        last = max(one[2] for one in draw.choice(found))
        found = [one for one in found if max(end for *_, end in one) <= last]
        points = [[started(one, name) for name in columns] for one in sample(draw, found)]
        remarks["makespan"] = str(last)
        return Tiny(instance, "makespan", remarks, columns, points, {}, None)

    def ends(one: Schedule) -> list[int]:
        pairs = list(zip(flat, one, strict=True))
        return [max(e for (h, _), (*_, e) in pairs if h == g) for g in range(len(sizes))]

    def late(one: Schedule) -> int:
        return sum(end > due for end, due in zip(ends(one), dues, strict=True))

    chosen = draw.choice(found)
    tardy, total = late(chosen), sum(ends(chosen))
    remarks |= {"tardy": str(tardy), "total": str(total)}
    found = [
        one
        for one in found
        if late(one) < tardy or (late(one) == tardy and sum(ends(one)) <= total)
    ]
    complete = [(g, t) for g in range(len(sizes)) for t in range(7)]
    points = [
        [
            *(started(one, name) for name in columns),
            *(int(ends(one)[g] <= t) for g, t in complete),
            int(late(one) < tardy),
        ]
        for one in sample(draw, found)
    ]
    first = len(columns)
    columns += [f"z_{len(flat) + g}_{machines}_{t}" for g, t in complete]
    columns.append(f"z_{len(flat) + len(sizes)}_{machines}_0")
    ends_of_graphs = dict.fromkeys(range(first, len(columns)), Fraction(1))
    return Tiny(
        instance, "tardy-then-response-time", remarks, columns, points, {}, None, ends_of_graphs
    )


def row_of(draw: random.Random, tiny: Tiny) -> tuple[str, dict[int, Fraction]]:
    """Return the name of a row, and terms that are often those of such a row."""
    group, start = draw.randrange(2), draw.randint(0, 3)
    family = draw.choice(
        (
            "capacity",
            "capacity",
            "assigned",
            "monotone",
            "conflict",
            "total",
            "total",
            "precedence",
            "place",
        )
    )
    numbers = {
        "capacity": f"{group}_{start}_{start + draw.randint(1, 4)}",
        "place": f"{group}_{draw.randrange(3)}",
        "precedence": "0_1_0",
    }
    name = f"{family}_{numbers.get(family, str(draw.randrange(3)))}"
    own = range(len(tiny.columns))
    if family == "total" and tiny.objective == "flowtime":
        return name, tiny.ends or {0: Fraction(1)}
    if family == "total":
        own = [*tiny.ends] or own
    if family == "capacity":
        own = [c for c in own if tiny.columns[c].split("_")[2] == str(group)] or own
    if family == "place":
        ending = name.removeprefix("place")
        own = [c for c in own if tiny.columns[c].endswith(ending)] or own
        return name, dict.fromkeys(own, Fraction(1))
    chosen = draw.sample(list(own), min(len(own), draw.randint(1, 4)))
    values = (1, 1, 2, 3, -1) if family == "capacity" else (1, 1, -1)
    return name, {column: Fraction(draw.choice(values)) for column in chosen}


def probes(seed: int, count: int) -> Iterator[tuple[bool, bool]]:
    """See rows refused that cut off a schedule; yield who accepts those that just do not."""
    draw = random.Random(seed)
    tiny = draw.choice((bag_of, graphs_of))(draw)
    for _ in range(count):
        name, terms = row_of(draw, tiny)
        most = max(sum(a * point[c] for c, a in terms.items()) for point in tiny.points)
        too_strong = tiny.accepts(name, terms, most - Fraction(1, 2))
        assert too_strong == (False, False), (tiny, name, terms, most)
        yield tiny.accepts(name, terms, Fraction(most))


@pytest.mark.property
@share(1 / 3)
@given(st.integers(0, 2**32))
def test_no_row_is_accepted_that_a_schedule_violates(seed):
    for _ in probes(seed, 6):
        pass


def test_many_rows_are_accepted_that_are_as_strong_as_they_can_be():
    found = [one for seed in range(15) for one in probes(seed, 8)]
    assert any(first for first, _ in found)
    assert sum(second for _, second in found) > len(found) / 3
