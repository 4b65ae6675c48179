"""Moves in priority lists, and a search that makes them: list passes again and again.

A *move* changes a priority list and the machines that are fixed for some of its tasks, and a list
pass turns both into a schedule. It is accepted if the schedule is better than the current one, or
worse by less than a random share of a temperature that falls to 0 within a cycle; a cycle begins at
the best schedule, and is twice as long as the one before (simulated annealing). The temperature is
lower the closer the best makespan is to a lower bound. Of five kinds of moves those that improve
more are made more often.

All functions keep to what numba compiles, see `dlopt.heuristics.dag.list_passes`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dlopt.heuristics.dag.flat_arrays import Direction, FlatInstance, Floats, Integers
from dlopt.heuristics.dag.list_passes import (
    PassMemory,
    Plan,
    completion_of,
    copy_plan,
    least_makespan,
    list_pass,
)

MAKESPAN = 0
TARDY = 1
RESPONSE = 2
TARDY_THEN_RESPONSE = 3
"""Criteria of schedules."""

FIRST_CYCLE = 500
"""Moves of the first cycle. Chosen by hand."""
MAX_TEMPERATURE = 0.05
"""Share of the best value, and of its distance to a lower bound, by which accepted schedules may be
worse. Chosen by hand on the generated families of 20 to 40 tasks."""
MOVES_PER_TASK = 10
"""Moves of a cycle for each task from which it begins with the largest temperature; shorter cycles
begin with a share of it. Chosen by hand."""
CRITICAL_SHARE = 0.6
"""Share of moved tasks that are on a critical path. Chosen by hand."""
REVERSE_WEIGHT = 0.25
"""Weight of backward passes among the kinds of moves, in addition to their cost, which
`Search.trials` counts. Chosen by hand."""
REVERSE_PASSES = 3.0
"""List passes of a move of that kind: of the list, backwards and forwards."""
MAX_SHIFTS = 3
"""Tasks that are shifted at once, at most. Chosen by hand."""
MACHINE_DRAWS = 8
"""Draws of another machine for a task before it keeps its own."""
TIGHT = 1e-9
"""Share of the length by which a start may differ from the end that allows it, for rounding."""

SHIFT = 0
FIX = 1
RELEASE = 2
REVERSE = 3
PULL = 4
KINDS = 5
"""Kinds of moves: shift tasks in the list, fix the machine of one, release all, pass backwards, and
shift one with those that are in its way."""

RANDOM = 0
MOVES = 1
CYCLE_BEGIN = 2
CYCLE_LENGTH = 3
CRITICAL = 4
COUNTS = 5
"""Places in `Search.counts`."""
RANK = 0
LENGTH = 1
BEST_RANK = 2
BEST_LENGTH = 3
LEAST_LENGTH = 4
VALUES = 5
"""Places in `Search.values`."""
MODULUS = 2147483647
MULTIPLIER = 48271
"""The generator of Park and Miller 1988, with the multiplier of 1993."""


class Search(NamedTuple):
    """The state of a search: current, best and proposed list, and working memory.

    `fixed` is -1 for a task whose machine the pass chooses. `counts` and `values` are named by the
    constants of this module; `trials` counts the list passes of each kind of move, and `successes`
    the moves that improved.
    """

    order: Integers
    fixed: Integers
    plan: Plan
    best_order: Integers
    best_fixed: Integers
    best_plan: Plan
    new_order: Integers
    new_fixed: Integers
    new_plan: Plan
    position: Integers
    critical: Integers
    keys: Floats
    spare: Integers
    marked: Integers
    memory: PassMemory
    completion: Floats
    counts: Integers
    values: Floats
    trials: Floats
    successes: Floats


def evaluate(flat: FlatInstance, criterion: int, plan: Plan, search: Search) -> tuple[float, float]:
    """Return the number of late graphs (0 if it does not matter), and what is minimised then."""
    rank, length = 0.0, 0.0
    if criterion == MAKESPAN:
        for task in range(len(plan.start)):
            length = max(length, completion_of(flat.forward, task, plan))
        return rank, length
    for graph in range(len(flat.arrival)):
        search.completion[graph] = 0.0
    for task in range(len(plan.start)):
        graph = flat.graph_of[task]
        completion = completion_of(flat.forward, task, plan)
        search.completion[graph] = max(search.completion[graph], completion)
    for graph in range(len(flat.arrival)):
        late = search.completion[graph] - flat.deadline[graph]
        if late > 0 and criterion != RESPONSE:
            rank += 1.0
        if criterion == TARDY:
            length += max(0.0, late)
        else:
            length += search.completion[graph] - flat.arrival[graph]
    return rank, length


def draw(counts: Integers, limit: int) -> int:
    """Return a random number from 0 to limit - 1."""
    counts[RANDOM] = counts[RANDOM] * MULTIPLIER % MODULUS
    return counts[RANDOM] % limit


def draw_share(counts: Integers) -> float:
    """Return a random number between 0 and 1."""
    return draw(counts, MODULUS) / MODULUS


def find_critical_path(flat: FlatInstance, criterion: int, search: Search) -> None:
    """Note the tasks of a critical path of the current schedule, from its end on.

    It leads from the last task (of all graphs, or of a random one) to one that allows its start,
    by its data or on its machine; of several a random one is taken.
    """
    forward, plan, count = flat.forward, search.plan, len(search.order)
    graph = -1 if criterion == MAKESPAN else draw(search.counts, len(flat.arrival))
    task, latest = -1, -1.0
    for other in range(count):
        if graph < 0 or flat.graph_of[other] == graph:
            completion = completion_of(forward, other, plan)
            if completion > latest:
                task, latest = other, completion
    length = 0
    slack = TIGHT * latest
    while task >= 0 and length < count:
        search.critical[length] = task
        length += 1
        begin, found, before = plan.start[task] - slack, 0, plan.previous[task]
        following = -1
        if before >= 0 and plan.finish[before] >= begin:
            following, found = before, 1
        for edge in range(forward.first_predecessor[task], forward.first_predecessor[task + 1]):
            source = forward.predecessor[edge]
            at, machine, arrives = plan.machine[source], plan.machine[task], plan.finish[source]
            if at != machine or forward.local_transfers_counted:
                pair = forward.machine_class[at] * forward.class_count
                pair += forward.machine_class[machine]
                arrives += forward.latency[pair] + forward.data[edge] * forward.time_per_data[pair]
            if arrives >= begin:
                found += 1
                if draw(search.counts, found) == 0:
                    following = source
        task = following
    search.counts[CRITICAL] = length


def shift(direction: Direction, task: int, search: Search) -> None:
    """Move a task to a random place in the proposed list between its neighbours in the graph."""
    order, position = search.new_order, search.position
    at, low, high = position[task], 0, len(order) - 1
    for edge in range(direction.first_predecessor[task], direction.first_predecessor[task + 1]):
        low = max(low, position[direction.predecessor[edge]] + 1)
    for edge in range(direction.first_successor[task], direction.first_successor[task + 1]):
        high = min(high, position[direction.successor[edge]] - 1)
    to = low + draw(search.counts, high - low + 1)
    step = 1 if to > at else -1
    while at != to:
        order[at] = order[at + step]
        position[order[at]] = at
        at += step
    order[to] = task
    position[task] = to


def pull(direction: Direction, task: int, search: Search) -> None:
    """Move a task to a random place in the proposed list, and with it those that are in its way.

    Those are its predecessors, direct or not, where it moves forward in the list, or else its
    successors; their sequence remains. `position` does not change. Complexity: O(tasks + edges).
    """
    order, moved, marked, count = search.new_order, search.spare, search.marked, 0
    at, to = search.position[task], draw(search.counts, len(order))
    step = 1 if to > at else -1
    first, neighbour = direction.first_predecessor, direction.predecessor
    if to > at:
        first, neighbour = direction.first_successor, direction.successor
    for other in range(len(order)):
        marked[other] = 0
    marked[task] = 1
    for index in range(at, to + step, step):
        other = order[index]
        if marked[other] == 1:
            moved[count] = other
            count += 1
            for edge in range(first[other], first[other + 1]):
                marked[neighbour[edge]] = 1
        else:
            order[index - step * count] = other
    for number in range(count):
        order[to - step * (count - 1 - number)] = moved[number]


def sort_by_end(search: Search) -> None:
    """Turn the proposed list around, and sort it by the ends of the proposed schedule.

    The last end comes first; of equal ends the order remains (merge sort).
    """
    order, spare, count = search.new_order, search.spare, len(search.new_order)
    for index in range(count):
        spare[index] = order[count - 1 - index]
    for index in range(count):
        order[index] = spare[index]
        search.keys[index] = -search.new_plan.finish[index]
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            left, middle = low, min(low + width, count)
            right, high = middle, min(low + 2 * width, count)
            for index in range(low, high):
                from_left = left < middle
                if from_left and right < high:
                    from_left = search.keys[order[left]] <= search.keys[order[right]]
                if from_left:
                    spare[index] = order[left]
                    left += 1
                else:
                    spare[index] = order[right]
                    right += 1
        for index in range(count):
            order[index] = spare[index]
        width *= 2


def copy_list(
    order: Integers, fixed: Integers, target_order: Integers, target_fixed: Integers
) -> None:
    """Copy a priority list and the machines that are fixed."""
    for index in range(len(order)):
        target_order[index], target_fixed[index] = order[index], fixed[index]


def weight(kind: int, search: Search) -> float:
    """Return how often a kind of move should be made, by its improvements per list pass."""
    share = (search.successes[kind] + 1.0) / (search.trials[kind] + 10.0)
    return share * REVERSE_WEIGHT if kind == REVERSE else share


def draw_kind(search: Search) -> int:
    """Return a random kind of move, in proportion to the weights."""
    total = 0.0
    for kind in range(KINDS):
        total += weight(kind, search)
    left = total * draw_share(search.counts)
    for kind in range(KINDS - 1):
        left -= weight(kind, search)
        if left < 0:
            return kind
    return KINDS - 1


def draw_task(search: Search) -> int:
    """Return a random task, often one on the critical path."""
    if draw_share(search.counts) < CRITICAL_SHARE:
        return search.critical[draw(search.counts, search.counts[CRITICAL])]
    return draw(search.counts, len(search.order))


def fix_machine(direction: Direction, task: int, search: Search) -> None:
    """Fix a task on a random machine other than its current one."""
    row = direction.cost_row[task] * direction.machine_count
    for _ in range(MACHINE_DRAWS):
        machine = draw(search.counts, direction.machine_count)
        if machine != search.plan.machine[task] and direction.costs[row + machine] < math.inf:
            search.new_fixed[task] = machine
            break


def propose(flat: FlatInstance, kind: int, search: Search) -> None:
    """Propose a list near the current one, and make its schedule."""
    copy_list(search.order, search.fixed, search.new_order, search.new_fixed)
    for index in range(len(search.order)):
        search.position[search.order[index]] = index
        if kind in (RELEASE, REVERSE):
            search.new_fixed[index] = -1
    several = kind in (SHIFT, RELEASE)
    for _ in range(1 + draw(search.counts, MAX_SHIFTS) if several else 1):
        task = draw_task(search)
        if kind == FIX:
            fix_machine(flat.forward, task, search)
        elif kind == SHIFT and draw(search.counts, 2) == 0:
            search.new_fixed[task] = -1
        if kind == PULL:
            pull(flat.forward, task, search)
        else:
            shift(flat.forward, task, search)
    list_pass(flat.forward, search.new_order, search.new_fixed, search.new_plan, search.memory)
    if kind == REVERSE:
        for direction in (flat.backward, flat.forward):
            sort_by_end(search)
            list_pass(direction, search.new_order, search.new_fixed, search.new_plan, search.memory)


def begin_cycle(search: Search) -> None:
    """Begin a cycle that is twice as long at the best list."""
    search.counts[CYCLE_BEGIN] = search.counts[MOVES]
    search.counts[CYCLE_LENGTH] *= 2
    copy_list(search.best_order, search.best_fixed, search.order, search.fixed)
    copy_plan(search.best_plan, search.plan)
    values = search.values
    values[RANK], values[LENGTH] = values[BEST_RANK], values[BEST_LENGTH]
    search.counts[CRITICAL] = 0


def allowance(search: Search) -> float:
    """Return by how much a schedule may be worse than the current one now.

    Close to the lower bound, a share of the makespan alone would let nearly all moves pass.
    """
    length, best = search.counts[CYCLE_LENGTH], search.values[BEST_LENGTH]
    share = min(1.0, length / (MOVES_PER_TASK * len(search.order)))
    left = 1.0 - (search.counts[MOVES] - search.counts[CYCLE_BEGIN]) / length
    most = min(best * share, max(0.0, best - search.values[LEAST_LENGTH]))
    return MAX_TEMPERATURE * most * left * draw_share(search.counts)


def accept(rank: float, length: float, kind: int, search: Search) -> None:
    """Make the proposed list the current one, and the best one if it is."""
    values = search.values
    if rank < values[RANK] or length < values[LENGTH]:
        search.successes[kind] += 1.0
    values[RANK], values[LENGTH] = rank, length
    copy_list(search.new_order, search.new_fixed, search.order, search.fixed)
    copy_plan(search.new_plan, search.plan)
    search.counts[CRITICAL] = 0
    best = values[BEST_RANK]
    if rank < best or (rank == best and length < values[BEST_LENGTH]):
        values[BEST_RANK], values[BEST_LENGTH] = rank, length
        copy_list(search.order, search.fixed, search.best_order, search.best_fixed)
        copy_plan(search.plan, search.best_plan)


def start(flat: FlatInstance, criterion: int, search: Search) -> None:
    """Make the schedule of the first list."""
    values, order, memory = search.values, search.order, search.memory
    if criterion == MAKESPAN:
        values[LEAST_LENGTH] = least_makespan(flat.forward, order, search.keys, memory)
    list_pass(flat.forward, order, search.fixed, search.plan, memory)
    rank, length = evaluate(flat, criterion, search.plan, search)
    values[RANK], values[LENGTH] = rank, length
    values[BEST_RANK], values[BEST_LENGTH] = rank, length
    copy_list(search.order, search.fixed, search.best_order, search.best_fixed)
    copy_plan(search.plan, search.best_plan)


def improve(flat: FlatInstance, criterion: int, search: Search, moves: int) -> None:
    """Make so many moves."""
    counts, values = search.counts, search.values
    for _ in range(moves):
        if counts[MOVES] - counts[CYCLE_BEGIN] >= counts[CYCLE_LENGTH]:
            begin_cycle(search)
        if counts[CRITICAL] == 0:
            find_critical_path(flat, criterion, search)
        kind = draw_kind(search)
        propose(flat, kind, search)
        search.trials[kind] += REVERSE_PASSES if kind == REVERSE else 1.0
        rank, length = evaluate(flat, criterion, search.new_plan, search)
        most = values[LENGTH] + allowance(search)
        if rank < values[RANK] or (rank == values[RANK] and length <= most):
            accept(rank, length, kind, search)
        counts[MOVES] += 1
