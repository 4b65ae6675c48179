"""Parameters of CP-SAT and HiGHS that a caller may set by name: a list of those known to be safe.

Both solvers have hundreds of parameters. Some make their proofs false, some end a search before its
limits, and for some values of others the process is aborted. Hence only those in these tables are
handed on: they change how a solver searches, neither what it solves nor when it may stop. With the
least and the greatest value of each, the solvers proved the known optima of small instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dlopt.backends.solver_settings import ParameterValue
from dlopt.errors import NotApplicableError, short_text, similar_names

Parameters = dict[str, ParameterValue]


@dataclass(frozen=True, slots=True)
class ParameterRange:
    """The values that a parameter takes.

    Parameters
    ----------
    low, high : bool, int or float
        The least and the greatest; their type is that of the values, but a whole number is a float
        too.

    Examples
    --------
    >>> share = ParameterRange(0.0, 1.0)
    >>> print(share)
    a number from 0 to 1
    >>> [share.admits(value) for value in (0, 0.5, 2, True, "high")]
    [True, True, False, False, False]
    """

    low: int | float
    high: int | float

    def admits(self, value: object) -> bool:
        """Tell whether a value has the type and is in the range."""
        if isinstance(value, bool) or isinstance(self.low, bool):
            return isinstance(value, bool) and isinstance(self.low, bool)
        if not isinstance(value, int if isinstance(self.low, int) else int | float):
            return False
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if isinstance(self.low, bool):
            return "true or false"
        if isinstance(self.low, int):
            return f"an integer from {self.low} to {self.high}"
        return f"a number from {self.low:g} to {self.high:g}"


_SWITCH = ParameterRange(False, True)

CPSAT_PARAMETERS: Final[Mapping[str, ParameterRange]] = {
    "add_cg_cuts": _SWITCH,
    "add_clique_cuts": _SWITCH,
    "add_mir_cuts": _SWITCH,
    "add_zero_half_cuts": _SWITCH,
    "cp_model_presolve": _SWITCH,
    "cp_model_probing_level": ParameterRange(0, 3),
    "cut_level": ParameterRange(0, 1),
    "hint_conflict_limit": ParameterRange(0, 10_000),
    "linearization_level": ParameterRange(0, 2),
    "log_subsolver_statistics": _SWITCH,
    "max_cut_rounds_at_level_zero": ParameterRange(0, 10),
    "max_num_cuts": ParameterRange(0, 100_000),
    "max_presolve_iterations": ParameterRange(0, 10),
    "optimize_with_core": _SWITCH,
    "optimize_with_lb_tree_search": _SWITCH,
    "random_branches_ratio": ParameterRange(0.0, 0.5),
    "repair_hint": _SWITCH,
    "solution_pool_size": ParameterRange(1, 100),
    "symmetry_level": ParameterRange(0, 3),
    "use_erwa_heuristic": _SWITCH,
    "use_feasibility_jump": _SWITCH,
    "use_feasibility_pump": _SWITCH,
    "use_lns": _SWITCH,
    "use_objective_lb_search": _SWITCH,
    "use_objective_shaving_search": _SWITCH,
    "use_overload_checker_in_cumulative": _SWITCH,
    "use_phase_saving": _SWITCH,
    "use_precedences_in_disjunctive_constraint": _SWITCH,
    "use_rins_lns": _SWITCH,
    "use_sat_inprocessing": _SWITCH,
    "use_strong_propagation_in_disjunctive": _SWITCH,
    "use_timetable_edge_finding_in_cumulative": _SWITCH,
}
"""Parameters of CP-SAT: presolve, linear relaxation and cuts, branching, propagation, and LNS."""

HIGHS_PARAMETERS: Final[Mapping[str, ParameterRange]] = {
    "mip_allow_restart": _SWITCH,
    "mip_detect_symmetry": _SWITCH,
    "mip_heuristic_effort": ParameterRange(0.0, 1.0),
    "mip_heuristic_run_feasibility_jump": _SWITCH,
    "mip_heuristic_run_rens": _SWITCH,
    "mip_heuristic_run_rins": _SWITCH,
    "mip_heuristic_run_root_reduced_cost": _SWITCH,
    "mip_heuristic_run_shifting": _SWITCH,
    "mip_heuristic_run_zi_round": _SWITCH,
    "mip_lp_age_limit": ParameterRange(0, 1_000),
    "mip_min_logging_interval": ParameterRange(0.1, 3_600.0),
    "mip_pool_age_limit": ParameterRange(0, 1_000),
    "mip_pool_soft_limit": ParameterRange(1, 1_000_000),
    "mip_pscost_minreliable": ParameterRange(0, 1_000),
    "simplex_dual_edge_weight_strategy": ParameterRange(-1, 2),
    "simplex_primal_edge_weight_strategy": ParameterRange(-1, 2),
    "simplex_price_strategy": ParameterRange(0, 3),
}
"""Parameters of HiGHS: heuristics, cuts and branching of its MILP solver, pricing of the simplex
method, and how often it logs."""


def parameter_table() -> Iterator[tuple[str, str, str]]:
    """Yield solver, name and values of each parameter that can be set.

    Examples
    --------
    >>> next(parameter_table())
    ('CP-SAT', 'add_cg_cuts', 'true or false')
    """
    for solver, allowed in (("CP-SAT", CPSAT_PARAMETERS), ("HiGHS", HIGHS_PARAMETERS)):
        for name, values in allowed.items():
            yield solver, name, str(values)


def split_by_solver(given: Mapping[str, ParameterValue]) -> tuple[Parameters, Parameters]:
    """Return the parameters for CP-SAT and those for HiGHS.

    Parameters
    ----------
    given : mapping
        Parameters by the names that the solvers give them.

    Raises
    ------
    NotApplicableError
        If a name is in neither table, or a value is not among those that the table states.

    Examples
    --------
    >>> split_by_solver({"linearization_level": 2, "mip_heuristic_effort": 0.1})
    ({'linearization_level': 2}, {'mip_heuristic_effort': 0.1})
    """
    allowed = {**CPSAT_PARAMETERS, **HIGHS_PARAMETERS}
    if not isinstance(given, Mapping):
        raise NotApplicableError(f"solver_parameters are a mapping, not a {type(given).__name__}")
    for name, value in given.items():
        if name not in allowed:
            similar = similar_names(name, allowed)
            question = f"did you mean {' or '.join(similar)}? " if similar else ""
            raise NotApplicableError(
                f"solver parameter {short_text(name)} cannot be set; {question}"
                f"`dlopt solve --list-solver-parameters` lists those that can"
            )
        if not allowed[name].admits(value):
            raise NotApplicableError(
                f"solver parameter {name!r} must be {allowed[name]}, not {short_text(value)}"
            )
    return (
        {name: value for name, value in given.items() if name in CPSAT_PARAMETERS},
        {name: value for name, value in given.items() if name in HIGHS_PARAMETERS},
    )
