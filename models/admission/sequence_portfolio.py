"""What both searches for acceptance do with sequences and spans of chunks.

Local search over sequences improves the incumbent. The relaxation over spans improves the bound: it
proves that sets of requests do not fit, which the fluid relaxation then excludes by combinatorial
Benders cuts (Codato and Fischetti, Oper. Res. 54 (2006) 756-766), and bounds the value by itself.
`dlopt.models.admission.search` and `dlopt.models.multistage.search` fill in the steps.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Generic

from dlopt.backends.time_budget import Budget
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.common.chunk_sequences import ChunkT
from dlopt.models.common.named_rows import ZERO
from dlopt.models.common.sequence_annealing import CYCLE, EFFORT, SequenceAnnealing
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_search import TIME_SHARE, PlanT, ScaledT, StreamSearch
from dlopt.result import Limits

SEARCH_SHARE = 1 / 2
"""Share of the remaining time that local search over sequences may take. Chosen by hand."""
PARTS = (1, *(12 << k for k in range(5)))
"""Parts of the horizon that intervals of the relaxation over spans are no longer than, one division
after the other. Chosen by hand: most streams are decided by few intervals."""
MAX_PROVEN_CHUNKS = 20
"""Chunks beyond which the MILP over sequences proves little within a minute, measured on random
instances: local search may then take its whole share of the time."""
CONFLICT_SHARE = 1 / 2
"""Share of the remaining time for conflicts. Chosen by hand."""
MAX_CONFLICTS = 200
"""Chosen by hand: most streams need fewer than twenty."""
MAX_SPANS = 4_000
"""Spans of all tasks. Chosen by hand: a linear program with more takes seconds."""
SECONDS_PER_SPAN = 1e-3
"""Time that must be left, as no limit interrupts stating the program. Measured, and rounded up."""
PROOF_SHARE = 1 / 2
"""Share of the remaining time for a certificate of an optimum. Chosen by hand."""
EFFORT_OF_PROOF = 60_000
"""Spans times branch-and-bound nodes of a certificate. Chosen by hand, for some seconds."""
MAX_SPANS_WITHOUT_TIME_LIMIT = 1_000
"""Chosen by hand: one round of a larger program may take the solver minutes."""


class SequencePortfolio(StreamSearch[ScaledT, PlanT], Generic[ScaledT, PlanT, ChunkT]):
    """One search for the schedule of maximum objective value.

    Parameters are those of `StreamSearch`.

    Attributes
    ----------
    conflicts : list of tuple of int
        Sets of requests that do not fit together.
    """

    def __init__(
        self, scaled: ScaledT, installments: int, limits: Limits, seed: int, solver: str
    ) -> None:
        super().__init__(scaled, installments, limits, seed, solver)
        self.conflicts: list[tuple[int, ...]] = []

    @abstractmethod
    def sequence_search(self, limits: Limits, effort: int | None) -> SequenceAnnealing[ChunkT]:
        """Return a local search over sequences of chunks."""

    @abstractmethod
    def span_relaxation(
        self, scaled: ScaledT, max_length: Fraction, most: int
    ) -> ChunkSpanRelaxation:
        """Return the relaxation over spans of chunks, of the instance or a part of it."""

    @abstractmethod
    def restricted_to(self, requests: Collection[int]) -> ScaledT:
        """Return the instance in which some requests must be accepted, and there are no others."""

    @abstractmethod
    def horizon(self) -> Fraction:
        """Return the last deadline."""

    @abstractmethod
    def first_sequence(self, requests: Collection[int]) -> Sequence[ChunkT]:
        """Return a sequence of chunks for some requests that is often feasible."""

    @abstractmethod
    def incumbent_sequence(self) -> tuple[Sequence[ChunkT], Collection[int]]:
        """Return the sequence of the incumbent's chunks, and the requests that it accepts."""

    @abstractmethod
    def try_sequence(self, sequence: Sequence[ChunkT], requests: Collection[int]) -> None:
        """Make the schedule of a sequence the incumbent, if it is feasible and better."""

    def search_and_bound(self, chunks: int, *, is_last: bool) -> None:
        """Search sequences and bound by spans of chunks, of so many chunks.

        The last step takes all the time that is left if nothing comes after it.
        """
        effort = None if chunks > MAX_PROVEN_CHUNKS else EFFORT
        self.search_sequences(effort, gap=self.scaled.value_granularity)
        self.search_sequences(CYCLE)
        self.bound_by_conflicts()
        self.divide_intervals()
        self.search_sequences(effort, share=1.0 if is_last else SEARCH_SHARE)

    def bound_by_conflicts(self) -> None:
        """Bound the value by the fluid relaxation without sets of requests that do not fit.

        This is logic-based Benders decomposition: each set that the relaxation accepts either has
        a schedule, or yields a conflict.
        """
        budget = Budget(self.budget.left(CONFLICT_SHARE))
        while len(self.conflicts) < MAX_CONFLICTS and not budget.is_spent:
            limits = budget.left(TIME_SHARE)
            bound = self.relax(limits, relaxation_only=False)
            self.use_bound_of_class(bound)
            if self.is_within_gap or not bound.accepted or not self.decide(bound.accepted):
                return

    def decide(self, requests: tuple[int, ...]) -> bool:
        """Find a schedule of some requests, or a conflict among them; tell whether it did."""
        conflict, value = self.conflict_among(requests, PARTS[:2]), self.value
        if not conflict:
            self.search_sequence_of(requests)
            if self.value > value:
                return True
            conflict = self.conflict_among(requests, PARTS[2:])
        self.conflicts += [conflict] * bool(conflict)
        return bool(conflict)

    def conflict_among(
        self, requests: tuple[int, ...], divisions: Sequence[int]
    ) -> tuple[int, ...]:
        """Return requests, among some, that do not fit together; none if none are found.

        They are proven not to fit by spans of chunks in shorter and shorter intervals.
        """
        for parts in divisions:
            is_refuted = self.refutes(requests, parts)
            if is_refuted is None:
                break
            if is_refuted:
                for request in requests:
                    fewer = tuple(k for k in requests if k != request)
                    if self.refutes(fewer, parts):
                        requests = fewer
                return requests
        return ()

    def refutes(self, requests: tuple[int, ...], parts: int) -> bool | None:
        """Tell whether spans prove that some requests do not fit; None if there are too many.

        Where they do not, each of the cases may be refuted by itself.
        """
        scaled = self.restricted_to(requests)
        if not scaled.tasks:
            return False
        is_refuted = self.is_refuted(scaled, parts)
        if is_refuted is False:
            cases = self.cases(scaled)
            is_refuted = bool(cases) and all(self.is_refuted(case, parts) for case in cases)
        return is_refuted

    def cases(self, scaled: ScaledT) -> Collection[ScaledT]:
        """Return instances of which one has each schedule of an instance; none if it is one."""
        return ()

    def is_refuted(self, scaled: ScaledT, parts: int) -> bool | None:
        """Tell whether spans prove that there is no schedule; None if there are too many."""
        limits = self.budget.left(TIME_SHARE)
        most = max_spans(limits)
        relaxation = self.span_relaxation(scaled, self.horizon() / parts, most + 1)
        if len(relaxation.spans) > most:
            return None
        return relaxation.upper_bound(limits, None, self.seed).value is None

    def divide_intervals(self) -> None:
        """Bound the value by spans of chunks in shorter and shorter intervals.

        Local search looks for a schedule of what each relaxation accepts.
        """
        searched = set[tuple[int, ...]]()
        for parts in PARTS:
            bound = self.bound_by_spans(parts, self.conflicts)
            if bound is None or self.is_within_gap:
                return
            self.use_bound_of_class(bound)
            if bound.accepted and bound.accepted not in searched:
                searched.add(bound.accepted)
                self.search_sequence_of(bound.accepted)

    def bound_by_spans(
        self, parts: int, conflicts: Sequence[tuple[int, ...]] = (), *, is_proof: bool = False
    ) -> UpperBound | None:
        """Bound the value by spans of chunks; None if there are too many.

        A proof has more time, but no more than `EFFORT_OF_PROOF`, and there must be spans in it.
        """
        limits = self.budget.left(PROOF_SHARE if is_proof else TIME_SHARE)
        most = max_spans(limits)
        relaxation = self.span_relaxation(self.scaled, self.horizon() / parts, most + 1)
        if len(relaxation.spans) > most:
            return None
        relaxation.conflicts = conflicts
        if is_proof:
            nodes = EFFORT_OF_PROOF // max(len(relaxation.spans), 1)
            if not relaxation.spans or not nodes:
                return None
            limits = replace(limits, work=min(nodes, limits.work or nodes))
        return relaxation.upper_bound(limits, self.value, self.seed, is_proof)

    def use_bound_of_class(self, bound: UpperBound) -> None:
        """Take over a bound of schedules with few chunks, if it is better."""
        if self.bound is None or bound.value is None or bound.value < self.bound:
            self._update_bound(bound, False)

    def certify_by_spans(self) -> None:
        """Look for a certificate of the optimum by spans, in shorter and shorter intervals."""
        with suppress(TimeoutError):
            for parts in PARTS:
                if self.certificate is not None or self.holds_for_any_plan or not self.is_optimal:
                    return
                bound = self.bound_by_spans(parts, is_proof=True)
                if bound is None:
                    return
                if bound.certificate is not None and bound.value == self.bound:
                    self._update_bound(bound, False)

    def search_sequence_of(self, accepted: tuple[int, ...]) -> None:
        """Look for a schedule of some requests by local search over sequences of chunks."""
        search = self.sequence_search(self.budget.left(SEARCH_SHARE), 2 * CYCLE)
        found = search.finish(self.first_sequence(accepted), accepted)
        if found is not None:
            self.try_sequence(found.loaded_chunks, found.requests)

    def search_sequences(
        self, effort: int | None, gap: Fraction = ZERO, share: float = SEARCH_SHARE
    ) -> None:
        """Look for better schedules by local search over sequences of chunks, up to a gap.

        A limit of time takes the place of `effort` if that is None.
        """
        limits = self.budget.left(share)
        search = self.sequence_search(
            limits, EFFORT if effort is None and limits.time_s is None else effort
        )
        while self.plan is not None and not self.is_within_gap:
            if self.bound is not None and self.bound - self.value <= gap:
                return
            found = search.improve(*self.incumbent_sequence())
            if found is None:
                return
            self.try_sequence(found.loaded_chunks, found.requests)


def max_spans(limits: Limits) -> int:
    """Return the spans up to which the relaxation is solved within limits.

    Examples
    --------
    >>> max_spans(Limits()), max_spans(Limits(time_s=1))
    (1000, 1000)
    """
    if limits.time_s is None:
        return MAX_SPANS_WITHOUT_TIME_LIMIT
    return int(min(MAX_SPANS, limits.time_s / SECONDS_PER_SPAN))
