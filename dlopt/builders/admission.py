"""Divisible tasks that arrive, and the nodes that they are divided among."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from dlopt.arithmetic import Number
from dlopt.builders.names import Names, naming
from dlopt.builders.nodes import NodesBuilder
from dlopt.problems.admission import Instance, Task


@dataclass(kw_only=True)
class StreamBuilder(NodesBuilder):
    """What the builders of `admission` and `multistage` share: nodes, and tasks that arrive."""

    _task_names: Names = field(default_factory=lambda: Names("task"), init=False, repr=False)
    _tasks: list[Task] = field(default_factory=list, init=False, repr=False)

    def add_task(
        self, name: str, *, arrival: Number, load: Number, deadline: Number, weight: Number = 1
    ) -> Self:
        """Add a task; its deadline is relative to its arrival."""
        with naming(f"task {name}"):
            task = Task(name, arrival, load, deadline, weight=weight)
            self._task_names.add(name)
        self._tasks.append(task)
        return self

    def sorted_tasks(self) -> tuple[Task, ...]:
        """Return the tasks in the order of their arrivals."""
        return tuple(sorted(self._tasks, key=lambda task: task.arrival))


@dataclass(kw_only=True)
class AdmissionBuilder(StreamBuilder):
    """Builds an instance of `admission`: nodes, and tasks that arrive.

    Parameters
    ----------
    name, tau, chi, theta_cm, theta_cp, origin, units
        See `dlopt.builders.nodes.NodesBuilder`.

    Examples
    --------
    >>> builder = AdmissionBuilder(tau=1, chi=9).add_node("left").add_node("right", chi=12)
    >>> builder = builder.add_task("b", arrival=3, load=2, deadline=30)
    >>> instance = builder.add_task("a", arrival=0, load=1, deadline=20).build()
    >>> [task.id for task in instance.tasks], instance.cluster.chi
    (['a', 'b'], (9, 12))
    """

    def build(self) -> Instance:
        """Return the instance, its tasks in the order of their arrivals.

        Raises
        ------
        InvalidInstanceError
            If there is no node or no task.
        """
        return Instance(
            self.cluster(),
            self.sorted_tasks(),
            ready_times=self.ready_times(),
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )
