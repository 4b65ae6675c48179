"""What is proven of completions before anything is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dlopt.models.dag.cpsat import Level
from dlopt.models.dag.energetic_bounds import interval_bound, total_bound, weights_of
from dlopt.models.dag.energetic_heads import gathered
from dlopt.models.dag.heads_and_tails import Windows, windows_of
from dlopt.models.dag.scaled_instance import Case

Proof: TypeAlias = Literal["critical path", "work", "intervals"]
PROOFS: tuple[Proof, ...] = ("critical path", "work", "intervals")
"""Bounds, each as good as those before it."""

_JOINS = 2_000
"""Jobs up to which all predecessors of a job are looked at together."""


@dataclass(frozen=True, slots=True)
class Floors:
    """No graph is complete earlier, and not all of them.

    Parameters
    ----------
    graphs : tuple of int
        For each graph, in units of the case.
    everything : int
        For all graphs.
    proof : Proof
        What the bound of all graphs was proven by: the first that proves it.
    """

    graphs: tuple[int, ...]
    everything: int
    proof: Proof

    def of(self, case: Case, level: Level) -> int:
        """Return the bound of an objective, in units of the case; responses from instant 0."""
        if level == "makespan":
            return self.everything
        if level == "response":
            return sum(self.graphs)
        pairs = zip(self.graphs, case.due, strict=True)
        return sum(due is not None and least > due for least, due in pairs)


def windows_for(case: Case, proof: Proof = "intervals") -> Windows:
    """Return heads and tails, as sharp as the size of the case and the kind of proof allow."""
    windows = windows_of(case, joins=len(case.jobs) <= _JOINS)
    return windows if proof == "critical path" else gathered(case, windows)


def floors_of(
    case: Case, windows: Windows, proof: Proof = "intervals", most: int | None = None
) -> Floors:
    """Return bounds of completions.

    Parameters
    ----------
    case : Case
    windows : Windows
    proof : Proof
        The best that is tried.
    most : int, optional
        A makespan that is known.
    """
    everything, by = _floor(windows, proof, most)
    if len(case.members) == 1:
        return Floors((everything,), everything, by)
    graphs = [_floor(windows_part(windows, members), proof)[0] for members in case.members]
    return Floors(tuple(graphs), max(everything, *graphs), by)


def windows_part(windows: Windows, jobs: list[int]) -> Windows:
    """Return the windows of some jobs."""
    tables = windows.heads, windows.costs, windows.tails, windows.paths
    return Windows(*(table[jobs] for table in tables))


def _floor(windows: Windows, proof: Proof, most: int | None = None) -> tuple[int, Proof]:
    """Bound when all of some jobs are done, and their output is where it belongs."""
    least, by = int(windows.paths.max()), PROOFS[0]
    if proof == "critical path":
        return least, by
    weights = weights_of(windows.costs)
    work = max(total_bound(windows, weights), int(windows.ways.min(axis=1).max()))
    if work > least:
        least, by = work, "work"
    if proof == "intervals":
        found = interval_bound(windows, weights, least, most)
        if found > least:
            least, by = found, "intervals"
    return least, by
