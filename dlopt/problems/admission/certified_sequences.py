"""The program of a certificate over sequences of chunks, for streams with few chunks a node.

Let `N` be the number of nodes, and `K` the most chunks that a task has on each. Chunk ``a = (i N +
j) K + n`` is number `n` of task `i` on node `j`. The columns are

    z_i      task i is accepted
    p_a      there is chunk a
    x_a      its load, 0 if it is not there
    s_a      the start of its transmission, 0 if it is not there
    y_a_b    both are there, and a is before b

Chunks without load are left out. The others are ordered by the starts of their transmissions, and
those of one task on one node are numbered in this order, without gaps. Time and load are in the
units that the remarks state; no task is released before the instant 0.

Let ``r_a`` be the instant at which the task of `a` is released and its node is free, ``d_a`` its
due date, and ``M_a = min(load_i, (d_a - r_a - theta_cm - theta_cp) / (tau + chi))`` the most load
that it can have, or 0. A *resource* is a node or the channel. On its node a chunk takes the time
``t_a = (theta_cm + theta_cp) p_a + (tau + chi) x_a``, up to ``e_a = d_a``; of the channel it takes
``t_a = theta_cm p_a + tau x_a``, up to ``e_a = d_a - theta_cp``. Every plan satisfies::

    load_i       sum_a x_a >= load_i z_i              of the chunks of task i with M_a > 0
    promised_i   z_i >= 1                             if task i must be accepted
    present_a    p_a <= z_i
    next_a       p_a+1 <= p_a                         of one task, on one node
    chunk_a      x_a <= M_a p_a
    start_a      r_a p_a <= s_a
    due_a        s_a + t_a <= d_a p_a                 with the time on its node
    pair_a_b     p_a + p_b <= 1 + y_a_b + y_b_a
    both_a_b     y_a_b + y_b_a <= p_a
    order_a_b    s_a + t_a - e_a p_a <= s_b - r_b p_b - (e_a - r_b) y_a_b
    window_n     sum_{a in S} t_a <= max(0, max_{a in S} e_a - min_{a in S} r_a)
    bounds       z, p, y <= 1,   x_a <= M_a,   s_a <= d_a,   y_a_b <= 0 if a is numbered after b

`order` and `window` are about the node on which all their chunks are, else about the channel; each
of the chunks takes time there, as soon as it has some load. `S` is any set of chunks, those with
`p` or `x` in the row. In `order` a larger number may stand for ``e_a``.

*Why.* Chunks that take time of a resource have it one after another, in the order of their starts,
between ``r_a`` and ``e_a``: that is `window`; those that are not there take none. If ``y_a_b = 1``,
then `order` says that `b` begins after `a` has left the resource; else its left-hand side is at
most 0, and its right-hand side at least 0.

Some plan that is as good also satisfies, for the first chunks `a` and `b` (n = 0) of one task, the
same in all such rows, on nodes that have the same tau and chi and are free at the same time, the
first of them with the smaller number::

    equal_a_b    p_b <= y_a_b

For such nodes can exchange all of their chunks, so that those with chunks of this task come first,
in the order of their first ones; all other rows hold for any plan. Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain

from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.admission.certified_chunks import ChunkOfTask, StreamChunks, Usage
from dlopt.problems.certified_rows import (
    INDEX,
    ONE,
    ZERO,
    StrongestRow,
    flaw_of_rows,
    kind_and_numbers,
)

_COLUMN = re.compile(rf"([zpxs])_{INDEX}|y_{INDEX}_{INDEX}", re.ASCII)


class SequenceProgram:
    """The program that a certificate states.

    Parameters
    ----------
    stream : StreamChunks
    program : StatedProgram
    promised : set of int
        Tasks that every plan accepts.
    """

    def __init__(self, stream: StreamChunks, program: StatedProgram, promised: set[int]) -> None:
        self.stream, self.program, self.promised = stream, program, promised
        self.chunks, self.names = stream.by_number, frozenset(program.names)
        rows = (kind_and_numbers(name) for name, _ in program.constraints)
        first = {of[1][0] for of in rows if of is not None and of[0] == "equal" and of[1]}
        self.ordered = {self.chunks[a].task for a in first & self.chunks.keys()}

    def flaw(self) -> str | None:
        """Return what some plan may not satisfy, or None if there is nothing."""
        program, stream = self.program, self.stream
        if not all(map(self._is_known, program.names)):
            return "its columns are not those of chunks"
        if any(stream.release(i) < 0 for i in stream.loads):
            return "a task is released before the instant 0"
        if any(program.names[column][0] not in "zpy" for column in program.integers):
            return "a column is integral that need not be"
        if len(self.ordered) > 1:
            return "the first chunks of several tasks are in the order of the nodes"
        return flaw_of_rows(program, self._holds)

    def _is_known(self, name: str) -> bool:
        """Tell whether there is the task, the chunk or the pair of chunks of a column."""
        match = _COLUMN.fullmatch(name)
        if match is None:
            return False
        numbers = _indices(name)
        if match[1] == "z":
            return numbers[0] in self.stream.loads
        return set(numbers) <= self.chunks.keys() and len(set(numbers)) == len(numbers)

    def _holds(self, name: str, row: StatedConstraint) -> bool:
        """Tell whether every plan satisfies a row."""
        column = name.removesuffix("_L")
        if column in self.names:
            return StrongestRow({column: ONE}, self._most(column)).implies(row, self.program)
        parts = kind_and_numbers(name)
        if parts is None or not parts[1]:
            return False
        terms = {self.program.names[c]: -row.sign * a for c, a in row.terms.items()}
        found = self._rows(*parts, terms)
        return any(of.implies(row, self.program) for of in found)

    def _most(self, column: str) -> Fraction:
        """Return the most that a column is."""
        letter, numbers = column[0], _indices(column)
        if letter in "zp":
            return ONE
        if letter == "y":
            return ONE if column in self._orders(*numbers) else ZERO
        chunk = self.chunks[numbers[0]]
        return chunk.most if letter == "x" else max(ZERO, chunk.on_node.end)

    def _orders(self, one: int, other: int) -> list[str]:
        """Return the columns of the orders that two chunks may have."""
        a, b = self.chunks[one], self.chunks[other]
        if (a.task, a.node) == (b.task, b.node):
            return [f"y_{min(one, other)}_{max(one, other)}"]
        return [f"y_{one}_{other}", f"y_{other}_{one}"]

    def _rows(
        self, kind: str, numbers: Sequence[int], terms: Mapping[str, Fraction]
    ) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind and its numbers, with the terms of the stated one."""
        one, other = numbers[0], numbers[-1]
        if kind == "load" and one in self.stream.loads:
            own = (c for c in self.chunks.values() if c.task == one and c.most)
            sent = {f"x_{chunk.number}": -ONE for chunk in own}
            yield StrongestRow(sent | {f"z_{one}": self.stream.loads[one]})
        elif kind == "promised" and one in self.promised:
            yield StrongestRow({f"z_{one}": -ONE}, -ONE)
        elif kind == "window":
            named = {_indices(name)[0] for name in terms if name[0] in "px"}
            yield from self._window([self.chunks[number] for number in named])
        elif len(numbers) == 2 and one != other and {one, other} <= self.chunks.keys():
            yield from self._rows_of_pair(kind, self.chunks[one], self.chunks[other], terms)
        elif len(numbers) == 1 and one in self.chunks:
            yield from self._rows_of_chunk(kind, self.chunks[one])

    def _rows_of_chunk(self, kind: str, chunk: ChunkOfTask) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind that is about one chunk, or it and the next."""
        number, here = chunk.number, f"p_{chunk.number}"
        if kind == "present":
            yield StrongestRow({here: ONE, f"z_{chunk.task}": -ONE})
        elif kind == "next" and (number + 1) % self.stream.chunks_a_node:
            yield StrongestRow({f"p_{number + 1}": ONE, here: -ONE})
        elif kind == "chunk":
            yield StrongestRow({f"x_{number}": ONE, here: -chunk.most})
        elif kind == "start":
            yield StrongestRow({here: chunk.ready, f"s_{number}": -ONE})
        elif kind == "due":
            time = chunk.time(chunk.on_node, chunk.on_node.end)
            yield StrongestRow(time | {f"s_{number}": ONE})

    def _rows_of_pair(
        self, kind: str, one: ChunkOfTask, other: ChunkOfTask, terms: Mapping[str, Fraction]
    ) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind that is about two chunks."""
        a, b = one.number, other.number
        usage = _usage([one, other])
        if kind == "pair":
            orders = dict.fromkeys(self._orders(a, b), -ONE)
            yield StrongestRow(orders | {f"p_{a}": ONE, f"p_{b}": ONE}, ONE)
        elif kind == "both":
            yield StrongestRow({f"y_{a}_{b}": ONE, f"y_{b}_{a}": ONE, f"p_{a}": -ONE})
        elif kind == "equal" and self.stream.are_first_on_equal_nodes(one, other):
            yield StrongestRow({f"p_{b}": ONE, f"y_{a}_{b}": -ONE})
        elif kind == "order" and usage is not None:
            order = f"y_{a}_{b}"
            end = max(usage[a].end, terms.get(order, ZERO) + other.ready)
            starts = {f"s_{a}": ONE, f"s_{b}": -ONE, f"p_{b}": other.ready}
            yield StrongestRow(one.time(usage[a], end) | starts | {order: end - other.ready})

    def _window(self, chunks: Sequence[ChunkOfTask]) -> Iterator[StrongestRow]:
        """Yield the row of what some chunks take of the resource that they share."""
        usage = _usage(chunks)
        if usage:
            first, last = min(one.ready for one in chunks), max(of.end for of in usage.values())
            times = (one.time(usage[one.number]).items() for one in chunks)
            yield StrongestRow(dict(chain.from_iterable(times)), max(ZERO, last - first))


def _usage(chunks: Sequence[ChunkOfTask]) -> dict[int, Usage] | None:
    """Return what chunks take of the node on which all are, else of the channel, by number.

    None if some of them take no time of it.
    """
    is_node = len({chunk.node for chunk in chunks}) == 1
    found = {one.number: one.on_node if is_node else one.on_channel for one in chunks}
    return found if all(of.setups or of.unit_time for of in found.values()) else None


def _indices(name: str) -> list[int]:
    """Return the indices in the name of a column."""
    return [int(text) for text in name.split("_")[1:] if text.isdecimal()]
