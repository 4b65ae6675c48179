"""What is kept of a grid that runs: the fate of each job, and, if wanted, the trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dlopt.problems.dag import Course, Outage, Run, Trace
from dlopt.simulation.grid.entities import Attempt, Job, Node


@dataclass(frozen=True, slots=True)
class Ended:
    """What is kept of a job that is over; see `dlopt.simulation.grid.entities.Job`."""

    index: int
    id: str
    home: int
    lan: int | None
    arrival: Any
    due: Any
    decided: Any
    received: Any
    returned: Any
    lost: int
    reason: str


class Record:
    """What happened so far.

    Parameters
    ----------
    keep : bool
        Whether to keep more than a line of each job: a trace.
    """

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self.ended: list[Ended] = []
        self._attempts: list[Attempt] = []
        self._down: list[Outage] = []
        self._presumed: list[Outage] = []

    def over(self, job: Job) -> None:
        """Keep what became of a job."""
        self.ended.append(
            Ended(
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
        """Keep what was sent."""
        if self._keep:
            self._attempts.append(attempt)

    def down(self, node: Node, begin: Any, until: Any) -> None:
        """Keep that a node was down."""
        if self._keep:
            self._down.append(Outage(node.index, begin, until))

    def presumed(self, node: Node, begin: Any, until: Any) -> None:
        """Keep that a node was presumed dead."""
        if self._keep:
            self._presumed.append(Outage(node.index, begin, until))

    def trace(self, nodes: Iterable[Node]) -> Trace:
        """Return what happened, for whoever wants to check it; nodes that are down stay so."""
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
