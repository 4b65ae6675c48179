"""Reading of questions, with every fault at once.

A question is what a client sends to have a job made: a kind, an instance or the hash of one that
was sent before, and what the functions of the library take. Only registered methods can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from dlopt import aliases, io, registry
from dlopt.child_processes import processors
from dlopt.errors import MISSING, DloptError, Fault, InvalidInstanceError, NotApplicableError
from dlopt.problems.validated_record import Header
from dlopt.query import Query, applicable_objective
from dlopt.registry import Method
from dlopt.result import LIMIT_RULES, Limits
from dlopt.serve.answers import JsonObject
from dlopt.serve.jobs.questions import Question, question_of
from dlopt.serve.settings import ServiceSettings

_SOLVING = ("instance", "hash", "method", "objective", "limits", "seed", "options")
FIELDS: Mapping[str, frozenset[str]] = {
    kind: frozenset(("kind", "priority", *fields))
    for kind, fields in {
        "solve": _SOLVING,
        "certificate": _SOLVING,
        "compare": ("instance", "hash", "methods", "objective", "limits", "seed"),
        "check": ("instance", "hash", "solution"),
        "falsify": (
            "problem",
            "method",
            "objective",
            "claim",
            "target",
            "limits",
            "seed",
            "options",
        ),
    }.items()
}
"""The kinds of jobs, and the fields that a question of each kind may have."""

SEARCH_TIME_S = 60.0
"""Seconds that a search for a counterexample takes unless it is limited, as on the command line."""
MAX_PRIORITY = 1_000
"""The highest priority of a job; the negative of it is the lowest. Chosen by hand."""
JOB_LIMITS = frozenset({"time_s", "work", "threads", "gap"})
"""The limits that a job may have, see `dlopt.serve.job_bodies.JobLimits`."""
_TARGETS = ("claim", "gap")


def read_question(
    data: Mapping[str, object],
    settings: ServiceSettings,
    instance_of_hash: Callable[[str], object | None],
) -> Question:
    """Return the question of some data.

    Parameters
    ----------
    data : mapping
        The body of a request.
    settings : ServiceSettings
        The largest time limit.
    instance_of_hash : callable
        Returns the data of an instance that was sent before, or None.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> settings = ServiceSettings(store="")
    >>> read_question({"kind": "solve", "metod": "opr"}, settings, {}.get)
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: metod: is not a field of a question of kind solve, got 'opr'
    instance: is missing: give an instance, or the hash of one
    """
    return _QuestionReader(data, settings, instance_of_hash).read()


class _QuestionReader:
    """Reads one question and collects its faults."""

    def __init__(
        self,
        data: Mapping[str, object],
        settings: ServiceSettings,
        instance_of_hash: Callable[[str], object | None],
    ) -> None:
        if not isinstance(data, Mapping):
            raise InvalidInstanceError([Fault("", data, "must be a JSON object")])
        self._data = data
        self._settings = settings
        self._instance_of_hash = instance_of_hash
        self._faults: list[Fault] = []
        self._kind = "solve"

    def read(self) -> Question:
        kind = self._data.get("kind", "solve")
        if not isinstance(kind, str) or kind not in FIELDS:
            rule = f"must be one of {', '.join(FIELDS)}"
            raise InvalidInstanceError([Fault("kind", kind, rule)])
        self._kind = kind
        for name, value in self._data.items():
            if name not in FIELDS[kind]:
                rule = f"is not a field of a question of kind {kind}"
                self._faults.append(Fault(str(name), value, rule))
        instance = None if kind == "falsify" else self._read_instance()
        asked: JsonObject = {"kind": kind} | self._read_fields(kind, instance)
        priority = self._integer("priority", 0)
        if abs(priority) > MAX_PRIORITY:
            rule = f"must lie in [-{MAX_PRIORITY}, {MAX_PRIORITY}]"
            self._faults.append(Fault("priority", priority, rule))
        if self._faults:
            raise InvalidInstanceError(self._faults)
        return question_of(kind, priority, asked, instance)

    def _read_fields(self, kind: str, instance: Header | None) -> JsonObject:
        """Return what is asked, by kind; what is not given has its default."""
        if kind == "check":
            return {"solution": self._read_solution(instance)}
        stem = self._stem(instance)
        if kind == "compare":
            methods = self._read_methods(stem)
            usual = registry.methods(stem) if stem is not None else ()
            count = len(methods or [entry for entry in usual if not entry.literal])
            return {
                "methods": methods,
                "runs": max(count, 1),
                "objective": self._read_objective_of_problem(stem, instance),
                "limits": self._read_limits(kind, max(count, 1)),
                "seed": self._integer("seed", 0),
            }
        entry = self._read_method(stem, self._data.get("method", "exact"), "method")
        asked = {
            "method": None if entry is None else entry.name,
            "objective": self._read_objective(stem, instance, entry),
            "limits": self._read_limits(kind, 1),
            "seed": self._integer("seed", 0),
            "options": self._read_options(entry),
        }
        if kind == "falsify":
            asked |= {"problem": stem} | self._read_claim(entry)
        return asked

    def _read_instance(self) -> Header | None:
        if ("instance" in self._data) == ("hash" in self._data):
            missing = "instance" not in self._data
            rule = "is missing: give" if missing else "must not be given together: give"
            rule = f"{rule} an instance, or the hash of one"
            self._faults.append(Fault("instance", MISSING, rule))
            return None
        data: object = self._data.get("instance")
        if "hash" in self._data:
            given = self._data["hash"]
            data = self._instance_of_hash(given) if isinstance(given, str) else None
            if data is None:
                rule = "must be the hash of an instance that was sent before"
                self._faults.append(Fault("hash", given, rule))
                return None
        try:
            instance: Header = io.instance_from_data(data)
        except InvalidInstanceError as error:
            self._faults += _below("instance", error)
            return None
        return instance

    def _stem(self, instance: Header | None) -> str | None:
        """Return the problem that is meant, even of an instance that has other faults."""
        if instance is not None:
            return instance.problem
        if "instance" in self._data and "problem" not in self._data:
            given = self._data["instance"]
            stem = given.get("problem") if isinstance(given, Mapping) else None
            return stem if stem in registry.stems() else None
        if "problem" not in FIELDS[self._kind]:
            return None
        stem = self._data.get("problem", MISSING)
        if stem not in registry.stems():
            known = ", ".join(registry.stems())
            self._faults.append(Fault("problem", stem, f"must be one of {known}"))
            return None
        return str(stem)

    def _read_method(self, stem: str | None, name: object, path: str) -> Method | None:
        if not isinstance(name, str):
            self._faults.append(Fault(path, name, "must be the name of a method"))
            return None
        if stem is None:
            return None
        try:
            return registry.method(stem, name)
        except NotApplicableError as error:
            self._add(path, name, "must be a registered method", error)
            return None

    def _read_methods(self, stem: str | None) -> list[str] | None:
        names = self._data.get("methods")
        if names is None:
            return None
        if not isinstance(names, list) or not names:
            self._faults.append(Fault("methods", names, "must be a list of names of methods"))
            return None
        found = [
            self._read_method(stem, name, f"methods[{index}]") for index, name in enumerate(names)
        ]
        return list(dict.fromkeys(entry.name for entry in found if entry is not None))

    def _read_objective(
        self, stem: str | None, instance: Header | None, entry: Method | None
    ) -> str | None:
        """Return the objective of a method; of a search, None is that of its claim."""
        name = self._objective_name(stem)
        if entry is None:
            return None
        if instance is None:
            if name is not None and name not in entry.objectives:
                rule = f"must be an objective of the method: {', '.join(entry.objectives)}"
                self._faults.append(Fault("objective", name, rule))
            return name
        try:
            return Query.of(instance, entry, name).goal.name
        except NotApplicableError as error:
            self._add("objective", name, "must be an objective of the method", error)
            return None

    def _read_objective_of_problem(self, stem: str | None, instance: Header | None) -> str | None:
        """Return the objective of a comparison; None is the usual one of the instance."""
        name = self._objective_name(stem)
        if stem is None or instance is None or name is None:
            return None
        try:
            return applicable_objective(instance, registry.problem(stem), name).name
        except NotApplicableError as error:
            self._add("objective", name, f"must be an objective of {stem}", error)
            return None

    def _objective_name(self, stem: str | None) -> str | None:
        name = self._data.get("objective")
        if name is None or not isinstance(name, str):
            if name is not None:
                self._faults.append(Fault("objective", name, "must be the name of an objective"))
            return None
        return name if stem is None else aliases.current_objective(stem, name)

    def _read_options(self, entry: Method | None) -> JsonObject:
        options = self._data.get("options", {})
        if not isinstance(options, Mapping):
            self._faults.append(Fault("options", options, "must be an object"))
            return {}
        if entry is None:
            return {}
        read: JsonObject = {}
        for name, value in options.items():
            try:
                read |= entry.read_options({name: value})
            except NotApplicableError as error:
                self._add(f"options.{name}", value, "must be an option of the method", error)
        return read

    def _read_limits(self, kind: str, runs: int) -> JsonObject:
        """Return the limits of each of some runs, whose time together is bounded."""
        given = self._data.get("limits", {})
        usual = {name: value for name, value in asdict(Limits()).items() if name in JOB_LIMITS}
        if not isinstance(given, Mapping):
            self._faults.append(Fault("limits", given, "must be an object"))
            return usual
        for name, value in given.items():
            known = LIMIT_RULES.get(name) if name in usual else None
            rule, is_good = known or ("is not a limit", lambda _: False)
            if not is_good(value):
                self._faults.append(Fault(f"limits.{name}", value, rule))
                return usual
        limits = usual | dict(given)
        limits["gap"] = float(limits["gap"])
        longest = self._settings.job_time_s / runs
        if limits["time_s"] is None:
            limits["time_s"] = min(SEARCH_TIME_S, longest) if kind == "falsify" else longest
        elif limits["time_s"] > longest:
            of = f" for each of {runs} methods" if runs > 1 else ""
            rule = f"must be at most {longest:g}{of}"
            self._faults.append(Fault("limits.time_s", limits["time_s"], rule))
        limits["time_s"] = float(limits["time_s"])
        if limits["threads"] > processors():
            rule = f"must be at most {processors()}, the processors of the service"
            self._faults.append(Fault("limits.threads", limits["threads"], rule))
        return limits

    def _read_solution(self, instance: Header | None) -> object:
        if "solution" not in self._data:
            rule = "is missing: give a plan, or a result of solve"
            self._faults.append(Fault("solution", MISSING, rule))
        elif instance is not None:
            try:
                io.plan_from_data(self._data["solution"], instance)
            except InvalidInstanceError as error:
                self._faults += _below("solution", error)
        return self._data.get("solution")

    def _read_claim(self, entry: Method | None) -> JsonObject:
        from dlopt.verify.claim_table import claim

        target = self._data.get("target", "claim")
        if target not in _TARGETS:
            self._faults.append(Fault("target", target, f"must be one of {', '.join(_TARGETS)}"))
        name = self._data.get("claim")
        if name is not None and not isinstance(name, str):
            self._faults.append(Fault("claim", name, "must be the name of a claim"))
        elif name is not None and target == "gap":
            self._faults.append(Fault("claim", name, "must be absent in a search for gaps"))
        elif entry is not None and target == "claim":
            try:
                claim(entry, name)
            except NotApplicableError as error:
                self._add("claim", name, "must be a claim about the method", error)
        return {"claim": name, "target": target}

    def _integer(self, name: str, default: int) -> int:
        value = self._data.get(name, default)
        if type(value) is not int:
            self._faults.append(Fault(name, value, "must be an integer"))
            return default
        return value

    def _add(self, path: str, value: object, rule: str, error: DloptError) -> None:
        self._faults.append(Fault(path, value, f"{rule}: {error}"))


def _below(field: str, error: InvalidInstanceError) -> list[Fault]:
    """Return the faults of what stands in a field, with its name before their paths."""
    return [
        replace(fault, path=f"{field}.{fault.path}" if fault.path else field)
        for fault in error.faults
    ]
