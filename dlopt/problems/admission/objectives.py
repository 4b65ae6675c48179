"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.problems.admission.data import Instance, Solution, Task
from dlopt.problems.admission.goals import OBJECTIVES


def objective(instance: Instance, solution: Solution, name: str = "accepted") -> Number:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : str
        ``accepted``: how many tasks are accepted and, where no deadline was promised, done by
        their deadlines nevertheless. ``accepted-load``, ``accepted-weight``: the load, and the
        weight, of these. ``reject-ratio``: rejected tasks by all tasks. ``utilization``: the share
        of the time of all nodes, from the first arrival (or `now`) to the last absolute deadline,
        in which they receive or compute chunks of the plan. ``misses``: tasks accepted without a
        promise that end after their deadlines.

    Examples
    --------
    >>> from dlopt.problems.admission import Chunk, Decision
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 4),))
    >>> plan = Solution((Decision("a", True, 0),), (Chunk("a", 0, 1, 0, 1, 1, 2),))
    >>> objective(instance, plan), objective(instance, plan, "utilization")
    (1, Fraction(1, 2))
    """
    outcomes = _TaskOutcomes(instance, solution)
    if name == "accepted":
        return len(outcomes.served)
    if name == "accepted-load":
        return simplest(sum((exact(task.load) for task in outcomes.served), Fraction(0)))
    if name == "accepted-weight":
        return simplest(sum((exact(task.weight) for task in outcomes.served), Fraction(0)))
    if name == "reject-ratio":
        return Fraction(len(outcomes.rejected), len(instance.tasks))
    if name == "utilization":
        return outcomes.utilization()
    if name == "misses":
        return len(outcomes.late)
    raise NotApplicableError(f"admission has no objective {name!r}: {', '.join(OBJECTIVES)}")


def late_tasks(instance: Instance, solution: Solution) -> tuple[Task, ...]:
    """Return the tasks accepted without a promise that end after their deadlines.

    They do not count as accepted, see `objective`.

    Parameters
    ----------
    instance : Instance
    solution : Solution
        It need not be valid.

    Examples
    --------
    >>> from dlopt.problems.admission import Chunk, Decision
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 3),))
    >>> chunks = (Chunk("a", 0, 2, 0, 2, 2, 4),)
    >>> plan = Solution((Decision("a", True, 0, promised=False),), chunks)
    >>> [task.id for task in late_tasks(instance, plan)]
    ['a']
    """
    return _TaskOutcomes(instance, solution).late


class _TaskOutcomes:
    """The outcome of each task in a schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution) -> None:
        self.instance = instance
        self.solution = solution
        self.decisions = {decision.task: decision for decision in solution.decisions}
        known = [task for task in instance.tasks if task.id in self.decisions]
        self.accepted = [task for task in known if self.decisions[task.id].accepted]
        self.rejected = [task for task in known if not self.decisions[task.id].accepted]

    @cached_property
    def ends(self) -> dict[str, Fraction]:
        ends: dict[str, Fraction] = {}
        for chunk in self.solution.chunks:
            end = exact(chunk.computation_end)
            ends[chunk.task] = max(end, ends.get(chunk.task, end))
        return ends

    @property
    def served(self) -> list[Task]:
        """The tasks whose deadline is promised or, at least, met."""
        return [task for task in self.accepted if not self._is_late(task)]

    @property
    def late(self) -> tuple[Task, ...]:
        """The others that are accepted."""
        return tuple(filter(self._is_late, self.accepted))

    def _is_late(self, task: Task) -> bool:
        deadline = exact(task.arrival) + exact(task.deadline)
        promised = self.decisions[task.id].promised
        return not promised and self.ends.get(task.id, deadline) > deadline

    def utilization(self) -> Fraction:
        tasks = self.instance.tasks
        first = max(min(exact(task.arrival) for task in tasks), exact(self.instance.now))
        last = max(exact(task.arrival) + exact(task.deadline) for task in tasks)
        if last <= first:
            return Fraction(0)
        busy = Fraction(0)
        for chunk in self.solution.chunks:
            for start, end in (
                (chunk.transmission_start, chunk.transmission_end),
                (chunk.computation_start, chunk.computation_end),
            ):
                busy += max(min(exact(end), last) - max(exact(start), first), Fraction(0))
        return busy / (self.instance.cluster.nodes * (last - first))
