"""Machines, and what it takes to send data between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge

from dlopt.arithmetic import exact
from dlopt.errors import Fault
from dlopt.problems.records import NonNegative, Positive, Record

Index = Annotated[int, Ge(0)]


@dataclass(frozen=True, slots=True)
class Machine(Record):
    """A machine, which runs one task at a time.

    Parameters
    ----------
    id : str
    power : Number, default 1
        Its speed: a task given by its work takes work / power.
    lan : int, optional
        The LAN it stands in (0-based). All machines name one, or none does.
    delay : Number, default 0
        What every transfer to or from it takes beyond the latency of the network.
    """

    id: str
    power: Positive = 1
    lan: Index | None = None
    delay: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Lan(Record):
    """The network within a LAN.

    Parameters
    ----------
    id : str, default ""
    bandwidth : Number, default 1
        Data per unit of time.
    latency : Number, default 0
    """

    id: str = ""
    bandwidth: Positive = 1
    latency: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Link(Record):
    """What sending takes from one machine (or LAN) to another, where it differs from the rest.

    Parameters
    ----------
    source, target : int
        Two machines, or two LANs (0-based). It holds for both directions, unless there is
        another link the other way.
    bandwidth : Number
        Data per unit of time.
    latency : Number, default 0
    """

    source: Index
    target: Index
    bandwidth: Positive
    latency: NonNegative = 0


@dataclass(frozen=True, slots=True)
class Network(Record):
    """How data gets from one machine to another.

    Parameters
    ----------
    convention : {"direct", "scheduler"}, default "direct"
        ``direct``: data goes from machine to machine. ``scheduler``: it goes from the machine to
        the scheduler of its LAN, and from there to the other machine, at the LAN's cost each.
    same_machine : {"zero", "counted"}, default "zero"
        Whether data that stays on a machine is sent, too.
    bandwidth : Number, default 1
        Between machines that are in no LAN, or between two LANs; data per unit of time. With the
        default network, data and time are the same.
    latency : Number, default 0
    lans : tuple of Lan
    wan_links : tuple of Link
        Two LANs each, whose connection differs from `bandwidth` and `latency`.
    links : tuple of Link
        Two machines each; with ``direct`` only. Their delays come on top.

    Notes
    -----
    Sending `d` from machine `m` to `n` takes ``latency + delay_m + delay_n + d / bandwidth`` if it
    is direct. Through the schedulers it takes the same from `m` to its scheduler, over the WAN if
    the LANs differ, and from the other scheduler to `n`, with one delay on either side. The
    latency is paid whatever `d`, 0 as well.
    """

    convention: Literal["direct", "scheduler"] = "direct"
    same_machine: Literal["zero", "counted"] = "zero"
    bandwidth: Positive = 1
    latency: NonNegative = 0
    lans: tuple[Lan, ...] = ()
    wan_links: tuple[Link, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: links that lead nowhere, or are given twice."""
        if "lans" in known:
            yield from link_faults("wan_links", known.get("wan_links", ()), "LANs", known["lans"])
        if known.get("links") and known.get("convention") == "scheduler":
            yield Fault("links", len(known["links"]), "must be empty where data goes by schedulers")


def link_faults(
    field: str, links: Sequence[Link], what: str, ends: Sequence[Record]
) -> Iterable[Fault]:
    """Yield where links do not join two of the machines (or LANs), or join them again."""
    seen: Counter[tuple[int, int]] = Counter()
    rule = f"must be one of the {len(ends)} {what} (0-based)"
    for index, link in enumerate(links):
        path = f"{field}[{index}]"
        for name, end in (("source", link.source), ("target", link.target)):
            if end >= len(ends):
                yield Fault(f"{path}.{name}", end, rule)
        if link.source == link.target:
            yield Fault(f"{path}.target", link.target, "must differ from the source")
        seen[link.source, link.target] += 1
        if seen[link.source, link.target] > 1:
            yield Fault(path, f"{link.source} -> {link.target}", "must be given once")


class Paths:
    """What sending takes between any two machines, looked up fast.

    Parameters
    ----------
    network : Network
    machines : sequence of Machine
    number : callable, default `dlopt.arithmetic.exact`
        The field to compute in: `exact` or ``float``.

    Examples
    --------
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
        self._wan_links = self._both_ways(network.wan_links)
        self._links = self._both_ways(network.links)

    def between(self, source: int, target: int) -> tuple[Any, Any]:
        """Return the latency, and the time a unit of data, from one machine to another."""
        if source == target and self.free_at_home:
            return self._number(0), self._number(0)
        if self._by_scheduler:
            return _sum(
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
        return _sum(self._over(home, self._lan[machine]), self.leg(machine))

    def outbound(self, machine: int, home: int | None) -> tuple[Any, Any]:
        """Return the same from a machine to the gateway of a LAN."""
        if home is None:
            return self._number(0), self._number(0)
        return _sum(self.leg(machine), self._over(self._lan[machine], home))

    def transfer(self, data: Any, source: int, target: int) -> Any:
        """Return how long it takes to send data from one machine to another."""
        latency, unit = self.between(source, target)
        return latency + self._number(data) * unit

    def _local(self, lan: int | None) -> tuple[Any, Any]:
        return self._wan if lan is None else self._within[lan]

    def _over(self, lan: int | None, other: int | None) -> tuple[Any, Any]:
        """Return what the way between two LANs takes; nothing within one."""
        if lan == other or lan is None or other is None:
            return self._number(0), self._number(0)
        return self._wan_links.get((lan, other), self._wan)

    def _path(self, of: Any) -> tuple[Any, Any]:
        return self._number(of.latency), self._number(1) / self._number(of.bandwidth)

    def _both_ways(self, links: Sequence[Link]) -> dict[tuple[int, int], tuple[Any, Any]]:
        back = {(link.target, link.source): self._path(link) for link in links}
        return back | {(link.source, link.target): self._path(link) for link in links}


def _sum(*paths: tuple[Any, Any]) -> tuple[Any, Any]:
    latencies, units = zip(*paths, strict=True)
    return sum(latencies[1:], latencies[0]), sum(units[1:], units[0])
