"""One divisible load and the nodes that it is divided among."""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.arithmetic import Number
from dlopt.builders.nodes import NodesBuilder
from dlopt.problems.iit import Instance


@dataclass(kw_only=True)
class IitBuilder(NodesBuilder):
    """Builds an instance of `iit`: nodes, and one load.

    Parameters
    ----------
    name, tau, chi, theta_cm, theta_cp, origin, units
        See `dlopt.builders.nodes.NodesBuilder`.

    Examples
    --------
    >>> builder = IitBuilder(tau=1, chi=2).add_node("idle").add_node("busy", ready_time=4)
    >>> builder.build(load=3).ready_times
    (0, 4)
    """

    def build(self, load: Number, *, absolute_deadline: Number | None = None) -> Instance:
        """Return the instance with a load.

        Raises
        ------
        InvalidInstanceError
            If there is no node, or a number is out of its range.
        """
        return Instance(
            self.cluster(),
            self.ready_times(),
            load,
            absolute_deadline,
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )
