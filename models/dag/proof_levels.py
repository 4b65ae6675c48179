"""What numbers of tardy graphs and totals of completions say of the completion of each graph.

Of ``K + 1`` graphs one is on time if at most `K` may be tardy; and if the other graphs are complete
late enough, a graph has to be complete early for the total to be small. See
`dlopt.problems.dag.certified_levels` for the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlopt.models.dag.proof_cases import AssumedLatest
from dlopt.models.dag.proof_facts import Fact, Head, LatestStart, NotStarted, ProofWriter
from dlopt.models.dag.proof_propagation import Windows
from dlopt.models.dag.proof_times import NO_LATEST, ExcludedLevels
from dlopt.models.dag.scaled_instance import ScaledInstance


class NegativeTardiness(Fact):
    """A contradiction: fewer than no graphs are tardy."""

    __slots__ = ()

    def write(self, writer: ProofWriter) -> int:
        """State the row of no graph."""
        return writer.state("tardy_0_G", {}, 1, 1)


@dataclass(slots=True, eq=False)
class LatestByTardiness(LatestStart):
    """A graph is complete by its due date: as many others are tardy as may be.

    Parameters
    ----------
    job : int
        The completion of the graph.
    latest : dict of int to int
        Its due date.
    others : list of NotStarted
        That other graphs are not complete by their due dates.
    fewer : LatestStart or None
        That fewer are tardy than may be, if that is known.
    """

    others: list[NotStarted]
    fewer: LatestStart | None

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        yield from (one.reason for one in self.others)
        if self.fewer is not None:
            yield self.fewer

    def write(self, writer: ProofWriter) -> int:
        """Subtract the tardy graphs from the row."""
        terms = writer.terms(self.job, self.latest) | _columns(writer, self.others)
        known = []
        if self.fewer is not None:
            terms |= dict.fromkeys(writer.terms(self.fewer.job, self.fewer.latest), -1)
            known.append((self.fewer.known(), 1))
        side = 1 if self.fewer is None else 0
        row = writer.state(f"tardy_{writer.stated}_G", terms, 1, side)
        return writer.combine([(row, 1), *known, *_subtracted(writer, self.others)], 1)


class HeadByTardiness(Head):
    """Not fewer graphs are tardy than may be: as many are."""

    __slots__ = ("tardy",)

    def __init__(self, job: int, group: int, tardy: list[NotStarted]) -> None:
        super().__init__(job, group, 0)
        self.tardy = tardy

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (one.reason for one in self.tardy)

    def write(self, writer: ProofWriter) -> int:
        """Add the tardy graphs to the row."""
        terms = {writer.column(self.job, self.group, self.instant): -1}
        row = writer.state(f"tardy_{writer.stated}_G", terms | _columns(writer, self.tardy), 1, 0)
        known = [(reference, -a) for reference, a in _subtracted(writer, self.tardy)]
        return writer.combine([(row, -1), *known], -1)


@dataclass(slots=True, eq=False)
class LatestByTotal(LatestStart):
    """A graph is complete by an instant: the others are not complete before.

    Parameters
    ----------
    job : int
        The completion of the graph.
    latest : dict of int to int
        Empty if it cannot be complete early enough.
    others : list of NotStarted
        That other graphs are not complete; or that not fewer graphs are tardy.
    """

    others: list[NotStarted]

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (one.reason for one in self.others)

    def write(self, writer: ProofWriter) -> int:
        """Subtract what is not so from the row."""
        terms = writer.terms(self.job, self.latest) | _columns(writer, self.others)
        row = writer.state(f"total_{writer.stated}_G", terms, 1, 1)
        return writer.combine([(row, 1), *_subtracted(writer, self.others)], 1)


class LevelRules:
    """What the levels of an objective say of the windows of completions.

    Parameters
    ----------
    scaled : ScaledInstance
    excluded : ExcludedLevels
    group : int
        That of completions.
    """

    def __init__(self, scaled: ScaledInstance, excluded: ExcludedLevels, group: int) -> None:
        self.excluded, self.group = excluded, group
        self.due, self.arrivals = scaled.due_dates, scaled.arrivals
        self.first = len(scaled.jobs)
        self.fewer = self.first + len(self.due)

    def contradiction(self) -> Fact | None:
        """Return why nothing can be as excluded, if that needs no windows."""
        return NegativeTardiness() if self.excluded.tardy == -1 else None

    def propagate(self, windows: Windows) -> bool:
        """Lower latest completions; return whether a window has changed."""
        changes = sum(windows.changes)
        if self.excluded.tardy is not None:
            self._propagate_tardiness(windows, self.excluded.tardy)
        if self.excluded.total is not None and self._is_not_fewer(windows):
            self._propagate_total(windows, self.excluded.total)
        return sum(windows.changes) > changes

    def choose_case(self, windows: Windows) -> AssumedLatest | None:
        """Return a case: fewer graphs are tardy than may be, or a graph is on time."""
        if self.excluded.tardy is None:
            return None
        if self.excluded.total is not None and self._is_open(windows, self.fewer, 0):
            return AssumedLatest(self.fewer, {self.group: 0})
        slack = {
            job: due - int(windows.earliest[job, self.group])
            for job, due in enumerate(self.due, self.first)
            if due is not None and self._is_open(windows, job, due)
        }
        if not slack:
            return None
        job = min(slack, key=lambda one: (slack[one], one))
        due = self.due[job - self.first]
        assert due is not None  # only graphs with due dates are chosen
        return AssumedLatest(job, {self.group: due})

    def _is_open(self, windows: Windows, job: int, instant: int) -> bool:
        """Tell whether a job may start by an instant, and may start later."""
        window = windows.earliest[job, self.group], windows.latest[job, self.group]
        return bool(window[0] <= instant < window[1])

    def _is_not_fewer(self, windows: Windows) -> bool:
        return self.excluded.tardy is None or bool(windows.earliest[self.fewer, self.group] > 0)

    def _propagate_tardiness(self, windows: Windows, most: int) -> None:
        group, earliest = self.group, windows.earliest[:, self.group]
        dated = [(job, due) for job, due in enumerate(self.due, self.first) if due is not None]
        tardy = [
            NotStarted(job, group, due, windows.heads[job, group])
            for job, due in dated
            if earliest[job] > due
        ]
        fewer = None
        if windows.latest[self.fewer, group] < NO_LATEST:
            fewer, most = windows.latest_starts[self.fewer], most - 1
        elif len(tardy) >= most and self.excluded.total is not None and not earliest[self.fewer]:
            windows.raise_head(HeadByTardiness(self.fewer, group, tardy[:most]))
        if len(tardy) < most:
            return
        for job, due in dated:
            others = [one for one in tardy if one.job != job][:most]
            if windows.latest[job, group] > due and len(others) == most:
                windows.lower_latest(LatestByTardiness(job, {group: due}, others, fewer))

    def _propagate_total(self, windows: Windows, total: int) -> None:
        group = self.group
        for graph, arrival in enumerate(self.arrivals):
            job, lows = self.first + graph, windows.earliest[self.first : self.fewer, group]
            if windows.latest[job, group] < 0:
                return
            latest = int(max(total - lows.sum(), -1) + lows[graph])
            if latest < windows.latest[job, group]:
                others = self._not_complete(windows, graph)
                starts = {group: latest} if latest >= arrival else {}
                windows.lower_latest(LatestByTotal(job, starts, others))

    def _not_complete(self, windows: Windows, graph: int) -> list[NotStarted]:
        """Return that other graphs are not complete before they can be, and not fewer are tardy."""
        group = self.group
        jobs = [self.first + other for other in range(len(self.due)) if other != graph]
        if self.excluded.tardy is not None:
            jobs.append(self.fewer)
        heads = (windows.heads.get((job, group)) for job in jobs)
        return [NotStarted(one.job, group, one.instant, one) for one in heads if one is not None]


def _columns(writer: ProofWriter, facts: Iterable[NotStarted]) -> dict[int, int]:
    return {writer.column(one.job, one.group, one.instant): 1 for one in facts}


def _subtracted(writer: ProofWriter, facts: Iterable[NotStarted]) -> list[tuple[int, int]]:
    return [(n, -a) for one in facts for n, a in one.pairs(writer)]
