"""Families of task graphs on machines.

All numbers are integers, or rationals where powers and deadlines require them, so that answers are
exact. A family is a shape (see `dlopt.generation.dag_shapes`) with machines, costs and data drawn
from the same distributions, or Chen's grid.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_type_hints

from dlopt.arithmetic import Number, exact, is_finite, simplest
from dlopt.errors import NotApplicableError
from dlopt.generation import dag_shapes
from dlopt.generation.dag_shapes import Shape
from dlopt.generation.distributions import check_choice, check_count, positive_float
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Machine, Network, Task
from dlopt.problems.dag.topology import successors_of, topological
from dlopt.problems.validated_record import Units

MOST_MACHINES = 10_000
"""Largest number of machines of an instance."""
MOST_TASKS = 2_000_000
"""Largest number of tasks of an instance, over all graphs."""

MACHINE_KINDS = ("unrelated", "related", "identical")

_COMMON_PARAMETERS = """
machines : int
    Number of machines, 1 to 10,000.
kind : {"unrelated", "related", "identical"}
    Kind of the machines: each task has a cost of its own on each machine (unrelated), machines
    have different powers (related), or all are the same.
spread : Number
    Heterogeneity of the machines, from 0 to 2 (beta of Topcuoglu et al.): the cost of a task on a
    machine, or the power of a machine, is its mean times 1 - spread/2 to 1 + spread/2.
mean_work : int
    Mean work of the tasks; the mean cost of each is uniform from 1 to 2 mean_work - 1.
ccr : Number
    Communication-to-computation ratio: the data of an edge is uniform from 0 to 2 ccr mean_work,
    and takes as much time between any two machines.
graphs : int
    Number of graphs that arrive.
interval : Number
    Mean inter-arrival time of the graphs, which are random; the first graph arrives at 0.
slack : Number, optional
    If given, graphs have deadlines: the arrival plus slack times the critical path, each task on
    its fastest machine, rounded up."""


def family(shape: Callable[..., Shape], name: str) -> Callable[..., Instance]:
    """Return the family of a shape: a function of its parameters and of the common ones.

    Parameters
    ----------
    shape : callable
        ``shape(draw, **parameters) -> Shape`` with a numpydoc docstring.
    name : str
        Of the family.
    """

    def made(
        *,
        machines: int = 4,
        kind: str = "unrelated",
        spread: Number = 1,
        mean_work: int = 10,
        ccr: Number = 1,
        graphs: int = 1,
        interval: Number = 0,
        slack: Number | None = None,
        seed: int = 0,
        **parameters: Any,
    ) -> Instance:
        check_count("machines", machines, MOST_MACHINES)
        check_count("mean_work", mean_work, 10**9)
        check_count("graphs", graphs, MOST_TASKS)
        check_choice("kind", kind, MACHINE_KINDS)
        if slack is not None:
            positive_float("slack", slack)
        draw = random.Random(f"{name} {seed}")
        costs = _CostModel(
            draw, machines, kind, _checked_spread(spread), mean_work, _checked_ratio("ccr", ccr)
        )
        found, arrival = [], 0
        for index in range(graphs):
            if index and interval:
                arrival += _interarrival_time(draw, interval)
            drawn = shape(draw, **parameters)
            if graphs * drawn.count > MOST_TASKS:  # all graphs have the same size
                raise NotApplicableError(f"the graphs must have {MOST_TASKS} tasks at most")
            found.append(costs.graph(drawn, f"g{index}", arrival, slack))
        size = "" if graphs == 1 else f"{graphs}x"
        return Instance(
            costs.machines,
            tuple(found),
            name=f"{name}-{size}{drawn.count}-{machines}-{seed}",
            origin=f"dlopt generate dag --family {name}, seed {seed}",
        )

    _document(made, shape)
    return made


class _CostModel:
    """The distributions of machines, tasks and edges; the machines are drawn at once."""

    def __init__(
        self,
        draw: random.Random,
        machines: int,
        kind: str,
        spread: Fraction,
        mean_work: int,
        ccr: Fraction,
    ) -> None:
        self.draw = draw
        self.count = machines if kind == "unrelated" else 0
        self.low, self.high = 1 - spread / 2, 1 + spread / 2
        self.mean_work = mean_work
        self.most_data = int(2 * ccr * mean_work)
        powers = [self.power() if kind == "related" else 1 for _ in range(machines)]
        self.machines = tuple(Machine(f"m{k}", power) for k, power in enumerate(powers))
        self.fastest = max(powers)

    def power(self) -> Number:
        """Return a random power in tenths."""
        least = max(1, round(10 * self.low))
        return simplest(Fraction(self.draw.randint(least, max(least, round(10 * self.high))), 10))

    def graph(self, shape: Shape, name: str, arrival: int, slack: Number | None) -> Graph:
        tasks = tuple(self.task(f"t{k}") for k in range(shape.count))
        edges = tuple(Edge(s, t, self.draw.randint(0, self.most_data)) for s, t in shape.edges)
        due = None
        if slack is not None:
            due = arrival - int(-exact(slack) * self.critical_path(tasks, shape) // 1)
        return Graph(name, tasks, edges, arrival=arrival, absolute_deadline=due)

    def task(self, name: str) -> Task:
        mean = self.draw.randint(1, 2 * self.mean_work - 1)
        if not self.count:
            return Task(name, mean)
        least = max(1, round(mean * self.low))
        most = max(least, round(mean * self.high))
        return Task(name, costs=tuple(self.draw.randint(least, most) for _ in range(self.count)))

    def critical_path(self, tasks: tuple[Task, ...], shape: Shape) -> Fraction:
        times = [Fraction(_min_cost(task), 1) / exact(self.fastest) for task in tasks]
        return critical_path_length(times, shape)


def critical_path_length(times: list[Fraction], shape: Shape) -> Fraction:
    """Return the length of the longest path through tasks with these execution times.

    Examples
    --------
    >>> critical_path_length([Fraction(2), Fraction(3), Fraction(4)], Shape(3, ((0, 1), (0, 2))))
    Fraction(6, 1)
    """
    after = successors_of(shape.count, shape.edges)
    ends = list(times)
    for task in topological(after):
        for target in after[task]:
            ends[target] = max(ends[target], ends[task] + times[target])
    return max(ends)


def chen(
    *,
    lans: int = 2,
    nodes: int = 3,
    tasks: int = 6,
    interval: Number = 4000,
    fewest: int = 10,
    most: int = 50,
    degree: int = 5,
    mean_data: int = 100,
    slack: Number = 3,
    one_lan: bool = True,
    seed: int = 0,
) -> Instance:
    """Return the grid of Chen 2001, section 5: composite tasks that arrive at LANs of machines.

    Times are in seconds, data in KB. WANs have 10 KB/s and LANs 100; every machine delays a
    transfer by .051 to 5.06 s and has a power of .3 to 1; a task sends 10 to 2000 KB to where it
    runs and 10 to 5000 KB back, and its subtasks, a random tree, take 60 to 600 s each at power 1.

    Parameters
    ----------
    lans, nodes : int
        Number of LANs, and number of machines in each of them; 100 and 10 in the thesis.
    tasks : int
        Number of tasks (graphs of subtasks); 1000 to 3000 in the thesis.
    interval : Number
        Mean inter-arrival time at each LAN. The thesis has 1000 to 5000, in milliseconds at one
        place and seconds at another; only seconds give a load that the machines can process.
    fewest, most : int
        Smallest and largest number of subtasks of a task; uniformly distributed.
    degree : int
        Largest number of successors of a subtask.
    mean_data : int
        Mean data of an edge in KB, uniform from 0 to twice as much; not given in the thesis.
    slack : Number
        Sets the deadline of a task: its arrival plus slack times its critical path at power 1,
        rounded up; not given in the thesis.
    one_lan : bool
        Whether the subtasks of a task must stay in one LAN, as they do in the thesis.
    seed : int

    Returns
    -------
    Instance
    """
    for name, value, limit in (
        ("lans", lans, MOST_MACHINES),
        ("nodes", nodes, MOST_MACHINES // max(lans, 1)),
        ("tasks", tasks, MOST_TASKS),
        ("most", most, MOST_TASKS // max(tasks, 1)),
        ("fewest", fewest, most),
        ("mean_data", mean_data + 1, 10**9),
    ):
        check_count(name, value, limit)
    positive_float("interval", interval)
    positive_float("slack", slack)
    draw = random.Random(f"chen {seed}")
    machines = tuple(
        Machine(
            f"m{lan}.{node}",
            simplest(Fraction(draw.randint(30, 100), 100)),
            lan,
            simplest(Fraction(draw.randint(51, 5060), 1000)),
        )
        for lan in range(lans)
        for node in range(nodes)
    )
    network = Network(
        "scheduler",
        "counted",
        bandwidth=10,
        lans=tuple(Lan(f"lan{lan}", bandwidth=100) for lan in range(lans)),
    )
    found, arrival = [], 0
    for index in range(tasks):
        arrival += _interarrival_time(draw, simplest(exact(interval) / lans)) if index else 0
        shape = dag_shapes.out_tree(draw, tasks=draw.randint(fewest, most), degree=degree)
        works = [draw.randint(60, 600) for _ in range(shape.count)]
        path = critical_path_length([Fraction(work) for work in works], shape)
        found.append(
            Graph(
                f"g{index}",
                tuple(Task(f"t{k}", work) for k, work in enumerate(works)),
                tuple(Edge(s, t, draw.randint(0, 2 * mean_data)) for s, t in shape.edges),
                arrival=arrival,
                absolute_deadline=arrival - int(-exact(slack) * path // 1),
                lan=draw.randrange(lans),
                input=draw.randint(10, 2000),
                output=draw.randint(10, 5000),
                one_lan=bool(one_lan),
            )
        )
    return Instance(
        machines,
        tuple(found),
        network,
        name=f"chen-{tasks}-{lans}x{nodes}-{seed}",
        origin=f"dlopt generate dag --family chen, seed {seed}",
        units=Units("s", data="KB"),
    )


def _document(made: Any, shape: Callable[..., Shape]) -> None:
    """Give a family the name and docstring of its shape, and all parameters."""
    both = inspect.signature(shape), inspect.signature(made)
    parameters = {
        name: p for one in both for name, p in one.parameters.items() if p.kind is p.KEYWORD_ONLY
    }
    made.__name__ = made.__qualname__ = shape.__name__
    made.__doc__ = (inspect.getdoc(shape) or "") + _COMMON_PARAMETERS
    hints = get_type_hints(shape) | get_type_hints(made)
    made.__annotations__ = {name: hints[name] for name in (*parameters, "return")}
    made.__signature__ = inspect.Signature(
        list(parameters.values()), return_annotation=hints["return"]
    )


def _interarrival_time(draw: random.Random, interval: Number) -> int:
    return round(draw.expovariate(1 / positive_float("interval", interval)))


def _min_cost(task: Task) -> Any:
    return task.work if task.costs is None else min(cost for cost in task.costs if cost is not None)


def _checked_spread(value: Number) -> Fraction:
    found = _checked_ratio("spread", value)
    if found > 2:
        raise NotApplicableError(f"spread must be a number from 0 to 2, got {value}")
    return found


def _checked_ratio(name: str, value: Number) -> Fraction:
    if isinstance(value, str) or not is_finite(value) or not 0 <= value <= 10**9:
        raise NotApplicableError(f"{name} must be a number from 0 to 10^9, got {value}")
    return exact(value)


_SHAPES: dict[str, Callable[..., Shape]] = {
    "topcuoglu": dag_shapes.topcuoglu,
    "layered": dag_shapes.layered,
    "anywhere": dag_shapes.anywhere,
    "fork-join": dag_shapes.fork_join,
    "gaussian-elimination": dag_shapes.gaussian_elimination,
    "fft": dag_shapes.fft,
    "in-tree": dag_shapes.in_tree,
    "out-tree": dag_shapes.out_tree,
    "series-parallel": dag_shapes.series_parallel,
    "chains": dag_shapes.chains,
    "stencil": dag_shapes.stencil,
    "independent": dag_shapes.independent,
}

FAMILIES: dict[str, Callable[..., Instance]] = {
    **{name: family(shape, name) for name, shape in _SHAPES.items()},
    "chen": chen,
}
