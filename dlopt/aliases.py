"""Former names: what they are called now, and the warning that says so.

Those of methods, options, objectives, violations, statuses of records and keys of JSON are in the
tables below; those of classes, functions and attributes are in their modules. A former name works
for one release, and gives one `RenamedWarning`, which the command line prints as a line on standard
error. This module stands below all other layers, for methods, engines, records and files of results
use it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from types import FrameType, MappingProxyType
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

OBJECTIVES: Mapping[tuple[str, str], str] = {
    ("dag", "late-graphs"): "tardy-graphs",
    ("dag", "response"): "total-response-time",
    ("dag", "late-then-response"): "tardy-then-response-time",
}
"""The objectives of each problem, by stem and former name."""

VIOLATION_KINDS: Mapping[str, str] = {
    "beaten": "bound-violated",
    "before-input": "starts-before-input",
    "before-ready": "machine-not-ready",
    "before-release": "starts-before-release",
    "cannot-run": "ineligible-machine",
    "changes-differ": "history-mismatch",
    "decided-twice": "duplicate-decision",
    "decision-time": "wrong-decision-time",
    "dropped-needlessly": "discarded-without-other-result",
    "failure-ignored": "failure-missing",
    "failure-survived": "continues-through-failure",
    "freed-without-cause": "left-queue-without-cause",
    "given-up-without-cause": "graph-abandoned-without-cause",
    "heard-from-the-dead": "suspicion-ended-without-cause",
    "incoherent-run": "inconsistent-run",
    "known-before-result": "result-known-before-transfer",
    "never-served": "graph-not-served",
    "no-course": "graph-record-missing",
    "node-down": "starts-during-failure",
    "not-placed": "task-missing",
    "not-pulled-back": "left-on-suspected-machine",
    "not-ready": "node-not-ready",
    "not-returned": "graph-not-returned",
    "overdue": "due-event-missing",
    "overlap": "machine-overlap",
    "part-twice": "duplicate-part",
    "placed-twice": "duplicate-task",
    "presumed-without-cause": "suspected-without-cause",
    "promise-broken": "promised-task-rejected",
    "refuted": "failed-verification",
    "rejected-holds": "rejected-request-allocated",
    "reservation-broken": "guaranteed-reservation-rejected",
    "reservation-decided-twice": "duplicate-reservation-decision",
    "reservation-decision-time": "wrong-reservation-decision-time",
    "reservation-nodes": "wrong-reservation-nodes",
    "reservation-on-channel": "reservation-channel-overlap",
    "reservation-on-node": "reservation-node-overlap",
    "sent-though-done": "sent-after-result",
    "sent-to-presumed-dead": "sent-to-suspected-machine",
    "several-lans": "graph-in-several-lans",
    "share-above": "share-above-maximum",
    "share-below": "share-below-minimum",
    "starts-on-presumed-dead": "starts-on-suspected-machine",
    "task-twice": "duplicate-task",
    "two-courses": "duplicate-graph-record",
    "unexplained": "incomplete-without-reason",
    "worse": "worse-than-claimed",
}
"""Kinds of violations, of constraints and of claims, by former name; no problem gives one of these
names to another kind now."""

GRID_VARIANTS: Mapping[str, str] = {"eq6-behind": "eq6-not-advanced"}
"""Rules that the name of a variant of the grid's policy adds, by former name."""

POLICY_VALUES: Mapping[tuple[str, str], str] = {
    ("free_time", "behind"): "not-advanced",
    ("recovery", "told"): "reported",
}
"""Values of fields of the grid's policy, by field and former value."""

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
    "fates": "job_outcomes",
    "left_out": "skipped",
    "rows": "records",
}
"""Keys of what the commands print as JSON; the former key is printed next to the new one."""


def warn(text: str) -> None:
    """Give the warning that a former name was used, at the line of the caller outside dlopt.

    Python shows warnings of this kind by default only where a line of the main program causes them.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(_module(frame)):
        frame = frame.f_back
    line = (frame.f_code.co_filename, frame.f_lineno, _module(frame))
    given_before = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, RenamedWarning, *line, given_before)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_ours(module: str) -> bool:
    """Tell whether a module is one of dlopt, or imports the names of one."""
    return module.partition(".")[0] == "dlopt" or module == "importlib._bootstrap"


def current_method(stem: str, name: str, *, quiet: bool = False) -> str:
    """Return what a method is called now; of a former name it warns, unless `quiet`.

    Examples
    --------
    >>> current_method("bag", "sa", quiet=True), current_method("bag", "met")
    ('switching', 'met')
    """
    current = METHODS.get((stem, name))
    return current if current and quiet else _with_warning("method", name, current)


def current_objective(stem: str, name: str) -> str:
    """Return what an objective is called now; of a former name it warns.

    Examples
    --------
    >>> current_objective("dag", "makespan")
    'makespan'
    """
    return _with_warning("objective", name, OBJECTIVES.get((stem, name)))


def current_violation_kind(name: str) -> str:
    """Return what a kind of violation is called now; of a former name it warns.

    Examples
    --------
    >>> current_violation_kind("overload")
    'overload'
    """
    return _with_warning("violation", name, VIOLATION_KINDS.get(name))


def _with_warning(what: str, name: str, current: str | None) -> str:
    """Return the current name with a warning, or the name itself if it was never changed."""
    if current is None:
        return name
    warn(f"{what} {name!r} is called {current!r} now")
    return current


def current_grid_variant(name: str) -> str:
    """Return a variant of the grid's policy with what its rules are called now.

    Examples
    --------
    >>> current_grid_variant("corrected+no-recovery")
    'corrected+no-recovery'
    """
    rules = name.split("+")
    for rule in rules:
        if rule in GRID_VARIANTS:
            warn(f"variant {rule!r} is called {GRID_VARIANTS[rule]!r} now")
    return "+".join(GRID_VARIANTS.get(rule, rule) for rule in rules)


def current_policy_value(name: str, value: object) -> object:
    """Return what the value of a field of the grid's policy is called now.

    Examples
    --------
    >>> current_policy_value("recovery", "silent")
    'silent'
    """
    current = POLICY_VALUES.get((name, value)) if isinstance(value, str) else None
    if current is None:
        return value
    warn(f"{name}={value!r} is called {current!r} now")
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
            warn(f"option {name}={_text(value)} is called {renamed.name}={_text(new)} now")
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
