"""Machines that differ, or data that takes time: which job runs where, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from dlopt.models.dag.cpsat import NONE, Level, Program
from dlopt.models.dag.heads_and_tails import Windows
from dlopt.models.dag.scaled_instance import Arc, Case
from dlopt.models.dag.schedules import Plan, pulled

_THRESHOLDS = 6
"""Heads, and tails, from which on the loads of machines are bounded."""


class PlacedProgram(Program):
    """A literal for every job and machine, and an optional interval there.

    Parameters
    ----------
    case, windows, latest, most_late, kept
        See `Program`.
    """

    def __init__(
        self,
        case: Case,
        windows: Windows,
        latest: list[int],
        most_late: int | None = None,
        kept: Mapping[int, int] = NONE,
    ) -> None:
        super().__init__(case, windows, latest, most_late, kept)
        self.on: list[dict[int, Any]] = []
        self.ends: list[Any] = []
        self.intervals: list[list[Any]] = [[] for _ in range(case.machines)]
        self.together: dict[tuple[int, int], Any] = {}
        for job in range(len(case.jobs)):
            self._add_job(job)
        for intervals in self.intervals:
            if len(intervals) > 1:
                self.model.add_no_overlap(intervals)
        for arc in case.arcs:
            self._add_arc(arc)
        self._add_lans()
        if not kept:
            self._add_symmetry()

    def minimise(self, level: Level, least: int) -> None:
        """Set the objective, and what the loads of machines say of it."""
        super().minimise(level, least)
        if level == "makespan":
            self._add_loads(list(range(len(self.case.jobs))), self.end)
        for members, complete in zip(self.case.members, self.complete, strict=True):
            if level != "makespan" or len(self.complete) > 1:
                self._add_loads(members, complete)

    def hint(self, plan: Plan) -> None:
        """Give every variable its value in a plan."""
        if not self.kept:
            plan = self._relabelled(plan)
        super().hint(plan)
        for job, literals in enumerate(self.on):
            for place, literal in literals.items():
                self.model.add_hint(literal, plan.places[job] == place)
        for (one, other), literal in self.together.items():
            self.model.add_hint(literal, plan.places[one] == plan.places[other])
        for graph, literals in enumerate(self.homes):
            members = self.case.members[graph]
            lans = {self.case.instance.machines[plan.places[job]].lan for job in members}
            for lan, literal in literals.items():
                self.model.add_hint(literal, lan in lans)

    def keep_order(self, plan: Plan) -> None:
        """Jobs that keep their machines keep their order on them, too."""
        rows: dict[int, list[int]] = {}
        for job in sorted(self.kept, key=lambda job: (plan.starts[job], job)):
            if self.case.cost(job, plan.places[job]):
                rows.setdefault(plan.places[job], []).append(job)
        for row in rows.values():
            for before, job in pairwise(row):
                self.model.add(self.starts[job] >= self.ends[before])

    def plan(self, value_of: Any) -> Plan:
        """Return the plan of an assignment."""
        places = [
            next(place for place, literal in literals.items() if value_of(literal))
            for literals in self.on
        ]
        return pulled(self.case, places, [value_of(start) for start in self.starts])

    def _add_job(self, job: int) -> None:
        """A job runs on one machine, between its head and its tail there."""
        model, case, start, windows = self.model, self.case, self.starts[job], self.windows
        places = self._usable(job)
        literals = {place: model.new_bool_var(f"x{job}_{place}") for place in places}
        model.add_exactly_one(literals.values())
        length = sum(case.cost(job, place) * literal for place, literal in literals.items())
        end = start + length
        for place, literal in literals.items():
            cost = case.cost(job, place)
            if cost:
                name = f"i{job}_{place}"
                interval = model.new_optional_fixed_size_interval_var(start, cost, literal, name)
                self.intervals[place].append(interval)
        self.on.append(literals)
        self.ends.append(end)
        if len(places) > 1:
            heads = {place: int(windows.heads[job, place]) for place in places}
            model.add(start >= sum(heads[p] * literal for p, literal in literals.items()))
        tails = {place: int(windows.tails[job, place]) for place in places}
        complete = self.complete[case.jobs[job][0]]
        model.add(complete >= end + sum(tails[p] * literal for p, literal in literals.items()))

    def _add_arc(self, arc: Arc) -> None:
        """A job starts once the data of another has come to its machine."""
        case = self.case
        sources, targets = self.on[arc.source], self.on[arc.target]
        start, end = self.starts[arc.target], self.ends[arc.source]
        sent = {(p, q): case.send(arc, p, q) for p in sources for q in targets}
        apart = {sent[p, q] for p, q in sent if p != q}
        near = {sent[p, q] for p, q in sent if p == q}
        if len(apart) == 1 and len(near) == 1 and min(near) < min(apart):
            least, most = near.pop(), apart.pop()
            together = self._together(arc.source, arc.target)
            self.model.add(start >= end + most - (most - least) * together)
            return
        least = min(sent.values())
        self.model.add(start >= end + least)
        by_source = {p: min(sent[p, q] for q in targets) for p in sources}
        by_target = {q: min(sent[p, q] for p in sources) for q in targets}
        self._send(start, end, least, by_source, sources)
        self._send(start, end, least, by_target, targets)
        for (p, q), took in sent.items():
            if took > max(by_source[p], by_target[q]):
                self.model.add(start >= end + took).only_enforce_if(sources[p], targets[q])

    def _send(
        self, start: Any, end: Any, least: int, times: dict[int, int], literals: dict[int, Any]
    ) -> None:
        """Data takes so long by one of its ends alone."""
        if max(times.values()) > least:
            took = sum(times[place] * literal for place, literal in literals.items())
            self.model.add(start >= end + took)

    def _together(self, one: int, other: int) -> Any:
        """Return a literal that is true only if two jobs run on one machine."""
        together = self.model.new_bool_var(f"t{one}_{other}")
        for place, literal in self.on[one].items():
            if place in self.on[other]:
                self.model.add_implication(self.on[other][place], literal).only_enforce_if(together)
                self.model.add_implication(literal, self.on[other][place]).only_enforce_if(together)
            else:
                self.model.add_implication(together, ~literal)
        for place, literal in self.on[other].items():
            if place not in self.on[one]:
                self.model.add_implication(together, ~literal)
        self.together[one, other] = together
        return together

    def _add_lans(self) -> None:
        """Graphs that must stay in one LAN do."""
        self.homes: list[dict[int, Any]] = [{} for _ in self.case.members]
        for graph, members in enumerate(self.case.members):
            if self.case.lans is None or not self.case.instance.graphs[graph].one_lan:
                continue
            lans = sorted(set(self.case.lans))
            homes = {lan: self.model.new_bool_var(f"l{graph}_{lan}") for lan in lans}
            self.model.add_exactly_one(homes.values())
            for job in members:
                for place, literal in self.on[job].items():
                    self.model.add_implication(literal, homes[self.case.lans[place]])
            self.homes[graph] = homes

    def _add_symmetry(self) -> None:
        """Of machines that are alike, each has its first job after the one before has."""
        for group in self.case.groups:
            for before, place in pairwise(group):
                earlier: list[Any] = []
                for job in range(len(self.on)):
                    if place in self.on[job]:
                        self.model.add_bool_or([*earlier, ~self.on[job][place]])
                    if before in self.on[job]:
                        earlier.append(self.on[job][before])

    def _relabelled(self, plan: Plan) -> Plan:
        """Return the same plan with machines that are alike named in the order of their use."""
        names: dict[int, int] = {}
        for group in self.case.groups:
            own = set(group)
            used = dict.fromkeys(place for place in plan.places if place in own)
            names |= dict(zip(used, group, strict=False))
        return Plan(tuple(names[place] for place in plan.places), plan.starts)

    def _add_loads(self, jobs: list[int], end: Any) -> None:
        """What a machine does between the least head and the least tail fits before the end."""
        windows = self.windows
        for place in range(self.case.machines):
            able = [job for job in jobs if place in self.on[job] and self.case.cost(job, place)]
            seen = set()
            for head, tail in self._corners(able, place):
                inside = tuple(
                    job
                    for job in able
                    if windows.heads[job, place] >= head and windows.tails[job, place] >= tail
                )
                if len(inside) > 1 and inside not in seen:
                    seen.add(inside)
                    load = sum(self.case.cost(job, place) * self.on[job][place] for job in inside)
                    self.model.add(load + head + tail <= end)

    def _corners(self, jobs: list[int], place: int) -> Iterator[tuple[int, int]]:
        heads = _sample(self.windows.heads[jobs, place])
        tails = _sample(self.windows.tails[jobs, place])
        least = int(self.windows.ways[jobs].min(axis=1).max()) if jobs else 0
        for head in heads:
            for tail in tails:
                if head + tail <= least:
                    yield head, tail


def _sample(values: Any) -> list[int]:
    known = np.unique(values)
    if len(known) > _THRESHOLDS:
        known = known[np.linspace(0, len(known) - 1, _THRESHOLDS).astype(int)]
    return [int(value) for value in known]
