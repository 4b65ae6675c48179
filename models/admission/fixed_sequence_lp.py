"""The linear program of a fixed sequence of chunks, and the schedule that follows from it.

Chunk ``a = (task i, node j)`` has a start ``s_a`` and a load ``x_a``; T is the maximum lateness:

minimise    T
subject to  s_a >= max(release_i, free_j)
            s_b >= s_a + theta_cm + tau_a x_a                b is next on the port
            s_b >= s_a + theta_cm + theta_cp + w_a x_a       b is next on the node (w = tau + chi)
            T >= s_a + theta_cm + theta_cp + w_a x_a - due_i
            sum_a x_a = load_i                               every accepted task
            x >= 0

The sequence is feasible if ``T <= 0``. Every chunk pays its set-up costs, whether or not it gets
load; then the chunks with load are scheduled as early as the sequence allows, in fractions: only a
schedule that meets the deadlines in exact arithmetic counts.

A chunk that takes no time to send (``tau = theta_cm = 0``) waits for its node only.

Source: ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import DEFAULT, Term, linear, optimise
from dlopt.models.admission.scaled_instance import ScaledInstance, ScaledTask
from dlopt.problems.admission.data import Chunk, Decision, Solution
from dlopt.result import Limits


class UnsizedChunk(NamedTuple):
    """A chunk without its load: the task, by its index in the scaled instance, and the node."""

    task: int
    node: int


class TaskOnNode(Protocol):
    """A chunk, of which this program must know the task and the node."""

    @property
    def task(self) -> int:
        """Its task, by the index in the scaled instance."""

    @property
    def node(self) -> int:
        """Its node."""


class SequenceLoads(NamedTuple):
    """The loads of a sequence of chunks, and the maximum lateness that they lead to."""

    lateness: Fraction
    loads: tuple[Fraction, ...]


class FixedSequenceLp:
    """The program above.

    Parameters
    ----------
    scaled : ScaledInstance
    sequence : sequence of UnsizedChunk
        In the order of their transmissions.
    earliest_starts : sequence of Fraction, optional
        Of the chunks; by default when task and node allow.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        sequence: Sequence[TaskOnNode],
        earliest_starts: Sequence[Fraction] | None = None,
    ) -> None:
        self.scaled, self.sequence = scaled, list(sequence)
        self.proven = scaled.instance.exact  # whether the optimum is to be exact
        self.problem = pulp.LpProblem("sequence", pulp.LpMinimize)
        self.start, self.load = [], []
        for p, chunk in enumerate(self.sequence):
            task = scaled.tasks[chunk.task]
            earliest = (
                scaled.earliest_start(task, chunk.node)
                if earliest_starts is None
                else earliest_starts[p]
            )
            self.start.append(self.problem.add_variable(f"s_{p}", lowBound=earliest))
            self.load.append(self.problem.add_variable(f"x_{p}", lowBound=0, upBound=task.load))
        self.lateness = self.problem.add_variable("T")

    def minimise_lateness(self) -> Self:
        """State the program above."""
        self.problem += self.lateness
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_deadlines()
        self.add_totals()
        return self

    def add_one_port(self) -> None:
        """Send a chunk only when the one before it has been sent."""
        on_port = [p for p, chunk in enumerate(self.sequence) if uses_port(self.scaled, chunk.node)]
        for p, q in pairwise(on_port):
            tau = self.scaled.tau[self.sequence[p].node]
            self._add_precedence(p, self.start[q], tau, self.scaled.theta_cm)

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk only when it has computed the one before."""
        latest: dict[int, int] = {}
        for q, chunk in enumerate(self.sequence):
            p = latest.get(chunk.node)
            if p is not None:
                unit_time = self.scaled.unit_time(chunk.node)
                self._add_precedence(p, self.start[q], unit_time, self.scaled.overhead)
            latest[chunk.node] = q

    def add_deadlines(self) -> None:
        """Let no chunk be later than the maximum lateness."""
        for p, chunk in enumerate(self.sequence):
            unit_time, due = self.scaled.unit_time(chunk.node), self.scaled.tasks[chunk.task].due
            self._add_precedence(p, self.lateness, unit_time, self.scaled.overhead - due)

    def add_totals(self) -> None:
        """Send the whole load of every task."""
        for i in {chunk.task for chunk in self.sequence}:
            terms = [(1, self.load[p]) for p, chunk in enumerate(self.sequence) if chunk.task == i]
            self.problem += linear(terms) == self.scaled.tasks[i].load

    def _add_precedence(
        self, p: int, later: pulp.LpVariable, unit_time: Fraction, wait: Fraction
    ) -> None:
        """Let an instant be later than the start of a chunk by its load's time, and by a wait."""
        terms: list[Term] = [(1, later), (-1, self.start[p]), (-unit_time, self.load[p])]
        self.problem += linear(terms) >= wait

    def solve(self, limits: Limits, seed: int) -> SequenceLoads | None:
        """Return minimum lateness and its loads, which add up to the tasks'; None if not found."""
        outcome = optimise(self.problem, limits, solver=DEFAULT, seed=seed, exact=self.proven)
        if not outcome.assignment:
            return None
        loads = [max(exact(outcome[variable]), Fraction(0)) for variable in self.load]
        owners = [chunk.task for chunk in self.sequence]
        loads_of_tasks = scale_loads_to_totals(owners, loads, self.scaled.tasks)
        return SequenceLoads(exact(outcome[self.lateness]), loads_of_tasks)


def scale_loads_to_totals(
    owners: Sequence[int], loads: Sequence[Fraction], tasks: Sequence[ScaledTask]
) -> tuple[Fraction, ...]:
    """Return loads of chunks that add up to those of their tasks, in the given proportions.

    Chunks of a task get equal loads where a solver in floats gives them none: a task may be too
    small for its tolerance.

    Parameters
    ----------
    owners : sequence of int
        The task of each chunk.
    loads : sequence of Fraction
    tasks : sequence of ScaledTask

    Examples
    --------
    >>> nine, six, one = Fraction(9), Fraction(6), Fraction(1)
    >>> tasks = [ScaledTask(k, Fraction(0), nine, six, one, False) for k in (0, 1)]
    >>> loads = scale_loads_to_totals([0, 1, 0, 1], [Fraction(n) for n in (1, 0, 2, 0)], tasks)
    >>> [str(load) for load in loads]
    ['2', '3', '4', '3']
    """
    sums = dict.fromkeys(owners, Fraction(0))
    for task, load in zip(owners, loads, strict=True):
        sums[task] += load
    counts = Counter(owners)
    return tuple(
        tasks[task].load * (load / sums[task] if sums[task] else Fraction(1, counts[task]))
        for task, load in zip(owners, loads, strict=True)
    )


def schedule_sequence(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    accepted: Collection[int],
    limits: Limits,
    seed: int,
) -> Solution | None:
    """Return a schedule that sends chunks in a given order; None if it misses a deadline.

    Parameters
    ----------
    scaled : ScaledInstance
    sequence : sequence of UnsizedChunk
        In the order of their transmissions.
    accepted : collection of int
        The tasks that are accepted, by their indices: all of them have chunks.
    limits : Limits
    seed : int

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 3, 4),))
    >>> sequence = [UnsizedChunk(0, 1), UnsizedChunk(0, 0)]
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> schedule = schedule_sequence(scaled, sequence, [0], Limits(), 0)
    >>> [(chunk.node, chunk.load, chunk.computation_end) for chunk in schedule.chunks]
    [(1, Fraction(2, 1), Fraction(4, 1)), (0, Fraction(1, 1), Fraction(4, 1))]
    """
    result: SequenceLoads | None = SequenceLoads(Fraction(0), ())
    if sequence:
        result = FixedSequenceLp(scaled, sequence).minimise_lateness().solve(limits, seed)
    return None if result is None else schedule_loads(scaled, sequence, result.loads, accepted)


def schedule_loads(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    loads: Sequence[Fraction],
    accepted: Collection[int],
    earliest_starts: Sequence[Fraction] = (),
) -> Solution | None:
    """Return the schedule that sends chunks of given loads in a given order, as early as possible.

    None if it misses a deadline. The loads are in the units of the scaled instance, and add up to
    those of each accepted task. Where `earliest_starts` are given, in the units of the original
    instance, no chunk is sent before.
    """
    earliest = earliest_starts or [scaled.origin] * len(sequence)
    chunks = _earliest_chunks(scaled, sequence, loads, earliest)
    originals = scaled.instance.tasks
    latest = {originals[task.index].id: scaled.latest_end(task) for task in scaled.tasks}
    if any(chunk.computation_end > latest[chunk.task] for chunk in chunks):
        return None
    if not scaled.instance.exact:
        chunks = [_to_floats(chunk) for chunk in chunks]
    accepted_originals = scaled.finished | {scaled.tasks[i].index for i in accepted}
    decisions = (
        Decision(task.id, index in accepted_originals, task.arrival)
        for index, task in enumerate(originals)
    )
    return Solution(tuple(decisions), tuple(chunks))


def sequence_by_deadline(scaled: ScaledInstance, tasks: Collection[int]) -> list[UnsizedChunk]:
    """Return a sequence that is often feasible: tasks by deadline, nodes by their free times.

    Every node gets a chunk of every task, for chunks that are not needed get no load; but where
    there are set-up costs, a task has the fewest chunks that it may need.
    """
    nodes = sorted(scaled.nodes, key=lambda node: (scaled.free[node], scaled.unit_time(node)))
    sequence = []
    for i in sorted(tasks, key=lambda i: (scaled.tasks[i].due, scaled.tasks[i].release)):
        task = scaled.tasks[i]
        chunks = [UnsizedChunk(i, node) for node in nodes if scaled.max_load(task, node) > 0]
        sequence += chunks[: scaled.min_chunks(task)] if scaled.overhead else chunks
    return sequence


def sequence_of(scaled: ScaledInstance, plan: Solution) -> tuple[list[UnsizedChunk], set[int]]:
    """Return the sequence of the chunks of a schedule, and the tasks that it finishes."""
    ids = {scaled.instance.tasks[task.index].id: i for i, task in enumerate(scaled.tasks)}
    chunks = sorted(plan.chunks, key=lambda chunk: chunk.transmission_start)
    sequence = [UnsizedChunk(ids[one.task], one.node) for one in chunks if one.task in ids]
    return sequence, {chunk.task for chunk in sequence}


def uses_port(scaled: ScaledInstance, node: int) -> bool:
    """Tell whether sending to a node takes time."""
    return scaled.theta_cm > 0 or scaled.tau[node] > 0


def _earliest_chunks(
    scaled: ScaledInstance,
    sequence: Sequence[UnsizedChunk],
    loads: Sequence[Fraction],
    earliest_starts: Sequence[Fraction],
) -> list[Chunk]:
    """Return the chunks with load, as early as the sequence allows, in the instance's units."""
    cluster = scaled.instance.cluster
    port = scaled.unscale_instant(Fraction(0))
    free = [scaled.unscale_instant(instant) for instant in scaled.free]
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    chunks = []
    for (i, node), scaled_load, earliest in zip(sequence, loads, earliest_starts, strict=True):
        if not scaled_load:
            continue
        task, load = scaled.tasks[i], scaled_load * scaled.load_unit
        start = max(scaled.unscale_instant(task.release), free[node], earliest)
        on_port = uses_port(scaled, node)
        if on_port:
            start = max(start, port)
        transmission_end = start + theta_cm + load * exact(cluster.tau_of(node))
        computation_end = transmission_end + theta_cp + load * exact(cluster.chi_of(node))
        free[node] = computation_end
        port = transmission_end if on_port else port
        name = scaled.instance.tasks[task.index].id
        instants = start, transmission_end, transmission_end, computation_end
        chunks.append(Chunk(name, node, load, *instants))
    return chunks


def _to_floats(chunk: Chunk) -> Chunk:
    numbers: list[Any] = [chunk.load, chunk.transmission_start, chunk.transmission_end]
    numbers += [chunk.computation_start, chunk.computation_end]
    floats: list[Number] = [float(number) for number in numbers]
    return Chunk(chunk.task, chunk.node, *floats)
