"""The methods for independent tasks."""

from __future__ import annotations

from dlopt.registry.entries import Method, Problem

PROBLEM = Problem(
    "bag",
    "independent tasks on machines that differ, with sites, priorities and deadlines",
)

_ALL = ("makespan", "flowtime", "critical-then-all", "accepted", "by-priority")
_HEURISTICS = "dlopt.heuristics.bag.methods"
_MODELS = "dlopt.models.bag.methods"

_MAPPINGS: tuple[Method, ...] = ()

_PROOFS: tuple[Method, ...] = ()

METHODS = (*_MAPPINGS, *_PROOFS)
