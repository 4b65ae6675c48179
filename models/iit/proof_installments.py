"""The program of chunks of plans with several chunks a node, or of nodes one by one.

minimise    t, or sum_g u_g
subject to  the rows of `dlopt.problems.iit.certified_chunks`
            and of `dlopt.problems.iit.certified_nodes`

Every node is a group by itself. ``u_g`` says that node `g` has a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise

from dlopt.arithmetic import exact
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow
from dlopt.models.iit.proof_program import ChunkProgram, Rounding, groups_of_equal_costs
from dlopt.problems.iit.data import Instance


class InstallmentProgram(ChunkProgram):
    """The columns and rows of a program of chunks, with nodes as groups.

    Parameters
    ----------
    instance : Instance
    limit : Fraction
        Plans are complete by this date.
    installments : int
        Chunks that a node may have.
    rounded : callable, optional
        Rounds coefficients up.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> program = InstallmentProgram(instance, Fraction(4), 2)
    >>> program.next_row(0, 1, 2).terms  # y_1 - y_2 - 2 x_0_1 - 2 z_0_2 >= -2
    ((18, Fraction(1, 1)), (19, Fraction(-1, 1)), (11, Fraction(-2, 1)), (5, Fraction(-2, 1)))
    """

    def __init__(
        self,
        instance: Instance,
        limit: Fraction,
        installments: int,
        rounded: Rounding | None = None,
    ) -> None:
        nodes, cluster = instance.cluster.nodes, instance.cluster
        most = installments * nodes
        super().__init__(instance, range(nodes), most, limit, rounded, installments)
        self.names += [f"u_{g}" for g in self.numbers]
        self.column |= {f"u_{g}": len(self.names) - nodes + g for g in self.numbers}
        self.ready = [exact(date) - self.origin for date in instance.ready_times]
        self.chi = [exact(cluster.chi_of(node)) for node in range(nodes)]
        self.computation_setup = exact(cluster.theta_cp)
        order = sorted(range(nodes), key=lambda node: (self.ready[node], node))
        kinds = groups_of_equal_costs(instance)
        self.equal = [[i for i in order if kinds[i] == kind] for kind in range(max(kinds) + 1)]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the program says, for the head of the file."""
        origin, groups, *columns = super().remarks
        nodes = "of a node, which is a group by itself, u_g says that it has a chunk"
        return (origin, groups, f"chunks: {self.chunks_a_node}", *columns, nodes)

    def busy_row(self, node: int, p: int) -> NamedRow:
        """A node that has chunk `p` spends all its chunks after it is ready."""
        setups = -(self.setup + self.computation_setup)
        terms = {f"z_{node}_{q}": setups for q in range(self.chunks)}
        terms[f"z_{node}_{p}"] -= self.ready[node]
        loads = [(f"x_{node}_{q}", -self.unit_time[node]) for q in range(self.chunks)]
        return self._row(f"busy_{node}_{p}", [("t", ONE), *terms.items(), *loads])

    def next_row(self, node: int, p: int, q: int) -> NamedRow:
        """A chunk begins when an earlier one of its node is computed."""
        setups = self.setup + self.computation_setup
        unit_time, time = self.unit_time[node], max(ZERO, self.limit - self.date(node, p))
        most = min(self.load, time / unit_time)
        large = self.rounded(max(setups, self.computation_setup + self.chi[node] * most))
        chunk = [(f"x_{node}_{p}", -unit_time), (f"z_{node}_{p}", -setups)]
        terms = [(f"y_{p}", ONE), (f"y_{q}", -ONE), *chunk, (f"z_{node}_{q}", -large)]
        return self._row(f"next_{node}_{p}_{q}", terms, -large)

    def equal_row(self, node: int, other: int, p: int) -> NamedRow:
        """A node is used after another one of equal costs that is ready before it."""
        before = [(f"z_{node}_{q}", ONE) for q in range(p)]
        return self._row(f"equal_{node}_{other}_{p}", [*before, (f"z_{other}_{p}", -ONE)])

    def used_row(self, node: int, p: int) -> NamedRow:
        """A node that has a chunk is used."""
        return self._row(f"used_{node}_{p}", [(f"u_{node}", ONE), (f"z_{node}_{p}", -ONE)])

    def rows(self) -> Iterator[NamedRow]:
        """Yield all rows."""
        yield from super().rows()
        for nodes in self.equal:
            for node, other in pairwise(nodes):
                yield from (self.equal_row(node, other, p) for p in range(self.chunks))
        for node in self.numbers:
            yield from (self.used_row(node, p) for p in range(self.chunks))
            yield from (self.busy_row(node, p) for p in range(self.chunks))
            for p, q in combinations(range(self.chunks), 2):
                yield self.next_row(node, p, q)
