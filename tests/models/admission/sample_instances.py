"""Small streams to test with, and their plans as points of a relaxation."""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import islice

from dlopt.arithmetic import exact
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster


def stream(nodes, tau, chi, *tasks, theta_cm=0, theta_cp=0, **state):
    """Return an instance with tasks (arrival, load, deadline), named a, b, c, ..."""
    named = (Task(name, *task) for name, task in zip("abcdefghij", tasks, strict=False))
    return Instance(Cluster(nodes, tau, chi, theta_cm, theta_cp), tuple(named), **state)


# Where greedy algorithms accept less than the optimum, which is the last number.
GAPS = (
    (stream(2, 1, 1, (0, 6, 30), (1, 1, 2), (3, 1, 2), (5, 1, 2)), 4),
    (stream(2, 1, 1, (0, 2, 14), (0, 10, 15)), 2),
    (stream(2, 1, 2, (0, 2, 4), (0, 3, 8), (0, 1, 4)), 2),
    (stream(3, 1, 4, (0, 5, 14), (5, 6, 30), (5, 3, 16), (10, 6, 16)), 4),
    (stream(2, 1, 1, (0, 1, 2), (0, 1, 2)), 1),
    (stream(1, 1, 1, (0, 2, 10), (1, 1, 2)), 2),
)


def point_of_spans(relaxation, plan):
    """Return the columns of a plan in a relaxation over spans of chunks."""
    scaled, t, cluster = relaxation.scaled, relaxation.instants, relaxation.scaled.instance.cluster
    accepted = {one.task for one in plan.decisions if one.accepted}
    ids = [scaled.instance.tasks[task.index].id for task in scaled.tasks]
    columns = [Fraction(0)] * len(relaxation.costs)
    for column, name in zip(relaxation.accepted, ids, strict=True):
        columns[column] = Fraction(name in accepted)
    places = {span[:5]: span for span in relaxation.spans}
    for chunk in plan.chunks:
        load = exact(chunk.load)
        computing = exact(cluster.theta_cp) + exact(cluster.chi_of(chunk.node)) * load
        sent_at = exact(chunk.transmission_end)
        begun, sent, ended = (
            (exact(instant) - scaled.origin) / scaled.time_unit
            for instant in (chunk.transmission_start, sent_at, sent_at + computing)
        )
        g = next(g for g, group in enumerate(relaxation.groups) if chunk.node in group.nodes)
        start = bisect_right(t, begun) - 1
        middle = max(start, bisect_left(t, sent) - 1)
        end = max(middle, bisect_left(t, ended) - 1)
        span = places[ids.index(chunk.task), g, start, middle, end]
        columns[span.chunks] += 1
        columns[span.load] += load / scaled.load_unit
        columns[span.time] += t[start + 1] - begun
    return columns


def equal_parts(scaled, parts):
    """Return instants that divide the time until the last due date into equal parts."""
    first = min((task.release for task in scaled.tasks), default=0)
    last = max((task.due for task in scaled.tasks), default=0)
    return [t for t in (last * part / parts for part in range(1, parts)) if first < t < last]


def among(conflicts, requests, most):
    """Return a conflict among some requests that so many divisions of time find."""
    return conflicts.among(requests, islice(conflicts.refutations(requests), most))
