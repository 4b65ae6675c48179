"""Search for a proof that no schedule is better than a value: propagation, overloads, cases.

Of every job and group of machines the earliest and the latest start are known, each with the fact
that proves it. They are propagated along the arcs; an interval whose machines are overloaded, or a
job that can start nowhere, is a contradiction. Where there is none, the heads and tails that
`dlopt.models.dag.energetic_heads` has found are proven, each by refuting the opposite case; at
last, cases are distinguished by the start of a job (depth first). Of tardy graphs and responses,
windows of completions are known in the same way (`dlopt.models.dag.proof_levels`).

The facts that a contradiction follows from are then written as a certificate. Source: energetic
reasoning of Erschler, Lopez and Thuriot 1991; probing (shaving) of Martin and Shmoys 1996.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf

import numpy as np

from dlopt.certificates import InfeasibilityProof, can_be_stated
from dlopt.models.dag.heads_and_tails import HeadsTails, Ints
from dlopt.models.dag.lower_bounds import compute_heads_tails, compute_lower_bounds
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.proof_cases import (
    AssumedLater,
    AssumedLatest,
    HeadByRefutation,
    HeadInCase,
    LatestByRefutation,
)
from dlopt.models.dag.proof_facts import Fact, ProofWriter, write_fact
from dlopt.models.dag.proof_levels import LevelRules
from dlopt.models.dag.proof_machine_order import ConflictRules
from dlopt.models.dag.proof_propagation import WindowPropagation, Windows
from dlopt.models.dag.proof_symmetry import SymmetryRules
from dlopt.models.dag.proof_times import (
    NO_LATEST,
    ExcludedLevels,
    completion_times,
    exchangeable_groups,
    machine_groups,
    makespan_times,
    remarks_of,
)
from dlopt.models.dag.scaled_instance import MAX_HORIZON, ScaledInstance, sequential_horizon

MAX_SIZE = 10_000
"""Jobs and arcs up to which a proof is tried. Chosen by hand, for the time of it."""
MAX_TRANSFERS = 500_000
"""Arcs times pairs of groups up to which it is tried. Chosen by hand, for the time of it."""
MAX_JOBS_IN_CASES = 8_000
"""Jobs of all cases together that are distinguished. Chosen by hand, for the time of them."""


def infeasibility_proof(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    excluded: int | ExcludedLevels,
    stop: float = inf,
    *,
    cases: bool = True,
) -> InfeasibilityProof | None:
    """Return a proof that no schedule has a makespan, or levels, or None if none is found.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
        They guide the search, and are proven where they are used.
    excluded : int or ExcludedLevels
        A makespan, in scaled units, or levels.
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
    ('makespan: 5', 9, 9)
    >>> infeasibility_proof(scaled, compute_heads_tails(scaled), 6)
    """
    if len(scaled.jobs) + len(scaled.arcs) > MAX_SIZE or time.monotonic() > stop:
        return None
    if not can_be_stated(1 / scaled.scale, scaled.origin):
        return None
    for single_machines in (False, True) if cases else (False,):
        groups = machine_groups(scaled, single_machines=single_machines)
        if len(scaled.arcs) * len(groups) ** 2 > MAX_TRANSFERS:
            return None
        search = ProofSearch(scaled, heads_tails, excluded, groups, stop)
        contradiction = search.refute(cases=cases)
        if contradiction is not None:
            return search.written(contradiction)
        if len(groups) == scaled.machine_count:
            return None
    return None


def certificate_of_bound(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    levels: Sequence[ObjectiveLevel],
    bounds: Sequence[int],
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
        Of the objective. The response of a single graph is proven as a makespan. Other levels are
        proven of the instance with all machines of all jobs, as its certificate states no horizon.
    bounds : sequence of int
        Of each level, in scaled units.
    """
    is_response = levels[0] == "total-response-time" and len(scaled.instance.graphs) == 1
    excluded: int | ExcludedLevels = bounds[0] - 1
    if levels[0] != "makespan" and not is_response:
        known = dict(zip(levels, bounds, strict=True))
        tardy, total = known.get("tardy-graphs"), known.get("total-response-time")
        if total is None:
            excluded = ExcludedLevels(bounds[0] - 1, None)
        else:
            excluded = ExcludedLevels(tardy, total - 1)
        if scaled.restriction is not None:
            scaled = scaled.restriction.complete
            if sequential_horizon(scaled) > MAX_HORIZON:
                return None
            heads_tails = compute_heads_tails(scaled)
    return infeasibility_proof(scaled, heads_tails, excluded, stop, cases=cases)


class ProofSearch:
    """The search for a proof that no schedule has a makespan, or levels.

    Parameters
    ----------
    scaled, heads_tails, excluded, stop
        See `infeasibility_proof`.
    groups : list of list of int
        See `machine_groups`; cases can be distinguished by the groups on which jobs run.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        excluded: int | ExcludedLevels,
        groups: list[list[int]],
        stop: float = inf,
    ) -> None:
        self.scaled, self.heads_tails = scaled, heads_tails
        self.excluded, self.stop = excluded, stop
        self.levels: LevelRules | None = None
        firsts = [group[0] for group in groups]
        self.known_heads: Ints = heads_tails.heads[:, firsts]
        self.known_tails: Ints = heads_tails.tails[:, firsts]
        if isinstance(excluded, int):
            times = makespan_times(scaled, heads_tails, excluded, groups)
        else:
            times = completion_times(scaled, heads_tails, groups)
            self.levels = LevelRules(scaled, excluded, len(groups))
            completions = compute_lower_bounds(scaled, heads_tails).graphs
            self.known_heads = np.pad(self.known_heads, ((0, len(completions) + 1), (0, 1)))
            self.known_heads[len(scaled.jobs) : -1, -1] = completions
        self.rules = WindowPropagation(times)
        self.conflicts = ConflictRules(self.rules)
        exchangeable = [] if self.levels else exchangeable_groups(scaled, groups)
        order = self._jobs_by_slack() if exchangeable else []
        self.symmetry = SymmetryRules(self.rules, exchangeable, order)
        self.cases = 0

    def _jobs_by_slack(self) -> list[int]:
        """Return the jobs, those with the longest paths through them first."""
        paths = self.known_heads + self.rules.costs + self.known_tails
        return [int(job) for job in np.argsort(-paths.min(axis=1), kind="stable")]

    def refute(self, *, cases: bool = True) -> Fact | None:
        """Return a contradiction that follows from what is excluded, or None if none is found."""
        at_once = None if self.levels is None else self.levels.contradiction()
        if at_once is not None:
            return at_once
        windows = self.rules.initial_windows()
        found = self.consequence(windows)
        if found is None:
            self.rules.propagate_changes(windows)
            self.prove_known_heads(windows)
            self.prove_known_latest(windows)
            found = self.consequence(windows)
        if found is None and cases:
            found = self.distinguish_cases(windows)
        return found

    def consequence(self, windows: Windows) -> Fact | None:
        """Propagate what is known; return a contradiction if there is one."""
        self.rules.propagate_arcs(windows)
        while (
            self._propagate_levels(windows)
            or self.symmetry.propagate(windows)
            or self.conflicts.propagate(windows)
        ):
            self.rules.propagate_arcs(windows)
        return self.rules.contradiction(windows)

    def _propagate_levels(self, windows: Windows) -> bool:
        return self.levels is not None and self.levels.propagate(windows)

    def prove_known_heads(self, windows: Windows) -> None:
        """Prove the heads that are known, by refuting that a job starts earlier."""
        for job, row in enumerate(self.known_heads):
            for g in np.flatnonzero(
                (windows.latest[job] >= 0) & (windows.earliest[job] < row)
            ).tolist():
                instant = int(min(row[g] - 1, windows.latest[job, g]))
                case = AssumedLatest(job, {g: instant})
                contradiction = self._contradiction_of_latest(windows, case)
                if contradiction is not None:
                    windows.raise_head(HeadByRefutation(case, g, contradiction))
                    windows.drop_groups(job)
            self.rules.propagate_changes(windows)

    def _contradiction_of_latest(self, windows: Windows, case: AssumedLatest) -> Fact | None:
        """Return why a case is contradictory; None if that is not found."""
        if time.monotonic() > self.stop:
            return None
        return self.consequence(self._case_of_latest(windows, case))

    def _case_of_latest(self, windows: Windows, case: AssumedLatest) -> Windows:
        """Return what is known if a job starts by some instants."""
        inner = windows.case()
        inner.assume(case)
        return inner

    def prove_known_latest(self, windows: Windows) -> None:
        """Prove the latest starts that known tails say, by refuting that a job starts later."""
        for job in reversed(range(len(self.known_tails))):
            known, target = windows.latest[job], self._known_latest(windows, job)
            if not ((known >= 0) & (target < known)).any() or time.monotonic() > self.stop:
                continue
            starts = {g: int(t) for g, t in enumerate(np.minimum(target, known)) if t >= 0}
            case = AssumedLater(job, starts)
            inner = self._case_of_later(windows, case)
            contradiction = self.consequence(inner)
            if contradiction is not None:
                windows.lower_latest(LatestByRefutation(case, contradiction))
            self.rules.propagate_changes(windows)

    def _known_latest(self, windows: Windows, job: int) -> Ints:
        """Return the latest starts of a job that its known tail says, on the groups of machines."""
        known: Ints = windows.latest[job].copy()
        completion = self.excluded
        if self.levels is not None:
            graph, _ = self.scaled.jobs[job]
            completion = int(windows.latest[self.levels.first + graph, -1])
        if isinstance(completion, int) and completion < NO_LATEST:
            count = self.known_tails.shape[1]
            known[:count] = completion - self.known_tails[job] - self.rules.costs[job, :count]
        return known

    def _case_of_later(self, windows: Windows, case: AssumedLater) -> Windows:
        """Return what is known if a job starts later."""
        inner = windows.case()
        for group in case.latest:
            inner.raise_head(HeadInCase(case, group))
        inner.drop_groups(case.job)
        return inner

    def distinguish_cases(self, windows: Windows) -> Fact | None:
        """Return a contradiction; the jobs' starts are distinguished where none is seen.

        A case that is refuted raises a head, from which the others follow.
        """
        while True:
            found = self.consequence(windows)
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
        has_groups = max(map(len, self.rules.groups)) > 1
        most = MAX_JOBS_IN_CASES // 4 if has_groups else MAX_JOBS_IN_CASES
        return self.cases * len(self.rules.costs) >= most or time.monotonic() > self.stop

    def _choose_case(self, windows: Windows) -> AssumedLatest | None:
        """Return a case: a job runs on a machine, precedes another one, or starts early.

        Of jobs that may run on several groups, the one with the least slack runs where it can end
        first. Then orders on single machines are decided; then a window is halved.
        """
        by_level = None if self.levels is None else self.levels.choose_case(windows)
        if by_level is not None:
            return by_level
        runs = (windows.latest >= 0) & (windows.latest < NO_LATEST)
        slack = np.where(runs, windows.latest - windows.earliest, 0).max(axis=1)
        several = runs.sum(axis=1) > 1
        order = None if several.any() else self.conflicts.undecided_order(windows)
        if order is not None:
            return order
        candidates = np.flatnonzero(several if several.any() else slack > 0)
        if not len(candidates):
            return None
        job = int(candidates[slack[candidates].argmin()])
        groups = np.flatnonzero(runs[job])
        group = int(groups[(windows.earliest + self.rules.costs)[job, groups].argmin()])
        low, high = int(windows.earliest[job, group]), int(windows.latest[job, group])
        return AssumedLatest(job, {group: high if len(groups) > 1 else (low + high) // 2})

    def written(self, contradiction: Fact) -> InfeasibilityProof:
        """Return the certificate of a contradiction."""
        writer = ProofWriter(self.rules.times.numbers)
        write_fact(contradiction, writer)
        writer.conclude(contradiction.known())
        order = [self.rules.times.numbers[job] for job in self.symmetry.order]
        return writer.proof(remarks_of(self.scaled, self.rules.groups, self.excluded, order))
