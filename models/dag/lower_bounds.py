"""Lower bounds of completions before any search: critical path, total work, interval energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dlopt.models.common.rounded_work_bound import rounded_work_bound
from dlopt.models.dag.energetic_bounds import (
    dual_machine_weights,
    head_tail_workload_bound,
    interval_energy_bound,
)
from dlopt.models.dag.energetic_heads import energetic_heads_tails
from dlopt.models.dag.heads_and_tails import HeadsTails, longest_path_heads_tails
from dlopt.models.dag.objective import ObjectiveLevel, level_value
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.total_completion_bound import total_completion_bound

Proof: TypeAlias = Literal[
    "the critical path",
    "the total work",
    "interval energy (Fernandez-Bussell)",
    "work rounded to sums of tasks, in integers",
]
CRITICAL_PATH: Proof = "the critical path"
TOTAL_WORK: Proof = "the total work"
ROUNDED_WORK: Proof = "work rounded to sums of tasks, in integers"
INTERVAL_ENERGY: Proof = "interval energy (Fernandez-Bussell)"

MAX_JOBS_FOR_JOIN_BOUNDS = 2_000
"""Jobs up to which all predecessors of a job are considered together. Chosen by hand: join bounds
loop over machines and predecessors in Python."""


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Lower bounds of completions.

    Parameters
    ----------
    graphs : tuple of int
        Of the completion of each graph, in units of the scaled instance.
    makespan : int
        Of the last completion.
    proof : Proof
        How the bound of the makespan is proven: the first proof that gives it.
    total_completion : int
        Of the sum of the completions of all graphs.
    """

    graphs: tuple[int, ...]
    makespan: int
    proof: Proof
    total_completion: int

    def for_level(self, scaled: ScaledInstance, level: ObjectiveLevel) -> int:
        """Return the bound of an objective level, in scaled units; responses from instant 0."""
        if level == "total-response-time":
            return self.total_completion
        return self.makespan if level == "makespan" else level_value(scaled, self.graphs, level)


def compute_heads_tails(scaled: ScaledInstance, proof: Proof = INTERVAL_ENERGY) -> HeadsTails:
    """Return heads and tails, as sharp as the size of the instance and the kind of proof allow."""
    join_bounds = len(scaled.jobs) <= MAX_JOBS_FOR_JOIN_BOUNDS
    heads_tails = longest_path_heads_tails(scaled, join_bounds=join_bounds)
    return heads_tails if proof == CRITICAL_PATH else energetic_heads_tails(scaled, heads_tails)


def compute_lower_bounds(
    scaled: ScaledInstance,
    heads_tails: HeadsTails,
    proof: Proof = INTERVAL_ENERGY,
    upper_bound: int | None = None,
) -> LowerBounds:
    """Return lower bounds of completions.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
    proof : Proof
        The sharpest kind of proof that is tried.
    upper_bound : int, optional
        A makespan that is known.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=3) for k in range(6)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> compute_lower_bounds(scaled, compute_heads_tails(scaled))
    LowerBounds(graphs=(3,), makespan=3, proof='the total work', total_completion=3)
    """
    makespan, proven_by = _makespan_bound(heads_tails, proof, upper_bound)
    deliveries, releases = scaled.delivery_times, set(scaled.release_times)
    if upper_bound and len(releases) == 1 and not scaled.arcs and not any(map(any, deliveries)):
        rounded = rounded_work_bound(scaled.costs, releases.pop(), makespan, upper_bound)
        makespan, proven_by = rounded, ROUNDED_WORK if rounded > makespan else proven_by
    if len(scaled.jobs_of_graph) == 1:
        return LowerBounds((makespan,), makespan, proven_by, makespan)
    graphs = [
        _makespan_bound(restrict_to_jobs(heads_tails, jobs), proof)[0]
        for jobs in scaled.jobs_of_graph
    ]
    total = sum(graphs)
    if proof != CRITICAL_PATH:
        total = total_completion_bound(heads_tails, scaled.jobs_of_graph, graphs)
    return LowerBounds(tuple(graphs), max(makespan, *graphs), proven_by, total)


def restrict_to_jobs(heads_tails: HeadsTails, jobs: list[int]) -> HeadsTails:
    """Return the heads and tails of some jobs."""
    tables = heads_tails.heads, heads_tails.costs, heads_tails.tails, heads_tails.path_bounds
    return HeadsTails(*(table[jobs] for table in tables))


def _makespan_bound(
    heads_tails: HeadsTails, proof: Proof, upper_bound: int | None = None
) -> tuple[int, Proof]:
    """Bound the completion of some jobs, with the delivery of their output."""
    bound, proven_by = int(heads_tails.path_bounds.max()), CRITICAL_PATH
    if proof == CRITICAL_PATH:
        return bound, proven_by
    weights = dual_machine_weights(heads_tails.costs)
    by_work = max(
        head_tail_workload_bound(heads_tails, weights),
        int(heads_tails.completion_bounds.min(axis=1).max()),
    )
    if by_work > bound:
        bound, proven_by = by_work, TOTAL_WORK
    if proof == INTERVAL_ENERGY:
        by_energy = interval_energy_bound(heads_tails, weights, bound, upper_bound)
        if by_energy > bound:
            bound, proven_by = by_energy, INTERVAL_ENERGY
    return bound, proven_by
