"""Certificates by branch and bound over a program with named rows.

The program that the certificate states is searched until no point is better than the claim; see
`dlopt.models.common.leaf_proofs`. One without binaries has one leaf.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.linear_program import LinearProgram
from dlopt.certificates import BoundCertificate, Leaf, Terms
from dlopt.models.common.leaf_proofs import FINE_STEP, ROUGHLY, LeafProofs
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow

MAX_EXACT_LEAVES = 20
"""Leaves that may be solved in fractions. Chosen by hand: few are as good as the claim."""


class ProofError(ValueError):
    """No proof of a claim was found; the text says why."""


@dataclass(frozen=True, slots=True)
class SearchedProgram:
    """A program over columns between 0 and their upper bounds.

    Parameters
    ----------
    names : tuple of str
    costs, upper : tuple of Fraction
    binaries : tuple of int
    rows : tuple of NamedRow
    remarks : tuple of str
        For the head of the file.
    step : Fraction, optional
        Only binaries have costs, and these are multiples of it: bounds are rounded up to one.
    first : tuple of int
        Binaries that are branched on before others.
    """

    names: tuple[str, ...]
    costs: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    binaries: tuple[int, ...]
    rows: tuple[NamedRow, ...]
    remarks: tuple[str, ...]
    step: Fraction | None = None
    first: tuple[int, ...] = ()

    def certificate(
        self, bound: Fraction | None, subproblems: int, stop: float = inf, seed: int = 0
    ) -> BoundCertificate:
        """Return the certificate that no point costs less than a bound, or that there is none.

        Parameters
        ----------
        bound : Fraction or None
            None if there is no point.
        subproblems : int
            At the most.
        stop : float
            Instant of the monotonic clock at which the search ends.
        seed : int

        Raises
        ------
        ProofError
            If it is not found in so many.
        """
        step, program = None if bound is None else self.step, self._linear_program(bound)
        search = BranchAndBound(
            program, self.binaries, step or FINE_STEP, seed=seed, stop=stop, first=self.first
        )
        known = ZERO if bound is None else bound
        aim = known if step is not None or bound is None else known - ROUGHLY * abs(known)
        found = search.minimise(ONE if bound is None else aim, subproblems)
        is_reached = found.complete and (found.bound is None or found.bound >= aim)
        leaves = None
        if is_reached and (bound is not None or all(leaf.infeasible for leaf in search.leaves)):
            search.shorten_multipliers(known if step is not None else known + FINE_STEP)
            leaves = LeafProofs(search, step is not None, MAX_EXACT_LEAVES, stop).of(known)
        if leaves is None:
            plural = "s" * (found.subproblems != 1)
            raise ProofError(f"no proof was found in {found.subproblems} subproblem{plural}")
        stated = [Leaf(one.fixed, multipliers, one.infeasible) for one, multipliers in leaves]
        return self._certificate(bound, stated, step)

    def _linear_program(self, bound: Fraction | None) -> LinearProgram:
        return LinearProgram(
            len(self.names),
            self.costs if bound is not None else (ZERO,) * len(self.names),
            tuple(row.terms for row in self.rows),
            tuple((row.lower, row.upper) for row in self.rows),
            tuple((ZERO, high) for high in self.upper),
        )

    def _certificate(
        self, bound: Fraction | None, leaves: Iterable[Leaf], step: Fraction | None
    ) -> BoundCertificate:
        """Return the certificate, with the rows that some leaf uses."""
        leaves = list(leaves)
        used = sorted({r for leaf in leaves for r, _ in leaf.multipliers})
        numbers = {r: number for number, r in enumerate(used)}

        def renumbered(multipliers: Terms) -> Terms:
            return tuple((numbers[r], multiplier) for r, multiplier in multipliers)

        return BoundCertificate(
            names=self.names,
            costs=self._linear_program(bound).costs,
            rows=tuple(self.rows[r].terms for r in used),
            row_bounds=tuple((self.rows[r].lower, self.rows[r].upper) for r in used),
            column_bounds=tuple((ZERO, high) for high in self.upper),
            binaries=self.binaries,
            cuts=0,
            step=step,
            bound=bound,
            leaves=tuple(
                Leaf(leaf.fixed, renumbered(leaf.multipliers), leaf.refuted) for leaf in leaves
            ),
            remarks=self.remarks,
            row_names=tuple(self.rows[r].name for r in used),
        )
