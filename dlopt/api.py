"""The entry points for callers: solve, compare, check.

Every result of a method is verified by `dlopt.result_checker` before it is returned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from dlopt import registry
from dlopt.aliases import module_getattr
from dlopt.arithmetic import integer_argument
from dlopt.backends.solver_settings import LogLines, ParameterValue, SolverSettings, solver_settings
from dlopt.best_known_check import contradictions
from dlopt.certified_results import CertifiedAttempt
from dlopt.comparisons import Comparison, ComparisonRow
from dlopt.errors import DloptError, NotApplicableError
from dlopt.method_options import MethodOptions, refuse_unused
from dlopt.method_run import Attempt
from dlopt.problems.validated_record import Header, SolutionT_co
from dlopt.progress_reports import require_callbacks
from dlopt.proven_reference import gap_to_proven, proven_best, stated_proofs
from dlopt.query import Query, applicable_objective, current_objective, origin_of
from dlopt.registry import Method
from dlopt.registry.method_entries import ChangedInstanceError
from dlopt.result import NO_LIMITS, Limits, Objective, Result
from dlopt.result_checker import InvalidResultError, check, disproof

ProgressCallback: TypeAlias = Callable[[Result[Any]], None]
"""Called with each checked result that improves what is known."""

__all__ = ["Comparison", "ComparisonRow", "InvalidResultError", "check", "compare", "solve"]


__getattr__ = module_getattr(
    __name__,
    {"RefutedAnswerError": "InvalidResultError", "Row": "ComparisonRow"},
    globals(),
)


def solve(
    instance: Header[SolutionT_co],
    method: str = "exact",
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Any = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    stop: threading.Event | None = None,
    solver_log: Callable[[str], object] | bool = False,
    solver_parameters: Mapping[str, ParameterValue] | None = None,
    certified: bool = False,
    **options: Any,
) -> Result[SolutionT_co]:
    """Solve an instance, and check the answer.

    Parameters
    ----------
    instance : Instance
        Of any problem.
    method : str, default "exact"
        A name that ``dlopt methods`` lists.
    objective : str, optional
        By default the problem's own, or the only one that the method knows.
    limits : Limits, optional
        A method that overruns its time by half a second, or by a twentieth if that is more, is
        given up: it then answers with the best plan and bound that it offers while it searches, an
        exact one at least with its hint, or else with nothing but the status ``LIMIT``. The
        heuristics that give an exact method its hint spend of the same time, one
        that tries plans until time is up a fortieth of it.
    hint : Solution, optional
        A plan for exact methods to start from. By default the best of the problem's heuristics.
    seed : int, default 0
    progress : callable, optional
        Called from another thread with each checked result that improves the value or the bound
        so far, at most every 0.2 s, and at least once if anything is found. No value or bound is
        worse than the one before; `Result.runtime_s` counts from the beginning. If it raises,
        the method is given up and `solve` raises the same. It is not called any more once `solve`
        has returned, unless a call was going on when `stop` was set.
    stop : threading.Event, optional
        Once it is set, the method is given up: within about half a second `solve` returns the best
        checked result, whose `reason` begins with ``stopped``; the status is ``LIMIT`` if nothing
        was found yet. Solvers are ended, too. Within a method or callable that is itself given up
        at a time limit, only the outer limit counts.
    solver_log : callable or bool, default False
        Called with each line of the logs of CP-SAT and HiGHS, perhaps from another thread; True
        prints them. A method may run several solvers, one after the other or many times. If it
        raises, nothing more is logged, and `solve` raises the same in the end.
    solver_parameters : mapping, optional
        Parameters of CP-SAT and HiGHS by the names that these give them; each goes to the solver
        that has it, and has no effect where a method does not use that. Those that can be set
        are in the tables of `dlopt.backends.solver_parameters`.
    certified : bool, default False
        State a bound only with a certificate that `dlopt.check_certificate` accepts, see
        `dlopt.certified_results`: without one the status is ``FEASIBLE`` instead of ``OPTIMAL``.
        Of a time limit `exact` then leaves a tenth for bound methods; checks are not interrupted.
    **options
        The method's own, see ``dlopt methods``.

    Returns
    -------
    Result
        Its value was recomputed from its plan and the plan found valid within its tolerance: 0 in
        exact numbers, relative 1e-9 for formulas in floats, relative 1e-6 for solvers. The one
        exception is a method that is known to be flawed: its status may be ``UNSOUND``.

    Raises
    ------
    NotApplicableError
        If the method does not exist, does not fit the instance, or an option is wrong.
    InvalidResultError
        If a method that claims to be sound gives a result that fails verification.
    SolverError
        If a solver is missing or fails, or if a method fails, changes the instance, or gives what
        is no result.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> result = solve(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> print(result.status, result.value)
    optimal 39/8

    A search that is good enough after its first report:

    >>> from threading import Event
    >>> from dlopt import generate
    >>> graphs, enough = generate("dag", "layered", tasks=40, seed=1), Event()
    >>> result = solve(graphs, progress=lambda found: enough.set(), stop=enough)
    >>> result.solution is not None
    True

    """
    entry = registry.method(registry.problem_of(instance).stem, method)
    query = Query.of(instance, entry, objective)
    _require_arguments(limits, progress, stop, certified)
    seed = integer_argument("seed", seed)
    read = entry.read_options(options)
    settings = _settings_of(entry, solver_log, solver_parameters)
    checked = CertifiedAttempt(query, limits, seed, read, stop)
    own = checked.method_limits if certified else limits
    attempt = Attempt(query, own, hint, seed, read, progress, stop)
    with solver_settings(settings):
        found = attempt.result()
        if certified:
            found = checked.certified(found)
    if settings.log is not None:
        settings.log.raise_failure()
    return replace(found, instance=instance)  # also where nothing was there to be checked


def _require_arguments(limits: object, progress: object, stop: object, certified: object) -> None:
    """Refuse arguments of other types than `solve` and `compare` take.

    Raises
    ------
    NotApplicableError
        For the first of them.
    """
    if not isinstance(limits, Limits):
        raise NotApplicableError(f"limits are Limits, not a {type(limits).__name__}")
    require_callbacks(progress, stop)
    if not isinstance(certified, bool):
        raise NotApplicableError(f"certified is True or False, not a {type(certified).__name__}")


def _settings_of(
    entry: Method,
    log: Callable[[str], object] | bool,
    parameters: Mapping[str, ParameterValue] | None,
) -> SolverSettings:
    """Return what is handed through to the solvers of a method.

    Raises
    ------
    NotApplicableError
        If the method runs no solver, or a parameter cannot be set.
    """
    if not callable(log) and not isinstance(log, bool):
        raise NotApplicableError(f"solver_log is a callable or a bool, not a {type(log).__name__}")
    if entry.kind == "heuristic" and (log or parameters):
        raise NotApplicableError(f"{entry.name} is a heuristic: it runs no solver")
    each = (print if log else None) if isinstance(log, bool) else log
    lines = None if each is None else LogLines(each)
    if not parameters:
        return SolverSettings(lines)
    from dlopt.backends.solver_parameters import split_by_solver

    return SolverSettings(lines, *split_by_solver(parameters))


def compare(
    instance: Header,
    methods: Iterable[str] | None = None,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    literal: bool = False,
    progress: ProgressCallback | None = None,
    stop: threading.Event | None = None,
    certified: bool = False,
    options: Mapping[str, object] | None = None,
) -> Comparison:
    """Solve an instance by many methods and compare them with the proven optimum.

    A method that fails, or whose result is invalid, is a row that says so. A result is invalid if
    its plan breaks a rule, or if the verified plan of another method contradicts its bound or its
    proof of infeasibility.

    Parameters
    ----------
    instance : Instance
    methods : iterable of str, optional
        By default every registered method but the literal ones. One named twice counts once.
    objective : str, optional
    limits : Limits, optional
        For each method.
    seed : int, default 0
    literal : bool, default False
        Include the variants that reproduce printed errors.
    progress, stop : optional
        As in `solve`, for each method. Methods that have not begun when `stop` is set are skipped.
    certified : bool, default False
        As in `solve`, for each method: only what is proven with a certificate that is accepted is
        optimal, and gaps are to certified optima and bounds.
    options : mapping, optional
        Options of methods, see ``dlopt methods``: ``option`` goes to the methods that have it,
        ``METHOD.option`` to one method.

    Returns
    -------
    Comparison

    Raises
    ------
    NotApplicableError
        If there is no such method or objective, if none of the methods has an option, or its value
        is not of its type.
    SolverError
        If a method of your own changes the instance, so that no other can be compared with it.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> table = compare(Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3))
    >>> [(row.method.name, f"{row.gap_to_best:.1%}") for row in table.rows[:2]]
    [('opr', '31.3%'), ('epr', '43.6%')]

    An option for one method, and optima only with certificates:

    >>> from dlopt import generate, load
    >>> decimals = generate("multistage", "small", nodes=2, tasks=5, tau=1.5, seed=10)
    >>> found = compare(decimals, ["exact"], certified=True)
    >>> print(found.rows[0].result.status, found.gap_reference)
    feasible bound
    >>> chunks = {"exact.installments": 2}
    >>> compare(load("iit/three-nodes"), ["exact"], options=chunks).rows[0].result.value
    Fraction(14, 3)
    """
    problem = registry.problem_of(instance)
    _require_arguments(limits, progress, stop, certified)
    seed = integer_argument("seed", seed)
    name = current_objective(problem, objective) or problem.module.default_objective(instance)
    goal = applicable_objective(instance, problem, name)
    entries = registry.selected_methods(problem.stem, methods, literal=literal)
    given = options or {}
    chosen = MethodOptions(problem.stem, given)
    settings = {entry.name: entry.read_options(chosen.of(entry)) for entry in entries}
    refuse_unused(given, chosen.used, entries)
    rows: list[ComparisonRow] = []
    skipped: list[tuple[str, str]] = []
    limited = partial(solve, instance, limits=limits, seed=seed, certified=certified)
    run = partial(limited, progress=progress, stop=stop, objective=name)
    for entry in entries:
        if stop is not None and stop.is_set():
            skipped.append((entry.name, "stopped before it began"))
            continue
        try:
            reason = entry.reason_against(instance, name)
            if reason is not None:
                skipped.append((entry.name, reason))
                continue
            found = run(entry.name, **settings[entry.name])
        except NotApplicableError as error:  # what a method says of itself only when it is asked
            skipped.append((entry.name, str(error)))
        except ChangedInstanceError:  # what other methods answer would be of other data
            raise
        except DloptError as error:
            rows.append(ComparisonRow(entry, None, None, error))
        else:
            rows.append(ComparisonRow(entry, found, None))
    rows = _cross_checked(instance, goal, rows)
    compared = _with_gaps(instance, goal, rows, stated=not certified)
    read = {f"{name}.{key}": one for name, of in settings.items() for key, one in of.items()}
    return replace(
        compared,
        skipped=tuple(skipped),
        certified=certified,
        limits=limits,
        seed=seed,
        options=read,
    )


def _with_gaps(
    instance: Header,
    goal: Objective,
    rows: Sequence[ComparisonRow],
    *,
    stated: bool,
) -> Comparison:
    """Return the comparison: the gaps of all rows to what is proven, or stated to be, if wanted."""
    exact = [row.result for row in rows if row.result and row.method.kind == "exact"]
    others = [row.result for row in rows if row.result and row.method.kind != "exact"]
    results = [*exact, *others]
    wrong = contradictions(instance.best_known, goal, results)
    refuted = [one.known for one in wrong if one.kind != "better-plan"]  # its bound still holds
    known = [one for one in instance.best_known if one not in refuted]
    origin = origin_of(registry.problem_of(instance).module, instance, goal.name)
    proofs = stated_proofs(known, goal, origin, results) if stated else ()
    others += proofs
    reference = proven_best(goal, exact, others)
    measured = (
        replace(row, gap_to_best=gap_to_proven(goal, row.result, exact, others)) for row in rows
    )
    references = [reference, *(proven_best(goal, exact, others, one) for one in results)]
    used = tuple(one for one in proofs if any(one is other for other in references))
    return Comparison(instance, goal.name, reference, tuple(measured), (), wrong, stated=used)


def _cross_checked(
    instance: Header, goal: Objective, rows: list[ComparisonRow]
) -> list[ComparisonRow]:
    """Return the rows; one whose bound is contradicted by the plan of another is invalid."""
    results = [row.result for row in rows if row.result is not None]
    held = []
    for row in rows:
        wrong = None if row.result is None else disproof(goal, row.result, results)
        if row.result is not None and wrong is not None:
            error = InvalidResultError(
                f"the result of {row.method.name} is invalid: {wrong}", instance, row.result
            )
            row = ComparisonRow(row.method, None, None, error)
        held.append(row)
    return held
