"""Constraint program for machines that differ, or transfers that take time.

Job `j` has an optional interval (an alternative) on each machine `p`, chosen by the literal `x_jp`;
`c_jp` are costs, `t_ij(p, q)` transfer times::

    minimise    an objective of `dlopt.models.dag.cpsat`
    subject to  sum_p x_jp = 1                                       one machine for each job
                no overlap of [s_j, s_j + c_jp) with x_jp            one job at a time on p
                s_j >= s_i + c_ip + t_ij(p, q)                       if x_ip and x_jq, arcs (i, j)
                s_j >= sum_p head_jp x_jp                            heads
                C_g >= s_j + sum_p (c_jp + tail_jp) x_jp             tails, which contain deliveries
                x_jp <= l_gk, sum_k l_gk = 1                         one LAN k for g, p in k
                head + sum_{j in J} c_jp x_jp + tail <= C            loads (redundant)
                identical machines in the order of their first jobs  symmetry breaking
                x_jp, l_gk in {0, 1}

The load constraints range over thresholds of heads and tails on each machine: `J` are the jobs
whose head and tail there are no smaller. For objectives over graphs, and for several graphs, they
also hold for the jobs of each graph, with `C_g` in the place of `C`. On graphs of 50 tasks on 3
machines with communication and an incumbent of about 500 they raised the bound of a prototype from
below 300 to 475. Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from dlopt.models.dag.cpsat import NO_FIXED_JOBS, CpSatModel
from dlopt.models.dag.heads_and_tails import HeadsTails
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.scaled_instance import Arc, ScaledInstance
from dlopt.models.dag.schedules import Schedule, left_shifted

LOAD_THRESHOLDS = 6
"""Thresholds of heads, and of tails, for the load constraints of each machine. Chosen by hand: more
thresholds give a stronger relaxation, and a larger program.
"""


class AlternativesModel(CpSatModel):
    """A literal for every job and machine, and an optional interval for each.

    Parameters
    ----------
    scaled, heads_tails, latest_completions, max_late_graphs, fixed_machines
        See `CpSatModel`.

    Examples
    --------
    >>> from dlopt.backends import cpsat
    >>> from dlopt.models.dag.lower_bounds import compute_heads_tails
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> from dlopt.result import Limits
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> program = AlternativesModel(scaled, compute_heads_tails(scaled), latest_completions=[9])
    >>> program.minimise("makespan", lower_bound=0)
    >>> outcome = cpsat.optimise(program.model, Limits())
    >>> program.schedule(outcome.value_of).completions(scaled)
    [6]
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        latest_completions: list[int],
        max_late_graphs: int | None = None,
        fixed_machines: Mapping[int, int] = NO_FIXED_JOBS,
    ) -> None:
        super().__init__(scaled, heads_tails, latest_completions, max_late_graphs, fixed_machines)
        self.assign: list[dict[int, Any]] = []
        self.ends: list[Any] = []
        self.intervals: list[list[Any]] = [[] for _ in range(scaled.machine_count)]
        self.same_machine: dict[tuple[int, int], Any] = {}
        for job in range(len(scaled.jobs)):
            self._add_job(job)
        for intervals in self.intervals:
            if len(intervals) > 1:
                self.model.add_no_overlap(intervals)
        for arc in scaled.arcs:
            self._add_precedence(arc)
        self._add_lan_choice()
        if not fixed_machines:
            self._break_machine_symmetry()

    def minimise(self, level: ObjectiveLevel, lower_bound: int) -> None:
        """Set the objective to one level, with load constraints that bound it."""
        super().minimise(level, lower_bound)
        if level == "makespan":
            self._add_load_bounds(list(range(len(self.scaled.jobs))), self.makespan)
        for jobs, completion in zip(self.scaled.jobs_of_graph, self.completions, strict=True):
            if level != "makespan" or len(self.completions) > 1:
                self._add_load_bounds(jobs, completion)

    def hint(self, schedule: Schedule) -> None:
        """Hint the value of every variable in a schedule."""
        if not self.fixed_machines:
            schedule = self._relabel_identical_machines(schedule)
        super().hint(schedule)
        for job, literals in enumerate(self.assign):
            for machine, literal in literals.items():
                self.model.add_hint(literal, schedule.machines[job] == machine)
        for (source, target), literal in self.same_machine.items():
            same = schedule.machines[source] == schedule.machines[target]
            self.model.add_hint(literal, same)
        for graph, literals in enumerate(self.graph_lan):
            jobs = self.scaled.jobs_of_graph[graph]
            lans = {self.scaled.instance.machines[schedule.machines[job]].lan for job in jobs}
            for lan, literal in literals.items():
                self.model.add_hint(literal, lan in lans)

    def fix_sequence(self, schedule: Schedule) -> None:
        """Jobs with a fixed machine keep their sequence there, too."""
        sequences: dict[int, list[int]] = {}
        for job in sorted(self.fixed_machines, key=lambda job: (schedule.starts[job], job)):
            if self.scaled.cost(job, schedule.machines[job]):
                sequences.setdefault(schedule.machines[job], []).append(job)
        for sequence in sequences.values():
            for before, job in pairwise(sequence):
                self.model.add(self.starts[job] >= self.ends[before])

    def schedule(self, value_of: Any) -> Schedule:
        """Return the schedule of an assignment of values."""
        machines = [
            next(machine for machine, literal in literals.items() if value_of(literal))
            for literals in self.assign
        ]
        return left_shifted(self.scaled, machines, [value_of(start) for start in self.starts])

    def _add_job(self, job: int) -> None:
        """A job runs on one machine, between its head and its tail there."""
        model, scaled, start = self.model, self.scaled, self.starts[job]
        machines = self._eligible(job)
        literals = {machine: model.new_bool_var(f"x{job}_{machine}") for machine in machines}
        model.add_exactly_one(literals.values())
        end = start + sum(scaled.cost(job, p) * literal for p, literal in literals.items())
        for machine, literal in literals.items():
            cost = scaled.cost(job, machine)
            if cost:
                name = f"i{job}_{machine}"
                interval = model.new_optional_fixed_size_interval_var(start, cost, literal, name)
                self.intervals[machine].append(interval)
        self.assign.append(literals)
        self.ends.append(end)
        if len(machines) > 1:
            heads = {machine: int(self.heads_tails.heads[job, machine]) for machine in machines}
            model.add(start >= sum(heads[p] * literal for p, literal in literals.items()))
        tails = {machine: int(self.heads_tails.tails[job, machine]) for machine in machines}
        completion = self.completions[scaled.jobs[job][0]]
        model.add(completion >= end + sum(tails[p] * literal for p, literal in literals.items()))

    def _add_precedence(self, arc: Arc) -> None:
        """A job starts once the data of its predecessor has come to its machine.

        If transfers take one time between different machines and a shorter one on the same, one
        literal for "same machine" is enough. In general, the transfer time is bounded by the
        machine of either end alone, and pairs of machines that need more have their own constraint.
        """
        scaled = self.scaled
        sources, targets = self.assign[arc.source], self.assign[arc.target]
        start, end = self.starts[arc.target], self.ends[arc.source]
        times = {(p, q): scaled.transfer_time(arc, p, q) for p in sources for q in targets}
        remote = {times[p, q] for p, q in times if p != q}
        local = {times[p, q] for p, q in times if p == q}
        if len(remote) == 1 and len(local) == 1 and min(local) < min(remote):
            shortest, longest = local.pop(), remote.pop()
            same = self._same_machine_literal(arc.source, arc.target)
            self.model.add(start >= end + longest - (longest - shortest) * same)
            return
        shortest = min(times.values())
        self.model.add(start >= end + shortest)
        by_source = {p: min(times[p, q] for q in targets) for p in sources}
        by_target = {q: min(times[p, q] for p in sources) for q in targets}
        self._add_one_sided_transfer(start, end, shortest, by_source, sources)
        self._add_one_sided_transfer(start, end, shortest, by_target, targets)
        for (p, q), time in times.items():
            if time > max(by_source[p], by_target[q]):
                self.model.add(start >= end + time).only_enforce_if(sources[p], targets[q])

    def _add_one_sided_transfer(
        self, start: Any, end: Any, shortest: int, times: dict[int, int], literals: dict[int, Any]
    ) -> None:
        """Bound the transfer time by the machine of one end alone."""
        if max(times.values()) > shortest:
            time = sum(times[machine] * literal for machine, literal in literals.items())
            self.model.add(start >= end + time)

    def _same_machine_literal(self, job: int, other: int) -> Any:
        """Return a literal that is true only if two jobs run on one machine."""
        same = self.model.new_bool_var(f"t{job}_{other}")
        for machine, literal in self.assign[job].items():
            if machine in self.assign[other]:
                other_literal = self.assign[other][machine]
                self.model.add_implication(other_literal, literal).only_enforce_if(same)
                self.model.add_implication(literal, other_literal).only_enforce_if(same)
            else:
                self.model.add_implication(same, ~literal)
        for machine, literal in self.assign[other].items():
            if machine not in self.assign[job]:
                self.model.add_implication(same, ~literal)
        self.same_machine[job, other] = same
        return same

    def _add_lan_choice(self) -> None:
        """All jobs of a graph that must stay in one LAN run on machines of one LAN."""
        self.graph_lan: list[dict[int, Any]] = [{} for _ in self.scaled.jobs_of_graph]
        for graph, jobs in enumerate(self.scaled.jobs_of_graph):
            if self.scaled.lans is None or not self.scaled.instance.graphs[graph].one_lan:
                continue
            lans = sorted(set(self.scaled.lans))
            choice = {lan: self.model.new_bool_var(f"l{graph}_{lan}") for lan in lans}
            self.model.add_exactly_one(choice.values())
            for job in jobs:
                for machine, literal in self.assign[job].items():
                    self.model.add_implication(literal, choice[self.scaled.lans[machine]])
            self.graph_lan[graph] = choice

    def _break_machine_symmetry(self) -> None:
        """Each of several identical machines has its first job after the machine before it has."""
        for group in self.scaled.identical_machines:
            for before, machine in pairwise(group):
                earlier: list[Any] = []
                for job in range(len(self.assign)):
                    if machine in self.assign[job]:
                        self.model.add_bool_or([*earlier, ~self.assign[job][machine]])
                    if before in self.assign[job]:
                        earlier.append(self.assign[job][before])

    def _relabel_identical_machines(self, schedule: Schedule) -> Schedule:
        """Return the same schedule with identical machines in the order of their first jobs."""
        new_name: dict[int, int] = {}
        for group in self.scaled.identical_machines:
            members = set(group)
            used = dict.fromkeys(machine for machine in schedule.machines if machine in members)
            new_name |= dict(zip(used, group, strict=False))
        machines = tuple(new_name[machine] for machine in schedule.machines)
        return Schedule(machines, schedule.starts)

    def _add_load_bounds(self, jobs: list[int], end: Any) -> None:
        """The load of a machine between a least head and a least tail fits before the end."""
        heads, tails = self.heads_tails.heads, self.heads_tails.tails
        for machine in range(self.scaled.machine_count):
            eligible = [
                job
                for job in jobs
                if machine in self.assign[job] and self.scaled.cost(job, machine)
            ]
            known = set()
            for head, tail in self._head_tail_thresholds(eligible, machine):
                inside = tuple(
                    job
                    for job in eligible
                    if heads[job, machine] >= head and tails[job, machine] >= tail
                )
                if len(inside) > 1 and inside not in known:
                    known.add(inside)
                    load = sum(
                        self.scaled.cost(job, machine) * self.assign[job][machine] for job in inside
                    )
                    self.model.add(load + head + tail <= end)

    def _head_tail_thresholds(self, jobs: list[int], machine: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of a head and a tail that fit before the least completion."""
        heads = _evenly_sampled(self.heads_tails.heads[jobs, machine])
        tails = _evenly_sampled(self.heads_tails.tails[jobs, machine])
        bounds = self.heads_tails.completion_bounds
        least = int(bounds[jobs].min(axis=1).max()) if jobs else 0
        for head in heads:
            for tail in tails:
                if head + tail <= least:
                    yield head, tail


def _evenly_sampled(values: Any) -> list[int]:
    """Return distinct values in ascending order, `LOAD_THRESHOLDS` of them at most."""
    distinct = np.unique(values)
    if len(distinct) > LOAD_THRESHOLDS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, LOAD_THRESHOLDS).astype(int)]
    return [int(value) for value in distinct]
