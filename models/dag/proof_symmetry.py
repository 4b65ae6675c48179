"""Machines that may be exchanged are used in the order of their first jobs.

The jobs have an order, and of machines that may be exchanged each is used by some job only if an
earlier one uses the machine before: other schedules are the same with machines exchanged. See
`dlopt.problems.step_formulation` for the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlopt.models.dag.proof_facts import Fact, Head, NotStarted, ProofWriter
from dlopt.models.dag.proof_propagation import WindowPropagation, Windows


@dataclass(slots=True, eq=False)
class HeadBySymmetry(Head):
    """A job does not run on a group: no earlier job runs on the group before."""

    before: list[NotStarted]

    @property
    def reasons(self) -> Iterable[Fact]:
        """Facts from which it follows."""
        return (one.reason for one in self.before)

    def write(self, writer: ProofWriter) -> int:
        """Add up the row and that the earlier jobs do not run there."""
        terms = {writer.column(self.job, self.group, self.instant): 1}
        for one in self.before:
            terms[writer.column(one.job, one.group, one.instant)] = -1
        pairs = [(writer.state(f"symmetry_{writer.stated}", terms, -1, 0), 1)]
        for one in self.before:
            pairs += one.pairs(writer)
        return writer.combine(pairs, -1)


class SymmetryRules:
    """On which groups jobs do not run, because of groups that may be exchanged.

    Parameters
    ----------
    rules : WindowPropagation
    followers : list of int
        The groups that may be exchanged with the group before.
    order : list of int
        All jobs.
    """

    def __init__(self, rules: WindowPropagation, followers: list[int], order: list[int]) -> None:
        self.rules, self.followers, self.order = rules, followers, order

    def propagate(self, windows: Windows) -> bool:
        """Exclude groups; return whether a window has changed."""
        changes = sum(windows.changes)
        for group in self.followers:
            before: list[NotStarted] = []
            for job in self.order:
                if windows.latest[job, group] >= 0:
                    instant = int(self.rules.last[job, group])
                    windows.raise_head(HeadBySymmetry(job, group, instant, list(before)))
                    windows.drop_groups(job)
                if windows.latest[job, group - 1] >= 0:
                    break
                if self.rules.possible[job, group - 1]:
                    before.append(self._does_not_run(windows, job, group - 1))
        return sum(windows.changes) > changes

    def _does_not_run(self, windows: Windows, job: int, group: int) -> NotStarted:
        """Return that a job does not run on a group from which it is excluded."""
        instant = int(self.rules.last[job, group])
        head = windows.heads.get((job, group))
        reason = head if head is not None and head.instant >= instant else None
        return NotStarted(job, group, instant, reason or windows.latest_starts[job])
