"""The portfolio for acceptance: schedules and bounds, until the gap is closed.

The hint is the first incumbent, the fluid relaxation gives the bound, and models over sequences of
chunks improve both. `dlopt.models.admission.search` and `dlopt.models.multistage.search` fill in
the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from functools import cached_property
from typing import Generic, Protocol, Self, TypeVar

from dlopt.arithmetic import SOLVER, exact, shown
from dlopt.backends.pulp import UNCERTIFIED, Outcome
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.common.block_outcomes import BlockOutcomes
from dlopt.models.common.stream_bounds import TRIVIAL_BOUND, UpperBound, Values, round_up_cost
from dlopt.models.common.stream_feasibility import FeasibilityResult, StreamFeasibility
from dlopt.models.common.time_division import TimeDivision
from dlopt.result import Limits, Proof, Status

TIME_SHARE = 1 / 4
"""Share of the remaining time for the bound by a relaxation, and for each question whether all can
be accepted. Chosen by hand: less of it leaves more to the models over sequences of chunks."""


class Numbers(Protocol):
    """What an instance says of its numbers."""

    @property
    def exact(self) -> bool:
        """Whether they are exact."""


class Due(Protocol):
    """What a scaled task says."""

    @property
    def due(self) -> Fraction:
        """When it has to be finished."""


class ScaledRequests(Values, Protocol):
    """What the scaled instances of both problems say."""

    @property
    def instance(self) -> Numbers:
        """The instance as given."""

    @property
    def tasks(self) -> Sequence[Due]:
        """The tasks of which load remains."""

    @property
    def max_value(self) -> Fraction:
        """The objective value of accepting everything."""


PlanT = TypeVar("PlanT")
ScaledT = TypeVar("ScaledT", bound=ScaledRequests)


class StreamSearch(ABC, Generic[ScaledT, PlanT]):
    """One search for the schedule of maximum objective value.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node (in a gap between reservations).
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
    certificate : BoundCertificate or None
        Of the bound, or that there is no schedule, if it is proven in fractions.
    proof_kind : {"exact", "solver"}
        Whether bound or status are proven in fractions, or a solver's claim.
    status : Status or None
        ``INFEASIBLE``, ``UNKNOWN`` or ``LIMIT`` if there is no schedule, for that reason.
    """

    bounds_any_plan = False
    """Whether the relaxation bounds schedules with any number of chunks."""

    def __init__(
        self, scaled: ScaledT, installments: int, limits: Limits, seed: int, solver: str
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.limits, self.seed, self.solver = limits, seed, solver
        self.budget = Budget(limits)
        self.plan: PlanT | None = None
        self.value = Fraction(-1)
        self.bound: Fraction | None = None
        self.holds_for_any_plan = False
        self.derivation: str | None = None
        self.certificate: BoundCertificate | None = None
        self.proof_kind: Proof = "exact"
        self.status: Status | None = None
        self.solvers = ["HiGHS"]
        self.running: Outcome | None = None

    def run(self, hint: PlanT | None) -> None:
        """Search until the gap is closed, or time is up."""
        try:
            self.initialise(hint)
            if self.plan is None:
                self.schedule_mandatory()
            if self.plan is not None:
                self.compute_upper_bound()
                if not self.is_within_gap:
                    self.close_gap()
        except TimeoutError:
            self.with_trivial_bound()

    @abstractmethod
    def feasibility_test(
        self, scaled: ScaledT, limits: Limits
    ) -> StreamFeasibility[ScaledT, PlanT]:
        """Return the question whether all requests of a scaled instance can be accepted."""

    @abstractmethod
    def initialise(self, hint: PlanT | None) -> None:
        """Start from the hint, if it gives a schedule of the class; else reject everything."""

    @abstractmethod
    def schedule_mandatory(self) -> None:
        """Find a schedule of what must be accepted, and `start_from` it."""

    @abstractmethod
    def relax(self, limits: Limits, *, relaxation_only: bool) -> UpperBound:
        """Bound the value by a relaxation of the whole stream, without branching if asked to."""

    @abstractmethod
    def schedule_accepted(self, accepted: tuple[int, ...]) -> None:
        """Try to schedule what a relaxation accepts."""

    def compute_upper_bound(self) -> None:
        """Bound the value by a relaxation; try to schedule what it accepts.

        Where the stream has several blocks of time, branching is left to these.
        """
        limits = self.budget.left(TIME_SHARE)
        bound = self.relax(limits, relaxation_only=not self.division.is_trivial)
        self.use_relaxation(bound)
        if bound.accepted is not None:
            self.schedule_accepted(bound.accepted)

    @abstractmethod
    def divide(self) -> TimeDivision[ScaledT, PlanT]:
        """Return the blocks of time of the stream."""

    @abstractmethod
    def close_gap_of_block(self) -> None:
        """Look for better schedules and bounds by models over sequences of chunks."""

    def close_gap(self) -> None:
        """Search the blocks of time one by one; where there is but one, by models over sequences.

        Each block has an equal share of the remaining time, the largest ones last: small ones are
        solved before theirs is over.
        """
        divided = self.division
        if divided.is_trivial or self.plan is None:
            self.close_gap_of_block()
            return
        outcomes = BlockOutcomes(divided, self.plan)
        vars(self).update(plan=outcomes.plan, value=outcomes.value)
        for number, block in enumerate(sorted(divided.blocks, key=len)):
            limits = self.budget.left_or_minimum(1 / (len(divided.blocks) - number))
            scaled = divided.scaled_block(block)
            search = type(self)(scaled, self.installments, limits, self.seed, self.solver)
            search.run(outcomes.plans[block])
            self.solvers = list(dict.fromkeys((*self.solvers, *search.solvers)))
            outcomes.add(block, search)
            vars(self).update(plan=outcomes.plan, value=outcomes.value)
        bound = outcomes.upper_bound
        if self.bound is None or (bound.value is not None and bound.value < self.bound):
            self._update_bound(bound, outcomes.holds_for_any_plan)
        if outcomes.open_blocks:
            self.add_remark(outcomes.open_blocks)
        elif outcomes.proof_kind == "exact" and self.certificate is None:
            self._certify_sum_of_bounds()

    @cached_property
    def division(self) -> TimeDivision[ScaledT, PlanT]:
        """The blocks of time of the stream."""
        return self.divide()

    def certify_optimum(self) -> None:
        """Look for a certificate of the optimum, where the relaxation has given none."""

    def _certify_sum_of_bounds(self) -> None:
        """Look for a certificate of the whole stream, where each block has been proven by itself.

        The relaxation of the whole stream is solved by branch and bound last, for its nodes are
        the more the more blocks there are.
        """
        bound = self.relax(self.budget.left(), relaxation_only=False)
        if bound.certificate is not None and bound.value == self.bound:
            self.use_relaxation(bound)

    def snapshot(self) -> Self:
        """Return a copy with what is known now, for another thread in the middle of the search."""
        state = copy(self)
        if state.running is not None:
            state.use_dual_bound(state.running)
        return state.with_trivial_bound()

    def report(self, known: Outcome) -> None:
        """Keep what the solver of the sequencing MILP knows so far."""
        self.running = known

    def with_trivial_bound(self) -> Self:
        """Return the search with a bound, if only the trivial one, wherever it was stopped."""
        if self.plan is not None and self.bound is None:
            self.use_relaxation(UpperBound(self.scaled.max_value, TRIVIAL_BOUND))
        return self

    @property
    def is_optimal(self) -> bool:
        """Whether the incumbent is proven optimal."""
        return self._is_gap_at_most(0.0)

    @property
    def is_within_gap(self) -> bool:
        """Whether the incumbent is proven as good as asked for."""
        return self._is_gap_at_most(self.limits.gap)

    def start_from(self, answer: FeasibilityResult[PlanT], value: Fraction, requests: str) -> None:
        """Make a schedule of what must be accepted the incumbent, or record that there is none."""
        self.plan = answer.plan
        if answer.plan is not None:
            self.value = value
            return
        self.status, self.certificate = answer.status, answer.certificate
        self.proof_kind, self.holds_for_any_plan = answer.proof_kind, answer.holds_for_any_plan
        self.derivation = f"{requests}: {answer.reason}"

    def use_relaxation(self, bound: UpperBound) -> None:
        """Take over the bound of a relaxation; no value means that there is no schedule."""
        self._update_bound(bound, self.bounds_any_plan)

    def use_dual_bound(self, outcome: Outcome, bound: Fraction | None = None) -> None:
        """Take over the dual bound of the sequencing MILP, or what follows from it, if better."""
        if bound is None and outcome.bound is not None:
            cost = round_up_cost(outcome.bound, self.scaled.value_granularity)
            bound = self.scaled.value_of_finished - cost
        if bound is not None and (self.bound is None or bound < self.bound):
            derivation = f"{outcome.solver} {UNCERTIFIED}"
            self._update_bound(UpperBound(bound, derivation, proof_kind="solver"), False)

    def add_remark(self, remark: str) -> None:
        """Say why the gap is not closed."""
        self.derivation = f"{self.derivation}; {remark}"

    def _update_bound(self, bound: UpperBound, holds_for_any_plan: bool) -> None:
        value, certificate = bound.value, bound.certificate
        if value is None or value < self.value:
            if not self._is_rounding(bound):
                raise SolverError(
                    f"a schedule has value {shown(self.value)}, but its bound is {shown(value)}: "
                    f"{bound.derivation}"
                )
            value, certificate = self.value, None
        vars(self).update(  # at once, as `snapshot` may come at any time
            bound=value,
            derivation=bound.derivation,
            proof_kind=bound.proof_kind,
            certificate=certificate,
            holds_for_any_plan=holds_for_any_plan,
        )

    def _is_rounding(self, bound: UpperBound) -> bool:
        """Tell whether a bound below the incumbent may be so by the rounding of floats alone."""
        if not self.scaled.instance.exact:
            return True  # its schedule may use all of the checker's tolerance, where solvers err
        if bound.proof_kind != "solver" or bound.value is None:
            return False
        return self.value - bound.value <= exact(SOLVER) * self.value

    def _is_gap_at_most(self, gap: float) -> bool:
        if self.plan is None or self.bound is None:
            return False
        allowed = gap if self.scaled.instance.exact else max(gap, SOLVER / 2)
        return self.bound - self.value <= exact(allowed) * self.value
