"""Facts of a proof that no schedule is better than a value, each with its reasons.

Variables are those of `dlopt.problems.step_formulation`: ``z_j_g_t`` says that job `j` has started
by instant `t` on a machine of group `g`. Two kinds of facts are known of a job::

    head      z_j_g_t <= 0                 it has not started by t on g
    latest    sum_g z_j_g_t_g >= 1         it has started by the latest start of some group

and a third one is a contradiction. A fact is written after those that it follows from, and only if
the contradiction at the end needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from dlopt.certificates import Derivation, InfeasibilityProof, Terms

Pairs: TypeAlias = list[tuple[int, int]]
"""References to constraints with their multipliers: `k` is a stated one, ``~k`` a derived one."""
Latest: TypeAlias = dict[int, int]
"""The latest start by group; a job does not run on groups that are not in it."""


@dataclass(frozen=True, slots=True)
class _Row:
    """``terms . x >= side`` if the sign is 1, ``<=`` if it is -1."""

    terms: dict[int, int]
    sign: int
    side: int


class ProofWriter:
    """Collects the constraints and derivations of a proof.

    Parameters
    ----------
    numbers : list of int
        The number of each job in the instance.

    Examples
    --------
    >>> writer = ProofWriter([0])
    >>> by_3 = writer.state("assigned_0_G", {writer.column(0, 0, 1): 1}, 1, 1)
    >>> writer.combine([(by_3, 1), (writer.state_release(0, 0, 1), -1)], 1) < 0
    True
    >>> proof = writer.proof(["a remark"])
    >>> [name for name, *_ in proof.constraints], proof.derivations[-1].terms
    (['assigned_0_G', 'release_0_0_1'], ())
    """

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self._columns: dict[tuple[int, int, int], int] = {}
        self._references: dict[str, int] = {}
        self._stated: list[_Row] = []
        self._derived: list[tuple[_Row, Literal["lin", "asm", "uns"], Pairs]] = []

    @property
    def stated(self) -> int:
        """How many constraints are stated."""
        return len(self._stated)

    def column(self, job: int, group: int, instant: int) -> int:
        """Return the number of a variable."""
        return self._columns.setdefault((job, group, instant), len(self._columns))

    def terms(self, job: int, latest: Latest) -> dict[int, int]:
        """Return the sum over groups: whether a job has started by the latest starts."""
        return {self.column(job, group, instant): 1 for group, instant in latest.items()}

    def state(self, name: str, terms: dict[int, int], sign: int, side: int) -> int:
        """State a constraint of the program, once, and return its reference."""
        if name not in self._references:
            self._references[name] = len(self._stated)
            self._stated.append(_Row(terms, sign, side))
        return self._references[name]

    def state_release(self, job: int, group: int, instant: int) -> int:
        """A job has not started before its release."""
        name = f"release_{self.numbers[job]}_{group}_{instant}"
        return self.state(name, {self.column(job, group, instant): 1}, -1, 0)

    def state_monotone(self, job: int, group: int, instant: int, later: int) -> int:
        """What has started by an instant has started by a later one."""
        terms = {self.column(job, group, instant): 1, self.column(job, group, later): -1}
        name = f"monotone_{self.numbers[job]}_{group}_{instant}_{later}"
        return self.state(name, terms, -1, 0)

    def state_nonnegative(self, job: int, group: int, instant: int) -> int:
        """A variable is not negative."""
        name = f"z_{self.numbers[job]}_{group}_{instant}_G"
        return self.state(name, {self.column(job, group, instant): 1}, 1, 0)

    def state_once(self, job: int, latest: Latest) -> int:
        """A job starts once."""
        tag = "_".join(f"{group}_{instant}" for group, instant in sorted(latest.items()))
        name = f"assigned_{self.numbers[job]}_{tag}_L"
        return self.state(name, self.terms(job, latest), -1, 1)

    def assume(self, terms: dict[int, int], sign: int, side: int) -> int:
        """Assume a constraint for a case."""
        return self._derive(_Row(terms, sign, side), "asm", [])

    def combine(self, pairs: Pairs, sign: int) -> int:
        """Add up constraints with multipliers."""
        terms: dict[int, int] = {}
        side = 0
        for reference, multiplier in pairs:
            row = self._stated[reference] if reference >= 0 else self._derived[~reference][0]
            side += multiplier * row.side
            for column, a in row.terms.items():
                terms[column] = terms.get(column, 0) + multiplier * a
        known = {column: a for column, a in terms.items() if a}
        return self._derive(_Row(known, sign, side), "lin", pairs)

    def conclude(self, reference: int) -> None:
        """Derive a contradiction that is stated, as the last step has to be derived."""
        if reference >= 0:
            self.combine([(reference, 1)], 1)

    def resolve(
        self, terms: dict[int, int], sign: int, side: int, cases: tuple[int, int, int, int]
    ) -> int:
        """Conclude what holds in both of two cases: claim and assumption of each."""
        return self._derive(_Row(terms, sign, side), "uns", [(case, 1) for case in cases])

    def proof(self, remarks: Iterable[str]) -> InfeasibilityProof:
        """Return the proof, whose last derivation is a contradiction."""
        count = len(self._stated)
        derivations = []
        for row, reason, pairs in self._derived:
            used = ((n if n >= 0 else count + ~n, Fraction(multiplier)) for n, multiplier in pairs)
            terms, side = _fractions(row.terms), Fraction(row.side)
            derivations.append(Derivation(terms, row.sign, side, reason, tuple(used)))
        return InfeasibilityProof(
            tuple(f"z_{self.numbers[j]}_{g}_{t}" for j, g, t in self._columns),
            tuple(
                (name, _fractions(row.terms), row.sign, Fraction(row.side))
                for name, row in zip(self._references, self._stated, strict=True)
            ),
            tuple(derivations),
            tuple(remarks),
        )

    def _derive(self, row: _Row, reason: Literal["lin", "asm", "uns"], pairs: Pairs) -> int:
        self._derived.append((row, reason, pairs))
        return ~(len(self._derived) - 1)


def _fractions(terms: Mapping[int, int]) -> Terms:
    return tuple((column, Fraction(a)) for column, a in terms.items())


@dataclass(slots=True, eq=False)
class Fact(ABC):
    """A fact; `reference` is that of its constraint, once it is written."""

    reference: int | None = field(default=None, init=False)

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return ()

    @abstractmethod
    def write(self, writer: ProofWriter) -> int:
        """Write it, when its reasons are written, and return the reference."""

    def known(self) -> int:
        """Return the reference."""
        assert self.reference is not None  # reasons are written first
        return self.reference


def write_fact(fact: Fact, writer: ProofWriter) -> None:
    """Write a fact after all those that it follows from; without recursion."""
    stack = [fact]
    while stack:
        missing = [reason for reason in stack[-1].reasons if reason.reference is None]
        if missing:
            stack += missing
        else:
            top = stack.pop()
            if top.reference is None:
                top.reference = top.write(writer)


@dataclass(slots=True, eq=False)
class Head(Fact):
    """A job has not started by an instant on a group. This one is its release."""

    job: int
    group: int
    instant: int

    def write(self, writer: ProofWriter) -> int:
        """State that it is released later."""
        return writer.state_release(self.job, self.group, self.instant)


@dataclass(slots=True, eq=False)
class LatestStart(Fact):
    """A job has started by the latest start of some group. This one follows from the makespan."""

    job: int
    latest: Latest

    def write(self, writer: ProofWriter) -> int:
        """State that it has started when it has to."""
        name = f"assigned_{writer.numbers[self.job]}_G"
        return writer.state(name, writer.terms(self.job, self.latest), 1, 1)


class NotStarted:
    """That a job has not started by an instant on a group, by its head or as it runs elsewhere."""

    __slots__ = ("group", "instant", "job", "reason")

    def __init__(self, job: int, group: int, instant: int, reason: Head | LatestStart) -> None:
        self.job, self.group, self.instant, self.reason = job, group, instant, reason

    def pairs(self, writer: ProofWriter) -> Pairs:
        """Return what adds up to ``z_j_g_t <= 0``."""
        job, group, instant, reason = self.job, self.group, self.instant, self.reason
        if isinstance(reason, LatestStart):
            once = writer.state_once(job, reason.latest | {group: instant})
            return [(once, 1), (reason.known(), -1)]
        if reason.instant == instant:
            return [(reason.known(), 1)]
        return [
            (writer.state_monotone(job, group, instant, reason.instant), 1),
            (reason.known(), 1),
        ]


@dataclass(slots=True, eq=False)
class HeadAfterPredecessor(Head):
    """A job has not started: its predecessor has not been ready for it on any group."""

    source: int
    before: list[NotStarted]

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (one.reason for one in self.before)

    def write(self, writer: ProofWriter) -> int:
        """Add up the precedence and that the predecessor has not started."""
        source, job = writer.numbers[self.source], writer.numbers[self.job]
        terms = {writer.column(self.job, self.group, self.instant): 1}
        for one in self.before:
            terms[writer.column(one.job, one.group, one.instant)] = -1
        name = f"precedence_{source}_{job}_{self.group}_{self.instant}"
        pairs = [(writer.state(name, terms, -1, 0), 1)]
        for one in self.before:
            pairs += one.pairs(writer)
        return writer.combine(pairs, -1)


@dataclass(slots=True, eq=False)
class LatestBeforeSuccessor(LatestStart):
    """A job has started, as its successor has to start by its latest starts."""

    successor: LatestStart

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (self.successor,)

    def write(self, writer: ProofWriter) -> int:
        """Add up the precedence and that the successor has started."""
        after = self.successor
        terms = writer.terms(after.job, after.latest)
        terms |= dict.fromkeys(writer.terms(self.job, self.latest), -1)
        tags = (f"{group}_{instant}" for group, instant in sorted(after.latest.items()))
        tag = "_".join(tags)
        name = f"precedence_{writer.numbers[self.job]}_{writer.numbers[after.job]}_{tag}"
        return writer.combine([(after.known(), 1), (writer.state(name, terms, -1, 0), -1)], 1)


class LatestOnFewerGroups(LatestStart):
    """A job does not run on groups where it has not started by its latest start."""

    __slots__ = ("excluded", "weaker")

    def __init__(self, weaker: LatestStart, excluded: list[NotStarted]) -> None:
        groups = {one.group for one in excluded}
        latest = {group: t for group, t in weaker.latest.items() if group not in groups}
        super().__init__(weaker.job, latest)
        self.weaker, self.excluded = weaker, excluded

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (self.weaker, *(one.reason for one in self.excluded))

    def write(self, writer: ProofWriter) -> int:
        """Subtract what has not started."""
        pairs = [(self.weaker.known(), 1)]
        for one in self.excluded:
            pairs += [(reference, -multiplier) for reference, multiplier in one.pairs(writer)]
        return writer.combine(pairs, 1)


class LatestOfBoth(LatestStart):
    """The earlier one of two latest starts on each group: a job starts once."""

    __slots__ = ("one", "other")

    def __init__(self, one: LatestStart, other: LatestStart) -> None:
        shared = one.latest.keys() & other.latest.keys()
        super().__init__(one.job, {g: min(one.latest[g], other.latest[g]) for g in sorted(shared)})
        self.one, self.other = one, other

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return self.one, self.other

    def write(self, writer: ProofWriter) -> int:
        """Add up both, and subtract that the job starts once."""
        one, other = self.one.latest, self.other.latest
        either = {g: max(one.get(g, -1), other.get(g, -1)) for g in one.keys() | other.keys()}
        once = writer.state_once(self.job, either)
        return writer.combine([(self.one.known(), 1), (self.other.known(), 1), (once, -1)], 1)
