"""What all solution checkers share: exact numbers, and how much a tolerance allows.

There is no rule of a problem here. A checker converts every number to a fraction, compares it with
what a rule requires, and reports a violation if the difference exceeds what is allowed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.intervals import Overlap
from dlopt.result import Violation


class Checker(ABC):
    """Base of the checkers of single solutions.

    Parameters
    ----------
    tolerance : float
        Relative; 0 means that nothing is allowed.

    Examples
    --------
    Two tasks that overlap by a billionth of the time scale, which is 4 here, are accepted with
    that tolerance, and not without:

    >>> from dlopt.problems.intervals import overlaps
    >>> class FourSeconds(Checker):
    ...     time_scale = Fraction(4)
    >>> shared = list(overlaps([(0, 1), (1 - 2e-9, 2)]))
    >>> list(FourSeconds(1e-9).overlap_violations("overlap", "machine m", shared))
    []
    >>> [found.kind for found in FourSeconds(0).overlap_violations("overlap", "machine m", shared)]
    ['overlap']
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = exact(tolerance)

    @property
    @abstractmethod
    def time_scale(self) -> Fraction:
        """The time that the tolerance of instants is relative to."""

    def float_resolution(self, instant: Fraction) -> Fraction:
        """Return by how much an instant may be off because it is a float."""
        return abs(instant) * ROUNDING if self.tolerance else Fraction(0)

    def time_tolerance(self, instant: Fraction) -> Fraction:
        """Return by how much an instant may be off, or two uses of a resource may overlap."""
        if not self.tolerance:
            return Fraction(0)
        return self.tolerance * self.time_scale + self.float_resolution(instant)

    def overlap_violations(
        self, kind: str, resource: str, overlaps: Iterable[Overlap]
    ) -> Iterator[Violation]:
        """Yield the overlaps on a resource that exceed the tolerance."""
        for shared in overlaps:
            if shared.amount > self.time_tolerance(exact(shared.end)):
                yield Violation(kind, resource, *shared)
