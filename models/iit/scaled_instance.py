"""Instances of a single divisible load in units that suit a solver.

Solvers apply feasibility tolerances absolutely: about 1e-7, whether times are microseconds or
seconds since 1970. Every model is therefore stated with time 0 at the first ready time, and with
time and load scaled by powers of two, exactly, to about a thousand units.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, exact, least, simplest
from dlopt.models.common.solver_units import power_of_two
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, span
from dlopt.problems.iit.data import Instance, Solution


@dataclass(frozen=True, slots=True)
class ScaledInstance:
    """An instance in a solver's units, with the conversions between both units.

    Parameters
    ----------
    original, instance : Instance
        As given, and in the units of the models.
    origin : Number
        The first ready time: the instant 0 of the models, in the original's units.
    time_unit, load_unit : Fraction
        Powers of two: one unit of the models, in the original's units.

    Examples
    --------
    >>> original = Instance(Cluster(2, tau=1, chi=1), (5000, 6000), load=4000)
    >>> scaled = ScaledInstance.from_instance(original)
    >>> scaled.time_unit, scaled.load_unit, scaled.instance.load
    (Fraction(8, 1), Fraction(4, 1), 1000)
    """

    original: Instance
    instance: Instance
    origin: Number
    time_unit: Fraction
    load_unit: Fraction

    @classmethod
    def from_instance(cls, instance: Instance) -> ScaledInstance:
        """Scale an instance."""
        origin = least(instance.ready_times)
        time_unit, load_unit = power_of_two(span(instance)), power_of_two(instance.load)
        number_type = exact if instance.exact else float

        def scale_instant(instant: Number) -> Any:
            return simplest(number_type((exact(instant) - exact(origin)) / time_unit))

        def scale_cost(cost: Any) -> Any:
            if isinstance(cost, tuple):
                return tuple(scale_cost(entry) for entry in cost)
            return simplest(number_type(exact(cost) * load_unit / time_unit))

        cluster = instance.cluster
        setups = (cluster.theta_cm, cluster.theta_cp)
        scaled_cluster = Cluster(
            cluster.nodes,
            scale_cost(cluster.tau),
            scale_cost(cluster.chi),
            *(simplest(number_type(exact(setup) / time_unit)) for setup in setups),
        )
        deadline = instance.absolute_deadline
        scaled = Instance(
            scaled_cluster,
            tuple(scale_instant(ready) for ready in instance.ready_times),
            simplest(number_type(exact(instance.load) / load_unit)),
            absolute_deadline=None if deadline is None else scale_instant(deadline),
        )
        return cls(instance, scaled, origin, time_unit, load_unit)

    def unscale_solution(self, solution: Solution | None) -> Solution | None:
        """Return a solution of the model as one of the original: same sequence, same loads."""
        if solution is None:
            return None
        nodes = [chunk.node for chunk in solution.chunks]
        loads = [self.unscale_load(chunk.load) for chunk in solution.chunks]
        return earliest_plan(self.original, nodes, loads)

    def scale_solution(self, solution: Solution | None) -> Solution | None:
        """Return a solution of the original as one of the model."""
        if solution is None:
            return None
        chunks = sorted(solution.chunks, key=lambda chunk: chunk.transmission_start)
        # Loads that are short by a solver's tolerance are scaled to the whole load.
        factor = exact(self.original.load) / sum(exact(chunk.load) for chunk in chunks)
        loads = [
            _match_number_type(chunk.load, exact(chunk.load) * factor / self.load_unit)
            for chunk in chunks
        ]
        return earliest_plan(self.instance, [chunk.node for chunk in chunks], loads)

    def unscale_instant(self, instant: Any) -> Number:
        """Return an instant of the model as one of the original."""
        return _match_number_type(instant, exact(instant) * self.time_unit + exact(self.origin))

    def unscale_load(self, load: Any) -> Number:
        """Return a load of the model as one of the original."""
        return _match_number_type(load, exact(load) * self.load_unit)


def _match_number_type(number: Number, value: Fraction) -> Number:
    """Return a value as a float if a number is one, else as a fraction."""
    return float(value) if isinstance(number, float) else value
