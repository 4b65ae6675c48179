"""Whether sets of tasks fit into the fluid relaxation with window cuts, asked many times.

It chooses the sets for which schedules are searched, in floats, and proves nothing.
"""

from __future__ import annotations

from dlopt.backends.highs import LinearSolver
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.window_cuts import WindowCuts

CUT_ROUNDS = 30
"""Rounds of cuts that decide whether tasks fit as fluids. Chosen by hand."""


class FluidTest:
    """Whether sets of tasks fit as fluids, with window cuts, as a solver in floats says.

    Parameters
    ----------
    scaled : ScaledInstance
    installments, seed : int
    stop : float
        Instant of the monotonic clock from which on no set fits.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> test = FluidTest(ScaledInstance.from_instance(instance), 1, 0, stop=float("inf"))
    >>> test.allows(frozenset([0])), test.allows(frozenset([0, 1]))
    (True, False)
    """

    def __init__(self, scaled: ScaledInstance, installments: int, seed: int, stop: float) -> None:
        self.model = FluidRelaxation(scaled)
        self.solver = LinearSolver(self.model.maximise_weight(), seed, stop)
        self.cuts = WindowCuts(self.model, installments)
        self.known: dict[frozenset[int], bool] = {}

    def allows(self, tasks: frozenset[int]) -> bool:
        """Tell whether some tasks fit."""
        if tasks not in self.known:
            self.known[tasks] = self._solve(tasks)
        return self.known[tasks]

    def _solve(self, tasks: frozenset[int]) -> bool:
        for i, column in enumerate(self.model.accepted):
            self.solver.set_bounds(column, float(i in tasks), float(i in tasks))
        for _ in range(CUT_ROUNDS):
            point = self.solver.solve().point
            if not point:
                return False
            rows = list(self.cuts.separate(point))
            for row in rows:
                self.solver.add(row)
            if not rows:
                break
        return True
