"""How much load of a set of tasks can be processed in a window, if tasks have few chunks.

Let `m` tasks be due by `e`. What `N` nodes receive of them in ``[t, e]``, of length `L`, they also
compute in it, so it is at most

    g(m) = min((L / tau)(1 - beta^(K N m)),  sum_j L_j / (tau_j + chi_j)),   beta = chi/(tau+chi)

where `K` is the number of chunks that a task may have on a node and ``L_j`` the time that node `j`
is free in the window; `N` counts the nodes with ``L_j > 0``. Nodes that differ count as having the
smallest tau and the smallest chi.

*Proof.* Let ``y_1, y_2, ...`` be the parts of their chunks received in ``[t, e]``, one after the
other; there are at most ``K N m``. When ``y_k`` begins, the port has used ``tau (y_1 + ... +
y_{k-1})``; afterwards its node computes at least ``chi y_k`` until `e`. So ``(tau + chi) y_k <=
L - tau (y_1 + ... + y_{k-1})``, and the port's remaining time shrinks by no more than the factor
beta with each part. Second, a part occupies a node for ``(tau_j + chi_j) y``, within ``L_j``.

The same holds for what is computed in ``[s, t]`` of `m` tasks released at `s` or later: the part
``y_k`` that is computed was received before, after all parts before it.

Source: ours.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dlopt.models.admission.scaled_instance import ScaledInstance

COEFFICIENT_BITS = 80
"""Binary digits of the coefficients of a cut, which are rounded up. Chosen by hand: more than a
float has, so that rounding weakens no cut noticeably, and few enough to keep fractions short."""


class WindowCapacity:
    """The function `g` of the module.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        `K`.
    """

    def __init__(self, scaled: ScaledInstance, installments: int) -> None:
        self.scaled, self.installments = scaled, installments
        self.tau, chi = min(scaled.tau), min(scaled.chi)
        self.beta = chi / (self.tau + chi) if self.tau else Fraction(1)
        self.port_share = lru_cache(maxsize=None)(self._port_share)

    def max_load(self, start: Fraction, end: Fraction, tasks: int) -> Fraction:
        """Return ``g(tasks)``: the most load of so many tasks in a window.

        Examples
        --------
        >>> from dlopt.problems.admission import Instance, Task
        >>> from dlopt.problems.cluster import Cluster
        >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 2),))
        >>> scaled = ScaledInstance.from_instance(instance)
        >>> load = WindowCapacity(scaled, 1).max_load(Fraction(0), scaled.tasks[0].due, 1)
        >>> float(load * scaled.load_unit)
        1.5
        """
        scaled = self.scaled
        free_time = [end - max(start, free) for free in scaled.free]
        node_capacity = sum(
            (time / scaled.unit_time(j) for j, time in enumerate(free_time) if time > 0),
            Fraction(0),
        )
        if not self.tau:
            return node_capacity
        chunks = sum(time > 0 for time in free_time) * tasks * self.installments
        return min(node_capacity, (end - start) / self.tau * self.port_share(chunks))

    def chord(self, start: Fraction, end: Fraction, tasks: int) -> tuple[Fraction, Fraction]:
        """Return value at 0 and slope of the line through ``g(tasks)`` and ``g(tasks + 1)``.

        As `g` is concave, the line is above `g` at every number of tasks, also when rounded up.
        """
        value = self.max_load(start, end, tasks)
        slope = self.max_load(start, end, tasks + 1) - value
        return round_up(value - tasks * slope), round_up(slope)

    def _port_share(self, chunks: int) -> Fraction:
        """Return the share of the window that the port can use for so many chunks."""
        return 1 - self.beta**chunks


def round_up(number: Fraction) -> Fraction:
    """Round up to a fraction with a short denominator."""
    denominator = 2**COEFFICIENT_BITS
    return Fraction(-(-number.numerator * denominator // number.denominator), denominator)
