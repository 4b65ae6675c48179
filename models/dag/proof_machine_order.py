"""Jobs on one machine, one before the other: windows that follow from an order that is known.

If job `j` runs on the machine `g`, and cannot start after job `i` has ended there, `i` starts after
`j` has ended; if it cannot end before `i` starts, `i` ends before `j` starts. The proof: where all
starts of two windows overlap, no two jobs start in them (a conflict). Source: immediate selection
of Carlier and Pinson 1989.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dlopt.models.dag.heads_and_tails import INFINITE, Ints
from dlopt.models.dag.proof_cases import AssumedLatest
from dlopt.models.dag.proof_facts import Fact, Head, LatestStart, NotStarted, Pairs, ProofWriter
from dlopt.models.dag.proof_propagation import WindowPropagation, Windows
from dlopt.models.dag.proof_times import NO_LATEST

Window: TypeAlias = tuple[int, int, NotStarted | None]
"""A job, the end of its window of starts, and that it does not start before; None if released."""
LatestWindow: TypeAlias = tuple[LatestStart, NotStarted | None]
"""Why a job starts in a window of one machine: by when, and not before."""


def conflict_pairs(writer: ProofWriter, group: int, one: Window, other: LatestWindow) -> Pairs:
    """Return what adds up to: a job does not start in its window, as another one does."""
    latest, before = other
    windows: tuple[Window, ...] = one, (latest.job, latest.latest[group], before)
    terms: dict[int, int] = {}
    pairs = [(latest.known(), -1)]
    for job, end, first in windows:
        terms[writer.column(job, group, end)] = 1
        if first is not None:
            terms[writer.column(job, group, first.instant)] = -1
    pairs.append((writer.state(f"conflict_{group}_{writer.stated}", terms, -1, 1), 1))
    if before is not None:
        pairs += before.pairs(writer)
    return pairs


@dataclass(slots=True, eq=False)
class HeadByConflict(Head):
    """A job has not started: until then it would overlap with another one."""

    before: NotStarted | None
    other: LatestWindow

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        yield self.other[0]
        yield from (one.reason for one in (self.before, self.other[1]) if one is not None)

    def write(self, writer: ProofWriter) -> int:
        """Add up the conflict, that the other job starts in its window, and this one not before."""
        window = self.job, self.instant, self.before
        pairs = conflict_pairs(writer, self.group, window, self.other)
        return writer.combine(
            pairs + ([] if self.before is None else self.before.pairs(writer)), -1
        )


class LatestByConflict(LatestStart):
    """A job has started earlier on a machine: later it would overlap with another one."""

    __slots__ = ("group", "other", "weaker")

    def __init__(self, weaker: LatestStart, group: int, instant: int, other: LatestWindow) -> None:
        super().__init__(weaker.job, weaker.latest | {group: instant})
        self.weaker, self.group, self.other = weaker, group, other

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        yield from (self.weaker, self.other[0])
        if self.other[1] is not None:
            yield self.other[1].reason

    def write(self, writer: ProofWriter) -> int:
        """Subtract the conflict from the weaker latest start."""
        group, job = self.group, self.job
        first = NotStarted(job, group, self.latest[group], self.weaker)
        window = job, self.weaker.latest[group], first
        pairs = conflict_pairs(writer, group, window, self.other)
        return writer.combine([(self.weaker.known(), 1), *((n, -m) for n, m in pairs)], 1)


class ConflictRules:
    """What the orders of jobs on single machines say of their windows.

    Parameters
    ----------
    rules : WindowPropagation
    """

    def __init__(self, rules: WindowPropagation) -> None:
        self.rules = rules
        self.is_single = rules.sizes == 1

    def propagate(self, windows: Windows) -> bool:
        """Raise heads and lower latest starts by conflicts; return whether a window has changed."""
        changes = sum(windows.changes)
        for j, latest in enumerate(windows.latest_starts):
            if len(latest.latest) != 1:
                continue
            (group,) = latest.latest
            if self.is_single[group] and self.rules.costs[j, group] > 0:
                self._propagate_job(windows, j, group)
        return sum(windows.changes) > changes

    def _propagate_job(self, windows: Windows, j: int, group: int) -> None:
        costs = self.rules.costs[:, group]
        low, high = windows.earliest[:, group], windows.latest[:, group]
        others = (high >= 0) & (costs > 0)
        others[j] = False
        raised = others & (high[j] < low + costs) & (low < low[j] + costs[j])
        lowered = others & (low[j] + costs[j] > high) & (high > high[j] - costs)
        for i in np.flatnonzero(raised | lowered).tolist():
            latest = windows.latest_starts[j]
            if list(latest.latest) != [group] or not windows.latest[i, group] >= 0:
                return
            other = latest, self.rules.before(windows, j, group)
            first, last = int(windows.earliest[i, group]), int(windows.latest[i, group])
            ready = int(windows.earliest[j, group] + costs[j])
            due = int(windows.latest[j, group] - costs[i])
            if windows.latest[j, group] < first + costs[i] and ready > first:
                before = self.rules.before(windows, i, group)
                instant = min(ready - 1, last)
                windows.raise_head(HeadByConflict(i, group, instant, before, other))
                windows.drop_groups(i)
            elif ready > last > due >= first:
                weaker = windows.latest_starts[i]
                windows.lower_latest(LatestByConflict(weaker, group, due, other))

    def undecided_order(self, windows: Windows) -> AssumedLatest | None:
        """Return that a job precedes another one, of a pair on one machine with little slack."""
        best: tuple[int, AssumedLatest] | None = None
        for group in np.flatnonzero(self.is_single).tolist():
            jobs = [
                job
                for job, one in enumerate(windows.latest_starts)
                if list(one.latest) == [group] and one.latest[group] < NO_LATEST
            ]
            slack = self._slack(windows, jobs, group)
            if slack.size and slack.min() < INFINITE:
                i, j = (jobs[k] for k in np.unravel_index(int(slack.argmin()), slack.shape))
                instant = int(windows.earliest[i, group] + self.rules.costs[i, group]) - 1
                if best is None or slack.min() < best[0]:
                    best = int(slack.min()), AssumedLatest(j, {group: instant})
        return None if best is None else best[1]

    def _slack(self, windows: Windows, jobs: list[int], group: int) -> Ints:
        """Return the slack of pairs whose order is open, shape (jobs, jobs)."""
        costs, low = self.rules.costs[jobs, group], windows.earliest[jobs, group]
        room = windows.latest[jobs, group][None, :] - (low + costs)[:, None]  # [i, j]: i before j
        open_order = (room >= 0) & (room.T >= 0) & (costs[:, None] > 0) & (costs[None, :] > 0)
        open_order &= low[None, :] < (low + costs)[:, None]  # the case changes the window of j
        np.fill_diagonal(open_order, False)
        slack: Ints = np.where(open_order, room + room.T, INFINITE)
        return slack
