"""Small streams to test with."""

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
