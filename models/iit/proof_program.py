"""The program of chunks in the order of their transmissions, as certificates state it.

minimise    t, or sum_{g,p} z_g_p
subject to  the rows of `dlopt.problems.iit.certified_chunks`, which the checker has by itself

Column ``z_g_p`` says that there is a chunk `p`, on a node of group `g`; ``x_g_p`` is its load, and
``y_p`` the time that is left for that. Rows are stated as ``>=``. Coefficients that contain the
date by which plans are complete may be rounded up, which leaves every row valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil

from dlopt.arithmetic import exact, least
from dlopt.certificates import BoundCertificate, Leaf
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow
from dlopt.problems.iit.data import Instance

Rounding = Callable[[Fraction], Fraction]
"""Returns a number that is no less."""


def rounded_up(number: Fraction, digits: int) -> Fraction:
    """Return a number that is no less, with so many binary digits.

    Examples
    --------
    >>> rounded_up(Fraction(1, 3), 4), rounded_up(Fraction(-1, 3), 4)
    (Fraction(11, 32), Fraction(-5, 16))
    """
    if not number:
        return number
    exponent = number.denominator.bit_length() - abs(number.numerator).bit_length() + digits
    unit = Fraction(2) ** exponent
    return ceil(number * unit) / unit


class ChunkProgram:
    """The columns and rows of a program of chunks.

    Parameters
    ----------
    instance : Instance
    groups : sequence of int
        The number of the group of each node, from 0. The nodes of a group have equal costs.
    chunks : int
        Of one group the last one may stand for all later ones, too.
    limit : Fraction
        Plans are complete by this date.
    rounded : callable, optional
        Rounds coefficients up.
    chunks_a_node : int
        So many chunks a node has at the most.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=2), (0, 1), load=3)
    >>> program = ChunkProgram(instance, (0, 0), 2, Fraction(9))
    >>> program.names
    ['t', 'z_0_0', 'z_0_1', 'x_0_0', 'x_0_1', 'y_0', 'y_1']
    >>> program.limit_row(1).terms  # 8 z_0_1 - y_1 >= 0
    ((2, Fraction(8, 1)), (6, Fraction(-1, 1)))
    """

    def __init__(
        self,
        instance: Instance,
        groups: Sequence[int],
        chunks: int,
        limit: Fraction,
        rounded: Rounding | None = None,
        chunks_a_node: int = 1,
    ) -> None:
        cluster, self.chunks_a_node = instance.cluster, chunks_a_node
        self.groups, self.numbers = list(groups), range(max(groups) + 1)
        self.nodes, self.chunks = cluster.nodes, chunks
        self.origin = exact(least(instance.ready_times))
        self.limit = limit - self.origin
        self.load, self.setup = exact(instance.load), exact(cluster.theta_cm)
        self.rounded = rounded or (lambda number: number)
        overhead = self.setup + exact(cluster.theta_cp)
        members = [[i for i, g in enumerate(groups) if g == number] for number in self.numbers]
        self.tau = [exact(cluster.tau_of(nodes[0])) for nodes in members]
        self.unit_time = [exact(cluster.tau_of(i)) + exact(cluster.chi_of(i)) for i, *_ in members]
        self.earliest = [
            sorted(exact(instance.ready_times[i]) - self.origin + overhead for i in nodes)
            for nodes in members
        ]
        self.earliest_of_all = sorted(date for dates in self.earliest for date in dates)
        pairs = [(g, p) for p in range(chunks) for g in self.numbers]
        self.names = ["t", *(f"z_{g}_{p}" for g, p in pairs), *(f"x_{g}_{p}" for g, p in pairs)]
        self.names += [f"y_{p}" for p in range(chunks)]
        self.column = {name: column for column, name in enumerate(self.names)}
        self.binaries = [self.column[f"z_{g}_{p}"] for g, p in pairs]

    @property
    def upper(self) -> tuple[Fraction, ...]:
        """The upper bound of each column."""
        longest = max(ZERO, self.limit - self.earliest_of_all[0])
        most = {"t": max(ZERO, self.limit), "z": ONE, "x": self.load, "y": longest, "u": ONE}
        return tuple(most[name[0]] for name in self.names)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the program says, for the head of the file."""
        return (
            f"origin: {self.origin}",
            f"groups: {' '.join(map(str, self.groups))}",
            "columns: z_g_p says that there is a chunk p, on a node of group g, x_g_p is its",
            "load, y_p the time that is left for that, t the completion since the origin",
        )

    def in_units(self, objective: str, value: Fraction) -> Fraction:
        """Return a value of an objective as the program has it."""
        return value if objective == "nodes" else value - self.origin

    def date(self, group: int, p: int) -> Fraction:
        """Return the earliest date from which the time counts that chunk `p` has for its load."""
        most = self.chunks_a_node
        number = max(0, p - most * (self.nodes - len(self.earliest[group]))) // most
        return max(self.earliest[group][number], self.earliest_of_all[p // most])

    def time_of_unit(self, group: int, p: int) -> Fraction:
        """Return what a unit of load takes of the time that is left to a chunk."""
        if p == self.chunks - 1 < self.chunks_a_node * self.nodes - 1:
            return self.tau[group]  # it stands for later chunks, too
        return self.unit_time[group]

    # -- rows ---------------------------------------------------------------------------------

    def load_row(self) -> NamedRow:
        """All of the load is sent."""
        loads = ((f"x_{g}_{p}", ONE) for g in self.numbers for p in range(self.chunks))
        return self._row("load", loads, self.load)

    def first_row(self) -> NamedRow:
        """There is a chunk."""
        return self._row("first", self._used(0, ONE), ONE)

    def order_row(self, p: int) -> NamedRow:
        """There is a next chunk only after this one."""
        return self._row(f"order_{p}", [*self._used(p, ONE), *self._used(p + 1, -ONE)])

    def time_row(self, p: int) -> NamedRow:
        """A chunk is received and computed in the time that is left."""
        loads = ((f"x_{g}_{p}", -self.time_of_unit(g, p)) for g in self.numbers)
        return self._row(f"time_{p}", [(f"y_{p}", ONE), *loads])

    def channel_row(self, p: int) -> NamedRow:
        """The next chunk has the time that is left after the transmission of this one."""
        sent = ((f"x_{g}_{p}", -self.tau[g]) for g in self.numbers)
        times = [(f"y_{p}", ONE), (f"y_{p + 1}", -ONE)]
        return self._row(f"channel_{p}", [*times, *sent, *self._used(p + 1, -self.setup)])

    def limit_row(self, p: int) -> NamedRow:
        """A chunk has no more time than from when its node is ready to the limit."""
        most = ((f"z_{g}_{p}", self.time_left(g, p)) for g in self.numbers)
        return self._row(f"limit_{p}", [*most, (f"y_{p}", -ONE)])

    def ready_row(self, p: int) -> NamedRow:
        """A chunk has no more time than from when its node is ready to the completion."""
        begun = ((f"z_{g}_{p}", -self.date(g, p)) for g in self.numbers)
        return self._row(f"ready_{p}", [("t", ONE), *begun, (f"y_{p}", -ONE)])

    def place_row(self, p: int) -> NamedRow:
        """A chunk is on one node."""
        used = tuple((self.column[name], ONE) for name, _ in self._used(p, ONE))
        return NamedRow(f"place_{p}", used, None, ONE)

    def nodes_row(self, group: int) -> NamedRow:
        """A node has no more chunks than allowed."""
        used = tuple((self.column[f"z_{group}_{p}"], ONE) for p in range(self.chunks))
        most = Fraction(self.chunks_a_node * len(self.earliest[group]))
        return NamedRow(f"nodes_{group}", used, None, most)

    def chunk_row(self, group: int, p: int) -> NamedRow:
        """A chunk of a group has no more time than from when its node is ready to the limit."""
        most = max(ZERO, self.time_left(group, p))
        spent = (f"x_{group}_{p}", -self.time_of_unit(group, p))
        return self._row(f"chunk_{group}_{p}", [(f"z_{group}_{p}", most), spent])

    def later_row(self, p: int) -> NamedRow:
        """Without a chunk there is no later one, and no load of these."""
        loads = ((f"x_{g}_{q}", -ONE) for q in range(p, self.chunks) for g in self.numbers)
        return self._row(f"later_{p}", [*loads, *self._used(p, self.load)])

    def time_left(self, group: int, p: int) -> Fraction:
        """Return the most time that a chunk has for its load, rounded up."""
        return self.rounded(self.limit - self.date(group, p))

    def _used(self, p: int, coefficient: Fraction) -> list[tuple[str, Fraction]]:
        return [(f"z_{g}_{p}", coefficient) for g in self.numbers]

    def _row(
        self, name: str, terms: Iterable[tuple[str, Fraction]], lower: Fraction = ZERO
    ) -> NamedRow:
        stated = tuple((self.column[column], a) for column, a in terms if a)
        return NamedRow(name, stated, lower, None)

    def rows(self) -> Iterator[NamedRow]:
        """Yield all rows."""
        yield self.load_row()
        yield self.first_row()
        for p in range(self.chunks):
            yield from (self.place_row(p), self.time_row(p), self.limit_row(p), self.ready_row(p))
            yield from (self.chunk_row(group, p) for group in self.numbers)
            if p:
                yield from (self.order_row(p - 1), self.channel_row(p - 1), self.later_row(p))
        yield from map(self.nodes_row, self.numbers)

    # -- certificate --------------------------------------------------------------------------

    def certificate(
        self, objective: str, bound: Fraction | None, proofs: Iterable[ChunkLeaf]
    ) -> BoundCertificate:
        """Return the certificate of a bound, with the rows that some case uses.

        Parameters
        ----------
        objective : {"completion", "nodes"}
        bound : Fraction or None
            None if there is no plan.
        proofs : iterable of ChunkLeaf
            Cases that together cover everything.
        """
        rows: dict[str, NamedRow] = {}
        leaves = []
        for proof in proofs:
            for row, _ in proof.multipliers:
                rows.setdefault(row.name, row)
            numbers = {name: number for number, name in enumerate(rows)}
            used = tuple((numbers[row.name], m) for row, m in proof.multipliers if m)
            leaves.append(Leaf(proof.fixed, used, proof.refuted))
        counted = set(self.binaries) if objective == "nodes" else {0}
        columns = range(len(self.names))
        costs = (ONE if column in counted else ZERO for column in columns)
        most = dict.fromkeys(self.binaries, ONE)
        return BoundCertificate(
            names=tuple(self.names),
            costs=tuple(costs) if bound is not None else (ZERO,) * len(self.names),
            rows=tuple(row.terms for row in rows.values()),
            row_bounds=tuple((row.lower, row.upper) for row in rows.values()),
            column_bounds=tuple((ZERO, most.get(column)) for column in columns),
            binaries=tuple(self.binaries),
            cuts=0,
            step=None,
            bound=None if bound is None else self.in_units(objective, bound),
            leaves=tuple(leaves),
            remarks=self.remarks,
            row_names=tuple(rows),
        )


class ChunkLeaf:
    """A case, and the rows that decide it, with their multipliers.

    Parameters
    ----------
    fixed : tuple of (int, int)
        Binaries and their values.
    multipliers : sequence of (NamedRow, Fraction)
        Positive: rows are stated as ``>=``.
    refuted : bool
        Whether there is no plan, instead of none that is better than the bound.
    """

    def __init__(
        self,
        fixed: tuple[tuple[int, int], ...],
        multipliers: Sequence[tuple[NamedRow, Fraction]],
        *,
        refuted: bool,
    ) -> None:
        self.fixed, self.multipliers, self.refuted = fixed, multipliers, refuted


def same_group(instance: Instance) -> list[int]:
    """Return the groups of nodes that are identical: one."""
    return [0] * instance.cluster.nodes


def groups_of_equal_nodes(instance: Instance) -> list[int]:
    """Return the number of the group of each node: equal costs and ready times are in one."""
    dates = [exact(date) for date in instance.ready_times]
    return _numbered(zip(groups_of_equal_costs(instance), dates, strict=True))


def groups_of_equal_costs(instance: Instance) -> list[int]:
    """Return the number of the group of each node: equal costs are in one.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=(1, 2, 1), chi=1), (0, 0, 4), load=3)
    >>> groups_of_equal_costs(instance), groups_of_equal_nodes(instance)
    ([0, 1, 0], [0, 1, 2])
    """
    cluster = instance.cluster
    nodes = range(cluster.nodes)
    return _numbered((exact(cluster.tau_of(i)), exact(cluster.chi_of(i))) for i in nodes)


def _numbered(kinds: Iterable[object]) -> list[int]:
    """Return the numbers of kinds, in the order in which they occur first."""
    known: dict[object, int] = {}
    return [known.setdefault(kind, len(known)) for kind in kinds]
