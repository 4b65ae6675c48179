"""The minimum of the maximum lateness, where not all tasks can be in time: Lmax.

All deadlines are extended by as much as some schedule that accepts everything needs. The sequencing
MILP then minimises the (negative) lateness against the extended deadlines, so that gaps are
considered that lie after the original deadlines, too:

minimise    T
subject to  -extension <= T <= 0
            the rows of `dlopt.models.multistage.sequencing_milp`, with ``due_i + extension``

and ``Lmax = extension + T``. The result explains why a set of tasks is refused; it proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import shown
from dlopt.backends.time_budget import Budget
from dlopt.models.admission.feasibility import (
    EXPLANATION_NODES,
    MAX_CHUNKS,
    attained_lateness_message,
    max_small_chunks,
    minimum_lateness_message,
)
from dlopt.models.admission.sequencing_milp import DUE_DATE_MARGIN
from dlopt.models.multistage.fixed_sequence_lp import (
    FixedSequenceLp,
    Grants,
    UnsizedChunk,
    sequence_by_deadline,
)
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.result import Status


class MinMaxLateness:
    """The question how late the latest task must be if everything is accepted.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node in a gap.
    budget : Budget
    seed : int
    solver : str
        For the sequencing MILP.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Task
    >>> from dlopt.result import Limits
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 3),))
    >>> scaled = ScaledInstance.from_instance(instance, accept_all=True)
    >>> MinMaxLateness(scaled, 1, Budget(Limits()), 0, "HiGHS").message(grants={})
    'minimum maximum lateness Lmax = 1'
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        budget: Budget,
        seed: int,
        solver: str,
    ) -> None:
        self.scaled, self.installments, self.budget = scaled, installments, budget
        self.seed, self.solver = seed, solver

    def message(self, grants: Grants) -> str | None:
        """Report the minimum lateness, or an upper bound on it; None if neither was found.

        Parameters
        ----------
        grants : Grants
            Nodes for all reservations, to start from.

        Raises
        ------
        TimeoutError
        SolverError
        """
        attained = self.sufficient(grants)
        if attained is None:
            return None
        minimum = self.minimum(attained)
        if minimum is not None:
            return minimum_lateness_message(self._format(minimum))
        return attained_lateness_message(self._format(attained))

    def sufficient(self, grants: Grants) -> Fraction | None:
        """Return the lateness of a schedule by deadline, with given nodes for the reservations."""
        extension = self._trivial_lateness()
        scaled = self.scaled.with_deadlines_extended(extension)
        sequence = sequence_by_deadline(scaled, range(len(scaled.tasks)), grants)
        lateness = self._lateness_of(scaled, sequence, grants)
        return None if lateness is None else max(extension + lateness, Fraction(0))

    def minimum(self, attained: Fraction) -> Fraction | None:
        """Return the minimum of the maximum lateness, None if the MILP is too large."""
        extension = max(attained, DUE_DATE_MARGIN) * (1 + DUE_DATE_MARGIN)
        scaled = self.scaled.with_deadlines_extended(extension)
        zero = Fraction(0)
        milp = SequencingMilp(scaled, self.installments, zero, max_earliness=extension)
        if len(milp.candidates.chunks) > max_small_chunks(scaled.tasks_only):
            return None
        limits = self.budget.left()
        limits = replace(limits, work=min(limits.work or EXPLANATION_NODES, EXPLANATION_NODES))
        solution = milp.build().solve(limits, self.solver, self.seed)
        if solution.outcome.status is not Status.OPTIMAL:
            return None
        lateness = self._lateness_of(scaled, solution.sequence, solution.grants)
        return attained if lateness is None else max(min(extension + lateness, attained), zero)

    def _trivial_lateness(self) -> Fraction:
        """Return a sufficient lateness: one node does everything when all else has ended."""
        tasks_only, tasks = self.scaled.tasks_only, self.scaled.tasks
        instants = [
            *tasks_only.free,
            *(reservation.end for reservation in self.scaled.reservations),
        ]
        unit_time = min(tasks_only.unit_time(node) for node in tasks_only.nodes)
        last = max([*instants, *(task.release for task in tasks)])
        times = (tasks_only.overhead + unit_time * task.load for task in tasks)
        last += sum(times, Fraction(0))
        return max(last - min((task.due for task in tasks), default=last), Fraction(0))

    def _lateness_of(
        self, scaled: ScaledInstance, sequence: Sequence[UnsizedChunk], grants: Grants
    ) -> Fraction | None:
        """Return the minimum lateness of a sequence of chunks, None if it is not found.

        A chunk without load would count as late if its gap is: it is left out, and the rest solved
        again.
        """
        minimum: Fraction | None = None
        while {chunk.task for chunk in sequence} == set(range(len(scaled.tasks))):
            if len(sequence) > MAX_CHUNKS:
                return None
            model = FixedSequenceLp(scaled, sequence, grants).minimise_lateness()
            result = model.solve(replace(self.budget.left(), work=None), self.seed)
            if result is None:
                return minimum
            minimum = result.lateness
            loaded = [chunk for chunk, load in zip(sequence, result.loads, strict=True) if load]
            if len(loaded) == len(sequence):
                return minimum
            sequence = loaded
        return minimum

    def _format(self, lateness: Fraction) -> str:
        return shown(self.scaled.tasks_only.unscale_duration(lateness))
