"""Task graphs that arrive at a grid, drawn at random as in the thesis."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from annotated_types import Ge

from dlopt.arithmetic import exact
from dlopt.generation import dag_shapes
from dlopt.problems.dag import Edge, Graph, Instance, Task
from dlopt.problems.validated_record import NonNegative, Positive, Record, Units
from dlopt.simulation.grid.topology import BuiltGrid

Count = Annotated[int, Ge(1)]


@dataclass(frozen=True, slots=True)
class Workload(Record):
    """How tasks are drawn: section 4.2 of Chen 2001, in seconds and KB.

    Parameters
    ----------
    tasks : int, default 2000
    interval : Number, default 4000
        The mean time between two arrivals at each LAN, exponentially distributed. The thesis has
        1000 to 5000, in milliseconds at one place and seconds at another.
    kappa : Number, default 3
        Deadline: arrival and kappa times the b-level of the first subtask at power 1; the thesis
        does not say.
    fewest, most : int, default 10 and 50
        Subtasks, in a random tree.
    degree : int, default 5
        Successors of a subtask at most.
    shortest, longest : int, default 60 and 600
        A subtask takes at power 1.
    data : (int, int), default (10, 2000)
        That a task sends to where it runs.
    result : (int, int), default (10, 5000)
        That it sends back.
    subtask_data : (int, int), default (0, 200)
        That a subtask sends to another; the thesis does not say.
    data_per : {"task", "edge"}
        All subtasks of a task send as much, as section 3.1 says, or each what is drawn for it.

    Examples
    --------
    >>> first, second = Workload(tasks=2, interval=100).graphs(lans=3, seed=1)
    >>> first.arrival, second.arrival, len(first.tasks)
    (5, 33, 43)
    """

    tasks: Count = 2000
    interval: Positive = 4000
    kappa: Positive = 3
    fewest: Count = 10
    most: Count = 50
    degree: Count = 5
    shortest: NonNegative = 60
    longest: NonNegative = 600
    data: tuple[int, ...] = (10, 2000)
    result: tuple[int, ...] = (10, 5000)
    subtask_data: tuple[int, ...] = (0, 200)
    data_per: Literal["task", "edge"] = "task"

    def graphs(self, lans: int, seed: int = 0) -> Iterator[Graph]:
        """Yield the tasks as they arrive at the LANs; a task does not depend on the interval."""
        arrivals = random.Random(f"arrivals {seed}")
        draw = random.Random(f"tasks {seed}")
        at = 0.0
        for index in range(self.tasks):
            at += arrivals.expovariate(1) * float(self.interval) / lans
            yield self._graph(draw, f"g{index}", round(at), lans)

    def instance(self, built: BuiltGrid, seed: int = 0) -> Instance:
        """Return all tasks as an instance, which has no failures and can be solved exactly."""
        lans = len(built.network.lans)
        return Instance(
            built.machines,
            tuple(self.graphs(lans, seed)),
            built.network,
            name=f"grid-{self.tasks}-{lans}-{seed}",
            origin=f"dlopt simulate grid, seed {seed}",
            units=Units("s", data="KB"),
        )

    def _graph(self, draw: random.Random, name: str, arrival: int, lans: int) -> Graph:
        shape = dag_shapes.out_tree(
            draw, tasks=draw.randint(self.fewest, self.most), degree=self.degree
        )
        works = [draw.randint(int(self.shortest), int(self.longest)) for _ in range(shape.count)]
        ends = list(works)
        for source, target in reversed(shape.edges):
            ends[source] = max(ends[source], works[source] + ends[target])
        amounts = [draw.randint(*self.subtask_data) for _ in shape.edges]
        if self.data_per == "task":
            amounts = amounts[:1] * len(amounts)
        edges = tuple(Edge(s, t, data) for (s, t), data in zip(shape.edges, amounts, strict=True))
        # `dlopt generate dag --family chen` draws machines, too; here they are drawn separately.
        return Graph(
            name,
            tuple(Task(f"t{k}", work) for k, work in enumerate(works)),
            edges,
            arrival=arrival,
            absolute_deadline=arrival + _up(exact(self.kappa) * max(ends)),
            lan=draw.randrange(lans),
            input=draw.randint(*self.data),
            output=draw.randint(*self.result),
            one_lan=True,
        )


def _up(number: Fraction) -> int:
    return -int(-number // 1)
