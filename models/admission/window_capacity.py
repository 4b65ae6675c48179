"""How much some tasks can have received and computed in a window, if chunks are few.

Let `m` tasks be due by `e`. What `N` nodes receive of them in ``[t, e]``, of length `L`, they also
compute in it, so it is at most

    g(m) = min((L / tau)(1 - beta^(K N m)),  sum_j L_j / (tau_j + chi_j)),   beta = chi/(tau+chi)

where `K` is the number of chunks that a task may have on a node and ``L_j`` the time that node `j`
is free in the window; `N` counts the nodes with ``L_j > 0``. Nodes that differ count as having the
least tau and the least chi.

*Proof.* Let ``y_1, y_2, ...`` be the parts of their chunks received in ``[t, e]``, one after the
other; there are at most ``K N m``. When ``y_k`` begins, the port has used ``tau (y_1 + ... +
y_{k-1})``; afterwards its node computes at least ``chi y_k`` until `e`. So ``(tau + chi) y_k <=
L - tau (y_1 + ... + y_{k-1})``, and the port's rest shrinks by no more than beta with each. Second,
a node is held ``(tau_j + chi_j) y`` by a part, within ``L_j``.

The same holds for what is computed in ``[s, t]`` of `m` tasks released at `s` or later: the part
``y_k`` that is computed was received before, after all parts before it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dlopt.models.admission.scaled_instance import Case

_DIGITS = 80
"""Binary digits of the coefficients of a cut, which are rounded up."""


class Latency:
    """The function `g` of the module.

    Parameters
    ----------
    case : Case
    installments : int
        `K`.
    """

    def __init__(self, case: Case, installments: int) -> None:
        self.case, self.installments = case, installments
        self.tau, chi = min(case.tau), min(case.chi)
        self.beta = chi / (self.tau + chi) if self.tau else Fraction(1)
        self.share = lru_cache(maxsize=None)(self._share)

    def most(self, start: Fraction, end: Fraction, tasks: int) -> Fraction:
        """Return what nodes receive and compute of some tasks in a window, at the most.

        Examples
        --------
        >>> from dlopt.problems.admission import Instance, Task
        >>> from dlopt.problems.cluster import Cluster
        >>> case = Case.of(Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 2),)))
        >>> float(Latency(case, 1).most(Fraction(0), case.jobs[0].due, 1) * case.load_unit)
        1.5
        """
        case = self.case
        length = [end - max(start, free) for free in case.free]
        held = sum((t / case.unit(j) for j, t in enumerate(length) if t > 0), Fraction(0))
        if not self.tau:
            return held
        chunks = sum(t > 0 for t in length) * tasks * self.installments
        return min(held, (end - start) / self.tau * self.share(chunks))

    def line(self, start: Fraction, end: Fraction, tasks: int) -> tuple[Fraction, Fraction]:
        """Return value at 0 and slope of the line through `g` at `tasks` and one more.

        As `g` is concave, it lies above `g` at every number of tasks, also when rounded up.
        """
        here = self.most(start, end, tasks)
        slope = self.most(start, end, tasks + 1) - here
        return _up(here - tasks * slope), _up(slope)

    def _share(self, chunks: int) -> Fraction:
        return 1 - self.beta**chunks


def _up(number: Fraction) -> Fraction:
    """Round up to a fraction with a short denominator."""
    return Fraction(-(-number.numerator * 2**_DIGITS // number.denominator), 2**_DIGITS)
