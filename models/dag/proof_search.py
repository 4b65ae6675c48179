"""Search for a proof that no schedule has a makespan: propagation, overloads, refuted cases.

Of every job and group of machines the earliest and the latest start are known, each with the fact
that proves it. They are propagated along the arcs; an interval whose machines are overloaded, or a
job that can start nowhere, is a contradiction. Where there is none, the heads and tails that
`dlopt.models.dag.energetic_heads` has found are proven, each by refuting the opposite case; at
last, cases are distinguished by the start of a job (depth first).

The facts that a contradiction follows from are then written as a certificate. Source: energetic
reasoning of Erschler, Lopez and Thuriot 1991; probing (shaving) of Martin and Shmoys 1996.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from dlopt.certificates import InfeasibilityProof
from dlopt.models.dag.energetic_bounds import (
    MAX_INTERVAL_ENDS,
    MAX_INTERVAL_OPERATIONS,
    MIN_INTERVAL_ENDS,
    MachineWeights,
    dual_machine_weights,
    evenly_spaced,
)
from dlopt.models.dag.heads_and_tails import INFINITE, HeadsTails, Ints
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.proof_cases import (
    AssumedLater,
    AssumedLatest,
    HeadByRefutation,
    HeadInCase,
    LatestByRefutation,
    Occupation,
    Overload,
)
from dlopt.models.dag.proof_facts import (
    Fact,
    Head,
    HeadAfterPredecessor,
    LatestBeforeSuccessor,
    LatestOfBoth,
    LatestOnFewerGroups,
    LatestStart,
    NotStarted,
    ProofWriter,
    write_fact,
)
from dlopt.models.dag.scaled_instance import Arc, ScaledInstance

MAX_SIZE = 3_000
"""Jobs and arcs up to which a proof is tried. Chosen by hand, for the time of it."""
MAX_TRANSFERS = 500_000
"""Arcs times pairs of groups up to which it is tried. Chosen by hand, for the time of it."""
MAX_ENDS_IN_CASES = 40
"""Starts, and ends, of intervals that are tested in cases. Chosen by hand, for the time of it."""
MAX_TABLE = 20_000_000
"""Intervals times jobs times groups that are tested at most at once. Chosen by hand, for memory."""
MAX_JOBS_IN_CASES = 2_000
"""Jobs of all cases together that are distinguished. Chosen by hand, for the time of them."""


def infeasibility_proof(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    makespan: int,
    stop: float = inf,
    *,
    cases: bool = True,
) -> InfeasibilityProof | None:
    """Return a proof that no schedule has a makespan, or None if none is found.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
        They guide the search, and are proven where they are used.
    makespan : int
        In scaled units.
    stop : float
        Instant of the monotonic clock at which the search ends.
    cases : bool, default True
        Whether to distinguish cases, where propagation does not suffice.

    Notes
    -----
    Complexity: O(arcs x groups^2) for each round of propagation, O(intervals x jobs x groups) for a
    test of overloads; limited numbers of both.

    Examples
    --------
    >>> from dlopt.models.dag.lower_bounds import compute_heads_tails
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=3), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> proof = infeasibility_proof(scaled, compute_heads_tails(scaled), 5)
    >>> proof.remarks[2], len(proof.constraints), len(proof.derivations)
    ('makespan: 5', 14, 19)
    >>> infeasibility_proof(scaled, compute_heads_tails(scaled), 6)
    """
    if len(scaled.jobs) + len(scaled.arcs) > MAX_SIZE:
        return None
    search = ProofSearch(scaled, heads_tails, makespan, stop)
    if len(scaled.arcs) * len(search.groups) ** 2 > MAX_TRANSFERS:
        return None
    contradiction = search.refute(cases=cases)
    return None if contradiction is None else search.written(contradiction)


def certificate_of_bound(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    levels: Sequence[ObjectiveLevel],
    bound: int,
    stop: float = inf,
    *,
    cases: bool = True,
) -> InfeasibilityProof | None:
    """Return the certificate of a bound of an objective; None if there is none.

    Parameters
    ----------
    scaled, heads_tails, stop, cases
        See `infeasibility_proof`.
    levels : sequence of str
        Of the objective: there are certificates for the makespan, and for the response of a single
        graph, which is one.
    bound : int
        In scaled units.
    """
    one_graph = len(scaled.instance.graphs) == 1
    known = ("makespan", "total-response-time") if one_graph else ("makespan",)
    if len(levels) > 1 or levels[0] not in known:
        return None
    return infeasibility_proof(scaled, heads_tails, bound - 1, stop, cases=cases)


@dataclass
class Windows:
    """What is known of the starts of jobs in a case, each with its proof.

    Parameters
    ----------
    earliest : array of int, shape (jobs, groups)
    latest : array of int, shape (jobs, groups)
        Negative where a job does not run.
    heads : dict of (int, int) to Head
        Why a job starts no earlier, where its release does not say it.
    latest_starts : list of LatestStart
        Why it starts no later.
    """

    earliest: Ints
    latest: Ints
    heads: dict[tuple[int, int], Head]
    latest_starts: list[LatestStart]

    def copy(self) -> Windows:
        """Return a copy for a case."""
        return Windows(
            self.earliest.copy(), self.latest.copy(), dict(self.heads), list(self.latest_starts)
        )

    def raise_head(self, head: Head) -> None:
        """Note that a job starts after an instant, if that is news."""
        if head.instant >= self.earliest[head.job, head.group]:
            self.earliest[head.job, head.group] = head.instant + 1
            self.heads[head.job, head.group] = head

    def lower_latest(self, latest: LatestStart) -> None:
        """Note by when a job starts, if that is news; groups where it cannot start are dropped."""
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
        self.latest[job] = -1
        for group, instant in self.latest_starts[job].latest.items():
            self.latest[job, group] = instant
        self.drop_groups(job)


class ProofSearch:
    """The search for a proof that no schedule has a makespan.

    Parameters
    ----------
    scaled, heads_tails, makespan, stop
        See `infeasibility_proof`.
    """

    def __init__(
        self, scaled: ScaledInstance, heads_tails: HeadsTails, makespan: int, stop: float = inf
    ) -> None:
        self.scaled, self.makespan, self.stop = scaled, makespan, stop
        machines = range(scaled.machine_count)
        alike = scaled.communication_free
        self.groups = scaled.identical_machines if alike else [[machine] for machine in machines]
        self.firsts = [group[0] for group in self.groups]
        self.sizes = np.array([len(group) for group in self.groups])
        self.costs: Ints = heads_tails.costs[:, self.firsts]
        self.releases: Ints = np.array(scaled.release_times, dtype=np.int64)[:, self.firsts]
        delivery = np.array(scaled.delivery_times, dtype=np.int64)[:, self.firsts]
        last = makespan - delivery - self.costs
        self.possible = (self.costs < INFINITE) & (self.releases <= last)
        self.last: Ints = np.where(self.possible, last, -1)
        self.known_heads: Ints = heads_tails.heads[:, self.firsts]
        self.known_latest: Ints = makespan - heads_tails.tails[:, self.firsts] - self.costs
        weights: MachineWeights = dual_machine_weights(heads_tails.costs)
        self.weightings = [weights.weights[self.firsts]]
        if len(self.groups) > 1:
            self.weightings += list(np.eye(len(self.groups), dtype=np.int64))
        link_class = np.array(scaled.link_class)[np.ix_(self.firsts, self.firsts)]
        self.transfers: list[Ints] = [
            np.array(arc.transfer_times, dtype=np.int64)[link_class] for arc in scaled.arcs
        ]
        self.cases = 0

    def refute(self, *, cases: bool = True) -> Fact | None:
        """Return a contradiction that follows from the makespan, or None if none is found."""
        windows = self.initial_windows()
        found = self.consequence(windows)
        if found is None:
            found = self._prove_known_heads(windows) or self._prove_known_latest(windows)
        if found is None:
            found = self.consequence(windows)
        if found is None and cases:
            found = self.distinguish_cases(windows)
        return found

    def initial_windows(self) -> Windows:
        """Return what releases, deliveries and the makespan say."""
        latest_starts = [
            LatestStart(job, {g: int(t) for g, t in enumerate(row) if t >= 0})
            for job, row in enumerate(self.last)
        ]
        return Windows(self.releases.copy(), self.last.copy(), {}, latest_starts)

    def consequence(self, windows: Windows, ends: int | None = None) -> Fact | None:
        """Propagate what is known; return a contradiction if there is one."""
        before = None
        while before is None or not (
            (before[0] == windows.earliest).all() and (before[1] == windows.latest).all()
        ):
            before = windows.earliest.copy(), windows.latest.copy()
            pairs = list(zip(self.scaled.arcs, self.transfers, strict=True))
            for arc, transfers in pairs:
                self._propagate_forward(windows, arc, transfers)
            for arc, transfers in reversed(pairs):
                self._propagate_backward(windows, arc, transfers)
            for latest in windows.latest_starts:
                if not latest.latest:
                    return latest
        return self._overload(windows, ends)

    def _propagate_forward(self, windows: Windows, arc: Arc, transfers: Ints) -> None:
        """Raise the heads of the target of an arc."""
        i, j = arc.source, arc.target
        runs = np.flatnonzero(windows.latest[i] >= 0)
        if not len(runs):
            return
        ready = (windows.earliest[i, runs] + self.costs[i, runs])[:, None] + transfers[runs]
        arrival = ready.min(axis=0)
        for h in np.flatnonzero(
            (windows.latest[j] >= 0) & (arrival > windows.earliest[j])
        ).tolist():
            instant = int(min(arrival[h] - 1, self.last[j, h]))
            if instant >= windows.earliest[j, h]:
                before = self._not_started(windows, i, instant - transfers[:, h])
                windows.raise_head(HeadAfterPredecessor(j, h, instant, i, before))
        windows.drop_groups(j)

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

    def _propagate_backward(self, windows: Windows, arc: Arc, transfers: Ints) -> None:
        """Lower the latest starts of the source of an arc."""
        i, j = arc.source, arc.target
        runs = np.flatnonzero(windows.latest[j] >= 0)
        if not len(runs):
            return
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

    def _overload(self, windows: Windows, ends: int | None) -> Overload | None:
        """Return an interval whose machines are overloaded, if there is one."""
        runs = windows.latest >= 0
        least, last = windows.earliest, windows.latest
        starts = np.unique(np.concatenate([least[runs], last[runs]]))
        stops = np.unique(np.concatenate([(last + self.costs)[runs], (least + self.costs)[runs]]))
        most = int((MAX_INTERVAL_OPERATIONS / (self.costs.size * len(self.weightings))) ** 0.5)
        most = min(max(most, MIN_INTERVAL_ENDS), ends or MAX_INTERVAL_ENDS)
        starts, stops = evenly_spaced(starts, most), evenly_spaced(stops, most)
        for start in starts.tolist():
            for part in self._in_parts(stops[stops > start]):
                inside = self._inside(windows, start, part)
                for weights in self.weightings:
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
                        g, int(weights[g]), int(inside[job, g]), t, self._before(windows, job, g)
                    )
                    for g, t in latest.latest.items()
                ]
                jobs.append((latest, energy, occupations))
        return Overload(start, end, sizes, jobs)

    def _before(self, windows: Windows, job: int, group: int) -> NotStarted | None:
        head = windows.heads.get((job, group))
        return None if head is None else NotStarted(job, group, head.instant, head)

    def _prove_known_heads(self, windows: Windows) -> Fact | None:
        """Prove the heads that are known, by refuting that a job starts earlier."""
        for job, row in enumerate(self.known_heads):
            for g in np.flatnonzero(
                (windows.latest[job] >= 0) & (windows.earliest[job] < row)
            ).tolist():
                instant = int(min(row[g] - 1, windows.latest[job, g]))
                found = self._refuted_latest(windows, AssumedLatest(job, {g: instant}))
                if found is not None:
                    case, contradiction = found
                    windows.raise_head(HeadByRefutation(case, g, contradiction))
            windows.drop_groups(job)
            if not windows.latest_starts[job].latest:
                return windows.latest_starts[job]
        return None

    def _refuted_latest(
        self, windows: Windows, case: AssumedLatest
    ) -> tuple[AssumedLatest, Fact] | None:
        """Return a case, and why it is contradictory; None if that is not found."""
        if time.monotonic() > self.stop:
            return None
        inner = self._case_of_latest(windows, case)
        contradiction = self.consequence(inner, MAX_ENDS_IN_CASES)
        return None if contradiction is None else (case, contradiction)

    def _case_of_latest(self, windows: Windows, case: AssumedLatest) -> Windows:
        """Return what is known if a job starts by some instants."""
        inner = windows.copy()
        inner.latest_starts[case.job] = case
        inner.latest[case.job] = -1
        for group, instant in case.latest.items():
            inner.latest[case.job, group] = instant
        return inner

    def _prove_known_latest(self, windows: Windows) -> Fact | None:
        """Prove the latest starts that known tails say, by refuting that a job starts later."""
        for job in reversed(range(len(self.costs))):
            known, target = windows.latest[job], self.known_latest[job]
            if not ((known >= 0) & (target < known)).any():
                continue
            starts = {g: int(t) for g, t in enumerate(np.minimum(target, known)) if t >= 0}
            case = AssumedLater(job, starts)
            inner = self._case_of_later(windows, case)
            contradiction = self.consequence(inner, MAX_ENDS_IN_CASES)
            if contradiction is not None:
                windows.lower_latest(LatestByRefutation(case, contradiction))
            if not windows.latest_starts[job].latest:
                return windows.latest_starts[job]
        return None

    def _case_of_later(self, windows: Windows, case: AssumedLater) -> Windows:
        """Return what is known if a job starts later."""
        inner = windows.copy()
        for group in case.latest:
            inner.raise_head(HeadInCase(case, group))
        inner.drop_groups(case.job)
        return inner

    def distinguish_cases(self, windows: Windows) -> Fact | None:
        """Return a contradiction; the jobs' starts are distinguished where none is seen.

        A case that is refuted raises a head, from which the others follow.
        """
        while True:
            found = self.consequence(windows, MAX_ENDS_IN_CASES)
            if found is not None:
                return found
            choice = self._choose_case(windows)
            if choice is None or self._is_exhausted():
                return None
            self.cases += 1
            inner = self._case_of_latest(windows, choice)
            contradiction = self.distinguish_cases(inner)
            if contradiction is None:
                return None
            (group,) = choice.latest
            windows.raise_head(HeadByRefutation(choice, group, contradiction))
            windows.drop_groups(choice.job)
            if not windows.latest_starts[choice.job].latest:
                return windows.latest_starts[choice.job]

    def _is_exhausted(self) -> bool:
        jobs = self.cases * len(self.costs)
        return jobs >= MAX_JOBS_IN_CASES or time.monotonic() > self.stop

    def _choose_case(self, windows: Windows) -> AssumedLatest | None:
        """Return a case of the job with the least slack, first of those with several groups.

        It runs on the group where it can end first, or starts in the first half of its window.
        """
        runs = windows.latest >= 0
        slack = np.where(runs, windows.latest - windows.earliest, 0).max(axis=1)
        several = runs.sum(axis=1) > 1
        candidates = np.flatnonzero(several if several.any() else slack > 0)
        if not len(candidates):
            return None
        job = int(candidates[slack[candidates].argmin()])
        groups = np.flatnonzero(runs[job])
        group = int(groups[(windows.earliest + self.costs)[job, groups].argmin()])
        low, high = int(windows.earliest[job, group]), int(windows.latest[job, group])
        return AssumedLatest(job, {group: high if len(groups) > 1 else (low + high) // 2})

    def written(self, contradiction: Fact) -> InfeasibilityProof:
        """Return the certificate of a contradiction."""
        scaled = self.scaled
        first_task, offsets = 0, []
        for graph in scaled.instance.graphs:
            offsets.append(first_task)
            first_task += len(graph.tasks)
        writer = ProofWriter([offsets[graph] + task for graph, task in scaled.jobs])
        write_fact(contradiction, writer)
        groups = "; ".join(" ".join(map(str, group)) for group in self.groups)
        return writer.proof(
            (
                f"unit: {1 / scaled.scale}",
                f"origin: {scaled.origin}",
                f"makespan: {self.makespan}",
                f"machine groups: {groups}",
                "columns: z_j_g_t says that task j has started by instant t on machine group g",
                "claim: no schedule is complete by the makespan, in units since the origin",
            )
        )
