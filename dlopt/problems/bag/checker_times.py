"""Durations and transfer times, as the checker computes them: from the data, in fractions.

No model and no heuristic uses this module, and no checker uses `dlopt.problems.bag.network`: an
error in one shows in the other.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.bag.data import Instance


def duration(instance: Instance, task: int, machine: int) -> Fraction | None:
    """Return how long a task takes on a machine; None if it cannot run there.

    Examples
    --------
    >>> instance = Instance(etc=((4, 2), (3, None)))
    >>> duration(instance, 0, 1), duration(instance, 1, 1)
    (Fraction(2, 1), None)
    """
    if instance.etc is not None:
        time = instance.etc[task][machine]
        return None if time is None else exact(time)
    work = instance.tasks[task].work
    assert work is not None  # it is given where there is no matrix
    return exact(work) / exact(instance.machines[machine].power)


def times_from(instance: Instance, site: int, data: Fraction) -> list[Fraction]:
    """Return how long data takes from a site to each site, by the fastest path.

    Notes
    -----
    What is known of the sites is improved along every link, in both directions, until no link
    improves it any more (Bellman 1958; Ford 1956): O(sites x links).

    Examples
    --------
    >>> from dlopt.problems.bag import Link, Machine, Site, Task
    >>> links = (Link((0, 1), bandwidth=2), Link((1, 2), bandwidth=4, latency=1))
    >>> sites = tuple(Site(name) for name in "abc")
    >>> instance = Instance((Task("t", 1),), (Machine("m"),), sites, links)
    >>> [int(time) for time in times_from(instance, 0, Fraction(8))]
    [0, 4, 7]
    """
    directed_links = []
    for link in instance.links:
        takes = exact(link.latency) + data / exact(link.bandwidth)
        one, other = link.between
        directed_links += [(one, other, takes), (other, one, takes)]
    known: dict[int, Fraction] = {site: Fraction(0)}
    improved = True
    while improved:
        improved = False
        for one, other, takes in directed_links:
            if one in known and (other not in known or known[one] + takes < known[other]):
                known[other] = known[one] + takes
                improved = True
    return [known[place] for place in range(len(instance.sites))]
