"""How late the latest task is, at the least, where not all of them can be in time.

All deadlines are moved by as much as a plan needs that accepts everything; what the program over
orders then gains is what the latest task need not be late. So gaps lie behind deadlines, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dlopt.arithmetic import shown
from dlopt.backends.time_budget import Budget
from dlopt.models.admission.sequencing_milp import SPARE
from dlopt.models.multistage.fixed_sequence_lp import Grants, Part, SequenceModel, by_deadline
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.sequencing_milp import OrderModel
from dlopt.result import Status

SMALL, SMALL_ON_TWO = 12, 20
"""Chunks of a program over orders that is solved for the least lateness, which only explains."""
MOST_CHUNKS = 1_000
"""Chunks of an order that is put into a linear program, at the most."""
_NODES = 1_000
"""Nodes of branch and bound of that program."""


class Lateness:
    """The question how late all jobs and bookings of a case make the latest job.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node in a gap.
    budget : Budget
    seed : int
    solver : str
        Of the program over orders.
    """

    def __init__(
        self, case: Case, installments: int, budget: Budget, seed: int, solver: str
    ) -> None:
        self.case, self.installments, self.budget = case, installments, budget
        self.seed, self.solver = seed, solver

    def told(self, grants: Grants) -> str | None:
        """Return the least lateness in words, or one that is enough; None if none was found.

        Parameters
        ----------
        grants : Grants
            Nodes for all bookings, to start from.

        Raises
        ------
        TimeoutError
        SolverError
        """
        loose = self.enough(grants)
        if loose is None:
            return None
        least = self.least(loose)
        if least is not None:
            return f"the least largest lateness is {self._shown(least)}"
        return f"the latest task need not be later than {self._shown(loose)}"

    def enough(self, grants: Grants) -> Fraction | None:
        """Return how late the latest job is by deadline, with some nodes for the bookings."""
        late = self._after_all()
        case = self.case.delayed(late)
        parts = by_deadline(case, range(len(case.jobs)), grants)
        found = self._of(case, parts, grants)
        return None if found is None else max(late + found, Fraction(0))

    def least(self, loose: Fraction) -> Fraction | None:
        """Return how late the latest job must be, None if the program over orders is too large."""
        late = max(loose, SPARE) * (1 + SPARE)
        case = self.case.delayed(late)
        model = OrderModel(case, self.installments, late=Fraction(0), early=late)
        few = SMALL_ON_TWO if len(case.stream.nodes) <= 2 else SMALL
        if len(model.slots) > few:
            return None
        limits = self.budget.left()
        limits = replace(limits, work=min(limits.work or _NODES, _NODES))
        order = model.state().solve(limits, self.solver, self.seed)
        if order.outcome.status is not Status.OPTIMAL:
            return None
        found = self._of(case, order.parts, order.grants)
        return loose if found is None else max(min(late + found, loose), Fraction(0))

    def _after_all(self) -> Fraction:
        """Return a lateness that is enough: one node does everything when all else has ended."""
        stream, jobs = self.case.stream, self.case.jobs
        instants = [*stream.free, *(one.end for one in self.case.bookings)]
        unit = min(stream.unit(node) for node in stream.nodes)
        last = max([*instants, *(job.release for job in jobs)])
        last += sum((stream.overhead + unit * job.load for job in jobs), Fraction(0))
        return max(last - min((job.due for job in jobs), default=last), Fraction(0))

    def _of(self, case: Case, parts: Sequence[Part], grants: Grants) -> Fraction | None:
        """Return the least lateness of an order of chunks, None if it is not found.

        A chunk without load counts as late if its gap is: it is left out.
        """
        least: Fraction | None = None
        while {part.job for part in parts} == set(range(len(case.jobs))):
            if len(parts) > MOST_CHUNKS:
                return None
            model = SequenceModel(case, parts, grants).minimise_lateness()
            found = model.solve(replace(self.budget.left(), work=None), self.seed)
            if found is None:
                return least
            least = found.lateness
            kept = [part for part, load in zip(parts, found.loads, strict=True) if load]
            if len(kept) == len(parts):
                return least
            parts = kept
        return least

    def _shown(self, lateness: Fraction) -> str:
        return shown(self.case.stream.span_back(lateness))
