"""List passes over a flat instance: a priority list becomes a schedule.

All functions keep to what numba compiles: `dlopt.heuristics.dag.list_passes_numba` compiles these
very functions, so that both give the same schedules, bit by bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dlopt.heuristics.dag.flat_arrays import Direction, Floats, Integers


class Plan(NamedTuple):
    """A schedule: machine, start and end of each task, and the task before it on its machine."""

    machine: Integers
    start: Floats
    finish: Floats
    previous: Integers


class PassMemory(NamedTuple):
    """Working memory of a list pass.

    By machine: the last task, and until when it has been busy without a break, where no task can be
    inserted; by task: the one that follows it on its machine (-1: none); by class of machines: the
    arrivals of data.
    """

    tail: Integers
    busy_until: Floats
    following: Integers
    last: Floats
    other_last: Floats
    last_source: Integers


def copy_plan(source: Plan, target: Plan) -> None:
    """Copy a schedule."""
    for task in range(len(source.start)):
        target.machine[task], target.previous[task] = source.machine[task], source.previous[task]
        target.start[task], target.finish[task] = source.start[task], source.finish[task]


def find_slot(
    machine: int,
    ready: float,
    cost: float,
    start: Floats,
    finish: Floats,
    previous: Integers,
    tail: Integers,
) -> tuple[float, int]:
    """Return the earliest start on a machine, and the task before which it lies (-1: the end)."""
    current, found, follower = tail[machine], ready, -1
    if cost <= 0:
        return found, follower
    if current >= 0 and finish[current] > ready:
        found = finish[current]
    while current >= 0 and finish[current] > ready:
        before = previous[current]
        begin = ready
        if before >= 0 and finish[before] > ready:
            begin = finish[before]
        if begin + cost <= start[current]:
            found, follower = begin, current
        current = before
    return found, follower


def ready_time(
    direction: Direction, task: int, machine: int, machine_of: Integers, finish: Floats
) -> float:
    """Return when the data of a task is on a machine."""
    predecessor, data = direction.predecessor, direction.data
    latency, time_per_data = direction.latency, direction.time_per_data
    machine_class, local = direction.machine_class, direction.local_transfers_counted
    ready = direction.releases[direction.release_row[task] * direction.machine_count + machine]
    target = machine_class[machine]
    for edge in range(direction.first_predecessor[task], direction.first_predecessor[task + 1]):
        source = predecessor[edge]
        at, arrives = machine_of[source], finish[source]
        if at != machine or local:
            pair = machine_class[at] * direction.class_count + target
            arrives += latency[pair] + data[edge] * time_per_data[pair]
        if arrives > ready:
            ready = arrives
    return ready


def note_arrivals(
    direction: Direction, task: int, machine_of: Integers, finish: Floats, memory: PassMemory
) -> None:
    """Note for each class of machines the last arrival of data, and the last from elsewhere."""
    last, other_last, last_source = memory.last, memory.other_last, memory.last_source
    predecessor, data, machine_class = (
        direction.predecessor,
        direction.data,
        direction.machine_class,
    )
    latency, time_per_data = direction.latency, direction.time_per_data
    classes = direction.class_count
    for number in range(classes):
        last[number], other_last[number], last_source[number] = -1.0, -1.0, -1
    for edge in range(direction.first_predecessor[task], direction.first_predecessor[task + 1]):
        source = predecessor[edge]
        at = machine_of[source]
        row = machine_class[at] * classes
        for number in range(classes):
            pair = row + number
            arrives = finish[source] + (latency[pair] + data[edge] * time_per_data[pair])
            if at == last_source[number]:
                if arrives > last[number]:
                    last[number] = arrives
            elif arrives > last[number]:
                other_last[number] = last[number]
                last[number], last_source[number] = arrives, at
            elif arrives > other_last[number]:
                other_last[number] = arrives


def find_machine(
    direction: Direction, task: int, plan: Plan, memory: PassMemory
) -> tuple[int, float, int]:
    """Return the machine on which a task ends first, its start, and the task that follows there.

    As in HEFT, what follows the end is added; of equal machines that of the least cost is taken.
    """
    machine_of, start, finish, previous = plan.machine, plan.start, plan.finish, plan.previous
    note_arrivals(direction, task, machine_of, finish, memory)
    tail, last, other_last, last_source = (
        memory.tail,
        memory.last,
        memory.other_last,
        memory.last_source,
    )
    costs, releases, deliveries = direction.costs, direction.releases, direction.deliveries
    predecessor, machine_class = direction.predecessor, direction.machine_class
    count, local = direction.machine_count, direction.local_transfers_counted
    busy_until = memory.busy_until
    row, release_row = direction.cost_row[task] * count, direction.release_row[task] * count
    delivery_row = direction.delivery_row[task] * count
    first, end_of_list = direction.first_predecessor[task], direction.first_predecessor[task + 1]
    chosen, chosen_start, chosen_follower = -1, 0.0, -1
    least_end, least_cost = math.inf, math.inf
    for machine in range(count):
        cost = costs[row + machine]
        if cost == math.inf:
            continue
        ready, number = releases[release_row + machine], machine_class[machine]
        if last_source[number] != machine or local:
            ready = max(ready, last[number])
        else:
            ready = max(ready, other_last[number])
            for edge in range(first, end_of_list):
                source = predecessor[edge]
                if machine_of[source] == machine and finish[source] > ready:
                    ready = finish[source]
        if cost > 0 and busy_until[machine] > ready:
            ready = busy_until[machine]
        more = deliveries[delivery_row + machine]
        if ready + cost + more > least_end:
            continue
        begin, follower = find_slot(machine, ready, cost, start, finish, previous, tail)
        end = begin + cost + more
        if end < least_end or (end == least_end and cost < least_cost):
            chosen, chosen_start, chosen_follower = machine, begin, follower
            least_end, least_cost = end, cost
    return chosen, chosen_start, chosen_follower


def list_pass(
    direction: Direction, order: Integers, fixed: Integers, plan: Plan, memory: PassMemory
) -> None:
    """Schedule the tasks of a list in its order, each where it ends first, or where it is fixed.

    Tasks are inserted into idle intervals. Complexity: O(edges x classes + tasks x machines), and
    the tasks that end after the data of a task is there.
    """
    machine_of, start, finish, previous = plan.machine, plan.start, plan.finish, plan.previous
    tail, costs, cost_row = memory.tail, direction.costs, direction.cost_row
    busy_until, following = memory.busy_until, memory.following
    for machine in range(direction.machine_count):
        tail[machine], busy_until[machine] = -1, 0.0
    for index in range(len(order)):
        task = order[index]
        machine = fixed[task]
        row = cost_row[task] * direction.machine_count
        if machine < 0:
            machine, begin, follower = find_machine(direction, task, plan, memory)
            cost = costs[row + machine]
        else:
            cost = costs[row + machine]
            ready = ready_time(direction, task, machine, machine_of, finish)
            if cost > 0 and busy_until[machine] > ready:
                ready = busy_until[machine]
            begin, follower = find_slot(machine, ready, cost, start, finish, previous, tail)
        machine_of[task], start[task], finish[task] = machine, begin, begin + cost
        previous[task] = -1
        if cost <= 0:
            continue
        if follower >= 0:
            previous[task] = previous[follower]
            previous[follower] = task
        else:
            previous[task] = tail[machine]
            tail[machine] = task
        following[task] = follower
        if previous[task] >= 0:
            following[previous[task]] = task
        if begin <= busy_until[machine]:
            busy_until[machine] = finish[task]
            while follower >= 0 and start[follower] <= busy_until[machine]:
                busy_until[machine] = finish[follower]
                follower = following[follower]


def completion_of(direction: Direction, task: int, plan: Plan) -> float:
    """Return when a task has ended and its output has been delivered."""
    row = direction.delivery_row[task] * direction.machine_count
    return plan.finish[task] + direction.deliveries[row + plan.machine[task]]


def least_makespan(
    direction: Direction, order: Integers, ends: Floats, memory: PassMemory
) -> float:
    """Return a lower bound of the makespan: the longest path, or all work.

    Every task takes its least cost on paths. A machine has the weight ``1 / sum of its costs``; the
    makespan is no less than the sum of the least weighted cost of each task over the sum of all
    weights. For work divided by speed that is the total work divided by the total speed.
    Complexity: O(tasks x machines + edges).
    """
    count, weights, costs = direction.machine_count, memory.busy_until, direction.costs
    path, work, total = 0.0, 0.0, 0.0
    for machine in range(count):
        column = 0.0
        for task in range(len(order)):
            cost = costs[direction.cost_row[task] * count + machine]
            column += cost if cost < math.inf else 0.0
        weights[machine] = 1.0 / column if column > 0 else 0.0
        total += weights[machine]
    for index in range(len(order)):
        task, begin = order[index], 0.0
        least, energy = math.inf, math.inf
        for machine in range(count):
            cost = costs[direction.cost_row[task] * count + machine]
            if cost < math.inf:
                least, energy = min(least, cost), min(energy, cost * weights[machine])
        for edge in range(direction.first_predecessor[task], direction.first_predecessor[task + 1]):
            begin = max(begin, ends[direction.predecessor[edge]])
        ends[task] = begin + least
        path, work = max(path, ends[task]), work + energy
    return max(path, work / total) if total > 0 else path
