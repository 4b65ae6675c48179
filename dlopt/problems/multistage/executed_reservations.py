"""The rules of reservations in executed traces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.problems.admission.trace import BreakCause
from dlopt.problems.admission.trace_causes import causes_of_broken_promises, is_among
from dlopt.problems.admission.trace_timeline import ReservedTimes, cut_short_at
from dlopt.problems.intervals import Interval
from dlopt.problems.multistage.checker import ReservationChecker, reserved_times
from dlopt.problems.multistage.checker_times import channel_end
from dlopt.problems.multistage.data import Grant, Instance, Reservation
from dlopt.problems.multistage.scenario import Scenario
from dlopt.problems.multistage.trace import BrokenReservation, ExecutedReservation, Move, Trace
from dlopt.result import Violation

Causes: TypeAlias = Mapping[BreakCause, list[Fraction]]
"""The instants at which a promise may be broken, ascending, by the cause."""


class ExecutedReservationChecker(ReservationChecker):
    """The checker of the reservations of one trace.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
        That can happen to the instance.
    trace : Trace
    tolerance : float
    """

    def __init__(
        self, instance: Instance, scenario: Scenario, trace: Trace, tolerance: float
    ) -> None:
        super().__init__(instance, trace.grants, tolerance)
        self.scenario, self.trace = scenario, trace

    def known(self) -> list[ExecutedReservation]:
        """Return what was executed of reservations that exist."""
        return [one for one in self.trace.reservations if one.reservation in self.reservations]

    @staticmethod
    def released(one: ExecutedReservation) -> tuple[Fraction, Fraction]:
        """Return when a reservation lets go of the channel and of its nodes."""
        io_end, end = exact(one.io_end), exact(one.end)
        if one.lost is None:
            return io_end, end
        return min(io_end, exact(one.lost)), min(end, exact(one.lost))

    @cached_property
    def reserved(self) -> ReservedTimes:
        """When reservations occupied channel and nodes."""
        return reserved_times(
            (one.nodes, exact(one.start), *self.released(one)) for one in self.known()
        )

    def late_ends(self) -> list[Fraction]:
        """Return the ends for which reservations were made that went on longer, ascending."""
        found = []
        for one in self.known():
            due, true = self._window(self.reservations[one.reservation])
            if true > due and self.released(one)[1] >= due - self.time_tolerance(due):
                found.append(due)
        return sorted(found)

    def causes_without_tasks(self) -> Causes:
        """Return when promises may be broken if there is no task."""
        causes = causes_of_broken_promises(self.instance, self.scenario, (), self.time_tolerance)
        return {**causes, "overrun": self.late_ends()}

    def violations(self, causes: Causes) -> Iterator[Violation]:
        """Yield every contradiction but those of tasks among themselves.

        Parameters
        ----------
        causes : mapping of str to list of Fraction
            The instants at which promises may be broken, by the cause.
        """
        yield from self.decision_violations()
        for used in self.trace.reservations:
            if used.reservation not in self.reservations:
                yield Violation("unknown-reservation", f"reservation {used.reservation}")
        yield from self._use_violations()
        for reservation in self.instance.reservations:
            yield from self._kept_violations(reservation)
        yield from self._overlap_violations()
        for move in self.trace.moves:
            yield from self._move_violations(move, causes)
        seen = set[str]()
        for one in self.trace.broken_reservations:
            yield from self._broken_violations(one, one.reservation in seen, causes)
            seen.add(one.reservation)

    def _use_violations(self) -> Iterator[Violation]:
        """Yield where something is executed of a reservation that should not be, or not so."""
        seen = set[str]()
        for used in self.known():
            name, resource = used.reservation, f"reservation {used.reservation}"
            grant, broken = self._granted.get(name), self._broken.get(name)
            start = exact(used.start)
            if (
                grant is None
                or name in seen
                or (
                    broken is not None
                    and not self._is_lost_at(used, broken.at)
                    and exact(broken.at) - start <= self.time_tolerance(start)
                )
            ):
                yield Violation("reservation-without-promise", resource, start)
            elif sorted(used.nodes) != sorted(self._moved.get(name, grant.nodes)):
                yield Violation("wrong-reservation-nodes", resource, start)
            seen.add(name)
            yield from self._window_violations(used, self.reservations[name])
            yield from self._failure_violations(used)

    def _window_violations(
        self, used: ExecutedReservation, reservation: Reservation
    ) -> Iterator[Violation]:
        """Yield where a reservation does not begin as promised, or end as it truly does."""
        end = self._window(reservation)[1]
        due = exact(reservation.start), min(channel_end(reservation), end), end
        for stated, instant in zip((used.start, used.io_end, used.end), due, strict=True):
            first, last = sorted((exact(stated), instant))
            if last - first > self.time_tolerance(last):
                resource = f"reservation {reservation.id}"
                yield Violation("wrong-reservation-window", resource, first, last, last - first)

    def _failure_violations(self, used: ExecutedReservation) -> Iterator[Violation]:
        """Yield where a reservation does not fare as the failures of its nodes say."""
        now, name = exact(self.instance.now), f"reservation {used.reservation}"
        start, end, stop = max(exact(used.start), now), exact(used.end), self.released(used)[1]
        lost = None if used.lost is None else exact(used.lost)
        for node in used.nodes:
            for begin, until in self._failures[node]:
                back = stop if until is None else min(stop, until)
                within = back - max(start, begin)
                if within > self.time_tolerance(back):
                    kind = (
                        "starts-during-failure" if start >= begin else "continues-through-failure"
                    )
                    resource = f"{name} on node {node}"
                    yield Violation(kind, resource, max(start, begin), back, within)
                if lost is not None and start <= begin < end:
                    lost = None if abs(lost - begin) <= self.time_tolerance(begin) else lost
        if lost is not None:
            yield Violation("lost-without-failure", name, lost)

    def _kept_violations(self, reservation: Reservation) -> Iterator[Violation]:
        """Yield where a promise was not kept, and not said to be broken by then."""
        name, start = reservation.id, exact(reservation.start)
        over = exact(reservation.end) <= exact(self.instance.now)
        if name not in self._granted or over:
            return
        used, broken = self._used.get(name), self._broken.get(name)
        if used is None:
            kept = broken is not None and exact(broken.at) - start <= self.time_tolerance(start)
        else:
            kept = used.lost is None or (broken is not None and self._is_lost_at(used, broken.at))
        if not kept:
            yield Violation("reservation-not-kept", f"reservation {name}", start)

    def _overlap_violations(self) -> Iterator[Violation]:
        """Yield where a reservation shares channel or nodes with something else."""
        sends, used = [], defaultdict[int, list[Interval]](list)
        for chunk in self.trace.chunks:
            cut, start = cut_short_at(chunk), exact(chunk.transmission_start)
            ends = [exact(chunk.transmission_end), exact(chunk.computation_end)]
            sent, done = ends if cut is None else (min(end, exact(cut)) for end in ends)
            sends.append((start, sent))
            used[chunk.node].append((start, done))
        yield from self.channel_violations(self.reserved.channel, sends)
        yield from self.node_violations(self.reserved.nodes, used)

    def _move_violations(self, move: Move, causes: Causes) -> Iterator[Violation]:
        """Yield where a reservation gets other nodes that it should not get."""
        reservation = self.reservations.get(move.reservation)
        resource, at = f"reservation {move.reservation}", exact(move.at)
        if reservation is None:
            yield Violation("unknown-reservation", resource)
            return
        yield from self.node_choice_violations(reservation, move.nodes)
        broken, late = self._broken.get(move.reservation), self.time_tolerance(at)
        if (
            not self._is_promised(reservation, at)
            or not isinstance(reservation.nodes, int)
            or at - exact(reservation.start) > late
            or (broken is not None and at - exact(broken.at) > late)
            or not is_among(causes[move.cause], at, self.time_tolerance)
        ):
            yield Violation("moved-without-cause", resource, at)

    def _broken_violations(
        self, one: BrokenReservation, again: bool, causes: Causes
    ) -> Iterator[Violation]:
        """Yield where a promise is said to be broken that was not made, or without a cause."""
        reservation = self.reservations.get(one.reservation)
        resource, at = f"reservation {one.reservation}", exact(one.at)
        if reservation is None:
            yield Violation("unknown-reservation", resource)
            return
        used = self._used.get(one.reservation)
        if again or not self._is_promised(reservation, at):
            yield Violation("broken-without-promise", resource, at)
        elif used is not None and exact(used.start) < at - self.time_tolerance(at):
            if one.cause != "failure" or not self._is_lost_at(used, one.at):
                yield Violation("broken-without-cause", resource, at)
        elif not is_among(causes[one.cause], at, self.time_tolerance):
            yield Violation("broken-without-cause", resource, at)

    def _is_promised(self, reservation: Reservation, at: Fraction) -> bool:
        """Tell whether a reservation was accepted by an instant."""
        early = exact(reservation.arrival) - at
        return reservation.id in self._granted and early <= self.time_tolerance(at)

    def _is_lost_at(self, used: ExecutedReservation, at: Number) -> bool:
        """Tell whether a failure ended a reservation at an instant."""
        if used.lost is None:
            return False
        return abs(exact(used.lost) - exact(at)) <= self.time_tolerance(exact(at))

    def _window(self, reservation: Reservation) -> Interval:
        """Return for when the end of a reservation is reserved, and when it truly ends."""
        end = exact(reservation.end)
        return end, self._true_ends.get(reservation.id, end)

    @cached_property
    def _granted(self) -> dict[str, Grant]:
        return {grant.reservation: grant for grant in self.grants if grant.accepted}

    @cached_property
    def _moved(self) -> dict[str, tuple[int, ...]]:
        """The nodes that each moved reservation has in the end.

        Of moves at one instant the trace has the last one last.
        """
        return {move.reservation: move.nodes for move in sorted(self.trace.moves, key=_instant)}

    @cached_property
    def _used(self) -> dict[str, ExecutedReservation]:
        return {one.reservation: one for one in self.known()}

    @cached_property
    def _broken(self) -> dict[str, BrokenReservation]:
        return {one.reservation: one for one in reversed(self.trace.broken_reservations)}

    @cached_property
    def _true_ends(self) -> dict[str, Fraction]:
        return {one.reservation: exact(one.end) for one in self.scenario.ends}

    @cached_property
    def _failures(self) -> dict[int, list[tuple[Fraction, Fraction | None]]]:
        """When each node is down, from `now` on."""
        now = exact(self.instance.now)
        found: dict[int, list[tuple[Fraction, Fraction | None]]] = defaultdict(list)
        for failure in self.scenario.failures:
            until = None if failure.until is None else exact(failure.until)
            if until is None or until > now:
                found[failure.node].append((max(now, exact(failure.begin)), until))
        return found


def _instant(move: Move) -> Fraction:
    return exact(move.at)
