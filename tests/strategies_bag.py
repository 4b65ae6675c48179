"""Hypothesis strategies for small bags of tasks in exact numbers, and plans of them."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from dlopt.problems.bag import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    transfer_times,
)
from dlopt.problems.bag.data import PRIORITIES
from dlopt.problems.validated_record import floating

sizes = st.sampled_from([1, 1, 2, 3, 4, 6, Fraction(1, 2), Fraction(5, 3)])
instants = st.sampled_from([0, 0, 0, 1, 2, Fraction(3, 2), 5])
amounts = st.sampled_from([0, 0, 1, 2, 4, Fraction(1, 2)])
dates = st.sampled_from([1, 2, 3, 4, 6, 9, 14, Fraction(9, 2)])
deadlines_of = {True: dates, False: st.none(), None: st.none() | dates}
"""Deadlines of all tasks, of none, of some."""
durations = st.none() | sizes


@cache
def rows(width):
    """Return a strategy for the durations of a task, which some machine can run."""
    return st.lists(durations, min_size=width, max_size=width).filter(
        lambda times: any(time is not None for time in times)
    )


@st.composite
def links(draw, sites):
    """Return links that connect the sites: a tree, and now and then more."""
    tree = [(draw(st.integers(0, there - 1)), there) for there in range(1, sites)]
    pairs = [(a, b) for a in range(sites) for b in range(sites) if a != b]
    more = draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []
    return tuple(Link(pair, draw(sizes), draw(amounts)) for pair in tree + more)


@st.composite
def bags(draw, *, tasks=4, machines=3, sites=3, deadlines=None, releases=True, matrix=None):
    """Return a bag of tasks.

    Parameters
    ----------
    tasks, machines, sites : int
        At the most.
    deadlines : bool, optional
        Whether every task has a deadline, or none; by default some do.
    releases : bool
        Whether tasks and machines may have to be waited for.
    matrix : bool, optional
        Whether durations stand in a matrix; by default now and then.
    """
    places = draw(st.integers(1, sites))
    count, width = draw(st.integers(1, tasks)), draw(st.integers(1, machines))
    matrix = draw(st.booleans()) if matrix is None else matrix
    later = instants if releases else st.just(0)
    some = draw(st.sampled_from([True, False, None])) if deadlines is None else deadlines
    ends = deadlines_of[some]
    site = st.integers(0, places - 1)
    made = tuple(
        Task(
            f"t{index}",
            None if matrix else draw(sizes),
            draw(site),
            draw(later),
            draw(amounts),
            draw(amounts),
            draw(st.sampled_from(PRIORITIES)),
            draw(ends),
        )
        for index in range(count)
    )
    held = tuple(
        Machine(f"m{index}", draw(site), 1 if matrix else draw(sizes), draw(later))
        for index in range(width)
    )
    etc = tuple(tuple(draw(rows(width))) for _ in range(count)) if matrix else None
    names = tuple(Site(f"s{index}") for index in range(places))
    limits = draw(st.sampled_from([(Fraction(1, 2), 2), (1, 1), (Fraction(1, 10), 10)]))
    return Instance(made, held, names, draw(links(places)), etc, limits)


@st.composite
def bags_in_floats(draw, **options):
    """Return a bag whose numbers are floats, most of them no round ones."""
    made = floating(draw(bags(**options)))
    if made.etc is None:
        return made
    noise = st.floats(0.1, 9.9)
    etc = tuple(
        tuple(None if time is None else time * draw(noise) for time in row) for row in made.etc
    )
    return replace(made, etc=etc)


@st.composite
def plans(draw, **options):
    """Return a bag and a valid plan of it: tasks appended in some order, with gaps.

    Deadlines follow from the plan: a task ends by its own, is late, or is dropped.
    """
    instance = draw(bags(**options))
    free = {index: one.ready for index, one in enumerate(instance.all_machines)}
    tasks, placements = list(instance.all_tasks), []
    for index in draw(st.permutations(range(len(tasks)))):
        task = tasks[index]
        if task.absolute_deadline is not None and draw(st.integers(0, 3)) == 0:
            continue
        able = [k for k in free if instance.duration(index, k) is not None]
        machine = draw(st.sampled_from(able))
        sent = transfer_times(instance, task.site, task.input)
        here = task.release + sent[instance.all_machines[machine].site]
        start = max(free[machine], here) + draw(amounts)
        end = free[machine] = start + instance.duration(index, machine)
        late = task.absolute_deadline is not None and end > task.absolute_deadline
        if late and draw(st.booleans()):
            tasks[index], late = replace(task, absolute_deadline=end), False
        placements.append(Placement(task.id, machine, start, end, late))
    return replace(instance, tasks=tuple(tasks)), Solution(tuple(placements))
