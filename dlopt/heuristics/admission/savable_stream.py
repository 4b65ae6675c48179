"""The state of a book of divisible tasks as plain data, but for its planner."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Generic, Self, TypeVar

from dlopt.arithmetic import Number
from dlopt.books.snapshots import PlainData, plain_number, snapshot_header
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.promise_keeping import (
    PromisedPlan,
    Window,
    altered_tasks,
    broken_promises,
    late_ends,
)
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.heuristics.admission.saved_planners import (
    forecast_task,
    plain_forecast_task,
    plain_weight,
)
from dlopt.heuristics.admission.saved_records import SavedForecastTask, StreamSnapshot
from dlopt.heuristics.admission.stream_book import StreamBook
from dlopt.problems.admission.data import Chunk, Decision

SavedT = TypeVar("SavedT", bound=StreamSnapshot)

_numbers_of = attrgetter(*[field.name for field in fields(Chunk)][2:])
"""Returns the load and the times of a chunk."""


class SavableStream(StreamBook, Generic[SavedT]):
    """A book of divisible tasks that can be restored, and of which all but the planner is saved."""

    @classmethod
    def restore(cls, snapshot: object) -> Self:
        """Return the book of a snapshot: every later decision is equal.

        Parameters
        ----------
        snapshot : dict
            As `snapshot` returns it, or as it is read back from JSON.

        Raises
        ------
        InvalidInstanceError
            With every fault of its header; else with every fault of its fields; else with every
            contradiction between them; else with every promise that the plan does not keep.
        MissingExtraError
            If it needs compiled code, and there is no compiler.

        Notes
        -----
        Complexity: O(n + N), and one plan of what waits, which is checked.
        """
        saved = cls._read(snapshot)
        try:
            book = cls._with_settings(saved)
        except NotApplicableError as error:
            fault = Fault("algorithm", saved.algorithm, f"must be for such a cluster: {error}")
            raise InvalidInstanceError([fault]) from None
        book._fill(saved)
        return book

    @classmethod
    @abstractmethod
    def _read(cls, snapshot: object) -> SavedT:
        """Return the record of a snapshot that does not contradict itself."""

    @classmethod
    @abstractmethod
    def _with_settings(cls, saved: SavedT) -> Self:
        """Return a book without promises, as its constructor makes it."""

    @abstractmethod
    def _fill(self, saved: SavedT) -> None:
        """Take over the state of a snapshot, or raise the faults of its promises."""

    def _plain_stream(self, problem: str) -> PlainData:
        """Return all but the planner as plain data, once the planner has no sent chunks."""
        plain, data = plain_number, snapshot_header(problem)
        return data | {
            "algorithm": self.algorithm.name,
            "exact_numbers": self._is_exact,
            "reference": False,  # former releases had a second implementation
            "cluster": self.cluster.to_data(),
            "now": plain(self.now),
            "next_number": self._submissions,
            "node_count": self._node_count,
            "nodes": list(self._in_service),
            "ready_times": list(map(plain, self._in_service.values())),
            "channel_ready": plain(self._channel_ready),
            "failed": sorted(self._failed),
            "tasks": [self._plain_task(name) for name in self._decisions],
            "decisions": [_plain_decision(one) for one in self._decisions.values()],
            "numbers": [self._numbers[name] for name in self._decisions],
            "cancelled": [
                {"task": name, "deadline": plain(deadline)}
                for name, deadline in self._cancelled.items()
            ],
            "ended": sorted(self._ended),
            "outdated": self._outdated,
            "sent": [_plain_chunk(chunk) for chunk in self._sent],
        }

    def _fill_stream(self, saved: StreamSnapshot) -> None:
        """Take over all but the planner from a snapshot."""
        cast = self._cast
        self._channel_ready = cast(saved.channel_ready)
        self._in_service = dict(zip(saved.nodes, map(cast, saved.ready_times), strict=True))
        self._node_count, self._failed = saved.node_count, set(saved.failed)
        for task, decision, number in zip(saved.tasks, saved.decisions, saved.numbers, strict=True):
            self._submissions = number
            self._contents[task.id] = task
            if decision.accepted:
                load = task.load if task.remaining is None else task.remaining
                self._queued[task.id] = self._to_queued_task(task, load)
            self._record_decision(decision)
        self._submissions = saved.next_number
        for gone in saved.cancelled:
            self._cancelled[gone.task] = cast(gone.deadline)
        self._ended, self._outdated = set(saved.ended), saved.outdated
        self._sent.add(
            Chunk(chunk.task, chunk.node, *map(cast, _numbers_of(chunk))) for chunk in saved.sent
        )

    def _plain_forecast(self) -> PlainData:
        """Return the forecast of the bid prices as plain data, if there are any."""
        if self._prices is None:
            return {}
        return {"forecast": [plain_forecast_task(task) for task in self._prices.forecast]}

    def _fill_forecast(self, saved: Iterable[SavedForecastTask]) -> None:
        """Take over the forecast from a snapshot."""
        if self._prices is not None:
            for task in saved:
                self._prices.observe(forecast_task(task, self._cast))

    def _plain_task(self, name: str) -> PlainData:
        """Return a task, with the load that was planned of it if that is less than its load."""
        task, queued = self._contents[name], self._queued.get(name)
        data = {
            "id": task.id,
            "arrival": plain_number(task.arrival),
            "load": plain_number(task.load),
            "deadline": plain_number(task.deadline),
        }
        data |= plain_weight(task.weight)
        if queued is not None and queued.load < self._cast(task.load):
            data["remaining"] = plain_number(queued.load)
        return data

    def _require_promises_kept(
        self,
        waiting: Iterable[QueuedTask],
        node_ends: Iterable[tuple[int, Number]],
        channel_end: Number,
    ) -> None:
        """Raise an error with every promise that the plan of a restored book does not keep.

        Parameters
        ----------
        waiting : iterable of QueuedTask
            As the planner sees them.
        node_ends : iterable of (int, Number)
            Nodes, and until when the planner takes each to be busy with what it does not plan.
        channel_end : Number
            Until when it takes the channel to be busy.
        """
        plan = PromisedPlan(
            tasks=self._queued,
            ended=self._ended,
            sent=tuple(self._sent),
            planned=tuple(self._planned_chunks()),
            ready=self._in_service,
            channel=self._channel_ready,
            now=self.now,
            costs=tuple(map(self._cast, self.cluster.costs_of(0))),
            has_deadlines=self._promises,
            is_exact=self._is_exact,
        )
        found = [*broken_promises(plan), *altered_tasks(plan, waiting)]
        if not self._outdated:  # else it may ignore time that is free
            found += late_ends(plan, node_ends, channel_end, self._reserved_windows())
        if found:
            raise InvalidInstanceError(found)

    def _reserved_windows(self) -> Iterable[Window]:
        """Return the I/O end, the end and the nodes of each reservation, if there are any."""
        return ()


def _plain_decision(decision: Decision) -> PlainData:
    at = plain_number(decision.at)
    if decision.accepted and decision.promised:
        return {"task": decision.task, "accepted": True, "at": at}
    return decision.to_data()


def _plain_chunk(chunk: Chunk) -> PlainData:
    return {
        "task": chunk.task,
        "node": chunk.node,
        "load": plain_number(chunk.load),
        "transmission_start": plain_number(chunk.transmission_start),
        "transmission_end": plain_number(chunk.transmission_end),
        "computation_start": plain_number(chunk.computation_start),
        "computation_end": plain_number(chunk.computation_end),
    }
