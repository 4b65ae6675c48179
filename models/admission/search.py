"""The portfolio for acceptance: schedules and bounds, until the gap is closed.

The hint is the first incumbent, the fluid relaxation with window cuts gives the bound, local
search over sequences of chunks improves the incumbent, the relaxation over spans of chunks the
bound, and the MILP over sequences closes the gap of small instances. A stream that divides into
blocks of time is searched block by block.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from dlopt.models.admission.conflicts import TaskConflicts
from dlopt.models.admission.feasibility import (
    MAX_CHUNKS,
    FeasibilityTest,
    is_small,
    too_large_for_work,
)
from dlopt.models.admission.fixed_sequence_lp import (
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
    sequence_of,
)
from dlopt.models.admission.initial_solution import replay_hint
from dlopt.models.admission.proof_sequences import certify_sequences, derivation_of
from dlopt.models.admission.request_conflicts import RequestSets
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequence_portfolio import SequencePortfolio
from dlopt.models.admission.sequence_search import SequenceSearch
from dlopt.models.admission.sequencing_milp import SequencingMilp
from dlopt.models.admission.time_blocks import TimeBlocks
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.models.common.searched_program import ProofError
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.problems.admission.data import Solution
from dlopt.result import Limits


class AdmissionSearch(SequencePortfolio[ScaledInstance, Solution, UnsizedChunk]):
    """One search for the schedule of maximum objective value.

    Parameters are those of `StreamSearch`.

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

    def feasibility_test(self, scaled: ScaledInstance, limits: Limits) -> FeasibilityTest:
        """Return the question whether all tasks can be accepted."""
        return FeasibilityTest(scaled, self.installments, limits, self.seed, self.solver)

    def initialise(self, hint: Solution | None) -> None:
        """Start from the hint, if it gives a schedule of the class; else reject all tasks."""
        replayed = None if hint is None else replay_hint(self.scaled, hint, self.installments)
        if replayed is not None:
            self.plan, self.value = replayed[0], self.scaled.value(replayed[1])
        elif not any(task.mandatory for task in self.scaled.tasks):
            self.try_sequence([], set())

    def schedule_mandatory(self) -> None:
        """Find a schedule of the tasks that are accepted already."""
        promised = [i for i, task in enumerate(self.scaled.tasks) if task.mandatory]
        test = self.feasibility_test(self.scaled.restricted_to(promised), self.budget.left())
        answer = test.decide(explain=True)
        self.start_from(answer, self.scaled.value(promised), "promised tasks")

    def relax(
        self, limits: Limits, *, relaxation_only: bool, excluded: RequestSets = ()
    ) -> UpperBound:
        """Bound the value by the fluid relaxation with window cuts."""
        return upper_bound(
            self.scaled,
            limits,
            installments=self.installments,
            known_value=self.value,
            relaxation_only=relaxation_only,
            seed=self.seed,
            conflicts=[*self.conflicts, *excluded],
        )

    def schedule_accepted(self, accepted: tuple[int, ...]) -> None:
        """Try to schedule the tasks that a relaxation accepts."""
        self.try_sequence(sequence_by_deadline(self.scaled, accepted), set(accepted))

    def divide(self) -> TimeBlocks:
        """Return the blocks of time of the stream."""
        return TimeBlocks(self.scaled)

    def close_gap_of_block(self) -> None:
        """Search sequences and bound by spans of chunks, unless the sequencing MILP is small."""
        milp = SequencingMilp(self.scaled, self.installments)
        chunks = len(milp.candidates)
        if chunks <= MAX_CHUNKS and not is_small(milp):
            self.search_and_bound(chunks, is_last=milp.too_large is not None)
        if not self.is_within_gap:
            self.solve_sequencing_milp(milp)

    def sequence_search(self, limits: Limits, effort: int | None) -> SequenceSearch:
        """Return a local search over sequences of chunks."""
        return SequenceSearch(self.scaled, self.installments, limits, effort, self.seed)

    def conflict_finder(self) -> TaskConflicts:
        """Return what finds sets of tasks that do not fit together."""
        return TaskConflicts(self.scaled, self.installments, self.budget, self.seed)

    def first_sequence(self, requests: Collection[int]) -> list[UnsizedChunk]:
        """Return a sequence of chunks for some tasks that is often feasible."""
        return sequence_by_deadline(self.scaled, requests)

    def incumbent_sequence(self) -> tuple[list[UnsizedChunk], set[int]]:
        """Return the sequence of the incumbent's chunks, and the tasks that it finishes."""
        assert self.plan is not None  # or there is nothing to improve
        return sequence_of(self.scaled, self.plan)

    def solve_sequencing_milp(self, milp: SequencingMilp) -> None:
        """Solve the MILP over sequences, to optimality if there is time."""
        reason = milp.too_large
        if reason is None and self.limits.work is not None:
            # The root node of branch and bound alone may take minutes.
            reason = too_large_for_work(milp)
        if reason is not None:
            self.add_remark(reason)
            return
        sequence, outcome = milp.build().solve(
            self.budget.left(), self.solver, self.seed, self.report
        )
        if outcome.solver not in self.solvers:
            self.solvers.append(outcome.solver)
        if sequence:
            self.try_sequence(sequence, {chunk.task for chunk in sequence})
        self.use_dual_bound(outcome)

    def certify_optimum(self) -> None:
        """Look for a certificate by the order of chunks, or by spans, where there is none yet."""
        if self.certificate is not None or self.bound is None or not self.is_optimal:
            return
        with suppress(ProofError):
            about = self.installments, self.bound, self.budget.stop, self.limits.work, self.seed
            proof = certify_sequences(self.scaled, *about)
            bound = UpperBound(self.bound, derivation_of(proof), certificate=proof)
            self.use_relaxation(bound)
        self.certify_by_spans()

    def try_sequence(self, sequence: Sequence[UnsizedChunk], requests: Collection[int]) -> None:
        """Make the schedule of a sequence the incumbent, if it is feasible and better."""
        value = self.scaled.value(requests)
        is_complete = {chunk.task for chunk in sequence} == set(requests)
        if value <= self.value or not is_complete or len(sequence) > MAX_CHUNKS:
            return
        # No limit: what was found is not discarded. HiGHS has one pool of threads for all LPs.
        limits = replace(self.limits, time_s=None, work=None, threads=1)
        plan = schedule_sequence(self.scaled, sequence, requests, limits, self.seed)
        if plan is not None:
            self.plan, self.value = plan, value
