"""The portfolio for acceptance: schedules and bounds, until the gap is closed.

The hint is the first incumbent, the fluid relaxation with window cuts gives the bound, CP-SAT at
two discretisations improves the incumbent, and the MILP over sequences closes the gap of small
instances.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

from dlopt.arithmetic import SOLVER, exact
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.errors import SolverError
from dlopt.models.admission.cpsat import DiscretisedModel, load_quanta
from dlopt.models.admission.feasibility import (
    CPSAT_EFFORT,
    MAX_CHUNKS,
    FeasibilityTest,
    is_small,
)
from dlopt.models.admission.fixed_sequence_lp import (
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.admission.initial_solution import replay_hint
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequencing_milp import TOO_MANY_SEQUENCES, SequencingMilp
from dlopt.models.admission.upper_bounds import ROUNDING_SLACK, upper_bound
from dlopt.problems.admission.data import Solution
from dlopt.result import Limits, Proof, Status

TIME_SHARE = 1 / 4
"""Share of the remaining time that each step but the last may take. Chosen by hand: more of it
helps the bound and the discretised models, less leaves more time to the sequencing MILP."""


class AdmissionSearch:
    """One search for the schedule of maximum objective value.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
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
    derivation : str or None
        Where the bound comes from, or why there is no schedule.
    certificate : BoundCertificate or None
        Of the bound, or that there is no schedule, if it is proven in fractions.
    proof_kind : {"exact", "solver"}
        Whether bound or status are proven in fractions, or a solver's claim.
    status : Status or None
        ``INFEASIBLE``, ``UNKNOWN`` or ``LIMIT`` if there is no schedule, for that reason.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> search = AdmissionSearch(ScaledInstance.from_instance(instance), 1, Limits(), 0, "HiGHS")
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
                self.schedule_promised()
            if self.plan is not None:
                self.compute_upper_bound()
                milp = SequencingMilp(self.scaled, self.installments)
                is_medium = len(milp.candidates) <= MAX_CHUNKS
                if is_medium and not (self.is_within_gap or is_small(milp)):
                    self.solve_discretised()
                if not self.is_within_gap:
                    self.solve_sequencing_milp(milp)
        except TimeoutError:
            self.with_trivial_bound()

    def with_trivial_bound(self) -> AdmissionSearch:
        """Return the search with a bound, if only the trivial one, wherever it was stopped."""
        if self.plan is not None and self.bound is None:
            value_of_all = self.scaled.value(range(len(self.scaled.tasks)))
            self._update_bound(value_of_all, "trivial bound (all tasks accepted)", "exact")
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
        """Start from the hint, if it gives a schedule of the class; else reject all tasks."""
        replayed = None if hint is None else replay_hint(self.scaled, hint, self.installments)
        if replayed is not None:
            self.plan, self.value = replayed[0], self.scaled.value(replayed[1])
        elif not any(task.mandatory for task in self.scaled.tasks):
            self._try_sequence([], set())

    def schedule_promised(self) -> None:
        """Find a schedule of the tasks that are accepted already."""
        promised = [i for i, task in enumerate(self.scaled.tasks) if task.mandatory]
        test = FeasibilityTest(
            self.scaled.restricted_to(promised),
            self.installments,
            self.budget.left(),
            self.seed,
            self.solver,
        )
        result = test.decide(explain=True)
        if result.plan is None:
            self.status, self.certificate = result.status, result.certificate
            self.proof_kind = result.proof_kind
            self.derivation = f"promised tasks: {result.reason}"
        else:
            self.plan, self.value = result.plan, self.scaled.value(promised)

    def compute_upper_bound(self) -> None:
        """Bound the value by relaxations; try to schedule the tasks that they accept."""
        bound = upper_bound(
            self.scaled,
            self.budget.left(TIME_SHARE),
            installments=self.installments,
            known_value=self.value,
            seed=self.seed,
        )
        self._update_bound(bound.value, bound.derivation, bound.proof_kind, bound.certificate)
        if bound.accepted is not None:
            sequence = sequence_by_deadline(self.scaled, bound.accepted)
            self._try_sequence(sequence, set(bound.accepted))

    def solve_discretised(self) -> None:
        """Look for better schedules with coarse and with fine quanta, then with later due dates."""
        coarse, fine = load_quanta(self.scaled)
        self.solvers.append("CP-SAT")
        finished = self.scaled.value_of_finished
        for quantum, relaxation in ((coarse, 0), (fine, 0), (coarse, 2)):
            if self.is_within_gap or self.bound is None:
                return
            model = DiscretisedModel(self.scaled, self.installments, quantum, relaxation)
            better = self.value + self.scaled.value_granularity
            model.maximise_weight(better - finished, self.bound - finished)
            solution = model.solve(self.budget.left(TIME_SHARE), self.seed, CPSAT_EFFORT)
            if solution is not None:
                self._try_sequence(list(solution.sequence), set(solution.accepted))

    def solve_sequencing_milp(self, milp: SequencingMilp) -> None:
        """Solve the MILP over sequences, to optimality if there is time."""
        if milp.pairs is None:
            self.derivation = f"{self.derivation}; {TOO_MANY_SEQUENCES}"
            return
        if self.limits.work is not None and not is_small(milp):
            # The root node of branch and bound alone may take minutes.
            self.derivation = f"{self.derivation}; sequencing model too large for a work limit"
            return
        sequence, outcome = milp.build().solve(self.budget.left(), self.solver, self.seed)
        if outcome.solver not in self.solvers:
            self.solvers.append(outcome.solver)
        if sequence:
            self._try_sequence(sequence, {chunk.task for chunk in sequence})
        if outcome.bound is None:
            return
        step = self.scaled.value_granularity
        bound = step * floor(-exact(outcome.bound) / step + ROUNDING_SLACK)
        bound += self.scaled.value_of_finished
        if self.bound is None or bound < self.bound:
            derivation = f"{outcome.solver} dual bound (floating point, not certified)"
            self._update_bound(bound, derivation, "solver")

    def _update_bound(
        self,
        bound: Fraction | None,
        derivation: str,
        proof_kind: Proof,
        certificate: BoundCertificate | None = None,
    ) -> None:
        """Replace the bound; None means that there is no schedule."""
        if bound is None or bound < self.value:
            # A schedule in floats may use all of the checker's tolerance, where solvers err.
            if self.scaled.instance.exact:
                raise SolverError(
                    f"a schedule has value {self.value}, but its bound is {bound}: {derivation}"
                )
            bound, certificate = self.value, None
        self.bound, self.derivation, self.proof_kind = bound, derivation, proof_kind
        self.certificate = certificate

    def _is_gap_at_most(self, gap: float) -> bool:
        if self.plan is None or self.bound is None:
            return False
        allowed = gap if self.scaled.instance.exact else max(gap, SOLVER / 2)
        return self.bound - self.value <= exact(allowed) * self.value

    def _try_sequence(self, sequence: list[UnsizedChunk], accepted: set[int]) -> None:
        """Make the schedule of a sequence the incumbent, if it is feasible and better."""
        value = self.scaled.value(accepted)
        is_complete = {chunk.task for chunk in sequence} == accepted
        if value <= self.value or not is_complete or len(sequence) > MAX_CHUNKS:
            return
        # No limit, since a solution that was found is not discarded.
        limits = replace(self.limits, time_s=None, work=None)
        plan = schedule_sequence(self.scaled, sequence, accepted, limits, self.seed)
        if plan is not None:
            self.plan, self.value = plan, value
