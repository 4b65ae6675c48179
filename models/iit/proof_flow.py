"""The program of flows that certificates state: the fluid relaxation up to a claimed completion.

It is that of `dlopt.models.iit.fluid_relaxation`, with the time for which each node is ready in an
interval, where that one has the whole interval. The last interval ends at the claim, and the rows
about it have its part until the completion, which is no more than a linear function of it; see
`dlopt.problems.iit.certified_flow`, which the checker has by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf

from dlopt.arithmetic import exact
from dlopt.certificates import BoundCertificate
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow
from dlopt.models.common.searched_program import ProofError, SearchedProgram
from dlopt.models.iit.fluid_relaxation import interval_starts
from dlopt.problems.iit.data import Instance


def certify_flow(
    instance: Instance, limit: Fraction, *, is_late: bool = False, stop: float = inf, seed: int = 0
) -> BoundCertificate:
    """Return the certificate that no plan, with any chunks, is complete before a date.

    Parameters
    ----------
    instance : Instance
    limit : Fraction
    is_late : bool
        That none is complete by that date, instead.
    stop : float
        Instant of the monotonic clock at which it is given up.
    seed : int

    Raises
    ------
    ProofError
        If the fluid relaxation does not prove that.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 5), load=3)
    >>> certify_flow(instance, Fraction(11, 2)).bound
    Fraction(11, 2)
    >>> print(certify_flow(instance, Fraction(5), is_late=True).bound)
    None
    """
    program = FlowRows(instance, limit, is_late).searched()
    bound = None if is_late else limit - exact(min(instance.ready_times))
    try:
        return program.certificate(bound, 1, stop, seed)
    except ProofError:
        raise ProofError("the fluid relaxation does not prove it") from None


class FlowRows:
    """Columns and rows of the program of flows up to a date.

    Parameters
    ----------
    instance : Instance
    limit : Fraction
        The date.
    is_late : bool
        Whether no plan is complete by it, so that the completion itself is in no row.
    """

    def __init__(self, instance: Instance, limit: Fraction, is_late: bool = False) -> None:
        cluster, self.is_late = instance.cluster, is_late
        self.origin = min(map(exact, instance.ready_times))
        self.limit, self.load = limit - self.origin, exact(instance.load)
        starts = [exact(start) - self.origin for start in interval_starts(instance)]
        self.instants = [start for start in starts if start < self.limit]
        if not self.instants:
            raise ProofError("no node is ready before what is claimed")
        known = dict[tuple[Fraction, Fraction, Fraction], int]()
        self.groups: list[int] = []
        self.ready: list[list[Fraction]] = []
        for node, date in enumerate(instance.ready_times):
            ready = exact(date) - self.origin
            first = max(start for start in starts if start <= ready)
            costs = exact(cluster.tau_of(node)), exact(cluster.chi_of(node))
            group = known.setdefault((first, *costs), len(known))
            self.groups.append(group)
            if group == len(self.ready):
                self.ready.append([])
            self.ready[group].append(ready)
        self.costs = [(tau, chi) for _, tau, chi in known]
        ends = [*self.instants[1:], self.limit]
        self.intervals = list(zip(self.instants, ends, strict=True))
        self.cells = [
            (g, k)
            for g, ready in enumerate(self.ready)
            for k, (_, end) in enumerate(self.intervals)
            if min(ready) < end
        ]
        self.names = ["t", *(f"{letter}_{g}_{k}" for letter in "ab" for g, k in self.cells)]
        self.column = {name: column for column, name in enumerate(self.names)}

    def searched(self) -> SearchedProgram:
        """Return the program with all its rows."""
        others = len(self.names) - 1
        return SearchedProgram(
            names=tuple(self.names),
            costs=(ONE, *(ZERO,) * others),
            upper=self.upper,
            binaries=(),
            rows=tuple(self.rows()),
            remarks=self.remarks,
        )

    @property
    def upper(self) -> tuple[Fraction, ...]:
        """The upper bound of each column."""
        return (self.limit, *(self.load for _ in self.names[1:]))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the program says, for the head of the file."""
        return (
            f"origin: {self.origin}",
            f"groups: {' '.join(map(str, self.groups))}",
            f"instants: {' '.join(map(str, self.instants))}",
            "columns: a_g_k is what nodes of group g receive in interval k, b_g_k what they",
            "compute, t the completion since the origin",
        )

    def rows(self) -> Iterator[NamedRow]:
        """Yield all rows."""
        yield self.load_row()
        for k, (start, end) in enumerate(self.intervals):
            sent = [(f"a_{g}_{k}", self.costs[g][0]) for g, j in self.cells if j == k]
            yield self._limited(f"channel_{k}", sent, end - start, k)
        for g, k in self.cells:
            (start, end), (tau, chi) = self.intervals[k], self.costs[g]
            time = sum((max(ZERO, end - max(start, ready)) for ready in self.ready[g]), ZERO)
            yield self._limited(
                f"nodes_{g}_{k}", [(f"a_{g}_{k}", tau), (f"b_{g}_{k}", chi)], time, k
            )
            past = [j for h, j in self.cells if h == g and j <= k]
            received = [(self.column[f"a_{g}_{j}"], ONE) for j in past]
            received += [(self.column[f"b_{g}_{j}"], -ONE) for j in past]
            yield NamedRow(f"received_{g}_{k}", tuple(received), ZERO, None)

    def load_row(self) -> NamedRow:
        """All of the load is computed."""
        computed = tuple((self.column[f"b_{g}_{k}"], ONE) for g, k in self.cells)
        return NamedRow("load", computed, self.load, None)

    def _limited(
        self, name: str, busy: list[tuple[str, Fraction]], most: Fraction, k: int
    ) -> NamedRow:
        """Return that terms are at most a time, in the last interval its part until the end."""
        terms = [(self.column[column], a) for column, a in busy if a]
        if self.is_late or k < len(self.intervals) - 1:
            return NamedRow(name, tuple(terms), None, most)
        terms.append((0, -most / self.limit))
        return NamedRow(f"{name}_t", tuple(terms), None, ZERO)
