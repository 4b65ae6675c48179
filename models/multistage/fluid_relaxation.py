"""The fluid relaxation around reservations: an upper bound for every schedule.

It extends `dlopt.models.admission.fluid_relaxation` by reservations `r`, accepted by a binary
``q_r``; ``h_rg`` of their nodes are of group `g`. With ``I_rk`` and ``N_rk`` for how long the
reservation occupies the channel and its nodes in interval `k`:

maximise    sum_i weight_i z_i + sum_r weight_r q_r
subject to  sum_ig load_i tau_g c_igk + sum_r I_rk q_r <= L_k            one port
            sum_i load_i (tau_g c_igk + chi_g w_igk) + sum_r N_rk h_rg <= C_gk
            sum_g h_rg = count_r q_r                                     any nodes
            sum of q_r, of those that request one node, or the channel, at an instant <= 1
            z_i, q_r in {0, 1}

and the other rows of that program. For a reservation that names its nodes, ``h_rg`` is ``q_r``
times the number of nodes of the group that it names. The nodes of a group have equal costs and are
named by the same reservations; where these groups are too many, neighbours are merged, which
relaxes the program.

Source: ours; for one task around accepted reservations it is model (ii) of the package, whose
``x_jk`` and ``y_jk`` (received and computed by node `j` in interval `k`) are ``load_i c_igk`` and
``load_i w_igk`` here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from dlopt.backends.linear_program import LinearProgram
from dlopt.models.admission.fluid_relaxation import (
    MAX_CELLS,
    FluidRelaxation,
    NodeGroup,
    TimeGrid,
    event_times,
    merge_neighbours,
)
from dlopt.models.multistage.reservation_columns import ReservationColumns
from dlopt.models.multistage.scaled_instance import ScaledInstance

MAX_GROUPS = 6
"""Groups of nodes that are always kept apart, before intervals are merged. Chosen by hand: merged
groups lose which nodes a reservation names, merged intervals when it takes place."""

MAX_FREE_TIMES = 64
"""Up to so many free times of nodes, they divide time into intervals and nodes into groups. Chosen
by hand: more intervals tighten the bound and cost columns."""


class ReservationFluidRelaxation:
    """The program above, in fractions.

    Parameters
    ----------
    scaled : ScaledInstance

    Attributes
    ----------
    tasks : FluidRelaxation
        The part of the program without reservations, on a grid of time and nodes that the
        reservations divide, too; all columns and rows are in it.
    reservations : ReservationColumns
        The columns ``q`` and ``h``.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), tasks, wanted)
    >>> model = ReservationFluidRelaxation(ScaledInstance.from_instance(instance))
    >>> program = model.maximise_weight()
    >>> [model.column_names()[j] for j, cost in enumerate(program.costs) if cost]
    ['z_0', 'q_0']
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        self.tasks = FluidRelaxation(scaled.tasks_only, grid=time_grid(scaled))
        self.reservations = ReservationColumns(scaled, self.tasks, self.tasks.groups)

    @property
    def binaries(self) -> list[int]:
        """The columns ``z`` and ``q``."""
        return [*self.tasks.accepted, *self.reservations.accepted]

    def maximise_weight(self) -> LinearProgram:
        """State the program above, as a minimisation."""
        self.tasks.add_tasks()
        for r in range(len(self.scaled.reservations)):
            self.add_reservation(r)
        self.tasks.add_one_port()
        self.tasks.add_node_times()
        self.reservations.add_conflicts()
        return self.tasks.build(sense=-1)

    def column_names(self) -> list[str]:
        """Name the columns: as in `admission`, and ``q_r`` and ``h_r_g`` as above.

        Here `r` counts the reservations of the instance.
        """
        names = self.tasks.column_names()
        for column, name in self.reservations.names().items():
            names[column] = name
        return names

    def add_reservation(self, r: int) -> None:
        """Occupy the channel and nodes for an accepted reservation; reject an impossible one."""
        reservation, q = self.scaled.reservations[r], self.reservations.accepted[r]
        nodes_of_groups = self.reservations.nodes_of(r)
        if reservation.obstacle is not None:
            return
        io_start, io_end = reservation.start, reservation.io_end
        for k in self.tasks.intervals_between(io_start, io_end):
            self.tasks.port_use[k].append((q, self._overlap(k, io_start, io_end)))
        # Before now, no node counts as free.
        start, end = max(reservation.start, self.scaled.now), reservation.end
        for g, (column, nodes) in nodes_of_groups.items():
            for k in self.tasks.intervals_between(start, end) if start < end else ():
                time = nodes * self._overlap(k, start, end)
                self.tasks.node_use[g, k].append((column, time))

    def _overlap(self, k: int, start: Fraction, end: Fraction) -> Fraction:
        """Return the length of a window within an interval."""
        instants = self.tasks.instants
        return min(end, instants[k + 1]) - max(start, instants[k])


def time_grid(scaled: ScaledInstance) -> TimeGrid:
    """Return the grid of all tasks and reservations.

    Where it has more than `MAX_CELLS`, groups and then intervals are merged.
    """
    instants = _interval_boundaries(scaled)
    task_intervals = sum(
        bisect_left(instants, task.due) - bisect_right(instants, task.release)
        for task in scaled.tasks
    )
    groups = _group_nodes(scaled)
    max_groups = max(MAX_CELLS // max(task_intervals, 1), MAX_GROUPS)
    while len(groups) > max_groups:
        groups = merge_neighbours(groups)
    step = -(-task_intervals * len(groups) // MAX_CELLS)
    if step > 1:
        instants = [*instants[:-1:step], instants[-1]]
    return TimeGrid(instants, groups)


def _group_nodes(scaled: ScaledInstance) -> list[NodeGroup]:
    """Return nodes that have equal costs, are free together and are named together."""
    tasks_only, named_by = scaled.tasks_only, defaultdict[int, list[int]](list)
    for r, reservation in enumerate(scaled.reservations):
        for node in reservation.eligible if reservation.names_nodes else ():
            named_by[node].append(r)
    first = min((task.release for task in scaled.tasks), default=Fraction(0))
    by_free_time = len(set(tasks_only.free)) <= MAX_FREE_TIMES
    nodes = defaultdict(list)
    for j in tasks_only.nodes:
        free = max(tasks_only.free[j], first) if by_free_time else first
        nodes[tasks_only.tau[j], tasks_only.chi[j], tuple(named_by[j]), free].append(j)
    return [NodeGroup(key[0], key[1], tuple(nodes[key])) for key in sorted(nodes)]


def _interval_boundaries(scaled: ScaledInstance) -> list[Fraction]:
    """Return the instants at which something begins or ends, at least two."""
    instants = set(_event_times(scaled))
    return sorted(instants) if len(instants) > 1 else [*instants, *(t + 1 for t in instants)]


def _event_times(scaled: ScaledInstance) -> Iterator[Fraction]:
    """Yield the bounds of reservations and of the tasks' windows, and a few free times."""
    yield scaled.now
    for reservation in scaled.reservations:
        yield from (reservation.start, reservation.io_end, reservation.end)
    free_times = set(scaled.tasks_only.free)
    yield from event_times(
        scaled.tasks_only, free_times if len(free_times) <= MAX_FREE_TIMES else ()
    )
