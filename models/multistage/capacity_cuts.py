"""Redundant rows of the sequencing MILP: they cut off no schedule, and much of its relaxation.

With the symbols of `dlopt.models.multistage.sequencing_milp`, for the port and for each node, where
`time_a` is the time that chunk `a` occupies it, and ``C`` the chunks whose windows lie inside:

subject to  sum_{a in C} time_a + sum_{r inside [s, e]} time_r q_r <= e - s     energy in [s, e]
            e_t >= s_a + time_a,  sum_{a before t} time_a <= e_t - s            what starts before t
            e_t + sum_{a after t} time_a <= e,  e_t >= t                        what starts after t

The second rows are those of the start `t` of a reservation: what starts before `t` ends by ``e_t``,
and only then, and from `t` on, what starts after `t` begins.

Identical nodes are used in a fixed order: of schedules that differ only in the names of nodes, one
is enough.

Source: ours (energetic reasoning).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import pulp

from dlopt.backends.pulp import Term, linear
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.multistage.chunk_windows import CandidateChunk, CandidateChunks


@dataclass(frozen=True, slots=True)
class SequencingVariables:
    """Variables of the sequencing MILP.

    Parameters
    ----------
    candidates : CandidateChunks
    problem : pulp.LpProblem
    load, start, present : dict of CandidateChunk to pulp.LpVariable
        ``x_a``, ``s_a`` and ``p_a``.
    before : dict of (CandidateChunk, CandidateChunk) to pulp.LpVariable
        ``y_ab``, of two chunks whose order is not given by their gaps.
    reservation_accepted : list of pulp.LpVariable
        ``q_r``.
    node_reserved : dict of (int, int) to pulp.LpVariable
        ``h_rj``: whether reservation `r` gets node `j`.
    """

    candidates: CandidateChunks
    problem: pulp.LpProblem
    load: dict[CandidateChunk, pulp.LpVariable]
    start: dict[CandidateChunk, pulp.LpVariable]
    present: dict[CandidateChunk, pulp.LpVariable]
    before: dict[tuple[CandidateChunk, CandidateChunk], pulp.LpVariable]
    reservation_accepted: list[pulp.LpVariable]
    node_reserved: dict[tuple[int, int], pulp.LpVariable]

    def time_terms(self, a: CandidateChunk, port: bool) -> list[Term]:
        """Return how long a chunk occupies the port, or its node."""
        setup, unit_time = self.candidates.setup_and_unit_time(a, port)
        return [(setup, self.present[a]), (unit_time, self.load[a])]


def add_window_energy(variables: SequencingVariables) -> None:
    """Leave port and nodes the time for all that has its window in an interval.

    Examples
    --------
    >>> from dlopt.models.multistage.scaled_instance import ScaledInstance
    >>> from dlopt.models.multistage.sequencing_milp import SequencingMilp
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), tasks, wanted)
    >>> milp = SequencingMilp(ScaledInstance.from_instance(instance), installments=1).build()
    >>> rows = milp.problem.numConstraints()
    >>> add_window_energy(milp.variables)  # once more, to count its rows
    >>> milp.problem.numConstraints() > rows
    True
    """
    candidates, problem = variables.candidates, variables.problem
    for j, chunks in _resources(variables):
        for start, end, inside in candidates.energy_windows(chunks, port=j is None):
            problem += linear(_busy_terms(variables, j, inside, start, end)) <= end - start


def add_release_energy(variables: SequencingVariables) -> None:
    """Leave port and nodes the time for what starts after an instant, after what starts before."""
    candidates, problem = variables.candidates, variables.problem
    for n, (j, chunks) in enumerate(_resources(variables)):
        for k, stage in enumerate(candidates.release_stages(chunks, port=j is None)):
            instant, end = stage.instant, stage.end
            released = problem.add_variable(f"e_{n}_{k}", instant)
            for a in stage.before:
                chunk_end: list[Term] = [(1, variables.start[a])]
                chunk_end += variables.time_terms(a, port=j is None)
                problem += linear([*chunk_end, (-1, released)]) <= 0
            for start in sorted({candidates.earliest_start(a) for a in stage.before}):
                inside = [a for a in stage.before if candidates.earliest_start(a) >= start]
                terms = _busy_terms(variables, j, inside, start, instant)
                problem += linear([*terms, (-1, released)]) <= -start
            terms = _busy_terms(variables, j, stage.after, instant, end)
            problem += linear([*terms, (1, released)]) <= end


def break_node_symmetry(variables: SequencingVariables) -> None:
    """Use identical nodes in a fixed order, for one reservation or for one task's chunks."""
    scaled, problem = variables.candidates.scaled, variables.problem
    node_reserved, present = variables.node_reserved, variables.present
    flexible = [
        r for r, reservation in enumerate(scaled.reservations) if not reservation.names_nodes
    ]
    binaries: dict[int, int] = defaultdict(int)
    for pair in variables.before:
        for chunk in pair:
            binaries[chunk.task] += 1
    task = max(binaries, key=lambda i: binaries[i], default=0)
    for i, j in _identical_node_pairs(variables.candidates):
        # Where reservations distinguish the nodes, the rows of the task do not bind.
        reserved: list[Term] = [
            (-1 if (r, node) == (flexible[0], j) else 1, node_reserved[r, node])
            for r in flexible
            for node in (i, j)
            if (r, node) in node_reserved
        ]
        if reserved and (flexible[0], i) in node_reserved:
            terms: list[Term] = [(1, node_reserved[flexible[0], i])]
            terms.append((-1, node_reserved[flexible[0], j]))
            problem += linear(terms) >= 0
        a, b = CandidateChunk(task, i, 0, 0), CandidateChunk(task, j, 0, 0)
        if a in present and b in present:
            terms = [*reserved, (1, present[a]), (-1, present[b])]
            problem += linear(terms) >= 0
            if (a, b) in variables.before:
                terms = [*reserved, (1, variables.before[a, b]), (-1, present[b])]
                problem += linear(terms) >= 0


def _resources(
    variables: SequencingVariables,
) -> Iterator[tuple[int | None, list[CandidateChunk]]]:
    """Yield the port, as None, and the nodes, with the chunks that take time of them."""
    candidates = variables.candidates
    tasks_only = candidates.tasks_only
    yield None, [a for a in candidates.chunks if uses_port(tasks_only, a.node)]
    for j in tasks_only.nodes:
        yield j, [a for a in candidates.chunks if a.node == j]


def _busy_terms(
    variables: SequencingVariables,
    j: int | None,
    chunks: list[CandidateChunk],
    start: Fraction,
    end: Fraction,
) -> list[Term]:
    """Return the time of chunks on the port or a node, and of reservations in an interval."""
    terms = [term for a in chunks for term in variables.time_terms(a, port=j is None)]
    for r, reservation in enumerate(variables.candidates.scaled.reservations):
        until = reservation.io_end if j is None else reservation.end
        accepted = (
            variables.reservation_accepted[r] if j is None else variables.node_reserved.get((r, j))
        )
        if accepted is not None and start <= reservation.start and until <= end:
            terms.append((until - reservation.start, accepted))
    return terms


def _identical_node_pairs(candidates: CandidateChunks) -> Iterator[tuple[int, int]]:
    """Yield neighbours among the nodes that could be exchanged."""
    scaled, tasks_only = candidates.scaled, candidates.tasks_only
    groups = defaultdict[object, list[int]](list)
    origin = min((task.release for task in scaled.tasks), default=Fraction(0))
    for j in tasks_only.nodes:
        eligible_for = tuple(
            r for r, reservation in enumerate(scaled.reservations) if j in reservation.eligible
        )
        free = max(tasks_only.free[j], origin)
        groups[tasks_only.tau[j], tasks_only.chi[j], free, eligible_for].append(j)
    for nodes in groups.values():
        yield from pairwise(nodes)
