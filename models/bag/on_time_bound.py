"""A bound of how many tasks can be in time: jobs in part, windows of machines not overfull."""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.safe_dual_bound import SafeDualBound
from dlopt.models.bag.scaled_instance import Case

_MOST = 30
"""Starts and ends of windows of a machine that are looked at."""


def most_in_time(case: Case, level: str, *, seed: int = 0, stop: float = inf) -> Fraction:
    """Return what a level of the objective is not above.

    Parameters
    ----------
    case : Case
        Of an objective that counts tasks.
    level : str
    seed : int
    stop : float
        Instant of the monotonic clock at which the solver is broken off.

    Notes
    -----
    The multipliers of the linear program prove the bound in fractions
    (`dlopt.backends.safe_dual_bound`), and it is rounded down: tasks are whole.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=5) for name in "abc")
    >>> case = Case.of(Instance(tasks, (Machine("m"),)), "accepted")
    >>> most_in_time(case, "accepted")
    Fraction(2, 1)
    """
    offset, weights = case.offset(level), case.weights(level)
    everything = Fraction(offset + sum(weights))
    program = _program(case, weights)
    solver = LinearSolver(program, seed, stop)
    found = solver.solve()
    if not found.multipliers:
        return everything
    safe = SafeDualBound(program)
    bound = -safe.bound(safe.quantise(found.multipliers), safe.bounds)
    return min(everything, Fraction(offset + floor(bound)))


def _program(case: Case, weights: list[int]) -> LinearProgram:
    columns = {pair: c for c, pair in enumerate(pairs_of(case))}
    costs = [Fraction(-weights[job]) for job, _ in columns]
    one = Fraction(1)
    rows: list[Row] = [
        (tuple((columns[job, k], one) for k in places), None, one)
        for job, places in enumerate(case.places)
    ]
    for k in case.machines:
        for start, end, jobs in case.windows(k, _MOST):
            share = tuple(
                (columns[job, k], Fraction(case.length(job, k), end - start)) for job in jobs
            )
            rows.append((share, None, one))
    return LinearProgram(
        len(columns),
        tuple(costs),
        tuple(terms for terms, _, _ in rows),
        tuple((low, high) for _, low, high in rows),
        ((Fraction(0), one),) * len(columns),
    )


def pairs_of(case: Case) -> list[tuple[int, int]]:
    """Return the jobs with the machines that can run them."""
    return [(job, k) for job, places in enumerate(case.places) for k in places]
