"""Certificates of identical nodes with one chunk each: by cases of the number of chunks.

Let `X_p` be the most time that chunk `p` can spend on its load if all chunks before it are as large
as a date `T` allows (`dlopt.models.iit.prefix_milp`)::

    X_0 = T - c_0,    X_p = min(T - c_p, beta X_p-1 - theta_cm),    beta = chi / (tau + chi)

A chunk that takes the first term begins a *block*: its node is ready later than the channel is
free. Of `m` chunks with positive `X_p` the loads are at most ``sum_p X_p / (tau + chi)``, which the
dual solution ``nu_p = 1 / (tau + chi) + beta nu_p+1`` within each block proves. It is a
combination of the rows of `dlopt.models.iit.proof_program`, with ``mu_p = (1 - tau nu_p+1) / (tau +
chi)`` times row `time_p`, `nu_p+1` times `channel_p`, and `nu_p` of the first chunk of a block
times `limit_p` (or `ready_p`). The cases are

    more chunks than have positive X_p    the channel alone is too late for them, or their nodes are
    as many                               the completion is at least the claim
    fewer                                 they have less load by then: one case for as many numbers
                                          as one dual solution refutes

Wherever something is left, multipliers are rounded up to few digits. Source: ours.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from dlopt.arithmetic import exact
from dlopt.certificates import BoundCertificate
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow
from dlopt.models.common.searched_program import ProofError
from dlopt.models.iit.proof_program import (
    ChunkLeaf,
    ChunkProgram,
    Rounding,
    rounded_up,
    same_group,
)
from dlopt.problems.iit.data import Instance

DIGITS = (24, 48, 96, 192)
"""Binary digits of multipliers that are tried one after another, for short certificates."""
MAX_CHUNKS = 1_000
"""Chunks up to which certificates are written. Chosen by hand, for the size of the file."""


def certify_completion(instance: Instance, claim: Fraction) -> BoundCertificate:
    """Return the certificate that no plan of identical nodes is complete before a date.

    Raises
    ------
    ProofError
        If a plan may be, or the proof is too long.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> certificate = certify_completion(instance, Fraction(39, 8))
    >>> certificate.bound, len(certificate.leaves)
    (Fraction(39, 8), 2)
    >>> certify_completion(instance, Fraction(5))
    Traceback (most recent call last):
    ...
    dlopt.models.common.searched_program.ProofError: a plan may be complete before what is claimed
    """
    return _with_few_digits(instance, claim, "completion", claim, None)


def certify_nodes(instance: Instance, deadline: Fraction, nodes: int) -> BoundCertificate:
    """Return the certificate that fewer identical nodes miss a deadline.

    Raises
    ------
    ProofError
        See `certify_completion`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> certify_nodes(instance, Fraction(6), 2).bound
    Fraction(2, 1)
    """
    return _with_few_digits(instance, deadline, "nodes", Fraction(nodes), nodes - 1)


def certify_lateness(instance: Instance, deadline: Fraction, objective: str) -> BoundCertificate:
    """Return the certificate that identical nodes do not complete the load by a deadline.

    Raises
    ------
    ProofError
        See `certify_completion`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    >>> print(certify_lateness(instance, Fraction(4), "completion").bound)
    None
    """
    return _with_few_digits(instance, deadline, objective, None, None)


def _with_few_digits(
    instance: Instance,
    limit: Fraction,
    objective: str,
    bound: Fraction | None,
    most: int | None,
) -> BoundCertificate:
    """Return the certificate with the fewest digits that suffice."""
    times = _ChunkTimes(instance, limit, most)
    spare = exact(instance.load) - times.largest_load
    if spare < 0 or (spare == 0 and (objective != "completion" or bound is None)):
        raise ProofError("a plan may be complete before what is claimed")
    for digits in DIGITS:
        cases = _Cases(instance, times, bound, partial(rounded_up, digits=digits))
        try:
            return cases.program.certificate(objective, bound, cases.leaves())
        except ProofError:
            continue
    cases = _Cases(instance, times, bound, None)
    return cases.program.certificate(objective, bound, cases.leaves())


class _ChunkTimes:
    """The times `X` by a date, and to which chunk they are needed.

    Parameters
    ----------
    instance : Instance
    limit : Fraction
        The date.
    most : int, optional
        What is claimed is about plans with at most so many chunks.

    Attributes
    ----------
    left : list of Fraction
        `X_p`.
    begins : list of int
        The first chunk of the block of each chunk.
    filled : int
        Chunks to which load can be given.
    excluded, counted : int or None
        The chunk that cannot have any, of which there is none in the plans that are meant.
    """

    def __init__(self, instance: Instance, limit: Fraction, most: int | None) -> None:
        program = ChunkProgram(instance, same_group(instance), 1, limit)
        (tau,), (unit_time,) = program.tau, program.unit_time
        self.limit, self.unit_time = limit, unit_time
        self.left: list[Fraction] = []
        self.begins: list[int] = []
        self.excluded: int | None = None
        self.counted: int | None = None
        for p in range(instance.cluster.nodes):
            if p == most:
                self.counted = p
                break
            begins, time = p, program.limit - program.date(0, p)
            after = self.left[-1] * (1 - tau / unit_time) - program.setup if p else time
            if after < time:
                begins, time = self.begins[-1], after
            if p == MAX_CHUNKS:
                raise ProofError(f"its program would have more than {MAX_CHUNKS:,} chunks")
            self.begins.append(begins)
            self.left.append(time)
            if time < 0 or (time == 0 and tau):
                self.excluded = p
                break
        has_more = self.excluded is not None or self.counted is not None
        self.filled = len(self.left) - (self.excluded is not None)
        self.chunks = self.filled + has_more

    @property
    def largest_load(self) -> Fraction:
        """The largest load of the chunks that can have any."""
        return sum(self.left[: self.filled], ZERO) / self.unit_time


class _Multipliers(NamedTuple):
    """Multipliers of the rows of chunks, by chunk: a dual solution.

    Parameters
    ----------
    load : Fraction
        Of the row that all load is sent.
    time, channel, ready : list of Fraction
        Of the rows `time_p`, `channel_p`, and `limit_p` or `ready_p`.
    """

    load: Fraction
    time: list[Fraction]
    channel: list[Fraction]
    ready: list[Fraction]


class _Cases:
    """The cases of the numbers of chunks, from many to few.

    Parameters
    ----------
    instance : Instance
    times : _ChunkTimes
    claim : Fraction or None
        Of the objective.
    rounded : callable or None
        Rounds up; None leaves multipliers as they are.
    """

    def __init__(
        self,
        instance: Instance,
        times: _ChunkTimes,
        claim: Fraction | None,
        rounded: Rounding | None,
    ) -> None:
        self.times, self.claim, self.rounded = times, claim, rounded
        groups = same_group(instance)
        self.program = ChunkProgram(instance, groups, max(1, times.chunks), times.limit, rounded)
        (self.tau,), self.setup = self.program.tau, self.program.setup

    def leaves(self) -> list[ChunkLeaf]:
        """Return the proofs of all cases.

        Raises
        ------
        ProofError
            If rounding leaves too little in one of them.
        """
        found: list[ChunkLeaf] = []
        without: tuple[tuple[int, int], ...] = ()
        last = self.program.chunks - 1
        while last >= 0:
            first, rows, refuted = self._case(last)
            chosen = self.program.column[f"z_0_{first}"]
            fixed = (*without, (chosen, 1)) if first else without
            found.append(ChunkLeaf(fixed, rows, refuted=refuted))
            without = (*without, (chosen, 0))
            last = first - 1
        return found

    def _case(self, last: int) -> tuple[int, list[tuple[NamedRow, Fraction]], bool]:
        """Return the case with chunk `last` as the last one at the most, and how it is decided.

        It is that of all plans with a chunk of the number that is returned first.
        """
        if last == self.times.counted:
            ordered = [(self.program.order_row(p), Fraction(p + 1)) for p in range(last)]
            return last, ordered or [(self.program.first_row(), ONE)], False
        used = self._multipliers(last, self.rounded)
        weights = self._weights_by_limit(used)
        needed = used.load * self.program.load
        first = last
        for p, most in reversed(list(enumerate(accumulate(weights)))):
            if most >= needed:
                break
            first = p
        rows, most = self._rows(first, used, weights)
        if most < needed:
            return first, [*rows, *self._limit_rows(used)], True
        spare = self.program.load - self.times.largest_load
        if self.rounded is not None and (spare > 0 or last + 1 < self.times.filled):
            raise ProofError("rounding leaves too little")
        return last, self._rows_of_completion(last), False

    def _multipliers(self, last: int, rounded: Rounding | None) -> _Multipliers:
        """Return a dual solution of plans with so many chunks, feasible however it is rounded."""
        time, ready = [ZERO] * (last + 1), [ZERO] * (last + 1)
        channel = [ZERO] * (last + 1)
        load, after = ONE, ZERO
        for p in range(last, -1, -1):
            unit_time = self.program.time_of_unit(0, p)
            if not unit_time:  # the channel takes no time: chunk `last` begins too late
                load, after = ZERO, ONE
            elif load:
                channel[p] = after
                time[p] = max(ZERO, (1 - self.tau * after) / unit_time)
                time[p] = time[p] if rounded is None else rounded(time[p])
                after += time[p]
            else:
                channel[p] = after
            if self.times.begins[p] == p:
                ready[p], after = after, ZERO
        return _Multipliers(load, time, channel, ready)

    def _weights_by_limit(self, used: _Multipliers) -> list[Fraction]:
        """Return what each chunk adds to the right-hand side, if there is one."""
        before = [ZERO, *used.channel]
        return [
            ready * self.program.time_left(0, p) - self.setup * before[p]
            for p, ready in enumerate(used.ready)
        ]

    def _rows(
        self, first: int, used: _Multipliers, weights: list[Fraction]
    ) -> tuple[list[tuple[NamedRow, Fraction]], Fraction]:
        """Return the rows with their multipliers, and the right-hand side that they leave.

        Where chunks have negative weights, that a later one is there says that they are; where
        they have positive ones, that an earlier one is not there says that they are not.
        """
        program, last = self.program, len(weights) - 1
        order = [ZERO] * (last + 1)
        carried, side = ZERO, ZERO
        for p in range(first):
            carried += weights[p]
            if carried < 0:
                order[p] = -carried
            else:
                side, carried = side + carried, ZERO
        later = ZERO
        for p in range(last, first, -1):
            later = max(ZERO, later + weights[p])
            order[p - 1] = later
        side += carried + weights[first] + later
        rows = [(program.load_row(), used.load)]
        if last + 1 < program.chunks:
            rows.append((program.later_row(last + 1), used.load))
        if first == 0 and carried + weights[first] + later < 0:
            rows.append((program.first_row(), -(carried + weights[first] + later)))
        for p in range(last + 1):
            rows.append((program.time_row(p), used.time[p]))
            if p < last:
                rows.append((program.channel_row(p), used.channel[p]))
                rows.append((program.order_row(p), order[p]))
        return [(row, multiplier) for row, multiplier in rows if multiplier], side

    def _limit_rows(self, used: _Multipliers) -> list[tuple[NamedRow, Fraction]]:
        pairs = enumerate(used.ready)
        return [(self.program.limit_row(p), ready) for p, ready in pairs if ready]

    def _rows_of_completion(self, last: int) -> list[tuple[NamedRow, Fraction]]:
        """Return the rows by which plans with chunk `last` complete no earlier than claimed."""
        used = self._multipliers(last, None)
        before = [ZERO, *used.channel]
        weights = [
            -ready * self.program.date(0, p) - self.setup * before[p]
            for p, ready in enumerate(used.ready)
        ]
        rows, most = self._rows(last, used, weights)
        slope = sum(used.ready, ZERO)
        assert self.claim is not None  # else something is left, or there is no proof
        claim = self.claim - self.program.origin
        assert used.load * self.program.load - most >= claim * slope
        pairs = enumerate(used.ready)
        rows += [(self.program.ready_row(p), ready) for p, ready in pairs if ready]
        return [(row, multiplier / slope) for row, multiplier in rows]
