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
from fractions import Fraction
from itertools import islice
from typing import Generic, NamedTuple

from dlopt.backends.time_budget import Budget
from dlopt.models.admission.request_conflicts import FIRST_DIVISIONS, RequestConflicts, RequestSets
from dlopt.models.common.chunk_sequences import ChunkT
from dlopt.models.common.named_rows import ZERO
from dlopt.models.common.sequence_annealing import CYCLE, EFFORT, SequenceAnnealing
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_search import TIME_SHARE, PlanT, ScaledT, StreamSearch
from dlopt.result import Limits

SEARCH_SHARE = 1 / 2
"""Share of the remaining time that local search over sequences may take. Chosen by hand."""
MAX_PROVEN_CHUNKS = 20
"""Chunks beyond which the MILP over sequences proves little within a minute, measured on random
instances: local search may then take its whole share of the time."""
CONFLICT_SHARE = 1 / 2
"""Share of the remaining time for conflicts. Chosen by hand."""
MAX_PUT_OFF = 3
"""Sets of requests that are put off. Chosen by hand: if more are undecided, a proof is unlikely."""
MAX_CONFLICTS = 200
"""Chosen by hand: most streams need fewer than twenty."""


class UndecidedSet(NamedTuple):
    """Requests that may fit or not, and the instants by which to divide time next."""

    requests: tuple[int, ...]
    instants: Collection[Fraction]


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
    def relax(
        self, limits: Limits, *, relaxation_only: bool, excluded: RequestSets = ()
    ) -> UpperBound:
        """Bound the value by a relaxation, without some sets of requests besides the conflicts."""

    @abstractmethod
    def sequence_search(self, limits: Limits, effort: int | None) -> SequenceAnnealing[ChunkT]:
        """Return a local search over sequences of chunks."""

    @abstractmethod
    def conflict_finder(self) -> RequestConflicts[ScaledT]:
        """Return what finds sets of requests that do not fit together."""

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
        if self.bound_by_conflicts():
            self.divide_intervals()
        self.search_sequences(effort, share=1.0 if is_last else SEARCH_SHARE)

    def bound_by_conflicts(self) -> bool:
        """Bound the value by the fluid relaxation without sets of requests that do not fit.

        This is logic-based Benders decomposition: each set that the relaxation accepts either has
        a schedule, or yields a conflict. Sets that few intervals do not decide are put off while
        the relaxation accepts others of the same value. Return whether none is left.
        """
        budget, put_off = Budget(self.budget.left(CONFLICT_SHARE)), list[UndecidedSet]()
        while len(self.conflicts) < MAX_CONFLICTS and not budget.is_spent:
            excluded = [requests for requests, _ in put_off]
            bound = self.relax(budget.left(TIME_SHARE), relaxation_only=False, excluded=excluded)
            if not put_off:
                self.use_bound_of_class(bound)
            if self.is_within_gap:
                return True
            if bound.accepted and len(put_off) < MAX_PUT_OFF and bound.value == self.bound:
                put_off += self.decide(bound.accepted)
            elif not put_off or not self.refute(put_off[-1]):
                break
            else:
                conflict = set(self.conflicts[-1])
                put_off = [one for one in put_off if not conflict <= set(one.requests)]
        return not put_off

    def decide(self, requests: tuple[int, ...]) -> list[UndecidedSet]:
        """Find a schedule of some requests, or a conflict among them; return them if it did not."""
        finder, value = self.conflict_finder(), self.value
        divisions = list(islice(finder.refutations(requests), FIRST_DIVISIONS))
        conflict = finder.among(requests, divisions)
        if conflict:
            self.conflicts.append(conflict)
            return []
        self.search_sequence_of(requests)
        undecided = UndecidedSet(requests, divisions[-1].finer if divisions else ())
        return [undecided] * (self.value == value)

    def refute(self, undecided: UndecidedSet) -> bool:
        """Find a conflict among some requests in shorter intervals; tell whether there is one."""
        finder, (requests, instants) = self.conflict_finder(), undecided
        conflict = finder.among(requests, finder.refutations(requests, instants))
        self.conflicts += [conflict] * bool(conflict)
        return bool(conflict)

    def divide_intervals(self) -> None:
        """Bound the value by spans of chunks in shorter and shorter intervals.

        Local search looks for a schedule of what each relaxation accepts.
        """
        searched, finder = set[tuple[int, ...]](), self.conflict_finder()
        for bound, *_ in finder.divisions(
            lambda instants: finder.bound(self.scaled, instants, self.value, self.conflicts)
        ):
            self.use_bound_of_class(bound)
            if self.is_within_gap:
                return
            if bound.accepted and bound.accepted not in searched:
                searched.add(bound.accepted)
                self.search_sequence_of(bound.accepted)

    def use_bound_of_class(self, bound: UpperBound) -> None:
        """Take over a bound of schedules with few chunks, if it is better."""
        if self.bound is None or bound.value is None or bound.value < self.bound:
            self._update_bound(bound, False)

    def certify_by_spans(self) -> None:
        """Look for a certificate of the optimum by spans, in shorter and shorter intervals."""
        if self.certificate is not None or self.holds_for_any_plan or not self.is_optimal:
            return
        finder = self.conflict_finder()
        with suppress(TimeoutError):
            for bound, *_ in finder.divisions(
                lambda instants: finder.bound(self.scaled, instants, self.value, is_proof=True)
            ):
                if bound.certificate is not None and bound.value == self.bound:
                    self._update_bound(bound, False)
                    return

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
