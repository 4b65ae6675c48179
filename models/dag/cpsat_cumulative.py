"""Machines that are alike, and nothing to send: how many run at once, not which.

Which machine runs which job is found afterwards: a job takes one that is free, and as no more run
at once than there are, one always is.
"""

from __future__ import annotations

from typing import Any

from dlopt.models.dag.cpsat import Level, Program
from dlopt.models.dag.heads_and_tails import Windows
from dlopt.models.dag.scaled_instance import Case
from dlopt.models.dag.schedules import Plan, pulled


class PooledProgram(Program):
    """A cumulative constraint for each group of machines that are alike.

    Parameters
    ----------
    case : Case
        Without transfers that take time, and without graphs that stay in one LAN.
    windows, latest, most_late
        See `Program`.
    """

    def __init__(
        self, case: Case, windows: Windows, latest: list[int], most_late: int | None = None
    ) -> None:
        super().__init__(case, windows, latest, most_late)
        self.chosen: list[dict[int, Any]] = []
        self.ends: list[Any] = []
        intervals: list[list[Any]] = [[] for _ in case.groups]
        for job in range(len(case.jobs)):
            self._add_job(job, intervals)
        for group, members in zip(intervals, case.groups, strict=True):
            if len(group) > len(members):
                self.model.add_cumulative(group, [1] * len(group), len(members))
        self._add_order()

    def minimise(self, level: Level, least: int) -> None:
        """Set the objective, and what the work of all jobs says of it."""
        super().minimise(level, least)
        if level == "makespan" and len(self.case.groups) > 1:
            self._add_work()

    def hint(self, plan: Plan) -> None:
        """Give every variable its value in a plan."""
        super().hint(plan)
        group_of = {p: g for g, members in enumerate(self.case.groups) for p in members}
        for job, place in enumerate(plan.places):
            for group, literal in self.chosen[job].items():
                self.model.add_hint(literal, group == group_of[place])

    def plan(self, value_of: Any) -> Plan:
        """Return the plan of an assignment, with a machine for every job."""
        case = self.case
        starts = [value_of(start) for start in self.starts]
        free = [0] * case.machines
        places = [0] * len(starts)
        for job in sorted(range(len(starts)), key=lambda job: (starts[job], job)):
            options = self.chosen[job]
            group = next((g for g, literal in options.items() if value_of(literal)), None)
            members = case.groups[self._only(job) if group is None else group]
            cost = case.cost(job, members[0])
            places[job] = members[0]
            if cost:  # of those that are free, the one that became so last: it leaves least idle
                able = (p for p in members if free[p] <= starts[job])
                places[job] = max(able, key=free.__getitem__)
                free[places[job]] = starts[job] + cost
        return pulled(case, places, starts)

    def _groups(self, job: int) -> list[int]:
        usable = set(self._usable(job))
        return [g for g, members in enumerate(self.case.groups) if members[0] in usable]

    def _only(self, job: int) -> int:
        return self._groups(job)[0]

    def _add_job(self, job: int, intervals: list[list[Any]]) -> None:
        """A job runs on a machine of one group, and takes as long as it does there."""
        model, case, start = self.model, self.case, self.starts[job]
        groups = self._groups(job)
        firsts = [case.groups[group][0] for group in groups]
        if len(groups) == 1:
            cost = case.cost(job, firsts[0])
            self.chosen.append({})
            self.ends.append(start + cost)
            if cost:
                intervals[groups[0]].append(
                    model.new_fixed_size_interval_var(start, cost, f"i{job}")
                )
            return
        literals = {group: model.new_bool_var(f"x{job}_{group}") for group in groups}
        model.add_exactly_one(literals.values())
        for (group, literal), first in zip(literals.items(), firsts, strict=True):
            cost = case.cost(job, first)
            last = self._last(job, first)
            model.add(start <= last).only_enforce_if(literal)
            model.add(start >= int(self.windows.heads[job, first])).only_enforce_if(literal)
            if cost:
                name = f"i{job}_{group}"
                interval = model.new_optional_fixed_size_interval_var(start, cost, literal, name)
                intervals[group].append(interval)
        self.chosen.append(literals)
        self.ends.append(
            start
            + sum(
                case.cost(job, first) * literal
                for first, literal in zip(firsts, literals.values(), strict=True)
            )
        )

    def _add_order(self) -> None:
        """A job starts after those it needs data of have ended, and completes its graph."""
        case = self.case
        for arc in case.arcs:
            self.model.add(self.starts[arc.target] >= self.ends[arc.source])
        for job, (graph, _) in enumerate(case.jobs):
            after = case.after[job][0]
            if after or not case.outgoing[job]:
                self.model.add(self.complete[graph] >= self.ends[job] + after)

    def _add_work(self) -> None:
        """Machines of a group do no more by the end than there is time for."""
        for group, members in enumerate(self.case.groups):
            terms = []
            for job, literals in enumerate(self.chosen):
                cost = self.case.costs[job][members[0]]
                if group in literals:
                    terms.append(cost * literals[group])
                elif not literals and self._only(job) == group:
                    terms.append(cost)
            self.model.add(sum(terms) <= len(members) * self.end)
