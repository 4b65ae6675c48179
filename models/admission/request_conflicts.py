"""Sets of requests that do not fit together, proven by the relaxation over spans of chunks.

Intervals get shorter and shorter until a set is refuted, which is then reduced to a smallest one.
`dlopt.models.admission.conflicts` and `dlopt.models.multistage.conflicts` fill in the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Generic

from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.common.named_rows import ZERO
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_search import TIME_SHARE, ScaledT
from dlopt.result import Limits

PARTS = (1, *(12 << k for k in range(5)))
"""Parts of the horizon that intervals of the relaxation are no longer than, one division after the
other. Chosen by hand: most streams are decided by few intervals."""
BLOCKS = 8
"""Blocks of requests that are left out of a set at first. Chosen by hand."""
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


class RequestConflicts(ABC, Generic[ScaledT]):
    """Finds sets of requests of an instance that do not fit together.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node (in a gap between reservations).
    budget : Budget
    seed : int
    """

    def __init__(self, scaled: ScaledT, installments: int, budget: Budget, seed: int) -> None:
        self.scaled, self.installments = scaled, installments
        self.budget, self.seed = budget, seed
        self.horizon = max((task.due for task in scaled.tasks), default=ZERO)

    @abstractmethod
    def relaxation(
        self, scaled: ScaledT, max_length: Fraction, most: int, is_proof: bool
    ) -> ChunkSpanRelaxation:
        """Return the relaxation over spans of chunks, of the instance or a part of it.

        It is one that a checker knows if it `is_proof`.
        """

    @abstractmethod
    def restricted_to(self, requests: Collection[int]) -> ScaledT:
        """Return the instance in which some requests must be accepted, and there are no others."""

    @property
    def all_requests(self) -> tuple[int, ...]:
        """All requests."""
        return tuple(range(len(self.scaled.tasks)))

    @abstractmethod
    def name(self, request: int) -> str:
        """Return how a message calls a request."""

    def cases(self, scaled: ScaledT) -> Collection[ScaledT]:
        """Return instances of which one has each schedule of an instance; none if it is one."""
        return ()

    def among(self, requests: tuple[int, ...], divisions: Sequence[int]) -> tuple[int, ...]:
        """Return a smallest set of requests, among some, that do not fit; none if none is found.

        Without any one of them, the same division of time refutes them no more.
        """
        for parts in divisions:
            is_refuted = self.refutes(requests, parts)
            if is_refuted is None:
                break
            if is_refuted:
                return self.smallest(requests, parts)
        return ()

    def smallest(self, requests: tuple[int, ...], parts: int) -> tuple[int, ...]:
        """Return as few of some refuted requests as are still refuted, if there is time.

        Several neighbours are left out at once where there are many, and then one by one.
        """
        size = max(len(requests) // BLOCKS, 1)
        with suppress(TimeoutError):
            while size:
                first = 0
                while first < len(requests):
                    fewer = requests[:first] + requests[first + size :]
                    if fewer and self.refutes(fewer, parts):
                        requests = fewer
                    else:
                        first += size
                size //= 2
        return requests

    def refutes(self, requests: tuple[int, ...], parts: int) -> bool | None:
        """Tell whether spans prove that some requests do not fit; None if there are too many."""
        bound = self.refutation(requests, parts)
        return None if bound is None else bound.value is None

    def refutation(self, requests: tuple[int, ...], parts: int) -> UpperBound | None:
        """Return the bound of schedules that accept some requests; None if spans are too many.

        It has no value if there is no such schedule. Where the relaxation has one, each of the
        cases may be refuted by itself.
        """
        scaled = self.restricted_to(requests)
        bound = self.bound(scaled, parts)
        if bound is None or bound.value is None:
            return bound
        cases, of_case = self.cases(scaled), bound
        for case in cases:
            of_case = self.bound(case, parts) or bound
            if of_case.value is not None:
                return bound
        if not cases:
            return bound
        derivation = f"{of_case.derivation}, for each of {len(cases)} assignments of nodes"
        return UpperBound(None, derivation, version=bound.version)

    def certificate(self, parts: int) -> BoundCertificate | None:
        """Return a certificate that not all requests fit, if there is time for one."""
        with suppress(TimeoutError):
            bound = self.bound(self.restricted_to(self.all_requests), parts, is_proof=True)
            if bound is not None and bound.value is None:
                return bound.certificate
        return None

    def bound(
        self,
        scaled: ScaledT,
        parts: int,
        known_value: Fraction | None = None,
        conflicts: Sequence[Collection[int]] = (),
        *,
        is_proof: bool = False,
    ) -> UpperBound | None:
        """Bound the value of an instance by spans of chunks; None if there are too many.

        A proof has more time, but no more than `EFFORT_OF_PROOF`, and there must be spans in it.
        """
        limits = self.budget.left(PROOF_SHARE if is_proof else TIME_SHARE)
        most = max_spans(limits)
        relaxation = self.relaxation(scaled, self.horizon / parts, most + 1, is_proof)
        if len(relaxation.spans) > most:
            return None
        relaxation.conflicts = conflicts
        if is_proof:
            nodes = EFFORT_OF_PROOF // max(len(relaxation.spans), 1)
            if not relaxation.spans or not nodes:
                return None
            limits = replace(limits, work=min(nodes, limits.work or nodes))
        return relaxation.upper_bound(limits, known_value, self.seed, is_proof)


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
