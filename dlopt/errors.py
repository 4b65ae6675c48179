"""Everything that dlopt raises on purpose, and the faults that describe bad input.

Infeasible instances and exhausted limits are no errors: they are statuses of a
:class:`dlopt.result.Result`.
"""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

LONGEST_LINE = 1500
"""Characters that a line of a message has at the most."""
LONGEST_MESSAGE = 2000
"""Characters of a text of others that are shown."""

MOST_SIMILAR = 3
"""Names that are suggested in place of one that is unknown."""
MOST_LISTED = 12
"""Longer lists of names are not printed where similar names are suggested."""

_LONGEST_PATH = 200
_LONGEST_VALUE = 60
# What joins letters, and the parts of a picture.
_JOINERS = "\u200c\u200d"


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return a text whose characters a terminal or a log shows, and does not obey.

    Control characters, marks that turn the direction of a line, separators of lines and lone
    surrogates are spelled as Python escapes; all others stay.

    Parameters
    ----------
    text : str
    lines : bool, default False
        Keep line ends, of a text that is meant to have several lines.

    Examples
    --------
    >>> print(printable("\x1b[31mred"), printable("a\nb"), printable("Zürich"))
    \x1b[31mred a\nb Zürich
    """
    if text.isprintable():
        return text
    return "".join(
        char if _is_shown(char) or (lines and char == "\n") else _spelled(char) for char in text
    )


def _is_shown(char: str) -> bool:
    """Tell whether a character is printed as it is; blanks of all widths are, line ends are not."""
    return char.isprintable() or unicodedata.category(char) == "Zs" or char in _JOINERS


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with some input.

    Parameters
    ----------
    path : str
        Where it is: a field path such as ``cluster.tau[3]``, or ``line 12, field 4 (run time)``.
    value : object
        What stands there; `MISSING` if nothing does.
    rule : str
        What should stand there, as a phrase: ``must be a positive number``.

    Examples
    --------
    >>> print(Fault("cluster.tau", -1, "must not be negative"))
    cluster.tau: must not be negative, got -1
    """

    path: str
    value: object
    rule: str

    def __repr__(self) -> str:
        try:
            value = repr(self.value)
        except ValueError:  # a number of over 4300 digits
            value = short_text(self.value)
        return f"Fault(path={self.path!r}, value={value}, rule={self.rule!r})"

    def __str__(self) -> str:
        return self.message()

    def message(self, *, as_json: bool = False) -> str:
        """Return the fault as a line; the value is spelled as Python does, or as JSON does.

        Examples
        --------
        >>> Fault("load", None, "must be a number").message(as_json=True)
        'load: must be a number, got null'
        """
        path, rule = _clipped(self.path, _LONGEST_PATH), _clipped(self.rule, LONGEST_LINE // 2)
        text = f"{path}: {rule}" if path else rule
        if self.value is not MISSING:
            text += f", got {short_text(self.value, as_json=as_json)}"
        return printable(text)


def similar_names(given: object, known: Iterable[str]) -> list[str]:
    """Return the known names that are most similar to one that is not known; at most three."""
    return difflib.get_close_matches(str(given), list(known), MOST_SIMILAR)


def known_names(given: object, known: Iterable[str], command: str = "") -> str:
    """Return what a message about an unknown name ends with: similar names, and all that are known.

    Where many are known, and none is similar, a command can be named that lists them.

    Examples
    --------
    >>> known_names("ramps", ["ramp", "burst"])
    'did you mean ramp? known: ramp, burst'
    >>> known_names("waves", ["ramp", "burst"]), known_names("speed", [])
    ('known: ramp, burst', 'known: none')
    """
    names = list(known)
    similar = similar_names(given, names)
    if not similar and command and len(names) > MOST_LISTED:
        return f"`{command}` lists those that are known"
    if not similar:
        return f"known: {', '.join(names) or 'none'}"
    question = f"did you mean {' or '.join(similar)}?"
    return question if len(names) > MOST_LISTED else f"{question} known: {', '.join(names)}"


class _Missing:
    def __repr__(self) -> str:
        return "nothing"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""Stands for a value that is not there, where ``None`` could be meant."""


class PluginWarning(UserWarning):
    """An installed plug-in could not be loaded; its methods are missing."""


class DloptError(Exception):
    """Base of everything that dlopt raises on purpose.

    Its text can be printed and logged whatever names it tells: it is not long, no line of it is,
    and none holds control characters.
    """

    def __str__(self) -> str:
        return _in_lines(shortened(super().__str__()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy without a call of `__init__`: its parameters are not the message."""
        return _without_init, (type(self), self.args), self.__dict__


def _without_init(kind: type[DloptError], args: tuple[object, ...]) -> DloptError:
    return kind.__new__(kind, *args)


def repeated(name: str, values: Iterable[str | int], field: str = "") -> Iterator[Fault]:
    """Yield the values of a list, or of a field of its entries, that are given more than once."""
    seen: set[str | int] = set()
    for index, value in enumerate(values):
        if value in seen:
            path = f"{name}[{index}].{field}" if field else f"{name}[{index}]"
            yield Fault(path, value, "must be given once")
        seen.add(value)


class InvalidInstanceError(DloptError, ValueError):
    """Input that breaks the rules; it carries every fault that was found, not only the first.

    Parameters
    ----------
    faults : sequence of Fault
        At least one.
    source : str, optional
        The file they stand in.
    as_json : bool, default False
        The input is JSON: messages have ``null``, ``true`` and ``false`` for wrong values.

    Examples
    --------
    >>> raise InvalidInstanceError([Fault("load", 0, "must be positive")], "a.json")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: a.json: load: must be positive, got 0
    """

    MOST_SHOWN = 20

    def __init__(
        self, faults: Sequence[Fault], source: str | None = None, *, as_json: bool = False
    ) -> None:
        self.faults = tuple(faults)
        self.source = source
        self.as_json = as_json
        lines = [fault.message(as_json=as_json) for fault in self.faults[: self.MOST_SHOWN]]
        if len(self.faults) > self.MOST_SHOWN:
            lines.append(f"... and {len(self.faults) - self.MOST_SHOWN} more")
        prefix = f"{printable(source)}: " if source else ""
        super().__init__("\n".join(prefix + line for line in lines))

    def __str__(self) -> str:
        return _in_lines(Exception.__str__(self))  # as many lines as there are faults

    def within(self, source: str | None, *, as_json: bool = False) -> InvalidInstanceError:
        """Return the same faults, of a named file, which may be JSON."""
        return InvalidInstanceError(self.faults, source, as_json=as_json or self.as_json)


class NotApplicableError(DloptError, ValueError):
    """A method, objective, option or format that does not fit what it was asked for."""


class NothingToDrawError(NotApplicableError):
    """A solution of which no picture can be drawn, as it has no part."""


class SolverError(DloptError):
    """A solver is missing, failed, or answered what the rules of the problem refute."""


class MissingExtraError(DloptError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'dlopt[{extra}]'")


def _in_lines(text: str) -> str:
    return "\n".join(printable(_clipped(line, LONGEST_LINE)) for line in text.split("\n"))


def shortened(text: str) -> str:
    """Return a text of others with its end left out if it is long, and how long it was.

    Examples
    --------
    >>> shortened("brief"), shortened("x" * 50_000_000)[-26:]
    ('brief', 'x… (50,000,000 characters)')
    """
    if len(text) <= LONGEST_MESSAGE:
        return text
    end = f"… ({len(text):,} characters)"
    return text[: LONGEST_MESSAGE - len(end)] + end


def described(error: BaseException) -> str:
    """Return kind and text of an error that others raise, whatever its text is.

    Examples
    --------
    >>> described(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    try:
        text = str(error)
    except Exception:  # the code of others
        text = "its text cannot be shown"
    return f"{type(error).__name__}: {text}"


def short_text(value: object, *, as_json: bool = False) -> str:
    """Return the beginning of a value as a message shows it, of any type and size.

    Parameters
    ----------
    value : object
    as_json : bool, default False
        Spell null, true, false, lists and objects as JSON does.

    Examples
    --------
    >>> short_text("deadline"), short_text(range(3)), len(short_text("x" * 1_000_000))
    ("'deadline'", 'range(0, 3)', 60)
    >>> short_text([None, True]), short_text([None, True], as_json=True)
    ('[None, True]', '[null, true]')
    """
    try:
        part = _part(value)
        if as_json and (part is None or isinstance(part, bool | float | list | tuple | dict)):
            text = json.dumps(part, ensure_ascii=False, default=str)
        else:
            is_spelled = isinstance(part, str) or _is_number_of_numpy(part)
            text = repr(part) if is_spelled else str(part)
    except TypeError:  # JSON has no keys of such types
        return short_text(value)
    except (ValueError, RecursionError):  # over 4300 digits, or nested too deeply
        return f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def _is_number_of_numpy(value: object) -> bool:
    """Tell whether a value is one of those that NumPy prints as Python prints its own."""
    return type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0


def _part(value: Any, depth: int = 2) -> Any:
    """Return the beginning of what may have millions of entries: no more of it is shown."""
    if type(value) is str:
        return value[: _LONGEST_VALUE + 1]
    if depth and type(value) in (list, tuple):
        return type(value)(_part(entry, depth - 1) for entry in value[:_LONGEST_VALUE])
    if depth and type(value) is dict:
        entries = islice(value.items(), _LONGEST_VALUE)
        return {_part(key): _part(entry, depth - 1) for key, entry in entries}
    return value


def _clipped(text: str, most: int) -> str:
    """Return a text with its middle left out if it is longer than `most` characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"
