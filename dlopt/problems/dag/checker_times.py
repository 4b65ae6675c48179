"""Durations and transfer times, as the checkers compute them: from the data, in fractions.

No model and no heuristic uses this module, and no checker uses
`dlopt.problems.dag.task_and_transfer_times`: an error in one shows in the other.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import Number, exact
from dlopt.problems.dag.data import Graph, Instance
from dlopt.problems.dag.network import Lan, Link, Network


class CheckerTimes:
    """Durations and transfer times of an instance.

    Parameters
    ----------
    instance : Instance

    Examples
    --------
    From machine m, in the first LAN, to machine n, in the second, 6 units of data take 1 + 6/3
    over the link that leads there, and the delay of n; back it is the other link:

    >>> from dlopt.problems.dag import Lan, Link, Machine, Network, Task
    >>> links = (Link(0, 1, bandwidth=3, latency=1), Link(1, 0, bandwidth=1))
    >>> network = Network(lans=(Lan(), Lan()), wan_links=links)
    >>> machines = (Machine("m", lan=0), Machine("n", lan=1, delay=4))
    >>> instance = Instance(machines, (Graph("g", (Task("t", work=1),)),), network)
    >>> times = CheckerTimes(instance)
    >>> int(times.transfer(6, 0, 1)), int(times.transfer(6, 1, 0))
    (7, 10)
    """

    def __init__(self, instance: Instance) -> None:
        self._graphs, self._machines = instance.graphs, instance.machines
        self._network = instance.network
        self._machine_link = {(link.source, link.target): link for link in self._network.links}
        self._wan_link = {(link.source, link.target): link for link in self._network.wan_links}

    def duration(self, graph: int, task: int, machine: int) -> Fraction | None:
        """Return how long a task takes on a machine; None if it cannot run there."""
        given = self._graphs[graph].tasks[task]
        if given.work is not None:
            return exact(given.work) / exact(self._machines[machine].power)
        assert given.costs is not None  # one of the two is given
        cost = given.costs[machine]
        return None if cost is None else exact(cost)

    def transfer(self, data: Number, source: int, target: int) -> Fraction:
        """Return how long data takes from one machine to another."""
        network, machines = self._network, self._machines
        if source == target and network.same_machine == "zero":
            return Fraction(0)
        delays = exact(machines[source].delay) + exact(machines[target].delay)
        out_of, into = machines[source].lan, machines[target].lan
        if network.convention == "scheduler":
            inside = _time(data, self._inside(out_of)) + _time(data, self._inside(into))
            return delays + inside + self.over_wan(data, out_of, into)
        own = _directed(self._machine_link, source, target)
        if own is not None:
            return delays + _time(data, own)
        if out_of == into:
            return delays + _time(data, self._inside(out_of))
        return delays + self.over_wan(data, out_of, into)

    def scheduler_leg(self, data: Number, machine: int) -> Fraction:
        """Return how long data takes between a machine and the scheduler of its LAN."""
        own = self._machines[machine]
        return exact(own.delay) + _time(data, self._inside(own.lan))

    def over_wan(self, data: Number, source: int | None, target: int | None) -> Fraction:
        """Return how long data takes from the gateway of one LAN to that of another."""
        if source is None or target is None or source == target:
            return Fraction(0)
        link = _directed(self._wan_link, source, target)
        return _time(data, self._network if link is None else link)

    def input_time(self, graph: Graph, machine: int) -> Fraction:
        """Return how long the input of a graph takes from its home to a machine."""
        if graph.lan is None:
            return Fraction(0)
        wan = self.over_wan(graph.input, graph.lan, self._machines[machine].lan)
        return wan + self.scheduler_leg(graph.input, machine)

    def output_time(self, graph: Graph, machine: int) -> Fraction:
        """Return how long the output of a graph takes from a machine to its home."""
        if graph.lan is None:
            return Fraction(0)
        wan = self.over_wan(graph.output, self._machines[machine].lan, graph.lan)
        return self.scheduler_leg(graph.output, machine) + wan

    def _inside(self, lan: int | None) -> Lan | Network:
        """Return the network within a LAN; of machines that are in none it is that of all."""
        return self._network if lan is None else self._network.lans[lan]


def first_tasks(graph: Graph) -> list[int]:
    """Return the tasks of a graph that need the data of no other."""
    needy = {edge.target for edge in graph.edges}
    return [task for task in range(len(graph.tasks)) if task not in needy]


def last_tasks(graph: Graph) -> list[int]:
    """Return the tasks of a graph whose data no other needs."""
    givers = {edge.source for edge in graph.edges}
    return [task for task in range(len(graph.tasks)) if task not in givers]


def _directed(links: dict[tuple[int, int], Link], source: int, target: int) -> Link | None:
    """Return the link from one end to another: its own, or else the one for both directions."""
    own = links.get((source, target))
    return links.get((target, source)) if own is None else own


def _time(data: Number, hop: Lan | Link | Network) -> Fraction:
    return exact(hop.latency) + exact(data) / exact(hop.bandwidth)
