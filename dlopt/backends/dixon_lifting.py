"""Exact solution of sparse integer linear systems by p-adic (Dixon) lifting.

The matrix is factorised modulo a prime, so the entries of the factors do not grow; only the
solution has large numbers (Dixon, Numer. Math. 40, 1982).

>>> factors = SparseFactors([[(0, 2), (1, 1)], [(1, 3)]], 2)  # the columns of ((2, 0), (1, 3))
>>> factors.solve([1, 1])  # x = 1/2, 1/6
([3, 1], 6)
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable
from math import inf
from random import Random

Vector = tuple[list[int], int]
"""Numerators and their common positive denominator."""

_BITS = 521
"""Exponent of the Mersenne prime that is the modulus: large enough to save lifting steps, small
enough for cheap products. A basis whose determinant it divides counts as singular: the worst
consequence is that no certificate is found."""
_P = (1 << _BITS) - 1
"""The modulus, a prime."""
_RECONSTRUCTION_SPARE_BITS = 64
"""Redundant bits that rational reconstruction requires before a denominator is tried."""


class SparseFactors:
    """Sparse triangular factors of integer columns modulo a prime, and exact solves by lifting.

    Singletons are eliminated first, which costs no fill-in; then the row or column with the fewest
    entries and in it the crossing column or row with the fewest (after Markowitz). ``pivots`` are
    the independent columns. Past the instant `stop` of the monotonic clock it raises TimeoutError.
    """

    def __init__(self, columns: list[list[tuple[int, int]]], size: int, stop: float = inf) -> None:
        self.stop = stop
        self.columns = columns
        self.rows: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        rows: list[dict[int, int]] = [{} for _ in range(size)]
        crossing: list[set[int]] = [set() for _ in columns]
        for q, column in enumerate(columns):
            for i, a in column:
                self.rows[i].append((q, a))
                if a % _P:
                    rows[i][q] = a if -_P < a < _P else a % _P
                    crossing[q].add(i)
        queue = [(len(row), 0, i) for i, row in enumerate(rows)]
        queue += [(len(lines), 1, q) for q, lines in enumerate(crossing)]
        heapq.heapify(queue)
        self.steps: list[tuple[int, int, int, list[tuple[int, int]], list[tuple[int, int]]]] = []
        while queue:
            self._check_deadline()
            count, is_column, line = heapq.heappop(queue)
            # Entries of lines that are eliminated, or have changed since, are stale.
            if count == 0 or count != len(crossing[line] if is_column else rows[line]):
                continue
            if is_column:
                p, q = min(crossing[line], key=lambda i: (len(rows[i]), i)), line
            else:
                p, q = line, min(rows[line], key=lambda j: (len(crossing[j]), j))
            pivot_row, rows[p] = rows[p], {}
            inverse = pow(pivot_row.pop(q), -1, _P)
            below, crossing[q] = crossing[q] - {p}, set()
            factors = [(i, rows[i].pop(q) * inverse % _P) for i in sorted(below)]
            for j, a in pivot_row.items():
                crossing[j].discard(p)
                for i, factor in factors:
                    entry = (rows[i].get(j, 0) - factor * a) % _P
                    if entry:
                        rows[i][j] = entry
                        crossing[j].add(i)
                    elif rows[i].pop(j, 0):
                        crossing[j].discard(i)
                heapq.heappush(queue, (len(crossing[j]), 1, j))
            for i, _ in factors:
                heapq.heappush(queue, (len(rows[i]), 0, i))
            self.steps.append((p, q, inverse, list(pivot_row.items()), factors))
        self.pivots = [step[1] for step in self.steps]
        self.rows_left = sorted({*range(size)} - {step[0] for step in self.steps})

    def solve(self, right: list[int], transposed: bool = False) -> Vector:
        """Solve ``B x = right`` (or with the transpose) exactly over one common denominator.

        Once the right side is multiplied by the denominator, the unknowns are integers and their
        p-adic digits end: a zero residual proves them. The denominator is guessed, from a weighted
        sum of the unknowns; a wrong guess costs time, never correctness.
        """
        lines = self.columns if transposed else self.rows
        denominator, probe = 1, 1
        while True:
            residual, digits = [denominator * b for b in right], []
            while any(residual):
                self._check_deadline()
                digit = self._backward(residual) if transposed else self._forward(residual)
                digits.append(digit)
                for i, line in enumerate(lines):
                    rest = residual[i]
                    for k, a in line:
                        rest -= a * digit[k]
                    residual[i] = rest // _P
                if len(digits) == probe and any(residual):
                    missing = _denominator(digits)
                    if missing > 1:
                        # Later guesses see more digits: none can repeat a mistake for ever.
                        denominator, probe = denominator * missing, 2 * probe
                        break
                    probe = max(probe + 1, probe * 5 // 4)
            else:
                parts = zip(*digits, strict=True) if digits else ((0,) for _ in right)
                return [_assemble(part) for part in parts], denominator

    def _check_deadline(self) -> None:
        if time.monotonic() > self.stop:
            raise TimeoutError

    def _forward(self, right: list[int]) -> list[int]:
        v = [b % _P for b in right]
        for p, _, _, _, factors in self.steps:
            if (t := v[p]) and factors:
                for i, factor in factors:
                    v[i] = (v[i] - factor * t) % _P
        x = [0] * len(v)
        for p, q, inverse, others, _ in reversed(self.steps):
            t = v[p]
            for j, a in others:
                t -= a * x[j]
            t = t * inverse % _P
            x[q] = t if t <= _P >> 1 else t - _P
        return x

    def _backward(self, right: list[int]) -> list[int]:
        v = [b % _P for b in right]
        y = [0] * len(v)
        for p, q, inverse, others, _ in self.steps:
            y[p] = t = v[q] * inverse % _P
            if t:
                for j, a in others:
                    v[j] = (v[j] - a * t) % _P
        for p, _, _, _, factors in reversed(self.steps):
            t = y[p]
            for i, factor in factors:
                t -= factor * y[i]
            t %= _P
            y[p] = t if t <= _P >> 1 else t - _P
        return y


def _assemble(digits: Iterable[int]) -> int:
    value = 0
    for digit in reversed([*digits]):
        value = (value << _BITS) - value + digit
    return value


def _denominator(digits: list[list[int]]) -> int:
    """Guess a denominator of the unknowns by rational reconstruction, or give 1."""
    random = Random(len(digits))
    weights = [random.getrandbits(32) for _ in digits[0]]
    total = _assemble(sum(w * x for w, x in zip(weights, d, strict=True)) for d in digits)
    a: int = _P ** len(digits)
    b, s, t = total % a, 0, 1
    # A random number has a quotient as large as this with probability 2 ** -spare bits only.
    best, denominator = 1 << _RECONSTRUCTION_SPARE_BITS, 1
    while b and a > best:
        quotient, rest = divmod(a, b)
        if quotient > best:
            best, denominator = quotient, abs(t)
        a, b, s, t = b, rest, t, s - quotient * t
    return denominator
