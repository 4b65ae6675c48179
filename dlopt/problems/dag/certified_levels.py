"""The program of schedules with few tardy graphs, or with a small total of completions.

The completion of a graph is one more task of the step formulation
(`dlopt.problems.step_formulation`): it takes no time, runs in a group of its own, which is no
machine, and needs the output of every task of the graph. So ``c_g_t``, the variable of that task,
says that graph `g` is complete by instant `t`. A variable `f` says that fewer graphs are tardy than
may be. Of the schedules with at most `K` tardy graphs (any number, if no `K` is stated) of which
those with exactly `K` have completions of at most `T` in total (of any total, if no `T` is
stated), every one satisfies::

    tardy    sum_{g in S} c_g_t_g - f >= |S| - K      t_g no earlier than the due date of g
    total    sum_{g in S} c_g_t_g + f >= 1            if the completions are more than T in total
                                                      where each g in S is complete after t_g, and
                                                      the others are at their arrivals

Of the graphs in `S` at most `K` are tardy, and ``K - 1`` if ``f = 1``; the others are complete by
their due dates. If no graph of `S` is complete by its instant, the total is more than `T`, so that
``f = 1``. Without a `K`, `f` is 0. In rows of the step formulation no completion has to be by any
instant, as a tardy graph may take as long as it will. Tasks are numbered over all graphs; then
follow the completions, and `f`, which is a task that starts at once or never.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from dlopt.arithmetic import exact
from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.dag.certified_times import DagTimes
from dlopt.problems.step_formulation import StepProgram, TaskTimes

NO_LATEST = 10**16
"""Later than any instant that the name of a column states."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Which schedules a program is of.

    Parameters
    ----------
    tardy : int or None
        The number of graphs that are tardy at most; None if any number may be.
    total : int or None
        The total of all completions at most, if as many graphs are tardy as may be; None if it may
        be any.
    """

    tardy: int | None
    total: int | None


def completion_times(times: DagTimes) -> TaskTimes:
    """Return the times of all schedules, with the completions of graphs as tasks.

    Examples
    --------
    >>> from dlopt.problems.certificate_units import TimeGrid
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> instance = Instance((Machine("m"),), (Graph("g", (Task("a", work=3),), arrival=1),))
    >>> times = completion_times(DagTimes(instance, TimeGrid(Fraction(1), Fraction(0)), ((0,),)))
    >>> times.costs, times.releases, times.transfers(0, 1)
    (((3, None), (None, 0), (None, 0)), ((1, 1), (1, 1), (0, 0)), [[0, 0], [0, 0]])
    """
    graphs, groups, count = times.instance.graphs, len(times.groups), len(times.tasks)
    arrivals = [times.grid.instant(exact(graph.arrival)) for graph in graphs]
    costs = [(*row, None) for row in times.costs]
    costs += [(*(None,) * groups, 0)] * (len(graphs) + 1)
    releases = [(*row, row[0]) for row in times.releases]
    releases += [(arrival,) * (groups + 1) for arrival in (*arrivals, 0)]
    latest = tuple(tuple(None if c is None else NO_LATEST for c in row) for row in costs)

    def transfers(source: int, target: int) -> list[list[int]] | None:
        if target < count:
            known = times.transfers(source, target)
            return None if known is None else [*([*row, 0] for row in known), [0] * (groups + 1)]
        if source >= count or times.tasks[source][0] != target - count:
            return None
        return [[out or 0] * (groups + 1) for out in (*times.deliveries[source], 0)]

    sizes = (*map(len, times.groups), len(graphs) + 1)
    return TaskTimes(
        tuple(costs), tuple(releases), latest, sizes, all_run=False, transfers=cache(transfers)
    )


class LevelProgram(StepProgram):
    """The program of a certificate of few tardy graphs or a small total.

    Parameters
    ----------
    times : DagTimes
    program : StatedProgram
    levels : Levels

    Examples
    --------
    Two graphs of one task, which takes 2 units, on one machine: a total of 5 is not excluded by
    saying that both are complete at 2 or later.

    >>> from dlopt.formats.vipr.certificate import Certificate, Constraint
    >>> from dlopt.problems.certificate_units import TimeGrid
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graphs = tuple(Graph(name, (Task("t", work=2),)) for name in "ab")
    >>> instance = Instance((Machine("m"),), graphs)
    >>> times = DagTimes(instance, TimeGrid(Fraction(1), Fraction(0)), ((0,),))
    >>> one = Fraction(1)
    >>> row, names = Constraint({0: one, 1: one}, 1, one), ("z_2_1_1", "z_3_1_1")
    >>> for total in (5, 3):
    ...     program = Certificate(names, frozenset(), {}, (("total", row),), None, ())
    ...     print(LevelProgram(times, program, Levels(None, total)).flaw())
    total: the graphs may be complete later
    None
    """

    def __init__(self, times: DagTimes, program: StatedProgram, levels: Levels) -> None:
        super().__init__(completion_times(times), program)
        self.dag_times, self.levels = times, levels
        self.group, self.first = len(times.groups), len(times.tasks)
        self.fewer = self.first + len(times.instance.graphs)

    def _row_flaw(self, name: str, row: StatedConstraint) -> str | None:
        rules = {"tardy": self._tardy_flaw, "total": self._total_flaw}
        rule = rules.get(name.split("_")[0])
        if rule is None:
            return super()._row_flaw(name, row)
        coefficients: dict[int, Fraction] = {}
        instants: dict[int, int] = {}
        for one, a in self._terms(row):
            if one.task < self.first or one.group != self.group or one.task in coefficients:
                return "it is not about completions, each once"
            coefficients[one.task] = a
            instants[one.task - self.first] = one.instant
        fewer = coefficients.pop(self.fewer, Fraction(0))
        instants.pop(self.fewer - self.first, None)
        if row.sign != 1 or any(a != 1 for a in coefficients.values()):
            return "it has the wrong direction, or a coefficient is not 1"
        return rule(row, instants, fewer)

    def _tardy_flaw(
        self, row: StatedConstraint, instants: dict[int, int], fewer: Fraction
    ) -> str | None:
        """Of some graphs, all but those that may be tardy are complete by their due dates."""
        if self.levels.tardy is None:
            return "any number of graphs may be tardy"
        for graph, instant in instants.items():
            due = self.dag_times.due(graph)
            if due is None or instant < due:
                return "a graph may be complete later, and not tardy"
        least = len(instants) - self.levels.tardy
        return None if fewer in (0, -1) and row.side <= least else "more graphs may be tardy"

    def _total_flaw(
        self, row: StatedConstraint, instants: dict[int, int], fewer: Fraction
    ) -> str | None:
        """Not all of some graphs are complete later, or else fewer are tardy."""
        if self.levels.total is None:
            return "the total may be any"
        if fewer != (0 if self.levels.tardy is None else 1):
            return "it does not say what holds if fewer graphs are tardy"
        graphs, grid = self.dag_times.instance.graphs, self.dag_times.grid
        least = 0
        for g, graph in enumerate(graphs):
            least += instants[g] + 1 if g in instants else grid.instant(exact(graph.arrival))
        late_enough = least > self.levels.total and row.side <= 1
        return None if late_enough else "the graphs may be complete later"
