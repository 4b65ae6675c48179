"""What a reservation that must not be refused is in conflict with, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dlopt.arithmetic import shown, simplest
from dlopt.heuristics.multistage.queue import Planned
from dlopt.problems.multistage.data import Grant, Reservation


def conflict(
    one: Reservation,
    refusal: Grant,
    held: Mapping[str, tuple[Reservation, tuple[int, ...]]],
    sent: Iterable[Planned],
) -> str:
    """Return why a reservation is refused, naming the first promise that stands against it.

    Parameters
    ----------
    one : Reservation
    refusal : Grant
    held : mapping
        Accepted reservations and their nodes, by identity.
    sent : iterable of Planned
        Tasks that have begun.
    """
    reason = str(refusal.reason)
    if refusal.conflict == "task":
        return reason
    on_channel = refusal.conflict == "channel"
    named = set(one.nodes) if isinstance(one.nodes, tuple) else None
    end = one.channel_end if on_channel else one.end
    for holder, start, sent_by, done, nodes in _holders(held, sent):
        until = sent_by if on_channel else done
        apart = not (on_channel or named is None or named & set(nodes))
        if not apart and max(one.start, start) < min(end, until):
            return f"{reason}: {holder} holds until {shown(simplest(until))}"
    return f"{reason}: there are no more, or the cluster is not ready"


def _holders(
    held: Mapping[str, tuple[Reservation, tuple[int, ...]]], sent: Iterable[Planned]
) -> Iterator[tuple[str, Any, Any, Any, tuple[int, ...]]]:
    for name, (other, nodes) in held.items():
        yield f"reservation {name}", other.start, other.channel_end, other.end, nodes
    for planned in sent:
        for piece in planned.pieces:
            yield f"task {planned.task.id}", piece.start, piece.sent, piece.end, (piece.node,)


def conflict_of_promises(promised: Iterable[Reservation], cast: Callable[[Any], Any]) -> str | None:
    """Return why reservations that were promised exclude each other, None if they do not.

    Parameters
    ----------
    promised : iterable of Reservation
        With the nodes that they were given. What lies before now counts, too.
    cast : callable
        Turns a number into one that can be compared with the others.
    """
    windows: dict[str, list[tuple[Any, Any, str]]] = defaultdict(list)
    for one in promised:
        windows["the channel"].append((cast(one.start), cast(one.channel_end), one.id))
        for node in one.nodes if isinstance(one.nodes, tuple) else ():
            windows[f"node {node}"].append((cast(one.start), cast(one.end), one.id))
    for resource, held in windows.items():
        last: tuple[Any, str] | None = None
        for start, end, name in sorted(window for window in held if window[0] < window[1]):
            if last is not None and start < last[0]:
                return f"promised reservations {last[1]} and {name} want {resource} at one time"
            last = (end, name) if last is None or end > last[0] else last
    return None
