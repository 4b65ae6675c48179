"""Rows of the program of chunks about groups of one node, which may have several chunks.

A node has one chunk at a time. With the columns of `dlopt.problems.iit.certified_chunks`, a node
that is a group `g` by itself, its ready time `r` since the origin, both set-up times
``s = theta_cm + theta_cp``, and the most load that chunk `p` can have there,
``m = min(load, max(0, T - c_g_p) / w)``, every plan that is complete by `T` satisfies::

    busy_g_p     r z_g_p + sum_q (s z_g_q + w x_g_q) <= t
    next_g_p_q   y_q + w x_g_p + s z_g_p <= y_p + M (1 - z_g_q)   p < q,  M >= s, theta_cp + chi m

The first one says that the chunks of a used node are sent and computed one after another, after its
ready time. The second one says that of a later chunk of the node, if both are there: it begins when
the load of the first one is computed. If chunk `p` is not there, it says ``y_q <= y_p``: chunks
begin in their order. If chunk `p` is there and `q` on another node, `q` begins after the
transmission of `p`, so that ``y_q <= y_p - theta_cm - tau x_g_p``, and what is missing is
``theta_cp + chi x_g_p``. If there is no chunk `q`, then ``y_q = 0`` and ``w x_g_p <= y_p``: what is
missing is `s`.

Nodes of equal costs can exchange all their chunks if neither is used before it is ready. Of the
nodes of equal costs that a plan uses, let the one with the earliest first chunk be the first one of
them to become ready (of equal ready times, the first one by number), and so on. The first chunk of
the k-th begins no earlier than k of them are ready, since so many have begun by then on as many
nodes. So of every plan there is one that uses them in this order, with the same times, as many
nodes and as many chunks on each. Such plans satisfy, for `g` before `h` in this order::

    equal_g_h_p  z_h_p <= sum_{q < p} z_g_q

Source: ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlopt.problems.certified_rows import ONE, ZERO, StrongestRow


@dataclass(frozen=True, slots=True)
class SingleNode:
    """A node that is a group by itself.

    Parameters
    ----------
    number : int
    ready, tau, chi : Fraction
        Its ready time since the origin, and its costs.
    """

    number: int
    ready: Fraction
    tau: Fraction
    chi: Fraction


@dataclass(frozen=True, slots=True)
class SingleNodeRows:
    """The strongest rows about single nodes.

    Parameters
    ----------
    nodes : mapping of int to SingleNode
        By group.
    chunks : int
        Chunks have the numbers from 0 to this, less 1.
    load, theta_cm, theta_cp, limit : Fraction
        `limit` is `T`.
    earliest : callable
        Returns ``c_g_p``.
    """

    nodes: Mapping[int, SingleNode]
    chunks: int
    load: Fraction
    theta_cm: Fraction
    theta_cp: Fraction
    limit: Fraction
    earliest: Callable[[int, int], Fraction]

    def rows(self, kind: str, numbers: Sequence[int], side: Fraction) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind and its numbers, if there is one.

        `side` is that of the row that is compared, as of <=: any `M` that is large enough.
        """
        if len(numbers) < 2 or numbers[0] not in self.nodes or numbers[-1] >= self.chunks:
            return
        group, *_, last = numbers
        if kind == "busy" and len(numbers) == 2:
            yield self._busy(group, last)
        elif kind == "next" and len(numbers) == 3 and numbers[1] < last:
            yield self._next(group, numbers[1], last, side)
        elif kind == "equal" and len(numbers) == 3 and self._is_before(group, numbers[1]):
            before = {f"z_{group}_{q}": -ONE for q in range(last)}
            yield StrongestRow(before | {f"z_{numbers[1]}_{last}": ONE})

    def _busy(self, group: int, p: int) -> StrongestRow:
        node, terms = self.nodes[group], {"t": -ONE}
        for q in range(self.chunks):
            terms[f"x_{group}_{q}"] = node.tau + node.chi
            terms[f"z_{group}_{q}"] = self.theta_cm + self.theta_cp
        terms[f"z_{group}_{p}"] += node.ready
        return StrongestRow(terms)

    def _next(self, group: int, p: int, q: int, side: Fraction) -> StrongestRow:
        node, setups = self.nodes[group], self.theta_cm + self.theta_cp
        unit_time, time = node.tau + node.chi, max(ZERO, self.limit - self.earliest(group, p))
        most = min(self.load, time / unit_time)
        large = max(side, setups, self.theta_cp + node.chi * most)
        times = {f"y_{q}": ONE, f"y_{p}": -ONE}
        chunk = {f"x_{group}_{p}": unit_time, f"z_{group}_{p}": setups}
        return StrongestRow(times | chunk | {f"z_{group}_{q}": large}, large)

    def _is_before(self, group: int, other: int) -> bool:
        """Tell whether nodes have equal costs, and the first one is used first."""
        if other not in self.nodes:
            return False
        one, two = self.nodes[group], self.nodes[other]
        same = (one.tau, one.chi) == (two.tau, two.chi)
        return same and (one.ready, one.number) < (two.ready, two.number)
