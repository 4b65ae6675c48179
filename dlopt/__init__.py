"""Optimal baselines, heuristics and checks for divisible-load and related scheduling problems.

Everything a caller needs is here, imported on first use:

>>> import dlopt
>>> instance = dlopt.read("instances/iit/three-nodes.json", exact_numbers=True)
>>> print(dlopt.solve(instance).value)
39/8
"""

from __future__ import annotations

from dlopt.version import __version__

TYPE_CHECKING = False  # type checkers take it for true; `typing` takes as long as all else here
if TYPE_CHECKING:
    from typing import Any

    from dlopt.api import Comparison, InvalidResultError, check, compare, solve
    from dlopt.books import Book
    from dlopt.certificate_files import check_certificate, write_certificate
    from dlopt.errors import (
        DloptError,
        InvalidInstanceError,
        MissingExtraError,
        NotApplicableError,
        SolverError,
    )
    from dlopt.generation import generate
    from dlopt.generation.task_graph_conversion import dag_from_networkx, dag_to_networkx
    from dlopt.heuristics.admission.engine import Admission
    from dlopt.heuristics.admission.online_policy import ClusterState, OnlinePolicy
    from dlopt.heuristics.coreservation.engine import CoReservation
    from dlopt.heuristics.multistage.engine import MultiStage
    from dlopt.instance_library import list_instances, load
    from dlopt.io import read, write
    from dlopt.plotting import plot
    from dlopt.problems.validated_record import Units
    from dlopt.registry import load_methods, register
    from dlopt.result import Limits, Result, Status, Violation
    from dlopt.simulation import simulate
    from dlopt.verify import falsify

_HOMES = {
    "api": ("Comparison", "InvalidResultError", "check", "compare", "solve"),
    "books": ("Book",),
    "errors": (
        "DloptError",
        "InvalidInstanceError",
        "MissingExtraError",
        "NotApplicableError",
        "SolverError",
    ),
    "generation": ("generate",),
    "generation.task_graph_conversion": ("dag_from_networkx", "dag_to_networkx"),
    "heuristics.admission.engine": ("Admission",),
    "heuristics.admission.online_policy": ("ClusterState", "OnlinePolicy"),
    "heuristics.coreservation.engine": ("CoReservation",),
    "heuristics.multistage.engine": ("MultiStage",),
    "instance_library": ("list_instances", "load"),
    "io": ("read", "write"),
    "plotting": ("plot",),
    "problems.validated_record": ("Units",),
    "certificate_files": ("check_certificate", "write_certificate"),
    "registry": ("load_methods", "register"),
    "result": ("Limits", "Result", "Status", "Violation"),
    "simulation": ("simulate",),
    "verify": ("falsify",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Admission",
    "Book",
    "ClusterState",
    "CoReservation",
    "Comparison",
    "DloptError",
    "InvalidInstanceError",
    "InvalidResultError",
    "Limits",
    "MissingExtraError",
    "MultiStage",
    "NotApplicableError",
    "OnlinePolicy",
    "Result",
    "SolverError",
    "Status",
    "Units",
    "Violation",
    "__version__",
    "check",
    "check_certificate",
    "compare",
    "dag_from_networkx",
    "dag_to_networkx",
    "falsify",
    "generate",
    "list_instances",
    "load",
    "load_methods",
    "plot",
    "read",
    "register",
    "simulate",
    "solve",
    "write",
    "write_certificate",
]


if not TYPE_CHECKING:  # for type checkers, every name that is not imported above is an error

    def __getattr__(name: str) -> Any:
        if name == "RefutedAnswerError":
            from dlopt.aliases import warn

            warn("dlopt.RefutedAnswerError is called InvalidResultError now")
            name = "InvalidResultError"
        if name not in _HOME:
            raise AttributeError(f"module 'dlopt' has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(f"dlopt.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
