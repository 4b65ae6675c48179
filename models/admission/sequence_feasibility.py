"""The question whether all requests fit together, by sequences and spans of chunks.

Where the sequencing MILP is large, the relaxation over spans of chunks refutes requests, or local
search over sequences finds a schedule of them. `dlopt.models.admission.feasibility` and
`dlopt.models.multistage.feasibility` fill in the steps.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Generic

from dlopt.models.admission.request_conflicts import FIRST_DIVISIONS, Division, RequestConflicts
from dlopt.models.common.stream_feasibility import FeasibilityResult, PlanT, StreamFeasibility
from dlopt.models.common.stream_search import ScaledT
from dlopt.models.common.time_division import TimeDivision
from dlopt.result import Status


class SequenceFeasibility(StreamFeasibility[ScaledT, PlanT], Generic[ScaledT, PlanT]):
    """The question whether all requests of an instance can be accepted.

    Parameters are those of `StreamFeasibility`.
    """

    @abstractmethod
    def search_sequences(self) -> PlanT | None:
        """Look for a schedule by local search over sequences of chunks."""

    @abstractmethod
    def conflict_finder(self) -> RequestConflicts[ScaledT]:
        """Return what finds sets of requests that do not fit together."""

    def decide_blocks(self, divided: TimeDivision[ScaledT, PlanT]) -> FeasibilityResult[PlanT]:
        """Decide each block of time by itself; certify by all requests that one does not fit."""
        answer = super().decide_blocks(divided)
        if answer.status is not Status.INFEASIBLE or answer.proof_kind != "exact":
            return answer
        finder, certificate = self.conflict_finder(), None
        with suppress(TimeoutError):
            for bound, instants, _ in finder.refutations(finder.all_requests):
                if bound.value is None:
                    certificate = bound.certificate or finder.certificate(instants)
        return replace(answer, certificate=certificate)

    def decide_by_sequences_and_spans(self) -> FeasibilityResult[PlanT] | None:
        """Return a schedule, or a proof that there is none; None if neither is found."""
        divisions = self.divisions()
        answer = self.disprove_by_spans(islice(divisions, FIRST_DIVISIONS))
        if answer is None:
            plan = self.search_sequences()
            if plan is not None:
                return FeasibilityResult(Status.OPTIMAL, plan)
            answer = self.disprove_by_spans(divisions)
        return answer

    def divisions(self) -> Iterator[Division]:
        """Yield bounds by spans of chunks, in shorter and shorter intervals."""
        finder = self.conflict_finder()
        return finder.refutations(finder.all_requests)

    def disprove_by_spans(self, divisions: Iterable[Division]) -> FeasibilityResult[PlanT] | None:
        """Return that there is no schedule, if spans in one of some divisions of time prove it."""
        finder = self.conflict_finder()
        for bound, instants, _ in divisions:
            if bound.value is None:
                names = [finder.name(k) for k in finder.smallest(finder.all_requests, instants)]
                fit = "does not fit" if len(names) == 1 else "do not fit together"
                reason = f"{', '.join(names)} {fit}: infeasible even in the {bound.derivation}"
                proof = bound.certificate or finder.certificate(instants)
                return FeasibilityResult(Status.INFEASIBLE, None, reason, proof)
        return None
