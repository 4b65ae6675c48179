"""Propagation of the windows in which jobs start, with the proofs of what is found.

Windows are propagated along the arcs, in both directions. They are contradictory if a job can start
nowhere, or if the machines are overloaded in an interval: with weights of machines, the jobs need
more energy in it than there is. Source: energetic reasoning of Erschler, Lopez and Thuriot 1991;
the weights are those of `dlopt.models.dag.energetic_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlopt.models.dag.energetic_bounds import (
    MAX_INTERVAL_ENDS,
    MIN_INTERVAL_ENDS,
    evenly_spaced,
)
from dlopt.models.dag.heads_and_tails import INFINITE, Ints
from dlopt.models.dag.proof_cases import Occupation, Overload
from dlopt.models.dag.proof_facts import (
    Fact,
    Head,
    HeadAfterPredecessor,
    LatestBeforeSuccessor,
    LatestOfBoth,
    LatestOnFewerGroups,
    LatestStart,
    NotStarted,
)
from dlopt.models.dag.proof_times import NO_LATEST, ProofTimes, TimedArc

MAX_OPERATIONS = 20_000_000
"""Intervals times jobs times groups that are tested for overloads. Chosen by hand, for the time."""
MAX_OPERATIONS_IN_CASES = 2_000_000
"""The same in a case. Chosen by hand, for the time of it."""
MAX_TABLE = 20_000_000
"""Intervals times jobs times groups that are tested at most at once. Chosen by hand, for memory."""


@dataclass
class Windows:
    """What is known of the starts of jobs in a case, each with its proof.

    Parameters
    ----------
    earliest : array of int, shape (jobs, groups)
    latest : array of int, shape (jobs, groups)
        Negative where a job does not run; `NO_LATEST` where none is known.
    heads : dict of (int, int) to Head
        Why a job starts no earlier, where its release does not say it.
    latest_starts : list of LatestStart
        Why it starts no later.
    changes : list of int
        How often the window of each job has changed, in this case.
    is_case : bool
        Whether something is assumed.
    """

    earliest: Ints
    latest: Ints
    heads: dict[tuple[int, int], Head]
    latest_starts: list[LatestStart]
    changes: list[int]
    is_case: bool = False

    def case(self) -> Windows:
        """Return a copy for a case."""
        return Windows(
            self.earliest.copy(),
            self.latest.copy(),
            dict(self.heads),
            list(self.latest_starts),
            [0] * len(self.changes),
            is_case=True,
        )

    def assume(self, case: LatestStart) -> None:
        """Note the latest starts of a case."""
        self.latest_starts[case.job] = case
        self._read_latest(case.job)

    def raise_head(self, head: Head) -> None:
        """Note that a job starts after an instant, if that is later than known."""
        if head.instant >= self.earliest[head.job, head.group]:
            self.earliest[head.job, head.group] = head.instant + 1
            self.heads[head.job, head.group] = head
            self.changes[head.job] += 1

    def lower_latest(self, latest: LatestStart) -> None:
        """Note by when a job starts, if that is earlier than known; drop groups where it cannot."""
        job, known = latest.job, self.latest_starts[latest.job]
        if all(t <= latest.latest.get(g, -1) for g, t in known.latest.items()):
            return
        is_better = all(t <= known.latest.get(g, -1) for g, t in latest.latest.items())
        self.latest_starts[job] = latest if is_better else LatestOfBoth(known, latest)
        self._read_latest(job)

    def drop_groups(self, job: int) -> None:
        """Drop the groups where a job would have to start before it can."""
        row = self.latest[job]
        late = np.flatnonzero((row >= 0) & (self.earliest[job] > row)).tolist()
        if late:
            known = self.latest_starts[job]
            excluded = [
                NotStarted(
                    job, g, int(row[g]), self.heads.get((job, g)) or Head(job, g, int(row[g]))
                )
                for g in late
            ]
            self.latest_starts[job] = LatestOnFewerGroups(known, excluded)
            self._read_latest(job)

    def _read_latest(self, job: int) -> None:
        self.changes[job] += 1
        self.latest[job] = -1
        for group, instant in self.latest_starts[job].latest.items():
            self.latest[job, group] = instant
        self.drop_groups(job)


class WindowPropagation:
    """What a program says of the starts of jobs, and what follows from it.

    Parameters
    ----------
    times : ProofTimes
    """

    def __init__(self, times: ProofTimes) -> None:
        self.times, self.groups, self.sizes = times, times.groups, times.sizes
        self.costs, self.releases, self.last = times.costs, times.releases, times.last
        self.possible = times.last >= 0

    def initial_windows(self) -> Windows:
        """Return what releases and the latest starts of the program say."""
        latest_starts = [
            LatestStart(job, {g: int(t) for g, t in enumerate(row) if t >= 0})
            for job, row in enumerate(self.last)
        ]
        ones = [1] * len(latest_starts)
        return Windows(self.releases.copy(), self.last.copy(), {}, latest_starts, ones)

    def propagate_arcs(self, windows: Windows) -> None:
        """Propagate windows that have changed along the arcs, until no window changes."""
        forward = [changes > 0 for changes in windows.changes]
        backward = forward.copy()
        arcs = self.times.arcs
        while any(forward) or any(backward):
            for arc in arcs:
                if forward[arc.source] and self._propagate_forward(windows, arc):
                    forward[arc.target] = backward[arc.target] = True
            forward = [False] * len(forward)
            for arc in reversed(arcs):
                if backward[arc.target] and self._propagate_backward(windows, arc):
                    forward[arc.source] = backward[arc.source] = True
            backward = [False] * len(backward)

    def propagate_changes(self, windows: Windows) -> None:
        """Propagate along the arcs what has changed since the last time; not in a case."""
        self.propagate_arcs(windows)
        windows.changes = [0] * len(windows.changes)

    def contradiction(self, windows: Windows) -> Fact | None:
        """Return a contradiction, if there is one: a job without start, or an overload.

        In a case, only intervals are tested from a start to an end of windows that have changed in
        it: a contradiction that involves no other windows has been found before.
        """
        for latest in windows.latest_starts:
            if not latest.latest:
                return latest
        return self._overload(windows)

    def _propagate_forward(self, windows: Windows, arc: TimedArc) -> bool:
        """Raise the heads of the target of an arc; return whether its windows have changed."""
        i, j, transfers = arc
        if len(self.groups) == 1:  # the usual case, without arrays
            ready = windows.earliest[i, 0] + self.costs[i, 0] + transfers[0, 0]
            if ready <= windows.earliest[j, 0]:
                return False
        known = windows.changes[j]
        runs = np.flatnonzero(windows.latest[i] >= 0)
        if not len(runs):
            return False
        ends = windows.earliest[i, runs] + self.costs[i, runs]
        arrival = (ends[:, None] + transfers[runs]).min(axis=0)
        for h in np.flatnonzero(
            (windows.latest[j] >= 0) & (arrival > windows.earliest[j])
        ).tolist():
            instant = int(min(arrival[h] - 1, self.last[j, h]))
            if instant >= windows.earliest[j, h]:
                before = self._not_started(windows, i, instant - transfers[:, h])
                windows.raise_head(HeadAfterPredecessor(j, h, instant, i, before))
        windows.drop_groups(j)
        return windows.changes[j] > known

    def _not_started(self, windows: Windows, job: int, ends: Ints) -> list[NotStarted]:
        """Return that a job has not ended by some instants, one for each group."""
        found = []
        for g in np.flatnonzero(self.possible[job]).tolist():
            instant = int(min(ends[g] - self.costs[job, g], self.last[job, g]))
            if instant >= self.releases[job, g]:
                head = windows.heads.get((job, g))
                reason = head if head is not None and head.instant >= instant else None
                found.append(NotStarted(job, g, instant, reason or windows.latest_starts[job]))
        return found

    def _propagate_backward(self, windows: Windows, arc: TimedArc) -> bool:
        """Lower the latest starts of its source; return whether its windows have changed."""
        i, j, transfers = arc
        if len(self.groups) == 1:
            due = windows.latest[j, 0] - transfers[0, 0] - self.costs[i, 0]
            if due >= windows.latest[i, 0]:
                return False
        changes = windows.changes[i]
        runs = np.flatnonzero(windows.latest[j] >= 0)
        if not len(runs) or windows.latest[j].max() == NO_LATEST:
            return False
        latest = (windows.latest[j, runs] - transfers[:, runs]).max(axis=1) - self.costs[i]
        latest = np.minimum(latest, self.last[i])
        known = windows.latest[i]
        if ((known >= 0) & (latest < known)).any():
            starts = {
                g: int(latest[g])
                for g in np.flatnonzero(self.possible[i]).tolist()
                if latest[g] >= self.releases[i, g]
            }
            windows.lower_latest(LatestBeforeSuccessor(i, starts, windows.latest_starts[j]))
        return windows.changes[i] > changes

    def _overload(self, windows: Windows) -> Overload | None:
        """Return an interval whose machines are overloaded, if there is one."""
        runs = (windows.latest >= 0) & (windows.latest < NO_LATEST)
        changed = runs & (np.array(windows.changes) > 0)[:, None]
        ends = windows.latest + self.costs
        if windows.is_case:
            starts, stops = np.unique(windows.earliest[changed]), np.unique(ends[changed])
        else:
            early = windows.earliest + self.costs
            starts = np.unique(np.concatenate([windows.earliest[runs], windows.latest[runs]]))
            stops = np.unique(np.concatenate([ends[runs], early[runs]]))
        operations = MAX_OPERATIONS_IN_CASES if windows.is_case else MAX_OPERATIONS
        most = int((operations / (self.costs.size * len(self.times.weightings))) ** 0.5)
        most = min(max(most, MIN_INTERVAL_ENDS), MAX_INTERVAL_ENDS)
        starts, stops = evenly_spaced(starts, most), evenly_spaced(stops, most)
        runs = windows.latest >= 0
        for start in starts.tolist():
            for part in self._in_parts(stops[stops > start]):
                inside = self._inside(windows, start, part)
                for weights in self.times.weightings:
                    energy = np.where(runs, inside * weights, INFINITE).min(axis=2).sum(axis=1)
                    capacity = (part - start) * int(weights @ self.sizes)
                    if (energy > capacity).any():
                        end = int(part[int((energy - capacity).argmax())])
                        return self._overload_fact(windows, start, end, weights)
        return None

    def _in_parts(self, stops: Ints) -> Iterator[Ints]:
        size = max(1, MAX_TABLE // self.costs.size)
        for first in range(0, len(stops), size):
            yield stops[first : first + size]

    def _inside(self, windows: Windows, start: int, ends: Ints) -> Ints:
        """Return what jobs occupy of intervals at least, shape (ends, jobs, groups)."""
        stop = ends[:, None, None]
        parts = []
        for starts in (windows.earliest, windows.latest):
            occupied = np.minimum(starts + self.costs, stop) - np.maximum(starts, start)
            parts.append(np.maximum(occupied, 0))
        least: Ints = np.minimum(*parts)
        return least

    def _overload_fact(self, windows: Windows, start: int, end: int, weights: Ints) -> Overload:
        inside = self._inside(windows, start, np.array([end]))[0]
        sizes = {g: (int(self.sizes[g]), int(weights[g])) for g in np.flatnonzero(weights).tolist()}
        jobs = []
        for job, latest in enumerate(windows.latest_starts):
            energy = min(int(inside[job, g] * weights[g]) for g in latest.latest)
            if energy:
                occupations = [
                    Occupation(
                        g, int(weights[g]), int(inside[job, g]), t, self.before(windows, job, g)
                    )
                    for g, t in latest.latest.items()
                ]
                jobs.append((latest, energy, occupations))
        return Overload(start, end, sizes, jobs)

    def before(self, windows: Windows, job: int, group: int) -> NotStarted | None:
        """Return that a job does not start before its window; None if that is its release."""
        head = windows.heads.get((job, group))
        return None if head is None else NotStarted(job, group, head.instant, head)
