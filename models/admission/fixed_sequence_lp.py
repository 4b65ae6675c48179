"""The linear program of a fixed order of chunks, and the plan it leads to.

minimise    T
subject to  s_a >= max(release_i, free_j)                    chunk a = (task i, node j)
            s_b >= s_a + theta_cm + tau_a x_a                next on the port
            s_b >= s_a + theta_cm + theta_cp + w_a x_a       next on the node (w = tau + chi)
            T >= s_a + theta_cm + theta_cp + w_a x_a - due_i
            sum_a x_a = load_i                               every accepted task
            x >= 0

The order is feasible if ``T <= 0``. Every chunk pays its set-up costs, whether or not it gets
load; then the loads are sent as early as the order allows, those of nothing not at all, and the
clock is looked at: only a plan that is in time in fractions counts.

A chunk that takes no time to send (``tau = theta_cm = 0``) waits for its node only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import DEFAULT, Term, linear, optimise
from dlopt.models.admission.scaled_instance import Case, Job
from dlopt.problems.admission.data import Chunk, Decision, Solution
from dlopt.result import Limits


class Part(NamedTuple):
    """A chunk without its load: the job, by its index in the case, and the node."""

    job: int
    node: int


class Loaded(NamedTuple):
    """The loads of an order of chunks, and the largest lateness that they lead to."""

    lateness: Fraction
    loads: tuple[Fraction, ...]


class SequenceModel:
    """The program above.

    Parameters
    ----------
    case : Case
    parts : sequence of Part
        In the order of their transmissions.
    """

    def __init__(self, case: Case, parts: Sequence[Part]) -> None:
        self.case, self.parts = case, list(parts)
        self.problem = pulp.LpProblem("sequence", pulp.LpMinimize)
        self.start, self.load = [], []
        for p, part in enumerate(self.parts):
            job = case.jobs[part.job]
            earliest = case.start(job, part.node)
            self.start.append(self.problem.add_variable(f"s_{p}", lowBound=earliest))
            self.load.append(self.problem.add_variable(f"x_{p}", lowBound=0, upBound=job.load))
        self.lateness = self.problem.add_variable("T")

    def minimise_lateness(self) -> SequenceModel:
        """State the program above."""
        self.problem += self.lateness
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_deadlines()
        self.add_totals()
        return self

    def add_one_port(self) -> None:
        """Send a chunk when the one before it has been sent."""
        sent = [p for p, part in enumerate(self.parts) if takes_port(self.case, part.node)]
        for p, q in pairwise(sent):
            tau = self.case.tau[self.parts[p].node]
            terms: list[Term] = [(1, self.start[q]), (-1, self.start[p]), (-tau, self.load[p])]
            self.problem += linear(terms) >= self.case.theta_cm

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk when it has computed the one before."""
        latest: dict[int, int] = {}
        for q, part in enumerate(self.parts):
            p = latest.get(part.node)
            if p is not None:
                unit = self.case.unit(part.node)
                terms: list[Term] = [(1, self.start[q]), (-1, self.start[p]), (-unit, self.load[p])]
                self.problem += linear(terms) >= self.case.overhead
            latest[part.node] = q

    def add_deadlines(self) -> None:
        """Let no chunk be later than the largest lateness."""
        for p, part in enumerate(self.parts):
            unit, due = self.case.unit(part.node), self.case.jobs[part.job].due
            terms: list[Term] = [(1, self.lateness), (-1, self.start[p]), (-unit, self.load[p])]
            self.problem += linear(terms) >= self.case.overhead - due

    def add_totals(self) -> None:
        """Send all of every task."""
        for i in {part.job for part in self.parts}:
            terms = [(1, self.load[p]) for p, part in enumerate(self.parts) if part.job == i]
            self.problem += linear(terms) == self.case.jobs[i].load

    def solve(self, limits: Limits, seed: int) -> Loaded | None:
        """Return the least lateness and its loads, which are the tasks' in sum; None at a limit."""
        proven = self.case.instance.exact
        outcome = optimise(self.problem, limits, solver=DEFAULT, seed=seed, exact=proven)
        if not outcome.assignment:
            return None
        loads = [max(exact(outcome[variable]), Fraction(0)) for variable in self.load]
        whole = completed([part.job for part in self.parts], loads, self.case.jobs)
        return Loaded(exact(outcome[self.lateness]), whole)


def completed(
    owners: Sequence[int], loads: Sequence[Fraction], jobs: Sequence[Job]
) -> tuple[Fraction, ...]:
    """Return loads of chunks that add up to those of their jobs, in the proportions given.

    Equal ones where a solver in floats finds none: a job may be too small for it to see.

    Parameters
    ----------
    owners : sequence of int
        The job of each chunk.
    loads : sequence of Fraction
    jobs : sequence of Job

    Examples
    --------
    >>> jobs = [Job(k, Fraction(0), Fraction(9), Fraction(6), Fraction(1), False) for k in (0, 1)]
    >>> [str(load) for load in completed([0, 1, 0, 1], [Fraction(n) for n in (1, 0, 2, 0)], jobs)]
    ['2', '3', '4', '3']
    """
    sums = dict.fromkeys(owners, Fraction(0))
    for job, load in zip(owners, loads, strict=True):
        sums[job] += load
    counts = Counter(owners)
    return tuple(
        jobs[job].load * (load / sums[job] if sums[job] else Fraction(1, counts[job]))
        for job, load in zip(owners, loads, strict=True)
    )


def plan_of(
    case: Case, parts: Sequence[Part], accepted: Collection[int], limits: Limits, seed: int
) -> Solution | None:
    """Return a plan that sends chunks in a given order; None if the order misses a deadline.

    Parameters
    ----------
    case : Case
    parts : sequence of Part
        In the order of their transmissions.
    accepted : collection of int
        The jobs that are accepted, by their indices: all of them have parts.
    limits : Limits
    seed : int

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),))
    >>> plan = plan_of(Case.of(instance), [Part(0, 1), Part(0, 0)], [0], Limits(), 0)
    >>> [(chunk.node, chunk.load, chunk.computation_end) for chunk in plan.chunks]
    [(1, Fraction(2, 1), Fraction(4, 1)), (0, Fraction(1, 1), Fraction(4, 1))]
    """
    loaded: Loaded | None = Loaded(Fraction(0), ())
    if parts:
        loaded = SequenceModel(case, parts).minimise_lateness().solve(limits, seed)
    return None if loaded is None else loaded_plan(case, parts, loaded.loads, accepted)


def loaded_plan(
    case: Case,
    parts: Sequence[Part],
    loads: Sequence[Fraction],
    accepted: Collection[int],
    stated: Sequence[Fraction] = (),
) -> Solution | None:
    """Return the plan that sends chunks of given loads in a given order, each as early as it can.

    None if it misses a deadline. The loads are in the units of the case, and those of each accepted
    job in sum. Where starts are `stated`, in the units of the instance, no chunk is sent before.
    """
    chunks = _replayed(case, parts, loads, stated or [case.origin] * len(parts))
    tasks = case.instance.tasks
    due = {tasks[job.index].id: case.latest(job) for job in case.jobs}
    if any(chunk.computation_end > due[chunk.task] for chunk in chunks):
        return None
    if not case.instance.exact:
        chunks = [_in_floats(chunk) for chunk in chunks]
    chosen = case.settled | {case.jobs[i].index for i in accepted}
    decisions = (
        Decision(task.id, index in chosen, task.arrival) for index, task in enumerate(tasks)
    )
    return Solution(tuple(decisions), tuple(chunks))


def by_deadline(case: Case, jobs: Collection[int]) -> list[Part]:
    """Return chunks in an order that is often feasible: by deadline, on nodes as they get free.

    Every node gets a chunk of every task, for what is too many gets no load; but where set-up
    costs count, a task has the fewest chunks that it may need.
    """
    nodes = sorted(case.nodes, key=lambda node: (case.free[node], case.unit(node)))
    parts = []
    for i in sorted(jobs, key=lambda i: (case.jobs[i].due, case.jobs[i].release)):
        job = case.jobs[i]
        there = [Part(i, node) for node in nodes if case.room(job, node) > 0]
        parts += there[: case.least_chunks(job)] if case.overhead else there
    return parts


def takes_port(case: Case, node: int) -> bool:
    """Tell whether sending to a node takes time."""
    return case.theta_cm > 0 or case.tau[node] > 0


def _replayed(
    case: Case, parts: Sequence[Part], loads: Sequence[Fraction], stated: Sequence[Fraction]
) -> list[Chunk]:
    """Return the chunks with loads, each as early as the order allows, in the instance's units."""
    cluster = case.instance.cluster
    port = case.instant_back(Fraction(0))
    free = [case.instant_back(instant) for instant in case.free]
    setups = exact(cluster.theta_cm), exact(cluster.theta_cp)
    chunks = []
    for (i, node), share, earliest in zip(parts, loads, stated, strict=True):
        if not share:
            continue
        job, load = case.jobs[i], share * case.load_unit
        start = max(case.instant_back(job.release), free[node], earliest)
        ported = takes_port(case, node)
        if ported:
            start = max(start, port)
        sent = start + setups[0] + load * exact(cluster.tau_of(node))
        done = sent + setups[1] + load * exact(cluster.chi_of(node))
        free[node] = done
        port = sent if ported else port
        task = case.instance.tasks[job.index].id
        chunks.append(Chunk(task, node, load, start, sent, sent, done))
    return chunks


def _in_floats(chunk: Chunk) -> Chunk:
    numbers: list[Any] = [chunk.load, chunk.transmission_start, chunk.transmission_end]
    numbers += [chunk.computation_start, chunk.computation_end]
    floats: list[Number] = [float(number) for number in numbers]
    return Chunk(chunk.task, chunk.node, *floats)
