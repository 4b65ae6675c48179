"""Recorder of a running grid: the results of each job, and, on request, the trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlopt.arithmetic import Number
from dlopt.problems.dag import Course, Outage, Run, Trace
from dlopt.simulation.grid.execution_state import Attempt, Job, Node


@dataclass(frozen=True, slots=True)
class EndedJob:
    """Data of a job that has ended; see `dlopt.simulation.grid.execution_state.Job`."""

    index: int
    id: str
    home: int
    lan: int | None
    arrival: Number
    due: Number | None
    decided: Number | None
    received: Number | None
    returned: Number | None
    lost: int
    reason: str


class TraceRecorder:
    """Records the events of a simulation.

    Parameters
    ----------
    keep : bool
        Whether to keep a trace, beyond one record per job.
    """

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self.ended: list[EndedJob] = []
        self._attempts: list[Attempt] = []
        self._down: list[Outage] = []
        self._presumed: list[Outage] = []

    def over(self, job: Job) -> None:
        """Keep the record of a job that has ended."""
        self.ended.append(
            EndedJob(
                job.index,
                job.graph.id,
                job.home,
                job.lan,
                job.arrival,
                job.due,
                job.decided,
                job.received,
                job.returned,
                job.lost,
                job.reason,
            )
        )

    def sent(self, attempt: Attempt) -> None:
        """Keep an attempt that was sent."""
        if self._keep:
            self._attempts.append(attempt)

    def down(self, node: Node, begin: Number, until: Number) -> None:
        """Keep that a node was down."""
        if self._keep:
            self._down.append(Outage(node.index, begin, until))

    def presumed(self, node: Node, begin: Number, until: Number) -> None:
        """Keep that a node was suspected failed."""
        if self._keep:
            self._presumed.append(Outage(node.index, begin, until))

    def trace(self, nodes: Iterable[Node]) -> Trace:
        """Return the trace; outages that have not ended have no end."""
        down, presumed = list(self._down), list(self._presumed)
        for node in nodes:
            if not node.up:
                down.append(Outage(node.index, node.down_since))
            if node.presumed_since is not None:
                presumed.append(Outage(node.index, node.presumed_since))
        courses = [
            Course(job.index, job.lan, job.decided, job.received, job.returned, job.reason)
            for job in sorted(self.ended, key=lambda job: job.index)
        ]
        return Trace(tuple(courses), tuple(map(_run, self._attempts)), tuple(down), tuple(presumed))


def _run(attempt: Attempt) -> Run:
    subtask = attempt.subtask
    return Run(
        subtask.job.index,
        subtask.index,
        attempt.node.index,
        attempt.sent,
        attempt.fate,  # type: ignore[arg-type]
        attempt.start,
        attempt.end,
        attempt.known,
        attempt.freed,
    )
