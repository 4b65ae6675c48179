"""Random instances with seeds, and conversion of records of other formats to instances."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from dataclasses import dataclass
from typing import Any, get_type_hints

from dlopt.arithmetic import converted, integer_argument
from dlopt.errors import DloptError, NotApplicableError, known_names
from dlopt.registry import problem
from dlopt.schemas import parameters as documented


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a family: name, default and description."""

    name: str
    default: Any
    help: str


@dataclass(frozen=True, slots=True)
class Family:
    """A family of instances: name, summary, parameters, and what else is to be known of it."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    notes: str = ""


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
        Parameters of the family.

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
        raise NotApplicableError(f"{stem} has no family {family!r} ({known_names(family, known)})")
    function = known[family]
    allowed = [name for name in inspect.signature(function).parameters if name != "seed"]
    for name in parameters:
        if name not in allowed:
            text = f"family {family} has no parameter {name!r} ({known_names(name, allowed)})"
            raise NotApplicableError(text)
    seed = integer_argument("seed", seed)
    parameters = {name: converted(value) for name, value in parameters.items()}
    try:
        return function(seed=seed, **parameters)
    except DloptError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        wrong = _invalid_parameters(function, parameters)
        values = ", ".join(f"{name}={parameters[name]}" for name in wrong) or "a parameter"
        text = f"family {family}: {values} {'do' if len(wrong) > 1 else 'does'} not fit: {error}"
        raise NotApplicableError(text) from error


def _invalid_parameters(function: Any, parameters: dict[str, Any]) -> list[str]:
    """Return the parameters that are not finite, or not of the type that the function requires."""
    kinds = get_type_hints(function)

    def fits(name: str, value: Any) -> bool:
        finite = not isinstance(value, float) or math.isfinite(value)
        return isinstance(value, kinds[name]) and finite

    return [name for name, value in parameters.items() if not fits(name, value)]


def families(stem: str) -> dict[str, Any]:
    """Return the families of a problem: name to function."""
    module = importlib.import_module(f"dlopt.generation.{problem(stem).stem}")
    known: dict[str, Any] = module.FAMILIES
    return known


def described(stem: str) -> tuple[Family, ...]:
    """Return the families of a problem with their parameters, from their docstrings.

    Examples
    --------
    >>> [(p.name, p.default) for p in described("iit")[0].parameters[:2]]
    [('nodes', 16), ('step', 10)]
    """
    known = families(stem)
    shared: dict[str, str] = {}
    for function in reversed(known.values()):
        shared |= documented(function.__doc__)
    found = []
    for name, function in known.items():
        own = shared | documented(function.__doc__)
        wanted = [p for p in inspect.signature(function).parameters.values() if p.name != "seed"]
        summary, _, text = (inspect.getdoc(function) or "").partition("\n")
        parameters = tuple(Parameter(p.name, p.default, own.get(p.name, "")) for p in wanted)
        found.append(Family(name, summary.removeprefix("Return "), parameters, _notes(text)))
    return tuple(found)


def _notes(text: str) -> str:
    r"""Return what a docstring says before its sections, but where other parameters are described.

    Examples
    --------
    >>> _notes("One is at 0. Other parameters are those of `a`.\n\nParameters\n---\nn : int")
    'One is at 0.'
    """
    before = " ".join(text.partition("Parameters\n---")[0].split())
    return re.sub(r" ?Other parameters are those of `\w+`\.", "", before).replace("``", "`")
