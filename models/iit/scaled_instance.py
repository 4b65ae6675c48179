"""Instances in units that suit a solver.

Solvers take feasibility tolerances absolutely: about 1e-7, whether times are microseconds or
seconds since 1970. So every model is stated with the clock starting at the first ready time, and
with time and load scaled by powers of two, exactly, to about a thousand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, exact, least, simplest
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, span
from dlopt.problems.iit import Instance, Solution

_SIZE = 10
"""Binary logarithm of the horizon and of the load that are aimed at."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """An instance in a solver's units, and the way back.

    Parameters
    ----------
    original, instance : Instance
        As given, and as the models see it.
    origin : Number
        The first ready time.
    time, load : Fraction
        Powers of two: one unit of the model in the original's units.
    """

    original: Instance
    instance: Instance
    origin: Number
    time: Fraction
    load: Fraction

    @classmethod
    def of(cls, instance: Instance) -> Scaled:
        """Scale an instance."""
        origin = least(instance.ready_times)
        time, load = _power(span(instance)), _power(instance.load)
        kind = exact if instance.exact else float

        def times(instant: Number) -> Any:
            return simplest(kind((exact(instant) - exact(origin)) / time))

        def unit(cost: Any) -> Any:
            if isinstance(cost, tuple):
                return tuple(unit(entry) for entry in cost)
            return simplest(kind(exact(cost) * load / time))

        cluster = instance.cluster
        setups = (cluster.theta_cm, cluster.theta_cp)
        scaled = Cluster(
            cluster.nodes,
            unit(cluster.tau),
            unit(cluster.chi),
            *(simplest(kind(exact(setup) / time)) for setup in setups),
        )
        deadline = instance.absolute_deadline
        model = Instance(
            scaled,
            tuple(times(ready) for ready in instance.ready_times),
            simplest(kind(exact(instance.load) / load)),
            absolute_deadline=None if deadline is None else times(deadline),
        )
        return cls(instance, model, origin, time, load)

    def plan_back(self, plan: Solution | None) -> Solution | None:
        """Return a plan of the model as one of the original: the same order, the same loads."""
        if plan is None:
            return None
        nodes = [chunk.node for chunk in plan.chunks]
        return earliest_plan(self.original, nodes, [self.load_back(c.load) for c in plan.chunks])

    def plan_forth(self, plan: Solution | None) -> Solution | None:
        """Return a plan of the original as one of the model."""
        if plan is None:
            return None
        chunks = sorted(plan.chunks, key=lambda chunk: chunk.transmission_start)
        # Loads that are short by a solver's tolerance are scaled to the whole load.
        factor = exact(self.original.load) / sum(exact(chunk.load) for chunk in chunks)
        loads = [_like(c.load, exact(c.load) * factor / self.load) for c in chunks]
        return earliest_plan(self.instance, [chunk.node for chunk in chunks], loads)

    def instant_back(self, instant: Any) -> Number:
        """Return an instant of the model as one of the original."""
        return _like(instant, exact(instant) * self.time + exact(self.origin))

    def load_back(self, load: Any) -> Number:
        """Return a load of the model as one of the original."""
        return _like(load, exact(load) * self.load)


def _like(number: Number, value: Fraction) -> Number:
    return float(value) if isinstance(number, float) else value


def _power(number: Number) -> Fraction:
    """Return the power of two that brings a positive number to about a thousand."""
    return Fraction(2) ** (math.frexp(float(number))[1] - _SIZE)
