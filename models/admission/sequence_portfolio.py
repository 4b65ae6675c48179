"""What both searches for acceptance do with sequences and spans of chunks.

Local search over sequences improves the incumbent, and the relaxation over spans the bound.
`dlopt.models.admission.search` and `dlopt.models.multistage.search` fill in the steps.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Generic

from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.common.chunk_sequences import ChunkT
from dlopt.models.common.named_rows import ZERO
from dlopt.models.common.sequence_annealing import CYCLE, EFFORT, SequenceAnnealing
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
MAX_SPANS = 4_000
"""Spans of all tasks. Chosen by hand: a linear program with more takes seconds."""
SECONDS_PER_SPAN = 1e-3
"""Time that must be left, as no limit interrupts stating the program. Measured, and rounded up."""
MAX_SPANS_WITHOUT_TIME_LIMIT = 1_000
"""Chosen by hand: one round of a larger program may take the solver minutes."""


class SequencePortfolio(StreamSearch[ScaledT, PlanT], Generic[ScaledT, PlanT, ChunkT]):
    """One search for the schedule of maximum objective value.

    Parameters are those of `StreamSearch`.
    """

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
        self.divide_intervals()
        self.search_sequences(effort, share=1.0 if is_last else SEARCH_SHARE)

    def divide_intervals(self) -> None:
        """Bound the value by spans of chunks in shorter and shorter intervals.

        Local search looks for a schedule of what each relaxation accepts. If it finds none, still
        shorter intervals may refute these requests by themselves.
        """
        searched, conflicts = set[tuple[int, ...]](), list[tuple[int, ...]]()
        for parts in PARTS:
            is_refuted = True
            while is_refuted and not self.is_within_gap:
                accepted = self.bound_by_spans(parts, conflicts)
                if not accepted or accepted in searched:
                    break
                searched.add(accepted)
                self.search_sequence_of(accepted)
                is_refuted = not self.is_within_gap and self.refute(accepted, parts)
                conflicts += [accepted] * is_refuted

    def bound_by_spans(
        self, parts: int, conflicts: Sequence[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Bound the value, and return what the relaxation accepts; None if it is too large.

        Of each of some sets of requests not all are accepted.
        """
        limits = self.budget.left(TIME_SHARE)
        most = max_spans(limits)
        relaxation = self.span_relaxation(self.scaled, self.horizon() / parts, most + 1)
        if len(relaxation.spans) > most:
            return None
        for conflict in conflicts:
            relaxation.exclude(conflict)
        bound = relaxation.upper_bound(limits, self.value, self.seed)
        if conflicts:
            bound = replace(bound, certificate=None)
        if self.bound is None or bound.value is None or bound.value < self.bound:
            self._update_bound(bound, False)
        return bound.accepted

    def refute(self, requests: tuple[int, ...], parts: int) -> bool:
        """Tell whether shorter intervals prove that some requests do not fit together."""
        scaled = self.restricted_to(requests)
        for finer in (1, 2, 4):
            limits = self.budget.left(TIME_SHARE)
            most = max_spans(limits)
            relaxation = self.span_relaxation(scaled, self.horizon() / parts / finer, most + 1)
            if len(relaxation.spans) > most:
                return False
            if relaxation.upper_bound(limits, None, self.seed).value is None:
                return True
        return False

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
