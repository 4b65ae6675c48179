"""Whether all tasks of an instance can be done in time: a schedule, or a proof of infeasibility.

The question is answered by minimising the maximum lateness Lmax, since a solver's "infeasible" at
tight deadlines is unreliable in floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from dlopt.arithmetic import exact, shown
from dlopt.backends.pulp import Outcome
from dlopt.backends.size_limits import too_large
from dlopt.models.admission.conflicts import TaskConflicts
from dlopt.models.admission.fixed_sequence_lp import (
    FixedSequenceLp,
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.admission.proof_sequences import certify_sequences, derivation_of
from dlopt.models.admission.request_conflicts import FIRST_DIVISIONS
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequence_feasibility import SequenceFeasibility
from dlopt.models.admission.sequence_search import SequenceSearch
from dlopt.models.admission.sequencing_milp import DUE_DATE_MARGIN, SequencingMilp
from dlopt.models.admission.time_blocks import TimeBlocks
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.models.common.searched_program import ProofError
from dlopt.models.common.sequence_annealing import EFFORT
from dlopt.models.common.stream_feasibility import (
    FeasibilityResult,
    PlanT,
    at_limit,
)
from dlopt.problems.admission.data import Solution
from dlopt.result import Status

SMALL_CHUNKS = 12
"""Chunks up to which the sequencing MILP is solved at once, before local search over sequences: the
size that it solves to optimality in seconds, measured on random instances."""

SMALL_CHUNKS_TWO_NODES = 20
"""The same on at most two nodes, on which larger models are solved."""

MAX_CHUNKS = 1_000
"""Chunks of a local search or of a linear program. Chosen by hand: larger ones take longer
than they help."""

EXPLANATION_NODES = 1_000
"""Branch-and-bound nodes for the minimum lateness, which only explains. Chosen by hand."""

LATENESS_MARGIN = Fraction(1, 2**6)
"""Lateness, in units of the model, up to which the sequencing MILP looks for a schedule: about 1e-5
of the horizon. Chosen by hand, well above the solver's tolerance and `DUE_DATE_MARGIN`."""

SEARCH_SHARE = 1 / 2
"""Share of the remaining time for the local search. Chosen by hand."""


class FeasibilityTest(SequenceFeasibility[ScaledInstance, Solution]):
    """The question whether all tasks of an instance can be done in time.

    Parameters are those of `StreamFeasibility`.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.result import Limits
    >>> instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> str(FeasibilityTest(scaled, 1, Limits(), 0).decide().status)
    'infeasible'
    """

    def disprove_by_relaxation(self) -> FeasibilityResult[Solution] | None:
        """Return that there is no schedule, if the fluid relaxation proves it."""
        bound = upper_bound(
            self.scaled,
            self.budget.left(),
            installments=self.installments,
            accept_all=True,
            relaxation_only=True,
            seed=self.seed,
        )
        if bound.value is not None:
            return None
        reason = f"infeasible even in the {bound.derivation}"
        return FeasibilityResult(Status.INFEASIBLE, None, reason, bound.certificate)

    def divide(self) -> TimeBlocks:
        """Return the blocks of time; tasks stay mandatory in them."""
        return TimeBlocks(self.scaled)

    def schedule_by_deadline(self) -> Solution | None:
        """Return the schedule of a sequence that is often feasible, if it is."""
        return self._schedule(sequence_by_deadline(self.scaled, self.all_tasks))

    def find_sequence(self) -> FeasibilityResult[Solution]:
        """Decide by local search and spans of chunks, then by the sequencing MILP."""
        model, answer = SequencingMilp(self.scaled, self.installments, LATENESS_MARGIN), None
        if is_small(model):
            answer = self.disprove_by_spans(islice(self.divisions(), FIRST_DIVISIONS))
        elif len(model.candidates) <= MAX_CHUNKS:
            answer = self.decide_by_sequences_and_spans()
        return answer or self._solve_sequencing_milp(model)

    def conflict_finder(self) -> TaskConflicts:
        """Return what finds sets of tasks that do not fit together."""
        return TaskConflicts(self.scaled, self.installments, self.budget, self.seed)

    @property
    def all_tasks(self) -> range:
        """All tasks."""
        return range(len(self.scaled.tasks))

    def _schedule(self, sequence: tuple[UnsizedChunk, ...] | list[UnsizedChunk]) -> Solution | None:
        """Return the schedule of a sequence; None if it is incomplete, too long or infeasible."""
        is_complete = {chunk.task for chunk in sequence} == set(self.all_tasks)
        if not is_complete or len(sequence) > MAX_CHUNKS:
            return None
        limits = replace(self.budget.left(), work=None, threads=1)
        return schedule_sequence(self.scaled, sequence, self.all_tasks, limits, self.seed)

    def search_sequences(self) -> Solution | None:
        """Look for a schedule by local search over sequences of chunks."""
        limits, plan = self.budget.left(SEARCH_SHARE), None
        search = SequenceSearch(self.scaled, self.installments, limits, EFFORT, self.seed)
        begun = sequence_by_deadline(self.scaled, self.all_tasks)
        while plan is None and all(map(search.chunks.of_task.__contains__, self.all_tasks)):
            found = search.finish(begun, self.all_tasks)
            if found is None:
                break
            plan = self._schedule(found.loaded_chunks)
        return plan

    def _solve_sequencing_milp(self, model: SequencingMilp) -> FeasibilityResult[Solution]:
        """Look for the sequence of minimum lateness, up to `LATENESS_MARGIN`."""
        if model.too_large is not None:
            return FeasibilityResult(Status.UNKNOWN, reason=model.too_large)
        sequence, outcome = model.build().solve(self.budget.left(), self.solver, self.seed)
        answer = decide_by_lateness(outcome, lambda: self._schedule(sequence), self._format)
        if answer.status is not Status.INFEASIBLE:
            return answer
        try:
            about = self.installments, None, self.budget.stop, self.budget.limits.work, self.seed
            proof = certify_sequences(self.scaled, *about)
        except ProofError:
            return answer
        reason = f"infeasible by the {derivation_of(proof)}"
        return FeasibilityResult(Status.INFEASIBLE, None, reason, proof)

    def explain(self) -> str | None:
        """Report the minimum of the maximum lateness, or an upper bound on it."""
        sequence = sequence_by_deadline(self.scaled, self.all_tasks)
        missing = set(self.all_tasks) - {chunk.task for chunk in sequence}
        sequence += [UnsizedChunk(i, node) for i in sorted(missing) for node in self.scaled.nodes]
        attained = self._minimum_lateness(sequence)
        if attained is None:
            return None
        max_lateness = max(attained, DUE_DATE_MARGIN) * (1 + DUE_DATE_MARGIN)
        model = SequencingMilp(self.scaled, self.installments, max_lateness=max_lateness)
        if is_small(model):
            limits = self.budget.left()
            limits = replace(limits, work=min(limits.work or EXPLANATION_NODES, EXPLANATION_NODES))
            sequence, outcome = model.build().solve(limits, self.solver, self.seed)
            minimum = self._minimum_lateness(sequence)
            if minimum is not None and outcome.status is Status.OPTIMAL:
                return minimum_lateness_message(self._format(min(minimum, attained)))
        return attained_lateness_message(self._format(attained))

    def _minimum_lateness(self, sequence: list[UnsizedChunk]) -> Fraction | None:
        """Return the minimum lateness of a sequence of chunks, None if it is not found."""
        is_complete = {chunk.task for chunk in sequence} == set(self.all_tasks)
        if not is_complete or len(sequence) > MAX_CHUNKS:
            return None
        model = FixedSequenceLp(self.scaled, sequence).minimise_lateness()
        result = model.solve(self.budget.left(), self.seed)
        return None if result is None else result.lateness

    def _format(self, lateness: Fraction) -> str:
        return shown(self.scaled.unscale_duration(lateness))


def decide_by_lateness(
    outcome: Outcome, schedule: Callable[[], PlanT | None], shown: Callable[[Fraction], str]
) -> FeasibilityResult[PlanT]:
    """Return what the sequence of minimum lateness decides, up to `LATENESS_MARGIN`.

    Parameters
    ----------
    outcome : Outcome
        Of the sequencing MILP.
    schedule : callable
        Returns the schedule of its sequence, None if there is none.
    shown : callable
        States a lateness in the units of the instance.
    """
    late = f"> {shown(LATENESS_MARGIN)}"
    if outcome.status is not Status.INFEASIBLE:
        plan = schedule()
        if plan is not None:
            return FeasibilityResult(Status.OPTIMAL, plan)
        if outcome.bound is None or outcome.bound <= DUE_DATE_MARGIN:
            if outcome.status is not Status.OPTIMAL:
                return at_limit()
            reason = "undecided: Lmax is 0 within the solver's tolerance"
            return FeasibilityResult(Status.UNKNOWN, reason=reason)
        late = f">= {shown(exact(outcome.bound))}"
    proof = f"{outcome.solver} dual bound, floating point, not certified"
    reason = f"Lmax {late} in every sequence of chunks ({proof})"
    return FeasibilityResult(Status.INFEASIBLE, reason=reason, proof_kind="solver")


def minimum_lateness_message(lateness: str) -> str:
    """Report the minimum of the maximum lateness."""
    return f"minimum maximum lateness Lmax = {lateness}"


def attained_lateness_message(lateness: str) -> str:
    """Report a maximum lateness that some schedule attains."""
    return f"minimum maximum lateness Lmax <= {lateness}"


def max_small_chunks(scaled: ScaledInstance) -> int:
    """Return up to how many chunks a sequencing MILP is solved in seconds."""
    return SMALL_CHUNKS_TWO_NODES if len(scaled.nodes) <= 2 else SMALL_CHUNKS


def is_small(model: SequencingMilp) -> bool:
    """Tell whether a sequencing MILP is solved in seconds."""
    return too_large_for_work(model) is None


def too_large_for_work(model: SequencingMilp) -> str | None:
    """Return why a sequencing MILP is not solved in seconds, None if it is."""
    most = max_small_chunks(model.scaled)
    reason = too_large("sequencing MILP", len(model.candidates), most, "chunks")
    return None if reason is None else f"{reason} with a work limit"
