"""Makespans on identical machines that are free at once: a schedule is a partition of the times."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from dlopt.models.bag.flowtime_subsets import SubsetSearch
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import Sequences, machine_ends
from dlopt.models.common.number_partitioning import MAX_TASKS, NumberPartitioning


def is_number_partitioning(scaled: ScaledInstance) -> bool:
    """Tell whether few jobs, without due dates, take the same time on all machines, from 0 on.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> [
    ...     is_number_partitioning(ScaledInstance.from_instance(Instance(etc=etc), "makespan"))
    ...     for etc in (((3, 3), (4, 4)), ((3, 3), (4, 5)), ((3, 3), (4, None)))
    ... ]
    [True, False, False]
    """
    return (
        scaled.objective_kind == "makespan"
        and len(scaled.jobs) <= MAX_TASKS
        and all(row[0] is not None and len(set(row)) == 1 for row in scaled.processing_times)
        and not any(map(any, scaled.arrivals))
        and all(due is None for due in scaled.due_dates)
    )


def search_partitions(
    scaled: ScaledInstance, incumbent: Sequences, lower: int, stop: float = inf
) -> SubsetSearch:
    """Search for the least makespan by number partitioning.

    Parameters
    ----------
    scaled : ScaledInstance
        For which `is_number_partitioning` is true.
    incumbent : tuple of tuple of int
        A schedule of all jobs.
    lower : int
        A bound of the makespan, in scaled units.
    stop : float
        Instant of the monotonic clock at which the search ends.

    Returns
    -------
    SubsetSearch
        Its bound is the least makespan, unless a limit was reached.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> etc = tuple((time, time) for time in (5, 4, 4, 3, 3))
    >>> scaled = ScaledInstance.from_instance(Instance(etc=etc), "makespan")
    >>> found = search_partitions(scaled, ((0, 1, 2), (3, 4)), lower=10)
    >>> found.sequences, found.bound
    (((0, 1), (2, 3, 4)), Fraction(10, 1))
    """
    sizes = [units for units, *_ in scaled.processing_times if units is not None]
    value = max(machine_ends(scaled, incumbent))
    search = NumberPartitioning(sizes, len(incumbent), lower, value)
    search.run(stop)
    if search.best is None:
        return SubsetSearch(None, Fraction(search.bound))
    unused = len(incumbent) - len(search.best)
    sequences = (*map(tuple, search.best), *[()] * unused)
    return SubsetSearch(sequences, Fraction(search.bound))
