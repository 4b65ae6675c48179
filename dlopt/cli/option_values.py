"""What the values of options say: numbers, names, and ``K=V`` pairs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dlopt import arithmetic
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from dlopt.result import Value

_NOT_SET = frozenset(
    {"instance", "method", "objective", "limits", "hint", "stem", "family", "seed"}
)
"""Arguments of the library, which ``--set`` must not give."""


def _assignments(option: str, settings: list[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the names and values that an option gives as ``NAME=VALUE``."""
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise NotApplicableError(f"--{option} takes K=V, got {setting!r}")
        yield name, value


def pairs(settings: list[str] | None) -> dict[str, Any]:
    """Return what ``--set`` gives, by name: ``option``, or ``METHOD.option``."""
    options = {}
    for given, value in _assignments("set", settings):
        method, point, name = given.rpartition(".")
        if name in _NOT_SET:
            raise NotApplicableError(f"{name} is no option for --set")
        options[f"{method}{point}{name.replace('-', '_')}"] = value
    return options


def solver_parameters(settings: list[str] | None) -> dict[str, bool | int | float | str]:
    """Return what ``--solver-parameter`` gives, by name."""
    found: dict[str, bool | int | float | str] = {}
    for name, text in _assignments("solver-parameter", settings):
        value = number(text)
        if text in ("true", "false"):
            found[name] = text == "true"
        else:
            found[name] = float(value) if isinstance(value, Fraction) else value
    return found


def listed(text: str) -> list[str]:
    """Return the words of a text that are separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def method_names(text: str | None) -> list[str] | None:
    """Return the names that ``--methods`` lists, or None if it is not given."""
    if text is None:
        return None
    names = listed(text)
    if not names:
        raise NotApplicableError("--methods names no method")
    return names


def target_value(text: str | None) -> Value | None:
    """Return the value that ``--target-value`` gives, or None if it is not given."""
    if text is None:
        return None
    levels = tuple(number_of_option("target-value", level) for level in listed(text))
    return levels[0] if len(levels) == 1 else levels


def number(text: str) -> Any:
    """Return the number that a text spells, exactly, or the text if it spells none."""
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError:
        return text


def number_of_option(name: str, text: str) -> Any:
    """Return the number that is given for an option.

    Raises
    ------
    NotApplicableError
        If the text is no number.
    """
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError as error:
        raise NotApplicableError(f"--{name.replace('_', '-')}: {error}") from error
