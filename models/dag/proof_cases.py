"""Contradictions, cases, and what follows from them, in proofs that no schedule is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dlopt.models.dag.proof_facts import Fact, Head, Latest, LatestStart, NotStarted, ProofWriter


class Occupation(NamedTuple):
    """What a job occupies of an interval at least, if it runs on a group.

    Parameters
    ----------
    group : int
    weight : int
        Of a machine of the group.
    inside : int
        The time within the interval, wherever the job starts in its window.
    latest : int
        The end of that window.
    before : NotStarted or None
        That it does not start before the window; None if that is its release.
    """

    group: int
    weight: int
    inside: int
    latest: int
    before: NotStarted | None


@dataclass(slots=True, eq=False)
class Overload(Fact):
    """A contradiction: jobs need more energy in an interval than machines have.

    Parameters
    ----------
    start, end : int
    sizes : dict of int to (int, int)
        Number and weight of the machines of each group with a weight.
    jobs : list of (LatestStart, int, list of Occupation)
        Of each job, its least energy, and what it occupies on each group with a weight.
    """

    start: int
    end: int
    sizes: dict[int, tuple[int, int]]
    jobs: list[tuple[LatestStart, int, list[Occupation]]]

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        for latest, _, occupations in self.jobs:
            yield latest
            for one in occupations:
                if one.before is not None:
                    yield one.before.reason

    def write(self, writer: ProofWriter) -> int:
        """Add up latest starts and capacities: what is left is smaller than nothing."""
        rows: dict[int, dict[int, int]] = {group: {} for group in self.sizes}
        pairs = []
        for latest, energy, occupations in self.jobs:
            pairs.append((latest.known(), energy))
            for one in occupations:
                column = writer.column(latest.job, one.group, one.latest)
                rows[one.group][column] = one.inside
                if one.weight * one.inside > energy:
                    spare = one.weight * one.inside - energy
                    pairs.append(
                        (writer.state_nonnegative(latest.job, one.group, one.latest), spare)
                    )
                if one.before is not None:
                    before = writer.column(latest.job, one.group, one.before.instant)
                    rows[one.group][before] = -one.inside
                    times = one.weight * one.inside
                    pairs += [(n, -m * times) for n, m in one.before.pairs(writer)]
        for group, (machines, weight) in self.sizes.items():
            if rows[group]:
                side = machines * (self.end - self.start)
                name = f"capacity_{group}_{self.start}_{self.end}_{writer.stated}"
                pairs.append((writer.state(name, rows[group], -1, side), -weight))
        return writer.combine(pairs, 1)


class AssumedLatest(LatestStart):
    """A case: the job has started by some latest starts."""

    __slots__ = ()

    def write(self, writer: ProofWriter) -> int:
        """Assume it."""
        return writer.assume(writer.terms(self.job, self.latest), 1, 1)


@dataclass(slots=True, eq=False)
class AssumedLater(Fact):
    """The other case: the job has started by none of these latest starts."""

    job: int
    latest: Latest

    def write(self, writer: ProofWriter) -> int:
        """Assume it."""
        return writer.assume(writer.terms(self.job, self.latest), -1, 0)


class HeadInCase(Head):
    """In a case, a job has not started by an instant on one of the groups."""

    __slots__ = ("case",)

    def __init__(self, case: AssumedLater, group: int) -> None:
        super().__init__(case.job, group, case.latest[group])
        self.case = case

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (self.case,)

    def write(self, writer: ProofWriter) -> int:
        """No other group has a negative part in the assumption."""
        others = [item for item in self.case.latest.items() if item[0] != self.group]
        pairs = [(writer.state_nonnegative(self.job, *other), -1) for other in others]
        return writer.combine([(self.case.known(), 1), *pairs], -1)


class HeadByRefutation(Head):
    """A job has not started: that it has leads to a contradiction."""

    __slots__ = ("case", "contradiction")

    def __init__(self, case: AssumedLatest, group: int, contradiction: Fact) -> None:
        super().__init__(case.job, group, case.latest[group])
        self.case, self.contradiction = case, contradiction

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return self.case, self.contradiction

    def write(self, writer: ProofWriter) -> int:
        """Conclude it from both cases."""
        terms = writer.terms(self.job, self.case.latest)
        other = writer.assume(terms, -1, 0)
        cases = self.contradiction.known(), self.case.known(), other, other
        return writer.resolve(terms, -1, 0, cases)


class LatestByRefutation(LatestStart):
    """A job has started by some latest starts: that it has not leads to a contradiction."""

    __slots__ = ("case", "contradiction")

    def __init__(self, case: AssumedLater, contradiction: Fact) -> None:
        super().__init__(case.job, case.latest)
        self.case, self.contradiction = case, contradiction

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return self.case, self.contradiction

    def write(self, writer: ProofWriter) -> int:
        """Conclude it from both cases."""
        terms = writer.terms(self.job, self.latest)
        other = writer.assume(terms, 1, 1)
        cases = self.contradiction.known(), self.case.known(), other, other
        return writer.resolve(terms, 1, 1, cases)
