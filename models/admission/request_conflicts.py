"""Sets of requests that do not fit together, proven by the relaxation over spans of chunks.

Time is divided into shorter and shorter intervals until a set is refuted, which is then reduced to
a smallest one. Intervals are halved where the relaxation has most chunks: dynamic discretization
discovery (Boland, Hewitt, Marshall and Savelsbergh, Oper. Res. 65 (2017) 1303-1321).
`dlopt.models.admission.conflicts` and `dlopt.models.multistage.conflicts` fill in the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Generic, NamedTuple

from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.common.stream_bounds import UpperBound
from dlopt.models.common.stream_search import TIME_SHARE, ScaledT
from dlopt.result import Limits

FIRST_DIVISIONS = 4
"""Divisions of time before local search. Chosen by hand: few intervals decide most streams."""
MAX_DIVISIONS = 60
"""Divisions of time, one finer than the other, if spans stay few. Chosen by hand."""
DIVISION_SHARE = 1 / 4
"""Share of the remaining time for them, with the local search between them. Chosen by hand."""
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


RequestSets = Sequence[tuple[int, ...]]
"""Sets of requests, by their positions."""


class Division(NamedTuple):
    """A bound by spans of chunks, the instants that divide time for it, and finer ones."""

    bound: UpperBound
    instants: Collection[Fraction]
    finer: Collection[Fraction]


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

    @abstractmethod
    def relaxation(
        self, scaled: ScaledT, dividing: Collection[Fraction], most: int, is_proof: bool
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

    def divisions(
        self,
        divide: Callable[[Collection[Fraction]], Division | None],
        instants: Collection[Fraction] = (),
    ) -> Iterator[Division]:
        """Yield bounds by spans of chunks in shorter and shorter intervals, while spans are few.

        Intervals are halved where the last bound has most chunks; `divide` gets their instants.
        """
        budget, division = Budget(self.budget.left(DIVISION_SHARE)), divide(instants)
        for _ in range(MAX_DIVISIONS):
            if division is None:
                return
            yield division
            if division.bound.value is None or budget.is_spent:
                return
            division = divide(division.finer)

    def refutations(
        self, requests: tuple[int, ...], instants: Collection[Fraction] = ()
    ) -> Iterator[Division]:
        """Yield bounds of schedules that accept some requests, until one has no value."""
        return self.divisions(partial(self.refutation, requests), instants)

    def among(self, requests: tuple[int, ...], divisions: Iterable[Division]) -> tuple[int, ...]:
        """Return a smallest set of some requests that one of some divisions of time refutes.

        It is empty if none does. Without any one of its requests, the same division refutes it no
        more.
        """
        for bound, instants, _ in divisions:
            if bound.value is None:
                return self.smallest(requests, instants)
        return ()

    def smallest(
        self, requests: tuple[int, ...], instants: Collection[Fraction]
    ) -> tuple[int, ...]:
        """Return as few of some refuted requests as are still refuted, if there is time.

        Several neighbours are left out at once where there are many, and then one by one.
        """
        size = max(len(requests) // BLOCKS, 1)
        with suppress(TimeoutError):
            while size:
                first = 0
                while first < len(requests):
                    fewer = requests[:first] + requests[first + size :]
                    if fewer and self.refutes(fewer, instants):
                        requests = fewer
                    else:
                        first += size
                size //= 2
        return requests

    def refutes(self, requests: tuple[int, ...], instants: Collection[Fraction]) -> bool:
        """Tell whether spans prove that some requests do not fit."""
        division = self.refutation(requests, instants)
        return division is not None and division.bound.value is None

    def refutation(
        self, requests: tuple[int, ...], instants: Collection[Fraction]
    ) -> Division | None:
        """Return the bound of schedules that accept some requests; None if spans are too many.

        It has no value if there is no such schedule. Where the relaxation has one, each of the
        cases may be refuted by itself.
        """
        scaled = self.restricted_to(requests)
        division = self.bound(scaled, instants)
        if division is None or division.bound.value is None:
            return division
        cases = self.cases(scaled)
        if not cases:
            return division
        for case in cases:
            of_case = self.bound(case, instants) or division
            if of_case.bound.value is not None:
                return of_case
        derivation = f"{of_case.bound.derivation}, for each of {len(cases)} assignments of nodes"
        bound = UpperBound(None, derivation, version=of_case.bound.version)
        return division._replace(bound=bound)

    def certificate(self, instants: Collection[Fraction]) -> BoundCertificate | None:
        """Return a certificate that not all requests fit, if there is time for one."""
        with suppress(TimeoutError):
            division = self.bound(self.restricted_to(self.all_requests), instants, is_proof=True)
            if division is not None and division.bound.value is None:
                return division.bound.certificate
        return None

    def bound(
        self,
        scaled: ScaledT,
        instants: Collection[Fraction] = (),
        known_value: Fraction | None = None,
        conflicts: Sequence[Collection[int]] = (),
        *,
        is_proof: bool = False,
    ) -> Division | None:
        """Bound the value of an instance by spans of chunks; None if there are too many.

        A proof has more time, but no more than `EFFORT_OF_PROOF`, and there must be spans in it.
        """
        limits = self.budget.left(PROOF_SHARE if is_proof else TIME_SHARE)
        most = max_spans(limits)
        relaxation = self.relaxation(scaled, instants, most + 1, is_proof)
        if len(relaxation.spans) > most:
            return None
        relaxation.conflicts = conflicts
        if is_proof:
            nodes = EFFORT_OF_PROOF // max(len(relaxation.spans), 1)
            if not relaxation.spans or not nodes:
                return None
            limits = replace(limits, work=min(nodes, limits.work or nodes))
        bound = relaxation.upper_bound(limits, known_value, self.seed, is_proof)
        return Division(bound, instants, relaxation.finer_instants(bound.point))


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
