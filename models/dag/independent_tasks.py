"""Independent tasks on identical machines: a schedule is a partition of their times."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.models.common.number_partitioning import MAX_TASKS
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule, left_shifted


def is_number_partitioning(scaled: ScaledInstance) -> bool:
    """Tell whether few tasks have no edges, are ready at once, and all machines are identical.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks, machines = (Task("a", work=3), Task("b", work=4)), (Machine("m"), Machine("n"))
    >>> graphs = Graph("g", tasks), Graph("g", tasks, (Edge(0, 1, data=0),))
    >>> [
    ...     is_number_partitioning(ScaledInstance.from_instance(Instance(machines, (graph,))))
    ...     for graph in graphs
    ... ]
    [True, False]
    """
    rows = (*scaled.release_times, *scaled.delivery_times)
    return (
        not scaled.arcs
        and len(scaled.jobs) <= MAX_TASKS
        and len(scaled.identical_machines) == 1
        and not any(map(any, rows))
    )


def partition_schedule(scaled: ScaledInstance, parts: Sequence[Sequence[int]]) -> Schedule:
    """Return the schedule in which each machine runs the jobs of a part.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k + 1) for k in range(3)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> partition_schedule(scaled, [[0, 1], [2]])
    Schedule(machines=(0, 0, 1), starts=(0, 1, 0))
    """
    machine_of = {job: machine for machine, part in enumerate(parts) for job in part}
    jobs = range(len(scaled.jobs))
    return left_shifted(scaled, [machine_of[job] for job in jobs], jobs)
