"""LP bound of the number of jobs on time: jobs may be split, windows of machines not overloaded.

With `x_jk` the share of job `j` on machine `k`, `p_jk` processing times, `a_jk` arrivals and `d_j`
due dates::

    maximise    sum_j w_j sum_k x_jk
    subject to  sum_k x_jk <= 1                                      jobs j
                sum_{j: a_jk >= a, d_j <= d} p_jk x_jk <= d - a      windows [a, d] of machine k
                0 <= x_jk <= 1

The dual solution of a floating-point solver, rounded to fractions, certifies the bound
(`dlopt.backends.safe_dual_bound`). Source: ours.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.safe_dual_bound import SafeDualBound
from dlopt.models.bag.scaled_instance import ScaledInstance

MAX_WINDOW_ENDS = 30
"""Starts, and ends, of windows of a machine that are considered. Chosen by hand: it trades time for
the sharpness of the bound."""


def bound_count_on_time(
    scaled: ScaledInstance, level: str, *, seed: int = 0, stop: float = inf
) -> Fraction:
    """Return an upper bound of a level of the objective that counts tasks on time.

    Parameters
    ----------
    scaled : ScaledInstance
        Of an objective that counts tasks.
    level : str
    seed : int
    stop : float
        Instant of the monotonic clock at which the solver is stopped.

    Notes
    -----
    The bound is rounded down: numbers of tasks are integers.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=5) for name in "abc")
    >>> scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "accepted")
    >>> bound_count_on_time(scaled, "accepted")
    Fraction(2, 1)
    """
    undated, weights = scaled.undated_count(level), scaled.weights(level)
    trivial = Fraction(undated + sum(weights))
    program = _linear_program(scaled, weights)
    solver = LinearSolver(program, seed, stop)
    relaxed = solver.solve()
    if not relaxed.multipliers:
        return trivial
    safe = SafeDualBound(program)
    bound = -safe.bound(safe.quantise(relaxed.multipliers), safe.bounds)
    return min(trivial, Fraction(undated + floor(bound)))


def _linear_program(scaled: ScaledInstance, weights: list[int]) -> LinearProgram:
    """Return the program of the module, negated; window constraints are divided by d - a."""
    columns = {pair: column for column, pair in enumerate(_eligible_pairs(scaled))}
    costs = [Fraction(-weights[job]) for job, _ in columns]
    unit = Fraction(1)
    rows: list[Row] = [
        (tuple((columns[job, k], unit) for k in machines), None, unit)
        for job, machines in enumerate(scaled.eligible_machines)
    ]
    for k in scaled.machines:
        for start, end, jobs in scaled.overloadable_windows(k, MAX_WINDOW_ENDS):
            load = tuple(
                (columns[job, k], Fraction(scaled.processing_time(job, k), end - start))
                for job in jobs
            )
            rows.append((load, None, unit))
    return LinearProgram(
        len(columns),
        tuple(costs),
        tuple(terms for terms, _, _ in rows),
        tuple((low, high) for _, low, high in rows),
        ((Fraction(0), unit),) * len(columns),
    )


def _eligible_pairs(scaled: ScaledInstance) -> list[tuple[int, int]]:
    """Return all pairs of a job and a machine that can run it."""
    return [(job, k) for job, machines in enumerate(scaled.eligible_machines) for k in machines]
