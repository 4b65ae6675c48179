"""Parameters of CP-SAT and HiGHS that a caller gives by name, checked before any work."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.backends.solver_settings import (
    CPSAT_RESERVED,
    HIGHS_RESERVED,
    ParameterValue,
)
from dlopt.errors import NotApplicableError

Parameters = dict[str, ParameterValue]


def split_by_solver(given: Mapping[str, ParameterValue]) -> tuple[Parameters, Parameters]:
    """Return the parameters for CP-SAT and those for HiGHS; one that both know is for both.

    Parameters
    ----------
    given : mapping
        Parameters by the names that the solvers give them.

    Raises
    ------
    NotApplicableError
        If a name is known to neither solver, follows from other arguments, or the value is not of
        its type.

    Examples
    --------
    >>> split_by_solver({"linearization_level": 2, "mip_heuristic_effort": 0.1})
    ({'linearization_level': 2}, {'mip_heuristic_effort': 0.1})
    """
    import highspy
    from ortools.sat.python import cp_model

    probe = cp_model.CpSolver().parameters
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    done = highspy.HighsStatus.kOk
    for_cpsat: Parameters = {}
    for_highs: Parameters = {}
    for name, value in given.items():
        if name in CPSAT_RESERVED | HIGHS_RESERVED:
            text = "is set by dlopt, from its own arguments or so that proofs hold"
            raise NotApplicableError(f"solver parameter {name!r} {text}")
        in_cpsat = isinstance(name, str) and hasattr(probe, f"clear_{name}")
        in_highs = isinstance(name, str) and highs.getOptionType(name)[0] == done
        if not (in_cpsat or in_highs):
            raise NotApplicableError(f"neither CP-SAT nor HiGHS has a parameter {name!r}")
        if in_cpsat:
            try:
                setattr(probe, name, value)
            except (TypeError, ValueError, AttributeError):
                raise _wrong_value(name, value, "CP-SAT") from None
            for_cpsat[name] = value
        if in_highs:
            try:
                is_set = highs.setOptionValue(name, value) == done
            except TypeError:
                is_set = False
            if not is_set:
                raise _wrong_value(name, value, "HiGHS")
            for_highs[name] = value
    return for_cpsat, for_highs


def _wrong_value(name: str, value: object, solver: str) -> NotApplicableError:
    return NotApplicableError(f"{solver} takes no {value!r} for its parameter {name!r}")
