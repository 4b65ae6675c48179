"""Machines, and the network between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge

from dlopt.errors import Fault
from dlopt.problems.validated_record import Items, NonNegative, Positive, Record

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
        The LAN that it belongs to (0-based). All machines name one, or none does.
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
        another link in the other direction.
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
    lans: Items[Lan] = ()
    wan_links: Items[Link] = ()
    links: Items[Link] = ()

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
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
