"""Seeded instances, and instances from the records of other formats."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from dlopt.errors import DloptError, NotApplicableError
from dlopt.registry import problem


def generate(stem: str, family: str, *, seed: int = 0, **parameters: Any) -> Any:
    """Generate an instance of a family; the same seed and parameters give the same instance.

    Parameters
    ----------
    stem : str
        The problem.
    family : str
        One of `families` of that problem.
    seed : int, default 0
    **parameters
        The family's own.

    Returns
    -------
    Instance

    Raises
    ------
    NotApplicableError
        If there is no such problem, family or parameter.
    InvalidInstanceError
        If the parameters give no valid instance.

    Examples
    --------
    >>> generate("iit", "ramp", nodes=4).ready_times
    (0, 10, 20, 30)
    """
    known = families(stem)
    if family not in known:
        raise NotApplicableError(f"{stem} has no family {family!r} (known: {', '.join(known)})")
    function = known[family]
    allowed = [name for name in inspect.signature(function).parameters if name != "seed"]
    for name in parameters:
        if name not in allowed:
            text = f"family {family} has no parameter {name!r} (known: {', '.join(allowed)})"
            raise NotApplicableError(text)
    try:
        return function(seed=seed, **parameters)
    except DloptError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise NotApplicableError(f"family {family}: a parameter does not fit: {error}") from error


def families(stem: str) -> dict[str, Any]:
    """Return the families of a problem: name to function."""
    module = importlib.import_module(f"dlopt.generation.{problem(stem).stem}")
    known: dict[str, Any] = module.FAMILIES
    return known
