"""Which runs there are: instances times methods times limits."""

from __future__ import annotations

import itertools
import os
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from dlopt import aliases, io, registry
from dlopt.arithmetic import integer_argument, is_number
from dlopt.batch.records import Numbers, RunKey
from dlopt.batch.runs import Run
from dlopt.errors import MISSING, DloptError, Fault, InvalidInstanceError, NotApplicableError
from dlopt.method_options import MethodOptions, refuse_unused
from dlopt.problems.validated_record import Header
from dlopt.registry import Method
from dlopt.result import NO_LIMITS, Limits
from dlopt.version import __version__

EntryT = TypeVar("EntryT")
_FAMILY = re.compile(r"--family ([\w-]+)|: ([\w-]+), seed ")


class NamedInstance(NamedTuple):
    """An instance with what it is called and the family that it belongs to."""

    instance: Header
    name: str
    family: str


class _UsedNames(NamedTuple):
    """The names of a plan that some instance has a use for."""

    methods: set[str]
    objectives: set[str]


class _CurrentNames(NamedTuple):
    """What a problem calls given methods, objectives and options now, by the names given."""

    methods: dict[str, str]
    methods_given: bool
    objectives: dict[str, str]
    options: MethodOptions


class SkippedMethod(NamedTuple):
    """A method that does not apply to an instance, and why."""

    instance: str
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is to be solved.

    Parameters
    ----------
    runs : tuple of Run
        Each once, instance by instance.
    skipped : tuple of SkippedMethod
    duplicates : tuple of (str, str)
        Instances that equal one before, and which; they are solved once.
    """

    runs: tuple[Run, ...]
    skipped: tuple[SkippedMethod, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()


def instance_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield files as they are given, and of a folder all ``.json`` files within, sorted.

    Raises
    ------
    InvalidInstanceError
        If a folder has none.

    Examples
    --------
    >>> [file.name for file in instance_files(["instances/admission"])][:2]
    ['as-it-stands.json', 'between-grid-points.json']
    """
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob("*.json"), key=lambda file: (len(file.parts), file))
        if not found:
            raise InvalidInstanceError([Fault("", MISSING, "has no .json file")], str(path))
        yield from found


def read_item(path: str | os.PathLike[str], numbers: Numbers = "as-written") -> NamedInstance:
    """Read an instance; its family is the one that its origin tells, or else its folder.

    Raises
    ------
    InvalidInstanceError
        See `dlopt.read`.

    Examples
    --------
    >>> read_item("instances/iit/ramp-16.json")[1:]
    ('ramp-16', 'ramp')
    """
    instance: Header = io.read(
        path, exact_numbers=numbers == "exact", float_numbers=numbers == "float"
    )
    path = Path(path)
    named = _FAMILY.search(instance.origin or "")
    family = (named[1] or named[2]) if named else path.resolve().parent.name
    return NamedInstance(instance, instance.name or path.stem, family)


def plan_runs(
    instances: Iterable[Header | NamedInstance],
    methods: Sequence[str] | None = None,
    *,
    objectives: Sequence[str] | Literal["all"] | None = None,
    limits: Sequence[Limits] = (NO_LIMITS,),
    seeds: Sequence[int] = (0,),
    options: Mapping[str, Any] | None = None,
    literal: bool = False,
    numbers: Numbers = "as-written",
    hard_timeout_s: float | None = None,
    pictures: bool = False,
    certificates: bool = False,
    kill_after_s: float | None = None,
    certified: bool = False,
) -> ExperimentPlan:
    """Return the runs of instances times methods times objectives times limits times seeds.

    Parameters
    ----------
    instances : iterable of Instance or NamedInstance
        Read one by one: a generator needs no memory for all of them.
    methods : sequence of str, optional
        By default every registered method but the literal ones. A method of one problem is
        passed over for the others.
    objectives : sequence of str, or "all", optional
        By default that of each instance.
    limits : sequence of Limits
    seeds : sequence of int
    options : mapping, optional
        Each goes to those methods that have it; ``METHOD.option`` goes to one method.
    literal : bool, default False
        Include the variants that reproduce printed errors.
    numbers : {"as-written", "exact", "float"}
        How the instances were read.
    hard_timeout_s : float, optional
        A run that takes longer than so many seconds is ended. By default twice the time limit
        and a minute; without a time limit, never.
    pictures : bool, default False
        Draw the plans.
    certificates : bool, default False
        Write the certificates of bounds, and check them.
    kill_after_s : float, optional
        Former name of `hard_timeout_s`.
    certified : bool, default False
        State bounds only with certificates that are accepted, see `dlopt.solve`.

    Returns
    -------
    ExperimentPlan

    Raises
    ------
    NotApplicableError
        If a method, objective or option belongs to nothing in the plan, or an argument is no list
        of its type.

    Examples
    --------
    >>> plan = plan_runs([io.read("instances/iit/late-node.json")], ["opr", "edf-iit-2"])
    >>> [run.key.method for run in plan.runs]
    ['opr', 'edf-iit-2']
    """
    if kill_after_s is not None:
        aliases.warn("kill_after_s is called hard_timeout_s now")
        hard_timeout_s = kill_after_s
    if hard_timeout_s is not None and not _is_duration(hard_timeout_s):
        raise NotApplicableError(f"hard-timeout must be positive, got {hard_timeout_s!r}")
    methods = None if methods is None else _entries_of("methods", methods, str)
    limits = _entries_of("limits", limits, Limits)
    seeds = [integer_argument("seed", seed) for seed in _entries_of("seeds", seeds, object)]
    given, used = dict(options or {}), _UsedNames(set(), set())
    settled: dict[Method, dict[str, Any]] = {}
    current: dict[str, _CurrentNames] = {}
    goals: tuple[str, ...] = ()
    if objectives is not None and objectives != "all":
        goals = _entries_of("objectives", objectives, str)
    runs: dict[RunKey, Run] = {}
    skipped: list[SkippedMethod] = []
    duplicates: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    for item in map(_item, _iterable("instances", instances)):
        hashed = io.instance_hash(item.instance)
        if hashed in names:
            duplicates.append((item.name, names[hashed]))
            continue
        names[hashed] = item.name
        payload = pickle.dumps(item.instance)
        stem = item.instance.problem
        if stem not in current:
            current[stem] = _current_names(stem, methods, goals, given)
        entries = _entries(stem, current[stem], literal)
        applied = {entry.name for entry in entries}
        used.methods.update(n for n, now in current[stem].methods.items() if now in applied)
        named = objectives if goals == () else tuple(current[stem].objectives.values())
        for entry, goal in itertools.product(entries, _goals(item.instance, named)):
            if entry not in settled:
                settled[entry] = entry.read_options(current[stem].options.of(entry))
            reason = _reason_against(entry, item.instance, goal)
            if reason is not None:
                skipped.append(SkippedMethod(item.name, entry.name, reason))
                continue
            used.objectives.update(n for n, now in current[stem].objectives.items() if now == goal)
            own = tuple(sorted(settled[entry].items()))
            for limit, seed in itertools.product(limits, seeds):
                head = (entry.stem, hashed, entry.name, goal, limit, seed, own, numbers)
                key = RunKey(*head, __version__, certified)
                timeout_s = _hard_timeout(limit, hard_timeout_s)
                about = (item.name, item.family, entry.kind, entry.claim)
                runs[key] = Run(key, *about, payload, timeout_s, pictures, certificates)
    if names:
        _refuse_unused(used, methods or (), goals)
        options_used = set().union(*(one.options.used for one in current.values()))
        refuse_unused(given, options_used, list(settled))
    return ExperimentPlan(tuple(runs.values()), tuple(skipped), tuple(duplicates))


def _is_duration(seconds: object) -> bool:
    return is_number(seconds) and seconds > 0


def _iterable(name: str, given: Iterable[EntryT]) -> Iterable[EntryT]:
    """Return what is a list or another iterable, and no text."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise NotApplicableError(f"{name} are a list, got {given!r}")
    return given


def _entries_of(name: str, given: Iterable[EntryT], kind: type) -> tuple[EntryT, ...]:
    """Return the entries of an argument that is a list of one type, and not empty."""
    entries = tuple(_iterable(name, given))
    for entry in entries:
        if not isinstance(entry, kind):
            raise NotApplicableError(f"{name} are a list of {kind.__name__}, got {entry!r} in it")
    if not entries:
        raise NotApplicableError(f"{name} must have an entry")
    return entries


def _item(instance: Header | NamedInstance) -> NamedInstance:
    if isinstance(instance, NamedInstance):
        return instance
    registry.problem_of(instance)  # raises where it is none
    return NamedInstance(instance, instance.name or instance.problem, instance.problem)


def _current_names(
    stem: str, methods: Sequence[str] | None, objectives: Sequence[str], options: Mapping[str, Any]
) -> _CurrentNames:
    """Return what a problem calls what it is given now, with one warning for each former name."""
    wanted = dict.fromkeys(methods or ())
    return _CurrentNames(
        {name: aliases.current_method(stem, name) for name in wanted},
        methods is not None,
        {name: aliases.current_objective(stem, name) for name in dict.fromkeys(objectives)},
        MethodOptions(stem, options),
    )


def _entries(stem: str, names: _CurrentNames, literal: bool) -> list[Method]:
    entries = registry.methods(stem)
    if not names.methods_given:
        return [entry for entry in entries if literal or not entry.literal]
    known = {entry.name: entry for entry in entries}
    return [known[name] for name in dict.fromkeys(names.methods.values()) if name in known]


def _goals(instance: Header, objectives: Sequence[str] | Literal["all"] | None) -> tuple[str, ...]:
    module = registry.problem_of(instance).module
    if objectives is None:
        return (module.default_objective(instance),)
    return tuple(
        name
        for name, goal in module.OBJECTIVES.items()
        if (name in objectives or (objectives == "all" and not goal.is_redundant(instance)))
        and (goal.requires_field is None or getattr(instance, goal.requires_field) is not None)
    )


def _reason_against(entry: Method, instance: Header, goal: str) -> str | None:
    try:
        return entry.reason_against(instance, goal)
    except DloptError:
        return None  # the method's own mistake: its record will say so


def _hard_timeout(limits: Limits, hard_timeout_s: float | None) -> float | None:
    if hard_timeout_s is not None or limits.time_s is None:
        return hard_timeout_s
    return 2 * limits.time_s + 60


def _refuse_unused(used: _UsedNames, methods: Iterable[str], objectives: Iterable[str]) -> None:
    """Refuse names that nothing answers to: a typing error would pass for an empty column."""
    for name in methods:
        if name not in used.methods:
            if any(entry.name == name for entry in registry.methods()):
                raise NotApplicableError(f"{name} is a method of none of the problems given")
            raise NotApplicableError(f"no method {name!r}; `dlopt methods` lists them")
    for name in objectives:
        if name not in used.objectives:
            raise NotApplicableError(f"no method and instance have the objective {name!r}")
