"""Time and memory of following long proofs, which are written and read a line at a time.

    python -m benchmarks.long_proofs [--chain STEPS ...] [--cases DEPTH ...] [--without-last-uses]

A chain has steps ``rnd`` of 20 terms, each from the one before it. A proof by cases branches on so
many binaries, in all ways; each of its leaves is a sum of 80 constraints and of the assumptions of
its cases, with multipliers of 53 bits that differ from leaf to leaf, as a solver of linear programs
in floats finds them. Without last uses every step states -1, and has to be kept.

Prints the size of each file, its steps, CPU seconds, and the largest resident memory of this
process so far: the largest file comes last. Exit code 1 if a proof is refused.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from dlopt.formats import vipr
from dlopt.input_files import text_lines

_UNIT = 1 << 53
"""Multipliers are multiples of one by this."""


def chain(steps: int) -> Iterator[str]:
    """Yield the lines of a chain of steps.

    Examples
    --------
    >>> vipr.parse_lines(chain(9)).flaw() is None
    True
    """
    row = "20 " + " ".join(f"{j} 1" for j in range(20))
    yield f"VER 1.0 VAR 20 {' '.join(f'y{j}' for j in range(20))}"
    yield f"INT 20 {' '.join(map(str, range(20)))} OBJ min {row} CON 1 0 r G 1 {row}"
    yield f"RTP range 1 inf SOL 0 DER {steps}"
    yield f"d1 G 1 {row} {{ lin 1 0 1 }} 2"
    for n in range(2, steps):
        yield f"d{n} G 1 {row} {{ rnd 2 0 1/2 {n - 1} 1/2 }} {n + 1}"
    yield f"d{steps} G 1 OBJ {{ lin 1 {steps - 1} 1 }} -1"


@dataclass
class Cases:
    """Whichever value x_k has, y_j >= 1 - x_k and y_j >= x_k, k = j modulo the depth: y_j >= 1.

    Examples
    --------
    >>> vipr.parse_lines(Cases(3).lines()).flaw() is None
    True
    """

    depth: int
    width: int = 40
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        self.costs = [Fraction(self.draw.randrange(2, _UNIT), _UNIT) for _ in range(self.width)]
        names = [f"x_{k}" for k in range(self.depth)] + [f"y_{j}" for j in range(self.width)]
        numbers = " ".join(map(str, range(len(names))))
        costs = " ".join(f"{self.depth + j} {cost}" for j, cost in enumerate(self.costs))
        yield f"VER 1.0 VAR {len(names)} {' '.join(names)} INT {len(names)} {numbers}"
        yield f"OBJ min {self.width} {costs} CON {4 * self.width} 0"
        for j in range(self.width):  # each twice, so that multipliers can be divided
            y, x = self.depth + j, j % self.depth
            yield from (f"a G 1 2 {y} 1 {x} 1", f"b G 0 2 {y} 1 {x} -1") * 2
        yield f"RTP range {sum(self.costs)} inf SOL 0 DER {self._steps(0)}"
        yield from self._below([], 4 * self.width, -1)

    def _steps(self, level: int) -> int:
        return int(4 * 2 ** (self.depth - level) - 3)

    def _below(self, assumed: list[tuple[int, int]], number: int, last_use: int) -> Iterator[str]:
        """Yield the steps below a node, given the assumption of each x, by number and value."""
        level = len(assumed)
        if level == self.depth:
            yield self._step(number, f"lin {self._sum(assumed)}", last_use)
            return
        size, end, cases = self._steps(level + 1), number + self._steps(level) - 1, []
        for value, sense in enumerate("LG"):
            yield f"d{number} {sense} {value} 1 {level} 1 {{ asm }} {end}"
            yield from self._below([*assumed, (number, value)], number + 1, end)
            cases += [number + size, number]
            number += size + 1
        yield self._step(end, f"uns {' '.join(map(str, cases))}", last_use)

    def _sum(self, assumed: list[tuple[int, int]]) -> str:
        used, total = [], [Fraction(0)] * self.depth
        for j, cost in enumerate(self.costs):
            part = Fraction(self.draw.randrange(1, int(cost * _UNIT)), _UNIT)
            at = 4 * j + assumed[j % self.depth][1]
            used += [f"{at} {part}", f"{at + 2} {cost - part}"]
            total[j % self.depth] += cost
        used += [f"{n} {a if v else -a}" for (n, v), a in zip(assumed, total, strict=True)]
        return f"{len(used)} {' '.join(used)}"

    def _step(self, number: int, reason: str, last_use: int) -> str:
        return f"d{number} G {sum(self.costs)} OBJ {{ {reason} }} {last_use}"


def follow(name: str, lines: Iterator[str], has_last_uses: bool) -> bool:
    """Write a proof and follow it; print a line of the table; return whether it is accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path, steps = Path(folder, "proof.vipr"), 0
        with path.open("w") as file:
            for line in lines:
                steps += "}" in line
                kept = line if has_last_uses else line.rpartition(" ")[0] + " -1"
                file.write(f"{kept if '}' in line else line}\n")
        begun = time.process_time()
        with closing(text_lines(path, "VIPR")) as read:
            flaw = vipr.parse_lines(read).flaw()
        took = time.process_time() - begun
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        size = path.stat().st_size / 1e6
    print(f"| {name} | {size:.0f} | {steps:,} | {took:.1f} | {memory:,.0f} |", flush=True)
    if flaw is not None:
        print(f"REFUSED: {flaw}")
    return flaw is None


def main() -> int:
    """Follow the proofs; 1 if one is refused."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chain", type=int, nargs="*", default=[], metavar="STEPS")
    parser.add_argument("--cases", type=int, nargs="*", default=[], metavar="DEPTH")
    parser.add_argument("--without-last-uses", action="store_true")
    given = parser.parse_args()
    print("| proof | file, MB | steps | CPU, s | memory, MB |\n|---|---|---|---|---|")
    proofs = [(f"chain of {n:,}", chain(n)) for n in given.chain]
    proofs += [(f"cases of {n} binaries", Cases(n).lines()) for n in given.cases]
    found = [follow(*proof, not given.without_last_uses) for proof in proofs]
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main())
