"""Reading of job requests, with every fault at once.

A job request is what a client sends to have a job made: a kind, an instance or the hash of one that
was sent before, and what the functions of the library take. Only registered methods can be named.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dlopt import aliases, io, registry
from dlopt.child_processes import processors
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.method_options import MethodOptions, refuse_unused
from dlopt.problems.validated_record import Header, examine
from dlopt.query import Query, applicable_objective
from dlopt.registry import Method
from dlopt.serve.answers import JsonObject
from dlopt.serve.jobs.stored_requests import JobRequest, job_request_of
from dlopt.serve.settings import ServiceSettings
from dlopt.service_api.job_requests import JOB_REQUESTS, JobLimits

SEARCH_TIME_S = 60.0
"""Seconds that a search for a counterexample takes unless it is limited, as on the command line."""


def read_job_request(
    data: object,
    settings: ServiceSettings,
    instance_of_hash: Callable[[str], object | None],
) -> JobRequest:
    """Return the job request of some data.

    Parameters
    ----------
    data : object
        The body of an HTTP request.
    settings : ServiceSettings
        With the largest time limit.
    instance_of_hash : callable
        Returns the data of an instance that was sent before, or None.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> settings = ServiceSettings(store="")
    >>> read_job_request({"kind": "solve", "seed": 0.5}, settings, {}.get)
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: seed: must be an integer, got 0.5
    instance: is missing: give an instance, or the hash of one
    """
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be a JSON object")])
    kind = data.get("kind", "solve")
    if not isinstance(kind, str) or kind not in JOB_REQUESTS:
        raise InvalidInstanceError(
            [Fault("kind", kind, f"must be one of {', '.join(JOB_REQUESTS)}")]
        )
    reader = _JobRequestReader(kind, data, settings, instance_of_hash)
    asked: JsonObject = {"kind": kind} | reader.asked()
    if reader.faults:
        raise InvalidInstanceError(reader.faults)
    return job_request_of(kind, reader.given["priority"], asked, reader.instance)


class _JobRequestReader:
    """Reads one request and collects its faults.

    Attributes
    ----------
    given : dict
        The fields that are valid by themselves, and the defaults of those that are not given.
    instance : Header or None
    faults : list of Fault
    """

    def __init__(
        self,
        kind: str,
        data: Mapping[str, object],
        settings: ServiceSettings,
        instance_of_hash: Callable[[str], object | None],
    ) -> None:
        self.given, faults = examine(JOB_REQUESTS[kind], data)
        self.faults = list(faults)
        self._kind = kind
        self._settings = settings
        self.instance = self._read_instance(instance_of_hash)
        self._stem = self._read_stem()

    def asked(self) -> JsonObject:
        """Return what is asked, by kind; what is not given has its default."""
        given = self.given
        if self._kind == "check":
            return {"solution": self._read_solution()}
        if self._kind == "compare":
            return self._asked_of_comparison()
        method = self._read_method("method", given.get("method"))
        asked = self._read_common(method, 1) | self._read_certified()
        asked |= {"method": method and method.name, "options": self._read_options(method)}
        if self._kind == "falsify":
            asked |= {"problem": self._stem, "target": given.get("target")}
            asked["claim"] = self._read_claim(method)
        return asked

    def _asked_of_comparison(self) -> JsonObject:
        methods = self._read_methods(self.given.get("methods"))
        runs = len(methods or self._usual_methods()) or 1
        asked = {"methods": methods, "runs": runs} | self._read_common(None, runs)
        return asked | self._read_options_of(methods) | self._read_certified()

    def _read_common(self, method: Method | None, runs: int) -> JsonObject:
        return {
            "objective": self._read_objective(method),
            "limits": self._read_limits(runs),
            "seed": self.given.get("seed"),
        }

    def _read_instance(self, instance_of_hash: Callable[[str], object | None]) -> Header | None:
        data, hashed = self.given.get("instance"), self.given.get("hash")
        if data is None and hashed is not None:
            data = instance_of_hash(hashed)
            if data is None:
                self._add("hash", hashed, "must be the hash of an instance that was sent before")
        if data is not None:
            with self._faults_at("instance"):
                instance: Header = io.instance_from_data(data)
                return instance
        return None

    def _read_stem(self) -> str | None:
        """Return the problem that is meant, even of an instance that has other faults."""
        if self.instance is not None:
            return self.instance.problem
        data = self.given if self._kind == "falsify" else self.given.get("instance")
        stem = data.get("problem") if isinstance(data, Mapping) else None
        if stem in registry.stems():
            return str(stem)
        if self._kind == "falsify" and stem is not None:
            self._add("problem", stem, f"must be one of {', '.join(registry.stems())}")
        return None

    def _read_method(self, path: str, name: str | None) -> Method | None:
        if self._stem is not None and name is not None:
            with self._faults_at(path, name, "must be a registered method"):
                return registry.method(self._stem, name)
        return None

    def _read_methods(self, names: Iterable[str] | None) -> list[str] | None:
        found = [self._read_method(f"methods[{i}]", name) for i, name in enumerate(names or ())]
        return list(dict.fromkeys(method.name for method in found if method)) or None

    def _usual_methods(self) -> Sequence[Method]:
        return () if self._stem is None else registry.selected_methods(self._stem)

    def _read_objective(self, method: Method | None) -> str | None:
        """Return the objective; None is that of the claim, or the usual one in a comparison."""
        name: str | None = self.given.get("objective")
        if name is not None and self._stem is not None:
            name = aliases.current_objective(self._stem, name)
        with self._faults_at("objective", name, "must be an objective of the method"):
            if self.instance is not None and method is not None:
                return Query.of(self.instance, method, name).goal.name
            if self.instance is not None and name is not None:
                problem = registry.problem_of(self.instance)
                return applicable_objective(self.instance, problem, name).name
            if method is not None and name not in (None, *method.objectives):
                raise NotApplicableError(f"known: {', '.join(method.objectives)}")
        return name

    def _read_options(self, method: Method | None) -> JsonObject:
        read: JsonObject = {}
        for name, value in self._given_options().items() if method is not None else ():
            with self._faults_at(f"options.{name}", value, "must be an option of the method"):
                assert method is not None
                read |= method.read_options({name: value})
        return read

    def _given_options(self) -> Mapping[str, object]:
        options = {} if self.given.get("options") is None else self.given["options"]
        if isinstance(options, Mapping):
            return options
        self._add("options", options, "must be an object")
        return {}

    def _read_options_of(self, methods: Iterable[str] | None) -> JsonObject:
        """Return the options of a comparison, if there are any."""
        given = self._given_options()
        if not given or self._stem is None:
            return {}
        entries = registry.selected_methods(self._stem, methods)
        read: JsonObject = {}
        for name, value in given.items():
            with self._faults_at(f"options.{name}", value, "must be an option of the methods"):
                one = MethodOptions(self._stem, {name: value})
                for entry in entries:
                    entry.read_options(one.of(entry))
                refuse_unused([name], one.used, entries)
                read |= one.current(one.used)
        return {"options": read}

    def _read_certified(self) -> JsonObject:
        """Return that certificates are demanded, if so: other requests keep their keys."""
        return {"certified": True} if self.given.get("certified") else {}

    def _read_limits(self, runs: int) -> JsonObject:
        """Return the limits of each of some runs, whose time together is bounded."""
        limits: JobLimits = self.given.get("limits", JobLimits())
        longest = self._settings.job_time_s / runs
        usual = min(SEARCH_TIME_S, longest) if self._kind == "falsify" else longest
        time_s = usual if limits.time_s is None else float(limits.time_s)
        if time_s > longest:
            each = f" for each of {runs} methods" if runs > 1 else ""
            self._add("limits.time_s", time_s, f"must be at most {longest:g}{each}")
        if limits.threads > processors():
            rule = f"must be at most {processors()}, the processors of the service"
            self._add("limits.threads", limits.threads, rule)
        return {
            "time_s": time_s,
            "work": limits.work,
            "threads": limits.threads,
            "gap": float(limits.gap),
        }

    def _read_solution(self) -> object:
        solution = self.given.get("solution")
        if self.instance is not None and "solution" in self.given:
            with self._faults_at("solution"):
                io.plan_from_data(solution, self.instance)
        return solution

    def _read_claim(self, method: Method | None) -> str | None:
        from dlopt.verify.claim_table import claim

        name: str | None = self.given.get("claim")
        if self.given.get("target") == "gap":
            if name is not None:
                self._add("claim", name, "must be absent in a search for gaps")
        elif method is not None:
            with self._faults_at("claim", name, "must be a claim about the method"):
                claim(method, name)
        return name

    def _add(self, path: str, value: object, rule: str) -> None:
        self.faults.append(Fault(path, value, rule))

    @contextlib.contextmanager
    def _faults_at(self, path: str, value: object = None, rule: str = "") -> Iterator[None]:
        """Collect what is wrong with a field: the faults of a record, or that it breaks a rule."""
        try:
            yield
        except InvalidInstanceError as error:
            self.faults += [
                replace(fault, path=f"{path}.{fault.path}" if fault.path else path)
                for fault in error.faults
            ]
        except NotApplicableError as error:
            self._add(path, value, f"{rule}: {error}")
