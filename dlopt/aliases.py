"""Former names: what they are called now, and the warning that says so.

Those of methods, options, statuses of records and keys of JSON are in the tables below; those of
classes, functions and attributes are in their modules. A former name works for one release, and
gives one `RenamedWarning`, which the command line prints as a line on standard error. This module
stands below all other layers, for methods, engines, records and files of results use it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class RenamedWarning(DeprecationWarning):
    """A former name was used. It works in this release, and not in the next."""


class RenamedOption(NamedTuple):
    """What an option of a method is called now.

    Parameters
    ----------
    name : str
    values : mapping
        Former values, with what stands for them now; all others are as they were.
    """

    name: str
    values: Mapping[str, Any] = MappingProxyType({})


METHODS: Mapping[tuple[str, str], str] = {
    ("admission", "all-or-nothing"): "feasibility",
    ("admission", "bound-window"): "bound-window-cuts",
    ("admission", "fast-edf-iit-r0"): "fast-edf-iit-minimal",
    ("admission", "fast-edf-iit-r1"): "fast-edf-iit-linear",
    ("admission", "fast-edf-iit-replay"): "fast-edf-iit-simulated",
    ("admission", "fast-mwf-iit-r1"): "fast-mwf-iit-linear",
    ("admission", "fast-mwf-iit-replay"): "fast-mwf-iit-simulated",
    ("multistage", "all-or-nothing"): "feasibility",
    ("multistage", "structured"): "stage-optimal",
    ("coreservation", "all-or-nothing"): "feasibility",
    ("coreservation", "bound-pooled"): "bound-aggregated",
    ("coreservation", "bound-lp"): "bound-aggregated-lp",
    ("coreservation", "exact-per-batch"): "rolling-exact",
    ("dag", "lookahead"): "heft-lookahead",
    ("bag", "sa"): "switching",
    ("bag", "greedy"): "duplex",
}
"""The methods of each problem, by stem and former name."""

_NO_YES = {"no": False, "yes": True}

OPTIONS: Mapping[tuple[str, str], RenamedOption] = {
    ("admission", "relax"): RenamedOption("relax", _NO_YES),
    ("admission", "events"): RenamedOption("tie_break"),
    ("multistage", "relax"): RenamedOption("relax", _NO_YES),
    ("coreservation", "trim"): RenamedOption("trim", _NO_YES),
    ("coreservation", "share"): RenamedOption("allocation", {"greedy": "max", "least": "min"}),
    ("coreservation", "symmetric"): RenamedOption("symmetry_breaking", {"no": True, "yes": False}),
    ("dag", "slots"): RenamedOption("insertion", {"insertion": True, "append": False}),
    ("dag", "choice"): RenamedOption("machine_rule", {"finish": "eft", "start": "est"}),
    ("bag", "late"): RenamedOption("tardy", {"drop": "reject"}),
}
"""The options of methods, by stem and former name. One that kept its name has former values."""

RECORD_STATUSES: Mapping[str, str] = {
    "died": "crashed",
    "left-out": "not-applicable",
    "out-of-time": "timeout",
    "refuted": "invalid",
}
"""Statuses of batch records of version 1."""

JSON_KEYS: Mapping[str, str] = {
    "behind_optimum": "gap_to_optimum",
    "behind_bound": "gap_to_bound",
    "cells": "runs",
    "left_out": "skipped",
    "rows": "records",
}
"""Keys of what the commands print as JSON; the former key is printed next to the new one."""


def warn(text: str, stacklevel: int = 3) -> None:
    """Give the warning that a former name was used.

    Parameters
    ----------
    text : str
    stacklevel : int, default 3
        As of `warnings.warn`; by default the caller of the function that calls this one.
    """
    warnings.warn(text, RenamedWarning, stacklevel=stacklevel)


def current_method(stem: str, name: str, *, quiet: bool = False) -> str:
    """Return what a method is called now; of a former name it warns, unless `quiet`.

    Examples
    --------
    >>> current_method("bag", "sa", quiet=True), current_method("bag", "met")
    ('switching', 'met')
    """
    current = METHODS.get((stem, name))
    if current is None:
        return name
    if not quiet:
        warn(f"method {name!r} is called {current!r} now", 4)
    return current


def current_options(stem: str, given: Mapping[str, Any], *, quiet: bool = False) -> dict[str, Any]:
    """Return options with what they are called now, and what their values are now.

    Examples
    --------
    >>> current_options("dag", {"slots": "append", "seed": 1}, quiet=True)
    {'insertion': False, 'seed': 1}
    """
    current = {}
    for name, value in given.items():
        renamed = OPTIONS.get((stem, name))
        if renamed is None:
            current[name] = value
            continue
        new = renamed.values.get(value, value) if isinstance(value, str) else value
        if not quiet and (renamed.name != name or new is not value):
            warn(f"option {name}={_text(value)} is called {renamed.name}={_text(new)} now", 4)
        current[renamed.name] = new
    return current


def with_former_keys(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON data with each former key next to the key that replaced it.

    Examples
    --------
    >>> with_former_keys({"runs": 2})
    {'runs': 2, 'cells': 2}
    """
    former = {new: old for old, new in JSON_KEYS.items()}
    both = dict(data)
    both |= {former[key]: value for key, value in data.items() if key in former}
    return both


def renamed_property(former: str, current: str) -> Any:
    """Return a property that answers for a former attribute, with a warning.

    Examples
    --------
    >>> class Decision:
    ...     reason = "no room"
    ...     because = renamed_property("because", "reason")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     print(Decision().because)
    no room
    """

    def read(self: Any) -> Any:
        warn(f"{type(self).__name__}.{former} is called .{current} now")
        return getattr(self, current)

    read.__doc__ = f"Former name of `{current}`."
    return property(read)


def module_getattr(module: str, former: Mapping[str, str], values: Mapping[str, Any]) -> Any:
    """Return the ``__getattr__`` of a module some of whose public names were changed.

    Parameters
    ----------
    module : str
    former : mapping of str to str
        What each former name is called now.
    values : mapping
        The names of the module.
    """

    def read(name: str) -> Any:
        if name not in former:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name} is called {former[name]} now")
        return values[former[name]]

    get: Callable[[str], Any] = read
    return get


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
