"""Times of tasks, and of transfers between machines, of a `dag` instance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.reference.numbers import number


class Network:
    """Transfer times between machines and LANs, as (latency, time for each unit of data)."""

    def __init__(self, data: dict[str, Any]) -> None:
        network, self.machines = data.get("network", {}), data["machines"]
        self.by_scheduler = network.get("convention", "direct") == "scheduler"
        self.free_at_home = network.get("same_machine", "zero") == "zero"
        self.default = _speed(network)
        self.lans = [_speed(lan) for lan in network.get("lans", ())]
        self.links = _both_directions(network.get("links", ()))
        self.wan_links = _both_directions(network.get("wan_links", ()))

    def between(self, source: int, target: int) -> tuple[Fraction, Fraction]:
        if source == target and self.free_at_home:
            return Fraction(0), Fraction(0)
        one, other = self.lan(source), self.lan(target)
        if self.by_scheduler:
            return _added(self.leg(source), self.wide(one, other), self.leg(target))
        speed = self.links.get((source, target))
        if speed is None:
            speed = self.local(one) if one == other else self.wide(one, other)
        return speed[0] + self.delay(source) + self.delay(target), speed[1]

    def gateway(self, home: int | None, machine: int) -> tuple[Fraction, Fraction]:
        """Between a machine and the gateway of a LAN, in either direction."""
        if home is None:
            return Fraction(0), Fraction(0)
        return _added(self.leg(machine), self.wide(home, self.lan(machine)))

    def lan(self, machine: int) -> int | None:
        found: int | None = self.machines[machine].get("lan")
        return found

    def delay(self, machine: int) -> Fraction:
        return number(self.machines[machine].get("delay", 0))

    def local(self, lan: int | None) -> tuple[Fraction, Fraction]:
        return self.default if lan is None else self.lans[lan]

    def leg(self, machine: int) -> tuple[Fraction, Fraction]:
        latency, unit = self.local(self.lan(machine))
        return latency + self.delay(machine), unit

    def wide(self, one: int | None, other: int | None) -> tuple[Fraction, Fraction]:
        if one == other or one is None or other is None:
            return Fraction(0), Fraction(0)
        return self.wan_links.get((one, other), self.default)


def _speed(entry: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return number(entry.get("latency", 0)), 1 / number(entry.get("bandwidth", 1))


def _added(*speeds: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    return sum((s[0] for s in speeds), Fraction(0)), sum((s[1] for s in speeds), Fraction(0))


def _both_directions(links: Any) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    back = {(link["target"], link["source"]): _speed(link) for link in links}
    return back | {(link["source"], link["target"]): _speed(link) for link in links}


def cost_of(task: dict[str, Any], machine: int, data: dict[str, Any]) -> Fraction | None:
    if task.get("costs") is not None:
        cost = task["costs"][machine]
        return None if cost is None else number(cost)
    return number(task["work"]) / number(data["machines"][machine].get("power", 1))
