"""The parameters of ``simulate feedback``: names, defaults, meanings, and where each belongs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from dlopt.generation import Parameter

_NOT_SET = frozenset(
    {"given", "horizon", "load_from", "load_to", "parameters", "policy", "seed", "specification"}
)
"""What has an option of its own, or is made of others."""
_OPTIONS = frozenset({"failing", "recovery"})
"""Of the setting: what has an option of another name."""


class Group(NamedTuple):
    """Parameters that belong to one record or function.

    Parameters
    ----------
    title : str
    target : type or callable
        What takes them.
    parameters : tuple of Parameter
    """

    title: str
    target: Callable[..., object]
    parameters: tuple[Parameter, ...]

    @property
    def kinds(self) -> dict[str, object]:
        """The types of the parameters, by name."""
        hints = get_type_hints(self.target)
        return {parameter.name: hints[parameter.name] for parameter in self.parameters}


def groups() -> dict[str, Group]:
    """Return all parameters, by the name of the record that they belong to."""
    from dlopt.generation.paper_workloads import mamat4
    from dlopt.generation.uncertain_times import mamat7
    from dlopt.schemas import parameters as documented
    from dlopt.simulation.feedback import ExperimentSetting, Policy, Specification

    taken = _NOT_SET | _OPTIONS
    return {
        "setting": _group("experiment", ExperimentSetting, taken),
        "policy": _group("what the paper leaves open", Policy),
        "specification": _group("required response of the closed loop", Specification),
        "parameters": _group("workload", mamat7, _NOT_SET, documented(mamat4.__doc__)),
    }


def lines(found: dict[str, Group]) -> Iterator[str]:
    """Yield the parameters with their defaults and meanings, group by group."""
    for number, group in enumerate(found.values()):
        yield ("\n" if number else "") + f"{group.title}:"
        for parameter in group.parameters:
            kind = group.kinds[parameter.name]
            words = get_args(kind) if get_origin(kind) is Literal else ()
            choice = f" ({' or '.join(words)})" if words else ""
            given = f"{parameter.name}={_shown(parameter.default)}"
            yield f"  --set {given}{choice}  {parameter.help}"


def to_data(found: dict[str, Group]) -> list[dict[str, object]]:
    """Return the parameters as the data of JSON."""
    return [
        {"group": group.title, "name": one.name, "default": one.default, "help": one.help}
        for group in found.values()
        for one in group.parameters
    ]


def _group(
    title: str,
    target: Callable[..., object],
    left_out: frozenset[str] = frozenset(),
    meanings: dict[str, str] | None = None,
) -> Group:
    from dlopt.generation import Parameter
    from dlopt.schemas import parameters as documented

    own, other = documented(target.__doc__), meanings or {}
    found = []
    for parameter in inspect.signature(target).parameters.values():
        name = parameter.name
        if name not in left_out:
            texts = (other.get(name, ""), "" if "See `" in own[name] else own[name])
            found.append(Parameter(name, parameter.default, " ".join(filter(None, texts))))
    return Group(title, target, tuple(found))


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)
