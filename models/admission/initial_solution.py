"""What a search starts from: the plan that a hint comes to, replayed in the model's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from dlopt.arithmetic import FLOATING, exact
from dlopt.models.admission.fixed_sequence_lp import Part, completed, loaded_plan
from dlopt.models.admission.scaled_instance import Case
from dlopt.problems.admission.data import Chunk, Decision, Solution


class Hint(Protocol):
    """What plans of this family say of tasks."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Yes or no to each task."""

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """What is sent."""


class Sent(NamedTuple):
    """A chunk of a hint: the job, by its index in the case, the node, its load and its start."""

    job: int
    node: int
    load: Fraction
    start: Fraction


def replayed_hint(
    case: Case, hint: Solution, installments: int
) -> tuple[Solution, list[int]] | None:
    """Return the plan of a hint, and the jobs that it accepts.

    Its chunks are sent in their order, each when the hint says, or as soon after as task, channel
    and node allow. So a valid hint stays as it is, and nothing that another one says is believed.

    Parameters
    ----------
    case : Case
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
    >>> case = Case.of(Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),)))
    >>> sent = Chunk("a", 0, 1, 1, 2, 2, 3), Chunk("a", 0, 1, 2, 3, 3, 4)
    >>> plan, accepted = replayed_hint(case, Solution((Decision("a", True, 0),), sent), 2)
    >>> [(int(chunk.transmission_start), int(chunk.computation_end)) for chunk in plan.chunks]
    [(1, 3), (3, 5)]
    """
    accepted = accepted_jobs(case, hint)
    if accepted is None or most_chunks((c.task, c.node) for c in hint.chunks) > installments:
        return None
    sent = chunks_of(case, hint, accepted)
    loads = None if sent is None else whole_loads(case, sent, accepted)
    if sent is None or loads is None:
        return None
    parts, starts = [Part(one.job, one.node) for one in sent], [one.start for one in sent]
    plan = loaded_plan(case, parts, loads, accepted, starts)
    return None if plan is None else (plan, accepted)


def most_chunks(places: Iterable[object]) -> int:
    """Return how many chunks there are in the place that has most."""
    return max(Counter(places).values(), default=0)


def accepted_jobs(case: Case, hint: Hint) -> list[int] | None:
    """Return the jobs that a hint accepts; None if it breaks a promise, or makes none."""
    said = {one.task: one for one in hint.decisions if one.accepted}
    if not all(one.promised for one in said.values()):
        return None
    tasks = case.instance.tasks
    jobs = [i for i, job in enumerate(case.jobs) if tasks[job.index].id in said]
    return jobs if all(i in jobs for i, job in enumerate(case.jobs) if job.must) else None


def chunks_of(case: Case, hint: Hint, accepted: Iterable[int]) -> list[Sent] | None:
    """Return the chunks of jobs in the order of a hint, but for those of settled tasks.

    None if a chunk is of no accepted task, on no node, or of a negative load.
    """
    tasks = case.instance.tasks
    jobs = {tasks[case.jobs[i].index].id: i for i in accepted}
    settled = {tasks[index].id for index in case.settled}
    found: list[Sent] = []
    for chunk in sorted(hint.chunks, key=_order):
        load = exact(chunk.load)
        if chunk.task in settled:
            continue
        if chunk.task not in jobs or chunk.node not in case.nodes or load < 0:
            return None
        start = exact(chunk.transmission_start)
        found.append(Sent(jobs[chunk.task], chunk.node, load / case.load_unit, start))
    return found


def whole_loads(
    case: Case, sent: Sequence[Sent], accepted: Iterable[int]
) -> tuple[Fraction, ...] | None:
    """Return the loads of chunks, those of their jobs in sum; None if they are off in the hint."""
    sums = dict.fromkeys(accepted, Fraction(0))
    for one in sent:
        sums[one.job] += one.load
    spare = 0 if case.instance.exact else exact(FLOATING)
    tasks = case.instance.tasks
    for i, load in sums.items():
        whole = exact(tasks[case.jobs[i].index].load) / case.load_unit
        if abs(load - case.jobs[i].load) > spare * whole:
            return None
    return completed([one.job for one in sent], [one.load for one in sent], case.jobs)


def _order(chunk: Chunk) -> tuple[Fraction, ...]:
    instants = chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    return tuple(exact(instant) for instant in instants)
