"""The incumbent that a hint gives: its chunks, scheduled again with the model's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from dlopt.arithmetic import FLOATING, exact
from dlopt.models.admission.fixed_sequence_lp import (
    UnsizedChunk,
    scale_loads_to_totals,
    schedule_loads,
)
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.problems.admission.data import Chunk, Decision, Solution


class HintSolution(Protocol):
    """What the solutions of this problem and of `multistage` say of tasks."""

    @property
    def decisions(self) -> Sequence[Decision]:
        """Acceptance or rejection of each task."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks that are sent."""


class HintChunk(NamedTuple):
    """A chunk of a hint: the task, by its index in the scaled instance, node, load and start."""

    task: int
    node: int
    load: Fraction
    start: Fraction


def replay_hint(
    scaled: ScaledInstance, hint: Solution, installments: int
) -> tuple[Solution, list[int]] | None:
    """Return the schedule of a hint, and the tasks that it accepts.

    Its chunks are sent in their order, each at the time that the hint states, or as soon after as
    task, channel and node allow. A feasible hint therefore stays as it is, and nothing that an
    infeasible one states is taken on trust.

    Parameters
    ----------
    scaled : ScaledInstance
    hint : Solution
    installments : int
        Chunks that a task may have on a node.

    Returns
    -------
    (Solution, list of int), optional
        None if a task has more chunks, is accepted without a promise or rejected in spite of one,
        if loads are not those of the tasks, or if a deadline is missed.

    Examples
    --------
    >>> from dlopt.problems.admission.data import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),))
    >>> chunks = Chunk("a", 0, 1, 1, 2, 2, 3), Chunk("a", 0, 1, 2, 3, 3, 4)
    >>> hint = Solution((Decision("a", True, 0),), chunks)
    >>> schedule, accepted = replay_hint(ScaledInstance.from_instance(instance), hint, 2)
    >>> [(int(chunk.transmission_start), int(chunk.computation_end)) for chunk in schedule.chunks]
    [(1, 3), (3, 5)]
    """
    accepted = accepted_tasks(scaled, hint)
    if accepted is None or max_multiplicity((c.task, c.node) for c in hint.chunks) > installments:
        return None
    chunks = hint_chunks(scaled, hint, accepted)
    if chunks is None:
        return None
    sequence = [UnsizedChunk(chunk.task, chunk.node) for chunk in chunks]
    loads, starts = [chunk.load for chunk in chunks], [chunk.start for chunk in chunks]
    schedule = schedule_loads(scaled, sequence, loads, accepted, starts)
    return None if schedule is None else (schedule, accepted)


def max_multiplicity(items: Iterable[object]) -> int:
    """Return how many times the most frequent item appears."""
    return max(Counter(items).values(), default=0)


def accepted_tasks(scaled: ScaledInstance, hint: HintSolution) -> list[int] | None:
    """Return the tasks that a hint accepts.

    None if it rejects a mandatory task, or accepts a task without a promise.
    """
    acceptances = {decision.task: decision for decision in hint.decisions if decision.accepted}
    if not all(decision.promised for decision in acceptances.values()):
        return None
    originals = scaled.instance.tasks
    accepted = [i for i, task in enumerate(scaled.tasks) if originals[task.index].id in acceptances]
    mandatory = (i for i, task in enumerate(scaled.tasks) if task.mandatory)
    return accepted if all(i in accepted for i in mandatory) else None


def hint_chunks(
    scaled: ScaledInstance, hint: HintSolution, accepted: Sequence[int]
) -> list[HintChunk] | None:
    """Return the chunks of unfinished tasks in the order of a hint, with loads that add up.

    None if a chunk is of no accepted task, on no node, or of a negative load, or if the loads of a
    task do not add up to its load.
    """
    originals = scaled.instance.tasks
    index_of = {originals[scaled.tasks[i].index].id: i for i in accepted}
    finished = {originals[index].id for index in scaled.finished}
    chunks: list[HintChunk] = []
    for chunk in sorted(hint.chunks, key=_transmission_order):
        load = exact(chunk.load)
        if chunk.task in finished:
            continue
        if chunk.task not in index_of or chunk.node not in scaled.nodes or load < 0:
            return None
        start = exact(chunk.transmission_start)
        chunks.append(HintChunk(index_of[chunk.task], chunk.node, load / scaled.load_unit, start))
    return _match_task_loads(scaled, chunks, accepted)


def _match_task_loads(
    scaled: ScaledInstance, chunks: Sequence[HintChunk], accepted: Iterable[int]
) -> list[HintChunk] | None:
    """Return the chunks with loads that add up to their tasks'; None if the hint's do not."""
    sums = dict.fromkeys(accepted, Fraction(0))
    for chunk in chunks:
        sums[chunk.task] += chunk.load
    tolerance = 0 if scaled.instance.exact else exact(FLOATING)
    originals = scaled.instance.tasks
    for i, load in sums.items():
        whole = exact(originals[scaled.tasks[i].index].load) / scaled.load_unit
        if abs(load - scaled.tasks[i].load) > tolerance * whole:
            return None
    owners, loads = [chunk.task for chunk in chunks], [chunk.load for chunk in chunks]
    totals = scale_loads_to_totals(owners, loads, scaled.tasks)
    return [chunk._replace(load=load) for chunk, load in zip(chunks, totals, strict=True)]


def _transmission_order(chunk: Chunk) -> tuple[Fraction, ...]:
    instants = chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    return tuple(exact(instant) for instant in instants)
