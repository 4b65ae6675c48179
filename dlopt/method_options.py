"""Options for many methods at once: each goes to the methods that have it.

They are given by ``option`` for all these methods, or by ``METHOD.option`` for one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, NoReturn

from dlopt import aliases, registry
from dlopt.errors import NotApplicableError, known_names
from dlopt.registry import Method


class _GivenOption(NamedTuple):
    """An option with what its method and itself are called now, by the name given."""

    given: str
    method: str | None
    name: str
    value: object


class MethodOptions:
    """The options that are given for the methods of one problem.

    Parameters
    ----------
    stem : str
        The problem.
    given : mapping
        Values, or their texts, by ``option`` or ``METHOD.option``. Of the two, the second counts
        for its method.

    Attributes
    ----------
    used : set of str
        The names given of the options that some method had, of those that `of` was asked about.

    Raises
    ------
    NotApplicableError
        If it is no mapping of names.

    Examples
    --------
    >>> options = MethodOptions("iit", {"solver": "HiGHS", "exact.installments": "2"})
    >>> for name in ("opr", "bound-fluid", "exact"):
    ...     print(options.of(registry.method("iit", name)))
    {}
    {'solver': 'HiGHS'}
    {'solver': 'HiGHS', 'installments': '2'}
    """

    def __init__(self, stem: str, given: Mapping[str, object]) -> None:
        if not isinstance(given, Mapping):
            raise NotApplicableError(f"options are a mapping, not a {type(given).__name__}")
        self._options = [_current(stem, name, value) for name, value in given.items()]
        self.used: set[str] = set()

    def of(self, method: Method) -> dict[str, object]:
        """Return the options that go to a method, by their present names; they are not read yet."""
        own = {option.name for option in method.options}
        found: dict[str, object] = {}
        for one in sorted(self._options, key=lambda one: one.method is not None):
            if one.name in own and one.method in (None, method.name):
                found[one.name] = one.value
                self.used.add(one.given)
        return found

    def current(self, given: Collection[str]) -> dict[str, object]:
        """Return some of the options, of which the names given are listed, by present names."""
        return {
            one.name if one.method is None else f"{one.method}.{one.name}": one.value
            for one in self._options
            if one.given in given
        }


def options_of_problems(
    stems: Iterable[str],
    given: Mapping[str, object],
    methods: Sequence[str] | None = None,
    *,
    literal: bool = False,
) -> dict[str, dict[str, object]]:
    """Return which options the methods of each of several problems have, by their present names.

    Parameters
    ----------
    stems : iterable of str
    given : mapping
        As `MethodOptions` takes them.
    methods, literal
        As `dlopt.compare` takes them.

    Raises
    ------
    NotApplicableError
        If no method of any of the problems has an option, or a value is not of its type.

    Examples
    --------
    >>> options_of_problems(["iit", "dag"], {"installments": "2"})
    {'iit': {'installments': '2'}, 'dag': {}}
    """
    found: dict[str, dict[str, object]] = {}
    entries: list[Method] = []
    used: set[str] = set()
    for stem in stems:
        options = MethodOptions(stem, given)
        own = registry.selected_methods(stem, methods, literal=literal) if given else ()
        for entry in own:
            entry.read_options(options.of(entry))
        entries += own
        used |= options.used
        found[stem] = options.current(options.used)
    refuse_unused(given, used, entries)
    return found


def _current(stem: str, given: object, value: object) -> _GivenOption:
    if not isinstance(given, str):
        raise NotApplicableError(f"options are given by their names, got {given!r}")
    method, name = _parts(given)
    ((name, value),) = aliases.current_options(stem, {name: value}).items()
    method = None if method is None else aliases.current_method(stem, method)
    return _GivenOption(given, method, name, value)


def _parts(given: str) -> tuple[str | None, str]:
    """Return the method, if one is named, and the option."""
    method, point, name = given.rpartition(".")
    return (method if point else None), name


def refuse_unused(given: Iterable[str], used: Collection[str], methods: Sequence[Method]) -> None:
    """Refuse options that no method has: a typing error would pass for a setting without effect.

    Parameters
    ----------
    given : iterable of str
        The names, as `MethodOptions` takes them.
    used : collection of str
        Those that some method has.
    methods : sequence of Method
        The methods that are run.

    Raises
    ------
    NotApplicableError
        For the first option that none of the methods has; it names the methods that have it, or
        the options that they have.

    Examples
    --------
    >>> refuse_unused(["instalments"], [], [registry.method("iit", "exact")])
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: no method has the option 'instalments' \
(did you mean installments? known: formulation, installments, solver)
    >>> refuse_unused(["assignment"], [], [registry.method("iit", "exact")])
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: none of the methods that are run has the option \
'assignment'; opr and epr have it
    """
    for name in given:
        if name not in used:
            method, option = _parts(name)
            if method is None:
                _refuse(option, methods)
            _refuse_of_method(method, option, methods)


def _refuse_of_method(method: str, option: str, methods: Sequence[Method]) -> NoReturn:
    """Raise the error of an option that a method has not, or that is given for no method."""
    stems = list(dict.fromkeys(entry.stem for entry in methods))
    present = {aliases.current_method(stem, method, quiet=True) for stem in stems}
    for entry in methods:
        if entry.name in present:
            entry.read_options({option: ""})  # raises: it has no such option
    names = dict.fromkeys(entry.name for stem in stems for entry in registry.methods(stem))
    reason = f"{method} is not among the methods that are run"
    if present.isdisjoint(names):
        hint = known_names(method, names, " ".join(["dlopt methods", *stems[:1]]))
        reason = f"no method {method!r} ({hint})"
    raise NotApplicableError(f"option {method}.{option}: {reason}")


def _refuse(option: str, methods: Sequence[Method]) -> NoReturn:
    """Raise the error of an option that none of the methods has."""
    stems = dict.fromkeys(entry.stem for entry in methods)
    having = [
        entry.name
        for stem in stems
        for entry in registry.methods(stem)
        if option in {one.name for one in entry.options}
    ]
    if having:
        text = f"none of the methods that are run has the option {option!r}"
        raise NotApplicableError(f"{text}; {_enumerated(having)} it")
    options = dict.fromkeys(one.name for entry in methods for one in entry.options)
    hint = known_names(option, options) + registry.limits_hint(option)
    raise NotApplicableError(f"no method has the option {option!r} ({hint})")


def _enumerated(names: Sequence[str]) -> str:
    """Return names with their verb: ``a has``, ``a and b have``."""
    if len(names) == 1:
        return f"{names[0]} has"
    return f"{', '.join(names[:-1])} and {names[-1]} have"
