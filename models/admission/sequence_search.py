"""Local search over sequences of chunks for the tasks of a stream.

The search is that of `dlopt.models.common.sequence_annealing`. A chunk may start when its task
arrives and its node is free, and must be computed by the deadline of its task. Sets of tasks are
drawn that fit into the fluid relaxation with window cuts.
"""

from __future__ import annotations

from collections.abc import Collection

from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, uses_port
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.models.common.chunk_sequences import NO_LOAD, Costs, PossibleChunks, Window
from dlopt.models.common.request_sets import RelaxationTest, RequestSets
from dlopt.models.common.sequence_annealing import SequenceAnnealing
from dlopt.result import Limits

ANY_TIME = float("inf")


class SequenceSearch(SequenceAnnealing[UnsizedChunk]):
    """Searches for sequences of chunks that finish sets of tasks.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
    limits, effort, seed
        As in `SequenceAnnealing`.

    Examples
    --------
    >>> from dlopt.models.common.sequence_annealing import EFFORT, FINISHED
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 14), Task("b", 0, 10, 15))  # only b first, then a, is in time
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> found = SequenceSearch(scaled, 1, Limits(), EFFORT, 0).improve([], [])
    >>> len(found.requests)
    1
    >>> SequenceSearch(scaled, 1, Limits(), EFFORT, 0).finish([], [0, 1]).unfinished_load < FINISHED
    True
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        limits: Limits,
        effort: int | None,
        seed: int,
    ) -> None:
        load = [float(task.load) for task in scaled.tasks]
        super().__init__(costs_of(scaled), load, installments, limits, effort, seed)
        self.scaled = scaled
        windows = {
            UnsizedChunk(i, j): Window(
                float(scaled.earliest_start(task, j)), ANY_TIME, ANY_TIME, float(task.due)
            )
            for i, task in enumerate(scaled.tasks)
            for j in scaled.nodes
            if scaled.max_load(task, j) > NO_LOAD * task.load
        }
        self.chunks = PossibleChunks(windows, installments)

    def possible_chunks(self, requests: Collection[int]) -> PossibleChunks[UnsizedChunk]:
        """Return the chunks of all tasks that can be sent."""
        return self.chunks

    def alternatives(self, chunk: UnsizedChunk) -> tuple[UnsizedChunk]:
        """Return the chunk alone."""
        return (chunk,)

    def moved_to(self, chunk: UnsizedChunk, neighbour: UnsizedChunk) -> UnsizedChunk:
        """Return the chunk, which may be sent at any time."""
        return chunk

    def state_relaxation(self) -> RelaxationTest:
        """Return the fluid relaxation with window cuts."""
        model = FluidRelaxation(self.scaled)
        cuts = WindowCuts(model, self.installments).separate
        program = model.maximise_weight()
        return RelaxationTest(program, model.accepted, self.seed, self.stop, cuts)

    def state_sets(self) -> RequestSets:
        """Return the sets of tasks that fit as fluids."""
        tasks = self.scaled.tasks
        return RequestSets(
            [task.weight for task in tasks],
            list(self.chunks.of_task),
            frozenset(i for i, task in enumerate(tasks) if task.mandatory),
            self.scaled.value_granularity,
            self.allows,
            self.is_over,
            self.random,
        )


def costs_of(scaled: ScaledInstance) -> Costs:
    """Return the times of port and nodes, in floats."""
    return Costs(
        [float(tau) for tau in scaled.tau],
        [float(scaled.unit_time(j)) for j in scaled.nodes],
        [uses_port(scaled, j) for j in scaled.nodes],
        float(scaled.theta_cm),
        float(scaled.overhead),
    )
