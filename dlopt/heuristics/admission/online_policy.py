"""Online policies of a user's own: one decision at a time, on what is known then.

A policy is a function that gets the state of the cluster and a task that arrives, and returns the
chunks of the task if it accepts it, or None. It sees nothing of later tasks, and what it has placed
stays where it is.
"""

from __future__ import annotations

import functools
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from dlopt.arithmetic import Number, exact, is_exact
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.admission.claimed_values import claimed_value
from dlopt.problems.admission.data import Chunk, Decision, Instance, Solution, Task
from dlopt.problems.admission.goals import default_objective
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_chunks
from dlopt.result import Result, Status


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What a policy knows when a task arrives.

    Parameters
    ----------
    cluster : Cluster
    now : Number
        The instant of the decision.
    free_times : tuple of Number, shape (nodes,)
        When each node has computed all that it was promised; not before `now`.
    channel_free : Number
        When the head node has sent all that was promised; not before `now`.
    chunks : tuple of Chunk
        Those of accepted tasks that are not computed by `now`.
    """

    cluster: Cluster
    now: Number
    free_times: tuple[Number, ...]
    channel_free: Number
    chunks: tuple[Chunk, ...] = ()

    def send(self, task: Task, nodes: Sequence[int], loads: Sequence[Number]) -> tuple[Chunk, ...]:
        """Return chunks of a task that are sent one after the other, each as early as possible.

        Nothing is sent before all that was promised is sent, and no node gets anything before it
        has computed what it was promised.

        Parameters
        ----------
        task : Task
        nodes : sequence of int
            In the order of transmission.
        loads : sequence of Number, shape (nodes,)
            Positive; together the load of the task.

        Examples
        --------
        >>> state = ClusterState(Cluster(2, tau=1, chi=2), 5, free_times=(5, 9), channel_free=6)
        >>> for chunk in state.send(Task("a", 5, 3, 20), nodes=[0, 1], loads=[2, 1]):
        ...     print(chunk.node, chunk.transmission_start, chunk.computation_end)
        0 6 12
        1 9 12
        """
        numbers = (*loads, self.channel_free, *(self.free_times[node] for node in nodes))
        cast = exact if self.cluster.exact and is_exact(numbers) else float
        chunks = earliest_chunks(
            self.cluster, self.free_times, nodes, loads, self.channel_free, cast
        )
        return tuple(Chunk(task.id, *astuple(chunk)) for chunk in chunks)

    def after(self, chunks: Iterable[Chunk]) -> ClusterState:
        """Return the state once some chunks are promised, too."""
        free, channel = list(self.free_times), self.channel_free
        chunks = tuple(chunks)
        for chunk in chunks:
            if 0 <= chunk.node < len(free):  # else the checker tells
                free[chunk.node] = max(free[chunk.node], chunk.computation_end)
            if chunk.transmission_end > chunk.transmission_start:
                channel = max(channel, chunk.transmission_end)
        return replace(
            self, free_times=tuple(free), channel_free=channel, chunks=self.chunks + chunks
        )

    def at(self, now: Number) -> ClusterState:
        """Return the state at a later instant if nothing else arrives until then."""
        return replace(
            self,
            now=now,
            free_times=tuple(max(now, free) for free in self.free_times),
            channel_free=max(now, self.channel_free),
            chunks=tuple(chunk for chunk in self.chunks if chunk.computation_end > now),
        )


MOST_CHUNKS = 1_000_000
"""Chunks of one task; a policy that returns more never ends. As many as a cluster may have nodes:
chosen by hand."""

Decide: TypeAlias = Callable[[ClusterState, Task], Iterable[Chunk] | None]
"""Returns the chunks of a task that is accepted, None if it is rejected."""


class DecidedStream(NamedTuple):
    """A stream that a policy has decided on.

    Parameters
    ----------
    solution : Solution
    queue_lengths : tuple of int
        How many accepted tasks waited for their first transmission as each task arrived.
    """

    solution: Solution
    queue_lengths: tuple[int, ...]


class OnlinePolicy:
    """An online algorithm of `admission`, made of a function that decides on one task.

    It is a method with the signature of all methods, for `dlopt.register` and
    `dlopt.verify.falsify`, and an algorithm for `dlopt.simulate`. An acceptance promises the
    deadline: chunks that end later are a violation.

    Parameters
    ----------
    decide : callable
        ``decide(state, task)`` returns the `Chunk` records of the task, or None to reject it. For
        a task of which a part was sent before the stream began, ``task.load`` is what is left.
    name : str, optional
        By default that of the function, in kebab-case.

    Raises
    ------
    NotApplicableError
        If `decide` cannot be called.

    Notes
    -----
    On a busy cluster, a policy is first asked for its placement of the tasks that are promised, in
    the order of their deadlines. It must not reject them.

    Examples
    --------
    >>> @OnlinePolicy
    ... def first_free_node(state, task):
    ...     node = state.free_times.index(min(state.free_times))
    ...     (chunk,) = state.send(task, [node], [task.load])
    ...     return [chunk] if chunk.computation_end <= task.absolute_deadline else None
    >>> tasks = Task("a", 0, 2, 5), Task("b", 1, 2, 3), Task("c", 2, 1, 4)
    >>> plan = first_free_node.run(Instance(Cluster(1, tau=1, chi=1), tasks)).solution
    >>> [(decision.task, decision.accepted) for decision in plan.decisions]
    [('a', True), ('b', False), ('c', True)]
    """

    def __init__(self, decide: Decide, name: str | None = None) -> None:
        if not callable(decide):
            raise NotApplicableError(f"a policy is a function, not a {type(decide).__name__}")
        functools.update_wrapper(self, decide)
        self.decide: Final = decide
        self.name: Final = name or getattr(decide, "__name__", "policy").replace("_", "-")

    def __call__(self, instance: Instance, *, objective: str | None = None) -> Result[Solution]:
        """Decide on all tasks of an instance, in the order of their arrivals.

        Returns
        -------
        Result
            ``FEASIBLE``, or ``UNKNOWN`` if the policy rejects a task that is promised.
        """
        try:
            plan = self.run(instance).solution
        except PromiseError as error:
            return Result(Status.UNKNOWN, reason=str(error))
        goal = objective or default_objective(instance)
        value = claimed_value(instance, plan, goal)
        return Result(Status.FEASIBLE, plan, objective=goal, value=value)

    def run(self, instance: Instance) -> DecidedStream:
        """Return the decisions on all tasks of an instance, and the chunks of those accepted.

        Raises
        ------
        PromiseError
            If the policy rejects a task that is promised.
        TypeError
            If the policy returns anything else than chunks of the task, or None.
        ValueError
            If it returns more than `MOST_CHUNKS` chunks.
        """
        if not isinstance(instance, Instance):
            raise NotApplicableError(f"{self.name} is an online policy for admission")
        stream = _Stream(self, instance)
        for task in _promised_tasks(instance):
            if not stream.accepts(task):
                raise PromiseError(f"{self.name} rejects {task.id}, which is promised")
        promised, decisions, queue_lengths = instance.promised, [], []
        for task in instance.tasks:
            if task.id in promised:
                decisions.append(Decision(task.id, True, task.arrival))
                continue
            stream.advance(task.arrival)
            queue_lengths.append(stream.queue_length)
            decisions.append(Decision(task.id, stream.accepts(task), task.arrival))
        return DecidedStream(Solution(tuple(decisions), tuple(stream.chunks)), tuple(queue_lengths))

    def named(self, name: str) -> OnlinePolicy:
        """Return the policy under another name."""
        return OnlinePolicy(self.decide, name)


class _Stream:
    """The state while a policy decides, and all that it has placed."""

    def __init__(self, policy: OnlinePolicy, instance: Instance) -> None:
        self.policy = policy
        self.state = ClusterState(
            instance.cluster, instance.now, instance.free_times, instance.channel_free
        )
        self.chunks: list[Chunk] = []
        self._starts: list[Number] = []  # of the first chunk of each task, ascending

    @property
    def queue_length(self) -> int:
        """How many accepted tasks wait until their first chunk is sent."""
        return len(self._starts) - bisect_right(self._starts, self.state.now)

    def advance(self, now: Number) -> None:
        self.state = self.state.at(now)

    def accepts(self, task: Task) -> bool:
        """Ask the policy for its decision on a task, and promise what it places."""
        answer = self.policy.decide(self.state, task)
        if answer is None:
            return False
        chunks = tuple(islice(answer, MOST_CHUNKS + 1))
        if len(chunks) > MOST_CHUNKS:
            raise ValueError(f"decide returns more than {MOST_CHUNKS:,} chunks of task {task.id}")
        for chunk in chunks:
            if not isinstance(chunk, Chunk) or chunk.task != task.id:
                raise TypeError(f"decide must return chunks of task {task.id}, got {chunk!r}")
        if chunks:
            insort(self._starts, min(chunk.transmission_start for chunk in chunks))
        self.state = self.state.after(chunks)
        self.chunks += chunks
        return True


def _promised_tasks(instance: Instance) -> list[Task]:
    """Return the tasks that are accepted already, with what is left of their loads."""
    promised, left = instance.promised, instance.remaining
    tasks = [
        replace(task, load=left[task.id], remaining=None)
        for task in instance.tasks
        if task.id in promised and left[task.id] > 0
    ]
    return sorted(tasks, key=lambda task: task.absolute_deadline)
