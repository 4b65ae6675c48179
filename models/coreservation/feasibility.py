"""Feasibility: whether the machines suffice for all requests.

It is decided by a schedule that accepts everything, or by a proof that there is none: a bound on
the machines that are needed, or one on the rejections of any schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.objective import Assignment
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import solve_by_components
from dlopt.models.coreservation.solutions import to_assignment, to_feasible_solution
from dlopt.problems.coreservation.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Proof, Result, Status

Answer = Result[Solution]


def all_or_nothing(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
) -> Answer:
    """Decide whether the machines suffice for all requests, by a schedule or by a proof.

    Parameters
    ----------
    instance, limits, hint, seed
        As in `exact_plan`.
    objective : str
        To state value and bound in: ``rejections`` or ``rejected-priority``.

    Returns
    -------
    Result
        ``OPTIMAL`` with a schedule that accepts all, with minimum shares; ``INFEASIBLE`` if there
        is none; ``LIMIT`` if neither is found in time.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: exact, see `exact_plan`. Where all machines are identical and all parts share an
    instant it is bin packing. Complexity: exponential in the worst case.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
    >>> two = (Machine("m", 5), Machine("n", 5))
    >>> result = all_or_nothing(Instance(two, asked))
    >>> print(result.status, result.reason)
    infeasible at least 3 machines are needed: Martello-Toth bound L2 at one instant
    """
    goal = objective or "rejections"
    scaled = ScaledInstance.from_instance(instance, "rejections")
    verdict = decide_feasibility(scaled, to_assignment(scaled, hint), limits, seed)
    solution = None
    if verdict.assignment is not None:
        solution = to_feasible_solution(scaled, verdict.assignment)
    return Result(
        verdict.status,
        solution=solution,
        objective=goal,
        value=None if solution is None else 0,
        bound=None if solution is None else 0,
        reason=verdict.reason,
        plan_class="any",
        solver="CP-SAT+HiGHS",
        proof=verdict.proof,
    )


@dataclass(frozen=True, slots=True)
class FeasibilityVerdict:
    """Whether the machines suffice: an assignment, or why there is none, and who proves it."""

    status: Status
    assignment: dict[int, tuple[int, int]] | None
    reason: str | None
    proof: Proof | None = None


def decide_feasibility(
    scaled: ScaledInstance, hint: Assignment, limits: Limits, seed: int
) -> FeasibilityVerdict:
    """Decide whether everything can be accepted; see `all_or_nothing`."""
    impossible = len(scaled.instance.requests) - len(scaled.requests)
    if impossible:
        subject = "1 request does" if impossible == 1 else f"{impossible} requests do"
        reason = f"{subject} not fit on empty machines"
        return FeasibilityVerdict(Status.INFEASIBLE, None, reason, "exact")
    budget = Budget(limits)
    try:
        machines = machine_minimisation.minimise_machines(scaled, budget.left(1 / 2), seed)
        if machines.bound > len(scaled.free):
            reason = f"at least {machines.bound} machines are needed: {machines.proof}"
            return FeasibilityVerdict(Status.INFEASIBLE, None, reason, "exact")
        hint = machines.assignment or hint
        found = solve_by_components(scaled, hint, budget.left(), seed)
    except TimeoutError:
        return FeasibilityVerdict(Status.LIMIT, None, "time limit reached")
    if len(found.incumbent) == len(scaled.parts):
        return FeasibilityVerdict(Status.OPTIMAL, found.incumbent, None, "exact")
    rejections = -found.bounds[0] if found.bounds else Fraction(0)
    if rejections > 0:
        reason = f"at least {-(-rejections // 1)} are rejected: {'; '.join(found.proofs)}"
        return FeasibilityVerdict(Status.INFEASIBLE, None, reason, found.proof)
    return FeasibilityVerdict(Status.LIMIT, None, "neither a schedule nor a proof was found")
