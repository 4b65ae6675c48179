"""Whether the machines suffice for everything."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import machine_minimisation
from dlopt.models.coreservation.objective import Held
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.search import by_spans
from dlopt.models.coreservation.solutions import held_of, valid_plan
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
    """Decide whether the machines suffice for all requests, by a plan or by a proof.

    Parameters
    ----------
    instance, limits, hint, seed
        As in `exact_plan`.
    objective : str
        To state value and bound in: ``rejections`` or ``rejected-priority``.

    Returns
    -------
    Result
        ``OPTIMAL`` with a plan that accepts all, with least shares; ``INFEASIBLE`` if there is
        none; ``LIMIT`` if neither is found in time.

    Raises
    ------
    SolverError
        If a solver is missing or fails.

    Notes
    -----
    Guarantee: exact, see `exact_plan`. Where all machines are alike and all parts are there at
    one instant it is bin packing. Complexity: exponential in the worst case.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
    >>> two = (Machine("m", 5), Machine("n", 5))
    >>> result = all_or_nothing(Instance(two, asked))
    >>> print(result.status, result.reason)
    infeasible at least 3 machines are needed: sizes and dual feasible functions at an instant
    """
    goal = objective or "rejections"
    case = Case.of(instance, "rejections")
    verdict = suffices(case, held_of(case, hint), limits, seed)
    plan = None if verdict.held is None else valid_plan(case, verdict.held)
    return Result(
        verdict.status,
        solution=plan,
        objective=goal,
        value=None if plan is None else 0,
        bound=None if plan is None else 0,
        reason=verdict.reason,
        method="feasibility",
        seed=seed,
        plan_class="any",
        solver="CP-SAT+HiGHS",
        proof=verdict.proof,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the machines suffice: a plan, or why there is none, and on whose word."""

    status: Status
    held: dict[int, tuple[int, int]] | None
    reason: str | None
    proof: Proof | None = None


def suffices(case: Case, hint: Held, limits: Limits, seed: int) -> Verdict:
    """Decide whether everything can be accepted; see `all_or_nothing`."""
    lost = len(case.instance.requests) - len(case.wishes)
    if lost:
        what = "1 request does" if lost == 1 else f"{lost} requests do"
        return Verdict(Status.INFEASIBLE, None, f"{what} not fit even alone", "exact")
    budget = Budget(limits)
    try:
        least = machine_minimisation.fewest(case, budget.left(1 / 2), seed)
        if least.bound > len(case.free):
            text = f"at least {least.bound} machines are needed: {least.proof}"
            return Verdict(Status.INFEASIBLE, None, text, "exact")
        hint = least.held or hint
        fine = case.too_fine is None
        found = by_spans(
            case,
            hint,
            budget.left(),
            seed,
            formulation="cp-sat" if fine else "milp",
            neighbours=fine,
        )
    except TimeoutError:
        return Verdict(Status.LIMIT, None, "the time is up")
    if len(found.held) == len(case.jobs):
        return Verdict(Status.OPTIMAL, found.held, None, "exact")
    best = -found.bounds[0] if found.bounds else Fraction(0)
    if best > 0:
        text = f"at least {-(-best // 1)} are rejected: {'; '.join(found.proofs)}"
        return Verdict(Status.INFEASIBLE, None, text, found.proof)
    return Verdict(Status.LIMIT, None, "neither a plan nor a proof was found")
