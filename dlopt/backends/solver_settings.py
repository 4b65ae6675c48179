"""What a caller hands through to CP-SAT and HiGHS: where their logs go, and parameters of theirs.

The settings hold for all solvers that run in a context (`contextvars`), however deep inside a
method.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeAlias

ParameterValue: TypeAlias = bool | int | float | str
CPSAT_RESERVED: Final = frozenset(
    {
        "absolute_gap_limit",
        "binary_search_num_conflicts",
        "catch_sigint_signal",
        "fix_variables_to_their_hinted_value",
        "interleave_search",
        "keep_all_feasible_solutions_in_presolve",
        "log_search_progress",
        "log_to_response",
        "log_to_stdout",
        "max_deterministic_time",
        "max_number_of_conflicts",
        "max_time_in_seconds",
        "num_search_workers",
        "num_workers",
        "presolve_inclusion_work_limit",
        "random_seed",
        "relative_gap_limit",
        "use_disjunctive_constraint_in_cumulative",
    }
)
"""Parameters of CP-SAT that follow from the arguments of `dlopt.solve`, or keep proofs right."""

HIGHS_RESERVED: Final = frozenset(
    {
        "dual_feasibility_tolerance",
        "dual_residual_tolerance",
        "infinite_bound",
        "infinite_cost",
        "ipm_optimality_tolerance",
        "kkt_tolerance",
        "large_matrix_value",
        "log_file",
        "log_to_console",
        "mip_abs_gap",
        "mip_feasibility_tolerance",
        "mip_max_nodes",
        "mip_rel_gap",
        "objective_bound",
        "objective_target",
        "optimality_tolerance",
        "output_flag",
        "parallel",
        "pdlp_optimality_tolerance",
        "presolve",
        "primal_feasibility_tolerance",
        "primal_residual_tolerance",
        "random_seed",
        "read_basis_file",
        "read_solution_file",
        "run_crossover",
        "simplex_iteration_limit",
        "small_matrix_value",
        "solver",
        "threads",
        "time_limit",
        "user_bound_scale",
        "user_objective_scale",
    }
)
"""The same of HiGHS: also what changes the model, or ends a search at a value."""


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """What is handed through to solvers.

    Parameters
    ----------
    log : LogLines, optional
        Where the lines of their logs go; by default there are none.
    cpsat, highs : mapping
        Parameters of each by name.
    """

    log: LogLines | None = None
    cpsat: Mapping[str, ParameterValue] = field(default_factory=dict)
    highs: Mapping[str, ParameterValue] = field(default_factory=dict)


_CURRENT: ContextVar[SolverSettings] = ContextVar("solver_settings", default=SolverSettings())  # noqa: B039


def current_settings() -> SolverSettings:
    """Return the settings that hold in this context."""
    return _CURRENT.get()


@contextlib.contextmanager
def solver_settings(settings: SolverSettings) -> Iterator[None]:
    """Let settings hold for the solvers that run in this block.

    Examples
    --------
    >>> with solver_settings(SolverSettings(highs={"mip_heuristic_effort": 0.1})):
    ...     current_settings().highs
    {'mip_heuristic_effort': 0.1}
    """
    token = _CURRENT.set(settings)
    try:
        yield
    finally:
        _CURRENT.reset(token)


class LogLines:
    r"""Hands the lines of a log on, and keeps what the callable raises until the solver has ended.

    Nothing may be raised through compiled code.

    Examples
    --------
    >>> seen = []
    >>> lines = LogLines(seen.append)
    >>> lines("first\nsecond\n")
    >>> seen
    ['first', 'second']
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._failure: BaseException | None = None

    def __call__(self, text: str) -> None:
        """Hand on each line of a text."""
        if self._failure is not None:
            return
        try:
            for line in text.splitlines() or [""]:
                self._log(line)
        except BaseException as error:
            self._failure = error

    def raise_failure(self) -> None:
        """Raise what the callable raised, if it did."""
        if self._failure is not None:
            raise self._failure
