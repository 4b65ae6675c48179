"""The chunks that a plan of a stream may have, in the units of a certificate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.problems.admission.checker_times import (
    StreamState,
    channel_free_time,
    loads_to_plan,
    node_free_times,
    promised_before,
    without_negligible_loads,
)
from dlopt.problems.admission.data import Task
from dlopt.problems.certificate_units import stated_number

ZERO = Fraction(0)
MAX_CHUNKS = 10**5
"""Programs of more chunks are not checked; a search for a proof ends at far fewer."""

_SCALE = re.compile(r"(?:0 is (\S+), )?1 is (\S+)")
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a chunk takes of a resource: for its set-ups, and for a unit of load.

    Parameters
    ----------
    setups, unit_time : Fraction
    end : Fraction
        It has the resource no later.
    """

    setups: Fraction
    unit_time: Fraction
    end: Fraction


@dataclass(frozen=True, slots=True)
class ChunkOfTask:
    """A chunk that a task may have on a node.

    Parameters
    ----------
    number, task, node : int
    ready : Fraction
        It begins no earlier.
    most : Fraction
        The most load that it can have in time.
    on_node, on_channel : Usage
    """

    number: int
    task: int
    node: int
    ready: Fraction
    most: Fraction
    on_node: Usage
    on_channel: Usage

    def time(self, usage: Usage, spare: Fraction = ZERO) -> dict[str, Fraction]:
        """Return the terms of its time on a resource, less something if it is there."""
        return {f"p_{self.number}": usage.setups - spare, f"x_{self.number}": usage.unit_time}


class Stream(StreamState, Protocol):
    """Tasks on a cluster, in numbers of one kind."""

    @property
    def exact(self) -> bool:
        """Whether no number is a float."""


class StreamChunks:
    """The tasks of which something remains, and their chunks.

    Parameters
    ----------
    instance : Stream
    weights : sequence of Fraction
        What accepting each task adds to the objective.
    origin, time_unit, load_unit : Fraction
        The instant 0, and the lengths of the units.
    chunks_a_node : int
        The most chunks of a task on a node.

    Attributes
    ----------
    loads, weights : dict of int to Fraction
        By task: what remains, and what accepting it adds to the objective.
    value_of_finished : Fraction
        What the other tasks add.
    promised : set of int
        Tasks that no plan may reject.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=3), (Task("a", 0, 2, 7), Task("b", 1, 1, 3)))
    >>> one = Fraction(1)
    >>> chunks = StreamChunks(instance, [one, one], ZERO, one, one, 1).by_number
    >>> [(chunk.task, chunk.node, str(chunk.most)) for chunk in chunks.values()]
    [(0, 0, '7/4'), (0, 1, '7/4'), (1, 0, '3/4'), (1, 1, '3/4')]
    """

    def __init__(
        self,
        instance: Stream,
        weights: Sequence[Fraction],
        origin: Fraction,
        time_unit: Fraction,
        load_unit: Fraction,
        chunks_a_node: int,
    ) -> None:
        self.instance, self.chunks_a_node = instance, chunks_a_node
        self.origin, self.time_unit, self.load_unit = origin, time_unit, load_unit
        tasks, tolerance = instance.tasks, ZERO if instance.exact else exact(FLOATING)
        left: Mapping[str, Fraction] = loads_to_plan(instance)
        left = without_negligible_loads(tasks, left, tolerance)
        self.loads = {i: left[one.id] / load_unit for i, one in enumerate(tasks) if left[one.id]}
        self.weights = {i: weights[i] for i in self.loads}
        self.value_of_finished = sum(weights, ZERO) - sum(self.weights.values(), ZERO)
        promised = promised_before(instance)
        self.promised = {i for i in self.loads if tasks[i].id in promised}

    def release(self, i: int) -> Fraction:
        """Return the instant from which a task can be sent."""
        arrival = exact(self.instance.tasks[i].arrival)
        return self.instant(max(arrival, channel_free_time(self.instance)))

    def due(self, i: int) -> Fraction:
        """Return the instant by which a task has to be computed."""
        return self.instant(self._latest_end(self.instance.tasks[i]))

    def are_first_on_equal_nodes(self, one: ChunkOfTask, other: ChunkOfTask) -> bool:
        """Tell whether chunks are the first ones of a task on nodes that may be exchanged."""
        kinds = [(*(of[j] for of in self.costs), self.free[j]) for j in (one.node, other.node)]
        is_first = one.number % self.chunks_a_node == 0 == other.number % self.chunks_a_node
        return is_first and one.task == other.task and one.node < other.node and len({*kinds}) == 1

    @cached_property
    def by_number(self) -> dict[int, ChunkOfTask]:
        """All chunks."""
        places = ((i, j) for i in self.loads for j in range(self.instance.cluster.nodes))
        numbers = range(self.chunks_a_node)
        chunks = (self._chunk(*place, n) for place in places for n in numbers)
        return {chunk.number: chunk for chunk in chunks}

    def _chunk(self, i: int, j: int, n: int) -> ChunkOfTask:
        """Return chunk `n` of task `i` on node `j`."""
        (tau, chi), (setup, computing) = (of[j] for of in self.costs), self.setups
        overhead, unit_time = setup + computing, tau + chi
        ready, due = max(self.release(i), self.free[j]), self.due(i)
        time, most = due - ready - overhead, self.loads[i]
        if time < 0:
            most = ZERO
        elif unit_time:
            most = min(most, time / unit_time)
        number = (i * self.instance.cluster.nodes + j) * self.chunks_a_node + n
        on_channel = Usage(setup, tau, due + setup - overhead)
        return ChunkOfTask(number, i, j, ready, most, Usage(overhead, unit_time, due), on_channel)

    @cached_property
    def free(self) -> list[Fraction]:
        """When each node is free."""
        return [self.instant(date) for date in node_free_times(self.instance)]

    @cached_property
    def costs(self) -> tuple[list[Fraction], list[Fraction]]:
        """The times that a unit of load takes to be sent to each node, and to be computed."""
        cluster, unit = self.instance.cluster, self.time_unit / self.load_unit
        nodes = range(cluster.nodes)
        tau, chi = ([exact(of(j)) / unit for j in nodes] for of in (cluster.tau_of, cluster.chi_of))
        return tau, chi

    @property
    def setups(self) -> tuple[Fraction, Fraction]:
        """The set-up times of a transmission and of a computation."""
        cluster = self.instance.cluster
        return exact(cluster.theta_cm) / self.time_unit, exact(cluster.theta_cp) / self.time_unit

    def instant(self, date: Fraction) -> Fraction:
        """Return a date in the units of the program."""
        return (date - self.origin) / self.time_unit

    def _latest_end(self, task: Task) -> Fraction:
        """Return the deadline, in floats as late as the checker of plans may allow."""
        deadline = exact(task.deadline)
        if self.instance.exact:
            return exact(task.arrival) + deadline
        return (exact(task.arrival) + deadline * (1 + exact(FLOATING))) / (1 - ROUNDING)


def weight_of_task(task: Task, objective: str, otherwise: Number = 1) -> Fraction:
    """Return what accepting a task adds to an objective, if that asks for loads or weights."""
    weights = {"accepted-load": task.load, "accepted-weight": task.weight}
    return exact(weights.get(objective, otherwise))


def stated_chunks(
    instance: Stream,
    weights: Sequence[Fraction],
    plan_class: str | None,
    installments: int | None,
    remarks: Mapping[str, str],
) -> StreamChunks | str:
    """Return the chunks of a stream in the units of a certificate, or a flaw.

    Parameters
    ----------
    instance : Stream
    weights : sequence of Fraction
        What accepting each task adds to the objective.
    plan_class : str or None
    installments : int or None
        Of plans of the class ``k``.
    remarks : mapping of str to str
    """
    origin, time_unit = _stated_scale(remarks, "time")
    _, load_unit = _stated_scale(remarks, "load")
    text = remarks.get("chunks", "")
    if time_unit is None or load_unit is None or not _COUNT.fullmatch(text):
        return "its remarks do not state the units and the number of chunks"
    most, classes = int(text), {"single": 1, "per-stage": 1, "k": installments}
    needed = classes.get(plan_class or "any")
    if needed is None or most < needed:
        return f"it does not hold for all plans of the class {plan_class}"
    if len(instance.tasks) * instance.cluster.nodes * most > MAX_CHUNKS:
        return f"a program of more than {MAX_CHUNKS:,} chunks is not checked"
    return StreamChunks(instance, weights, origin, time_unit, load_unit, most)


def _stated_scale(remarks: Mapping[str, str], key: str) -> tuple[Fraction, Fraction | None]:
    """Return the instant 0 that a remark states, and its unit; None if it states none."""
    match = _SCALE.fullmatch(remarks.get(key, ""))
    if match is not None:
        origin, unit = (stated_number({key: word}, key) for word in (match[1] or "0", match[2]))
        if origin is not None and unit is not None and unit > 0:
            return origin, unit
    return ZERO, None
