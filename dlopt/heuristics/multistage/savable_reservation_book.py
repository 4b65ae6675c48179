"""Books of divisible tasks and reservations that can be saved and restored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.arithmetic import NumberField
from dlopt.books.snapshots import PlainData, plain_number, read_snapshot
from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.admission.promise_keeping import Window
from dlopt.heuristics.admission.saved_planners import plain_task, queued_task
from dlopt.heuristics.multistage.algorithm_names import queue_around
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    ReservedWindow,
    TimedChunk,
)
from dlopt.heuristics.multistage.queue import MultiStageQueue, ScheduledTask
from dlopt.heuristics.multistage.reservation_book import ReservationBook
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation
from dlopt.heuristics.multistage.saved_records import ReservationSnapshot, SavedPlan, SavedQueue
from dlopt.heuristics.multistage.snapshot_faults import contradictions, promise_faults
from dlopt.problems.multistage.data import Instance


def plain_queue(queue: MultiStageQueue, nodes: Sequence[int]) -> PlainData:
    """Return a queue as `json.dumps` takes it, without the tasks that have begun.

    Parameters
    ----------
    queue : MultiStageQueue
    nodes : sequence of int
        The numbers of its nodes.
    """
    fixed = queue.committed_state
    return {
        "nodes": list(nodes),
        "channel": list(map(plain_number, fixed.channel)),
        "intervals": [{"busy": list(map(plain_number, busy))} for busy in fixed.nodes],
        "waiting": [_plain_plan(planned) for planned in queue.waiting],
    }


def saved_intervals(saved: SavedQueue, cast: NumberField) -> BusyIntervals:
    """Return when nodes and channel are busy with what is promised or begun."""
    nodes = [list(map(cast, one.busy)) for one in saved.intervals]
    return BusyIntervals(list(map(cast, saved.channel)), nodes)


def _scheduled(one: SavedPlan, cast: NumberField) -> ScheduledTask:
    chunks = (
        TimedChunk(chunk.node, *map(cast, (chunk.load, chunk.start, chunk.sent, chunk.end)))
        for chunk in one.chunks
    )
    return ScheduledTask(queued_task(one, cast), FixedPlan(tuple(chunks)))


def _plain_plan(planned: ScheduledTask) -> PlainData:
    task, plain = planned.task, plain_number
    return plain_task(task) | {
        "chunks": [
            {
                "node": node,
                "load": plain(load),
                "start": plain(start),
                "sent": plain(sent),
                "end": plain(end),
            }
            for node, load, start, sent, end in planned.chunks
        ],
    }


class SavableReservationBook(ReservationBook):
    """A book of divisible tasks and reservations that can be saved."""

    def snapshot(self) -> PlainData:
        """Return the whole state as plain data, for `json.dumps`.

        Exact numbers are written as texts ``"p/q"`` unless they are integers, floats as they are.

        Raises
        ------
        NotApplicableError
            If the algorithm is a printed one, which does not keep what it promises.

        Notes
        -----
        Guarantee: the book and every book that `restore` makes of the snapshot go on equally, in
        floats bit by bit: in floats this book, too, goes on from the numbers of the snapshot.

        Examples
        --------
        >>> import json
        >>> from dlopt import MultiStage
        >>> from dlopt.problems.cluster import Cluster
        >>> from dlopt.problems.multistage import Reservation
        >>> head = MultiStage(Cluster(1, tau=1, chi=1))
        >>> head.reserve(Reservation("r", arrival=0, start=2, end=6)).accepted
        True
        >>> again = MultiStage.restore(json.loads(json.dumps(head.snapshot())))
        >>> again.ask(Reservation("q", arrival=0, start=5, end=9)).reason
        'too few of its nodes are free'
        """
        with self._lock:
            self._require_sound()
            assert isinstance(self.planner, MultiStageQueue)  # the algorithm is not a printed one
            self.planner.advance(self.now)
            self._take_sent()
            plain = plain_number
            data = self._plain_stream(Instance.problem) | {
                "reservations": [self._requested[name].to_data() for name in self._grants],
                "grants": [grant.to_data() for grant in self._grants.values()],
                "accepted": [
                    {
                        "reservation": one.id,
                        "start": plain(one.window.start),
                        "io_end": plain(one.window.io_end),
                        "end": plain(one.window.end),
                        "nodes": list(one.window.nodes),
                        "number": one.made,
                    }
                    for one in self._accepted.values()
                ],
                "withdrawn": [
                    {"reservation": name, "end": plain(end)}
                    for name, end in self._withdrawn.items()
                ],
                "planner": plain_queue(self.planner, self._present_planning().nodes),
            }
            if not self._is_exact:  # groups of nodes depend on how plans came about
                self.planner = self._restored_planner(SavedQueue.from_data(data["planner"]))
            return data | self._plain_forecast()

    @classmethod
    def _read(cls, snapshot: object) -> ReservationSnapshot:
        record = ReservationSnapshot.from_data
        return read_snapshot(snapshot, Instance.problem, record, contradictions)

    def _fill(self, saved: ReservationSnapshot) -> None:
        cast = self._cast
        self._fill_stream(saved)
        self._fill_forecast(saved.forecast)
        for reservation, grant in zip(saved.reservations, saved.grants, strict=True):
            self._record_grant(reservation, grant)
        for one in saved.accepted:
            window = ReservedWindow(cast(one.start), cast(one.io_end), cast(one.end), one.nodes)
            content = self._requested[one.reservation]
            self._accepted[one.reservation] = AcceptedReservation(content, window, one.number)
        self._withdrawn = {one.reservation: cast(one.end) for one in saved.withdrawn}
        nodes = saved.planner.nodes
        self._nodes = None if nodes == tuple(range(self.cluster.nodes)) else nodes
        self.planner = self._restored_planner(saved.planner)
        fixed = saved_intervals(saved.planner, cast)
        found = list(promise_faults(saved, self.planner, fixed, self._facts(), self._costs))
        if found:
            raise InvalidInstanceError(found)
        tasks = (planned.task for planned in self.planner.waiting)
        ends = ((node, busy[-1]) for node, busy in zip(nodes, fixed.nodes, strict=True) if busy)
        self._require_promises_kept(tasks, ends, fixed.channel[-1] if fixed.channel else self.now)
        self._note_ends()

    def _reserved_windows(self) -> Iterable[Window]:
        windows = (one.window for one in self._accepted.values())
        return ((window.io_end, window.end, window.nodes) for window in windows)

    def _restored_planner(self, saved: SavedQueue) -> MultiStageQueue:
        queue = queue_around(self._costs, saved_intervals(saved, self._cast), self._prices)
        queue.load_plans([_scheduled(one, self._cast) for one in saved.waiting])
        return queue
