"""Blocks of graphs that are scheduled one by one, as each is complete before the next one arrives.

Let `H` be the last of the `latest_completions` of the graphs of a block, and let all other graphs
arrive before these, or not before `H`. What a schedule does for a block is a schedule of the block,
and the best one of the block ends by `H`, so that it delays no later graph. So levels of the
optimum are the sums of those of the blocks, and the makespan is that of the last block.

Each block has units and an origin of its own: a graph far from the others does not take the digits
that these need. Source: ours, after the blocks of `dlopt.models.admission.time_blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dlopt.arithmetic import exact
from dlopt.backends.time_budget import Budget
from dlopt.models.common.objective_levels import as_objective_value, match_number_type
from dlopt.models.dag.completion_bounds import latest_completions, sequential_machines
from dlopt.models.dag.program_steps import MAX_JOBS_WITHOUT_DECOMPOSITION
from dlopt.models.dag.scaled_instance import (
    MAX_HORIZON,
    ScaledInstance,
    Scaler,
    sequential_horizon,
)
from dlopt.models.dag.schedules import better_solution, left_shifted_solution, sequenced_solution
from dlopt.problems.dag.claimed_values import claimed_value
from dlopt.problems.dag.data import Instance, Placement, Solution
from dlopt.result import NO_LIMITS, Limits, Result, Status, levels_of

Answer: TypeAlias = Result[Solution]


@dataclass(frozen=True, slots=True)
class TimeBlock:
    """A block as an instance of its own.

    Parameters
    ----------
    instance : Instance
    graphs : tuple of int
        Their positions in the whole instance.
    machines : tuple of int, shape (jobs,)
        Where the jobs, one after another, end before the next block arrives.
    """

    instance: Instance
    graphs: tuple[int, ...]
    machines: tuple[int, ...]

    def restrict(self, solution: Solution) -> Solution:
        """Return what a solution of the whole instance does for the block."""
        position = {graph: number for number, graph in enumerate(self.graphs)}
        placements = (placed for placed in solution.placements if placed.graph in position)
        return Solution(tuple(replace(one, graph=position[one.graph]) for one in placements))


def time_blocks(
    instance: Instance, objective: str, *, within_horizon: bool = True
) -> tuple[TimeBlock, ...]:
    """Return the blocks of an instance, in order; none if it is solved as a whole.

    That is so if there is one block, and if all is within `MAX_HORIZON`, unless there are more than
    `MAX_JOBS_WITHOUT_DECOMPOSITION` jobs and `within_horizon` asks for blocks then: bounds of the
    whole instance have certificates.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> arrivals = (10**13, 0, 2)
    >>> graphs = (Graph(f"g{k}", (Task("t", work=3),), (), a) for k, a in enumerate(arrivals))
    >>> blocks = time_blocks(Instance((Machine("m"),), tuple(graphs)), "makespan")
    >>> [block.graphs for block in blocks]
    [(1, 2), (0,)]
    """
    if len({graph.arrival for graph in instance.graphs}) == 1:
        return ()
    scaled = Scaler(instance).exactly_scaled()
    many = within_horizon and len(scaled.jobs) > MAX_JOBS_WITHOUT_DECOMPOSITION
    if not many and sequential_horizon(scaled) <= MAX_HORIZON:
        return ()
    machines, durations = sequential_machines(scaled)
    groups = _graphs_of_blocks(scaled.arrivals, scaled.due_dates, durations, objective)
    groups = _joined_for_all_machines(scaled, groups)
    if len(groups) == 1:
        return ()
    blocks = []
    for group in groups:
        graphs = tuple(
            # The check tolerates more in the whole instance than it would in a block.
            replace(
                instance.graphs[g], absolute_deadline=scaled.relaxed_due_date(instance.graphs[g])
            )
            for g in group
        )
        jobs = (job for graph in group for job in scaled.jobs_of_graph[graph])
        part = replace(instance, graphs=graphs)
        blocks.append(TimeBlock(part, group, tuple(machines[job] for job in jobs)))
    return tuple(blocks)


def _graphs_of_blocks(
    arrivals: Sequence[int],
    due_dates: Sequence[int | None],
    durations: Sequence[int],
    objective: str,
) -> list[tuple[int, ...]]:
    """Divide graphs of given durations into blocks."""
    groups: list[list[int]] = [[]]
    work = 0
    for graph in sorted(range(len(arrivals)), key=arrivals.__getitem__):
        group, arrival = groups[-1], arrivals[graph]
        if group and arrival >= arrivals[group[-1]] + work:
            own = [arrivals[g] for g in group], [due_dates[g] for g in group]
            if arrival >= max(latest_completions(*own, objective, work)):
                group, work = [], 0
                groups.append(group)
        group.append(graph)
        work += durations[graph]
    return [tuple(sorted(group)) for group in groups]


def _joined_for_all_machines(
    scaled: ScaledInstance, groups: Iterable[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Join groups to those before until every machine can run a task of each, as it must."""
    joined: list[tuple[int, ...]] = []

    def runs_all() -> bool:
        jobs = (job for graph in joined[-1] for job in scaled.jobs_of_graph[graph])
        columns = zip(*(scaled.costs[job] for job in jobs), strict=True)
        return all(any(cost is not None for cost in column) for column in columns)

    for group in groups:
        before = () if not joined or runs_all() else joined.pop()
        joined.append(tuple(sorted(before + group)))
    if len(joined) > 1 and not runs_all():
        joined[-2:] = [tuple(sorted(joined[-2] + joined[-1]))]
    return joined


def solve_blocks(
    instance: Instance,
    objective: str,
    blocks: Sequence[TimeBlock],
    solve: Callable[[Instance, Limits, Solution | None], Answer],
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
) -> Answer:
    """Return the answer for an instance, of a method that is asked about its blocks.

    Of a makespan it is asked about the last block. The graphs before follow the hint, if they are
    complete in time by it, or else run one after another.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graphs = (Graph("g", (Task("t", work=3),)), Graph("h", (Task("t", work=4),), (), 10**13))
    >>> instance = Instance((Machine("m"),), graphs)
    >>> blocks = time_blocks(instance, "total-response-time")
    >>> def bound(part, limits, hint):
    ...     return Result(Status.BOUND, bound=part.graphs[0].tasks[0].work)
    >>> solve_blocks(instance, "total-response-time", blocks, bound).bound
    7
    """
    budget, answers = Budget(limits), dict[TimeBlock, Answer]()
    decisive = blocks[-1:] if objective == "makespan" else blocks
    for block in sorted(decisive, key=lambda block: len(block.machines)):
        share = budget.left_or_minimum(1 / (len(decisive) - len(answers)))
        answers[block] = solve(block.instance, share, hint and block.restrict(hint))
    combined = _combine([answers[block] for block in decisive], instance)
    placements: list[Placement] = []
    for number, block in enumerate(blocks):
        if block in answers:
            plan = answers[block].solution
        else:
            plan = _solution_before(block, blocks[number + 1], hint)
        if plan is None:
            return combined
        placements += (replace(one, graph=block.graphs[one.graph]) for one in plan.placements)
    whole = ScaledInstance.from_instance(instance)
    merged = left_shifted_solution(whole, Solution(tuple(placements)))
    solution = better_solution(whole, objective, merged, hint)
    value = claimed_value(instance, solution, objective)
    status, bound = combined.status, combined.bound
    if status is Status.OPTIMAL and "tardy" in objective and bound is not None:
        # Due dates of blocks are later than stated if the instance is in floats.
        is_attained = levels_of(value)[0] == levels_of(bound)[0]
        status = Status.OPTIMAL if is_attained else Status.FEASIBLE
    return replace(combined, status=status, solution=solution, value=value)


def _solution_before(block: TimeBlock, later: TimeBlock, hint: Solution | None) -> Solution:
    """Return a solution of a block that is complete before a later one arrives."""
    if hint is not None:
        plan = block.restrict(hint)
        makespan = levels_of(claimed_value(block.instance, plan, "makespan"))[0]
        if makespan <= min(graph.arrival for graph in later.instance.graphs):
            return plan
    scaled = ScaledInstance.from_instance(block.instance)
    return sequenced_solution(scaled, block.machines, range(len(block.machines)))


def _combine(answers: Sequence[Answer], instance: Instance) -> Answer:
    """Return the sum of the bounds of blocks, level by level, with what else is known of it."""
    last, bound = answers[-1], None
    bounds = [levels_of(answer.bound) for answer in answers if answer.bound is not None]
    if len(bounds) == len(answers):
        sums = (sum(map(exact, level), Fraction(0)) for level in zip(*bounds, strict=True))
        bound = match_number_type(as_objective_value(sums), is_exact=instance.exact)
    reasons = dict.fromkeys(answer.reason for answer in answers if answer.reason is not None)
    return replace(
        next((answer for answer in answers if answer.status is not Status.OPTIMAL), last),
        solution=None,
        bound=bound,
        reason="; ".join(("graphs that arrive far apart are solved one by one", *reasons)),
        proof="solver" if any(answer.proof == "solver" for answer in answers) else last.proof,
        certificate=None,
    )
