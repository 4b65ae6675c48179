"""Brute force for bags of tasks: every assignment, every order; and Moore's rule."""

from heapq import heappop, heappush
from itertools import permutations, product

import networkx

from dlopt.arithmetic import exact
from dlopt.problems.bag.data import PRIORITIES


def transfers(instance, site, data):
    """Return how long data takes from a site to each, by a library's shortest paths."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(instance.sites)))
    for link in instance.links:
        time = exact(data) / exact(link.bandwidth) + exact(link.latency)
        one, other = link.between
        if not graph.has_edge(one, other) or time < graph[one][other]["time"]:
            graph.add_edge(one, other, time=time)
    found = networkx.single_source_dijkstra_path_length(graph, site, weight="time")
    return [found[index] for index in range(len(instance.sites))]


def best(instance, name):
    """Return the best value that any plan has, by trying all of them.

    Every task goes to each machine that can run it, or to none if it has a deadline; on each
    machine every order is tried, and each task starts as early as it can. That is enough: to
    start earlier makes no task late. Values are tuples, larger is better: smaller makespans and
    flowtimes are negative here.
    """
    tasks, machines = instance.all_tasks, instance.all_machines
    here = [transfers(instance, task.site, task.input) for task in tasks]
    choices = []
    for index, task in enumerate(tasks):
        able = [k for k in range(len(machines)) if duration(instance, index, k) is not None]
        choices.append(able + ([None] if task.absolute_deadline is not None else []))
    found = None
    for choice in product(*choices):
        parts = []
        for k, machine in enumerate(machines):
            own = [index for index, where in enumerate(choice) if where == k]
            ways = []
            for order in permutations(own):
                clock, ends = exact(machine.ready), {}
                for index in order:
                    arrival = exact(tasks[index].release) + here[index][machine.site]
                    clock = max(clock, arrival) + duration(instance, index, k)
                    ends[index] = clock
                if all(_in_time(tasks[index], end) for index, end in ends.items()):
                    ways.append(ends)
            parts.append(ways)
        for ways in product(*parts):
            ends = {index: end for way in ways for index, end in way.items()}
            value = _value(tasks, ends, name)
            found = value if found is None else max(found, value)
    return found


def _in_time(task, end):
    return task.absolute_deadline is None or end <= exact(task.absolute_deadline)


def duration(instance, index, machine):
    """Return how long a task takes on a machine, from the fields; None if it cannot run there."""
    if instance.etc is None:
        return exact(instance.tasks[index].work) / exact(instance.machines[machine].power)
    time = instance.etc[index][machine]
    return None if time is None else exact(time)


def _value(tasks, ends, name):
    met = [tasks[index].priority for index in ends]
    return {
        "makespan": (-max(ends.values(), default=0),),
        "flowtime": (-sum(end - exact(tasks[index].release) for index, end in ends.items()),),
        "accepted": (len(met),),
        "critical-then-all": (met.count("critical"), len(met)),
        "by-priority": tuple(met.count(priority) for priority in PRIORITIES),
    }[name]


def as_tuple(value, name):
    """Return a value of ours as `best` gives it."""
    if name in ("makespan", "flowtime"):
        return (-value,)
    return value if isinstance(value, tuple) else (value,)


def moore_hodgson(lengths, deadlines):
    """Return how many tasks one machine can meet that are all there at 0.

    In order of deadlines; whenever one would be late, the longest so far is left out.
    """
    kept, clock = [], 0
    for deadline, length in sorted(zip(deadlines, lengths, strict=True)):
        heappush(kept, -length)
        clock += length
        if clock > deadline:
            clock += heappop(kept)
    return len(kept)


class NaiveIdleIntervals:
    """The slacks of a machine as a sorted list, each looked at in turn."""

    def __init__(self, ready):
        self.free = [(ready, float("inf"))]

    def latest(self, start, end, length):
        for low, high in reversed(self.free):
            low, high = max(low, start), min(high, end)
            if high - low >= length:
                return (low, low + length) if high == float("inf") else (high - length, high)
        return None

    def earliest(self, start, end, length):
        for low, high in self.free:
            low, high = max(low, start), min(high, end)
            if high - low >= length:
                return low, low + length
        return None

    def occupy(self, start, end):
        (slack,) = [one for one in self.free if one[0] <= start and end <= one[1]]
        self.free.remove(slack)
        parts = [(slack[0], start), (end, slack[1])]
        self.free = sorted(self.free + [part for part in parts if part[0] < part[1]])

    def release(self, start, end):
        touching = [one for one in self.free if one[1] == start or one[0] == end]
        low = min([start] + [one[0] for one in touching])
        high = max([end] + [one[1] for one in touching])
        self.free = sorted([one for one in self.free if one not in touching] + [(low, high)])


def textbook(arrays, choice, run_late=False):
    """Yield the steps of a batch rule by looking at every task and machine in every step."""
    free = list(arrays.ready)
    left = [
        task for task, row in enumerate(arrays.durations) if any(time is not None for time in row)
    ]
    while left:
        found = []
        for task in left:
            ends = sorted(
                (max(free[machine], arrays.earliest_start(task, machine)) + time, machine)
                for machine, time in enumerate(arrays.durations[task])
                if time is not None
            )
            gap = ends[1][0] - ends[0][0] if len(ends) > 1 else float("inf")
            key = {"min-min": ends[0][0], "max-min": -ends[0][0], "sufferage": -gap}[choice]
            found.append((key, task, ends[0]))
        _, task, (end, machine) = min(found)
        left.remove(task)
        yield task, machine
        due = arrays.deadlines[task]
        if run_late or due is None or end <= due:
            free[machine] = end
