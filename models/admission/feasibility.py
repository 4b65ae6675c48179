"""Whether all jobs of a case can be done in time: by plan, or by proof that they cannot."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.arithmetic import exact, shown
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.cpsat import GridModel, quanta
from dlopt.models.admission.fixed_sequence_lp import Part, SequenceModel, by_deadline, plan_of
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.admission.sequencing_milp import SPARE, TOO_MANY, OrderModel
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.problems.admission.data import Solution
from dlopt.result import Limits, Proof, Status

SMALL, SMALL_ON_TWO = 12, 20
"""Chunks of a model of orders that is solved at once, before CP-SAT looks for an order."""
MOST_CHUNKS = 1_000
"""Chunks that are put on a grid or into a linear program, at the most."""
EFFORT = 2.0
"""Deterministic time of CP-SAT on a grid."""
_NODES = 1_000
"""Nodes of branch and bound for the least lateness, which only explains."""
_MARGIN = Fraction(1, 2**6)
"""Lateness, in units of the model, that is told from none: about 1e-5 of the horizon."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of the question.

    Parameters
    ----------
    status : Status
        ``OPTIMAL``: there is a plan. ``INFEASIBLE``: there is none. ``UNKNOWN``: it is too close
        to tell. ``LIMIT``.
    plan : Solution or None
    reason : str or None
    certificate : BoundCertificate or None
        The proof that there is no plan, if it is one in fractions.
    stands_on : {"exact", "solver"}
        Whether the status is proven in fractions, or the solver's claim.
    """

    status: Status
    plan: Solution | None = None
    reason: str | None = None
    certificate: BoundCertificate | None = None
    stands_on: Proof = "exact"


class Feasibility:
    """One question.

    Parameters
    ----------
    case : Case
        All of its jobs are to be accepted.
    installments : int
        Chunks that a task may have on a node.
    limits : Limits
    seed : int
    solver : str
        Of the program over orders.
    """

    def __init__(
        self, case: Case, installments: int, limits: Limits, seed: int, solver: str = DEFAULT
    ) -> None:
        self.case, self.installments = case, installments
        self.seed, self.solver = seed, solver
        self.everyone = range(len(case.jobs))
        self.budget = Budget(limits)

    def decide(self, *, relax: bool = True, explain: bool = False) -> Verdict:
        """Return the verdict.

        Parameters
        ----------
        relax : bool
            Ask the fluid relaxation first.
        explain : bool
            Also find how late the latest task must be, if there is no plan.
        """
        try:
            verdict = self._decide(relax)
        except TimeoutError:
            return Verdict(Status.LIMIT, reason="a limit was reached before it was decided")
        if explain and verdict.status is Status.INFEASIBLE:
            with contextlib.suppress(TimeoutError, SolverError):  # it is only a help
                return replace(verdict, reason=f"{self._explanation()}; {verdict.reason}")
        return verdict

    def _decide(self, relax: bool) -> Verdict:
        if relax:
            bound = upper_bound(
                self.case,
                self.budget.left(),
                installments=self.installments,
                everyone=True,
                relaxed=True,
                seed=self.seed,
            )
            if bound.worth is None:
                text = f"not even loads that flow would be in time ({bound.proof})"
                return Verdict(Status.INFEASIBLE, None, text, bound.certificate)
        plan = self._plan(by_deadline(self.case, self.everyone))
        model = OrderModel(self.case, self.installments, late=_MARGIN)
        if plan is None and len(model.slots) <= MOST_CHUNKS and not is_small(model):
            plan = self._on_grids()
        if plan is not None:
            return Verdict(Status.OPTIMAL, plan)
        return self._by_orders(model)

    def _plan(self, parts: tuple[Part, ...] | list[Part]) -> Solution | None:
        if {part.job for part in parts} != set(self.everyone) or len(parts) > MOST_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None)
        return plan_of(self.case, parts, self.everyone, limits, self.seed)

    def _on_grids(self) -> Solution | None:
        """Look for orders on a coarse and on a fine grid, and then on one with more time."""
        coarse, fine = quanta(self.case)
        for quantum, late in ((coarse, 0), (fine, 0), (coarse, 2)):
            grid = GridModel(self.case, self.installments, quantum, late)
            model = grid.maximise_weight(self.case.worth(self.everyone) - self.case.granted)
            found = model.solve(self.budget.left(1 / 4), self.seed, EFFORT)
            plan = None if found is None else self._plan(found.parts)
            if plan is not None:
                return plan
        return None

    def _by_orders(self, model: OrderModel) -> Verdict:
        """Ask for the order of least lateness, up to a margin."""
        if model.pairs is None:
            return Verdict(Status.UNKNOWN, reason=TOO_MANY)
        parts, outcome = model.state().solve(self.budget.left(), self.solver, self.seed)
        if outcome.status is Status.INFEASIBLE:
            text = f"every order of chunks is late by more than {self._shown(_MARGIN)}"
            return _claimed(f"{text}, says {outcome.solver}, in floats")
        plan = self._plan(parts) if parts else None
        if plan is not None:
            return Verdict(Status.OPTIMAL, plan)
        if outcome.bound is not None and outcome.bound > SPARE:
            text = f"every order of chunks is late by {self._shown(exact(outcome.bound))} or more"
            return _claimed(f"{text}, says {outcome.solver}, in floats")
        if outcome.status is Status.OPTIMAL:
            return Verdict(Status.UNKNOWN, reason="it is too close for the solver to tell")
        return Verdict(Status.LIMIT, reason="a limit was reached before it was decided")

    def _explanation(self) -> str:
        """Say how late the latest task must be, or how late it need not be."""
        order = by_deadline(self.case, self.everyone)
        missing = set(self.everyone) - {part.job for part in order}
        order += [Part(i, node) for i in sorted(missing) for node in self.case.nodes]
        loose = self._lateness(order)
        if loose is None:
            raise TimeoutError
        model = OrderModel(self.case, self.installments, late=max(loose, SPARE) * (1 + SPARE))
        if is_small(model):
            limits = self.budget.left()
            limits = replace(limits, work=min(limits.work or _NODES, _NODES))
            parts, outcome = model.state().solve(limits, self.solver, self.seed)
            least = self._lateness(parts)
            if least is not None and outcome.status is Status.OPTIMAL:
                return f"the least largest lateness is {self._shown(min(least, loose))}"
        return f"the latest task need not be later than {self._shown(loose)}"

    def _lateness(self, parts: list[Part]) -> Fraction | None:
        """Return the least lateness of an order of chunks, None if it is not found."""
        if {part.job for part in parts} != set(self.everyone) or len(parts) > MOST_CHUNKS:
            return None
        loaded = (
            SequenceModel(self.case, parts).minimise_lateness().solve(self.budget.left(), self.seed)
        )
        return None if loaded is None else loaded.lateness

    def _shown(self, lateness: Fraction) -> str:
        return shown(self.case.span_back(lateness))


def _claimed(reason: str) -> Verdict:
    """Return that there is no plan, as a solver claims."""
    return Verdict(Status.INFEASIBLE, reason=reason, stands_on="solver")


def is_small(model: OrderModel) -> bool:
    """Tell whether a model of orders is solved in seconds."""
    return len(model.slots) <= (SMALL_ON_TWO if len(model.case.nodes) <= 2 else SMALL)
