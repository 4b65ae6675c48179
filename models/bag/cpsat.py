"""Constraint program: the machine of each job, and its start where the sequence matters.

With `x_jk` whether job `j` runs on machine `k`, `p_jk` processing times, `a_jk` arrivals, `d_j` due
dates, `s_jk` starts and `C_j` completions::

    minimise    C_max  or  sum_j C_j,   or maximise  sum_j w_j sum_k x_jk
    subject to  sum_k x_jk = 1                                      jobs without a due date
                sum_k x_jk <= 1                                     jobs with a due date
    makespan    a + sum_{j: a_jk >= a} p_jk x_jk <= C_max           arrivals a <= longest job
                a_jk x_jk + sum_{i: a_ik >= a_jk} p_ik x_ik <= C_max    later a_jk
    count       sum_{j: a_jk >= a, d_j <= d} p_jk x_jk <= d - a     windows [a, d] of machine k
                no overlap of [s_jk, s_jk + p_jk) with x_jk,
                a_jk <= s_jk <= d_j - p_jk                          if arrivals on k differ
    flowtime    no overlap, and  C_j >= s_jk + p_jk  if x_jk
                C_j >= sum_k (a_jk + p_jk) x_jk                     redundant
    always      identical machines in the order of their first jobs   symmetry breaking
                x_jk in {0, 1}, s_jk, C_j, C_max integer

The makespan needs no starts, as first come, first served is optimal on each machine; nor do numbers
of jobs on time where all jobs arrive together, as earliest due date is (Jackson 1955). Source: Liu,
Baskiyar and Li 2007 state the problem; the program is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.cpsat import Report
from dlopt.models.bag.scaled_instance import MAX_CLAUSE_LENGTH, ScaledInstance
from dlopt.models.bag.solutions import Sequences, dispatch
from dlopt.result import Limits

MAX_REDUNDANT_WINDOW_ENDS = 12
"""Starts, and ends, of window constraints on each machine where intervals imply them. Chosen by
hand: they strengthen the relaxation, and enlarge the program."""


def estimate_terms(scaled: ScaledInstance) -> float:
    """Return about how many literals and coefficients the program of an instance has.

    Complexity: O(jobs x machines).
    """
    terms = 3.0 * sum(map(len, scaled.eligible_machines))
    dues = len({due for due in scaled.due_dates if due is not None})
    for k in scaled.machines:
        jobs = len(scaled.eligible_jobs[k])
        starts = len({scaled.arrivals[job][k] for job in scaled.eligible_jobs[k]})
        if scaled.objective_kind == "makespan":
            terms += starts * jobs / 2
        elif scaled.objective_kind == "count":  # windows, half of whose jobs are inside on average
            ends = dues if starts <= 1 else min(dues, MAX_REDUNDANT_WINDOW_ENDS)
            terms += min(starts, MAX_REDUNDANT_WINDOW_ENDS) * ends * jobs / 4
        if scaled.objective_kind == "flowtime" or starts > 1:
            terms += 4 * jobs
    return terms + scaled.symmetry_terms


class CpSatModel:
    """The program of the module.

    Parameters
    ----------
    scaled : ScaledInstance
    break_symmetry : bool, default True
        Whether identical machines are used in the order of their first jobs.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((3, 4), (2, 2), (2, 3)))
    >>> program = CpSatModel(ScaledInstance.from_instance(instance, "makespan"))
    >>> program.minimise_makespan(lower_bound=0)
    >>> program.solve(Limits(), seed=0).value
    4
    """

    def __init__(self, scaled: ScaledInstance, *, break_symmetry: bool = True) -> None:
        self.scaled = scaled
        self.model = cpsat.new_model()
        self.assign: list[dict[int, Any]] = []
        self.starts: dict[tuple[int, int], Any] = {}
        self.completions: list[Any] = []
        self.makespan: Any = None
        self.identical_machines = scaled.identical_machines if break_symmetry else []
        self.add_assignment()
        self.add_machine_capacity()
        self.break_machine_symmetry()

    def add_assignment(self) -> None:
        """A job runs on one machine; if it has a due date, it may run on none."""
        for job, machines in enumerate(self.scaled.eligible_machines):
            literals = {k: self.model.new_bool_var(f"x{job},{k}") for k in machines}
            self.assign.append(literals)
            if self.scaled.due_dates[job] is None:
                self.model.add_exactly_one(literals.values())
            else:
                self.model.add_at_most_one(literals.values())

    def add_machine_capacity(self) -> None:
        """A machine runs one job at a time, each after its arrival and on time."""
        scaled = self.scaled
        if scaled.objective_kind == "makespan":
            self._add_makespan()
            return
        for k in scaled.machines:
            most = None if scaled.arrive_together(k) else MAX_REDUNDANT_WINDOW_ENDS
            windows = scaled.overloadable_windows(k, most)
            for start, end, jobs in windows if scaled.objective_kind == "count" else ():
                self.model.add(self._load(jobs, k) <= end - start)
            if scaled.objective_kind == "flowtime" or not scaled.arrive_together(k):
                self._add_no_overlap(k)

    def _add_makespan(self) -> None:
        """The jobs that arrive on a machine at some instant or later fit between it and the end."""
        scaled = self.scaled
        self.makespan = self.model.new_int_var(0, scaled.horizon, "C")
        for k in scaled.machines:
            for start, _, jobs in scaled.arrival_tails(k, scaled.longest_job):
                self.model.add(self._load(jobs, k) + start <= self.makespan)
            for job, (start, _, jobs) in scaled.late_arrival_tails(k):
                self.model.add(self._load(jobs, k) + start * self.assign[job][k] <= self.makespan)

    def _load(self, jobs: Sequence[int], machine: int) -> Any:
        return sum(
            self.scaled.processing_time(job, machine) * self.assign[job][machine] for job in jobs
        )

    def _add_no_overlap(self, machine: int) -> None:
        """The intervals of jobs on a machine do not overlap."""
        scaled, model, intervals = self.scaled, self.model, []
        for job in scaled.eligible_jobs[machine]:
            time, due = scaled.processing_time(job, machine), scaled.due_dates[job]
            latest = (scaled.horizon if due is None else due) - time
            start = model.new_int_var(scaled.arrivals[job][machine], latest, f"s{job},{machine}")
            self.starts[job, machine] = start
            intervals.append(
                model.new_optional_fixed_size_interval_var(
                    start, time, self.assign[job][machine], f"i{job},{machine}"
                )
            )
        model.add_no_overlap(intervals)

    def break_machine_symmetry(self) -> None:
        """Each of several identical machines has its first job after the machine before it has.

        Long constraints are cut by a variable that says whether any of their jobs runs there.
        """
        for group in self.identical_machines:
            for before, after in pairwise(group):
                earlier: list[Any] = []
                for job in self.scaled.eligible_jobs[before]:
                    self.model.add_bool_or([*earlier, self.assign[job][after].negated()])
                    earlier.append(self.assign[job][before])
                    if len(earlier) > MAX_CLAUSE_LENGTH:
                        any_of_them = self.model.new_bool_var(f"e{job},{before}")
                        self.model.add_bool_or([*earlier, any_of_them.negated()])
                        earlier = [any_of_them]

    def minimise_makespan(self, lower_bound: int) -> None:
        """Minimise the makespan, with a lower bound that is known."""
        self.model.add(self.makespan >= lower_bound)
        self.model.minimize(self.makespan)

    def minimise_total_completion(self) -> None:
        """Minimise the sum of completions; to state a lower bound of it makes CP-SAT slow."""
        scaled = self.scaled
        for job, literals in enumerate(self.assign):
            completion = self.model.new_int_var(0, scaled.horizon, f"e{job}")
            for k, literal in literals.items():
                end = self.starts[job, k] + scaled.processing_time(job, k)
                self.model.add(completion >= end).only_enforce_if(literal)
            earliest = sum(self._earliest_end(job, k) * literals[k] for k in literals)
            self.model.add(completion >= earliest)
            self.completions.append(completion)
        self.model.minimize(sum(self.completions))

    def _earliest_end(self, job: int, machine: int) -> int:
        return self.scaled.arrivals[job][machine] + self.scaled.processing_time(job, machine)

    def maximise_count(self, level: str, upper_bound: int) -> None:
        """Maximise the number of jobs on time of a level, with an upper bound that is known."""
        count = self._count(level)
        self.model.add(count <= upper_bound)
        self.model.maximize(count)

    def maximise_all_counts(self) -> None:
        """Maximise all levels of numbers of jobs on time at once, weighted lexicographically."""
        total: Any = 0
        for level in self.scaled.levels:
            total = (len(self.assign) + 1) * total + self._count(level)
        self.model.maximize(total)

    def require_count(self, level: str, count: int) -> None:
        """Require a number of jobs on time of a level."""
        self.model.add(self._count(level) >= count)

    def _count(self, level: str) -> Any:
        weighted = zip(self.scaled.weights(level), self.assign, strict=True)
        return sum(literal for weight, on in weighted if weight for literal in on.values())

    def hint(self, sequences: Sequences) -> None:
        """Hint the value of every variable in a schedule; to be called after the objective."""
        scaled = self.scaled
        sequences = self.relabel_identical_machines(sequences)
        machine_of: dict[int, int] = {}
        starts: dict[int, int] = {}
        for k, sequence in enumerate(sequences):
            clock = 0
            for job in sequence:
                starts[job] = max(clock, scaled.arrivals[job][k])
                clock = starts[job] + scaled.processing_time(job, k)
                machine_of[job] = k
        for job, literals in enumerate(self.assign):
            for k, literal in literals.items():
                self.model.add_hint(literal, machine_of.get(job) == k)
                if (job, k) in self.starts:
                    runs_there = machine_of.get(job) == k
                    start = starts[job] if runs_there else scaled.arrivals[job][k]
                    self.model.add_hint(self.starts[job, k], start)
        ends = {job: starts[job] + scaled.processing_time(job, k) for job, k in machine_of.items()}
        if self.makespan is not None:
            self.model.add_hint(self.makespan, max(ends.values()))
        for job, completion in enumerate(self.completions):
            self.model.add_hint(completion, ends[job])

    def relabel_identical_machines(self, sequences: Sequences) -> Sequences:
        """Return a schedule with identical machines in the order of their first jobs."""
        relabelled = list(sequences)
        for group in self.identical_machines:
            in_order = sorted(
                (sequences[k] for k in group),
                key=lambda jobs: min(jobs, default=len(self.assign)),
            )
            for k, jobs in zip(group, in_order, strict=True):
                relabelled[k] = jobs
        return tuple(relabelled)

    def solve(
        self, limits: Limits, seed: int, effort: float | None = None, report: Report | None = None
    ) -> cpsat.Outcome:
        """Solve the program."""
        return cpsat.optimise(self.model, limits, seed=seed, effort=effort, report=report)

    def sequences(self, outcome: cpsat.Outcome) -> Sequences:
        """Return the sequences of an outcome with a solution."""
        value_of = outcome.value_of
        assert value_of is not None
        assigned: list[list[int]] = [[] for _ in self.scaled.machines]
        for job, literals in enumerate(self.assign):
            for k, literal in literals.items():
                if value_of(literal):
                    assigned[k].append(job)
        sequences = list(dispatch(self.scaled, assigned))
        for k, jobs in enumerate(assigned):
            if all((job, k) in self.starts for job in jobs):
                sequences[k] = tuple(sorted(jobs, key=lambda job: value_of(self.starts[job, k])))
        return tuple(sequences)
