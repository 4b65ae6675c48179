"""The portfolio for acceptance: schedules and bounds, until the gap is closed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from dlopt.models.admission.feasibility import MAX_CHUNKS, max_small_chunks
from dlopt.models.admission.request_conflicts import RequestSets
from dlopt.models.admission.sequence_portfolio import SequencePortfolio
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_search import TIME_SHARE
from dlopt.models.multistage.chunk_windows import CandidateChunks
from dlopt.models.multistage.conflicts import ReservationConflicts
from dlopt.models.multistage.feasibility import FeasibilityTest
from dlopt.models.multistage.fixed_sequence_lp import (
    Grants,
    UnsizedChunk,
    schedule_sequence,
    sequence_by_deadline,
)
from dlopt.models.multistage.initial_solution import (
    accepted_reservations,
    replay_hint,
    sequence_of,
)
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.sequence_search import NodeChoices, ReservationSequenceSearch
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.time_blocks import TimeBlocks
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.problems.multistage.data import Solution
from dlopt.result import Limits, Status


class MultistageSearch(SequencePortfolio[ScaledInstance, Solution, UnsizedChunk]):
    """One search for the schedule of maximum objective value.

    Parameters are those of `StreamSearch`.

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

    bounds_any_plan = True

    def feasibility_test(self, scaled: ScaledInstance, limits: Limits) -> FeasibilityTest:
        """Return the question whether all tasks and reservations can be accepted."""
        return FeasibilityTest(scaled, self.installments, limits, self.seed, self.solver)

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
        scaled = self.scaled.restricted_to(tasks, reservations)
        answer = self.feasibility_test(scaled, self.budget.left()).decide()
        value = self.scaled.value(tasks, reservations)
        self.start_from(answer, value, "promised tasks and mandatory reservations")

    def relax(
        self, limits: Limits, *, relaxation_only: bool, excluded: RequestSets = ()
    ) -> UpperBound:
        """Bound the value by the fluid relaxation."""
        return upper_bound(
            self.scaled,
            limits,
            known_value=self.value,
            relaxation_only=relaxation_only,
            seed=self.seed,
            conflicts=[*self.conflicts, *excluded],
        )

    def schedule_accepted(self, accepted: tuple[int, ...]) -> None:
        """Try to schedule the tasks and reservations that a relaxation accepts."""
        if accepted and not self.is_within_gap:
            self._try_accepting(*self.scaled.tasks_and_reservations(accepted), use_milp=False)

    def divide(self) -> TimeBlocks:
        """Return the blocks of time of the stream."""
        return TimeBlocks(self.scaled)

    def close_gap_of_block(self) -> None:
        """Search sequences and bound by spans of chunks, unless the sequencing MILP is small."""
        candidates = CandidateChunks(self.scaled, self.installments)
        chunks = len(candidates.chunks)
        if max_small_chunks(self.scaled.tasks_only) < chunks <= MAX_CHUNKS:
            self.search_and_bound(chunks, is_last=candidates.too_large is not None)
        if not self.is_within_gap:
            self.solve_sequencing_milp()

    def sequence_search(self, limits: Limits, effort: int | None) -> ReservationSequenceSearch:
        """Return a local search over sequences of chunks."""
        if self.plan is not None:
            self.choices.prefer(accepted_reservations(self.scaled, self.plan) or {})
        return ReservationSequenceSearch(
            self.scaled, self.installments, limits, effort, self.seed, self.choices
        )

    @cached_property
    def choices(self) -> NodeChoices:
        """The nodes of sets of reservations."""
        return NodeChoices(self.scaled)

    def conflict_finder(self) -> ReservationConflicts:
        """Return what finds sets of requests that do not fit together."""
        return ReservationConflicts(self.scaled, self.installments, self.budget, self.seed)

    def certify_optimum(self) -> None:
        """Look for a certificate by spans, which is about exact numbers."""
        if self.scaled.instance.exact:
            self.certify_by_spans()

    def first_sequence(self, requests: Collection[int]) -> list[UnsizedChunk]:
        """Return a sequence of chunks for some requests that is often feasible."""
        tasks, reservations = self.scaled.tasks_and_reservations(requests)
        return sequence_by_deadline(self.scaled, tasks, self.choices.nodes(reservations) or {})

    def incumbent_sequence(self) -> tuple[list[UnsizedChunk], list[int]]:
        """Return the sequence of the incumbent's chunks, and the requests that it accepts."""
        assert self.plan is not None  # or there is nothing to improve
        sequence, first = sequence_of(self.scaled, self.plan), len(self.scaled.tasks)
        grants = accepted_reservations(self.scaled, self.plan) or {}
        return sequence, [*{chunk.task for chunk in sequence}, *(first + r for r in grants)]

    def try_sequence(self, sequence: Sequence[UnsizedChunk], requests: Collection[int]) -> None:
        """Make the schedule of a sequence the incumbent, if it is feasible and better."""
        tasks, reservations = self.scaled.tasks_and_reservations(requests)
        value, grants = self.scaled.value(tasks, reservations), self.choices.nodes(reservations)
        is_complete = {chunk.task for chunk in sequence} == set(tasks)
        if value > self.value and is_complete and grants is not None:
            plan = self._schedule(tasks, grants, tuple(sequence))
            if plan is not None:
                self.plan, self.value = plan, value

    def solve_sequencing_milp(self) -> None:
        """Solve the MILP over sequences, to optimality if there is time."""
        finished = self.scaled.value_of_finished
        better = self.value + self.scaled.value_granularity
        milp = SequencingMilp(self.scaled.with_value_at_least(better), self.installments)
        if milp.candidates.too_large is not None:
            self.add_remark(milp.candidates.too_large)
            return
        milp.build()
        assert self.bound is not None  # by `compute_upper_bound`
        milp.add_value_range(better - finished, self.bound - finished)
        solution = milp.solve(self.budget.left(), self.solver, self.seed, self.report)
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
                if self.value < value:
                    self._accept_one_by_one(solution.accepted, tuple(solution.grants))
        # If nothing better is feasible, no schedule has a larger value.
        self.use_dual_bound(outcome, self.value if outcome.status is Status.INFEASIBLE else None)

    def _try_accepting(
        self, tasks: tuple[int, ...], reservations: tuple[int, ...], *, use_milp: bool
    ) -> None:
        """Make a schedule of some tasks and reservations the incumbent, if one is found."""
        value = self.scaled.value(tasks, reservations)
        if value <= self.value:
            return
        scaled = self.scaled.restricted_to(tasks, reservations)
        test = self.feasibility_test(scaled, self.budget.left(TIME_SHARE))
        plan = test.decide().plan if use_milp else test.schedule_by_deadline()
        if plan is not None:
            self.plan, self.value = plan, value

    def _accept_one_by_one(self, tasks: tuple[int, ...], reservations: tuple[int, ...]) -> None:
        """Accept what can be accepted of some tasks and reservations that do not all fit."""
        scaled = self.scaled
        kept = (
            tuple(i for i in tasks if scaled.tasks[i].mandatory),
            tuple(r for r in reservations if scaled.reservations[r].mandatory),
        )
        candidates: list[tuple[tuple[int, ...], tuple[int, ...]]]
        candidates = [*(((), (r,)) for r in reservations), *(((i,), ()) for i in tasks)]
        for more_tasks, more_reservations in candidates:
            tried = _union(kept[0], more_tasks), _union(kept[1], more_reservations)
            test = self.feasibility_test(scaled.restricted_to(*tried), self.budget.left(TIME_SHARE))
            plan = test.schedule_by_deadline()
            if plan is not None:
                kept, value = tried, scaled.value(*tried)
                if value > self.value:
                    self.plan, self.value = plan, value

    def _schedule(
        self, accepted: tuple[int, ...], grants: Grants, sequence: tuple[UnsizedChunk, ...]
    ) -> Solution | None:
        """Return the schedule of a sequence, without limits: what was found is not discarded."""
        limits = replace(self.limits, time_s=None, work=None, threads=1)
        return schedule_sequence(self.scaled, sequence, accepted, grants, limits, self.seed)


def _union(known: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    """Return indices in order, each once."""
    return tuple(sorted({*known, *more}))
