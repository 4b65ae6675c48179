"""Messages about the conflicts of a reservation that must not be refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from dlopt.arithmetic import Number, shown, simplest
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation
from dlopt.problems.admission.data import Chunk
from dlopt.problems.multistage.data import Grant, Reservation


def conflict_message(
    reservation: Reservation,
    refusal: Grant,
    accepted: Iterable[AcceptedReservation],
    begun: Iterable[Chunk],
) -> str:
    """Return why a reservation is refused, naming the first promise that it conflicts with.

    Parameters
    ----------
    reservation : Reservation
    refusal : Grant
    accepted : iterable of AcceptedReservation
        Accepted reservations.
    begun : iterable of Chunk
        Chunks of tasks that have begun.
    """
    reason = str(refusal.reason)
    if refusal.conflict == "task":
        return reason
    on_channel = refusal.conflict == "channel"
    named = set(reservation.nodes) if isinstance(reservation.nodes, tuple) else None
    end = reservation.channel_end if on_channel else reservation.end
    for holder, start, sent_by, done, nodes in _allocations(accepted, begun):
        until = sent_by if on_channel else done
        disjoint = not (on_channel or named is None or named & set(nodes))
        if not disjoint and max(reservation.start, start) < min(end, until):
            return f"{reason}: {holder} holds until {shown(simplest(until))}"
    return f"{reason}: there are no more, or the cluster is not ready"


def _allocations(
    accepted: Iterable[AcceptedReservation], begun: Iterable[Chunk]
) -> Iterator[tuple[str, Number, Number, Number, tuple[int, ...]]]:
    for one in accepted:
        start, sent_by, end, nodes = one.window
        yield f"reservation {one.id}", start, sent_by, end, nodes
    for chunk in begun:
        yield (
            f"task {chunk.task}",
            chunk.transmission_start,
            chunk.transmission_end,
            chunk.computation_end,
            (chunk.node,),
        )


def conflicting_promises(
    promised: Iterable[Reservation], cast: Callable[[Number], Number]
) -> str | None:
    """Return why promised reservations exclude each other, None if they do not.

    Parameters
    ----------
    promised : iterable of Reservation
        With the nodes that they were given. What lies before now counts, too.
    cast : callable
        Turns a number into one that can be compared with the others.
    """
    windows: dict[str, list[tuple[Number, Number, str]]] = defaultdict(list)
    for reservation in promised:
        windows["the channel"].append(
            (cast(reservation.start), cast(reservation.channel_end), reservation.id)
        )
        for node in reservation.nodes if isinstance(reservation.nodes, tuple) else ():
            windows[f"node {node}"].append(
                (cast(reservation.start), cast(reservation.end), reservation.id)
            )
    for resource, intervals in windows.items():
        last: tuple[Number, str] | None = None
        for start, end, name in sorted(window for window in intervals if window[0] < window[1]):
            if last is not None and start < last[0]:
                both = f"promised reservations {last[1]} and {name}"
                return f"{both} request {resource} at the same time"
            last = (end, name) if last is None or end > last[0] else last
    return None
