"""Local search over sequences of chunks around reservations.

The search is that of `dlopt.models.common.sequence_annealing`. Requests are the tasks, by their
indices, and then the reservations. The accepted reservations get their nodes first, and divide the
windows of tasks as in `dlopt.models.multistage.fixed_sequence_lp`: a chunk that comes too late for
its gap is sent in a later one. Sets of requests are drawn that fit into the fluid
relaxation without a full window.

Source: ours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from math import inf

from dlopt.models.admission.sequence_search import costs_of
from dlopt.models.common.chunk_sequences import PossibleChunks, Window
from dlopt.models.common.request_sets import RelaxationTest, RequestSets
from dlopt.models.common.sequence_annealing import SequenceAnnealing
from dlopt.models.multistage.fixed_sequence_lp import (
    Grants,
    UnsizedChunk,
    chunk_window,
    task_gaps,
)
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.full_window_cuts import FullWindows
from dlopt.models.multistage.node_assignments import (
    MAX_ASSIGNED,
    assign_nodes,
    node_assignments,
)
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.result import Limits


class NodeChoices:
    """The nodes of sets of reservations, chosen once for each set.

    Parameters
    ----------
    scaled : ScaledInstance

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation
    >>> wanted = Reservation("r", 0, 1, 3, nodes=2), Reservation("s", 0, 2, 4)
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (), wanted)
    >>> choices = NodeChoices(ScaledInstance.from_instance(instance))
    >>> choices.nodes([0]), choices.nodes([0, 1])
    ({0: (0, 1)}, None)
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        self.known: dict[frozenset[int], Grants | None] = {}

    def nodes(self, reservations: Collection[int]) -> Grants | None:
        """Return the nodes of some reservations; None if they conflict."""
        key = frozenset(reservations)
        if key not in self.known:
            order = sorted(key)
            restricted = self.scaled.restricted_to((), order)
            found = assign_nodes(restricted)
            if found is None and len(order) <= MAX_ASSIGNED:
                found = next(node_assignments(restricted), None)
            self.known[key] = (
                None if found is None else {order[r]: nodes for r, nodes in found.items()}
            )
        return self.known[key]

    def prefer(self, grants: Grants) -> None:
        """Choose the nodes that reservations have already."""
        self.known[frozenset(grants)] = grants


class ReservationSequenceSearch(SequenceAnnealing[UnsizedChunk]):
    """Searches for sequences of chunks that finish sets of tasks around reservations.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node in a gap.
    limits, effort, seed
        As in `SequenceAnnealing`.
    choices : NodeChoices

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 4, io_end=4),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 6),), wanted)
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> search = ReservationSequenceSearch(scaled, 1, Limits(), 500, 0, NodeChoices(scaled))
    >>> [chunk.gap for chunk in search.finish([], [0, 1]).loaded_chunks]
    [0, 1]
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        limits: Limits,
        effort: int | None,
        seed: int,
        choices: NodeChoices,
    ) -> None:
        tasks = scaled.tasks
        load = [float(task.load) for task in tasks]
        super().__init__(costs_of(scaled.tasks_only), load, installments, limits, effort, seed)
        self.scaled, self.choices = scaled, choices
        self.gaps = [len(task_gaps(scaled, i)) for i in range(len(tasks))]
        self.first_gap = [bisect_right(scaled.reservation_starts, task.release) for task in tasks]
        self.chunks: dict[frozenset[int], PossibleChunks[UnsizedChunk]] = {}

    def allows(self, requests: frozenset[int]) -> bool:
        """Tell whether reservations get nodes, and all fits in the relaxation."""
        return self.choices.nodes(self._reserved(requests)) is not None and super().allows(requests)

    def possible_chunks(self, requests: Collection[int]) -> PossibleChunks[UnsizedChunk]:
        """Return the chunks of all tasks that can be sent around the accepted reservations."""
        reserved = self._reserved(requests)
        if reserved not in self.chunks:
            windows = dict(self._windows(self.choices.nodes(reserved) or {}))
            self.chunks[reserved] = PossibleChunks(windows, self.installments)
        return self.chunks[reserved]

    def alternatives(self, chunk: UnsizedChunk) -> Iterator[UnsizedChunk]:
        """Yield a chunk, and those of its task and node in later gaps."""
        for gap in range(chunk.gap, self.gaps[chunk.task]):
            yield chunk._replace(gap=gap)

    def moved_to(self, chunk: UnsizedChunk, neighbour: UnsizedChunk) -> UnsizedChunk:
        """Return the chunk in the gap of another one, if that is within the window of its task."""
        gap = self.first_gap[neighbour.task] + neighbour.gap - self.first_gap[chunk.task]
        return chunk._replace(gap=gap) if 0 <= gap < self.gaps[chunk.task] else chunk

    def state_relaxation(self) -> RelaxationTest:
        """Return the fluid relaxation, with the cuts of full windows."""
        model = ReservationFluidRelaxation(self.scaled)
        program, cuts = model.maximise_weight(), FullWindows(self.scaled, model.binaries).separate
        return RelaxationTest(program, model.binaries, self.seed, self.stop, cuts)

    def state_sets(self) -> RequestSets:
        """Return the sets of requests that fit as fluids."""
        tasks, reservations = self.scaled.tasks, self.scaled.reservations
        mandatory = [one.mandatory for one in tasks] + [one.mandatory for one in reservations]
        return RequestSets(
            [one.weight for one in tasks] + [one.weight for one in reservations],
            range(len(mandatory)),
            frozenset(k for k, is_mandatory in enumerate(mandatory) if is_mandatory),
            self.scaled.value_granularity,
            self.allows,
            self.is_over,
            self.random,
        )

    def _reserved(self, requests: Collection[int]) -> frozenset[int]:
        """Return the reservations among some requests."""
        return frozenset(k - len(self.load) for k in requests if k >= len(self.load))

    def _windows(self, grants: Grants) -> Iterator[tuple[UnsizedChunk, Window]]:
        """Yield the chunks that can be sent, with their windows."""
        setup, overhead = self.costs.setup, self.costs.overhead
        for i, task in enumerate(self.scaled.tasks):
            for j in self.scaled.tasks_only.nodes:
                for gap in range(self.gaps[i]):
                    chunk = UnsizedChunk(i, j, gap)
                    earliest, latest, send_by, compute_by = chunk_window(self.scaled, chunk, grants)
                    sent = inf if send_by is None else float(send_by)
                    computed = float(task.due if compute_by is None else min(compute_by, task.due))
                    is_possible = earliest + overhead < computed and earliest + setup < sent
                    if is_possible and earliest <= latest:
                        yield chunk, Window(float(earliest), float(latest), sent, computed)
