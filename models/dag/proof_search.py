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
from collections.abc import Sequence
from itertools import accumulate
from math import inf

import numpy as np

from dlopt.certificates import InfeasibilityProof, can_be_stated
from dlopt.models.dag.heads_and_tails import HeadsTails, Ints
from dlopt.models.dag.objective import ObjectiveLevel
from dlopt.models.dag.proof_cases import (
    AssumedLater,
    AssumedLatest,
    HeadByRefutation,
    HeadInCase,
    LatestByRefutation,
)
from dlopt.models.dag.proof_facts import Fact, ProofWriter, write_fact
from dlopt.models.dag.proof_machine_order import ConflictRules
from dlopt.models.dag.proof_propagation import WindowPropagation, Windows, machine_groups
from dlopt.models.dag.scaled_instance import ScaledInstance

MAX_SIZE = 3_000
"""Jobs and arcs up to which a proof is tried. Chosen by hand, for the time of it."""
MAX_TRANSFERS = 500_000
"""Arcs times pairs of groups up to which it is tried. Chosen by hand, for the time of it."""
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
    ('makespan: 5', 13, 19)
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
        search = ProofSearch(scaled, heads_tails, makespan, groups, stop)
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


class ProofSearch:
    """The search for a proof that no schedule has a makespan.

    Parameters
    ----------
    scaled, heads_tails, makespan, stop
        See `infeasibility_proof`.
    groups : list of list of int
        See `machine_groups`; cases can be distinguished by the groups on which jobs run.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        heads_tails: HeadsTails,
        makespan: int,
        groups: list[list[int]],
        stop: float = inf,
    ) -> None:
        self.scaled, self.makespan, self.stop = scaled, makespan, stop
        self.rules = rules = WindowPropagation(scaled, heads_tails, makespan, groups)
        self.conflicts = ConflictRules(rules)
        self.known_heads: Ints = heads_tails.heads[:, rules.firsts]
        self.known_latest: Ints = makespan - heads_tails.tails[:, rules.firsts] - rules.costs
        self.cases = 0

    def refute(self, *, cases: bool = True) -> Fact | None:
        """Return a contradiction that follows from the makespan, or None if none is found."""
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
        while self.conflicts.propagate(windows):
            self.rules.propagate_arcs(windows)
        return self.rules.contradiction(windows)

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
        for job in reversed(range(len(self.rules.costs))):
            known, target = windows.latest[job], self.known_latest[job]
            if not ((known >= 0) & (target < known)).any() or time.monotonic() > self.stop:
                continue
            starts = {g: int(t) for g, t in enumerate(np.minimum(target, known)) if t >= 0}
            case = AssumedLater(job, starts)
            inner = self._case_of_later(windows, case)
            contradiction = self.consequence(inner)
            if contradiction is not None:
                windows.lower_latest(LatestByRefutation(case, contradiction))
            self.rules.propagate_changes(windows)

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
        has_groups = len(self.rules.groups) < self.scaled.machine_count
        most = MAX_JOBS_IN_CASES // 4 if has_groups else MAX_JOBS_IN_CASES
        return self.cases * len(self.rules.costs) >= most or time.monotonic() > self.stop

    def _choose_case(self, windows: Windows) -> AssumedLatest | None:
        """Return a case: a job runs on a machine, precedes another one, or starts early.

        Of jobs that may run on several groups, the one with the least slack runs where it can end
        first. Then orders on single machines are decided; then a window is halved.
        """
        runs = windows.latest >= 0
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
        scaled = self.scaled
        sizes = (len(graph.tasks) for graph in scaled.instance.graphs)
        offsets = list(accumulate(sizes, initial=0))
        writer = ProofWriter([offsets[graph] + task for graph, task in scaled.jobs])
        write_fact(contradiction, writer)
        writer.conclude(contradiction.known())
        groups = "; ".join(" ".join(map(str, group)) for group in self.rules.groups)
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
