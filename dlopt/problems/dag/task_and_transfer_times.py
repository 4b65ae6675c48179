"""Durations and transfer times, for methods.

The checkers do not use this module: they compute the same times themselves, in
`dlopt.problems.dag.checker_times`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlopt.arithmetic import exact, simplest
from dlopt.problems.dag.network import Link, Machine, Network

if TYPE_CHECKING:
    from dlopt.problems.dag.data import Task


def cost_of(task: Task, index: int, machine: Machine) -> Any:
    """Return how long a task takes on a machine, by its index, exactly."""
    if task.costs is not None:
        cost = task.costs[index]
        return None if cost is None else simplest(exact(cost))
    assert task.work is not None  # one of the two is given
    return simplest(exact(task.work) / exact(machine.power))


class Paths:
    """Latencies and unit times of transfers between any two machines, from tables.

    Parameters
    ----------
    network : Network
    machines : sequence of Machine
    number : callable, default `dlopt.arithmetic.exact`
        The field to compute in: `exact` or ``float``.

    Examples
    --------
    >>> from dlopt.problems.dag.network import Lan
    >>> lans = (Lan("a", bandwidth=10), Lan("b", bandwidth=5, latency=1))
    >>> machines = (Machine("m", lan=0), Machine("n", lan=0), Machine("o", lan=1, delay=2))
    >>> direct = Paths(Network(bandwidth=2, latency=3, lans=lans), machines)
    >>> [int(direct.transfer(20, 0, machine)) for machine in range(3)]
    [0, 2, 15]
    >>> by_scheduler = Network("scheduler", "counted", bandwidth=2, latency=3, lans=lans)
    >>> [int(Paths(by_scheduler, machines).transfer(20, 0, machine)) for machine in range(3)]
    [4, 4, 22]
    """

    def __init__(
        self,
        network: Network,
        machines: Sequence[Machine],
        number: Callable[[Any], Any] = exact,
    ) -> None:
        self._number = number
        self._by_scheduler = network.convention == "scheduler"
        self.free_at_home = network.same_machine == "zero"
        self._lan = [machine.lan for machine in machines]
        self._delay = [number(machine.delay) for machine in machines]
        self._wan = self._path(network)
        self._within = [self._path(lan) for lan in network.lans]
        self._wan_links = self._both_directions(network.wan_links)
        self._links = self._both_directions(network.links)

    def between(self, source: int, target: int) -> tuple[Any, Any]:
        """Return the latency, and the time a unit of data, from one machine to another."""
        if source == target and self.free_at_home:
            return self._number(0), self._number(0)
        if self._by_scheduler:
            return _add_paths(
                self.leg(source), self._over(self._lan[source], self._lan[target]), self.leg(target)
            )
        delays = self._delay[source] + self._delay[target]
        one, other = self._lan[source], self._lan[target]
        link = self._links.get((source, target))
        if link is None:
            link = self._local(one) if one == other else self._over(one, other)
        return link[0] + delays, link[1]

    def leg(self, machine: int) -> tuple[Any, Any]:
        """Return the same between a machine and the scheduler, or gateway, of its LAN."""
        latency, unit = self._local(self._lan[machine])
        return latency + self._delay[machine], unit

    def inbound(self, home: int | None, machine: int) -> tuple[Any, Any]:
        """Return the same from the gateway of a LAN to a machine; nothing if there is no LAN."""
        if home is None:
            return self._number(0), self._number(0)
        return _add_paths(self._over(home, self._lan[machine]), self.leg(machine))

    def outbound(self, machine: int, home: int | None) -> tuple[Any, Any]:
        """Return the same from a machine to the gateway of a LAN."""
        if home is None:
            return self._number(0), self._number(0)
        return _add_paths(self.leg(machine), self._over(self._lan[machine], home))

    def transfer(self, data: Any, source: int, target: int) -> Any:
        """Return how long it takes to send data from one machine to another."""
        latency, unit = self.between(source, target)
        return latency + self._number(data) * unit

    def _local(self, lan: int | None) -> tuple[Any, Any]:
        return self._wan if lan is None else self._within[lan]

    def _over(self, lan: int | None, other: int | None) -> tuple[Any, Any]:
        """Return the same between two LANs; nothing within one."""
        if lan == other or lan is None or other is None:
            return self._number(0), self._number(0)
        return self._wan_links.get((lan, other), self._wan)

    def _path(self, of: Any) -> tuple[Any, Any]:
        return self._number(of.latency), self._number(1) / self._number(of.bandwidth)

    def _both_directions(self, links: Sequence[Link]) -> dict[tuple[int, int], tuple[Any, Any]]:
        back = {(link.target, link.source): self._path(link) for link in links}
        return back | {(link.source, link.target): self._path(link) for link in links}


def _add_paths(*paths: tuple[Any, Any]) -> tuple[Any, Any]:
    latencies, units = zip(*paths, strict=True)
    return sum(latencies[1:], latencies[0]), sum(units[1:], units[0])
