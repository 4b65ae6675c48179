"""Iterated list scheduling (`list-plus`): HEFT's list, changed again and again.

HEFT decides once in which order tasks are placed, and where each of them ends first. This method
begins with the best schedule of HEFT, PEFT and CPOP and searches among priority lists, and machines
that are fixed for some of the tasks; a list pass takes as many steps as HEFT's own, see
`dlopt.heuristics.dag.list_moves`.
"""

from __future__ import annotations

import sys
import time
from math import inf

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.dag import heft_family, list_moves
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.lan_assignment import assign_lans
from dlopt.heuristics.dag.list_search import ListSearch, steps_per_move
from dlopt.heuristics.dag.methods import PLAN_CLASS, Scheduler
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
from dlopt.incumbents import offer
from dlopt.problems.dag.claimed_values import claimed_value
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import default_objective
from dlopt.result import NO_LIMITS, Limits, Result, Status, StoppedBy

INITIAL_RULES: tuple[Scheduler, ...] = (heft_family.heft, heft_family.peft, heft_family.cpop)
"""The schedulers from whose best schedule the search begins."""
CRITERIA = {
    "makespan": list_moves.MAKESPAN,
    "tardy-graphs": list_moves.TARDY,
    "total-response-time": list_moves.RESPONSE,
    "tardy-then-response-time": list_moves.TARDY_THEN_RESPONSE,
}
"""The criterion of each objective."""
MOVES_PER_TASK = 50
"""Moves for each task without a limit. Chosen by hand."""
MAX_STEPS = 1_000_000
"""Steps of all moves together without a limit, at most: about a second in the interpreter. See
`dlopt.heuristics.dag.list_search.steps_per_move`."""
MIN_MOVES = 20
"""Moves without a limit, at least."""
COMPILATION_THRESHOLD = 3_000_000
"""Steps, some three seconds in the interpreter, from which compiled code is loaded: that takes one,
and twenty where it has never been used. Chosen by hand; without a limit there are fewer steps."""
COMPILED_MODULE = "dlopt.heuristics.dag.list_passes_numba"
TIME_SHARE = 0.96
"""Share of a time limit for the search; the rest is for the exact schedule. Chosen by hand."""
TOO_LARGE = "times are too large for floats: the schedule is that of HEFT, PEFT or CPOP"


def list_plus(
    instance: Instance, *, objective: str | None = None, limits: Limits = NO_LIMITS, seed: int = 0
) -> Result[Solution]:
    """Improve the schedule of HEFT, PEFT or CPOP by iterated list scheduling.

    A move changes a priority list and the machines that are fixed for some of its tasks; a list
    pass then places the tasks in the order of the list, each on its fixed machine or where it ends
    first, with insertion. There are five kinds of moves: one to three tasks, mostly on a critical
    path, are shifted to a random place between their neighbours in the graph; one task is shifted
    to a random place of the list, with all predecessors or successors that are in its way; one task
    is fixed on a random machine; no machine remains fixed; or the reversed graph is scheduled, and
    then the graph by the ends in that schedule (backward and forward). Moves are accepted as in
    simulated annealing, in cycles that begin at the best list and double in length; the temperature
    falls with the distance of the best makespan to the longest path and the total work.

    Parameters
    ----------
    instance, objective
        See `dlopt.registry`; the hint is not used.
    limits : Limits
        `work` counts moves. By default 50 are made for each task, or less for large instances; with
        `no_improvement_s` as many as it lets. A limit of time only ends the search earlier.
    seed : int, default 0
        Of the random moves.

    Returns
    -------
    Result
        ``FEASIBLE``; never worse than HEFT, PEFT and CPOP, and with more moves of the same seed
        never worse, but for the rounding of floats. The search computes in floats, and the schedule
        is then computed in the numbers of the instance. Graphs that must stay in one LAN are
        assigned one before, as for `heft`.

    Notes
    -----
    Complexity: O(edges + tasks x machines) for a move on machines that share a network, and the
    tasks that end after data has arrived: that of a HEFT without its sorting. With the extra
    ``fast`` the passes are compiled, some fifty times as fast; the schedules are the same. The
    first use on a computer takes some twenty seconds to compile, later ones load the result.
    Incumbents are offered while it runs.

    Sources: HEFT is that of Topcuoglu, Hariri and Wu 2002; backward and forward list scheduling
    that of Li and Willis 1992; annealing that of Kirkpatrick, Gelatt and Vecchi 1983. Their
    combination, and the moves, are ours.

    Examples
    --------
    HEFT places the longest tasks first, one on each machine, and ends at 7:

    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((3, 3, 2, 2, 2)))
    >>> instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    >>> from dlopt.heuristics.dag.methods import heft
    >>> heft(instance).value, list_plus(instance).value
    (7, 6)
    """
    goal = objective or default_objective(instance)
    search = _Improvement(instance, goal, limits)
    offer(instance, goal, "list-plus", search.answer)
    search.begin(seed)
    search.run()
    return search.answer()


class _RecordedSchedule(PartialSchedule):
    """A partial schedule that notes in which sequence its tasks are placed."""

    def __init__(self, arrays: InstanceArrays) -> None:
        super().__init__(arrays)
        self.sequence: list[int] = []

    def place(self, task: int, machine: int, start: Number) -> None:
        self.sequence.append(task)
        super().place(task, machine, start)


class _Improvement:
    """The search on one instance, from the best of the initial rules on."""

    def __init__(self, instance: Instance, objective: str, limits: Limits) -> None:
        self._stop = inf
        if limits.time_s is not None:
            self._stop = time.monotonic() + TIME_SHARE * limits.time_s
        self.instance, self.objective, self.limits = instance, objective, limits
        self.stopped_by: StoppedBy | None = None
        self.arrays = InstanceArrays.from_instance(instance)
        assign_lans(self.arrays)
        self._rank = [0] * self.arrays.task_count
        for position, task in enumerate(self.arrays.topological_order):
            self._rank[task] = position
        schedules = [self._by_rule(rule) for rule in INITIAL_RULES]
        self._initial = min(schedules, key=self._levels)
        self._is_heft = self._initial is schedules[0]
        self._search: ListSearch | None = None

    def begin(self, seed: int) -> None:
        """Begin the search with the list of the initial schedule; of HEFT without fixed machines.

        This loads the compiler where it pays off, or where it was loaded before.
        """
        initial, steps = self._initial, self._most_moves() * steps_per_move(self.arrays)
        self._search = ListSearch(
            self.arrays,
            CRITERIA[self.objective],
            initial.sequence,
            [-1] * len(initial.sequence) if self._is_heft else initial.machine,
            seed,
            compiled=steps >= COMPILATION_THRESHOLD or COMPILED_MODULE in sys.modules,
        )

    def run(self) -> None:
        """Search until a limit is reached."""
        search, moves, done = self._search, self._most_moves(), 0
        while search is not None and search.possible and done < moves:
            if time.monotonic() > self._stop:
                self.stopped_by = "time"
                return
            step = int(min(search.moves_per_call, moves - done))
            search.run(step)
            done += step
        self.stopped_by = None if self.limits.work is None else "work"

    def answer(self) -> Result[Solution]:
        """Return the best schedule so far, in the numbers of the instance."""
        schedule: PartialSchedule = self._initial
        search, reason = self._search, None
        if search is not None and search.possible:
            schedule = min(schedule, self._exact_schedule(*search.best), key=self._levels)
        elif search is not None:
            reason = TOO_LARGE
        solution = schedule.to_solution()
        return Result(
            Status.FEASIBLE,
            solution,
            objective=self.objective,
            value=claimed_value(self.instance, solution, self.objective),
            reason=reason,
            plan_class=PLAN_CLASS,
            stopped_by=self.stopped_by,
        )

    def _most_moves(self) -> float:
        limits, tasks = self.limits, self.arrays.task_count
        if limits.work is not None:
            return limits.work
        if limits.no_improvement_s is not None:
            return inf
        return max(MIN_MOVES, min(MOVES_PER_TASK * tasks, MAX_STEPS // steps_per_move(self.arrays)))

    def _by_rule(self, rule: Scheduler) -> _RecordedSchedule:
        partial = _RecordedSchedule(self.arrays)
        rule(partial)
        return partial

    def _exact_schedule(
        self, machine: tuple[int, ...], start: tuple[float, ...]
    ) -> PartialSchedule:
        """Return the schedule of given machines and sequences in the numbers of the instance.

        Starts in floats order the tasks; every task then starts as early as that allows.
        """
        partial = PartialSchedule(self.arrays, "append")
        for task in sorted(range(len(start)), key=lambda task: (start[task], self._rank[task])):
            ready = partial.ready_times(task)[machine[task]]
            partial.place(task, machine[task], partial.earliest_slot(task, machine[task], ready))
        return partial

    def _levels(self, partial: PartialSchedule) -> tuple[Number, ...]:
        """Return the levels of the objective in scaled units, but for constants of the instance.

        They order schedules as `claimed_value` does, in a small part of its time.
        """
        arrays = self.arrays
        completions = [arrays.arrival[first] for first in arrays.first_task]
        for task, number in enumerate(arrays.graph_of):
            end = partial.finish[task]
            if task in arrays.output_times:
                end += arrays.output_times[task][partial.machine[task]]
            completions[number] = max(completions[number], end)
        if self.objective == "makespan":
            return (max(completions),)
        late = 0
        for graph, end in zip(arrays.instance.graphs, completions, strict=True):
            due = graph.absolute_deadline
            if due is not None and exact(end) + arrays.origin > exact(due) * arrays.scale:
                late += 1
        levels = {"tardy-graphs": (late,), "total-response-time": (sum(completions),)}
        return levels.get(self.objective, (late, sum(completions)))
