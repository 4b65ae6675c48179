"""The relaxation over spans of chunks around reservations: an upper bound for few chunks a node.

It extends `dlopt.models.admission.chunk_span_relaxation` by reservations `r`, accepted by a binary
``q_r``, of whose nodes ``h_rg`` are of group `g`. Starts and ends of reservations, and ends of
their transmissions, are instants that divide time, too. With ``I_rm`` and ``N_rm`` for how long
reservation `r` occupies the channel and a node in interval `m`:

    sum of what is sent in interval m + sum_r I_rm q_r <= L_m
    sum of what is occupied in interval m + sum_r N_rm h_rg <= free time of the group's nodes
    sum n + sum of q_r, or h_rg, of the reservations at an instant <= 1 or N_g
    sum n <= K N_g z_i                      of task i, of its chunks in group g that start in a gap

and ``h_rg`` is as in `dlopt.models.multistage.fluid_relaxation`. The occupancy cuts hold with
reservations, too: these send nothing and compute nothing for a task. The cuts of
`dlopt.models.multistage.full_window_cuts` come first. Certificates, of instances in exact numbers,
are checked by `dlopt.problems.multistage.certified_spans`.

Source: ours.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from dlopt.backends.linear_program import Row
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.fluid_relaxation import NodeGroup
from dlopt.models.admission.scaled_instance import ScaledTask
from dlopt.models.common.named_rows import ONE
from dlopt.models.common.stream_bounds import AcceptanceProgram
from dlopt.models.multistage.fluid_relaxation import time_grid
from dlopt.models.multistage.full_window_cuts import FullWindows
from dlopt.models.multistage.reservation_columns import ReservationColumns
from dlopt.models.multistage.scaled_instance import ScaledInstance


class ReservationSpanRelaxation(ChunkSpanRelaxation):
    """The program above, in fractions, and its cuts.

    Parameters
    ----------
    stream : ScaledInstance
    installments : int
        `K`: chunks that a task may have on a node in a gap.
    dividing, most
        As in `ChunkSpanRelaxation`.
    all_spans : bool
        List the spans during which port or nodes are reserved, too, where all reservations must be
        accepted, as a certificate has to.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> from dlopt.result import Limits
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(1, 1, 1), tasks, wanted))
    >>> relaxation = ReservationSpanRelaxation(scaled, 1)
    >>> relaxation.upper_bound(Limits(), known_value=None, seed=0).value
    Fraction(1, 1)
    """

    def __init__(
        self,
        stream: ScaledInstance,
        installments: int,
        dividing: Collection[Fraction] = (),
        most: int | None = None,
        *,
        all_spans: bool = False,
    ) -> None:
        self.stream, self.all_spans = stream, all_spans
        super().__init__(stream.tasks_only, installments, dividing, most)
        self.reservations = ReservationColumns(stream, self, self.groups, self.row_names)
        self.binaries = [*self.accepted, *self.reservations.accepted]
        self.full_windows, self.has_cuts = FullWindows(stream, self.binaries), True

    def grouped_nodes(self) -> list[NodeGroup]:
        """Return groups of nodes that are named together, too."""
        return time_grid(self.stream).groups

    def more_instants(self) -> set[Fraction]:
        """Return when reservations begin and end, from now on."""
        instants = set(self.stream.reservation_starts)
        instants.update(
            t for one in self.stream.reservations for t in (one.start, one.io_end, one.end)
        )
        return {max(instant, self.stream.now) for instant in instants}

    def gap(self, m: int) -> tuple[int, ...]:
        """Return the first and the last interval between two starts of reservations."""
        starts, t = self.stream.reservation_starts, self.instants
        after = bisect_right(starts, t[m])
        first = bisect_left(t, starts[after - 1]) if after else 0
        last = bisect_left(t, starts[after]) if after < len(starts) else len(t) - 1
        return first, last - 1

    def intervals_of_spans(
        self, task: ScaledTask, group: NodeGroup
    ) -> Iterator[tuple[int, int, int, Fraction, Fraction]]:
        """Yield the spans during which port and nodes are free of accepted reservations.

        What is sent in no time does not need the port.
        """
        is_sent = group.tau > 0 or self.scaled.theta_cm > 0
        port = self.reserved_intervals(None) if is_sent else []
        nodes = self.reserved_intervals(group)
        for span in super().intervals_of_spans(task, group):
            start, sent, end = span[:3]
            if not any(port[start : sent + 1]) and not any(nodes[start : end + 1]):
                yield span

    def reserved_intervals(self, group: NodeGroup | None) -> list[bool]:
        """Return in which intervals accepted reservations have the port, or all of some nodes."""
        reserved = self.stream.reservations
        if self.has_all_spans:
            return []
        windows = [
            (one.start, one.io_end if group is None else one.end)
            for one in reserved
            if group is None or (one.names_nodes and set(group.nodes) <= set(one.eligible))
        ]
        return [any(a <= t < b for a, b in windows) for t in self.instants[:-1]]

    @property
    def has_all_spans(self) -> bool:
        """Whether no spans are left out during which reservations must be accepted."""
        reserved = self.stream.reservations
        return self.all_spans or not reserved or not all(one.mandatory for one in reserved)

    def is_free(self, node: int, instant: Fraction) -> bool:
        """Tell whether a node may be in use at an instant, from which on it may be reserved."""
        return self.scaled.free[node] <= instant

    def program(self) -> AcceptanceProgram:
        """State the program above, as a minimisation.

        No checker knows it of decimals, or without the spans that accepted reservations exclude.
        """
        model, stream = super().program(), self.stream
        is_known = stream.instance.exact and self.has_all_spans
        return model._replace(has_checker=model.has_checker and is_known)

    def column_names(self) -> list[str]:
        """Return the names of the columns, which are not in the order of their kinds."""
        names, acceptances = super().column_names(), self.reservations.names()
        return names + list(acceptances.values())

    def add_rows(self) -> None:
        """Add the rows of chunks and tasks, and the uses of port and nodes."""
        super().add_rows()
        for r, reservation in enumerate(self.stream.reservations):
            nodes = self.reservations.nodes_of(r)
            if reservation.obstacle is None:
                q = self.reservations.accepted[r]
                self._occupy(None, q, ONE, reservation.start, reservation.io_end)
                for g, (column, count) in nodes.items():
                    self._occupy(g, column, Fraction(count), reservation.start, reservation.end)
        self.reservations.add_conflicts()

    def separate(self, point: Sequence[float]) -> list[Row]:
        """Return the cuts of full windows that a point violates; without one, occupancy cuts."""
        rows = self.full_windows.separate(point)
        if self.share is None or rows:
            count = len(self.row_names)
            self.row_names.extend(f"full_{n}" for n, _ in enumerate(rows, count))
            return rows
        return list(super().separate(point))

    def _occupy(
        self, g: int | None, column: int, count: Fraction, start: Fraction, end: Fraction
    ) -> None:
        """Use the port, or nodes of a group, for a reservation, within and between intervals.

        Before now, no node counts as free.
        """
        for m, instant in enumerate(self.instants[:-1]):
            if max(start, self.stream.now) <= instant < end:
                length = self.instants[m + 1] - instant
                self.use[g, m, False].append((column, count * length))
                if instant > self.instants[0]:
                    self.use[g, m, True].append((column, count))
