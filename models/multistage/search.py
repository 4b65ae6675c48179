"""The portfolio for acceptance: schedules and bounds, until the gap is closed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from dlopt.arithmetic import SOLVER, exact
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.upper_bounds import ROUNDING_SLACK
from dlopt.models.multistage.chunk_windows import TOO_MANY_SEQUENCES
from dlopt.models.multistage.feasibility import FeasibilityTest
from dlopt.models.multistage.fixed_sequence_lp import Grants, UnsizedChunk, schedule_sequence
from dlopt.models.multistage.initial_solution import replay_hint
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Limits, Proof, Status

TIME_SHARE = 1 / 4
"""Share of the remaining time that each step but the last may take. Chosen by hand: more of it
helps the bound, less leaves more time to the sequencing MILP."""


class MultistageSearch:
    """One search for the schedule of maximum objective value.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node in a gap.
    limits : Limits
    seed : int
    solver : str
        For the sequencing MILP.

    Attributes
    ----------
    plan : Solution or None
        The incumbent.
    value : Fraction
        Its objective value.
    bound : Fraction or None
        No schedule has a larger value; None if nothing is known.
    holds_for_any_plan : bool
        Whether the bound, or that there is no schedule, holds with any number of chunks.
    derivation : str or None
        Where the bound comes from, or why there is no schedule.
    proof_kind : {"exact", "solver"}
        Whether bound or status are proven in fractions, or a solver's claim.
    certificate : BoundCertificate or None
        Of the bound, or that there is no schedule, if it is proven in fractions.
    status : Status or None
        ``INFEASIBLE``, ``UNKNOWN`` or ``LIMIT`` if there is no schedule, for that reason.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), tasks, wanted)  # one of both fits
    >>> search = MultistageSearch(ScaledInstance.from_instance(instance), 1, Limits(), 0, "HiGHS")
    >>> search.run(hint=None)
    >>> str(search.value), str(search.bound), search.is_optimal
    ('1', '1', True)
    """

    def __init__(
        self, scaled: ScaledInstance, installments: int, limits: Limits, seed: int, solver: str
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.limits, self.seed, self.solver = limits, seed, solver
        self.budget = Budget(limits)
        self.plan: Solution | None = None
        self.value = Fraction(-1)
        self.bound: Fraction | None = None
        self.holds_for_any_plan = False
        self.derivation: str | None = None
        self.certificate: BoundCertificate | None = None
        self.proof_kind: Proof = "exact"
        self.status: Status | None = None
        self.solvers = ["HiGHS"]

    def run(self, hint: Solution | None) -> None:
        """Search until the gap is closed, or time is up."""
        try:
            self.initialise(hint)
            if self.plan is None:
                self.schedule_mandatory()
            if self.plan is not None:
                self.compute_upper_bound()
                if not self.is_within_gap:
                    self.solve_sequencing_milp()
        except TimeoutError:
            self.with_trivial_bound()

    def with_trivial_bound(self) -> MultistageSearch:
        """Return the search with a bound, if only the trivial one, wherever it was stopped."""
        if self.plan is not None and self.bound is None:
            derivation = "trivial bound (everything accepted)"
            self._update_bound(self.scaled.max_value, derivation, "exact", holds_for_any_plan=True)
        return self

    @property
    def is_optimal(self) -> bool:
        """Whether the incumbent is proven optimal."""
        return self._is_gap_at_most(0.0)

    @property
    def is_within_gap(self) -> bool:
        """Whether the incumbent is proven as good as asked for."""
        return self._is_gap_at_most(self.limits.gap)

    def initialise(self, hint: Solution | None) -> None:
        """Start from the hint, if it gives a schedule of the class; else reject everything."""
        scaled = self.scaled
        replayed = None if hint is None else replay_hint(scaled, hint, self.installments)
        if replayed is not None:
            self.plan, self.value = replayed[0], scaled.value(replayed[1], replayed[2])
        elif not scaled.has_mandatory:
            self.plan, self.value = self._schedule((), {}, ()), scaled.value((), ())

    def schedule_mandatory(self) -> None:
        """Find a schedule of what is accepted already, or cannot be refused."""
        tasks = [i for i, task in enumerate(self.scaled.tasks) if task.mandatory]
        reservations = [
            r for r, reservation in enumerate(self.scaled.reservations) if reservation.mandatory
        ]
        result = self._feasibility_test(tasks, reservations, self.budget.left()).decide()
        if result.plan is None:
            self.status, self.certificate = result.status, result.certificate
            self.holds_for_any_plan = result.holds_for_any_plan
            self.proof_kind = result.proof_kind
            self.derivation = f"promised tasks and mandatory reservations: {result.reason}"
        else:
            self.plan, self.value = result.plan, self.scaled.value(tasks, reservations)

    def compute_upper_bound(self) -> None:
        """Bound the value by fluid relaxation; try to schedule what it accepts."""
        limits = self.budget.left(TIME_SHARE)
        bound = upper_bound(self.scaled, limits, known_value=self.value, seed=self.seed)
        self._update_bound(
            bound.value,
            bound.derivation,
            bound.proof_kind,
            bound.certificate,
            holds_for_any_plan=True,
        )
        accepts_something = bool(bound.tasks or bound.reservations)
        if not self.is_within_gap and bound.complete and accepts_something:
            self._try_accepting(bound.tasks, bound.reservations, use_milp=False)

    def solve_sequencing_milp(self) -> None:
        """Solve the MILP over sequences, to optimality if there is time."""
        step, finished = self.scaled.value_granularity, self.scaled.tasks_only.value_of_finished
        better = self.value + step
        milp = SequencingMilp(self.scaled.with_value_at_least(better), self.installments)
        if milp.candidates.is_too_large:
            self.derivation = f"{self.derivation}; {TOO_MANY_SEQUENCES}"
            return
        milp.build()
        assert self.bound is not None  # by `compute_upper_bound`
        milp.add_value_range(better - finished, self.bound - finished)
        solution = milp.solve(self.budget.left(), self.solver, self.seed)
        outcome = solution.outcome
        self.solvers = list(dict.fromkeys((*self.solvers, outcome.solver)))
        value = self.scaled.value(solution.accepted, solution.grants)
        if outcome.assignment and value > self.value:
            is_complete = {chunk.task for chunk in solution.sequence} == set(solution.accepted)
            plan = (
                self._schedule(solution.accepted, solution.grants, solution.sequence)
                if is_complete
                else None
            )
            if plan is not None:
                self.plan, self.value = plan, value
            else:
                # The sequence was found in floats; another one may do as well in fractions.
                self._try_accepting(solution.accepted, tuple(solution.grants), use_milp=True)
        if outcome.status is Status.INFEASIBLE:
            bound = self.value  # no schedule has a larger value
        elif outcome.bound is None:
            return
        else:
            bound = step * floor(-exact(outcome.bound) / step + ROUNDING_SLACK) + finished
        if self.bound is None or bound < self.bound:
            derivation = f"{outcome.solver} dual bound (floating point, not certified)"
            self._update_bound(bound, derivation, "solver")

    def _feasibility_test(
        self,
        tasks: list[int] | tuple[int, ...],
        reservations: list[int] | tuple[int, ...],
        limits: Limits,
    ) -> FeasibilityTest:
        scaled = self.scaled.restricted_to(tasks, reservations)
        return FeasibilityTest(scaled, self.installments, limits, self.seed, self.solver)

    def _try_accepting(
        self, tasks: tuple[int, ...], reservations: tuple[int, ...], *, use_milp: bool
    ) -> None:
        """Make a schedule of some tasks and reservations the incumbent, if one is found."""
        value = self.scaled.value(tasks, reservations)
        if value <= self.value:
            return
        test = self._feasibility_test(tasks, reservations, self.budget.left(TIME_SHARE))
        plan = test.decide().plan if use_milp else test.schedule_by_deadline()
        if plan is not None:
            self.plan, self.value = plan, value

    def _update_bound(
        self,
        bound: Fraction | None,
        derivation: str,
        proof_kind: Proof,
        certificate: BoundCertificate | None = None,
        *,
        holds_for_any_plan: bool = False,
    ) -> None:
        """Replace the bound; None means that there is no schedule."""
        if bound is None or bound < self.value:
            # A schedule in floats may be better by the checker's tolerance; one in fractions not.
            if self.scaled.instance.exact:
                raise SolverError(
                    f"a schedule has value {self.value}, but its bound is {bound}: {derivation}"
                )
            bound, certificate = self.value, None
        self.bound, self.derivation, self.proof_kind = bound, derivation, proof_kind
        self.certificate, self.holds_for_any_plan = certificate, holds_for_any_plan

    def _is_gap_at_most(self, gap: float) -> bool:
        assert self.bound is not None  # by `compute_upper_bound` or `with_trivial_bound`
        allowed = gap if self.scaled.instance.exact else max(gap, SOLVER / 2)
        return self.bound - self.value <= exact(allowed) * self.value

    def _schedule(
        self, accepted: tuple[int, ...], grants: Grants, sequence: tuple[UnsizedChunk, ...]
    ) -> Solution | None:
        """Return the schedule of a sequence, without limits: what was found is not discarded."""
        limits = replace(self.limits, time_s=None, work=None)
        return schedule_sequence(self.scaled, sequence, accepted, grants, limits, self.seed)
